//! How far the index is, for all who wait for it, and what the feeder is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::request::FullTextProgress;
use crate::faults::Faults;
use crate::stop::Stop;

/// Who waits for a change gives up when nothing could be indexed for this long.
const FAILING_PATIENCE: Duration = Duration::from_secs(3);
/// Who waits looks for a request to stop this often.
const STOP_POLL: Duration = Duration::from_millis(50);

/// All resources are looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rebuilding {
    /// The share of the resources, 0 to 1, that were looked at.
    pub(super) share: f32,
}

/// What the feeder publishes, and what it waits for.
#[derive(Debug, Default)]
pub(super) struct State {
    inner: Mutex<Inner>,
    /// Told when more can be found, and when the engine closes.
    advanced: Condvar,
    /// Told when there is work.
    work: Condvar,
    /// Whether the feeder sleeps: most commits find it awake and have nothing to do.
    sleeps: AtomicBool,
}

#[derive(Debug, Default)]
struct Inner {
    through: u64,
    /// The index was opened, or made where there was none, since the start or since it was thrown away.
    is_open: bool,
    rebuilding: Option<Rebuilding>,
    failure: Option<String>,
    /// Since when nothing succeeds.
    failing_since: Option<Instant>,
    /// All resources are compared with an index that can be searched.
    is_mending: bool,
    /// A check of the store has found that the index differs.
    is_mend_asked: bool,
    /// Who was told of what differs needs not be told that it was mended.
    is_mend_told: bool,
    /// What was mended, until a check of the store tells of it.
    mended: Faults,
    is_woken: bool,
    is_closing: bool,
    /// The store was opened anew, and may have lost changes after this one.
    store_ends_at: Option<u64>,
    /// A search met what cannot be.
    is_damaged: bool,
    /// The damage for which the index was thrown away last, until a check of the store tells of it.
    damage: Option<String>,
    /// A check has told of damage that the feeder has yet to find.
    is_damage_told: bool,
    /// The operator wants the index made anew.
    is_remake_asked: bool,
}

impl State {
    // === for those who write and search ===

    /// There may be new changes.
    pub(super) fn wake(&self) {
        if self.sleeps.load(Ordering::SeqCst) {
            self.inner.lock().is_woken = true;
            self.work.notify_all();
        }
    }

    /// All but the number of documents.
    pub(super) fn progress(&self, newest: u64) -> FullTextProgress {
        let inner = self.inner.lock();
        FullTextProgress {
            indexed_through: if inner.rebuilding.is_none() { inner.through } else { 0 },
            newest: newest.max(inner.through),
            rebuilding: inner.rebuilding.map(|rebuilding| rebuilding.share),
            failure: inner.failure.clone(),
            ..FullTextProgress::default()
        }
    }

    /// Waits until all changes up to `sequence` can be found; false: not by `deadline`, or the index cannot be used for now,
    /// or `stop` is asked.
    pub(super) fn wait_through(&self, sequence: u64, deadline: Instant, stop: &Stop) -> bool {
        let mut inner = self.inner.lock();
        while !inner.has(sequence) && !stop.is_asked() {
            let until = inner.failing_since.map(|since| since + FAILING_PATIENCE);
            if !self.wait(&mut inner, until.map_or(deadline, |until| until.min(deadline))) {
                break;
            }
        }
        inner.has(sequence)
    }

    /// Waits until what is mended is in the index; false: it is not by `deadline`, or `stop` is asked.
    pub(super) fn wait_mended(&self, deadline: Instant, stop: &Stop) -> bool {
        let mut inner = self.inner.lock();
        while inner.is_mending && inner.failing_since.is_none() && !stop.is_asked() {
            if !self.wait(&mut inner, deadline) {
                break;
            }
        }
        !inner.is_mending
    }

    /// Waits for news, for a moment at most; false: the time is over, or the engine closes.
    fn wait(&self, inner: &mut MutexGuard<'_, Inner>, until: Instant) -> bool {
        let now = Instant::now();
        if inner.is_closing || now >= until {
            return false;
        }
        self.advanced.wait_until(inner, until.min(now + STOP_POLL));
        true
    }

    /// Waits until the index is open, or cannot be opened for now; at most until `deadline`. An index that is whole is open
    /// a moment after the engine is.
    pub(super) fn wait_opened(&self, deadline: Instant) {
        let mut inner = self.inner.lock();
        while !inner.is_open && inner.failure.is_none() && !inner.is_closing {
            if self.advanced.wait_until(&mut inner, deadline).timed_out() {
                break;
            }
        }
    }

    pub(super) fn store_was_replaced(&self, newest: u64) {
        let mut inner = self.inner.lock();
        let ends_at = inner.store_ends_at.map_or(newest, |before| before.min(newest));
        inner.store_ends_at = Some(ends_at);
        drop(inner);
        self.wake();
    }

