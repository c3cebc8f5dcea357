//! One subscriber: what it watches, what it has not been told yet, and who waits for that.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::{Mutex, MutexGuard};
use pressmark_index::access::Access;
use tokio::time::Instant;

use super::{
    keys::WatchKey,
    lists::{List, Lists},
    pending::{Added, Pending},
};
use crate::metrics::Metrics;

/// A client's listen, or everything that a session or a stdio client of the legacy era watches.
pub(super) struct Subscriber {
    pub(super) id: u64,
    /// What the client may see.
    pub(super) access: Arc<Access>,
    /// The id of its `subscriptions/listen`, as it was spelled; none in the legacy era.
    pub(super) listen_id: Option<Box<str>>,
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

/// What changes of a subscriber.
#[derive(Default)]
pub(super) struct State {
    pub(super) watches: Vec<Watch>,
    /// The lists whose changes are told.
    wants: Lists,
    pending: Pending,
    /// Lists that have changed.
    lists: Lists,
    /// What it watches waits already in place of all that happened: nothing else need be kept.
    pub(super) collapsed: bool,
    keep_alive: bool,
    /// When the oldest change that waits was published.
    since: Option<Instant>,
    pub(super) ended: Option<Ended>,
    /// The stream that takes what waits: the newest; older ones end.
    attachment: u64,
    attached: bool,
    waker: Option<Waker>,
    sent: Sent,
}

/// A watched URI.
pub(super) struct Watch {
    pub(super) id: u64,
    /// As the client spelled it, which is how it is told.
    pub(super) uri: Arc<str>,
    pub(super) keys: Box<[WatchKey]>,
}

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The process ends.
    Shutdown,
    /// The client took so little that what waited for it was over its bound.
    TooSlow,
    /// The session ended, or another stream took this one's place.
    Replaced,
}

/// What a stream is to send next.
#[derive(Debug)]
pub enum Taken {
    /// Notifications.
    Batch(Batch),
    /// Nothing has been sent for a while.
    KeepAlive,
    /// Nothing more comes.
    Ended(Ended),
}

/// Notifications that are sent together.
#[derive(Debug)]
pub struct Batch {
    /// Lists that have changed.
    pub lists: Lists,
    /// Resources that have changed, as they are told.
    pub uris: Vec<Arc<str>>,
    /// When the oldest of the changes was published.
    pub since: Instant,
    /// The number of the first notification on this stream; those that follow have the next ones.
    pub first_number: u64,
}

/// Notifications that one take hands out: about a packet's worth, so that a long queue moves in pieces.
const BATCH_URIS_MAX: usize = 64;
/// Notifications of a session that are kept after they were sent, for a stream that broke before they arrived.
const SENT_KEPT_MAX: usize = 128;

/// The last events of a session's streams, numbered from 1 on across all of them.
#[derive(Default)]
struct Sent {
    /// The number of the last event.
    last: u64,
    /// The last notifications with their numbers. Events that open a stream have a number too, but nothing to repeat.
    kept: VecDeque<(u64, Told)>,
    /// The number of the last notification that is no longer kept; 0 when all are.
    dropped: u64,
}

/// What a notification was about.
#[derive(Clone)]
enum Told {
    List(List),
    Uri(Arc<str>),
}

// === impl Subscriber ===

