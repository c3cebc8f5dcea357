//! Where the plane's calls wait for the store: a bounded number of blocking threads, apart from those of readers.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tonic::Status;

/// Runs work that may wait for the disk.
#[derive(Clone)]
pub(super) struct Blocking {
    threads: Arc<Semaphore>,
}

impl Blocking {
    pub(super) fn new(threads_max: usize) -> Self {
        Self { threads: Arc::new(Semaphore::new(threads_max)) }
    }

    /// Waits for a thread, then for the work. Work that has begun goes on when nobody waits for it any more.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, Status>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let closing = || Status::unavailable("the server is shutting down");
        let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(|_| closing())?;
        let running = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(thread);
            done
        });
        running.await.map_err(|error| {
            if error.is_panic() {
                tracing::error!("a call of the admin plane panicked");
                return Status::internal("internal error: the server's log has it");
            }
            closing()
        })
    }
}
