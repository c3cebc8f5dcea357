//! The open index with what is fed to it, from its opening to a fault or the end of the engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tantivy::{IndexReader, IndexWriter};

use super::FullText;
use super::checksums::{Checksums, Step};
use super::commit::{self, FEEDER_DISTRUSTED, FEEDER_VERSION, OpenFault, Payload, failed};
use super::directory::Gate;
use super::document::{DocumentMaker, ResourceDocument};
use super::feeder::Fault;
use super::reconcile::{Purpose, Reconcile};
use super::snapshot::Snapshot;
use super::tidy::Tidying;
use crate::error::{ErrorKind, Result};
use crate::faults::Faults;
use crate::shared::Shared;
use crate::store::Cf;
use crate::store::codec::Reader;
use crate::store::key::meta;
use crate::store::value::Counts;

/// While so many changes are still to be fed, commits are rare: each costs as much as thousands of documents.
const FAR_BEHIND: u64 = 20_000;
/// Between two commits then.
const FAR_BEHIND_INTERVAL: Duration = Duration::from_secs(20);
/// Without work, the thread looks again after this long.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// At the end, documents of more bytes than this that no commit holds are left to the next start: to write them takes
/// longer than a stop may.
const LAST_COMMIT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The open index.
pub(super) struct Session<'s> {
    pub(super) shared: &'s Shared,
    pub(super) full_text: &'s FullText,
    pub(super) writer: IndexWriter<ResourceDocument>,
    pub(super) reader: IndexReader,
    pub(super) maker: DocumentMaker,
    versions: String,
    /// All changes up to this one were given to the writer.
    pub(super) fed: u64,
    /// All changes up to this one are in a commit.
    committed: u64,
    committed_at: Option<Instant>,
    /// There is something that no commit holds.
    pub(super) is_dirty: bool,
    /// Bytes of documents that no commit holds.
    pub(super) uncommitted_bytes: usize,
    /// All resources are being looked at.
    pub(super) reconcile: Option<Reconcile>,
    /// Something of the store cannot be read, so that what differs could not be mended: the next start tries again.
    is_mending_stuck: bool,
    /// What the next commit mends.
    pub(super) mended: Faults,
    /// Files that are yet to be compared with their checksums.
    unchecked: Option<Checksums>,
    is_counted: bool,
    pub(super) tidying: Tidying,
}

/// What is done once for each opening of the engine, and has been done.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Settled {
    /// The files were compared with their checksums.
    is_checked: bool,
    /// The number of documents was compared with the number of resources.
    is_counted: bool,
}

