//! What the tests share: a collection, a server with both transports in front of it, and checks.

pub(crate) mod events;
pub(crate) mod http;
pub(crate) mod lines;
pub(crate) mod schema;
pub(crate) mod stdio;
pub(crate) mod tools;

use std::{
    num::NonZeroU32,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use pressmark::{
    client_address::Network,
    engine_pool::{EnginePool, EnginePoolConfig},
    extraction::Extractor,
    limits::{Admission, UnsentReplies},
    mcp::{Mcp, McpConfig, ToolResults},
    metrics::Metrics,
    sessions::{SessionKey, Sessions, SessionsConfig},
    shutdown::Shutdown,
    subscriptions::{Subscriptions, SubscriptionsConfig},
    tools::Tool,
    transport::http::{Arrivals, HttpConfig, HttpServer, RefusedHosts},
};
use pressmark_index::{
    access::Access,
    engine::{Engine, EngineOptions},
    full_text::{FullTextOptions, SearchRequest, SearchSort},
    mutation::Mutation,
    resource::{Address, Annotations, Body, Part, Resource},
    space::SpaceSettings,
    writer::Durability,
};

/// The revision that each era is tested with where it does not matter which.
pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

/// `_meta` of a modern request.
pub(crate) const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// The size of the note `large`: more than a connection's buffers hold.
pub(crate) const LARGE_NOTE_BYTES: usize = 900_000;

/// A space of notes, and one whose replies are private.
pub(crate) fn collection(dir: &Path) -> Arc<Engine> {
    let options = EngineOptions {
        block_cache_bytes: 8 << 20,
        hot_cache_bytes: 1 << 20,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        full_text: Some(FullTextOptions {
            memory_bytes: 32 << 20,
            hit_cache_bytes: 1 << 20,
            threads: 1,
            commit_interval: Duration::from_millis(5),
            extract: Arc::new(Extractor::new([], None)),
        }),
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(3600),
        owner: "the tests".to_owned(),
    };
    let engine = Engine::open(dir, &options).unwrap();
    let mut notes = SpaceSettings::new("notes", "note://shelf/{name}");
    notes.title = Some("Notes".to_owned());
    notes.description = Some("Short notes of the test".to_owned());
    notes.mime_type = Some("text/plain".to_owned());
    notes.ttl = Duration::from_secs(5);
    engine.put_space(notes).unwrap();
    let resources = [
        note("plain", Body::Text("Hello, \"world\"\nsecond line".to_owned())),
        note("separators", Body::Text("a\u{2028}b\u{2029}c".to_owned())),
        note("large", Body::Text("large text ".repeat(LARGE_NOTE_BYTES / 11))),
        note("picture", Body::Blob(vec![0, 255, 1, 254])),
    ];
    let puts = resources.map(|resource| Mutation::Put(Box::new(resource)));
    for put in engine.commit(puts.into()).unwrap() {
        put.unwrap();
    }
    indexed(&engine);
    Arc::new(engine)
}

/// Waits until all that was committed can be found.
pub(crate) fn indexed(engine: &Engine) {
    let request = SearchRequest {
        query: "",
        space: None,
        variables: &[],
        mime_type: None,
        modified: None,
        sort: SearchSort::Relevance,
        limit: 1,
        cursor: None,
        snippet_bytes: 0,
        after_sequence: Some(engine.log_range().newest),
        time_max: events::DEADLINE,
        access: &Access::anonymous(),
    };
    let deadline = Instant::now() + events::DEADLINE;
    // The newest change may be found while older resources are still looked at: the thread began in between.
    loop {
        let page = engine.search(&request).unwrap();
        if page.indexed_through >= engine.log_range().newest {
            break;
        }
        assert!(Instant::now() < deadline, "{page:?}");
        std::thread::yield_now();
    }
}

pub(crate) fn note(name: &str, body: Body) -> Resource {
    let mime_type = matches!(body, Body::Blob(_)).then(|| "image/png".to_owned());
    Resource {
        space: "notes".to_owned(),
        address: Address::Uri(format!("note://shelf/{name}")),
        name: Some(name.to_owned()),
        title: Some(format!("The note {name}")),
        description: None,
        mime_type,
        contents: vec![Part { uri: None, mime_type: None, meta: None, body }],
        annotations: Annotations::default(),
        size: None,
        icons: None,
        meta: None,
        pinned: false,
        acl: None,
        source: None,
    }
}

/// Bounds that a test may tighten.
#[derive(Clone)]
pub(crate) struct Bounds {
    pub(crate) requests_in_flight_max: usize,
    pub(crate) body_bytes_max: usize,
    pub(crate) sessions_max: usize,
    pub(crate) queue_max: usize,
    pub(crate) request_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) body_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) bodies_arriving_max: usize,
    pub(crate) unsent_reply_bytes_max: usize,
    pub(crate) streams_max: usize,
    pub(crate) keep_alive: Duration,
    pub(crate) session_idle: Duration,
    pub(crate) connections_max: usize,
    pub(crate) trusted_proxies: Vec<Network>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            requests_in_flight_max: 64,
            body_bytes_max: 64 * 1024,
            sessions_max: 16,
            queue_max: 64,
            request_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            bodies_arriving_max: 64,
            unsent_reply_bytes_max: 64 << 20,
            streams_max: 64,
            keep_alive: Duration::from_secs(60),
            session_idle: Duration::from_secs(60),
            connections_max: 256,
            trusted_proxies: Vec::new(),
        }
    }
}

