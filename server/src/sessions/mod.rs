//! Sessions of the legacy revisions over HTTP: an id, the revision that was agreed on, and what the client watches.
//!
//! They are optional: reads work without one. When there are too many, an `initialize` is answered
//! without an id instead of ending somebody else's session. One whose client has a stream open is in use.
//!
//! What a session needs on the server is what its client watches. An id says the rest, signed: after a restart, and when
//! a session was idle for too long, requests that need nothing else are still served. What needs the rest is answered by
//! 404, on which a client begins another session.

mod ended;
mod id;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use parking_lot::RwLock;
use pressmark_index::access::Access;
use tokio::time::Instant;

use self::ended::EndedIds;
pub use self::id::{SessionId, SessionKey};
use crate::{
    call_rates::Caller,
    limits::{Share, Shares},
    mcp::protocol::{Revision, Session},
    metrics::Metrics,
    shutdown::Shutdown,
    subscriptions::{Ended, Subscription, Subscriptions},
};

/// Bounds of the sessions.
#[derive(Debug, Clone)]
pub struct SessionsConfig {
    /// How many live at a time; zero: none are given out.
    pub sessions_max: usize,
    /// How long one lives without a request.
    pub idle_timeout: Duration,
}

/// The live sessions.
pub struct Sessions {
    config: SessionsConfig,
    key: SessionKey,
    started: Instant,
    table: RwLock<Table>,
    shares: Arc<Shares>,
    subscriptions: Arc<Subscriptions>,
    /// What every session may see.
    access: Arc<Access>,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct Table {
    live: HashMap<SessionId, Live>,
    /// Before this, no session expires: looking through all of them would find nothing.
    expires_from_ms: u64,
    ended: EndedIds,
}

struct Live {
    revision: Revision,
    /// Milliseconds since `Sessions::started`; atomic, so that a request needs only the read lock.
    last_used_ms: AtomicU64,
    subscription: Arc<Subscription>,
    /// One of those that its client's address may have.
    _share: Share,
}

/// For so long after it was given out an id is good for requests that need nothing but it. Clients that do not recover
/// from a 404 run for days; one that runs for longer has begun another session meanwhile, or begins one then.
const ID_AGE_MAX: Duration = Duration::from_secs(30 * 86_400);

// === impl Sessions ===

impl Sessions {
    /// No sessions yet.
    pub fn new(
        config: SessionsConfig,
        key: SessionKey,
        subscriptions: Arc<Subscriptions>,
        access: Arc<Access>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (started, table) = (Instant::now(), RwLock::default());
        let shares = Shares::of(config.sessions_max, metrics.shares_used_up.clone());
        Self { config, key, started, table, shares, subscriptions, access, metrics }
    }

    /// A new session that agreed on `revision`; none when there are too many, or too many of its caller's address.
    pub fn begin(&self, revision: Revision, caller: Caller) -> Option<SessionId> {
        if self.config.sessions_max == 0 {
            return None;
        }
        let id = match self.key.sign(revision, SystemTime::now()) {
            Ok(id) => id,
            Err(error) => {
                tracing::error!("no session given: the system has no random bytes: {error}");
                return None;
            }
        };
        let mut table = self.table.write();
        if table.live.len() >= self.config.sessions_max && self.now_ms() >= table.expires_from_ms {
            self.remove_expired(&mut table);
        }
        let live = &mut table.live;
        let share = self.shares.take(caller, 1).filter(|_| live.len() < self.config.sessions_max);
        let Some(share) = share else {
            self.metrics.sessions_refused.inc();
            return None;
        };
        let last_used_ms = AtomicU64::new(self.now_ms());
        // The lists are told without being asked for, on a stream once there is one.
        let subscription = self.subscriptions.legacy(Arc::clone(&self.access), true);
        live.insert(id, Live { revision, last_used_ms, subscription, _share: share });
        self.show(live.len());
        Some(id)
    }

    /// The session that a request names, which is used now, with what it watches; without that where nothing but its id
    /// is left of it.
    pub fn find(&self, id: SessionId) -> (Session, Option<Arc<Subscription>>) {
        self.find_at(id, SystemTime::now())
    }

