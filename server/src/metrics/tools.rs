//! Metrics of the tools of an embedding program.

use prometheus_client::metrics::{counter::Counter, gauge::Gauge};

use super::exposition::Registries;

/// Counts of calls. Clones are the same counts.
#[derive(Default, Clone)]
pub struct ToolMetrics {
    /// Calls that run.
    pub running: Gauge,
    /// Calls that were ended because their time was over.
    pub timed_out: Counter,
    /// Progress and log messages that were not sent, because their client took nothing.
    pub untold: Counter,
}

// === impl ToolMetrics ===

impl ToolMetrics {
    pub(super) fn register(&self, registry: &mut Registries) {
        registry.register("own_tool_calls_running", "Calls that run", self.running.clone());
        registry.register(
            "own_tool_calls_timed_out",
            "Calls that were ended because their time was over",
            self.timed_out.clone(),
        );
        registry.register(
            "own_tool_notifications_dropped",
            "Progress and log messages that were not sent, because their client took nothing",
            self.untold.clone(),
        );
    }
}
