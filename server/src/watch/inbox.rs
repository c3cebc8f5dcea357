//! What the watchers' threads tell the one thread that indexes, and when it is time to act on it.

use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::dirty::{Dirty, Job};
use crate::sources::also_touched;

/// Changes are acted on when this long none has come: three saves in a row are one.
const QUIET: Duration = Duration::from_millis(100);
/// ... or when the first of them is this old: who writes all the time is followed all the same.
const DELAY_MAX: Duration = Duration::from_secs(1);

/// One place for each source.
#[derive(Debug)]
pub(super) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    closed: bool,
    heard: Vec<Heard>,
}

/// What was heard of one source since it was last looked at.
#[derive(Debug)]
struct Heard {
    dirty: Dirty,
    first: Instant,
    last: Instant,
    /// Continuous changes are not acted on before: indexing leaves most of the time to others.
    rests_until: Instant,
}

impl Inbox {
    pub(super) fn new(source_count: usize) -> Self {
        let now = Instant::now();
        let heard = || Heard { dirty: Dirty::default(), first: now, last: now, rests_until: now };
        let heard = (0..source_count).map(|_| heard()).collect();
        Self { state: Mutex::new(State { closed: false, heard }), changed: Condvar::new() }
    }

    /// The entry at `path`, relative to the source's folder, may have changed.
    pub(super) fn touch(&self, place: usize, path: &Path) {
        self.tell(place, |dirty| {
            dirty.add(path);
            for other in also_touched(path) {
                dirty.add(&other);
            }
        });
    }

    /// Anything may have changed.
    pub(super) fn touch_all(&self, place: usize) {
        self.tell(place, Dirty::add_whole);
    }

    /// What a job looks at may have changed.
    pub(super) fn touch_job(&self, place: usize, job: &Job) {
        self.tell(place, |dirty| dirty.add_job(job));
    }

    fn tell(&self, place: usize, change: impl FnOnce(&mut Dirty)) {
        let now = Instant::now();
        let mut state = self.state.lock();
        let Some(heard) = state.heard.get_mut(place) else { return };
        let was_clean = heard.dirty.is_clean();
        change(&mut heard.dirty);
        heard.last = now;
        if was_clean {
            heard.first = now;
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Ends all waiting, now and later.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// The job that is due among the first `source_count` sources; each waits until it is quiet, but not for long.
    pub(super) fn take_due(&self, source_count: usize) -> Option<(usize, Job)> {
        let now = Instant::now();
        let mut state = self.state.lock();
        let mut heard = state.heard.iter_mut().take(source_count).enumerate();
        let (place, heard) = heard.find(|(_, heard)| heard.due().is_some_and(|due| due <= now))?;
        std::mem::take(&mut heard.dirty).into_job().map(|job| (place, job))
    }

    /// Says that looking at a source took `duration`.
    pub(super) fn rest(&self, place: usize, duration: Duration) {
        let until = Instant::now() + duration * 2;
        if let Some(heard) = self.state.lock().heard.get_mut(place) {
            heard.rests_until = until;
        }
    }

    /// Waits until a job is due, `until` has come, or the inbox is closed.
    pub(super) fn wait(&self, until: Instant) {
        let mut state = self.state.lock();
        while !state.closed {
            let due = state.heard.iter().filter_map(Heard::due).min();
            let wake = due.map_or(until, |due| due.min(until));
            if wake <= Instant::now() {
                return;
            }
            self.changed.wait_until(&mut state, wake);
        }
    }
}

impl Heard {
    /// When it is time to act.
    fn due(&self) -> Option<Instant> {
        let continuous = (self.first + DELAY_MAX).max(self.rests_until);
        (!self.dirty.is_clean()).then(|| continuous.min(self.last + QUIET))
    }
}
