//! What the requests of a connection are doing, and when it has done nothing for too long.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What a connection's requests have been doing.
#[derive(Default)]
pub(super) struct Activity {
    begun: AtomicU64,
    in_flight: AtomicUsize,
    /// Counts the ticks of [`stalled`].
    period: AtomicUsize,
    /// Replies that are not written yet, by the period in which their client last took a piece.
    untaken: [AtomicUsize; PERIODS],
}

/// Periods are told apart by their remainder: only the last three ever have replies.
const PERIODS: usize = 4;

/// A request of a connection, from its head until its reply is written or given up.
pub(super) struct RequestActivity {
    activity: Arc<Activity>,
    /// The period in which a piece of the reply was last taken.
    taken_in: AtomicUsize,
}

/// There is no reply yet.
const UNANSWERED: usize = usize::MAX;

// === impl Activity ===

impl Activity {
    fn untaken(&self, period: usize) -> Option<&AtomicUsize> {
        self.untaken.get(period % PERIODS)
    }
}

// === impl RequestActivity ===

impl RequestActivity {
    pub(super) fn begin(activity: &Arc<Activity>) -> Self {
        activity.begun.fetch_add(1, Ordering::Relaxed);
        activity.in_flight.fetch_add(1, Ordering::Relaxed);
        Self { activity: Arc::clone(activity), taken_in: AtomicUsize::new(UNANSWERED) }
    }

    /// The reply is there, or a piece of it was taken: from now on its client has another period.
    pub(super) fn progressed(&self) {
        let now = self.activity.period.load(Ordering::Relaxed);
        let before = self.taken_in.swap(now, Ordering::Relaxed);
        if before != now {
            self.leave(before);
            if let Some(untaken) = self.activity.untaken(now) {
                untaken.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// All that there is of the reply was taken, and its client waits for more.
    pub(super) fn caught_up(&self) {
        self.leave(self.taken_in.swap(UNANSWERED, Ordering::Relaxed));
    }

    fn leave(&self, period: usize) {
        if period != UNANSWERED
            && let Some(untaken) = self.activity.untaken(period)
        {
            untaken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for RequestActivity {
    fn drop(&mut self) {
        self.leave(self.taken_in.load(Ordering::Relaxed));
        self.activity.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ends when no request has begun or been in flight for `timeout`. Covers what the head's timeout
/// does not: a client that opens a connection and says nothing, or less than a protocol's name.
pub(super) async fn idle(activity: &Activity, timeout: Duration) {
    let mut seen = activity.begun.load(Ordering::Relaxed);
    loop {
        tokio::time::sleep(timeout).await;
        let begun = activity.begun.load(Ordering::Relaxed);
        if begun == seen && activity.in_flight.load(Ordering::Relaxed) == 0 {
            return;
        }
        seen = begun;
    }
}

/// Ends when the client has taken nothing of some reply for at least `period`, and for less than
/// two of them.
///
/// Replies are judged and not the socket: an HTTP/2 client that opens no window for a stream keeps
/// its reply here although its socket takes all that is written.
pub(super) async fn stalled(activity: &Activity, period: Duration) {
    loop {
        tokio::time::sleep(period).await;
        let now = activity.period.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let before_last = activity.untaken(now.wrapping_sub(2));
        if before_last.is_some_and(|untaken| untaken.load(Ordering::Relaxed) > 0) {
            return;
        }
    }
}
