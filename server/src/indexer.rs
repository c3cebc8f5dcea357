//! Brings the store to what the folders hold: scans each source, commits what changed in batches,
//! deletes what is gone. Runs on a thread of its own while the server already answers.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pressmark_index::catalog::Space;
use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::mutation::{Mutation, Outcome};
use pressmark_index::resource::{Binding, Resource, Value};

use crate::metrics::Metrics;
use crate::shutdown::Shutdown;
use crate::sources::{FolderSource, ScanReport, Scanned, SourceError};

/// A batch is committed when it holds this many resources ...
const BATCH_RESOURCES_MAX: usize = 1_000;
/// ... or this many bytes of content.
const BATCH_BYTES_MAX: usize = 8 << 20;
/// Progress is said this often.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Refusals that are said one by one; the rest is only counted.
const REFUSALS_SAID_MAX: u64 = 100;

/// What bringing one source up to date came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Indexed {
    /// What the scan saw.
    pub scan: ScanReport,
    /// Resources that are new or changed.
    pub changed: u64,
    /// Resources that are gone.
    pub deleted: u64,
    /// Records that the engine refused.
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
    /// The source belongs to a space that is not there.
    #[error("the source {root} belongs to the space `{space}`, which is not there")]
    NoSpace {
        /// The folder.
        root: String,
        /// The space's name.
        space: String,
    },
}

/// Brings all sources up to date, one after the other, then deletes what came from sources that are no
/// longer configured for these spaces. Ends early, between two files, when the shutdown begins.
pub fn run(engine: &Engine, sources: &[FolderSource], metrics: &Metrics, shutdown: &Shutdown) {
    for source in sources {
        metrics.source_scans_running.inc();
        match index_source(engine, source, metrics, shutdown) {
            Ok(indexed) => tracing::info!(
                space = source.space,
                files = indexed.scan.files,
                changed = indexed.changed,
                deleted = indexed.deleted,
                refused = indexed.refused + indexed.scan.refused,
                left_out = indexed.scan.left_out,
                "indexed {}",
                source.root.display()
            ),
            Err(error) => tracing::error!("{} is not indexed: {error}", source.root.display()),
        }
        metrics.source_scans_running.dec();
        if shutdown.has_begun() {
            return;
        }
    }
    if let Err(error) = forget_other_sources(engine, sources) {
        tracing::error!("what came from folders that are no longer served is not deleted: {error}");
    }
}

