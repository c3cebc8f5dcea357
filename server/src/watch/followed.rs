//! What is known of one source between two looks at it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pressmark_index::resource_uri::{decode_path, escape_path};

use super::dirty::{Dirty, Job};
use super::mounts::{self, Mounts};
use super::watches::Watches;
use crate::indexer::{IndexError, Indexed, Refusals};
use crate::sources::{FolderSource, Setting, chain_text};

/// How often a folder is compared of which the system does not report changes, when its source says nothing else.
const POLL_INTERVAL_DEFAULT: Duration = Duration::from_secs(30);
/// After comparing a whole source for this share of the time, others have the rest.
const POLL_PAUSE_SHARE: u32 = 10;
/// What could not be read is tried again after this time, and each time after twice as long ...
const RETRY_DELAY_MIN: Duration = Duration::from_secs(1);
/// ... up to this.
const RETRY_DELAY_MAX: Duration = Duration::from_secs(64);

/// Paths that cannot be read and are tried again; those beyond wait for the next comparison of everything.
const UNREADABLE_MAX: usize = 1_000;

pub(super) struct Followed {
    pub(super) watches: Watches,
    /// The setting in which the folder was last brought up to date; `None`: it was not, or that failed.
    pub(super) current: Option<Setting>,
    /// The setting at the last attempt; `None`: the folder was away.
    pub(super) attempted: Option<Setting>,
    /// Escaped paths that cannot be read.
    pub(super) unreadable: BTreeSet<String>,
    /// What was refused and said.
    pub(super) refused: Refusals,
    /// Whether all of it is compared every so often, whatever is watched.
    polls_all: bool,
    poll_interval: Duration,
    /// When the next comparison is due, and whether one is under way that nothing but the clock asked for.
    next_poll: Instant,
    pub(super) polling: bool,
    retry: Option<(Instant, Job)>,
    retry_delay: Duration,
    mounts: Mounts,
    /// Mount points whose disks have gone while we ran.
    mounts_away: BTreeSet<PathBuf>,
    /// The failure that was said last.
    said: Option<String>,
    limit_said: bool,
}

impl Followed {
    pub(super) fn new(
        source: &FolderSource,
        watches: Watches,
        mount_list: &[u8],
        network: bool,
    ) -> Self {
        Self {
            watches,
            current: None,
            attempted: None,
            unreadable: BTreeSet::new(),
            refused: Refusals::default(),
            polls_all: network || source.poll_interval.is_some(),
            poll_interval: source.poll_interval.unwrap_or(POLL_INTERVAL_DEFAULT),
            next_poll: Instant::now(),
            polling: false,
            retry: None,
            retry_delay: RETRY_DELAY_MIN,
            mounts: mounts::beneath(mount_list, &source.root),
            mounts_away: BTreeSet::new(),
            said: None,
            limit_said: false,
        }
    }

    /// Escaped paths of mount points whose disks are away: what was served of them stays.
    pub(super) fn kept(&self) -> BTreeSet<String> {
        self.mounts_away.iter().filter_map(|path| path.to_str()).map(escape_path).collect()
    }

    /// How many folders are compared every so often instead of being watched.
    pub(super) fn polled_count(&self) -> usize {
        let unwatched = self.watches.unwatched_count();
        if self.polls_all { self.watches.watched_count() + unwatched } else { unwatched }
    }

    /// Has the next comparison be due.
    #[cfg(test)]
    pub(super) fn poll_now(&mut self) {
        self.next_poll = Instant::now();
    }

    /// Has the next try be due.
    #[cfg(test)]
    pub(super) fn retry_now(&mut self) {
        if let Some((at, _)) = &mut self.retry {
            *at = Instant::now();
        }
    }

    // === what a look came to ===

