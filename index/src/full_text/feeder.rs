//! The thread that keeps the index in step with the store.
//!
//! It follows the change log and reads of each resource what the store holds now. What is newer than the changes at hand
//! is left to the change that made it: so each version is added once, and a resource that the log says was created need
//! not be looked for in the index. A fault of the index's folder ends neither writes nor reads: the thread tries again
//! from the last commit on, and search says that it is behind.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tantivy::indexer::UserOperation;
use tantivy::{IndexReader, IndexWriter};

use super::FullText;
use super::checksums::{Checksums, Step};
use super::commit::{self, OpenFault, Payload, failed};
use super::document::{DocumentMaker, ResourceDocument};
use super::reconcile::Reconcile;
use super::snapshot::Snapshot;
use super::source::{TEXT_BYTES_MAX, decode, read_many};
use super::tidy::Tidying;
use crate::background::stand_back;
use crate::change_log::Entry;
use crate::error::{Error, ErrorKind, Result};
use crate::mutation::ChangeKind;
use crate::shared::Shared;
use crate::store::{Cf, key};

/// Changes that are taken from the log in one go.
const CHANGES_PER_BATCH: usize = 1_000;
/// Resources that are read from the store in one go.
const READ_TOGETHER: usize = 64;
/// Documents of so many bytes are given to the writer at once, even if they are fewer.
const HANDED_BYTES_MAX: usize = 1024 * 1024;
/// While so many changes are still to be fed, commits are rare: each costs as much as thousands of documents.
const FAR_BEHIND: u64 = 20_000;
/// Between two commits then.
const FAR_BEHIND_INTERVAL: Duration = Duration::from_secs(20);
/// Without work, the thread looks again after this long.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// After a failure nothing is tried for this long, twice as long after the next, up to the second.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// When the engine closes, a batch may take this long to end.
const CLOSING_PATIENCE: Duration = Duration::from_millis(200);

/// The handle to the thread. Dropping it has what was added committed, then joins it.
pub(crate) struct Feeder {
    full_text: Arc<FullText>,
    thread: Option<JoinHandle<()>>,
}

impl Feeder {
    pub(crate) fn start(shared: &Arc<Shared>, full_text: &Arc<FullText>) -> Result<Feeder> {
        let (for_thread, its_full_text) = (Arc::clone(shared), Arc::clone(full_text));
        let thread = std::thread::Builder::new()
            .name("pressmark-full-text".to_owned())
            .spawn(move || run(&for_thread, &its_full_text))
            .map_err(|source| {
                Error::new(ErrorKind::Io, "full text", "the thread could not be started")
                    .with_source(source)
            })?;
        Ok(Feeder { full_text: Arc::clone(full_text), thread: Some(thread) })
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.full_text.state.close();
        if let Some(thread) = self.thread.take() {
            // When it panicked outside of a session, the next start goes on from the last commit.
            let _ = thread.join();
        }
    }
}

/// Why a session ended before the engine closed.
pub(super) enum Fault {
    /// The index was made in another way, or from another store: it is made anew.
    Outdated(String),
    /// The index is not what was written: it is made anew.
    Damaged(String),
    /// The operator wants it made anew.
    Remake,
    /// The same may work later.
    Later(Error),
    /// The engine closed while a document was read: what was added since the last commit is added again at the next start.
    Stopped,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        match error.kind() {
            ErrorKind::Corrupt if error.subject() == "full text" => {
                Fault::Damaged(error.with_cause())
            }
            _ => Fault::Later(error),
        }
    }
}

