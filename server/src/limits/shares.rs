//! What one address may hold of something bounded, so that a client that takes nothing of its replies does not lock out
//! those that come from elsewhere.

use std::hash::{BuildHasher, RandomState};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use prometheus_client::metrics::counter::Counter;

use crate::call_rates::Caller;

/// Addresses are told apart by a hash of this many values, of another kind in each process. Two that meet share a share.
const SLOTS: usize = 1_024;

/// One address may hold all but a quarter.
const KEPT_FOR_OTHERS: usize = 4;

/// How much each address holds.
pub(crate) struct Shares {
    held: Box<[AtomicUsize]>,
    each_max: usize,
    hasher: RandomState,
    refused: Counter,
}

/// What an address holds; dropping it gives it back.
pub(crate) struct Share {
    shares: Arc<Shares>,
    slot: usize,
    count: usize,
}

// === impl Shares ===

impl Shares {
    /// Shares of `whole`; those that are used up are counted in `refused`.
    pub(crate) fn of(whole: usize, refused: Counter) -> Arc<Self> {
        let held = (0..SLOTS).map(|_| AtomicUsize::new(0)).collect();
        let each_max = whole - whole / KEPT_FOR_OTHERS;
        Arc::new(Self { held, each_max, hasher: RandomState::new(), refused })
    }

    /// Takes `count` of the caller's share; none when it is used up. What is more than a share is given to who holds
    /// nothing else.
    pub(crate) fn take(self: &Arc<Self>, caller: Caller, count: usize) -> Option<Share> {
        let hash = usize::try_from(self.hasher.hash_one(caller) % SLOTS as u64).unwrap_or(0);
        let held = self.held.get(hash)?;
        let before = held.fetch_add(count, Ordering::Relaxed);
        // Dropped at once where there is no room.
        let share = Share { shares: Arc::clone(self), slot: hash, count };
        if before == 0 || before.saturating_add(count) <= self.each_max {
            return Some(share);
        }
        self.refused.inc();
        None
    }
}

// === impl Share ===

impl Share {
    /// Takes `more` of the same share; false when it is used up.
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        let Some(held) = self.shares.held.get(self.slot) else { return false };
        let before = held.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) <= self.shares.each_max {
            self.count = self.count.saturating_add(more);
            return true;
        }
        held.fetch_sub(more, Ordering::Relaxed);
        self.shares.refused.inc();
        false
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(held) = self.shares.held.get(self.slot) {
            held.fetch_sub(self.count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_leaves_a_quarter_to_others() {
        let refused = Counter::default();
        let shares = Shares::of(8, refused.clone());
        let held: Vec<_> = (0..6).map(|_| shares.take(Caller::Process, 1).unwrap()).collect();
        assert!(shares.take(Caller::Process, 1).is_none());
        assert_eq!(refused.get(), 1);
        drop(held);
        let all = shares.take(Caller::Process, 100).unwrap();
        assert!(shares.take(Caller::Process, 1).is_none());
        drop(all);
        let mut grown = shares.take(Caller::Process, 1).unwrap();
        assert!(grown.grow(5) && !grown.grow(1));
        drop(grown);
        assert!(shares.take(Caller::Process, 6).is_some());
    }

    #[test]
    fn addresses_have_shares_of_their_own() {
        let shares = Shares::of(1, Counter::default());
        let addresses = (0..64).map(|n| Caller::at([10, 0, 0, n].into()));
        let held: Vec<_> = addresses.filter_map(|caller| shares.take(caller, 1)).collect();
        // Few of so many meet by chance.
        assert!(held.len() > 48, "{}", held.len());
    }
}
