//! One pass over one source: from what the scan says to what the engine holds.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pressmark_index::catalog::Space;
use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::mutation::{Mutation, Outcome};
use pressmark_index::resource::{Address, Binding, Resource, Value};

use super::extent::Extent;
use super::refusals::{Cause, Refusal};
use super::{
    BATCH_BYTES_MAX, BATCH_RESOURCES_MAX, Claims, Deletion, Heirs, IndexError, Indexed, Look,
};
use crate::metrics::Metrics;
use crate::sources::{ScanReport, Scanned};

/// Progress is said this often.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Refusals, and things that cannot be read, that are said one by one; the rest is only counted.
const COMPLAINTS_SAID_MAX: u64 = 100;
/// Paths that could not be read and are remembered; with more of them nothing of the source is deleted.
const UNREADABLE_PATHS_MAX: usize = 10_000;
/// Paths that could not be read and are read again by and by; what is beyond waits for the next comparison.
const RETRIES_MAX: usize = 1_000;

pub(super) struct Pass<'a> {
    engine: &'a Engine,
    space: Arc<Space>,
    claims: Claims<'a>,
    source_id: u64,
    look: &'a Look<'a>,
    metrics: &'a Metrics,
    batch: Vec<Mutation>,
    /// Where each of the batch comes from: its escaped path, and how the file looked.
    origins: Vec<(String, Option<Vec<u8>>)>,
    batch_bytes: usize,
    /// Hashes of the URIs that the scan mentioned: 16 bytes a file, however long its name is, and up to twice that for
    /// the table. Ten million files take about 350 MB while the pass runs.
    seen: HashSet<[u8; 16]>,
    /// Escaped paths that could not be read: they and all beneath them stay as they are.
    unreadable: HashSet<String>,
    /// Why the folder of the source itself could not be read.
    root_unreadable: Option<String>,
    indexed: Indexed,
    complaints: u64,
    files: u64,
    said: Instant,
    failed: Option<Error>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        space: Arc<Space>,
        claims: Claims<'a>,
        look: &'a Look<'a>,
        metrics: &'a Metrics,
    ) -> Self {
        Self {
            engine,
            space,
            source_id: claims.source.source_id(),
            claims,
            look,
            metrics,
            batch: Vec::new(),
            origins: Vec::new(),
            batch_bytes: 0,
            seen: HashSet::new(),
            unreadable: look.kept.iter().cloned().collect(),
            root_unreadable: None,
            indexed: Indexed::default(),
            complaints: 0,
            files: 0,
            said: Instant::now(),
            failed: None,
        }
    }

    pub(super) fn take(&mut self, scanned: Scanned) {
        match scanned {
            Scanned::Changed(resource) => {
                if let Some(reason) = self.claims.taken(path_of(&resource)) {
                    self.indexed.refused += 1;
                    let (path, fingerprint) = origin_of(&resource);
                    self.refuse(path, Refusal { fingerprint, reason, cause: Cause::Earlier });
                } else {
                    self.put(resource);
                }
            }
            Scanned::Unchanged { path } => {
                if let Some(uri) = uri_of(&self.space, &path) {
                    self.seen.insert(short_hash(&uri));
                }
            }
            Scanned::Refused { path, fingerprint, reason } => {
                // What was known to be another source's is said by the scan.
                let known =
                    fingerprint.as_deref().and_then(|look| self.look.refused.of(&path, look));
                let cause = known.map_or(Cause::File, |known| known.cause);
                self.refuse(path, Refusal { fingerprint, reason, cause });
            }
            Scanned::Unreadable { path, reason } => self.keep(path, reason),
            Scanned::Folder { .. } => return,
        }
        self.files += 1;
        if self.said.elapsed() >= PROGRESS_INTERVAL {
            self.said = Instant::now();
            tracing::info!(space = self.space.settings.name, files = self.files, "indexing");
        }
    }

    /// Whether the engine does not take anything more.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Commits the rest and deletes what the scan, unless it was `cut_short`, did not find.
    pub(super) fn finish(
        mut self,
        scan: ScanReport,
        heirs: Option<Heirs<'_>>,
        cut_short: bool,
    ) -> Result<Indexed, IndexError> {
        self.indexed.scan = scan;
        self.flush();
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let root = || self.claims.source.root.clone();
        if let Some(reason) = self.root_unreadable.take() {
            return Err(IndexError::Unreadable { root: root(), reason });
        }
        match self.look.setting {
            // The folder that was looked at may have been another one: the place of a disk that has just gone away.
            Some(setting) if self.claims.source.setting().ok().as_ref() != Some(setting) => {
                return Err(IndexError::Replaced { root: root() });
            }
            Some(_) => {}
            None if scan.root_empty && self.knows_any()? => {
                return Err(IndexError::Emptied { root: root() });
            }
            None => {}
        }
        if !cut_short {
            self.delete_unseen(heirs)?;
        }
        Ok(self.indexed)
    }

    fn refuse(&mut self, path: String, refusal: Refusal) {
        let complaint = format!("not served: {}", refusal.reason);
        if self.indexed.refusals.note(path.clone(), refusal, self.look.refused) {
            self.complain(&path, &complaint);
        }
    }

    fn put(&mut self, resource: Resource) {
        self.origins.push(origin_of(&resource));
        self.batch_bytes += resource.contents.iter().map(|part| part.body.len()).sum::<usize>();
        self.batch.push(Mutation::Put(Box::new(resource)));
        if self.batch.len() >= BATCH_RESOURCES_MAX || self.batch_bytes >= BATCH_BYTES_MAX {
            self.flush();
        }
    }

    fn keep(&mut self, path: String, reason: String) {
        if !self.look.complained.contains(&path) {
            self.complain(&path, &format!("cannot be read now, kept as it was: {reason}"));
        }
        if self.indexed.unreadable_paths.len() < RETRIES_MAX {
            self.indexed.unreadable_paths.insert(path.clone());
        }
        if path.is_empty() {
            self.root_unreadable = Some(reason);
        } else if self.unreadable.len() <= UNREADABLE_PATHS_MAX {
            self.unreadable.insert(path);
        }
    }

    fn complain(&mut self, path: &str, complaint: &str) {
        self.complaints += 1;
        if self.complaints <= COMPLAINTS_SAID_MAX {
            tracing::warn!(space = self.space.settings.name, path, "{complaint}");
        }
    }

    fn flush(&mut self) {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let origins = std::mem::take(&mut self.origins);
        if batch.is_empty() || self.failed.is_some() {
            return;
        }
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let results = match self.engine.commit(batch) {
            Ok(results) => results,
            Err(error) => {
                self.failed = Some(error);
                return;
            }
        };
        self.metrics.source_files_indexed.inc_by(count);
        for (result, (path, fingerprint)) in results.into_iter().zip(origins) {
            match result {
                Ok(applied) => {
                    self.seen.insert(short_hash(&applied.uri));
                    self.indexed.changed += u64::from(applied.outcome != Outcome::Unchanged);
                    if let Some(warning) = applied.warning {
                        tracing::warn!("{}: {warning}", applied.uri);
                    }
                }
                Err(error) => {
                    self.indexed.refused += 1;
                    let reason = error.to_string();
                    self.refuse(path, Refusal { fingerprint, reason, cause: Cause::Store });
                }
            }
        }
    }

    fn knows_any(&self) -> Result<bool, Error> {
        Ok(self.engine.source_ids()?.contains(&self.source_id))
    }

    /// What came from this source before, lies in the scope and was not mentioned now is gone.
    fn delete_unseen(&mut self, heirs: Option<Heirs<'_>>) -> Result<(), Error> {
        if self.unreadable.len() > UNREADABLE_PATHS_MAX {
            tracing::warn!(
                "nothing is deleted: more than {UNREADABLE_PATHS_MAX} paths cannot be read"
            );
            return Ok(());
        }
        let mut deletion = Deletion::new(self.engine, heirs);
        let extent = Extent::new(&self.space, self.look.scope);
        extent.each_known(self.engine, self.source_id, &mut |uri| {
            if self.seen.contains(&short_hash(uri)) || self.is_kept(uri) {
                return Ok(());
            }
            deletion.add(uri)
        })?;
        let (deleted, handed_over) = deletion.finish()?;
        self.indexed.deleted = deleted;
        self.indexed.changed += handed_over;
        Ok(())
    }

    /// Whether the resource stands at, or beneath, a path that could not be read.
    fn is_kept(&self, uri: &str) -> bool {
        if self.unreadable.is_empty() {
            return false;
        }
        // A template that no longer matches says nothing about where the file stands.
        let Some(path) = path_of_uri(&self.space, uri) else { return true };
        let folders = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        folders.chain([path.as_str()]).any(|place| self.unreadable.contains(place))
    }
}