fn run(shared: &Shared, full_text: &FullText) {
    stand_back();
    let mut pause = PAUSE_MIN;
    let mut is_checked = false;
    while !full_text.state.is_closing() {
        let mut has_committed = false;
        // tantivy panics at some damage of its files.
        let stop = Arc::new(AtomicBool::new(false));
        let session = catch_unwind(AssertUnwindSafe(|| {
            session(shared, full_text, &stop, (&mut has_committed, &mut is_checked))
        }));
        // A merge that still runs ends with an error at its next write.
        stop.store(true, Ordering::Relaxed);
        if has_committed {
            pause = PAUSE_MIN;
        }
        let fault = match session {
            Ok(Ok(())) => break,
            Ok(Err(fault)) => fault,
            Err(_) => Fault::Damaged("reading it ended in a panic".to_owned()),
        };
        if let Fault::Damaged(reason) = &fault {
            full_text.state.note_damage(reason);
        }
        let failure = match fault {
            Fault::Outdated(reason) | Fault::Damaged(reason) => match discard(full_text) {
                Ok(()) => format!("the index is made anew: {reason}"),
                Err(error) => format!("{}, and is of no use: {reason}", error.with_cause()),
            },
            Fault::Remake => match discard(full_text) {
                Ok(()) => continue,
                Err(error) => error.with_cause(),
            },
            Fault::Later(error) => error.with_cause(),
            Fault::Stopped => break,
        };
        full_text.state.note_failure(failure);
        full_text.state.pause(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Lets go of the index and deletes it.
fn discard(full_text: &FullText) -> Result<()> {
    full_text.state.reset();
    full_text.newest.store(None);
    full_text.generations.clear();
    full_text.discarded.fetch_add(1, Ordering::Relaxed);
    commit::discard(&full_text.folder)
}

/// Feeds the index until the engine closes or something fails.
fn session(
    shared: &Shared,
    full_text: &FullText,
    stop: &Arc<AtomicBool>,
    (has_committed, is_checked): (&mut bool, &mut bool),
) -> Result<(), Fault> {
    let mut session = Session::open(shared, full_text, stop, *is_checked)?;
    loop {
        let has_work = session.step()?;
        *has_committed |= session.committed_at.is_some();
        *is_checked = session.unchecked.is_none();
        if full_text.state.is_closing() {
            if session.fed != session.committed && !session.is_torn {
                session.commit()?;
            }
            return Ok(());
        }
        if !has_work {
            session.sleep();
        }
    }
}

/// Whether the store holds anything: the log alone tells all of a store that begins empty.
fn has_resources(shared: &Shared) -> Result<bool> {
    let store = shared.store();
    let view = store.view();
    let scan = view.scan(Cf::Contents, b"", b"")?;
    Ok(scan.item()?.is_some())
}

/// The open index with what was fed to it.
pub(super) struct Session<'s> {
    pub(super) shared: &'s Shared,
    pub(super) full_text: &'s FullText,
    pub(super) writer: IndexWriter<ResourceDocument>,
    pub(super) reader: IndexReader,
    maker: DocumentMaker,
    versions: String,
    /// All changes up to this one were given to the writer.
    fed: u64,
    /// All changes up to this one are in a commit.
    committed: u64,
    committed_at: Option<Instant>,
    /// There are documents that no commit holds.
    is_dirty: bool,
    /// The engine closes in the middle of a batch: what is added cannot be committed.
    is_torn: bool,
    /// All resources are being looked at.
    reconcile: Option<Reconcile>,
    /// Files that are yet to be compared with their checksums.
    unchecked: Option<Checksums>,
    pub(super) tidying: Tidying,
}

impl<'s> Session<'s> {
    fn open(
        shared: &'s Shared,
        full_text: &'s FullText,
        stop: &Arc<AtomicBool>,
        is_checked: bool,
    ) -> Result<Session<'s>, Fault> {
        let versions = commit::versions(&full_text.options);
        let opened = commit::open(&full_text.folder, &full_text.fields, &versions, stop);
        let opened = opened.map_err(|fault| match fault {
            OpenFault::Outdated(reason) => Fault::Outdated(reason),
            OpenFault::Damaged(reason) => Fault::Damaged(reason),
            OpenFault::Later(error) => Fault::Later(error),
        })?;
        let writer = commit::writer(&opened.index, &full_text.options)?;
        let unchecked = if is_checked {
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
                versions: versions.clone(),
            },
        };
        let mut session = Session {
            shared,
            full_text,
            writer,
            reader: opened.reader,
            maker: DocumentMaker::new(
                &full_text.fields,
                &full_text.options.extract,
                &full_text.state.stop,
            ),
            versions,
            fed: payload.through,
            committed: payload.through,
            committed_at: None,
            is_dirty: false,
            is_torn: false,
            reconcile: None,
            unchecked,
            tidying: Tidying::begin(),
        };
        session.check_store()?;
        if !payload.is_complete {
            session.begin_reconcile();
        }
        session.open_newest()?;
        session.publish();
        Ok(session)
    }

    /// Does one piece of work; false: there is none.
    fn step(&mut self) -> Result<bool, Fault> {
        self.check_store()?;
        if self.fed.saturating_add(1) < self.shared.log_range().oldest {
            // What came between is no longer in the log.
            self.commit()?;
            self.fed = self.shared.log_range().newest;
            self.begin_reconcile();
        }
        let has_followed = self.follow()?;
        let has_looked = !has_followed && self.look_at_resources()?;
        let has_compared = self.compare_checksums()?;
        if self.is_commit_due() {
            self.commit()?;
        } else if !(has_followed || has_looked || has_compared) && self.tidying.is_due() {
            self.tidy()?;
        }
        Ok(has_followed || has_looked || has_compared)
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

    /// Takes the next changes from the log; false: there are none.
    fn follow(&mut self) -> Result<bool, Fault> {
        let (changes, last) = self.next_changes()?;
        if last == self.fed {
            return Ok(false);
        }
        let began = Instant::now();
        for changes in changes.chunks(READ_TOGETHER) {
            if began.elapsed() > CLOSING_PATIENCE && self.full_text.state.is_closing() {
                self.is_torn = true;
                return Ok(false);
            }
            for (uri, needs_delete) in changes {
                // While resources are looked at, older versions may be in the index that the log does not tell of.
                if *needs_delete || self.reconcile.is_some() {
                    self.delete(uri);
                }
            }
            let uris: Vec<&str> = changes.iter().map(|(uri, _)| uri.as_str()).collect();
            self.add(&uris, last)?;
        }
        self.fed = last;
        self.is_dirty = true;
        Ok(true)
    }

    /// The URIs that changed next, each once, with whether an older version may be in the index; and the last change
    /// that was looked at.
    fn next_changes(&self) -> Result<(Vec<(String, bool)>, u64)> {
        let store = self.shared.store();
        let view = store.view();
        // Changes that are written and not published yet are left for later.
        let newest = self.shared.log_range().newest;
        let mut scan = view.scan(Cf::Changes, b"", &key::sequence(self.fed.saturating_add(1)))?;
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut changes: Vec<(String, bool)> = Vec::new();
        let mut last = self.fed;
        for _ in 0..CHANGES_PER_BATCH {
            let Some((log_key, value)) = scan.item()? else { break };
            let sequence = key::decode_sequence(log_key)?;
            if sequence > newest {
                break;
            }
            last = sequence;
            let entry = Entry::decode(value)?;
            let needs_delete = entry.kind != ChangeKind::Created;
            match places.get(&entry.uri).and_then(|place| changes.get_mut(*place)) {
                Some((_, known)) => *known |= needs_delete,
                None => {
                    places.insert(entry.uri.clone(), changes.len());
                    changes.push((entry.uri, needs_delete));
                }
            }
            scan.advance();
        }
        Ok((changes, last))
    }

    pub(super) fn delete(&self, uri: &str) {
        self.writer.delete_term(self.full_text.fields.uri_term(uri));
    }

    /// Adds what the store holds of resources, except of those that a change after `last` made.
    pub(super) fn add(&mut self, uris: &[&str], last: u64) -> Result<(), Fault> {
        let store = self.shared.store();
        let catalog = self.shared.catalog();
        for uris in uris.chunks(READ_TOGETHER) {
            let view = store.view();
            let mut documents = Vec::with_capacity(uris.len());
            let mut bytes = 0;
            for (uri, stored) in uris.iter().zip(read_many(&view, uris)?) {
                let loaded = match decode(&view, uri, stored, TEXT_BYTES_MAX) {
                    Ok(loaded) => loaded.filter(|loaded| loaded.head.sequence <= last),
                    // What cannot be read cannot be found either; `verify` names it.
                    Err(error) if error.kind() == ErrorKind::Corrupt => None,
                    Err(error) => return Err(error.into()),
                };
                let Some(loaded) = loaded else { continue };
                let document = self.maker.make(&catalog, loaded).ok_or(Fault::Stopped)?;
                bytes += document.bytes();
                documents.push(UserOperation::Add(document));
                if bytes >= HANDED_BYTES_MAX {
                    self.hand_over(&mut documents)?;
                    bytes = 0;
                }
            }
            self.hand_over(&mut documents)?;
        }
        self.is_dirty = true;
        Ok(())
    }

    /// Gives documents to the writer's threads, all at once: waking a thread costs as much as making a small document.
    fn hand_over(&self, documents: &mut Vec<UserOperation<ResourceDocument>>) -> Result<()> {
        self.writer.run(documents.drain(..)).map_err(|source| failed("written", source))?;
        Ok(())
    }

    // === commits ===

    fn interval(&self) -> Duration {
        // What was fed already only waits for a commit: it is not to wait for longer because it is much.
        let behind = self.shared.log_range().newest.saturating_sub(self.fed);
        let interval = self.full_text.options.commit_interval;
        if behind > FAR_BEHIND || self.reconcile.is_some() {
            interval.max(FAR_BEHIND_INTERVAL)
        } else {
            interval
        }
    }

    fn is_commit_due(&self) -> bool {
        self.is_dirty && self.committed_at.is_none_or(|at| at.elapsed() >= self.interval())
    }

    pub(super) fn commit(&mut self) -> Result<(), Fault> {
        // A commit must not be ahead of the store when the power fails.
        self.shared.store().sync()?;
        let payload = Payload {
            through: self.fed,
            is_complete: self.reconcile.is_none(),
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
        self.tidying = Tidying::begin();
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
        let rebuilding = self.reconcile.as_ref().map(|reconcile| reconcile.progress(self.shared));
        self.full_text.state.publish(self.committed, rebuilding);
    }

    fn sleep(&self) {
        let at_most = match (self.is_dirty, self.committed_at) {
            (true, Some(at)) => self.interval().saturating_sub(at.elapsed()),
            (true, None) => Duration::ZERO,
            (false, _) => self.tidying.rest().unwrap_or(IDLE_MAX),
        };
        let fed = self.fed;
        self.full_text.state.sleep(at_most, || self.shared.log_range().newest <= fed);
    }

    // === all resources ===

    fn begin_reconcile(&mut self) {
        self.reconcile = Some(Reconcile::new(self.fed, self.reader.searcher()));
    }

    /// Looks at the next resources, if all have to be; false: there is nothing to do.
    fn look_at_resources(&mut self) -> Result<bool, Fault> {
        let Some(mut reconcile) = self.reconcile.take() else { return Ok(false) };
        if reconcile.step(self)? {
            self.reconcile = Some(reconcile);
        } else {
            self.commit()?;
        }
        Ok(true)
    }
}
