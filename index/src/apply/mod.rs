//! `apply`: the only way the store changes. Takes prepared mutations one after the other, reads what
//! they meet, and adds all that follows from each to one batch: contents, chunks, descriptor, list
//! entry, aliases, source, change record, counters, tombstone.

mod aliases;
mod prompts;
mod retention;
mod spaces;

pub use retention::CHANGES_KEPT_MAX;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::acl::{AclNumbers, AclTable};
use crate::catalog::{Space, SpaceCatalog};
use crate::change_log::Entry;
use crate::completion::{self, Facet, FactChange, Facts, SpaceChanges};
use crate::contents_fragment::descriptor;
use crate::error::{Error, ErrorKind, Result};
use crate::mutation::{Applied, ChangeKind, Outcome};
use crate::prepare::PreparedPut;
use crate::prompt::PromptCatalog;
use crate::resource::UnixMillis;
use crate::space::SpaceId;
use crate::store::codec::{Reader, Writer};
use crate::store::key::meta;
use crate::store::value::{AclId, Counts, Head, Tombstone, encode_acl};
use crate::store::{Batch, Cf, Store, key};

/// What the writer knows beside the store; becomes valid with the batch that carries it.
pub(crate) struct WriterState {
    pub(crate) sequence: u64,
    pub(crate) oldest_change: u64,
    pub(crate) next_space: u32,
    change_log_retention_ms: i64,
    retention_check: UnixMillis,
    /// Where the last look for idempotency keys that are too old ended.
    idempotency_sweep: Vec<u8>,
    pub(crate) acls: AclNumbers,
    pub(crate) catalog: Arc<SpaceCatalog>,
    pub(crate) prompts: Arc<PromptCatalog>,
    pub(crate) counts: BTreeMap<SpaceId, Counts>,
}

impl WriterState {
    pub(crate) fn load(
        store: &Store,
        acls: &AclTable,
        catalog: Arc<SpaceCatalog>,
        prompts: Arc<PromptCatalog>,
        change_log_retention: Duration,
    ) -> Result<WriterState> {
        let number = |name: &[u8]| -> Result<Option<u64>> {
            let Some(value) = store.get(Cf::Meta, name)? else {
                return Ok(None);
            };
            Reader::new(&value, "store counter").u64().map(Some)
        };
        let counts = catalog.everything().map(|space| (space.id, space.counts())).collect();
        Ok(WriterState {
            sequence: number(meta::SEQUENCE)?.unwrap_or(0),
            oldest_change: number(meta::OLDEST_CHANGE)?.unwrap_or(1),
            next_space: number(meta::NEXT_SPACE)?
                .map_or(1, |n| u32::try_from(n).unwrap_or(u32::MAX)),
            change_log_retention_ms: i64::try_from(change_log_retention.as_millis())
                .unwrap_or(i64::MAX),
            retention_check: UnixMillis::MIN,
            idempotency_sweep: Vec::new(),
            acls: AclNumbers::from_table(acls),
            catalog,
            prompts,
            counts,
        })
    }

    pub(crate) fn change_log_retention(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.change_log_retention_ms).unwrap_or(u64::MAX))
    }
}

/// A batch to be written, with the URIs whose values it replaces.
pub(crate) struct Finished<'s> {
    pub(crate) batch: Batch<'s>,
    pub(crate) replaced: Vec<String>,
    /// What it changes in the completion indexes.
    pub(crate) completion: SpaceChanges,
    /// The last sequence number before it.
    pub(crate) sequence_before: u64,
}

/// One batch in the making.
pub(crate) struct Transaction<'s, 'w> {
    store: &'s Store,
    batch: Batch<'s>,
    state: &'w mut WriterState,
    now: UnixMillis,
    /// What this batch has put where the store still shows the old.
    heads: HashMap<String, Option<Head>>,
    aliases: HashMap<String, Vec<String>>,
    tombstones: HashMap<String, Option<Tombstone>>,
    idempotency: HashMap<Vec<u8>, (u64, u64)>,
    touched: BTreeSet<SpaceId>,
    completion: SpaceChanges,
    sequence_before: u64,
}

impl<'s, 'w> Transaction<'s, 'w> {
    pub(crate) fn new(store: &'s Store, state: &'w mut WriterState, now: UnixMillis) -> Self {
        Transaction {
            store,
            batch: store.batch(),
            completion: SpaceChanges::new(),
            sequence_before: state.sequence,
            state,
            now,
            heads: HashMap::new(),
            aliases: HashMap::new(),
            tombstones: HashMap::new(),
            idempotency: HashMap::new(),
            touched: BTreeSet::new(),
        }
    }

