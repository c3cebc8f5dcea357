//! The one writer: a thread that takes what callers submit, applies all that waits in one batch, brings
//! it to the disk with one sync (group commit), shows it to readers, and only then answers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::apply::{Transaction, WriterState};
use crate::error::{Error, ErrorKind, Result};
use crate::mutation::{Applied, Outcome};
use crate::prepare::PreparedPut;
use crate::shared::Shared;
use crate::space::SpaceSettings;
use crate::store::{Batch, Cf, key};

/// Submissions that may wait; callers beyond that wait in `send`.
const QUEUE_SUBMISSIONS_MAX: usize = 1_024;
/// A batch takes no further submission from this size on.
const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Resources of a removed space that go in one batch.
const REMOVED_PER_BATCH: usize = 10_000;

/// When a commit is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When it is on the disk: nothing acknowledged is ever lost.
    Sync,
    /// When the operating system has it; it is on the disk within the interval. A power cut loses at most that.
    Interval(Duration),
}

/// A prepared change of resources.
pub(crate) enum Prepared {
    Put(Box<PreparedPut>),
    Delete(String),
    /// Refused before it came here; keeps its place among the results.
    Refused(Error),
}

/// What a caller submits.
pub(crate) enum Work {
    Mutations { mutations: Vec<Prepared>, idempotency_key: Option<Vec<u8>> },
    PutSpace(Box<SpaceSettings>),
    RemoveSpace(String),
}

/// What the writer answers once the work is durable.
pub(crate) enum Done {
    Mutations(Vec<Result<Applied>>),
    /// The idempotency key was seen before: the sequence numbers before and after that commit.
    Replayed {
        before: u64,
        last: u64,
    },
    Space(crate::space::SpaceId),
    /// How many resources went with the space.
    Removed(u64),
}

struct Submission {
    work: Work,
    reply: SyncSender<Result<Done>>,
}

/// The handle to the writer's thread. Dropping it lets the thread finish what waits, then joins it.
pub(crate) struct Writer {
    queue: Option<SyncSender<Submission>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(
        shared: &Arc<Shared>,
        state: WriterState,
        durability: Durability,
    ) -> Result<Writer> {
        let (queue, submissions) = sync_channel(QUEUE_SUBMISSIONS_MAX);
        let mut threads = Vec::new();
        let for_writer = Arc::clone(shared);
        threads.push(spawn("pressmark-writer", move || {
            run(&for_writer, state, &submissions, durability);
        })?);
        if let Durability::Interval(interval) = durability {
            let for_sync = Arc::clone(shared);
            threads.push(spawn("pressmark-sync", move || {
                sync_periodically(&for_sync, interval);
            })?);
        }
        Ok(Writer { queue: Some(queue), threads: Mutex::new(threads) })
    }

    /// Submits work and waits until it is durable.
    pub(crate) fn submit(&self, work: Work) -> Result<Done> {
        let closed = || Error::new(ErrorKind::Closed, "store", "the engine is shutting down");
        let (reply, answer) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        match queue.try_send(Submission { work, reply }) {
            Ok(()) => {}
            Err(TrySendError::Full(submission)) => queue.send(submission).map_err(|_| closed())?,
            Err(TrySendError::Disconnected(_)) => return Err(closed()),
        }
        answer.recv().map_err(|_| closed())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.lock().drain(..) {
            // A writer that panicked has poisoned the engine already; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map_err(|source| {
        Error::new(ErrorKind::Io, name, "the thread could not be started").with_source(source)
    })
}

fn sync_periodically(shared: &Shared, interval: Duration) {
    while !shared.wait_for_close(interval) {
        if let Err(error) = shared.store.sync() {
            shared.poison(&error);
        }
    }
}

fn run(
    shared: &Shared,
    mut state: WriterState,
    submissions: &Receiver<Submission>,
    durability: Durability,
) {
    let sync = durability == Durability::Sync;
    while let Ok(first) = submissions.recv() {
        if let Some(reason) = shared.poisoned() {
            let _ = first.reply.send(Err(refused(&reason)));
            continue;
        }
        if let Work::RemoveSpace(name) = &first.work {
            let removed = remove_space(shared, &mut state, name, sync);
            answer(shared, vec![(first.reply, removed)]);
            continue;
        }
        let group = commit_group(shared, &mut state, first, submissions, sync);
        answer(shared, group);
    }
    shared.close();
    if !sync && let Err(error) = shared.store.sync() {
        shared.poison(&error);
    }
}

type Answers = Vec<(SyncSender<Result<Done>>, Result<Done>)>;

/// Answers go out only when the batch is durable and visible. A caller that has gone away is no fault.
fn answer(shared: &Shared, answers: Answers) {
    for (reply, done) in answers {
        if let Err(error) = &done
            && matches!(error.kind(), ErrorKind::Io | ErrorKind::Corrupt)
        {
            shared.poison(error);
        }
        let _ = reply.send(done);
    }
}

fn refused(reason: &str) -> Error {
    Error::new(
        ErrorKind::Poisoned,
        "store",
        format!(
            "writes are refused since one failed ({reason}); reads go on. Mend the cause and start the server again"
        ),
    )
}

