//! Sessions of the legacy revisions over HTTP: an id, the revision that was agreed on, and what the client watches.
//!
//! They are optional: reads work without one. When there are too many, an `initialize` is answered
//! without an id instead of ending somebody else's session. One whose client has a stream open is in use.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::RwLock;
use pressmark_index::access::Access;
use tokio::time::Instant;

use crate::{
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

/// An id of 128 random bits; 32 lower-case hexadecimal digits on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(u128);

/// The live sessions.
pub struct Sessions {
    config: SessionsConfig,
    started: Instant,
    table: RwLock<Table>,
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
}

struct Live {
    revision: Revision,
    /// Milliseconds since `Sessions::started`; atomic, so that a request needs only the read lock.
    last_used_ms: AtomicU64,
    subscription: Arc<Subscription>,
}

// === impl SessionId ===

impl SessionId {
    /// The id that this text spells.
    pub fn parse(text: &str) -> Option<Self> {
        let is_spelled_as_given =
            text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_spelled_as_given {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(SessionId)
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

// === impl Sessions ===

impl Sessions {
    /// No sessions yet.
    pub fn new(
        config: SessionsConfig,
        subscriptions: Arc<Subscriptions>,
        access: Arc<Access>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (started, table) = (Instant::now(), RwLock::default());
        Self { config, started, table, subscriptions, access, metrics }
    }

    /// A new session that agreed on `revision`; none when there are too many.
    pub fn begin(&self, revision: Revision) -> Option<SessionId> {
        let mut random = [0; 16];
        if let Err(error) = getrandom::fill(&mut random) {
            tracing::error!("no session given: the system has no random bytes: {error}");
            return None;
        }
        let id = SessionId(u128::from_be_bytes(random));
        let mut table = self.table.write();
        if table.live.len() >= self.config.sessions_max && self.now_ms() >= table.expires_from_ms {
            self.remove_expired(&mut table);
        }
        let live = &mut table.live;
        if live.len() >= self.config.sessions_max {
            self.metrics.sessions_refused.inc();
            return None;
        }
        let last_used_ms = AtomicU64::new(self.now_ms());
        // The lists are told without being asked for, on a stream once there is one.
        let subscription = self.subscriptions.legacy(Arc::clone(&self.access), true);
        live.insert(id, Live { revision, last_used_ms, subscription });
        self.show(live.len());
        Some(id)
    }

    /// The session that a request names, which is used now, with what it watches.
    pub fn find(&self, id: SessionId) -> (Session, Option<Arc<Subscription>>) {
        let table = self.table.read();
        match table.live.get(&id) {
            Some(session) if !self.expired(session) => {
                session.last_used_ms.store(self.now_ms(), Ordering::Relaxed);
                (Session::Known(session.revision), Some(Arc::clone(&session.subscription)))
            }
            Some(_) | None => (Session::Unknown, None),
        }
    }

    /// Ends a session; false when there is none.
    pub fn end(&self, id: SessionId) -> bool {
        let removed = {
            let live = &mut self.table.write().live;
            let removed = live.remove(&id);
            self.show(live.len());
            removed
        };
        removed.is_some_and(|session| {
            let ended = !self.expired(&session);
            session.subscription.close(Ended::Replaced);
            ended
        })
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
        let Table { live, expires_from_ms } = table;
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
        Sessions::new(config, subscriptions, Arc::new(Access::anonymous()), metrics)
    }

    #[test]
    fn ids_are_only_what_we_give_out() {
        for (text, spelled) in [
            ("0123456789abcdef0123456789abcdef", true),
            ("0123456789ABCDEF0123456789abcdef", false),
            ("+123456789abcdef0123456789abcdef", false),
            ("0123456789abcdef", false),
            ("", false),
        ] {
            let id = SessionId::parse(text);
            assert_eq!(id.is_some(), spelled, "{text}");
            assert!(id.is_none_or(|id| id.to_string() == text));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_live_while_they_are_used() {
        let sessions = sessions(10);
        let id = sessions.begin(Revision::V2025_06_18).unwrap();
        for _ in 0..3 {
            tokio::time::advance(IDLE).await;
            assert_eq!(sessions.find(id).0, Session::Known(Revision::V2025_06_18));
        }
        tokio::time::advance(IDLE + Duration::from_millis(1)).await;
        assert_eq!(sessions.find(id).0, Session::Unknown);
        assert!(!sessions.end(id));
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_are_bounded_and_expired_ones_make_room() {
        let sessions = sessions(2);
        let first = sessions.begin(Revision::V2025_11_25).unwrap();
        sessions.begin(Revision::V2025_11_25).unwrap();
        assert!(sessions.begin(Revision::V2025_11_25).is_none());
        assert_eq!(sessions.metrics.sessions_refused.get(), 1);
        assert!(sessions.end(first));
        assert_eq!(sessions.metrics.sessions.get(), 1);
        assert!(sessions.begin(Revision::V2025_11_25).is_some());
        tokio::time::advance(IDLE * 2).await;
        assert!(sessions.begin(Revision::V2025_11_25).is_some());
        assert_eq!(sessions.metrics.sessions.get(), 1);
    }

    /// A client that begins sessions without end must not have all of them looked through each time.
    #[tokio::test(start_paused = true)]
    async fn expired_sessions_are_looked_for_when_there_can_be_some() {
        let sessions = sessions(1);
        tokio::time::advance(IDLE).await;
        let only = sessions.begin(Revision::V2025_11_25).unwrap();
        assert!(sessions.begin(Revision::V2025_11_25).is_none());
        let expires_from_ms = || sessions.table.read().expires_from_ms;
        assert_eq!(expires_from_ms(), millis(IDLE * 2));
        tokio::time::advance(IDLE / 2).await;
        sessions.find(only);
        assert!(sessions.begin(Revision::V2025_11_25).is_none());
        assert_eq!(expires_from_ms(), millis(IDLE * 2), "nothing was looked through");
        tokio::time::advance(IDLE / 2).await;
        assert!(sessions.begin(Revision::V2025_11_25).is_none());
        assert_eq!(expires_from_ms(), millis(IDLE * 5 / 2));
        tokio::time::advance(IDLE).await;
        assert!(sessions.begin(Revision::V2025_11_25).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_sweep_returns_the_memory_of_expired_sessions() {
        let sessions = Arc::new(sessions(10));
        let shutdown = Shutdown::new();
        let sweeper = Arc::clone(&sessions);
        let ends = shutdown.clone();
        let task = tokio::spawn(async move { sweeper.sweep(ends).await });
        sessions.begin(Revision::V2025_11_25).unwrap();
        tokio::time::sleep(IDLE * 3).await;
        assert_eq!(sessions.metrics.sessions.get(), 0);
        shutdown.begin();
        task.await.unwrap();
    }
}
