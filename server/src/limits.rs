//! Admission: how many requests are answered at a time. More are refused at once, because a
//! client that is told so can try again, and one that waits in a long queue gives up and does.

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::metrics::Metrics;

/// Lets a bounded number of requests in.
pub struct Admission {
    permits: Semaphore,
    metrics: Arc<Metrics>,
}

/// A request that was let in; dropping it makes room.
pub struct Admitted<'a> {
    _permit: SemaphorePermit<'a>,
    metrics: &'a Metrics,
}

// === impl Admission ===

impl Admission {
    /// Lets `requests_in_flight_max` in at a time.
    pub fn new(requests_in_flight_max: usize, metrics: Arc<Metrics>) -> Self {
        let permits = requests_in_flight_max.min(Semaphore::MAX_PERMITS);
        Self { permits: Semaphore::new(permits), metrics }
    }

    /// Lets one in, or counts it as shed.
    pub fn admit(&self) -> Option<Admitted<'_>> {
        let Ok(permit) = self.permits.try_acquire() else {
            self.metrics.requests_shed.inc();
            return None;
        };
        self.metrics.requests_in_flight.inc();
        Some(Admitted { _permit: permit, metrics: &self.metrics })
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        self.metrics.requests_in_flight.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheds_what_is_over_the_bound_and_lets_in_again() {
        let metrics = Arc::new(Metrics::new());
        let admission = Admission::new(1, Arc::clone(&metrics));
        let first = admission.admit().unwrap();
        assert!(admission.admit().is_none());
        assert_eq!(metrics.requests_shed.get(), 1);
        assert_eq!(metrics.requests_in_flight.get(), 1);
        drop(first);
        assert!(admission.admit().is_some());
        assert_eq!(metrics.requests_in_flight.get(), 0);
    }
}
