//! Whether the process should get requests: it should when every latch is released.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Ready when no [`Latch`] is left. Clones are the same readiness.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    latches: Arc<AtomicUsize>,
}

/// Holds readiness back until it is dropped.
#[derive(Debug)]
pub struct Latch {
    latches: Arc<AtomicUsize>,
}

// === impl Readiness ===

impl Readiness {
    /// Ready at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds readiness back, at the start or again for the end.
    #[must_use]
    pub fn latch(&self) -> Latch {
        self.latches.fetch_add(1, Ordering::AcqRel);
        Latch { latches: Arc::clone(&self.latches) }
    }

    /// Whether every latch is released.
    pub fn ready(&self) -> bool {
        self.latches.load(Ordering::Acquire) == 0
    }
}

impl Drop for Latch {
    fn drop(&mut self) {
        self.latches.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_when_all_latches_are_dropped() {
        let readiness = Readiness::new();
        let (first, second) = (readiness.latch(), readiness.latch());
        drop(first);
        assert!(!readiness.ready());
        drop(second);
        assert!(readiness.ready());
    }
}
