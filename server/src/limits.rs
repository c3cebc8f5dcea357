//! What is held at a time. Admission: how many requests are answered; more are refused at once,
//! because a client that is told so can try again, and one that waits in a long queue gives up and
//! does. Byte budgets: how much of what clients send and have not taken yet is kept. Of both one address gets a share.

mod shares;

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{call_rates::Caller, metrics::Metrics};
pub(crate) use shares::{Share, Shares};

/// Lets a bounded number of requests in. The gauge of requests in flight is the count itself: nobody waits for room, so
/// that a semaphore, whose permits go back under a lock, would be one more than is needed.
pub struct Admission {
    requests_max: i64,
    shares: Arc<Shares>,
    metrics: Arc<Metrics>,
}

/// A request that was let in; dropping it makes room. It lives until its reply is written.
pub struct Admitted {
    _share: Share,
    metrics: Arc<Metrics>,
}

/// A bound on bytes that are held at a time, over all that share it.
#[derive(Clone)]
pub struct ByteBudget {
    /// One permit for each [`UNIT_BYTES`].
    units: Arc<Semaphore>,
    units_max: u32,
}

/// Bytes of a budget; dropping them gives them back.
#[derive(Debug)]
pub struct ReservedBytes(OwnedSemaphorePermit);

/// A bound on the bytes of replies that their clients have not taken yet.
pub struct UnsentReplies {
    budget: ByteBudget,
    shares: Arc<Shares>,
}

/// Bytes of a reply on its way; dropping them gives them back.
pub struct UnsentReply {
    _share: Share,
    _bytes: ReservedBytes,
}

/// Budgets count in units of this size: a semaphore hands out at most `u32::MAX` permits at once.
const UNIT_BYTES: usize = 1024;

// === impl Admission ===

impl Admission {
    /// Lets `requests_in_flight_max` in at a time.
    pub fn new(requests_in_flight_max: usize, metrics: Arc<Metrics>) -> Self {
        let shares = Shares::of(requests_in_flight_max, metrics.shares_used_up.clone());
        let requests_max = i64::try_from(requests_in_flight_max).unwrap_or(i64::MAX);
        Self { requests_max, shares, metrics }
    }

    /// Lets one in within its caller's share, or counts it as shed.
    pub fn admit(&self, caller: Caller) -> Option<Admitted> {
        let admitted = self.shares.take(caller, 1).and_then(|share| {
            let before = self.metrics.requests_in_flight.inc();
            // Dropping it takes it from the gauge again.
            let admitted = Admitted { _share: share, metrics: Arc::clone(&self.metrics) };
            (before < self.requests_max).then_some(admitted)
        });
        if admitted.is_none() {
            self.metrics.requests_shed.inc();
        }
        admitted
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.metrics.requests_in_flight.dec();
    }
}

// === impl UnsentReplies ===

impl UnsentReplies {
    /// Room for `bytes_max` of them.
    pub fn new(bytes_max: usize, metrics: &Metrics) -> Self {
        let shares = Shares::of(bytes_max, metrics.shares_used_up.clone());
        Self { budget: ByteBudget::new(bytes_max), shares }
    }

    /// Takes the bytes of a reply within its caller's share; none when there is no room for them.
    pub fn try_reserve(&self, caller: Caller, bytes: usize) -> Option<UnsentReply> {
        let share = self.shares.take(caller, bytes)?;
        Some(UnsentReply { _share: share, _bytes: self.budget.try_reserve(bytes)? })
    }
}

// === impl ByteBudget ===

impl ByteBudget {
    /// A budget of `bytes_max`, rounded up to whole KiB.
    pub fn new(bytes_max: usize) -> Self {
        let units_max = units(bytes_max).max(1);
        let permits = usize::try_from(units_max).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(permits)), units_max }
    }

    /// Takes `bytes` from the budget; none when so many are not left.
    pub fn try_reserve(&self, bytes: usize) -> Option<ReservedBytes> {
        let permit = Arc::clone(&self.units).try_acquire_many_owned(units(bytes)).ok()?;
        Some(ReservedBytes(permit))
    }

    /// Takes `bytes` from the budget as soon as they are there. What is more than the whole budget
    /// takes all of it.
    pub async fn reserve(&self, bytes: usize) -> Option<ReservedBytes> {
        let units = units(bytes).min(self.units_max);
        // The semaphore is never closed.
        Arc::clone(&self.units).acquire_many_owned(units).await.ok().map(ReservedBytes)
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

// === impl ReservedBytes ===

impl ReservedBytes {
    /// Adds what another reservation of the same budget holds.
    pub fn merge(&mut self, other: ReservedBytes) {
        self.0.merge(other.0);
    }

    /// Gives back all but `bytes`; does nothing where less is held.
    pub fn shrink_to(&mut self, bytes: usize) {
        let kept = usize::try_from(units(bytes)).unwrap_or(usize::MAX);
        drop(self.0.split(self.0.num_permits().saturating_sub(kept)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheds_what_is_over_the_bound_and_lets_in_again() {
        let metrics = Arc::new(Metrics::new());
        let admission = Admission::new(1, Arc::clone(&metrics));
        let first = admission.admit(Caller::Process).unwrap();
        assert!(admission.admit(Caller::Process).is_none());
        assert_eq!(metrics.requests_shed.get(), 1);
        assert_eq!(metrics.requests_in_flight.get(), 1);
        drop(first);
        assert!(admission.admit(Caller::Process).is_some());
        assert_eq!(metrics.requests_in_flight.get(), 0);
    }

    #[test]
    fn a_budget_gives_no_more_than_it_has_and_takes_back() {
        let budget = ByteBudget::new(10 * UNIT_BYTES);
        let mut held = budget.try_reserve(7 * UNIT_BYTES).unwrap();
        assert!(budget.try_reserve(4 * UNIT_BYTES).is_none());
        held.merge(budget.try_reserve(3 * UNIT_BYTES).unwrap());
        assert!(budget.try_reserve(1).is_none());
        held.shrink_to(UNIT_BYTES);
        assert!(budget.try_reserve(9 * UNIT_BYTES).is_some());
        drop(held);
        assert!(budget.try_reserve(10 * UNIT_BYTES).is_some());
    }

    #[tokio::test]
    async fn what_is_larger_than_a_budget_takes_all_of_it() {
        let budget = ByteBudget::new(2 * UNIT_BYTES);
        let held = budget.reserve(100 * UNIT_BYTES).await;
        assert!(held.is_some() && budget.try_reserve(1).is_none());
    }
}
