//! What of the change log goes into the index: of each resource that changed, what the store holds now.
//!
//! What is newer than the changes at hand is left to the change that made it: so each version is added once, and a resource
//! that the log says was created need not be looked for in the index.
//!
//! A batch of changes may take minutes where texts are taken from documents. It ends where its time is over or the engine
//! closes, in front of a change of the log: what was added is then as if the batch had ended there, and can be committed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tantivy::indexer::UserOperation;

use super::commit::failed;
use super::document::ResourceDocument;
use super::feeder::Fault;
use super::session::Session;
use super::source::{TEXT_BYTES_MAX, decode, read_many};
use crate::change_log::Entry;
use crate::error::{ErrorKind, Result};
use crate::mutation::ChangeKind;
use crate::store::{Cf, key};

/// Changes that are taken from the log in one go.
const CHANGES_PER_BATCH: usize = 1_000;
/// Resources that are read from the store in one go.
const READ_TOGETHER: usize = 64;
/// Documents of so many bytes are given to the writer at once, even if they are fewer.
const HANDED_BYTES_MAX: usize = 1024 * 1024;
/// How long a batch may take, so that what it found is committed by and by.
pub(super) const BATCH_TIME_MAX: Duration = Duration::from_secs(1);

/// Changes in the order of the log, each resource once.
struct Batch {
    changes: Vec<Changed>,
    /// The last change of the log that was looked at.
    last: u64,
}

/// A resource that changed.
struct Changed {
    uri: String,
    /// Its first change of the batch.
    first: u64,
    /// Whether an older version may be in the index.
    needs_delete: bool,
}

impl Session<'_> {
    /// Takes the next changes from the log; false: there are none.
    pub(super) fn follow(&mut self) -> Result<bool, Fault> {
        let batch = self.next_changes()?;
        if batch.last == self.fed {
            return Ok(false);
        }
        let until = Instant::now() + BATCH_TIME_MAX;
        let mut added: Vec<u64> = Vec::with_capacity(batch.changes.len());
        for changes in batch.changes.chunks(READ_TOGETHER) {
            for change in changes {
                // While resources are looked at, older versions may be in the index that the log does not tell of.
                if change.needs_delete || self.reconcile.is_some() {
                    self.delete(&change.uri);
                }
            }
            let uris: Vec<&str> = changes.iter().map(|change| change.uri.as_str()).collect();
            let some = self.add(&uris, batch.last, until)?;
            let is_cut = some.len() < uris.len();
            added.extend(some);
            if is_cut {
                break;
            }
        }
        self.fed = match batch.changes.get(added.len()) {
            None => batch.last,
            Some(next) => self.end_before(next.first, &batch.changes, &added),
        };
        self.is_dirty = true;
        Ok(true)
    }

    /// Has a batch end in front of a change: versions of later changes leave the index, those changes bring them again.
    /// Returns the last change that is in it.
    fn end_before(&self, change: u64, changes: &[Changed], added: &[u64]) -> u64 {
        let last = change.saturating_sub(1);
        for (change, sequence) in changes.iter().zip(added) {
            if *sequence > last {
                self.delete(&change.uri);
            }
        }
        last
    }

    fn next_changes(&self) -> Result<Batch> {
        let store = self.shared.store();
        let view = store.view();
        // Changes that are written and not published yet are left for later.
        let newest = self.shared.log_range().newest;
        let mut scan = view.scan(Cf::Changes, b"", &key::sequence(self.fed.saturating_add(1)))?;
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut batch = Batch { changes: Vec::new(), last: self.fed };
        for _ in 0..CHANGES_PER_BATCH {
            let Some((log_key, value)) = scan.item()? else { break };
            let sequence = key::decode_sequence(log_key)?;
            if sequence > newest {
                break;
            }
            batch.last = sequence;
            let Entry { uri, kind, .. } = Entry::decode(value)?;
            let needs_delete = kind != ChangeKind::Created;
            match places.get(&uri).and_then(|place| batch.changes.get_mut(*place)) {
                Some(known) => known.needs_delete |= needs_delete,
                None => {
                    places.insert(uri.clone(), batch.changes.len());
                    batch.changes.push(Changed { uri, first: sequence, needs_delete });
                }
            }
            scan.advance();
        }
        Ok(batch)
    }

    pub(super) fn delete(&self, uri: &str) {
        self.writer.delete_term(self.full_text.fields.uri_term(uri));
    }

    /// Adds what the store holds of resources, except of those that a change after `last` made, until that time is over or
    /// the engine closes; at least one if it does not. Returns the sequence number of what was added of each that was
    /// looked at, in their order; 0 where that was nothing.
    pub(super) fn add(
        &mut self,
        uris: &[&str],
        last: u64,
        until: Instant,
    ) -> Result<Vec<u64>, Fault> {
        let mut added = Vec::with_capacity(uris.len());
        'all: for uris in uris.chunks(READ_TOGETHER) {
            let store = self.shared.store();
            let catalog = self.shared.catalog();
            let view = store.view();
            let mut documents = Vec::with_capacity(uris.len());
            let mut bytes = 0;
            for (uri, stored) in uris.iter().zip(read_many(&view, uris)?) {
                if self.full_text.stop.is_asked() || (!added.is_empty() && Instant::now() >= until)
                {
                    self.hand_over(&mut documents, bytes)?;
                    break 'all;
                }
                let loaded = match decode(&view, uri, stored, TEXT_BYTES_MAX) {
                    Ok(loaded) => loaded.filter(|loaded| loaded.head.sequence <= last),
                    // What cannot be read cannot be found either; `verify` names it.
                    Err(error) if error.kind() == ErrorKind::Corrupt => None,
                    Err(error) => return Err(error.into()),
                };
                let Some(loaded) = loaded else {
                    added.push(0);
                    continue;
                };
                let sequence = loaded.head.sequence;
                let made = self.maker.make(&catalog, loaded, &self.full_text.stop);
                let Some(document) = made else {
                    self.hand_over(&mut documents, bytes)?;
                    break 'all;
                };
                added.push(sequence);
                bytes += document.bytes();
                documents.push(UserOperation::Add(document));
                if bytes >= HANDED_BYTES_MAX {
                    self.hand_over(&mut documents, bytes)?;
                    bytes = 0;
                }
            }
            self.hand_over(&mut documents, bytes)?;
        }
        self.is_dirty = true;
        Ok(added)
    }

    /// Gives documents to the writer's threads, all at once: waking a thread costs as much as making a small document.
    fn hand_over(
        &mut self,
        documents: &mut Vec<UserOperation<ResourceDocument>>,
        bytes: usize,
    ) -> Result<()> {
        self.uncommitted_bytes = self.uncommitted_bytes.saturating_add(bytes);
        self.writer.run(documents.drain(..)).map_err(|source| failed("written", source))?;
        Ok(())
    }
}
