//! Subscriptions: who watches which resources, and how they hear of changes.
//!
//! A change passes these modules from top to bottom: `follower` reads it from the engine's change log and hands it to
//! `registry`, which finds by `keys` who watches it and may see it; each `subscriber` keeps in `pending` what its
//! stream has not taken yet. `list_changes` collects what changed of the lists. How messages look is a matter of
//! [`crate::mcp::protocol`], and how they travel one of [`crate::transport`].
//!
//! A commit costs the writer one atomic and one wake-up. A reader that stalls costs the memory of distinct URIs, up to
//! [`PENDING_URIS_MAX`], and nobody else any time.

mod follower;

mod registry;

mod keys;

mod subscriber;

mod pending;

mod list_changes;

mod lists;

mod stream;

#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use pressmark_index::{access::Access, engine::Engine};
use tokio::task::{AbortHandle, JoinError};

pub use lists::{List, Lists};
pub use pending::{PENDING_BYTES_MAX, PENDING_URIS_MAX};
pub use registry::{WATCHES_MAX, WATCHES_PER_SUBSCRIBER_MAX};
pub use stream::NotificationStream;
pub use subscriber::{Batch, Ended, Taken};

use self::{
    follower::{Committed, Follower},
    registry::{NotWatched, PARTS, Registry},
    subscriber::Subscriber,
};
use crate::{
    error::{Code, Fault},
    mcp::{
        RequestKey,
        protocol::{LogLevel, SubscriptionFilter},
    },
    metrics::Metrics,
    shutdown::Shutdown,
};

/// Bounds and manners of the streams.
#[derive(Debug, Clone)]
pub struct SubscriptionsConfig {
    /// Streams that may be open at a time, over all transports.
    pub streams_max: usize,
    /// Bytes of the URIs that all watch, and of the other spellings under which they are found.
    pub watched_bytes_max: usize,
    /// The longest time between two things that are sent on a stream: a quiet one gets comments.
    pub keep_alive: Duration,
}

/// Each stream gets its comment after this share of the time, so that it is not late when the process is busy.
const KEEP_ALIVE_EARLY: (u32, u32) = (3, 4);

/// All subscriptions of a process.
pub struct Subscriptions {
    config: SubscriptionsConfig,
    engine: Arc<Engine>,
    registry: Arc<Registry>,
    streams: Arc<AtomicUsize>,
    committed: Arc<Committed>,
    closing: AtomicBool,
}

/// What a client of the legacy era is told besides replies: what it watches, whose streams come and go, and of its calls.
pub struct Subscription {
    subscriptions: Arc<Subscriptions>,
    subscriber: Arc<Subscriber>,
    /// From which level on its calls send it log messages.
    log_level: Mutex<Option<LogLevel>>,
    /// Its calls of tools that run, by the ids under which it may cancel them. What has ended is taken out by the next call.
    calls: Mutex<HashMap<RequestKey, AbortHandle>>,
}

/// A `subscriptions/listen` that a transport is to open.
#[derive(Debug)]
pub struct Listen {
    /// The request's id, as it was spelled.
    pub id: Box<str>,
    /// What it asks for.
    pub filter: SubscriptionFilter,
    /// What the caller may see.
    pub access: Arc<Access>,
}

// === impl Subscriptions ===

impl Subscriptions {
    /// Subscriptions to what is behind `engine`; they are told once [`Subscriptions::start`] was called.
    pub fn new(engine: Arc<Engine>, config: SubscriptionsConfig, metrics: Arc<Metrics>) -> Self {
        let committed = Arc::new(Committed::new());
        let told = Arc::clone(&committed);
        engine.on_commit(Box::new(move |_newest| told.tell()));
        let registry = Registry::new(config.watched_bytes_max, metrics);
        Self {
            config,
            engine,
            registry: Arc::new(registry),
            streams: Arc::default(),
            committed,
            closing: AtomicBool::new(false),
        }
    }

    /// Follows the commits and looks after quiet streams until the shutdown begins, which ends every stream.
    pub fn start(self: &Arc<Self>, shutdown: &Shutdown) {
        let follower = Follower::new(Arc::clone(&self.engine), Arc::clone(&self.registry));
        let (this, ends) = (Arc::clone(self), shutdown.clone());
        shutdown.tasks().spawn(async move {
            tokio::select! {
                followed = this.follow(follower) => match followed {
                    Ok(()) => {}
                    Err(error) => tracing::error!("nobody is notified of changes any more: {error}"),
                },
                () = this.keep_alive() => {}
                () = ends.begun() => {}
            }
            this.closing.store(true, Ordering::Release);
            this.registry.each(|subscriber| {
                subscriber.end(Ended::Shutdown);
            });
        });
    }

