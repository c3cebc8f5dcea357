//! The one writer: a thread that takes what callers submit, applies all that waits in one batch, brings
//! it to the disk with one sync (group commit), shows it to readers, and only then answers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::apply::{Finished, Transaction, WriterState};
use crate::background::stand_back;
use crate::error::{Error, ErrorKind, Result};
use crate::mutation::Applied;
use crate::prepare::PreparedPut;
use crate::prompt::Prompt;
use crate::recovery::Recovery;
use crate::remove_space::remove_space;
use crate::shared::{Refusal, Shared};
use crate::space::SpaceSettings;

/// Submissions that may wait; callers beyond that wait in `send`.
const QUEUE_SUBMISSIONS_MAX: usize = 1_024;
/// A batch takes no further submission from this size on.
const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;

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
    IfVersion(u64, Box<Prepared>),
    /// Refused before it came here; keeps its place among the results.
    Refused(Error),
}

/// What a caller submits.
pub(crate) enum Work {
    Mutations { mutations: Vec<Prepared>, idempotency_key: Option<Vec<u8>> },
    PutSpace(Box<SpaceSettings>),
    RemoveSpace(String),
    PutPrompt(Arc<Prompt>),
    RemovePrompt(String),
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
    /// Whether there was a prompt of that name before.
    Prompt {
        replaced: bool,
    },
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
        recovery: Recovery,
        durability: Durability,
    ) -> Result<Writer> {
        let (queue, submissions) = sync_channel(QUEUE_SUBMISSIONS_MAX);
        let mut threads = Vec::new();
        let for_writer = Arc::clone(shared);
        threads.push(spawn("pressmark-writer", move || {
            stand_back();
            run(&for_writer, state, recovery, &submissions, durability);
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
        self.begin(work)?.wait()
    }

    /// Submits work; the writer takes it in this order.
    pub(crate) fn begin(&self, work: Work) -> Result<Pending> {
        let (reply, answer) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        match queue.try_send(Submission { work, reply }) {
            Ok(()) => {}
            Err(TrySendError::Full(submission)) => queue.send(submission).map_err(|_| closed())?,
            Err(TrySendError::Disconnected(_)) => return Err(closed()),
        }
        Ok(Pending(answer))
    }
}

/// Work that was submitted.
pub(crate) struct Pending(Receiver<Result<Done>>);

impl Pending {
    pub(crate) fn wait(self) -> Result<Done> {
        self.0.recv().map_err(|_| closed())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.lock().drain(..) {
            // When the writer panicked, everybody who waits was told `Closed`; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "store", "the engine is shutting down")
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map_err(|source| {
        Error::new(ErrorKind::Io, name, "the thread could not be started").with_source(source)
    })
}

fn sync_periodically(shared: &Shared, interval: Duration) {
    while !shared.wait_for_close(interval) {
        sync_now(shared);
    }
}

fn sync_now(shared: &Shared) {
    // Held until the failure is noted, so that recovery cannot be over by then.
    let store = shared.store();
    if shared.refusal().is_none()
        && let Err(error) = store.sync()
    {
        shared.refuse_writes(&error);
    }
}

fn run(
    shared: &Shared,
    mut state: WriterState,
    mut recovery: Recovery,
    submissions: &Receiver<Submission>,
    durability: Durability,
) {
    let sync = durability == Durability::Sync;
    loop {
        // Without a failure there is nothing to do but wait; with an interval another thread may notice one.
        let first = if sync && shared.refusal().is_none() {
            submissions.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            submissions.recv_timeout(recovery.wait())
        };
        if matches!(first, Err(RecvTimeoutError::Disconnected)) {
            break;
        }
        if shared.refusal().is_some()
            && let Some(recovered) = recovery.attempt(shared)
        {
            state = recovered;
        }
        let Ok(first) = first else { continue };
        match shared.refusal() {
            Some(refusal) => reply(first, Err(refused(&refusal))),
            None => {
                commit_group(shared, &mut state, first, submissions, sync);
                if shared.refusal().is_none() {
                    recovery.all_is_well();
                }
            }
        }
    }
    shared.close();
    if !sync {
        sync_now(shared);
    }
}

/// Answers go out only when the batch is durable and visible. A caller that has gone away is no fault.
fn reply(submission: Submission, done: Result<Done>) {
    let _ = submission.reply.send(done);
}

fn refused(refusal: &Refusal) -> Error {
    Error::new(
        ErrorKind::Poisoned,
        "store",
        format!(
            "writes are refused since one failed ({}); reads go on. Mend the cause: then writes are taken again by themselves",
            refusal.text()
        ),
    )
}

/// The store or the disk is at fault, not the record.
fn is_fault_of_store(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io | ErrorKind::Corrupt)
}

/// After a batch that was begun in vain: the state as of the last one that was published.
pub(crate) fn roll_back(shared: &Shared, state: &mut WriterState) {
    match shared.last_state(state.change_log_retention()) {
        Ok(last) => *state = last,
        Err(error) => shared.refuse_writes(&error),
    }
}

/// Applies what waits, writes it at once, publishes it, answers.
fn commit_group(
    shared: &Shared,
    state: &mut WriterState,
    first: Submission,
    submissions: &Receiver<Submission>,
    sync: bool,
) {
    let (mut group, mut deferred) = match &first.work {
        Work::RemoveSpace(_) => (Vec::new(), Some(first)),
        Work::Mutations { .. } | Work::PutSpace(_) | Work::PutPrompt(_) | Work::RemovePrompt(_) => {
            (vec![first], None)
        }
    };
    let mut more = Some(submissions);
    let store = shared.store();
    // Ends: each time round, the group has lost a submission.
    while !group.is_empty() && shared.refusal().is_none() {
        let transaction = Transaction::new(&store, state, now());
        match apply_group(shared, transaction, &mut group, &mut deferred, more.take()) {
            Ok((finished, done)) => {
                let written = shared.write_and_publish(&store, finished, state, sync);
                for (submission, done) in group.drain(..).zip(done) {
                    reply(submission, written.clone().and(done));
                }
            }
            Err((at, error)) => {
                // What it reads cannot be read. It leaves no trace, and the others go on without it.
                roll_back(shared, state);
                reply(group.remove(at), Err(error));
            }
        }
    }
    for submission in group.into_iter().chain(deferred) {
        let done = match (shared.refusal(), &submission.work) {
            (Some(refusal), _) => Err(refused(&refusal)),
            (None, Work::RemoveSpace(name)) => {
                let removed = remove_space(shared, state, name, sync);
                if removed.as_ref().is_err_and(is_fault_of_store) && shared.refusal().is_none() {
                    roll_back(shared, state);
                }
                removed.map(Done::Removed)
            }
            // These are in the group, which is empty by now.
            (
                None,
                Work::Mutations { .. }
                | Work::PutSpace(_)
                | Work::PutPrompt(_)
                | Work::RemovePrompt(_),
            ) => Err(closed()),
        };
        reply(submission, done);
    }
}

/// What is to be written, and what each submission is told once it is.
type AppliedGroup<'s> = (Finished<'s>, Vec<Result<Done>>);

/// Applies the group and, with `more`, what else waits. An error is one of the store, with the place of the
/// submission that met it.
fn apply_group<'s>(
    shared: &Shared,
    mut transaction: Transaction<'s, '_>,
    group: &mut Vec<Submission>,
    deferred: &mut Option<Submission>,
    more: Option<&Receiver<Submission>>,
) -> Result<AppliedGroup<'s>, (usize, Error)> {
    let mut all_done = Vec::new();
    let mut at = 0;
    loop {
        let Some(submission) = group.get(at) else {
            let waiting =
                more.filter(|_| deferred.is_none() && transaction.size_bytes() < BATCH_BYTES_MAX);
            match waiting.and_then(|more| more.try_recv().ok()) {
                // Removing takes batches of its own, after this one.
                Some(last) if matches!(last.work, Work::RemoveSpace(_)) => *deferred = Some(last),
                Some(next) => group.push(next),
                None => break,
            }
            continue;
        };
        let done = match &submission.work {
            Work::Mutations { mutations, idempotency_key } => {
                apply_all(&mut transaction, mutations, idempotency_key.as_deref())
            }
            Work::PutSpace(settings) => put_space(shared, &mut transaction, settings),
            Work::PutPrompt(prompt) => {
                transaction.put_prompt(prompt).map(|replaced| Done::Prompt { replaced })
            }
            Work::RemovePrompt(name) => {
                transaction.remove_prompt(name).map(|()| Done::Prompt { replaced: true })
            }
            Work::RemoveSpace(_) => Err(closed()),
        };
        match done {
            Err(error) if is_fault_of_store(&error) => return Err((at, error)),
            done => all_done.push(done),
        }
        at += 1;
    }
    // What fails here belongs to none of them; the first is as good as any to be told.
    transaction.finish().map(|finished| (finished, all_done)).map_err(|error| (0, error))
}

