//! What was measured, and how it is told.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::process::Usage;

/// Latencies are kept in microseconds up to this one; longer ones count as this long.
const LATENCY_MAX: Duration = Duration::from_secs(60);
/// Latencies are exact to three digits.
const SIGNIFICANT_DIGITS: u8 = 3;
const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// Why a request has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failure {
    /// The server took no connection.
    NoConnection,
    /// The connection broke before the answer was whole.
    Broken,
    /// An HTTP status outside 200 to 299.
    Status(u16),
    /// No JSON-RPC reply, or one with an error.
    NoResult,
    /// The URI cannot be put into a request.
    Unaskable,
}

/// Answers and failures of a connection, or of all of them.
pub(crate) struct Measured {
    latency_us: Histogram<u64>,
    overslept_us: Histogram<u64>,
    body_bytes: u64,
    failures: BTreeMap<Failure, u64>,
}

impl Measured {
    pub(crate) fn new() -> Result<Measured, String> {
        let histogram = || {
            Histogram::new_with_max(micros(LATENCY_MAX), SIGNIFICANT_DIGITS)
                .map_err(|error| format!("the histogram: {error}"))
        };
        Ok(Measured {
            latency_us: histogram()?,
            overslept_us: histogram()?,
            body_bytes: 0,
            failures: BTreeMap::new(),
        })
    }

    pub(crate) fn answered(&mut self, latency: Duration, overslept: Duration, body_bytes: usize) {
        self.latency_us.saturating_record(micros(latency));
        self.overslept_us.saturating_record(micros(overslept));
        self.body_bytes += body_bytes as u64;
    }

    pub(crate) fn failed(&mut self, failure: Failure) {
        *self.failures.entry(failure).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Measured) -> Result<(), String> {
        let failed = |error| format!("the histogram: {error}");
        self.latency_us.add(&other.latency_us).map_err(failed)?;
        self.overslept_us.add(&other.overslept_us).map_err(failed)?;
        self.body_bytes += other.body_bytes;
        for (failure, count) in &other.failures {
            *self.failures.entry(*failure).or_default() += count;
        }
        Ok(())
    }
}

/// A whole run.
pub(crate) struct Report {
    pub(crate) measured: Measured,
    pub(crate) took: Duration,
    /// What was asked for; `None`: a closed loop.
    pub(crate) rate: Option<f64>,
    pub(crate) client: Usage,
    pub(crate) server: Option<Usage>,
}

impl Report {
    pub(crate) fn failed(&self) -> bool {
        !self.measured.failures.is_empty()
    }

    pub(crate) fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let measured = &self.measured;
        let answers = measured.latency_us.len();
        let per_answer = |total: f64| total / (answers.max(1) as f64);
        writeln!(
            out,
            "answers     {answers} in {:.2} s, {:.0} a second, {:.0} bytes each",
            self.took.as_secs_f64(),
            answers as f64 / self.took.as_secs_f64(),
            per_answer(measured.body_bytes as f64)
        )?;
        let loop_kind = if self.rate.is_some() { "from when due" } else { "closed loop" };
        writeln!(out, "latency us  {} ({loop_kind})", quantiles(&measured.latency_us))?;
        if let Some(rate) = self.rate {
            let overslept = quantiles(&measured.overslept_us);
            writeln!(
                out,
                "overslept   {overslept} (the generator's own lateness at {rate} a second)"
            )?;
        }
        for (who, usage) in [("client", Some(&self.client)), ("server", self.server.as_ref())] {
            let Some(usage) = usage else { continue };
            let micros = |time: Duration| per_answer(time.as_secs_f64() * 1e6);
            writeln!(
                out,
                "{who} cpu  {:.2} us a request (user {:.2}, system {:.2}), {} MiB resident",
                micros(usage.user + usage.system),
                micros(usage.user),
                micros(usage.system),
                usage.resident_bytes >> 20
            )?;
        }
        for (failure, count) in &measured.failures {
            writeln!(out, "failed      {count} {failure:?}")?;
        }
        Ok(())
    }
}

fn quantiles(histogram: &Histogram<u64>) -> String {
    let one = |(name, quantile)| format!("{name} {}", histogram.value_at_quantile(quantile));
    QUANTILES.map(one).join("  ")
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