/// Brings one source up to date.
///
/// # Errors
/// When the folder cannot be read at all, or the engine refuses to write.
pub fn index_source(
    engine: &Engine,
    source: &FolderSource,
    metrics: &Metrics,
    shutdown: &Shutdown,
) -> Result<Indexed, IndexError> {
    let catalog = engine.spaces();
    let space = catalog.by_name(&source.space).ok_or_else(|| IndexError::NoSpace {
        root: source.root.display().to_string(),
        space: source.space.clone(),
    })?;
    let mut pass = Pass {
        engine,
        space: Arc::clone(space),
        source_id: source.source_id(),
        metrics,
        batch: Vec::new(),
        batch_bytes: 0,
        seen: HashSet::new(),
        unread_folders: Vec::new(),
        indexed: Indexed::default(),
        files: 0,
        said: Instant::now(),
        failed: None,
    };
    let known = {
        let (space, source_id) = (Arc::clone(space), pass.source_id);
        move |path: &str| {
            let uri = uri_of(&space, path)?;
            engine.source_fingerprint(source_id, &uri).ok().flatten()
        }
    };
    let scanned = source.scan(&known, &mut |scanned| {
        pass.take(scanned);
        if pass.failed.is_some() || shutdown.has_begun() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    pass.indexed.scan = scanned?;
    pass.flush();
    if let Some(error) = pass.failed.take() {
        return Err(error.into());
    }
    if !shutdown.has_begun() {
        pass.delete_unseen()?;
    }
    Ok(pass.indexed)
}

/// One pass over a source.
struct Pass<'a> {
    engine: &'a Engine,
    space: Arc<Space>,
    source_id: u64,
    metrics: &'a Metrics,
    batch: Vec<Mutation>,
    batch_bytes: usize,
    /// Hashes of the URIs that the scan mentioned: 16 bytes each, however long the names are.
    seen: HashSet<[u8; 16]>,
    /// Folders that could not be read: what is known of them is kept.
    unread_folders: Vec<String>,
    indexed: Indexed,
    files: u64,
    said: Instant,
    failed: Option<Error>,
}

impl Pass<'_> {
    fn take(&mut self, scanned: Scanned) {
        match scanned {
            Scanned::Changed(resource) => self.put(resource),
            Scanned::Unchanged { path } => self.see(&path),
            Scanned::Refused { path, reason } => self.refuse(&path, &reason),
            Scanned::Gone { .. } => {}
        }
        self.files += 1;
        if self.said.elapsed() >= PROGRESS_INTERVAL {
            self.said = Instant::now();
            tracing::info!(space = self.space.settings.name, files = self.files, "indexing");
        }
    }

    fn put(&mut self, resource: Resource) {
        self.batch_bytes += resource.contents.iter().map(|part| part.body.len()).sum::<usize>();
        self.batch.push(Mutation::Put(Box::new(resource)));
        if self.batch.len() >= BATCH_RESOURCES_MAX || self.batch_bytes >= BATCH_BYTES_MAX {
            self.flush();
        }
    }

    fn see(&mut self, path: &str) {
        if let Some(uri) = uri_of(&self.space, path) {
            self.seen.insert(short_hash(&uri));
        }
    }

    fn refuse(&mut self, path: &str, reason: &str) {
        if self.indexed.scan.refused + self.indexed.refused < REFUSALS_SAID_MAX {
            tracing::warn!(space = self.space.settings.name, path, "not served: {reason}");
        }
        self.indexed.scan.refused += 1;
        if path.ends_with('/') {
            self.unread_folders.extend(uri_of(&self.space, path));
        }
    }

    fn flush(&mut self) {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() || self.failed.is_some() {
            return;
        }
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        match self.engine.commit(batch) {
            Err(error) => self.failed = Some(error),
            Ok(results) => {
                self.metrics.source_files_indexed.inc_by(count);
                for result in results {
                    match result {
                        Ok(applied) => {
                            self.seen.insert(short_hash(&applied.uri));
                            self.indexed.changed +=
                                u64::from(applied.outcome != Outcome::Unchanged);
                            if let Some(warning) = applied.warning {
                                tracing::warn!("{}: {warning}", applied.uri);
                            }
                        }
                        Err(error) => {
                            self.indexed.refused += 1;
                            tracing::warn!("not served: {error}");
                        }
                    }
                }
            }
        }
    }

    /// What came from this source before and was not mentioned now is gone.
    fn delete_unseen(&mut self) -> Result<(), Error> {
        let mut gone = Vec::new();
        self.engine.each_of_source(self.source_id, |uri| {
            let unread = self.unread_folders.iter().any(|folder| uri.starts_with(folder.as_str()));
            // Two spaces may share a folder, and so a source id.
            if !unread
                && !self.seen.contains(&short_hash(uri))
                && self.engine.space_of(uri)? == Some(self.space.id)
            {
                gone.push(uri.to_owned());
            }
            Ok(())
        })?;
        self.indexed.deleted = delete(self.engine, gone)?;
        Ok(())
    }
}

/// Deletes what came from sources that are not configured any more, in the spaces that have sources.
fn forget_other_sources(engine: &Engine, sources: &[FolderSource]) -> Result<(), Error> {
    let catalog = engine.spaces();
    let spaces: HashSet<_> = sources
        .iter()
        .filter_map(|source| catalog.by_name(&source.space))
        .map(|space| space.id)
        .collect();
    let configured: HashSet<_> = sources.iter().map(FolderSource::source_id).collect();
    for source_id in engine.source_ids()?.into_iter().filter(|id| !configured.contains(id)) {
        let mut gone = Vec::new();
        engine.each_of_source(source_id, |uri| {
            if engine.space_of(uri)?.is_some_and(|space| spaces.contains(&space)) {
                gone.push(uri.to_owned());
            }
            Ok(())
        })?;
        let deleted = delete(engine, gone)?;
        if deleted > 0 {
            tracing::info!(deleted, "deleted what came from folders that are no longer served");
        }
    }
    Ok(())
}

fn delete(engine: &Engine, uris: Vec<String>) -> Result<u64, Error> {
    let mut deleted = 0;
    for some in uris.chunks(BATCH_RESOURCES_MAX) {
        let mutations = some.iter().map(|uri| Mutation::Delete { uri: uri.clone() }).collect();
        for result in engine.commit(mutations)? {
            deleted += u64::from(result.is_ok_and(|applied| applied.outcome == Outcome::Deleted));
        }
    }
    Ok(deleted)
}

/// The URI of a path beneath a source.
fn uri_of(space: &Space, path: &str) -> Option<String> {
    let binding = Binding { name: "path".to_owned(), value: Value::String(path.to_owned()) };
    space.matcher.expand_canonical(&[binding]).ok()
}

fn short_hash(uri: &str) -> [u8; 16] {
    let mut hash = [0; 16];
    blake3::Hasher::new().update(uri.as_bytes()).finalize_xof().fill(&mut hash);
    hash
}
