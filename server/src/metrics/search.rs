//! Metrics of search and of the index that it asks.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use pressmark_index::full_text::FullTextProgress;
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};

use super::duration_histogram::DurationHistogram;
use super::exposition::Registries;
use super::known_gauge::KnownGauge;

/// Counts of searches, and how far the index is.
#[derive(Default)]
pub struct SearchMetrics {
    duration: DurationHistogram,
    cut: Counter,
    behind: Gauge,
    made: Gauge<f64, AtomicU64>,
    failing: Gauge,
    documents: KnownGauge,
    unread_command: Counter,
    unread_damaged: Counter,
    unread_passed_over: Counter,
}

// === impl SearchMetrics ===

impl SearchMetrics {
    pub(super) fn register(&self, registry: &mut Registries) {
        registry.register("search_duration_seconds", "Time of a search", self.duration.clone());
        registry.register(
            "searches_cut",
            "Searches that ended with what they had, because their time was over",
            self.cut.clone(),
        );
        registry.register(
            "full_text_behind",
            "Changes that were committed and cannot be found yet",
            self.behind.clone(),
        );
        registry.register(
            "full_text_made_ratio",
            "Share of the resources that the index has looked at; 1 unless it is being made",
            self.made.clone(),
        );
        registry.register(
            "full_text_failing",
            "Whether the index cannot go on (1); the log and /readyz say why",
            self.failing.clone(),
        );
        registry.register(
            "full_text_documents",
            "Resources that can be found by their words; left out where some are hidden from callers",
            self.documents.clone(),
        );
        registry.register_prefixed(
            "extract_commands_failed",
            "Documents without text because the command for their type failed; the log has the first",
            self.unread_command.clone(),
        );
        registry.register_prefixed(
            "documents_unreadable",
            "Documents without text because they are damaged, protected or too large",
            self.unread_damaged.clone(),
        );
        registry.register_prefixed(
            "documents_passed_over",
            "Documents without text because reading them crashed or took too long; the log names them",
            self.unread_passed_over.clone(),
        );
    }

    /// Counts one search.
    pub fn searched(&self, duration: Duration, is_cut: bool) {
        self.duration.observe(duration);
        self.cut.inc_by(u64::from(is_cut));
    }

    /// Takes over how far the index is.
    pub fn progressed(&self, progress: &FullTextProgress) {
        let behind = progress.newest.saturating_sub(progress.indexed_through);
        self.behind.set(i64::try_from(behind).unwrap_or(i64::MAX));
        self.made.set(progress.rebuilding.map_or(1.0, f64::from));
        self.failing.set(i64::from(progress.failure.is_some()));
        // The engine counts; these are its counts.
        self.unread_command.inner().store(progress.unread.command, Relaxed);
        self.unread_damaged.inner().store(progress.unread.unreadable, Relaxed);
        self.unread_passed_over.inner().store(progress.unread.passed_over, Relaxed);
    }

    /// Takes over how many resources can be found; none where some of them are hidden from callers, who could learn that
    /// they are there.
    pub fn counted(&self, documents: Option<u64>) {
        self.documents.set(documents);
    }
}