/// The URI of a path beneath a source.
pub(super) fn uri_of(space: &Space, path: &str) -> Option<String> {
    let binding = Binding { name: "path".to_owned(), value: Value::String(path.to_owned()) };
    space.matcher.expand_canonical(&[binding]).ok()
}

/// The escaped path of a URI, as the variable `path` holds it.
pub(super) fn path_of_uri(space: &Space, uri: &str) -> Option<String> {
    let bindings = space.matcher.match_uri(uri).unwrap_or_default();
    bindings.into_iter().find_map(|binding| match binding.value {
        Value::String(path) if binding.name == "path" => Some(path),
        _ => None,
    })
}

/// The path of a record that a scan made, and how the file looked.
fn origin_of(resource: &Resource) -> (String, Option<Vec<u8>>) {
    let fingerprint = resource.source.as_ref().map(|mark| mark.fingerprint.clone());
    (path_of(resource).to_owned(), fingerprint)
}

/// The path of a record that a scan made.
fn path_of(resource: &Resource) -> &str {
    let Address::Variables(bindings) = &resource.address else { return "" };
    match bindings.first().map(|binding| &binding.value) {
        Some(Value::String(path)) => path,
        _ => "",
    }
}

fn short_hash(uri: &str) -> [u8; 16] {
    let mut hash = [0; 16];
    blake3::Hasher::new().update(uri.as_bytes()).finalize_xof().fill(&mut hash);
    hash
}