    pub(super) fn report_damage(&self) {
        self.inner.lock().is_damaged = true;
        self.wake();
    }

    /// The damage for which the index was thrown away, once; without any, what a check has found itself is told.
    pub(super) fn tell_damage(&self, has_found_some: bool) -> Option<String> {
        let mut inner = self.inner.lock();
        let damage = inner.damage.take();
        inner.is_damage_told |= has_found_some && damage.is_none();
        damage
    }

    /// A check has found that the index differs from the store.
    pub(super) fn ask_mend(&self) {
        let mut inner = self.inner.lock();
        inner.is_mend_asked = true;
        inner.is_mend_told = true;
        drop(inner);
        self.wake();
    }

    /// What was mended and committed since this was asked last.
    pub(super) fn take_mended(&self) -> Faults {
        std::mem::take(&mut self.inner.lock().mended)
    }

    pub(super) fn ask_remake(&self) {
        self.inner.lock().is_remake_asked = true;
        self.wake();
    }

    pub(super) fn close(&self) {
        let mut inner = self.inner.lock();
        inner.is_closing = true;
        self.work.notify_all();
        self.advanced.notify_all();
    }

    // === for the feeder ===

    /// Where the store ends since it was opened anew, if it was.
    pub(super) fn take_store_end(&self) -> Option<u64> {
        self.inner.lock().store_ends_at.take()
    }

    pub(super) fn take_damage(&self) -> bool {
        std::mem::take(&mut self.inner.lock().is_damaged)
    }

    pub(super) fn take_mend(&self) -> bool {
        std::mem::take(&mut self.inner.lock().is_mend_asked)
    }

    pub(super) fn take_remake(&self) -> bool {
        std::mem::take(&mut self.inner.lock().is_remake_asked)
    }

    /// More can be found.
    pub(super) fn publish(&self, through: u64, rebuilding: Option<Rebuilding>, is_mending: bool) {
        let mut inner = self.inner.lock();
        inner.through = through;
        inner.is_open = true;
        inner.rebuilding = rebuilding;
        inner.is_mending = is_mending;
        inner.is_mend_told &= is_mending || inner.is_mend_asked;
        inner.failure = None;
        self.advanced.notify_all();
    }

    /// Something was committed, or there is nothing to do.
    pub(super) fn note_idle(&self) {
        self.inner.lock().failing_since = None;
    }

    /// These faults are in the index no more.
    pub(super) fn note_mended(&self, mended: Faults) {
        let mut inner = self.inner.lock();
        if !inner.is_mend_told {
            inner.mended.append(mended);
        }
    }

    /// The index is thrown away for this.
    pub(super) fn note_damage(&self, damage: &str) {
        let mut inner = self.inner.lock();
        if !inner.is_damage_told {
            inner.damage = Some(damage.to_owned());
        }
    }

    /// Nothing can be found: the index is made anew.
    pub(super) fn reset(&self) {
        let mut inner = self.inner.lock();
        inner.through = 0;
        inner.is_open = false;
        inner.is_damage_told = false;
        inner.is_mending = false;
        inner.mended = Faults::default();
        inner.rebuilding = Some(Rebuilding { share: 0.0 });
    }

    pub(super) fn note_failure(&self, failure: String) {
        let mut inner = self.inner.lock();
        inner.failure = Some(failure);
        inner.failing_since.get_or_insert_with(Instant::now);
        drop(inner);
        self.advanced.notify_all();
    }

    /// Sleeps until there is work, for that long at most. `is_idle` is asked once more when nobody's call can be missed
    /// any more.
    pub(super) fn sleep(&self, at_most: Duration, is_idle: impl FnOnce() -> bool) {
        self.sleeps.store(true, Ordering::SeqCst);
        let mut inner = self.inner.lock();
        if !inner.is_closing && !inner.is_woken && !inner.has_orders() && is_idle() {
            self.work.wait_for(&mut inner, at_most);
        }
        inner.is_woken = false;
        drop(inner);
        self.sleeps.store(false, Ordering::SeqCst);
    }

    /// After a failure: only closing ends the pause.
    pub(super) fn pause(&self, pause: Duration) {
        let deadline = Instant::now() + pause;
        let mut inner = self.inner.lock();
        while !inner.is_closing {
            if self.work.wait_until(&mut inner, deadline).timed_out() {
                break;
            }
        }
    }
}

impl Inner {
    /// Whether somebody has asked for something that a feeder which was awake may have missed.
    fn has_orders(&self) -> bool {
        self.is_damaged
            || self.is_remake_asked
            || self.is_mend_asked
            || self.store_ends_at.is_some()
    }

    /// Whether all changes up to this one can be found. While the index is made, newer ones may be there before older ones.
    fn has(&self, sequence: u64) -> bool {
        self.through >= sequence && self.rebuilding.is_none()
    }
}