impl<'s> Session<'s> {
    pub(super) fn open(
        shared: &'s Shared,
        full_text: &'s FullText,
        gate: &Arc<Gate>,
        settled: Settled,
    ) -> Result<Session<'s>, Fault> {
        let versions = commit::versions(&full_text.options);
        let opened = commit::open(&full_text.folder, &full_text.fields, &versions, gate);
        let opened = opened.map_err(|fault| match fault {
            OpenFault::Outdated(reason) => Fault::Outdated(reason),
            OpenFault::Damaged(reason) => Fault::Damaged(reason),
            OpenFault::Later(error) => Fault::Later(error),
        })?;
        let writer = commit::writer(&opened.index, &full_text.options)?;
        let unchecked = if settled.is_checked {
            commit::allow_merges(&writer);
            None
        } else {
            Some(Checksums::new(&full_text.folder, &opened.index)?)
        };
        let payload = match opened.payload {
            Some(payload) => payload,
            None => Payload {
                through: shared.log_range().newest,
                // After the line above: what comes in between is in the log too.
                is_complete: !has_resources(shared)?,
                feeder: FEEDER_VERSION,
                versions: versions.clone(),
            },
        };
        let mut session = Session {
            shared,
            full_text,
            writer,
            reader: opened.reader,
            maker: DocumentMaker::new(&full_text.fields, &full_text.options.extract),
            versions,
            fed: payload.through,
            committed: payload.through,
            committed_at: None,
            is_dirty: false,
            uncommitted_bytes: 0,
            reconcile: None,
            is_mending_stuck: false,
            mended: Faults::default(),
            unchecked,
            is_counted: settled.is_counted,
            tidying: Tidying::begin(),
        };
        session.check_store()?;
        if !payload.is_complete {
            session.begin_reconcile(Purpose::Make);
        } else if payload.feeder < FEEDER_VERSION {
            session.begin_reconcile(Purpose::Mend);
        }
        session.open_newest()?;
        session.publish();
        Ok(session)
    }

    /// Does one piece of work; false: there is none.
    pub(super) fn step(&mut self) -> Result<bool, Fault> {
        self.check_store()?;
        if self.fed.saturating_add(1) < self.shared.log_range().oldest {
            // What came between is no longer in the log.
            self.commit()?;
            self.fed = self.shared.log_range().newest;
            self.begin_reconcile(Purpose::Make);
        }
        if self.full_text.state.take_mend() {
            self.mend();
        }
        let has_followed = self.follow()?;
        let has_looked = !has_followed && self.look_at_resources()?;
        let has_compared = self.compare_checksums()?;
        if self.full_text.stop.is_asked() {
            return Ok(false);
        }
        if self.is_commit_due() {
            self.commit()?;
        }
        let has_worked = has_followed || has_looked || has_compared;
        if !has_worked && !self.is_dirty {
            self.full_text.state.note_idle();
            if self.differs_in_number()? {
                self.mend();
                return Ok(true);
            }
            if self.tidying.is_due() {
                self.tidy()?;
            }
        }
        Ok(has_worked)
    }

    /// The engine closes: commits what was added, unless that takes long.
    pub(super) fn end(mut self) -> Result<(), Fault> {
        if self.is_dirty && self.uncommitted_bytes <= LAST_COMMIT_BYTES_MAX {
            self.commit()?;
        }
        Ok(())
    }

    pub(super) fn has_committed(&self) -> bool {
        self.committed_at.is_some()
    }

    pub(super) fn settled(&self) -> Settled {
        Settled { is_checked: self.unchecked.is_none(), is_counted: self.is_counted }
    }

    /// The index may not hold what the store has lost.
    fn check_store(&self) -> Result<(), Fault> {
        if self.full_text.state.take_remake() {
            return Err(Fault::Remake);
        }
        if self.full_text.state.take_damage() {
            return Err(Fault::Damaged("a search met damage".to_owned()));
        }
        let newest = self.shared.log_range().newest;
        let ends_at = self.full_text.state.take_store_end().unwrap_or(newest);
        if self.fed > ends_at.min(newest) {
            return Err(Fault::Outdated(format!(
                "it holds change {}, the store ends at {newest}",
                self.fed
            )));
        }
        Ok(())
    }

    /// Compares the next piece of the files that were there at the start; false: all were compared. It takes turns with all
    /// other work, since an index may have more bytes than are read in minutes.
    fn compare_checksums(&mut self) -> Result<bool, Fault> {
        let Some(unchecked) = &mut self.unchecked else { return Ok(false) };
        match unchecked.step() {
            Step::More => {}
            Step::Damaged(file) => return Err(Fault::Damaged(file)),
            Step::Done => {
                self.unchecked = None;
                commit::allow_merges(&self.writer);
            }
        }
        Ok(true)
    }

    // === commits ===

    fn interval(&self) -> Duration {
        // What was fed already only waits for a commit: it is not to wait for longer because it is much.
        let behind = self.shared.log_range().newest.saturating_sub(self.fed);
        let interval = self.full_text.options.commit_interval;
        if behind > FAR_BEHIND || self.purpose() == Some(Purpose::Make) {
            interval.max(FAR_BEHIND_INTERVAL)
        } else {
            interval
        }
    }

    fn is_commit_due(&self) -> bool {
        self.is_dirty && self.committed_at.is_none_or(|at| at.elapsed() >= self.interval())
    }

    fn commit(&mut self) -> Result<(), Fault> {
        // A commit must not be ahead of the store when the power fails.
        self.shared.store().sync()?;
        let purpose = self.purpose();
        let is_distrusted = purpose == Some(Purpose::Mend) || self.is_mending_stuck;
        let payload = Payload {
            through: self.fed,
            is_complete: purpose != Some(Purpose::Make),
            feeder: if is_distrusted { FEEDER_DISTRUSTED } else { FEEDER_VERSION },
            versions: self.versions.clone(),
        };
        let written = |source| failed("written", source);
        let mut prepared = self.writer.prepare_commit().map_err(written)?;
        prepared.set_payload(&payload.encode());
        prepared.commit().map_err(written)?;
        self.reader.reload().map_err(|source| failed("read", source))?;
        self.open_newest()?;
        self.full_text.generations.drop_old();
        self.committed = self.fed;
        self.committed_at = Some(Instant::now());
        self.is_dirty = false;
        self.uncommitted_bytes = 0;
        self.tidying = Tidying::begin();
        self.full_text.state.note_mended(std::mem::take(&mut self.mended));
        self.full_text.state.note_idle();
        self.publish();
        Ok(())
    }

    /// Opens what was committed last for searches.
    pub(super) fn open_newest(&self) -> Result<()> {
        let snapshot = Snapshot::open(self.reader.searcher(), &self.full_text.fields)?;
        self.full_text.newest.store(Some(Arc::new(snapshot)));
        Ok(())
    }

    fn publish(&self) {
        let made = self.reconcile.as_ref().filter(|reconcile| reconcile.purpose == Purpose::Make);
        let rebuilding = made.map(|reconcile| reconcile.progress(self.shared));
        let is_mending = self.purpose() == Some(Purpose::Mend);
        self.full_text.state.publish(self.committed, rebuilding, is_mending);
    }

    pub(super) fn sleep(&self) {
        let at_most = match (self.is_dirty, self.committed_at) {
            (true, Some(at)) => self.interval().saturating_sub(at.elapsed()),
            (true, None) => Duration::ZERO,
            (false, _) => self.tidying.rest().unwrap_or(IDLE_MAX),
        };
        let fed = self.fed;
        self.full_text.state.sleep(at_most, || self.shared.log_range().newest <= fed);
    }

    // === all resources ===

    fn purpose(&self) -> Option<Purpose> {
        self.reconcile.as_ref().map(|reconcile| reconcile.purpose)
    }

    fn begin_reconcile(&mut self, purpose: Purpose) {
        self.reconcile = Some(Reconcile::new(purpose, self.fed, self.reader.searcher()));
    }

    /// Compares all resources with the index and mends what differs. The next commit says so: a start before the end begins
    /// again.
    fn mend(&mut self) {
        if self.reconcile.is_none() {
            self.begin_reconcile(Purpose::Mend);
            self.is_dirty = true;
        }
    }

    /// Looks at the next resources, if all have to be; false: there is nothing to do.
    fn look_at_resources(&mut self) -> Result<bool, Fault> {
        let Some(mut reconcile) = self.reconcile.take() else { return Ok(false) };
        match reconcile.step(self) {
            Ok(true) => self.reconcile = Some(reconcile),
            Ok(false) => self.commit()?,
            // The rest of the index is as good as it was; `verify` names what cannot be read.
            Err(Fault::Later(error))
                if reconcile.purpose == Purpose::Mend && error.kind() == ErrorKind::Corrupt =>
            {
                self.is_mending_stuck = true;
                self.commit()?;
            }
            Err(fault) => return Err(fault),
        }
        Ok(true)
    }

    /// Whether the index has another number of documents than the store has resources, where it was not counted since the
    /// engine was opened. That costs nothing, and tells of most that went wrong before.
    fn differs_in_number(&mut self) -> Result<bool, Fault> {
        if self.is_counted || self.reconcile.is_some() {
            return Ok(false);
        }
        let store = self.shared.store();
        let view = store.view();
        let sequence = view.get(Cf::Meta, meta::SEQUENCE)?;
        let sequence = sequence.map(|value| Reader::new(&value, "sequence number").u64());
        if sequence.transpose()?.unwrap_or(0) != self.committed {
            return Ok(false);
        }
        let mut resources = 0_u64;
        for space in self.shared.catalog().everything() {
            let counts = view.get(Cf::Meta, &meta::counts(space.id))?;
            let counts = counts.map(|value| Counts::decode(&value)).transpose()?;
            resources = resources.saturating_add(counts.unwrap_or_default().resources);
        }
        self.is_counted = true;
        Ok(self.reader.searcher().num_docs() != resources)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // The writer ends by itself behind this: what no commit holds is gone.
        self.maker.discard_waiting();
    }
}

/// Whether the store holds anything: the log alone tells all of a store that begins empty.
fn has_resources(shared: &Shared) -> Result<bool> {
    let store = shared.store();
    let view = store.view();
    let scan = view.scan(Cf::Contents, b"", b"")?;
    Ok(scan.item()?.is_some())
}
