//! How far a load has come: a bar on a terminal, a line now and then elsewhere.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;

use super::input::is_stdin;
use crate::terminal;

/// How often a line is printed where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

const BAR: &str = "{wide_bar:.cyan} {percent:>3} %  {msg}  {eta} left";
const SPINNER: &str = "{spinner} {msg}";

/// The progress of one load, on stderr.
pub struct Progress {
    bytes_read: Arc<AtomicU64>,
    /// The size of all files as they are on the disk; `None`: not all of them have one.
    bytes_total: Option<u64>,
    records: AtomicU64,
    started: Instant,
    bar: Option<ProgressBar>,
    /// How often a line is printed where there is no bar; `None`: never.
    line_interval: Option<Duration>,
    last_line: Mutex<Instant>,
}

// === impl Progress ===

impl Progress {
    /// Of a load of these files.
    pub fn new(files: &[PathBuf]) -> Self {
        let bytes_total = bytes_total(files);
        let bar = terminal::can_redraw(&std::io::stderr()).then(|| bar(bytes_total));
        Self::shown(bytes_total, bar, Some(LINE_INTERVAL))
    }

    /// The same for a program, which is told nothing on the way.
    pub fn quiet(files: &[PathBuf]) -> Self {
        Self::shown(bytes_total(files), None, None)
    }

    fn shown(
        bytes_total: Option<u64>,
        bar: Option<ProgressBar>,
        line_interval: Option<Duration>,
    ) -> Self {
        let started = Instant::now();
        Self {
            bytes_read: Arc::default(),
            bytes_total,
            records: AtomicU64::new(0),
            started,
            bar,
            line_interval,
            last_line: Mutex::new(started),
        }
    }

    /// The counter of what was read of all files.
    pub(super) fn bytes_read(&self) -> &Arc<AtomicU64> {
        &self.bytes_read
    }

    /// So many more records are done with.
    pub(super) fn advance(&self, record_count: usize) {
        let added = u64::try_from(record_count).unwrap_or(u64::MAX);
        let records = self.records.fetch_add(added, Ordering::Relaxed) + added;
        let bytes = self.bytes_read.load(Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            bar.set_message(rate(records, self.started.elapsed()));
            return;
        }
        let Some(interval) = self.line_interval else { return };
        let Some(mut last_line) = self.last_line.try_lock() else { return };
        if last_line.elapsed() >= interval {
            *last_line = Instant::now();
            let elapsed = self.started.elapsed();
            let left = self.bytes_total.map(|total| time_left(bytes, total, elapsed));
            self.print(&format!("{}{}", rate(records, elapsed), left.unwrap_or_default()));
        }
    }

    /// Prints a line; the bar stays below it. A terminal that has gone away is no reason to fail.
    pub fn print(&self, line: &str) {
        let write = || {
            let _ = writeln!(std::io::stderr().lock(), "{}", terminal::escaped(line));
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away and returns how long the load took.
    pub fn finish(&self) -> Duration {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed()
    }
}

fn bar(bytes_total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(bytes_total, ProgressDrawTarget::stderr());
    let template = if bytes_total.is_some() { BAR } else { SPINNER };
    // A wrong template would be seen at once; the default style is no reason to stop a load.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

fn bytes_total(files: &[PathBuf]) -> Option<u64> {
    let mut total = 0_u64;
    for path in files {
        if is_stdin(path) {
            return None;
        }
        // What cannot be opened is reported when it is its turn.
        let Ok(metadata) = path.metadata() else { continue };
        if !metadata.is_file() {
            return None;
        }
        total = total.saturating_add(metadata.len());
    }
    Some(total)
}

/// `1,234,567 records, 89,000 a second`.
pub fn rate(records: u64, elapsed: Duration) -> String {
    let millis = elapsed.as_millis().max(1);
    let a_second = u128::from(records) * 1_000 / millis;
    format!("{} records, {} a second", grouped(u128::from(records)), grouped(a_second))
}

/// `, 40 %, 12 s left`; nothing at the start, when nothing can be known.
fn time_left(bytes: u64, total: u64, elapsed: Duration) -> String {
    if bytes == 0 || total == 0 {
        return String::new();
    }
    let percent = u128::from(bytes) * 100 / u128::from(total);
    let left = u128::from(total.saturating_sub(bytes));
    let seconds = elapsed.as_millis() * left / u128::from(bytes) / 1_000;
    format!(", {percent} %, {seconds} s left")
}

/// Digits in groups of three.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_for_people() {
        let seconds = Duration::from_secs;
        assert_eq!(rate(0, seconds(0)), "0 records, 0 a second");
        assert_eq!(rate(999, seconds(1)), "999 records, 999 a second");
        assert_eq!(rate(1_234_567, seconds(10)), "1,234,567 records, 123,456 a second");
        assert_eq!(time_left(25, 100, seconds(10)), ", 25 %, 30 s left");
        assert_eq!(time_left(100, 100, seconds(10)), ", 100 %, 0 s left");
        assert_eq!(time_left(0, 100, seconds(10)), "");
    }
}