    /// Adds the counters and hands over the batch for writing, and the URIs whose values it replaces.
    pub(crate) fn finish(mut self) -> Result<Finished<'s>> {
        for space in &self.touched {
            let counts = self.state.counts.get(space).copied().unwrap_or_default();
            self.batch.put(Cf::Meta, &meta::counts(*space), &counts.encode())?;
        }
        if !self.batch.is_empty() {
            match self.drop_old_changes() {
                // A broken entry keeps what is older, and keeps nobody from writing; `verify` names it.
                Err(error) if error.kind() == ErrorKind::Corrupt => {}
                result => result?,
            }
            self.batch.put(Cf::Meta, meta::SEQUENCE, &self.state.sequence.to_be_bytes())?;
        }
        Ok(Finished {
            batch: self.batch,
            replaced: self.heads.into_keys().collect(),
            completion: self.completion,
            sequence_before: self.sequence_before,
        })
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.batch.size_bytes()
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.state.sequence
    }

    pub(crate) fn catalog(&self) -> &SpaceCatalog {
        &self.state.catalog
    }

    /// The number that a new space gets.
    pub(crate) fn next_space(&self) -> SpaceId {
        SpaceId(self.state.next_space)
    }

    // === idempotency keys ===

    /// The sequence numbers before and after the commit that carried this key.
    pub(crate) fn committed_before(&self, idempotency_key: &[u8]) -> Result<Option<(u64, u64)>> {
        if let Some(range) = self.idempotency.get(idempotency_key) {
            return Ok(Some(*range));
        }
        let Some(value) = self.store.get(Cf::Idempotency, idempotency_key)? else {
            return Ok(None);
        };
        let mut reader = Reader::new(&value, "idempotency key");
        Ok(Some((reader.u64()?, reader.u64()?)))
    }

    pub(crate) fn remember(&mut self, idempotency_key: &[u8], before: u64) -> Result<()> {
        let range = (before, self.state.sequence);
        let mut value = Writer::with_capacity(24);
        value.u64(range.0).u64(range.1).i64(self.now);
        self.idempotency.insert(idempotency_key.to_vec(), range);
        self.batch.put(Cf::Idempotency, idempotency_key, &value.finish())
    }

    // === resources ===

    /// Whether the resource has this version now, with all that the batch has done to it before; 0: there is none.
    ///
    /// # Errors
    /// `VersionMismatch` with the version that it has.
    pub(crate) fn expect_version(&self, uri: &str, expected: u64) -> Result<()> {
        let found = self.head(uri)?.map_or(0, |head| head.version);
        if found == expected {
            return Ok(());
        }
        let has = match found {
            0 => "there is no resource".to_owned(),
            version => format!("it has version {version}"),
        };
        let detail = format!("{has}, expected was {expected}: read it again, then decide");
        Err(Error::new(ErrorKind::VersionMismatch, uri, detail))
    }

    /// Puts a resource. All checks come before the first write: a refused record leaves no trace.
    pub(crate) fn put(&mut self, put: &PreparedPut) -> Result<Applied> {
        let space = self.current_space(put)?;
        let previous = self.head(&put.uri)?;
        if let Some(previous) = &previous
            && previous.space != space.id
        {
            return Err(self.other_space(&put.uri, previous.space));
        }
        let warning = self.check_aliases(&space, put, previous.is_some())?;
        let acl = self.acl_number(put.acl.as_deref())?;
        let unchanged =
            previous.as_ref().is_some_and(|head| head.hash == put.hash && head.acl == acl);
        if let Some(previous) = previous.as_ref().filter(|_| unchanged) {
            return self.refresh(put, previous, acl, warning);
        }
        let tombstone = if previous.is_some() { None } else { self.tombstone(&put.uri)? };
        let version = match (&previous, &tombstone) {
            (Some(head), _) => head.version,
            (None, Some(tombstone)) => tombstone.version,
            (None, None) => 0,
        }
        .saturating_add(1);
        let (kind, outcome) = match previous {
            Some(_) => (ChangeKind::Updated, Outcome::Updated),
            None => (ChangeKind::Created, Outcome::Created),
        };
        let old_acl = previous.as_ref().map_or(AclId::NONE, |head| head.acl);
        let pinned_before = previous.as_ref().filter(|head| head.order.pinned);
        let old_priority = previous.as_ref().map_or(0, |head| head.order.priority);
        let sequence = self.log(Entry {
            kind,
            pinned_list: pinned_before.map(|head| head.acl) != put.order.pinned.then_some(acl),
            space: space.id,
            version,
            old_acl,
            new_acl: acl,
            committed: self.now,
            priorities: Some((old_priority, put.order.priority)),
            uri: put.uri.clone(),
        })?;
        self.note_completion(
            &space,
            Arc::clone(&put.facts),
            previous.as_ref(),
            Some((acl, put.order.priority)),
        );
        let head = Head {
            space: space.id,
            acl,
            version,
            sequence,
            committed: self.now,
            hash: put.hash,
            order: put.order,
            chunked: put.parts.iter().any(|part| !part.chunks.is_empty()),
            source: put.source.clone(),
        };
        if let Some(previous) = &previous {
            self.remove_derived(&put.uri, previous)?;
        } else {
            if tombstone.is_some() {
                self.batch.delete(Cf::Tombstones, put.uri.as_bytes())?;
                self.tombstones.insert(put.uri.clone(), None);
            }
            self.add_alias(put)?;
        }
        self.count(space.id, previous.as_ref().map(|head| head.acl), Some(acl));
        self.write_chunks(put, version)?;
        self.write_resource(put, head)?;
        Ok(Applied { uri: put.uri.clone(), outcome, version, sequence: Some(sequence), warning })
    }

    /// The same content again: only what readers are not notified of is brought up to date.
    fn refresh(
        &mut self,
        put: &PreparedPut,
        previous: &Head,
        acl: AclId,
        warning: Option<String>,
    ) -> Result<Applied> {
        if previous.order != put.order || previous.source != put.source {
            self.batch.delete(Cf::List, &key::list(previous.space, previous.order, &put.uri))?;
            if let Some(mark) = &previous.source {
                self.batch.delete(Cf::Sources, &key::source(mark.source_id, &put.uri))?;
            }
            let head =
                Head { order: put.order, source: put.source.clone(), acl, ..previous.clone() };
            self.write_resource(put, head)?;
        }
        Ok(Applied {
            uri: put.uri.clone(),
            outcome: Outcome::Unchanged,
            version: previous.version,
            sequence: None,
            warning,
        })
    }

    /// Contents, descriptor, list entry and source entry of a head.
    fn write_resource(&mut self, put: &PreparedPut, head: Head) -> Result<()> {
        let uri = put.uri.as_bytes();
        let mut value = Writer::with_capacity(80 + put.parts_value.len());
        head.write(&mut value);
        value.raw(&put.parts_value);
        self.batch.put(Cf::Contents, uri, &value.finish())?;
        let mut descriptor = put.descriptor.clone();
        descriptor::set_acl(&mut descriptor, head.acl);
        self.batch.put(Cf::Descriptors, uri, &descriptor)?;
        let list_key = key::list(head.space, head.order, &put.uri);
        self.batch.put(Cf::List, &list_key, &head.acl.0.to_be_bytes())?;
        if let Some(mark) = &head.source {
            self.batch.put(
                Cf::Sources,
                &key::source(mark.source_id, &put.uri),
                &mark.fingerprint,
            )?;
        }
        self.heads.insert(put.uri.clone(), Some(head));
        Ok(())
    }

    fn write_chunks(&mut self, put: &PreparedPut, version: u64) -> Result<()> {
        for (part_number, part) in (0_u16..).zip(&put.parts) {
            for (chunk_number, chunk) in (0_u32..).zip(&part.chunks) {
                let key = key::chunk(&put.uri, version, part_number, chunk_number);
                self.batch.put(Cf::Chunks, &key, &chunk.bytes)?;
            }
        }
        Ok(())
    }

    /// Deletes a resource by its normalised URI.
    pub(crate) fn delete(&mut self, uri: &str) -> Result<Applied> {
        let Some(head) = self.head(uri)? else {
            let version = self.tombstone(uri)?.map_or(0, |tombstone| tombstone.version);
            return Ok(Applied {
                uri: uri.to_owned(),
                outcome: Outcome::Absent,
                version,
                sequence: None,
                warning: None,
            });
        };
        let sequence = self.log(Entry {
            kind: ChangeKind::Deleted,
            pinned_list: head.order.pinned,
            space: head.space,
            version: head.version,
            old_acl: head.acl,
            new_acl: AclId::NONE,
            committed: self.now,
            priorities: Some((head.order.priority, 0)),
            uri: uri.to_owned(),
        })?;
        // A space that is being removed completes nothing any more.
        if let Some(space) = self.state.catalog.get(head.space).cloned()
            && let Some(facts) = space.facts(uri)
        {
            self.note_completion(&space, Arc::new(facts), Some(&head), None);
        }
        self.remove_derived(uri, &head)?;
        self.batch.delete(Cf::Contents, uri.as_bytes())?;
        self.batch.delete(Cf::Descriptors, uri.as_bytes())?;
        self.remove_alias(uri)?;
        let tombstone = Tombstone {
            space: head.space,
            acl: head.acl,
            version: head.version,
            sequence,
            deleted: self.now,
        };
        self.batch.put(Cf::Tombstones, uri.as_bytes(), &tombstone.encode())?;
        self.tombstones.insert(uri.to_owned(), Some(tombstone));
        self.count(head.space, Some(head.acl), None);
        self.heads.insert(uri.to_owned(), None);
        Ok(Applied {
            uri: uri.to_owned(),
            outcome: Outcome::Deleted,
            version: head.version,
            sequence: Some(sequence),
            warning: None,
        })
    }

    /// List entry, source entry and chunks of a version that goes.
    fn remove_derived(&mut self, uri: &str, head: &Head) -> Result<()> {
        self.batch.delete(Cf::List, &key::list(head.space, head.order, uri))?;
        if let Some(mark) = &head.source {
            self.batch.delete(Cf::Sources, &key::source(mark.source_id, uri))?;
        }
        let prefix = key::chunks_of(uri, head.version);
        match key::after_prefix(&prefix) {
            // A range tombstone for every small resource would slow reads.
            Some(end) if head.chunked => self.batch.delete_range(Cf::Chunks, &prefix, &end),
            _ => Ok(()),
        }
    }

    /// Appends to the change log; returns the entry's sequence number.
    fn log(&mut self, entry: Entry) -> Result<u64> {
        self.state.sequence = self.state.sequence.saturating_add(1);
        self.batch.put(Cf::Changes, &key::sequence(self.state.sequence), &entry.encode())?;
        Ok(self.state.sequence)
    }

    /// What a change means to completion: nothing where neither ACL nor priority changes.
    fn note_completion(
        &mut self,
        space: &Space,
        facts: Arc<Facts>,
        previous: Option<&Head>,
        next: Option<(AclId, u16)>,
    ) {
        let removed = previous.map(|head| Facet { acl: head.acl.0, priority: head.order.priority });
        let added = next.map(|(acl, priority)| Facet { acl: acl.0, priority });
        if removed != added {
            let change = FactChange { facts, removed, added };
            completion::add_change(&mut self.completion, space.id, change);
        }
    }

    fn count(&mut self, space: SpaceId, before: Option<AclId>, after: Option<AclId>) {
        let counts = self.state.counts.entry(space).or_default();
        let restricted = |acl: Option<AclId>| u64::from(acl.is_some_and(|acl| acl != AclId::NONE));
        counts.resources = counts
            .resources
            .saturating_add(u64::from(after.is_some()))
            .saturating_sub(u64::from(before.is_some()));
        counts.restricted =
            counts.restricted.saturating_add(restricted(after)).saturating_sub(restricted(before));
        self.touched.insert(space);
    }

    fn acl_number(&mut self, groups: Option<&[String]>) -> Result<AclId> {
        let Some(groups) = groups else {
            return Ok(AclId::NONE);
        };
        let (number, is_new) = self.state.acls.intern(groups)?;
        if is_new {
            self.batch.put(Cf::Acls, &key::number32(number.0), &encode_acl(groups))?;
        }
        Ok(number)
    }

    // === what stands there ===

    fn head(&self, uri: &str) -> Result<Option<Head>> {
        if let Some(head) = self.heads.get(uri) {
            return Ok(head.clone());
        }
        let Some(value) = self.store.get(Cf::Contents, uri.as_bytes())? else {
            return Ok(None);
        };
        Head::read(&mut Reader::new(&value, "contents value")).map(Some)
    }

    fn tombstone(&self, uri: &str) -> Result<Option<Tombstone>> {
        if let Some(tombstone) = self.tombstones.get(uri) {
            return Ok(tombstone.clone());
        }
        let Some(value) = self.store.get(Cf::Tombstones, uri.as_bytes())? else {
            return Ok(None);
        };
        Tombstone::decode(&value).map(Some)
    }

    /// The space as it is now: it may have been changed or removed since the record was prepared.
    fn current_space(&self, put: &PreparedPut) -> Result<Arc<Space>> {
        let prepared = &put.space;
        match self.state.catalog.get(prepared.id) {
            Some(space) if space.settings.uri_template == prepared.settings.uri_template => {
                Ok(Arc::clone(space))
            }
            _ => Err(Error::new(
                ErrorKind::Conflict,
                put.uri.as_str(),
                format!(
                    "the space `{}` was removed or changed while the record was on its way: send the record again",
                    prepared.settings.name
                ),
            )),
        }
    }

    fn other_space(&self, uri: &str, other: SpaceId) -> Error {
        let name = self.state.catalog.get(other).map_or("another", |space| &space.settings.name);
        Error::new(
            ErrorKind::Conflict,
            uri,
            format!("it belongs to the space `{name}` already; delete it there first"),
        )
    }
}
