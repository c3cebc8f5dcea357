//! When requests are due, for all connections together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Hands out the requests of one run, one after the other.
pub(crate) struct Schedule {
    begin: Instant,
    end: Instant,
    /// Between two requests; zero in a closed loop, where each is due when it is taken.
    interval: Duration,
    taken: AtomicU64,
    count_max: u64,
}

/// A request that somebody has to send now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    pub(crate) number: u64,
    /// What its latency counts from.
    pub(crate) since: Instant,
    /// How much later than due it was sent through no fault of the server.
    pub(crate) overslept: Duration,
}

impl Schedule {
    pub(crate) fn new(rate: Option<f64>, length: Duration, count_max: u64) -> Schedule {
        let begin = Instant::now();
        let interval = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate));
        Schedule { begin, end: begin + length, interval, taken: AtomicU64::new(0), count_max }
    }

    /// Waits for the next request to be due; `None` at the end of the run.
    ///
    /// A connection that comes after the request was due kept it waiting: that time counts. One that
    /// was idle before and is woken late by its timer, which knows milliseconds only, did not: that
    /// time is the generator's and is reported on its own.
    pub(crate) async fn next(&self) -> Option<Due> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        if number >= self.count_max {
            return None;
        }
        let now = Instant::now();
        if self.interval.is_zero() {
            let due = Due { number, since: now, overslept: Duration::ZERO };
            return (now < self.end).then_some(due);
        }
        let due = self.begin + self.interval.mul_f64(number as f64);
        if due >= self.end {
            return None;
        }
        if now >= due {
            return Some(Due { number, since: due, overslept: Duration::ZERO });
        }
        tokio::time::sleep_until(due).await;
        let woken = Instant::now();
        Some(Due { number, since: woken, overslept: woken.saturating_duration_since(due) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn requests_are_due_at_the_rate() {
        let schedule = Schedule::new(Some(10.0), SECOND, u64::MAX);
        let begin = Instant::now();
        let mut count = 0;
        while let Some(due) = schedule.next().await {
            assert!(due.since >= begin + SECOND / 10 * count);
            count += 1;
        }
        assert_eq!(count, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_connection_counts() {
        let schedule = Schedule::new(Some(10.0), SECOND, u64::MAX);
        schedule.next().await.unwrap();
        let due = Instant::now() + SECOND / 10;
        tokio::time::advance(SECOND / 2).await;
        assert_eq!(schedule.next().await.unwrap().since, due);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_ends_by_count_and_by_time() {
        let schedule = Schedule::new(None, SECOND, 2);
        assert_eq!(schedule.next().await.unwrap().number, 0);
        assert_eq!(schedule.next().await.unwrap().number, 1);
        assert!(schedule.next().await.is_none());
        let schedule = Schedule::new(None, SECOND, u64::MAX);
        tokio::time::advance(SECOND).await;
        assert!(schedule.next().await.is_none());
    }
}