    /// Ends with an error when telling panicked.
    async fn follow(&self, mut follower: Follower) -> Result<(), JoinError> {
        loop {
            let lists_due = follower.lists.due();
            tokio::select! {
                () = self.committed.told() => {
                    let committed = Arc::clone(&self.committed);
                    // The log may have to be read from the disk, and thousands may have to be told.
                    follower = tokio::task::spawn_blocking(move || {
                        follower.catch_up(&committed);
                        follower
                    })
                    .await?;
                }
                () = sleep_until(lists_due) => follower.tell_lists(),
            }
        }
    }

    /// How often the streams of calls get comments.
    pub(crate) fn keep_alive_period(&self) -> Duration {
        let (share, whole) = KEEP_ALIVE_EARLY;
        (self.config.keep_alive * share / whole).max(Duration::from_millis(1))
    }

    /// Looks at a part of the subscribers at a time: one timer for all of them. Every stream gets a comment in each round,
    /// whatever was sent in between, so that no two are further apart than a round. Takes out subscribers that ended by
    /// themselves.
    async fn keep_alive(&self) {
        let period = self.keep_alive_period() / u32::try_from(PARTS).unwrap_or(1);
        // A tick that was missed is made up for: a round never takes longer than it should.
        let mut ticks = tokio::time::interval(period.max(Duration::from_micros(1)));
        for part in (0..PARTS).cycle() {
            ticks.tick().await;
            self.registry.each_in(part, |subscriber| match subscriber.has_ended() {
                None => subscriber.keep_alive(),
                // Its stream has not been told yet, because its client reads nothing.
                Some(why) => self.registry.remove(subscriber, why),
            });
        }
    }

