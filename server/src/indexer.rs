//! Brings the store to what the folders hold: scans each source, or a part of it, commits what changed in batches,
//! deletes what is gone. Runs on a thread of its own while the server already answers; [`crate::watch`] says when.
//!
//! What could not be looked at stays as it was: a disk that is away, a folder that cannot be listed or a file that
//! cannot be read says nothing about the documents in it. Only what a scan found to be gone is deleted.

mod extent;
mod forget;
mod handover;
mod pass;
mod refusals;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pressmark_index::catalog::Space;
use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::mutation::{Mutation, Outcome};

use crate::metrics::Metrics;
use crate::shutdown::Shutdown;
use crate::sources::{FolderSource, Remembered, ScanReport, Scanned, Scope, Setting, SourceError};
pub(crate) use forget::forget_other_sources;
pub use forget::remove_dropped_spaces;
use handover::Heirs;
use pass::{Pass, uri_of};
use refusals::Cause;
pub use refusals::Refusals;

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

/// What of a source is brought up to date, and what is known of it already.
pub(crate) struct Look<'a> {
    pub(crate) scope: Scope<'a>,
    /// What the source's setting was when its folder was last seen whole. The folder is then known to be there, so that
    /// an empty one has been emptied; when the setting is another at the end, nothing is deleted. `None`: not yet known.
    pub(crate) setting: Option<&'a Setting>,
    /// Escaped paths that are known to be away, such as nested mounts: they and all beneath them stay as they are.
    pub(crate) kept: &'a BTreeSet<String>,
    /// Escaped paths that cannot be read and of which it was said.
    pub(crate) complained: &'a BTreeSet<String>,
    /// What was refused and said before.
    pub(crate) refused: &'a Refusals,
}

/// What bringing one source up to date came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indexed {
    /// What the scan saw.
    pub scan: ScanReport,
    /// Resources that are new or changed.
    pub changed: u64,
    /// Resources that are gone.
    pub deleted: u64,
    /// Records that were refused, by the engine or because an earlier source has the same path.
    pub refused: u64,
    /// Escaped paths that could not be read, as many as are worth another try.
    pub unreadable_paths: BTreeSet<String>,
    /// What was refused, as much as is remembered.
    pub refusals: Refusals,
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
    /// Another folder stands in the place of the one that was looked at.
    #[error("{}: was replaced while it was looked at; its documents stay until it is looked at again", root.display())]
    Replaced {
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

/// Brings one whole source up to date.
///
/// # Errors
/// When the folder cannot be read at all, or the engine refuses to write. Nothing is deleted then.
pub fn index_source(
    engine: &Engine,
    source: &FolderSource,
    metrics: &Metrics,
    shutdown: &Shutdown,
) -> Result<Indexed, IndexError> {
    let nothing = BTreeSet::new();
    let look = Look {
        scope: Scope::Whole,
        setting: None,
        kept: &nothing,
        complained: &nothing,
        refused: &Refusals::default(),
    };
    let plan = Plan { sources: vec![source.clone()], ..Plan::default() };
    Indexer { engine, plan: &plan, metrics, shutdown }.index(0, &look, &mut |_| ())
}

/// What all passes share.
pub(crate) struct Indexer<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) plan: &'a Plan,
    pub(crate) metrics: &'a Metrics,
    pub(crate) shutdown: &'a Shutdown,
}