    /// Takes what a look at `job` came to, which took `duration`.
    pub(super) fn succeeded(&mut self, job: &Job, indexed: &mut Indexed, duration: Duration) {
        if *job == Job::Whole {
            self.next_poll = Instant::now() + self.poll_interval.max(duration * POLL_PAUSE_SHARE);
            self.polling = false;
        }
        self.said = None;
        self.retry = None;
        self.refused
            .replace(std::mem::take(&mut indexed.refusals), |path| job.covers(&decoded(path)));
        self.unreadable.retain(|path| !job.covers(&decoded(path)));
        let room = UNREADABLE_MAX.saturating_sub(self.unreadable.len());
        self.unreadable.extend(indexed.unreadable_paths.iter().take(room).cloned());
        let mut again = Dirty::default();
        for path in &self.unreadable {
            again.add(&decoded(path));
        }
        match again.into_job() {
            Some(job) => self.try_again(job),
            None => self.retry_delay = RETRY_DELAY_MIN,
        }
    }

    /// Takes the failure of a look; says it once.
    pub(super) fn failed(&mut self, source: &FolderSource, error: &IndexError) {
        self.current = None;
        self.polling = false;
        self.next_poll = Instant::now() + self.poll_interval;
        self.try_again(Job::Whole);
        let text = chain_text(error);
        if self.said.as_ref() != Some(&text) {
            tracing::error!("{} is not indexed: {text}", source.root.display());
            self.said = Some(text);
        }
    }

    fn try_again(&mut self, job: Job) {
        self.retry = Some((Instant::now() + self.retry_delay, job));
        self.retry_delay = (self.retry_delay * 2).min(RETRY_DELAY_MAX);
    }

    /// Says once that not every folder can be watched.
    pub(super) fn say_limit(&mut self, source: &FolderSource) {
        let unwatched = self.watches.unwatched_count();
        if unwatched > 0 && !self.limit_said {
            tracing::warn!(
                "{}: {unwatched} folders cannot be watched and are compared every {:?}: the system's limit is reached; \
                 raise fs.inotify.max_user_watches (or max_user_instances), or exclude folders",
                source.root.display(),
                self.poll_interval,
            );
        }
        self.limit_said = unwatched > 0;
    }

    // === what time brings ===

    /// What is to be looked at now although nobody reported it.
    pub(super) fn overdue(&mut self, source: &FolderSource) -> Option<Job> {
        let now = Instant::now();
        let mut dirty = Dirty::default();
        if let Some((_, job)) = self.retry.take_if(|(at, _)| *at <= now) {
            dirty.add_job(&job);
        }
        let polls = self.polls_all || self.watches.unwatched_count() > 0;
        if polls && self.next_poll <= now && !self.polling {
            self.polling = true;
            dirty.add_whole();
        }
        for place in self.mounts_back(source) {
            dirty.add(&place);
        }
        let setting = source.setting().ok();
        if setting.is_some() && setting != self.attempted {
            self.polling = false;
            dirty.add_whole();
        }
        dirty.into_job()
    }

    /// Compares what is mounted beneath the folder with what was; returns what is to be looked at.
    pub(super) fn mounted(&mut self, source: &FolderSource, list: &[u8]) -> Option<Job> {
        let now = mounts::beneath(list, &source.root);
        let mut dirty = Dirty::default();
        for (place, mount) in &now {
            if self.mounts.get(place) != Some(mount) {
                self.mounts_away.remove(place);
                dirty.add(place);
            }
        }
        for place in self.mounts.keys().filter(|place| !now.contains_key(*place)) {
            if mounts::is_empty_place(&source.root.join(place)).unwrap_or(false) {
                tracing::warn!(
                    "{}: its disk has gone; its documents stay as they were",
                    source.root.join(place).display()
                );
                self.mounts_away.insert(place.clone());
            } else {
                dirty.add(place);
            }
        }
        self.mounts = now;
        dirty.into_job()
    }

    /// Mount points that are no longer empty, or no longer there: somebody works on what lies beneath the disk.
    fn mounts_back(&mut self, source: &FolderSource) -> Vec<PathBuf> {
        let is_back = |place: &PathBuf| {
            !mounts::is_empty_place(&source.root.join(place)).unwrap_or(false)
                && source.setting().is_ok()
        };
        let back: Vec<_> =
            self.mounts_away.iter().filter(|place| is_back(place)).cloned().collect();
        for place in &back {
            self.mounts_away.remove(place);
        }
        back
    }
}

/// The path that a scan wrote with escapes.
fn decoded(path: &str) -> PathBuf {
    PathBuf::from(decode_path(path).unwrap_or_else(|| path.to_owned()))
}