    /// Opens the stream of a `subscriptions/listen`; dropping the stream ends the subscription.
    ///
    /// # Errors
    /// What its client is answered instead: too many streams or too many URIs.
    pub fn listen(self: &Arc<Self>, listen: Listen) -> Result<NotificationStream, Fault> {
        let Listen { id, filter, access } = listen;
        let uris = filter.resource_subscriptions;
        if uris.len() > WATCHES_PER_SUBSCRIBER_MAX {
            return Err(Fault::invalid_params(format!(
                "`resourceSubscriptions` has {} URIs; one listen takes {WATCHES_PER_SUBSCRIBER_MAX}: \
                 watch the folders above them, or open several",
                uris.len()
            )));
        }
        let place = self.place()?;
        let subscription = Subscription::begin(self, Some(id), access);
        subscription.subscriber.want_lists(filter.lists);
        let mut honoured =
            SubscriptionFilter { lists: filter.lists, resource_subscriptions: Vec::new() };
        for uri in uris {
            match subscription.try_watch(&uri) {
                Ok(()) => honoured.resource_subscriptions.push(uri),
                // What can be no resource's URI is not honoured, and the client sees that.
                Err(fault) if fault.code == Code::InvalidParams => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(NotificationStream::open(Arc::new(subscription), place, honoured))
    }

    /// What a client of the legacy era watches: nothing yet, except the lists where `lists` says so.
    pub fn legacy(self: &Arc<Self>, access: Arc<Access>, lists: bool) -> Arc<Subscription> {
        let subscription = Subscription::begin(self, None, access);
        if lists {
            subscription.want_lists();
        }
        Arc::new(subscription)
    }

    /// Other prompts are declared than before: every listener is notified. A client that subscribes later, such as the
    /// one that starts `stdio`, reads the new list anyway.
    pub fn declared_prompts_changed(&self) {
        let (_, _, subscribers) = self.size();
        if subscribers > 0 {
            self.committed.tell_of_declared_prompts();
        }
    }

    /// Keys, watched URIs and subscribers that there are.
    pub fn size(&self) -> (usize, usize, usize) {
        self.registry.size()
    }

    fn place(&self) -> Result<StreamPlace, Fault> {
        let metrics = self.registry.metrics();
        let streams = Arc::clone(&self.streams);
        if self.closing.load(Ordering::Acquire)
            || streams.fetch_add(1, Ordering::AcqRel) >= self.config.streams_max
        {
            streams.fetch_sub(1, Ordering::AcqRel);
            metrics.streams_refused.inc();
            return Err(Fault::overloaded());
        }
        metrics.streams.inc();
        Ok(StreamPlace { streams, metrics: Arc::clone(metrics) })
    }
}

async fn sleep_until(due: Option<tokio::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// One of the streams that may be open; dropping it makes room.
struct StreamPlace {
    streams: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.streams.fetch_sub(1, Ordering::AcqRel);
        self.metrics.streams.dec();
    }
}

// === impl Subscription ===

impl Subscription {
    fn begin(
        subscriptions: &Arc<Subscriptions>,
        listen_id: Option<Box<str>>,
        access: Arc<Access>,
    ) -> Self {
        let subscriber = subscriptions.registry.add(listen_id, access);
        // A shutdown that began meanwhile has looked at all others.
        if subscriptions.closing.load(Ordering::Acquire) {
            subscriber.end(Ended::Shutdown);
        }
        let (log_level, calls) = (Mutex::default(), Mutex::default());
        Self { subscriptions: Arc::clone(subscriptions), subscriber, log_level, calls }
    }

    /// Sends log messages of this level and above with its calls, from now on.
    pub fn want_log(&self, level: LogLevel) {
        *self.log_level.lock() = Some(level);
    }

    /// The least level of the log messages that it wants; none before it has said.
    pub fn log_level(&self) -> Option<LogLevel> {
        *self.log_level.lock()
    }

    /// A call of its runs, until it ends or is cancelled.
    pub fn calls(&self, id: RequestKey, running: AbortHandle) {
        let mut calls = self.calls.lock();
        calls.retain(|_, running| !running.is_finished());
        calls.insert(id, running);
    }

    /// Ends a call that its client wants no answer of any more.
    pub fn cancel(&self, id: &RequestKey) {
        if let Some(running) = self.calls.lock().remove(id) {
            running.abort();
        }
    }

    /// Tells changes of lists as well, from now on.
    pub fn want_lists(&self) {
        self.subscriber.want_lists(Lists::ALL);
    }

    /// Watches a URI, once however often it is asked.
    ///
    /// # Errors
    /// -32602 for what can be no resource's URI and for too many URIs; a busy server.
    pub fn watch(&self, uri: &str) -> Result<(), Fault> {
        self.try_watch(uri)
    }

    fn try_watch(&self, uri: &str) -> Result<(), Fault> {
        let Subscriptions { engine, registry, .. } = &*self.subscriptions;
        let keys = keys::of_subscription(&engine.spaces(), uri)
            .map_err(|error| Fault::invalid_params(error.to_string()))?;
        match registry.watch(&self.subscriber, uri, keys, engine.log_range().newest) {
            Ok(()) => Ok(()),
            Err(NotWatched::TooMany) => Err(Fault::invalid_params(format!(
                "{WATCHES_PER_SUBSCRIBER_MAX} URIs are watched already: unsubscribe from some, or watch a folder above them"
            ))),
            Err(NotWatched::Crowded | NotWatched::Ended) => Err(Fault::overloaded()),
        }
    }

    /// Watches a URI no longer, in the spelling in which it was asked.
    pub fn unwatch(&self, uri: &str) {
        self.subscriptions.registry.unwatch(&self.subscriber, uri);
    }

    /// Whether a stream takes what is told.
    pub fn has_stream(&self) -> bool {
        self.subscriber.attached()
    }

    /// Opens a stream of what is told; one that was open ends.
    ///
    /// # Errors
    /// There are too many streams.
    pub fn open(self: &Arc<Self>) -> Result<NotificationStream, Fault> {
        let place = self.subscriptions.place()?;
        Ok(NotificationStream::open(Arc::clone(self), place, SubscriptionFilter::default()))
    }

    /// The same for a client whose last stream broke after the event with that number; without a number it may
    /// have missed anything that was sent.
    ///
    /// # Errors
    /// There are too many streams.
    pub fn reopen(self: &Arc<Self>, received: Option<u64>) -> Result<NotificationStream, Fault> {
        self.subscriber.resume_after(received);
        self.open()
    }

    /// Ends it: nothing is watched any more, and a stream learns why.
    pub fn close(&self, why: Ended) {
        self.subscriptions.registry.remove(&self.subscriber, why);
        self.subscriber.forget();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.close(Ended::Replaced);
    }
}