/// Applies what waits, writes it at once, publishes it.
fn commit_group(
    shared: &Shared,
    state: &mut WriterState,
    first: Submission,
    submissions: &Receiver<Submission>,
    sync: bool,
) -> Answers {
    let mut answers: Answers = Vec::new();
    let mut transaction = Transaction::new(&shared.store, state, now());
    let mut next = Some(first);
    let mut deferred = None;
    while let Some(Submission { work, reply }) = next.take() {
        let done = match work {
            Work::Mutations { mutations, idempotency_key } => {
                apply_all(&mut transaction, mutations, idempotency_key.as_deref())
            }
            Work::PutSpace(settings) => put_space(shared, &mut transaction, *settings),
            // Removing takes batches of its own, after this one.
            Work::RemoveSpace(name) => {
                deferred = Some((name, reply));
                break;
            }
        };
        answers.push((reply, done));
        if transaction.size_bytes() < BATCH_BYTES_MAX {
            next = submissions.try_recv().ok();
        }
    }
    let finished = transaction.finish();
    match finished.and_then(|finished| write_and_publish(shared, state, finished, sync)) {
        Ok(()) => {}
        Err(error) => {
            shared.poison(&error);
            let reason = error.to_string();
            for (_, done) in &mut answers {
                *done = Err(refused(&reason));
            }
        }
    }
    if let Some((name, reply)) = deferred {
        let removed = match shared.poisoned() {
            None => remove_space(shared, state, &name, sync),
            Some(reason) => Err(refused(&reason)),
        };
        answers.push((reply, removed));
    }
    answers
}

/// Writes a batch and makes it visible. A reader may see a batch as soon as it is written, so the ACLs that it
/// names are shown before; what it replaces is forgotten after its sequence number is out (see `hot_values`).
fn write_and_publish(
    shared: &Shared,
    state: &mut WriterState,
    (batch, replaced): (Batch<'_>, Vec<String>),
    sync: bool,
) -> Result<()> {
    state.acls.publish(&shared.acls);
    if !batch.is_empty() {
        shared.store.write(batch, sync)?;
    }
    shared.publish(state);
    shared.hot.forget(&replaced);
    Ok(())
}

fn apply_all(
    transaction: &mut Transaction<'_, '_>,
    mutations: Vec<Prepared>,
    idempotency_key: Option<&[u8]>,
) -> Result<Done> {
    if let Some(key) = idempotency_key
        && let Some((before, last)) = transaction.committed_before(key)?
    {
        return Ok(Done::Replayed { before, last });
    }
    let before = transaction.sequence();
    let mut results = Vec::with_capacity(mutations.len());
    for mutation in mutations {
        let result = match mutation {
            Prepared::Put(put) => transaction.put(&put),
            Prepared::Delete(uri) => transaction.delete(&uri),
            Prepared::Refused(error) => Err(error),
        };
        match result {
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Corrupt) => {
                return Err(error);
            }
            result => results.push(result),
        }
    }
    if let Some(key) = idempotency_key {
        transaction.remember(key, before)?;
    }
    Ok(Done::Mutations(results))
}

fn put_space(
    shared: &Shared,
    transaction: &mut Transaction<'_, '_>,
    settings: SpaceSettings,
) -> Result<Done> {
    shared.check_new_space(transaction.catalog(), &settings)?;
    let existing = transaction.catalog().by_name(&settings.name).cloned();
    let space = match &existing {
        Some(space) => space.with(settings, false)?,
        None => crate::catalog::Space::new(transaction.next_space(), settings, false)?,
    };
    let id = space.id;
    transaction.put_space(Arc::new(space))?;
    Ok(Done::Space(id))
}

/// Takes a space out of service, then its resources in bounded batches, then its settings. A crash in
/// between is taken up again when the store is opened.
pub(crate) fn remove_space(
    shared: &Shared,
    state: &mut WriterState,
    name: &str,
    sync: bool,
) -> Result<Done> {
    let space =
        state.catalog.everything().find(|space| space.settings.name == name).cloned().ok_or_else(
            || {
                Error::new(
                    ErrorKind::NotFound,
                    format!("space `{name}`"),
                    "there is no such space; `pressmark space list` shows them",
                )
            },
        )?;
    let mut transaction = Transaction::new(&shared.store, state, now());
    transaction.put_space(Arc::new(space.with(space.settings.clone(), true)?))?;
    let finished = transaction.finish()?;
    write_and_publish(shared, state, finished, sync)?;
    let mut removed = 0_u64;
    loop {
        let uris = first_uris(shared, space.id)?;
        let mut transaction = Transaction::new(&shared.store, state, now());
        for uri in &uris {
            let applied = transaction.delete(uri)?;
            removed += u64::from(applied.outcome == Outcome::Deleted);
        }
        if uris.is_empty() {
            transaction.forget_space(space.id)?;
        }
        let finished = transaction.finish()?;
        write_and_publish(shared, state, finished, sync)?;
        if uris.is_empty() {
            return Ok(Done::Removed(removed));
        }
    }
}

fn first_uris(shared: &Shared, space: crate::space::SpaceId) -> Result<Vec<String>> {
    let view = shared.store.view();
    let prefix = key::list_of_space(space);
    let mut scan = view.scan(Cf::List, &prefix, &prefix)?;
    let mut uris = Vec::new();
    while uris.len() < REMOVED_PER_BATCH {
        let Some((list_key, _)) = scan.item()? else {
            break;
        };
        uris.push(key::decode_list(list_key)?.uri.to_owned());
        scan.advance();
    }
    Ok(uris)
}

/// Milliseconds since 1970.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