impl Subscriber {
    pub(super) fn new(
        id: u64,
        listen_id: Option<Box<str>>,
        access: Arc<Access>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { id, access, listen_id, metrics, state: Mutex::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes of these lists are told as well from now on.
    pub(super) fn want_lists(&self, lists: Lists) {
        let mut state = self.state.lock();
        state.wants = state.wants | lists;
    }

    /// A resource changed that is told as `uri`; `since` is when that was published. Whom to wake is handed back: who is
    /// woken when all changes of a commit wait takes them together.
    pub(super) fn updated(&self, uri: &Arc<str>, since: Instant) -> Option<Waker> {
        let mut state = self.state.lock();
        if state.ended.is_some() {
            return None;
        }
        match state.pending.add(uri) {
            Added::New => {
                self.metrics.notifications_pending.inc();
            }
            Added::Coalesced => {
                self.metrics.notifications_coalesced.inc();
                return None;
            }
            Added::Full => self.overflow(&mut state),
        }
        state.since.get_or_insert(since);
        state.waker.take()
    }

    /// Lists changed; those that are asked for are told.
    pub(super) fn lists_changed(&self, lists: Lists, since: Instant) {
        let mut state = self.state.lock();
        let wanted = lists & state.wants;
        if wanted.is_empty() || state.ended.is_some() {
            return;
        }
        let new = wanted & !state.lists;
        if new != wanted {
            self.metrics.notifications_coalesced.inc_by((wanted & state.lists).count());
        }
        if new.is_empty() {
            return;
        }
        state.lists = state.lists | new;
        state.since.get_or_insert(since);
        wake(state);
    }

    /// What happened is not known any more: everything may have changed.
    pub(super) fn anything_may_have_changed(&self, since: Instant) {
        let mut state = self.state.lock();
        if state.ended.is_none() {
            self.collapse(&mut state);
            state.since.get_or_insert(since);
            wake(state);
        }
    }

    /// Sends a comment on the stream, unless something that waits is sent first.
    pub(super) fn keep_alive(&self) {
        let mut state = self.state.lock();
        if !state.attached {
            return;
        }
        state.keep_alive = true;
        wake(state);
    }

    /// Nothing more is told; a stream learns why. False when it had ended before.
    pub(super) fn end(&self, why: Ended) -> bool {
        let mut state = self.state.lock();
        if state.ended.is_some() {
            return false;
        }
        state.ended = Some(why);
        wake(state);
        true
    }

    pub(super) fn has_ended(&self) -> Option<Ended> {
        self.state.lock().ended
    }

    /// Forgets a URI that waits: nobody wants to hear of it any more.
    pub(super) fn forget_uri(&self, state: &mut State, uri: &str) {
        if state.pending.remove(uri) {
            self.metrics.notifications_pending.dec();
        }
    }

    /// Forgets what waits; for when nobody will take it.
    pub(super) fn forget(&self) {
        self.clear_pending(&mut self.state.lock());
    }

    /// There is no room for what changed. A listen ends, which tells its client to read again what it showed; the legacy
    /// era has no such end: there everything that is watched is told instead.
    fn overflow(&self, state: &mut State) {
        if self.listen_id.is_none() {
            return self.collapse(state);
        }
        self.clear_pending(state);
        state.ended = Some(Ended::TooSlow);
        self.metrics.subscribers_too_slow.inc();
    }

    fn collapse(&self, state: &mut State) {
        if state.collapsed {
            return;
        }
        self.clear_pending(state);
        let State { watches, pending, .. } = state;
        pending.replace(watches.iter().map(|watch| &watch.uri));
        self.count_pending(state.pending.len());
        state.lists = state.wants;
        state.collapsed = true;
    }

    fn clear_pending(&self, state: &mut State) {
        self.metrics.notifications_pending.dec_by(signed(state.pending.len()));
        state.pending.clear();
    }

    fn count_pending(&self, count: usize) {
        self.metrics.notifications_pending.inc_by(signed(count));
    }

    // === streams ===

    /// Begins to take what waits; whoever did so before gets [`Ended::Replaced`].
    pub(super) fn attach(&self) -> u64 {
        let mut state = self.state.lock();
        state.attachment += 1;
        state.attached = true;
        let attachment = state.attachment;
        wake(state);
        attachment
    }

    pub(super) fn detach(&self, attachment: u64) {
        let mut state = self.state.lock();
        if state.attachment == attachment {
            state.attached = false;
            state.waker = None;
        }
    }

    pub(super) fn attached(&self) -> bool {
        self.state.lock().attached
    }

    /// What the stream sends next, or waits for it.
    pub(super) fn poll_take(&self, attachment: u64, context: &Context<'_>) -> Poll<Taken> {
        let mut state = self.state.lock();
        if state.attachment != attachment {
            return Poll::Ready(Taken::Ended(Ended::Replaced));
        }
        if state.pending.len() > 0 || !state.lists.is_empty() {
            return Poll::Ready(Taken::Batch(self.take_batch(&mut state)));
        }
        if let Some(why) = state.ended {
            return Poll::Ready(Taken::Ended(why));
        }
        if std::mem::take(&mut state.keep_alive) {
            return Poll::Ready(Taken::KeepAlive);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Reserves the number of the event that opens a stream: no other event of the session has it.
    pub(super) fn number_opening(&self) -> u64 {
        self.state.lock().sent.next_number()
    }

    fn take_batch(&self, state: &mut State) -> Batch {
        let lists = std::mem::take(&mut state.lists);
        let uris = state.pending.take(BATCH_URIS_MAX);
        self.metrics.notifications_pending.dec_by(signed(uris.len()));
        let first_number = state.sent.last + 1;
        if self.listen_id.is_none() {
            let told = lists.each().map(Told::List);
            state.sent.add(told.chain(uris.iter().cloned().map(Told::Uri)));
        }
        let since = state.since.unwrap_or_else(Instant::now);
        if state.pending.len() == 0 {
            state.since = None;
        }
        state.collapsed = false;
        state.keep_alive = false;
        Batch { lists, uris, since, first_number }
    }

    /// A stream takes up where one broke that had received the event of that number; without a number, or with one
    /// that is long past, everything may have been missed.
    pub(super) fn resume_after(&self, number: Option<u64>) {
        let mut state = self.state.lock();
        let missed = number.and_then(|number| state.sent.after(number));
        if state.sent.kept.is_empty() || missed.as_ref().is_some_and(Vec::is_empty) {
            return;
        }
        let Some(missed) = missed else {
            state.since.get_or_insert_with(Instant::now);
            return self.collapse(&mut state);
        };
        for sent in missed {
            match sent {
                Told::List(list) => state.lists = state.lists | (Lists::from(list) & state.wants),
                Told::Uri(uri) => match state.pending.add(&uri) {
                    Added::New => self.count_pending(1),
                    Added::Coalesced => {}
                    Added::Full => self.collapse(&mut state),
                },
            }
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.metrics.notifications_pending.dec_by(signed(self.state.get_mut().pending.len()));
    }
}

/// Wakes the stream after the lock is given up: it takes the lock at once.
fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

// === impl Sent ===

impl Sent {
    fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn add(&mut self, notifications: impl Iterator<Item = Told>) {
        for notification in notifications {
            let number = self.next_number();
            if self.kept.len() == SENT_KEPT_MAX
                && let Some((dropped, _)) = self.kept.pop_front()
            {
                self.dropped = dropped;
            }
            self.kept.push_back((number, notification));
        }
    }

    /// The notifications that were sent after an event; `None` when not all of them are kept, or when no event had this
    /// number.
    fn after(&self, number: u64) -> Option<Vec<Told>> {
        if number < self.dropped || number > self.last {
            return None;
        }
        let missed = self.kept.iter().filter(|(sent, _)| *sent > number);
        Some(missed.map(|(_, told)| told.clone()).collect())
    }
}
