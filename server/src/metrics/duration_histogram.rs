//! A histogram of durations without a lock: it is written once for each request, by all threads.

use std::{
    array,
    fmt::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder, NoLabelSet},
    metrics::{MetricType, TypedMetric},
};

/// The first bucket's upper bound: a read from memory.
const FIRST_BOUND_NANOS: u64 = 10_000;

/// Each bucket is twice as wide as the one before, to about 42 seconds; the last has no bound.
const BUCKETS: usize = 24;

/// Counts of durations; clones are the same histogram.
#[derive(Debug, Clone)]
pub(super) struct DurationHistogram(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    buckets: [AtomicU64; BUCKETS],
    sum_nanos: AtomicU64,
}

// === impl DurationHistogram ===

impl DurationHistogram {
    pub(super) fn observe(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        if let Some(bucket) = self.0.buckets.get(bucket_of(nanos)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.0.sum_nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Default for DurationHistogram {
    fn default() -> Self {
        let buckets = array::from_fn(|_| AtomicU64::new(0));
        Self(Arc::new(Counts { buckets, sum_nanos: AtomicU64::new(0) }))
    }
}

impl TypedMetric for DurationHistogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for DurationHistogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), Error> {
        let mut bound = Duration::from_nanos(FIRST_BOUND_NANOS).as_secs_f64();
        let mut buckets = [(f64::INFINITY, 0); BUCKETS];
        for (at, (bucket, count)) in buckets.iter_mut().zip(&self.0.buckets).enumerate() {
            let upper = if at + 1 < BUCKETS { bound } else { f64::INFINITY };
            *bucket = (upper, count.load(Ordering::Relaxed));
            bound *= 2.0;
        }
        // Added up here, so that it is what the buckets say while others count on.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.0.sum_nanos.load(Ordering::Relaxed)).as_secs_f64();
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

/// The bucket whose bound is the smallest that is not below `nanos`.
fn bucket_of(nanos: u64) -> usize {
    let doublings = u64::BITS - (nanos.saturating_sub(1) / FIRST_BOUND_NANOS).leading_zeros();
    usize::try_from(doublings).unwrap_or(usize::MAX).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_under_the_next_bound() {
        for (nanos, bucket) in [
            (0, 0),
            (10_000, 0),
            (10_001, 1),
            (20_000, 1),
            (20_001, 2),
            (FIRST_BOUND_NANOS << 22, 22),
            ((FIRST_BOUND_NANOS << 22) + 1, 23),
            (u64::MAX, 23),
        ] {
            assert_eq!(bucket_of(nanos), bucket, "{nanos}");
        }
    }
}
