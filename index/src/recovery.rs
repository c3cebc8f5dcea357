//! From refusing writes back to taking them, while reads go on.
//!
//! RocksDB cannot be asked through its C interface to go on after a failed write, and after a failed sync it should
//! not: the kernel forgets which pages it could not write, so a later sync that succeeds proves nothing. The folder
//! is opened anew instead. Opening replays the WAL into tables and syncs those, so that all that is acknowledged is
//! on the disk again before the first new write. In steps, each of which may fail and is tried again later:
//!
//! 1. a file is written, synced and deleted in the data directory: as long as that fails, nothing else is touched;
//! 2. a read-only store is opened beside the one that failed, and readers that begin now get it;
//! 3. the one that failed is closed, which is when its last reader has ended;
//! 4. a writable store is opened in its place. The read-only one keeps its files until its last reader has ended.
//!
//! A store that cannot be opened for writing when the engine starts begins behind step 3.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::apply::WriterState;
use crate::error::{Error, ErrorKind, Result};
use crate::remove_space::finish_removals;
use crate::shared::Shared;
use crate::store::{Mode, Store};

/// Between a failure and the first attempt to write again.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The pause doubles up to this one while attempts fail, and while writes fail again soon after.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// What must fit on the disk before the store is touched: small next to what opening it may write, but enough that
/// a few bytes that became free do not start it.
const PROBE_BYTES: usize = 1024 * 1024;
/// How long one attempt waits for the readers of the store that failed.
const READERS_WAIT_MAX: Duration = Duration::from_secs(1);
const READERS_POLL: Duration = Duration::from_millis(5);
const PROBE_FILE_NAME: &str = "write-probe";

/// How far the way back is, and when the next step is due.
pub(crate) struct Recovery {
    data_dir: PathBuf,
    change_log_retention: Duration,
    pause: Duration,
    due: Option<Instant>,
    recovered: Option<Instant>,
    /// From step 2 to step 3: the store that failed.
    failed: Option<Arc<Store>>,
    /// From step 2 to step 4: readers have a read-only store.
    bridged: bool,
}

impl Recovery {
    pub(crate) fn new(data_dir: &Path, change_log_retention: Duration) -> Recovery {
        Recovery {
            data_dir: data_dir.to_owned(),
            change_log_retention,
            pause: PAUSE_MIN,
            due: None,
            recovered: None,
            failed: None,
            bridged: false,
        }
    }

    /// The store could be opened only to be read: what is left is step 4.
    pub(crate) fn begin_read_only(&mut self) {
        self.bridged = true;
    }

    /// How long to wait before [`Recovery::attempt`] does something.
    pub(crate) fn wait(&self) -> Duration {
        self.due.map_or(self.pause, |due| due.saturating_duration_since(Instant::now()))
    }

    /// A commit was written. Long after the last recovery the next failure is a new one.
    pub(crate) fn all_is_well(&mut self) {
        if self.recovered.is_some_and(|recovered| recovered.elapsed() >= PAUSE_MAX) {
            self.pause = PAUSE_MIN;
            self.recovered = None;
        }
    }

    /// Tries to write again if that is due; the writer's state as it is then, if writes are taken again.
    pub(crate) fn attempt(&mut self, shared: &Shared) -> Option<WriterState> {
        let now = Instant::now();
        let due = *self.due.get_or_insert(now + self.pause);
        if now < due {
            return None;
        }
        let state = self.step(shared).and_then(|mut state| {
            shared.take_writes_again();
            finish_removals(shared, &mut state);
            match shared.refusal() {
                None => Ok(state),
                Some(refusal) => Err(Error::new(ErrorKind::Io, "store", refusal.reason)),
            }
        });
        self.pause = self.pause.saturating_mul(2).min(PAUSE_MAX);
        self.due = state.is_err().then(|| Instant::now() + self.pause);
        self.recovered = state.is_ok().then(Instant::now);
        state.inspect_err(|error| shared.note_attempt(error)).ok()
    }

    fn step(&mut self, shared: &Shared) -> Result<WriterState> {
        probe(&self.data_dir)?;
        if !self.bridged {
            let failed = shared.store();
            failed.stop_background_work();
            let bridge = failed.reopen(Mode::ReadOnly)?;
            shared.replace_store(Arc::new(bridge), self.change_log_retention)?;
            self.failed = Some(failed);
            self.bridged = true;
        }
        self.close_failed()?;
        let bridge = shared.store();
        let store = Arc::new(bridge.reopen(Mode::Writable)?);
        let state = shared.replace_store(Arc::clone(&store), self.change_log_retention)?;
        bridge.keep_files_of(&store);
        self.bridged = false;
        Ok(state)
    }

    /// Closes the store that failed once nobody reads from it. No new reader can come: it is not shared any more.
    fn close_failed(&mut self) -> Result<()> {
        let until = Instant::now() + READERS_WAIT_MAX;
        while self.failed.as_ref().is_some_and(|failed| Arc::strong_count(failed) > 1) {
            if Instant::now() >= until {
                return Err(Error::new(
                    ErrorKind::Io,
                    "store",
                    "a long read still uses the store as it was before the failure",
                ));
            }
            std::thread::sleep(READERS_POLL);
        }
        self.failed = None;
        Ok(())
    }
}

/// Writes, syncs and deletes a file.
fn probe(data_dir: &Path) -> Result<()> {
    let path = data_dir.join(PROBE_FILE_NAME);
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(&vec![0x55; PROBE_BYTES])?;
        file.sync_all()
    });
    let removed = match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    written.and(removed).map_err(|source| {
        Error::new(ErrorKind::Io, path.display().to_string(), "writing a file fails")
            .with_source(source)
    })
}