fn apply_all(
    transaction: &mut Transaction<'_, '_>,
    mutations: &[Prepared],
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
        match apply_one(transaction, mutation) {
            Err(error) if is_fault_of_store(&error) => return Err(error),
            result => results.push(result),
        }
    }
    if let Some(key) = idempotency_key {
        transaction.remember(key, before)?;
    }
    Ok(Done::Mutations(results))
}

fn apply_one(transaction: &mut Transaction<'_, '_>, mutation: &Prepared) -> Result<Applied> {
    match mutation {
        Prepared::Put(put) => transaction.put(put),
        Prepared::Delete(uri) => transaction.delete(uri),
        Prepared::IfVersion(expected, then) => {
            if let Some(uri) = then.uri() {
                transaction.expect_version(uri, *expected)?;
            }
            apply_one(transaction, then)
        }
        Prepared::Refused(error) => Err(error.clone()),
    }
}

impl Prepared {
    /// The URI it is about, as it is stored.
    fn uri(&self) -> Option<&str> {
        match self {
            Prepared::Put(put) => Some(&put.uri),
            Prepared::Delete(uri) => Some(uri),
            Prepared::IfVersion(_, then) => then.uri(),
            Prepared::Refused(_) => None,
        }
    }
}

fn put_space(
    shared: &Shared,
    transaction: &mut Transaction<'_, '_>,
    settings: &SpaceSettings,
) -> Result<Done> {
    settings.check()?;
    shared.check_new_space(transaction.catalog(), settings)?;
    let existing = transaction.catalog().by_name(&settings.name).cloned();
    let space = match &existing {
        Some(space) => space.with(settings.clone(), false)?,
        None => crate::catalog::Space::new(transaction.next_space(), settings.clone(), false)?,
    };
    let id = space.id;
    transaction.put_space(Arc::new(space))?;
    Ok(Done::Space(id))
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
