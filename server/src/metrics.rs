//! Every metric of the server: names, units, labels. Labels come from closed sets, never from input.

mod duration_histogram;
mod exposition;
mod known_gauge;
mod process;
mod search;
mod tools;

use std::{
    array,
    sync::{OnceLock, atomic::AtomicU64},
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
};

use duration_histogram::DurationHistogram;
use exposition::Registries;
use hyper::StatusCode;

pub use exposition::Format;
pub use search::SearchMetrics;
pub use tools::ToolMetrics;

use crate::{error::Code, mcp::Method};

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(non_camel_case_types, reason = "the variants are the labels")]
pub enum Transport {
    /// Streamable HTTP.
    http,
    /// Lines.
    stdio,
}

const TRANSPORTS: usize = 2;
/// One for each error code, and one for success.
const CODES: usize = Code::ALL.len() + 1;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: Method,
    transport: Transport,
    code: CodeLabel,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    method: Method,
    transport: Transport,
}

/// Statuses of requests that are refused before their messages are read.
const REFUSALS: [StatusCode; 6] = [
    StatusCode::FORBIDDEN,
    StatusCode::NOT_ACCEPTABLE,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::PAYLOAD_TOO_LARGE,
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    StatusCode::SERVICE_UNAVAILABLE,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OverRateLabels {
    method: Method,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    version: &'static str,
    commit: &'static str,
}

/// What the program was built from; empty where nobody said.
const COMMIT: &str = match option_env!("PRESSMARK_COMMIT") {
    Some(commit) => commit,
    None => "",
};

/// `ok`, or the error's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct CodeLabel(Option<Code>);

/// The metrics; one for the process.
///
/// A series is looked up by labels once and then found by its place in an array: the look-up
/// costs a hash and a shared lock, which is much beside a read of some microseconds.
pub struct Metrics {
    registry: Registries,
    requests: Family<RequestLabels, Counter>,
    request_series: Box<[[[OnceLock<Counter>; CODES]; TRANSPORTS]; Method::COUNT]>,
    durations: Family<DurationLabels, DurationHistogram>,
    duration_series: Box<[[OnceLock<DurationHistogram>; TRANSPORTS]; Method::COUNT]>,
    reply_bytes: Counter<u64, AtomicU64>,
    refusals: Family<RefusalLabels, Counter>,
    over_rate: Family<OverRateLabels, Counter>,
    /// Requests that are being answered.
    pub requests_in_flight: Gauge,
    /// Requests refused because there were too many.
    pub requests_shed: Counter,
    /// Requests and replies refused because their address had its share of what is held at a time.
    pub shares_used_up: Counter,
    /// Open connections.
    pub connections: Gauge,
    /// Live sessions.
    pub sessions: Gauge,
    /// `initialize` requests that got no session because there were too many.
    pub sessions_refused: Counter,
    /// Requests of sessions of which only the id is left.
    pub sessions_continued: Counter,
    /// Listens, sessions and stdio clients that may watch something.
    pub subscribers: Gauge,
    /// URIs that they watch.
    pub watched_uris: Gauge,
    /// Subscribers that were ended because they took too little.
    pub subscribers_too_slow: Counter,
    /// Open streams of notifications.
    pub streams: Gauge,
    /// Streams that were refused because there were too many.
    pub streams_refused: Counter,
    /// Windows of hosts that share the store.
    pub windows: Gauge,
    /// Windows that were turned away because there were too many.
    pub windows_refused: Counter,
    /// Notifications that wait for their streams.
    pub notifications_pending: Gauge,
    /// Changes that became one with a notification that waited.
    pub notifications_coalesced: Counter,
    notifications_delivered: Counter<u64, AtomicU64>,
    notification_lag: DurationHistogram,
    /// Work that waits for a thread of the engine's pool.
    pub pool_queue: Gauge,
    /// 1 while the store takes writes, 0 while it refuses them since one failed.
    pub store_writable: Gauge,
    /// Folders that are being scanned.
    pub source_scans_running: Gauge,
    /// Files that were handed to the engine.
    pub source_files_indexed: Counter,
    /// Folders that the system reports changes of.
    pub source_folders_watched: Gauge,
    /// Folders that are compared every so often, because the system does not report their changes.
    pub source_folders_polled: Gauge,
    /// Changes that the system reported.
    pub source_events: Counter,
    /// How often reports were lost and a whole source was compared for it.
    pub source_event_overflows: Counter,
    /// How often a source, or a part of one, was looked at because something may have changed.
    pub source_rescans: Counter,
    /// Seconds that the last comparison of a whole source took.
    pub source_reconcile_seconds: Gauge<f64, AtomicU64>,
    /// Searches, and the index that they ask.
    pub search: SearchMetrics,
    /// Calls of tools of an embedding program.
    pub own_tools: ToolMetrics,
}

/// What happened to one message.
#[derive(Debug, Clone, Copy)]
pub struct Finished {
    /// What it asked.
    pub method: Method,
    /// The way it came.
    pub transport: Transport,
    /// The error's code.
    pub code: Option<Code>,
    /// From its first byte read to its reply's last byte made.
    pub duration: Duration,
    /// The reply's size.
    pub reply_bytes: usize,
}

// === impl Metrics ===

impl Metrics {
    /// All metrics, at zero.
    pub fn new() -> Self {
        let mut metrics = Self {
            registry: Registries::new(),
            requests: Family::default(),
            request_series: Box::new(array::from_fn(|_| Default::default())),
            durations: Family::default(),
            duration_series: Box::new(array::from_fn(|_| Default::default())),
            reply_bytes: Counter::default(),
            refusals: Family::default(),
            over_rate: Family::default(),
            requests_in_flight: Gauge::default(),
            requests_shed: Counter::default(),
            shares_used_up: Counter::default(),
            connections: Gauge::default(),
            sessions: Gauge::default(),
            sessions_refused: Counter::default(),
            sessions_continued: Counter::default(),
            subscribers: Gauge::default(),
            watched_uris: Gauge::default(),
            subscribers_too_slow: Counter::default(),
            streams: Gauge::default(),
            streams_refused: Counter::default(),
            windows: Gauge::default(),
            windows_refused: Counter::default(),
            notifications_pending: Gauge::default(),
            notifications_coalesced: Counter::default(),
            notifications_delivered: Counter::default(),
            notification_lag: DurationHistogram::default(),
            pool_queue: Gauge::default(),
            store_writable: Gauge::default(),
            source_scans_running: Gauge::default(),
            source_files_indexed: Counter::default(),
            source_folders_watched: Gauge::default(),
            source_folders_polled: Gauge::default(),
            source_events: Counter::default(),
            source_event_overflows: Counter::default(),
            source_rescans: Counter::default(),
            source_reconcile_seconds: Gauge::default(),
            search: SearchMetrics::default(),
            own_tools: ToolMetrics::default(),
        };
        metrics.register();
        metrics.register_subscriptions();
        metrics.search.register(&mut metrics.registry);
        metrics.own_tools.register(&mut metrics.registry);
        metrics.store_writable.set(1);
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        let build = Family::<BuildLabels, Gauge>::default();
        build
            .get_or_create(&BuildLabels { version: env!("CARGO_PKG_VERSION"), commit: COMMIT })
            .set(1);
        registry.register_prefixed(
            "build_info",
            "The program's version and commit; always 1",
            build,
        );
        registry.register("mcp_requests", "Messages answered", self.requests.clone());
        registry.register(
            "mcp_request_duration_seconds",
            "Time from a message read to its reply made",
            self.durations.clone(),
        );
        registry.register("mcp_reply_bytes", "Bytes of replies", self.reply_bytes.clone());
        registry.register(
            "mcp_requests_in_flight",
            "Requests being answered",
            self.requests_in_flight.clone(),
        );
        registry.register(
            "mcp_requests_shed",
            "Requests refused because there were too many",
            self.requests_shed.clone(),
        );
        registry.register(
            "mcp_shares_used_up",
            "Requests and replies refused because their address had its share",
            self.shares_used_up.clone(),
        );
        registry.register("mcp_sessions", "Live sessions", self.sessions.clone());
        registry.register(
            "mcp_sessions_refused",
            "Initializations that got no session because there were too many, or too many of one address",
            self.sessions_refused.clone(),
        );
        registry.register_prefixed(
            "mcp_sessions_continued",
            "Requests of sessions of which only the id is left, since a restart or because they were idle",
            self.sessions_continued.clone(),
        );
        registry.register(
            "http_refusals",
            "HTTP requests refused, by status; those without room for their reply are among them",
            self.refusals.clone(),
        );
        registry.register(
            "mcp_requests_over_rate",
            "Requests refused because their caller made too many in a second",
            self.over_rate.clone(),
        );
        registry.register("http_connections", "Open connections", self.connections.clone());
        registry.register(
            "engine_pool_queue",
            "Work that waits for a thread of the engine's pool",
            self.pool_queue.clone(),
        );
        registry.register(
            "store_writable",
            "Whether the store takes writes (1) or refuses them since one failed (0)",
            self.store_writable.clone(),
        );
        registry.register(
            "source_scans_running",
            "Folders being scanned",
            self.source_scans_running.clone(),
        );
        registry.register(
            "source_files_indexed",
            "Files handed to the engine",
            self.source_files_indexed.clone(),
        );
        self.register_watching();
    }

    fn register_watching(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "source_folders_watched",
            "Folders that the system reports changes of",
            self.source_folders_watched.clone(),
        );
        registry.register(
            "source_folders_polled",
            "Folders compared every so often, since the system does not report their changes",
            self.source_folders_polled.clone(),
        );
        registry.register(
            "source_events",
            "Changes in folders that the system reported",
            self.source_events.clone(),
        );
        registry.register(
            "source_event_overflows",
            "Times that reports of changes were lost and a whole source was compared for it",
            self.source_event_overflows.clone(),
        );
        registry.register(
            "source_rescans",
            "Looks at sources, or parts of them, because something may have changed",
            self.source_rescans.clone(),
        );
        registry.register(
            "source_reconcile_seconds",
            "Time that the last comparison of a whole source took",
            self.source_reconcile_seconds.clone(),
        );
    }

    fn register_subscriptions(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "subscribers",
            "Listens, sessions and stdio clients that may watch something",
            self.subscribers.clone(),
        );
        registry.register("subscribed_uris", "URIs that are watched", self.watched_uris.clone());
        registry.register(
            "subscribers_too_slow",
            "Subscribers ended because they took too little",
            self.subscribers_too_slow.clone(),
        );
        registry.register(
            "notification_streams",
            "Open streams of notifications",
            self.streams.clone(),
        );
        registry.register(
            "notification_streams_refused",
            "Streams of notifications refused because there were too many",
            self.streams_refused.clone(),
        );
        registry.register(
            "windows",
            "Windows of hosts that share the store with its owner",
            self.windows.clone(),
        );
        registry.register(
            "windows_refused",
            "Windows turned away because too many share the store",
            self.windows_refused.clone(),
        );
        registry.register(
            "notifications_pending",
            "Notifications that wait for their streams",
            self.notifications_pending.clone(),
        );
        registry.register(
            "notifications_coalesced",
            "Changes that became one with a notification that waited",
            self.notifications_coalesced.clone(),
        );
        registry.register(
            "notifications_delivered",
            "Notifications handed to sockets and pipes",
            self.notifications_delivered.clone(),
        );
        registry.register(
            "notification_lag_seconds",
            "Time from a commit to the notification at the socket, once for each write",
            self.notification_lag.clone(),
        );
    }

    /// Counts notifications that were handed to a socket or pipe, `lag` after the oldest of their changes.
    pub fn delivered(&self, count: u64, lag: Duration) {
        self.notifications_delivered.inc_by(count);
        self.notification_lag.observe(lag);
    }

    /// Counts one answered message.
    pub fn finished(&self, finished: &Finished) {
        let Finished { method, transport, code, duration, reply_bytes } = *finished;
        let by_transport = self.request_series.get(method.index());
        let by_code = by_transport.and_then(|series| series.get(transport as usize));
        let place = code.map_or(Code::ALL.len(), Code::index);
        if let Some(series) = by_code.and_then(|series| series.get(place)) {
            let labels = || RequestLabels { method, transport, code: CodeLabel(code) };
            series.get_or_init(|| self.requests.get_or_create_owned(&labels())).inc();
        }
        let by_transport = self.duration_series.get(method.index());
        if let Some(series) = by_transport.and_then(|series| series.get(transport as usize)) {
            let labels = || DurationLabels { method, transport };
            series.get_or_init(|| self.durations.get_or_create_owned(&labels())).observe(duration);
        }
        self.reply_bytes.inc_by(reply_bytes as u64);
    }

    /// Counts an HTTP response whose status says that its request was refused.
    pub fn responded(&self, status: StatusCode) {
        if REFUSALS.contains(&status) {
            self.refusals.get_or_create(&RefusalLabels { status: status.as_u16() }).inc();
        }
    }

    /// Counts a request beyond its caller's allowance.
    pub fn over_rate(&self, method: Method) {
        self.over_rate.get_or_create(&OverRateLabels { method }).inc();
    }

    /// The text that Prometheus scrapes.
    pub fn exposition(&self, format: Format) -> String {
        self.registry.write(format).unwrap_or_else(|error| {
            tracing::error!("the metrics do not encode: {error}");
            String::new()
        })
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl EncodeLabelValue for CodeLabel {
    fn encode(
        &self,
        encoder: &mut prometheus_client::encoding::LabelValueEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        match self.0 {
            Some(code) => EncodeLabelValue::encode(&code, encoder),
            None => EncodeLabelValue::encode(&"ok", encoder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_closed_labels() {
        let metrics = Metrics::new();
        for code in [None, None, Some(Code::InvalidParams)] {
            metrics.finished(&Finished {
                method: Method::ResourcesRead,
                transport: Transport::http,
                code,
                duration: Duration::from_micros(15),
                reply_bytes: 100,
            });
        }
        let text = metrics.exposition(Format::OpenMetrics);
        for line in [
            r#"pressmark_mcp_requests_total{method="resources/read",transport="http",code="ok"} 2"#,
            r#"pressmark_mcp_requests_total{method="resources/read",transport="http",code="-32602"} 1"#,
            r#"pressmark_mcp_request_duration_seconds_count{method="resources/read",transport="http"} 3"#,
            r#"pressmark_mcp_request_duration_seconds_sum{method="resources/read",transport="http"} 0.000045"#,
            r#"pressmark_mcp_request_duration_seconds_bucket{le="0.00001",method="resources/read",transport="http"} 0"#,
            r#"pressmark_mcp_request_duration_seconds_bucket{le="0.00002",method="resources/read",transport="http"} 3"#,
            r#"pressmark_mcp_request_duration_seconds_bucket{le="+Inf",method="resources/read",transport="http"} 3"#,
            "pressmark_mcp_reply_bytes_total 300",
            "pressmark_mcp_sessions 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
