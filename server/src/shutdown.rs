//! Ending in order: no new work, what runs is finished, and a deadline for it.

use std::time::Duration;

use tokio_util::{
    sync::{CancellationToken, WaitForCancellationFuture},
    task::TaskTracker,
};

/// The process's end. Clones are the same end.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    begun: CancellationToken,
    tasks: TaskTracker,
}

/// How a drain went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every task ended by itself.
    Completely,
    /// The deadline passed with this many left.
    Cut {
        /// Tasks that were still running.
        tasks: usize,
    },
}

// === impl Shutdown ===

impl Shutdown {
    /// Not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everything to end.
    pub fn begin(&self) {
        self.begun.cancel();
    }

    /// Whether the end has begun.
    pub fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Waits until the end begins.
    pub fn begun(&self) -> WaitForCancellationFuture<'_> {
        self.begun.cancelled()
    }

    /// The tasks whose end is waited for.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Asks everything to end and waits for it, at most until `deadline` has passed.
    pub async fn drain(&self, deadline: Duration) -> Drained {
        self.begin();
        self.tasks.close();
        match tokio::time::timeout(deadline, self.tasks.wait()).await {
            Ok(()) => Drained::Completely,
            Err(_) => Drained::Cut { tasks: self.tasks.len() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_drain_waits_for_tasks_until_its_deadline() {
        let shutdown = Shutdown::new();
        let ends = shutdown.clone();
        shutdown.tasks().spawn(async move { ends.begun().await });
        assert_eq!(shutdown.drain(Duration::from_secs(10)).await, Drained::Completely);

        let shutdown = Shutdown::new();
        shutdown.tasks().spawn(std::future::pending::<()>());
        assert_eq!(shutdown.drain(Duration::from_secs(10)).await, Drained::Cut { tasks: 1 });
    }
}