    fn find_at(&self, id: SessionId, now: SystemTime) -> (Session, Option<Arc<Subscription>>) {
        let table = self.table.read();
        if let Some(session) = table.live.get(&id).filter(|session| !self.expired(session)) {
            session.last_used_ms.store(self.now_ms(), Ordering::Relaxed);
            return (Session::Known(session.revision), Some(Arc::clone(&session.subscription)));
        }
        match self.left_of(&table, &id, now) {
            Some(revision) => {
                self.metrics.sessions_continued.inc();
                (Session::Known(revision), None)
            }
            None => (Session::Unknown, None),
        }
    }

    /// The revision of a session of which only the id is left.
    fn left_of(&self, table: &Table, id: &SessionId, now: SystemTime) -> Option<Revision> {
        if self.config.sessions_max == 0 || table.ended.contains(id) {
            return None;
        }
        let said = self.key.verify(id, now)?;
        (said.age <= ID_AGE_MAX).then_some(said.revision)
    }

    /// Ends a session; false when there is none.
    pub fn end(&self, id: SessionId) -> bool {
        let (removed, ended) = {
            let mut table = self.table.write();
            let removed = table.live.remove(&id);
            let ended = removed.is_some() || self.left_of(&table, &id, SystemTime::now()).is_some();
            if ended {
                table.ended.add(id);
            }
            self.show(table.live.len());
            (removed, ended)
        };
        if let Some(session) = removed {
            session.subscription.close(Ended::Replaced);
        }
        ended
    }

    /// Removes sessions when they expire, until the shutdown begins.
    pub async fn sweep(&self, shutdown: Shutdown) {
        // Looked at so often, a session whose stream breaks has most of its time left.
        let mut ticks = tokio::time::interval((self.config.idle_timeout / 4).max(SWEEP_PERIOD_MIN));
        loop {
            tokio::select! {
                _ = ticks.tick() => self.remove_expired(&mut self.table.write()),
                () = shutdown.begun() => return,
            }
        }
    }

    fn remove_expired(&self, table: &mut Table) {
        let Table { live, expires_from_ms, .. } = table;
        let mut oldest_ms = self.now_ms();
        live.retain(|_, session| {
            let is_live = !self.expired(session);
            if is_live {
                oldest_ms = oldest_ms.min(session.last_used_ms.load(Ordering::Relaxed));
            } else {
                session.subscription.close(Ended::Replaced);
            }
            is_live
        });
        // Sessions that are used or begun from now on expire later still.
        *expires_from_ms = oldest_ms.saturating_add(millis(self.config.idle_timeout));
        live.shrink_to(live.len().saturating_mul(2));
        self.show(live.len());
    }