impl Indexer<'_> {
    /// Brings what `look` says of the source at `place` of the plan up to date. `entering` is told of each folder, by its
    /// path from the source's, before it is listed. Ends early, between two files, when the shutdown begins.
    ///
    /// # Errors
    /// When the folder cannot be read at all, or the engine refuses to write. Nothing is deleted then.
    pub(crate) fn index(
        &self,
        place: usize,
        look: &Look<'_>,
        entering: &mut dyn FnMut(&str),
    ) -> Result<Indexed, IndexError> {
        let Self { engine, plan, metrics, shutdown } = *self;
        let Some(source) = plan.sources.get(place) else { return Ok(Indexed::default()) };
        let earlier: Vec<_> = plan
            .sources
            .iter()
            .take(place)
            .filter(|earlier| earlier.space == source.space)
            .map(|earlier| Earlier { source_id: earlier.source_id(), root: &earlier.root })
            .collect();
        let catalog = engine.spaces();
        let space = catalog.by_name(&source.space).ok_or_else(|| IndexError::NoSpace {
            root: source.root.display().to_string(),
            space: source.space.clone(),
        })?;
        let source_id = source.source_id();
        let served = |path: &str| {
            let uri = uri_of(space, path)?;
            engine.source_fingerprint(source_id, &uri).ok().flatten()
        };
        let claims = Claims { engine, space, source, earlier: &earlier };
        let refused = |path: &str, fingerprint: &[u8]| {
            let refusal = look.refused.of(path, fingerprint)?;
            match refusal.cause {
                Cause::File => Some(refusal.reason.clone()),
                Cause::Earlier => claims.taken(path),
                Cause::Store => None,
            }
        };
        let remembered = Remembered { served: &served, refused: &refused };
        let heirs = Heirs::of(engine, space, &plan.sources, source);
        let mut pass = Pass::new(engine, Arc::clone(space), claims, look, metrics);
        let scan = source.scan(look.scope, &remembered, &mut |scanned| {
            if let Scanned::Folder { relative } = &scanned {
                entering(relative);
            }
            pass.take(scanned);
            if pass.has_failed() || shutdown.has_begun() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        pass.finish(scan, heirs, shutdown.has_begun())
    }
}

/// Who serves which paths of a space with several sources: the first that has one, so that the same configuration gives
/// the same documents at every start.
#[derive(Clone, Copy)]
struct Claims<'a> {
    engine: &'a Engine,
    space: &'a Space,
    source: &'a FolderSource,
    earlier: &'a [Earlier<'a>],
}

impl Claims<'_> {
    /// Why the source does not serve the file at an escaped path, if an earlier one has it.
    fn taken(&self, path: &str) -> Option<String> {
        if self.earlier.is_empty() {
            return None;
        }
        let uri = uri_of(self.space, path)?;
        let first = self.earlier.iter().find(|earlier| {
            let known = self.engine.source_fingerprint(earlier.source_id, &uri);
            known.is_ok_and(|known| known.is_some())
        })?;
        Some(format!(
            "{path} of {} stands in {} as well, which was named first; give one of the folders a space of its own",
            self.source.root.display(),
            first.root.display(),
        ))
    }
}

/// Collects URIs and deletes them by batches, so that their number needs no memory.
struct Deletion<'a> {
    engine: &'a Engine,
    /// Who may have them now.
    heirs: Option<Heirs<'a>>,
    uris: Vec<String>,
    deleted: u64,
}

impl<'a> Deletion<'a> {
    fn new(engine: &'a Engine, heirs: Option<Heirs<'a>>) -> Self {
        Self { engine, heirs, uris: Vec::new(), deleted: 0 }
    }

    fn add(&mut self, uri: &str) -> Result<(), Error> {
        self.uris.push(uri.to_owned());
        if self.uris.len() >= BATCH_RESOURCES_MAX { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let mut uris = std::mem::take(&mut self.uris);
        if let Some(heirs) = &mut self.heirs {
            uris = heirs.take(uris)?;
        }
        let batch: Vec<_> = uris.into_iter().map(|uri| Mutation::Delete { uri }).collect();
        if batch.is_empty() {
            return Ok(());
        }
        for result in self.engine.commit(batch)? {
            let deleted = result.is_ok_and(|applied| applied.outcome == Outcome::Deleted);
            self.deleted += u64::from(deleted);
        }
        Ok(())
    }

    /// How many were deleted, and how many changed because another source has them.
    fn finish(mut self) -> Result<(u64, u64), Error> {
        self.flush()?;
        Ok((self.deleted, self.heirs.map_or(0, |heirs| heirs.changed())))
    }
}
