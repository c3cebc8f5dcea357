//! The thread that keeps the index in step with the store.
//!
//! It opens the index and feeds it (`session`) until the engine closes. A fault of the index's folder ends neither writes
//! nor reads: the thread tries again from the last commit on, and search says that it is behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use super::FullText;
use super::commit;
use super::directory::Gate;
use super::session::{Session, Settled};
use crate::background::stand_back;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;

/// After a failure nothing is tried for this long, twice as long after the next, up to the second.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// When the engine closes, the thread has this long to commit what was added.
const COMMIT_PATIENCE: Duration = Duration::from_millis(1_000);
/// Then nothing is written any more, and it has this long to notice. An extractor that does not look at its `Stop` is left
/// behind: the process ends without it, and until then no other engine can open the store.
const END_PATIENCE: Duration = Duration::from_millis(400);

/// The handle to the thread. Dropping it has what was added committed, then joins it.
pub(crate) struct Feeder {
    full_text: Arc<FullText>,
    thread: Option<JoinHandle<()>>,
    /// Disconnected when the thread has ended.
    ended: Mutex<Receiver<()>>,
}

impl Feeder {
    pub(crate) fn start(shared: &Arc<Shared>, full_text: &Arc<FullText>) -> Result<Feeder> {
        let (for_thread, its_full_text) = (Arc::clone(shared), Arc::clone(full_text));
        let (ends, ended) = sync_channel(0);
        let thread = std::thread::Builder::new()
            .name("pressmark-full-text".to_owned())
            .spawn(move || {
                run(&for_thread, &its_full_text);
                drop((for_thread, its_full_text));
                drop(ends);
            })
            .map_err(|source| {
                Error::new(ErrorKind::Io, "full text", "the thread could not be started")
                    .with_source(source)
            })?;
        Ok(Feeder {
            full_text: Arc::clone(full_text),
            thread: Some(thread),
            ended: Mutex::new(ended),
        })
    }

    fn has_ended_within(&self, patience: Duration) -> bool {
        self.ended.lock().recv_timeout(patience) == Err(RecvTimeoutError::Disconnected)
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.full_text.begin_closing();
        let Some(thread) = self.thread.take() else { return };
        if !self.has_ended_within(COMMIT_PATIENCE) {
            // A commit that is under way ends with an error, and the next start goes on from the one before.
            self.full_text.gate.lock().close();
            if !self.has_ended_within(END_PATIENCE) {
                return;
            }
        }
        // When it panicked outside of a session, the next start goes on from the last commit.
        let _ = thread.join();
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
    let mut settled = Settled::default();
    while !full_text.stop.is_asked() {
        let mut has_committed = false;
        let gate = Arc::new(Gate::default());
        *full_text.gate.lock() = Arc::clone(&gate);
        // tantivy panics at some damage of its files.
        let session = catch_unwind(AssertUnwindSafe(|| {
            session(shared, full_text, &gate, (&mut has_committed, &mut settled))
        }));
        // A merge that still runs ends with an error at its next write.
        gate.close();
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
    full_text.discarded.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    commit::discard(&full_text.folder)
}

/// Feeds the index until the engine closes or something fails.
fn session(
    shared: &Shared,
    full_text: &FullText,
    gate: &Arc<Gate>,
    (has_committed, settled): (&mut bool, &mut Settled),
) -> Result<(), Fault> {
    let mut session = Session::open(shared, full_text, gate, *settled)?;
    while !full_text.stop.is_asked() {
        let has_work = session.step()?;
        *has_committed |= session.has_committed();
        *settled = session.settled();
        if !has_work {
            session.sleep();
        }
    }
    session.end()
}