    fn expired(&self, session: &Live) -> bool {
        if session.subscription.has_stream() {
            session.last_used_ms.store(self.now_ms(), Ordering::Relaxed);
            return false;
        }
        let last_used = Duration::from_millis(session.last_used_ms.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(last_used) > self.config.idle_timeout
    }

    fn now_ms(&self) -> u64 {
        millis(self.started.elapsed())
    }

    fn show(&self, count: usize) {
        self.metrics.sessions.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Sweeping more often than this would only take the lock.
const SWEEP_PERIOD_MIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    fn sessions(sessions_max: usize) -> Sessions {
        let config = SessionsConfig { sessions_max, idle_timeout: IDLE };
        let metrics = Arc::new(Metrics::new());
        let subscriptions = crate::subscriptions::tests::subscriptions(&metrics);
        let key = SessionKey::new([7; 32]);
        Sessions::new(config, key, subscriptions, Arc::new(Access::anonymous()), metrics)
    }

    /// Of different addresses.
    fn caller() -> Caller {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let address =
            std::net::Ipv4Addr::from(u32::try_from(NEXT.fetch_add(1, Ordering::Relaxed)).unwrap());
        Caller::at(address.into())
    }

    fn begin(sessions: &Sessions) -> Option<SessionId> {
        sessions.begin(Revision::V2025_11_25, caller())
    }

    /// Whether a session is known, and whether it has all that it had.
    fn found(sessions: &Sessions, id: SessionId) -> (bool, bool) {
        let (session, subscription) = sessions.find(id);
        (session == Session::Known(Revision::V2025_11_25), subscription.is_some())
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_live_while_they_are_used_and_their_ids_longer() {
        let sessions = sessions(10);
        let id = begin(&sessions).unwrap();
        for _ in 0..3 {
            tokio::time::advance(IDLE).await;
            assert_eq!(found(&sessions, id), (true, true));
        }
        tokio::time::advance(IDLE + Duration::from_millis(1)).await;
        assert_eq!(found(&sessions, id), (true, false), "what it watched is gone");
        assert!(sessions.end(id));
        assert_eq!(found(&sessions, id), (false, false));
        assert!(!sessions.end(id));
    }

    #[tokio::test(start_paused = true)]
    async fn an_id_is_good_after_a_restart_until_it_is_old() {
        let (before, after) = (sessions(10), sessions(10));
        let id = begin(&before).unwrap();
        assert_eq!(found(&after, id), (true, false));
        let now = SystemTime::now();
        for (later, session) in [
            (ID_AGE_MAX - Duration::from_secs(60), Session::Known(Revision::V2025_11_25)),
            (ID_AGE_MAX + Duration::from_secs(60), Session::Unknown),
        ] {
            assert_eq!(after.find_at(id, now + later).0, session, "{later:?}");
        }
        assert_eq!(after.metrics.sessions.get(), 0, "nothing is kept of it");
        assert_eq!(sessions(0).find(id).0, Session::Unknown);
        assert!(after.end(id));
        assert_eq!(found(&after, id), (false, false));
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_does_not_take_all_sessions() {
        let sessions = sessions(8);
        let one = caller();
        let begun = (0..8).filter(|_| sessions.begin(Revision::V2025_11_25, one).is_some()).count();
        assert_eq!(begun, 6);
        // Two addresses may have one share by chance: of so many, not all.
        assert!((0..4).any(|_| begin(&sessions).is_some()));
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_are_bounded_and_expired_ones_make_room() {
        let sessions = sessions(2);
        let first = begin(&sessions).unwrap();
        begin(&sessions).unwrap();
        assert!(begin(&sessions).is_none());
        assert_eq!(sessions.metrics.sessions_refused.get(), 1);
        assert!(sessions.end(first));
        assert_eq!(sessions.metrics.sessions.get(), 1);
        assert!(begin(&sessions).is_some());
        tokio::time::advance(IDLE * 2).await;
        assert!(begin(&sessions).is_some());
        assert_eq!(sessions.metrics.sessions.get(), 1);
    }

    /// A client that begins sessions without end must not have all of them looked through each time.
    #[tokio::test(start_paused = true)]
    async fn expired_sessions_are_looked_for_when_there_can_be_some() {
        let sessions = sessions(1);
        tokio::time::advance(IDLE).await;
        let only = begin(&sessions).unwrap();
        assert!(begin(&sessions).is_none());
        let expires_from_ms = || sessions.table.read().expires_from_ms;
        assert_eq!(expires_from_ms(), millis(IDLE * 2));
        tokio::time::advance(IDLE / 2).await;
        sessions.find(only);
        assert!(begin(&sessions).is_none());
        assert_eq!(expires_from_ms(), millis(IDLE * 2), "nothing was looked through");
        tokio::time::advance(IDLE / 2).await;
        assert!(begin(&sessions).is_none());
        assert_eq!(expires_from_ms(), millis(IDLE * 5 / 2));
        tokio::time::advance(IDLE).await;
        assert!(begin(&sessions).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_sweep_returns_the_memory_of_expired_sessions() {
        let sessions = Arc::new(sessions(10));
        let shutdown = Shutdown::new();
        let sweeper = Arc::clone(&sessions);
        let ends = shutdown.clone();
        let task = tokio::spawn(async move { sweeper.sweep(ends).await });
        begin(&sessions).unwrap();
        tokio::time::sleep(IDLE * 3).await;
        assert_eq!(sessions.metrics.sessions.get(), 0);
        shutdown.begin();
        task.await.unwrap();
    }
}
