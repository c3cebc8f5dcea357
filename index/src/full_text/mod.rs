//! Full text: which resources hold the words that were asked for, the best first.
//!
//! Derived from the store: deleted, it is made anew. One thread follows the change log (`feeder`), turns resources into
//! documents (`document`) and commits them to a tantivy index together with the number of the last change in it
//! (`commit`). A search is planned for all segments (`plan`), carried out segment by segment within a time bound
//! (`execute`), and only what is on the page is read from the store (`page`). Why so: `docs/adr/0003-full-text.md`.

pub mod extract;
mod request;
#[doc(hidden)]
pub mod yardstick;

mod search;
// The language: what texts and queries come to, and how a text is shown.
mod analysis;
mod query;
mod snippet;
// A search.
mod asked;
mod cursor;
mod exact;
mod execute;
mod expand;
mod filter;
mod generations;
mod hit;
mod page;
mod plan;
mod postings;
mod rank;
mod snapshot;
mod window;

// The index, and what keeps it in step with the store.
mod checksums;
mod commit;
mod directory;
mod document;
mod feeder;
mod follow;
mod leftovers;
mod reconcile;
mod schema;
mod session;
mod source;
mod state;
mod tidy;

mod check;

#[cfg(test)]
mod mend_tests;

#[doc(hidden)]
pub mod measured;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;

pub use request::{
    FullTextProgress, FullTextStats, HITS_MAX, ModifiedRange, SearchHit, SearchNote, SearchPage,
    SearchRequest, SearchSort,
};
pub use snippet::Snippet;

pub(crate) use check::check;
pub(crate) use feeder::Feeder;

use crate::hot_values::HotValues;
use crate::stop::Stop;
use cursor::Position;
use directory::Gate;
use extract::Extract;
use generations::Generations;
use hit::HotHit;
use schema::Fields;
use snapshot::Snapshot;
use state::State;

/// The folder of the index in a data directory.
const FOLDER: &str = "full_text";

/// How full text is kept.
#[derive(Debug, Clone)]
pub struct FullTextOptions {
    /// Memory for documents that are not on the disk yet, in bytes.
    pub memory_bytes: usize,
    /// Threads that index.
    pub threads: usize,
    /// Memory for what searches showed, in bytes; 0: none.
    pub hit_cache_bytes: usize,
    /// How long a change waits at most, as a rule, before it can be found. While the index is far behind, it waits longer.
    pub commit_interval: Duration,
    /// What knows file formats.
    pub extract: Arc<dyn Extract>,
}

/// The full-text index, as all see it.
pub(crate) struct FullText {
    folder: PathBuf,
    options: FullTextOptions,
    fields: Fields,
    /// What can be searched now; `None` before the index is open.
    newest: ArcSwapOption<Snapshot>,
    state: State,
    /// Asked when the engine closes.
    stop: Stop,
    /// Through which the session at hand writes.
    gate: Mutex<Arc<Gate>>,
    /// What searches showed, and may show again.
    pub(crate) hits: HotValues<HotHit>,
    generations: Generations,
    discarded: AtomicU64,
}

impl FullText {
    pub(crate) fn new(data_dir: &Path, options: FullTextOptions) -> FullText {
        FullText {
            folder: data_dir.join(FOLDER),
            hits: HotValues::new(options.hit_cache_bytes),
            options,
            fields: Fields::new(),
            newest: ArcSwapOption::empty(),
            state: State::default(),
            stop: Stop::default(),
            gate: Mutex::default(),
            generations: Generations::default(),
            discarded: AtomicU64::new(0),
        }
    }

    /// There may be new changes.
    pub(crate) fn wake(&self) {
        self.state.wake();
    }

    /// The engine will close: ends what waits and what is fed.
    pub(crate) fn begin_closing(&self) {
        self.stop.ask();
        self.state.close();
    }

    /// The store was opened anew and ends at this change.
    pub(crate) fn store_was_replaced(&self, newest: u64) {
        self.state.store_was_replaced(newest);
    }

    /// Has the index made anew in the background. Until that is done, search finds what is in it already.
    pub(crate) fn remake(&self) {
        self.state.ask_remake();
    }

    pub(crate) fn progress(&self, newest: u64) -> FullTextProgress {
        let documents = self.newest.load().as_ref().map_or(0, |newest| newest.searcher.num_docs());
        let unread = self.options.extract.failures();
        FullTextProgress { documents, unread, ..self.state.progress(newest) }
    }

    /// The state of the index that a cursor is of if it is kept, else the newest; `None`: the index is not open yet.
    fn snapshot(&self, position: Option<&Position>) -> Option<Arc<Snapshot>> {
        position
            .and_then(|position| self.generations.get(position.generation))
            .or_else(|| self.newest.load_full())
    }

    /// Figures for the operator.
    pub(crate) fn stats(&self, newest: u64) -> FullTextStats {
        let snapshot = self.newest.load_full();
        FullTextStats {
            progress: self.progress(newest),
            segments: snapshot.as_ref().map_or(0, |snapshot| snapshot.segments.len()),
            disk_bytes: disk_bytes(&self.folder),
            kept_searchers: self.generations.count(),
            discarded: self.discarded.load(Ordering::Relaxed),
        }
    }
}

/// Bytes of the files in a folder.
fn disk_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
}
