//! A store with folders that are kept up to date on a thread, and what the tests ask of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pressmark::indexer::Plan;
use pressmark::metrics::{Format, Metrics};
use pressmark::readiness::Readiness;
use pressmark::shutdown::Shutdown;
use pressmark::sources::{FolderSource, folder_settings};
use pressmark::watch::{Keeper, Waker};
use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::fetch_text::TextRequest;
use pressmark_index::mutation::ChangeKind;
use pressmark_index::resource_uri::escape_path;
use pressmark_index::writer::Durability;
use tempfile::TempDir;

/// A condition that does not come true in this time never will.
const DEADLINE: Duration = Duration::from_secs(60);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// The file by which the tests see that all before it has been taken in: reports come in their order.
const SENTINEL: &str = "sentinel.txt";

/// Folders in a temporary one: `docs` is served as `x`, others as a test says.
pub(crate) struct Library {
    pub(crate) folder: TempDir,
    pub(crate) engine: Arc<Engine>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Readiness,
    shutdown: Shutdown,
    keeper: Option<(JoinHandle<()>, Waker)>,
    seen: u64,
    sentinel: u64,
}

/// What [`Library::settle`] found.
#[derive(Debug)]
pub(crate) struct Settled {
    /// Since the last change of the disk.
    pub(crate) elapsed: Duration,
    /// New entries of the change log, sorted: `created a/b.md`.
    pub(crate) changes: Vec<String>,
}

impl Library {
    /// Serves `docs`, with these files in it.
    pub(crate) fn new(files: &[&str]) -> Self {
        Self::with_sources(files, |at| vec![FolderSource::new("x", at.join("docs"))])
    }

    /// The same with other sources. Each file's content is its path.
    pub(crate) fn with_sources(
        files: &[&str],
        sources: impl FnOnce(&Path) -> Vec<FolderSource>,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        for place in ["docs", "outside"] {
            fs::create_dir(folder.path().join(place)).unwrap();
        }
        let options = EngineOptions {
            block_cache_bytes: 8 << 20,
            hot_cache_bytes: 0,
            completion_memory_entries: 128 * 1_024,
            completion_cache_bytes: 1 << 20,
            full_text: None,
            durability: Durability::Sync,
            change_log_retention: Duration::from_secs(3600),
            owner: "the tests".to_owned(),
        };
        let engine = Engine::open(&folder.path().join("data"), &options).unwrap();
        let mut library = Self {
            folder,
            engine: Arc::new(engine),
            metrics: Arc::new(Metrics::new()),
            readiness: Readiness::new(),
            shutdown: Shutdown::new(),
            keeper: None,
            seen: 0,
            sentinel: 0,
        };
        for file in files {
            library.write(file, file);
        }
        let sources = sources(library.folder.path());
        library.start(sources);
        library
    }

    /// Starts keeping, and waits for the first pass.
    pub(crate) fn start(&mut self, sources: Vec<FolderSource>) {
        let spaces = sources.iter().map(|source| source.space.clone()).collect();
        let plan = Plan { sources, spaces, folders_said: true };
        for space in &plan.spaces {
            self.engine.put_space(folder_settings(space, None)).unwrap();
        }
        self.shutdown = Shutdown::new();
        let (engine, metrics) = (Arc::clone(&self.engine), Arc::clone(&self.metrics));
        let (shutdown, readiness) = (self.shutdown.clone(), self.readiness.clone());
        let (started, is_started) = sync_channel(1);
        let thread = thread::spawn(move || {
            let unsettled = Box::new(move || readiness.latch());
            let mut keeper = Keeper::new(&engine, &plan, &metrics, &shutdown, unsettled);
            let waker = keeper.waker();
            keeper.first_pass();
            started.send(waker).unwrap();
            keeper.keep_up();
        });
        self.keeper = Some((thread, is_started.recv().unwrap()));
        self.seen = self.engine.log_range().newest;
    }

    /// Ends keeping.
    pub(crate) fn stop(&mut self) {
        if let Some((thread, waker)) = self.keeper.take() {
            self.shutdown.begin();
            waker.wake();
            thread.join().unwrap();
        }
    }

    // === the disk ===

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    /// The files beneath `docs` with their texts, by their paths.
    pub(crate) fn disk(&self) -> BTreeMap<String, String> {
        let root = self.path("docs");
        let (mut files, mut folders) = (BTreeMap::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let relative = path.strip_prefix(&root).unwrap().to_str().unwrap();
                    let text = fs::read_to_string(&path).unwrap();
                    files.insert(escape_path(relative), text);
                }
            }
        }
        files
    }

    // === the store ===

    /// What the space `x` holds.
    pub(crate) fn index(&self) -> BTreeMap<String, String> {
        let mut paths = Vec::new();
        for source_id in self.engine.source_ids().unwrap() {
            let take = |uri: &str| {
                paths.extend(uri.strip_prefix("docs://x/").map(str::to_owned));
                Ok(())
            };
            self.engine.each_of_source(source_id, take).unwrap();
        }
        let text = |path: String| self.text(&path).map(|text| (path, text));
        paths.into_iter().filter_map(text).collect()
    }

    /// The text of one document of the space `x`.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let uri = format!("docs://x/{path}");
        let access = Access::operator();
        let request = TextRequest { uri: &uri, access: &access, offset: 0, limit: 1 << 20 };
        self.engine.fetch_text(&request).ok().map(|fetched| fetched.text)
    }

    /// A figure of the metrics.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.metrics.exposition(Format::Text);
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap().parse().unwrap()
    }

    /// Writes the sentinel and waits until it is served, and all before it with it.
    pub(crate) fn settle(&mut self) -> Settled {
        self.sentinel += 1;
        let text = self.sentinel.to_string();
        self.write(&format!("docs/{SENTINEL}"), &text);
        let began = Instant::now();
        wait_for(|| self.text(SENTINEL).as_ref() == Some(&text));
        // What is gone is deleted at the end of a look.
        wait_for(|| self.metric("source_scans_running") == 0);
        Settled { elapsed: began.elapsed(), changes: self.changes() }
    }

    /// Waits until the store holds what the disk holds.
    pub(crate) fn settle_at_the_disk(&mut self) -> Settled {
        let mut settled = self.settle();
        let began = Instant::now();
        let disk = self.disk();
        wait_for(|| self.index() == disk);
        settled.elapsed += began.elapsed();
        settled.changes.extend(self.changes());
        settled.changes.sort();
        settled
    }

    /// New entries of the change log, but for the sentinel's.
    pub(crate) fn changes(&mut self) -> Vec<String> {
        let changes = self.engine.changes_after(self.seen, 1_000_000).unwrap();
        self.seen = changes.last().map_or(self.seen, |change| change.sequence);
        let line = |kind, uri: &str| {
            let kind = match kind {
                ChangeKind::Created => "created",
                ChangeKind::Updated => "updated",
                ChangeKind::Deleted => "deleted",
            };
            format!("{kind} {}", uri.strip_prefix("docs://x/").unwrap_or(uri))
        };
        let mut lines: Vec<_> =
            changes.iter().map(|change| line(change.kind, &change.uri)).collect();
        lines.retain(|line| !line.ends_with(SENTINEL));
        lines.sort();
        lines
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn wait_for(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < DEADLINE, "it did not come true in {DEADLINE:?}");
        thread::park_timeout(LOOK_EVERY);
    }
}
