//! Brings the store to what the folders hold: scans each source, commits what changed in batches,
//! deletes what is gone. Runs on a thread of its own while the server already answers.
//!
//! What could not be looked at stays as it was: a disk that is away, a folder that cannot be listed or a file that
//! cannot be read says nothing about the documents in it. Only what a scan found to be gone is deleted.

mod forget;
mod pass;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::mutation::{Mutation, Outcome};

use crate::metrics::Metrics;
use crate::shutdown::Shutdown;
use crate::sources::{FolderSource, ScanReport, SourceError};
pub use forget::remove_dropped_spaces;
use pass::{Pass, uri_of};

/// A batch is committed when it holds this many resources ...
const BATCH_RESOURCES_MAX: usize = 1_000;
/// ... or this many bytes of content.
const BATCH_BYTES_MAX: usize = 8 << 20;

/// What the operator gave to be served.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The folders, in the order in which they were given.
    pub sources: Vec<FolderSource>,
    /// The names of the spaces that are declared, with or without a folder.
    pub spaces: HashSet<String>,
    /// Whether the folders were said at all. When they were not, as in `pressmark serve --data DIR`, the store is served
    /// as it is and nothing is forgotten.
    pub folders_said: bool,
}

/// What bringing all sources up to date came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sources that could not be indexed; their documents stay as they were.
    pub sources_failed: usize,
    /// Paths in the others that could not be read; what was served of them stays as it was.
    pub unreadable: u64,
}

/// What bringing one source up to date came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Indexed {
    /// What the scan saw.
    pub scan: ScanReport,
    /// Resources that are new or changed.
    pub changed: u64,
    /// Resources that are gone.
    pub deleted: u64,
    /// Records that were refused, by the engine or because an earlier source has the same path.
    pub refused: u64,
}

/// Why a source could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The folder cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The engine does not take or give what is needed.
    #[error(transparent)]
    Engine(#[from] Error),
    /// The folder was opened but cannot be listed.
    #[error("{}: {reason}; its documents stay as they were", root.display())]
    Unreadable {
        /// The folder.
        root: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The folder holds nothing at all, although documents came from it before.
    #[error(
        "{}: is empty, as the place of a disk that is not mounted is; its documents stay as they were \
         (if it was emptied on purpose, put any file in it, or no longer name it)",
        root.display()
    )]
    Emptied {
        /// The folder.
        root: PathBuf,
    },
    /// The source belongs to a space that is not there.
    #[error("the source {root} belongs to the space `{space}`, which is not there")]
    NoSpace {
        /// The folder.
        root: String,
        /// The space's name.
        space: String,
    },
}

/// A source that comes before another one in the same space, and so has its paths first.
#[derive(Debug, Clone, Copy)]
struct Earlier<'a> {
    source_id: u64,
    root: &'a Path,
}

/// Brings all sources up to date, one after the other, then deletes what came from other folders. Ends early, between two
/// files, when the shutdown begins.
pub fn run(engine: &Engine, plan: &Plan, metrics: &Metrics, shutdown: &Shutdown) -> Summary {
    let mut summary = Summary::default();
    for (place, source) in plan.sources.iter().enumerate() {
        let earlier: Vec<_> = plan
            .sources
            .iter()
            .take(place)
            .filter(|earlier| earlier.space == source.space)
            .map(|earlier| Earlier { source_id: earlier.source_id(), root: &earlier.root })
            .collect();
        metrics.source_scans_running.inc();
        match index_after(engine, source, &earlier, metrics, shutdown) {
            Ok(indexed) => {
                summary.unreadable += indexed.scan.unreadable;
                tracing::info!(
                    space = source.space,
                    files = indexed.scan.files,
                    changed = indexed.changed,
                    deleted = indexed.deleted,
                    refused = indexed.refused + indexed.scan.refused,
                    unreadable = indexed.scan.unreadable,
                    left_out = indexed.scan.left_out,
                    "indexed {}",
                    source.root.display()
                );
            }
            Err(error) => {
                summary.sources_failed += 1;
                tracing::error!(
                    "{} is not indexed: {}",
                    source.root.display(),
                    crate::sources::chain_text(&error)
                );
            }
        }
        metrics.source_scans_running.dec();
        if shutdown.has_begun() {
            return summary;
        }
    }
    if summary.sources_failed > 0 {
        // A folder may have been renamed to the one that is away; its documents stay until all of them can be seen.
        return summary;
    }
    if let Err(error) = forget::forget_other_sources(engine, plan) {
        tracing::error!("what came from folders that are no longer served is not deleted: {error}");
    }
    summary
}

/// Brings one source up to date.
///
/// # Errors
/// When the folder cannot be read at all, or the engine refuses to write. Nothing is deleted then.
pub fn index_source(
    engine: &Engine,
    source: &FolderSource,
    metrics: &Metrics,
    shutdown: &Shutdown,
) -> Result<Indexed, IndexError> {
    index_after(engine, source, &[], metrics, shutdown)
}

fn index_after(
    engine: &Engine,
    source: &FolderSource,
    earlier: &[Earlier<'_>],
    metrics: &Metrics,
    shutdown: &Shutdown,
) -> Result<Indexed, IndexError> {
    let catalog = engine.spaces();
    let space = catalog.by_name(&source.space).ok_or_else(|| IndexError::NoSpace {
        root: source.root.display().to_string(),
        space: source.space.clone(),
    })?;
    let mut pass = Pass::new(engine, Arc::clone(space), source, earlier, metrics);
    let source_id = source.source_id();
    let known = |path: &str| {
        let uri = uri_of(space, path)?;
        engine.source_fingerprint(source_id, &uri).ok().flatten()
    };
    let scan = source.scan(&known, &mut |scanned| {
        pass.take(scanned);
        if pass.has_failed() || shutdown.has_begun() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    pass.finish(scan, shutdown.has_begun())
}

/// Collects URIs and deletes them by batches, so that their number needs no memory.
struct Deletion<'a> {
    engine: &'a Engine,
    batch: Vec<Mutation>,
    deleted: u64,
}

impl<'a> Deletion<'a> {
    fn new(engine: &'a Engine) -> Self {
        Self { engine, batch: Vec::new(), deleted: 0 }
    }

    fn add(&mut self, uri: &str) -> Result<(), Error> {
        self.batch.push(Mutation::Delete { uri: uri.to_owned() });
        if self.batch.len() >= BATCH_RESOURCES_MAX { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        for result in self.engine.commit(batch)? {
            let deleted = result.is_ok_and(|applied| applied.outcome == Outcome::Deleted);
            self.deleted += u64::from(deleted);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64, Error> {
        self.flush()?;
        Ok(self.deleted)
    }
}
