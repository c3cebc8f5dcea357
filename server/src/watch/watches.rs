//! The watches of one source: one for each folder that is served, none for files.
//!
//! `notify` is used for single folders only. Its own recursive watches would follow neither the rules of what is served nor
//! the order that lets nothing fall between: here a folder is watched anew, and only then listed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::EventKindMask;
use notify::{
    Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, WatchPathConfig, Watcher,
};

use super::dirty::{Job, paths_of};
use super::inbox::Inbox;
use crate::metrics::Metrics;

/// Changes of names, data and attributes; a file that is closed after writing, for those who write through memory maps.
/// Not who opens and reads: that would be us.
const EVENT_KINDS: EventKindMask = EventKindMask::CORE.union(EventKindMask::ACCESS_CLOSE);

pub(super) struct Watches {
    root: PathBuf,
    /// `None`: the system gives no watcher, or none is wanted.
    watcher: Option<RecommendedWatcher>,
    /// The served folders, by their paths from the root.
    folders: BTreeMap<PathBuf, Entered>,
    watched_count: usize,
    round: u64,
    /// Watches that may be set, besides what the system allows.
    watches_max: usize,
    limit_reached: bool,
}

struct Entered {
    /// The round in which it was last listed.
    round: u64,
    watched: bool,
}

impl Watches {
    /// Without a single one.
    pub(super) fn none(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            watcher: None,
            folders: BTreeMap::new(),
            watched_count: 0,
            round: 0,
            watches_max: 0,
            limit_reached: false,
        }
    }

    /// Watches report to the inbox, at the source's place.
    ///
    /// # Errors
    /// When the system gives no watcher (`fs.inotify.max_user_instances`).
    pub(super) fn new(
        root: &Path,
        place: usize,
        watches_max: usize,
        inbox: &Arc<Inbox>,
        metrics: &Arc<Metrics>,
    ) -> notify::Result<Self> {
        let config = Config::default().with_event_kinds(EVENT_KINDS).with_follow_symlinks(false);
        let (from, inbox, metrics) = (root.to_path_buf(), Arc::clone(inbox), Arc::clone(metrics));
        let hear = move |event: notify::Result<Event>| {
            hear(event, &from, place, &inbox, &metrics);
        };
        let watcher = RecommendedWatcher::new(hear, config)?;
        Ok(Self { watcher: Some(watcher), watches_max, ..Self::none(root) })
    }

    /// Begins a look at the folders of a job.
    pub(super) fn begin(&mut self) {
        self.round += 1;
        self.limit_reached = false;
    }

    /// Watches a folder that is listed next. It is watched anew even if it was before: the watch may be that of a folder
    /// which stood there earlier and has moved away.
    pub(super) fn enter(&mut self, relative: &str) {
        self.leave(Path::new(relative));
        let full = self.limit_reached || self.watched_count >= self.watches_max;
        let watched = !full && self.set(relative);
        self.watched_count += usize::from(watched);
        self.folders.insert(PathBuf::from(relative), Entered { round: self.round, watched });
    }

    fn set(&mut self, relative: &str) -> bool {
        let path = self.path_of(Path::new(relative));
        let Some(watcher) = &mut self.watcher else { return false };
        // The root may be a link, since it was named; what lies beneath it is a folder, or is not watched.
        let config = WatchPathConfig::new(RecursiveMode::NonRecursive)
            .with_dereference_symlinks(relative.is_empty());
        let Err(error) = watcher.watch_with(&path, config) else { return true };
        match error.kind {
            ErrorKind::MaxFilesWatch => self.limit_reached = true,
            // It went away; the folder above it reports that.
            ErrorKind::PathNotFound => {}
            _ => tracing::warn!("{} is not watched: {error}", path.display()),
        }
        false
    }

    fn leave(&mut self, relative: &Path) {
        let left = self.folders.remove(relative);
        if left.is_some_and(|folder| folder.watched) {
            self.watched_count -= 1;
            let path = self.path_of(relative);
            if let Some(watcher) = &mut self.watcher {
                // When the folder is gone its watch is as well.
                let _ = watcher.unwatch(&path);
            }
        }
    }

    fn path_of(&self, relative: &Path) -> PathBuf {
        // Joining nothing would put a slash at the end.
        if relative.as_os_str().is_empty() { self.root.clone() } else { self.root.join(relative) }
    }

    /// Ends the look: what lies in the job and was not entered is no longer a served folder.
    pub(super) fn end(&mut self, job: &Job) {
        let stale = match job {
            Job::Whole => self.stale(Path::new("")),
            Job::Entries(entries) => paths_of(entries).flat_map(|path| self.stale(&path)).collect(),
        };
        for relative in stale {
            self.leave(&relative);
        }
    }

    /// The folder and those beneath it that were not entered in this round.
    fn stale(&self, beneath: &Path) -> Vec<PathBuf> {
        self.folders
            .range(beneath.to_path_buf()..)
            .take_while(|(folder, _)| folder.starts_with(beneath))
            .filter(|(_, folder)| folder.round != self.round)
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// How many folders are watched.
    pub(super) fn watched_count(&self) -> usize {
        self.watched_count
    }

    /// How many served folders are not.
    pub(super) fn unwatched_count(&self) -> usize {
        self.folders.len() - self.watched_count
    }
}

/// Runs on the watcher's own thread.
pub(super) fn hear(
    event: notify::Result<Event>,
    root: &Path,
    place: usize,
    inbox: &Inbox,
    metrics: &Metrics,
) {
    metrics.source_events.inc();
    match event {
        Ok(event) if event.need_rescan() => {
            metrics.source_event_overflows.inc();
            inbox.touch_all(place);
        }
        Ok(event) => {
            for path in event.paths.iter().filter_map(|path| path.strip_prefix(root).ok()) {
                inbox.touch(place, path);
            }
        }
        // Something was not reported, and it is not said what.
        Err(error) => {
            tracing::warn!("{}: {error}; everything is compared", root.display());
            metrics.source_event_overflows.inc();
            inbox.touch_all(place);
        }
    }
}
