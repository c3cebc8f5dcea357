//! The one place where async code meets the synchronous engine: a bounded blocking pool.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};

use crate::{
    error::Fault,
    mcp::{Answer, Mcp, Work},
    metrics::Metrics,
};

/// Bounds of the pool.
#[derive(Debug, Clone)]
pub struct EnginePoolConfig {
    /// How many threads wait for the disk at a time.
    pub threads_max: usize,
    /// How much work waits for a thread; more is refused.
    pub queue_max: usize,
}

/// Runs work that may wait for the disk.
pub struct EnginePool {
    mcp: Arc<Mcp>,
    /// Places for work that runs or waits.
    places: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    metrics: Arc<Metrics>,
}

/// What is left of a batch's time when it begins no further message.
const BATCH_REPLY_TIME: Duration = Duration::from_secs(1);

// === impl EnginePool ===

impl EnginePool {
    /// A pool in front of the engine behind `mcp`.
    pub fn new(mcp: Arc<Mcp>, config: &EnginePoolConfig, metrics: Arc<Metrics>) -> Self {
        let threads = config.threads_max.clamp(1, Semaphore::MAX_PERMITS);
        let places = threads.saturating_add(config.queue_max).min(Semaphore::MAX_PERMITS);
        Self {
            mcp,
            places: Arc::new(Semaphore::new(places)),
            threads: Arc::new(Semaphore::new(threads)),
            metrics,
        }
    }

    /// The protocol whose work runs here.
    pub fn mcp(&self) -> &Arc<Mcp> {
        &self.mcp
    }

    /// Runs the work on a thread of the pool; answers that the server is busy when the queue is
    /// full, and that it took too long when the deadline passes.
    ///
    /// Past its deadline, and when this future is dropped, work gives up its place in the queue;
    /// work that runs already goes on to its end and holds its thread until then.
    pub async fn run(&self, work: Work, deadline: Instant) -> Answer {
        let method = work.method();
        let id = work.id().map(str::to_owned);
        match timeout_at(deadline, self.run_to_end(work, deadline)).await {
            Ok(answer) => answer,
            Err(_) => Answer::fault(method, id.as_deref(), &Fault::timed_out()),
        }
    }

    /// Does something with the protocol that takes long but for no disk, on a thread of the pool; nothing when the queue is
    /// full or the deadline passes.
    pub async fn apart<T: Send + 'static>(
        &self,
        deadline: Instant,
        act: impl FnOnce(&Mcp) -> T + Send + 'static,
    ) -> Option<T> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let mcp = Arc::clone(&self.mcp);
        let acting = async {
            let thread = {
                let _waiting = Waiting::new(&self.metrics);
                Arc::clone(&self.threads).acquire_owned().await
            };
            let acting = tokio::task::spawn_blocking(move || {
                let _held = (place, thread);
                act(&mcp)
            });
            acting.await.ok()
        };
        timeout_at(deadline, acting).await.ok().flatten()
    }

    async fn run_to_end(&self, work: Work, deadline: Instant) -> Answer {
        let method = work.method();
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            self.metrics.requests_shed.inc();
            return Answer::fault(method, work.id(), &Fault::overloaded());
        };
        let thread = {
            let _waiting = Waiting::new(&self.metrics);
            Arc::clone(&self.threads).acquire_owned().await
        };
        let id = work.id().map(str::to_owned);
        let mcp = Arc::clone(&self.mcp);
        // A batch stops a little before: its answers so far are still worth sending then.
        let stops = deadline.checked_sub(BATCH_REPLY_TIME).unwrap_or(deadline);
        let running = tokio::task::spawn_blocking(move || {
            let _held = (place, thread);
            mcp.perform(work, stops)
        });
        match running.await {
            Ok(answer) => answer,
            // The handler's panics are caught where they happen: this is the runtime's end.
            Err(_) => Answer::fault(method, id.as_deref(), &Fault::overloaded()),
        }
    }
}

/// Shows work in the queue's gauge while it waits.
struct Waiting<'a>(&'a Metrics);

impl<'a> Waiting<'a> {
    fn new(metrics: &'a Metrics) -> Self {
        metrics.pool_queue.inc();
        Self(metrics)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.pool_queue.dec();
    }
}