/// A collection with both transports in front of it.
pub(crate) struct Front {
    pub(crate) http: Arc<HttpServer>,
    pub(crate) pool: Arc<EnginePool>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) bounds: Bounds,
    _dir: tempfile::TempDir,
}

impl Front {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self::with_tools(bounds, Vec::new())
    }

    /// The same with tools of an embedding program.
    pub(crate) fn with_tools(bounds: Bounds, tools: Vec<Tool>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let metrics = Arc::new(Metrics::new());
        let engine = collection(dir.path());
        let ours = mcp(Arc::clone(&engine));
        let mcp = Arc::new(tools.into_iter().try_fold(ours, Mcp::with_tool).unwrap());
        let pool_config = EnginePoolConfig { threads_max: 2, queue_max: bounds.queue_max };
        let pool = Arc::new(EnginePool::new(mcp, &pool_config, Arc::clone(&metrics)));
        let sessions =
            SessionsConfig { sessions_max: bounds.sessions_max, idle_timeout: bounds.session_idle };
        let streams = SubscriptionsConfig {
            streams_max: bounds.streams_max,
            watched_bytes_max: 64 << 20,
            keep_alive: bounds.keep_alive,
        };
        let subscriptions =
            Arc::new(Subscriptions::new(Arc::clone(&engine), streams, Arc::clone(&metrics)));
        let shutdown = Shutdown::new();
        subscriptions.start(&shutdown);
        let key = SessionKey::new(engine.derived_secret(SessionKey::PURPOSE));
        let sessions = Sessions::new(
            sessions,
            key,
            Arc::clone(&subscriptions),
            Arc::clone(pool.mcp().access()),
            Arc::clone(&metrics),
        );
        let http = HttpServer {
            config: HttpConfig {
                allowed_hosts: vec!["docs.example.com".to_owned()],
                metrics_hosts: vec!["metrics.internal".to_owned()],
                trusted_proxies: bounds.trusted_proxies.clone(),
                body_bytes_max: bounds.body_bytes_max,
                connections_max: bounds.connections_max,
                streams_per_connection_max: 16,
                head_timeout: Duration::from_secs(10),
                idle_timeout: bounds.idle_timeout,
                request_timeout: bounds.request_timeout,
                body_timeout: bounds.body_timeout,
                write_timeout: bounds.write_timeout,
            },
            pool: Arc::clone(&pool),
            sessions: Arc::new(sessions),
            subscriptions,
            admission: Admission::new(bounds.requests_in_flight_max, Arc::clone(&metrics)),
            arrivals: Arrivals::new(bounds.bodies_arriving_max, 1 << 20, &metrics),
            unsent_replies: UnsentReplies::new(bounds.unsent_reply_bytes_max, &metrics),
            refused_hosts: RefusedHosts::default(),
            metrics: Arc::clone(&metrics),
            shutdown,
        };
        Self { http: Arc::new(http), pool, engine, bounds, _dir: dir }
    }
}

impl Front {
    /// Puts a note with this text.
    pub(crate) fn put(&self, name: &str, text: &str) {
        self.commit(vec![put(name, text)]);
    }

    pub(crate) fn delete(&self, name: &str) {
        self.commit(vec![Mutation::Delete { uri: format!("note://shelf/{name}") }]);
    }

    pub(crate) fn commit(&self, mutations: Vec<Mutation>) {
        for result in self.engine.commit(mutations).unwrap() {
            result.unwrap();
        }
    }

    /// Keys, watched URIs and subscribers that there are.
    pub(crate) fn registered(&self) -> (usize, usize, usize) {
        self.http.subscriptions.size()
    }

    /// Waits until the subscriptions are as many.
    pub(crate) async fn registered_are(&self, expected: (usize, usize, usize)) {
        until(|| self.registered() == expected).await;
    }
}

pub(crate) fn put(name: &str, text: &str) -> Mutation {
    Mutation::Put(Box::new(note(name, Body::Text(text.to_owned()))))
}

/// Waits for a condition that another task brings about.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let mut looks = tokio::time::interval(Duration::from_millis(2));
    let holds = async {
        while !condition() {
            looks.tick().await;
        }
    };
    tokio::time::timeout(events::DEADLINE, holds).await.expect("it holds within the deadline");
}

/// The protocol in front of an engine.
pub(crate) fn mcp(engine: Arc<Engine>) -> Mcp {
    mcp_with(engine, Rates::default())
}

/// What a caller may ask for in a second.
pub(crate) struct Rates {
    pub(crate) tool_calls: NonZeroU32,
    pub(crate) completions: NonZeroU32,
}

impl Default for Rates {
    fn default() -> Self {
        Self { tool_calls: NonZeroU32::MAX, completions: NonZeroU32::MAX }
    }
}

/// The same with allowances.
pub(crate) fn mcp_with(engine: Arc<Engine>, rates: Rates) -> Mcp {
    mcp_counting(engine, rates, Arc::new(Metrics::new()))
}

/// The same with metrics to look at.
pub(crate) fn mcp_counting(engine: Arc<Engine>, rates: Rates, metrics: Arc<Metrics>) -> Mcp {
    Mcp::new(engine, config(rates), Access::anonymous(), metrics)
}

pub(crate) fn config(rates: Rates) -> McpConfig {
    McpConfig {
        contents_bytes_max: 1 << 20,
        page_items_max: 2,
        page_bytes_max: 64 * 1024,
        batch_messages_max: 4,
        tool_calls_per_second: rates.tool_calls,
        search_time_max: Duration::from_secs(30),
        completions_per_second: rates.completions,
        tool_results: ToolResults::Text,
    }
}
