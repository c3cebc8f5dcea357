//! How often a caller may call tools and ask for completions: the specification has servers rate limit both.
//!
//! Until identities arrive a caller is the address it comes from. Callers behind one proxy share one allowance.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Who calls, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The client that started this process.
    Process,
    /// A client that connected from here; of IPv6 the network of 64 bits, which one host may have for itself.
    Address(IpAddr),
}

/// An allowance of calls for each caller.
pub struct CallRates {
    limiter: DefaultKeyedRateLimiter<Caller>,
    clock: DefaultClock,
    since_sweep: AtomicU32,
}

/// After this many calls, callers whose allowance is full again are forgotten: what is kept is bounded by the
/// calls in between and by the callers of the last second.
const CALLS_PER_SWEEP: u32 = 1_024;

// === impl Caller ===

impl Caller {
    /// The caller behind an address.
    pub fn at(address: IpAddr) -> Caller {
        Caller::Address(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() & (!0 << 64)).into()),
        })
    }
}

// === impl CallRates ===

impl CallRates {
    /// An allowance that fills up at `calls_per_second` and holds as much as one second brings.
    pub fn new(calls_per_second: NonZeroU32) -> CallRates {
        CallRates {
            limiter: RateLimiter::keyed(Quota::per_second(calls_per_second)),
            clock: DefaultClock::default(),
            since_sweep: AtomicU32::new(0),
        }
    }

    /// Takes one call from the caller's allowance.
    ///
    /// # Errors
    /// How long the caller has to wait when it is used up.
    pub fn admit(&self, caller: Caller) -> Result<(), Duration> {
        if self.since_sweep.fetch_add(1, Ordering::Relaxed) >= CALLS_PER_SWEEP {
            self.since_sweep.store(0, Ordering::Relaxed);
            self.limiter.retain_recent();
        }
        self.limiter.check_key(&caller).map_err(|refused| refused.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_its_own_allowance() {
        let rates = CallRates::new(NonZeroU32::new(2).unwrap());
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|address| Caller::at(address.parse().unwrap()));
        assert_eq!((rates.admit(a), rates.admit(a)), (Ok(()), Ok(())));
        assert!(rates.admit(a).unwrap_err() <= Duration::from_millis(500));
        assert_eq!((rates.admit(b), rates.admit(Caller::Process)), (Ok(()), Ok(())));
    }

    #[test]
    fn one_host_cannot_be_many_callers() {
        let at = |address: &str| Caller::at(address.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
    }
}
