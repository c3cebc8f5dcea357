//! The parts of a running server, put together: what the command line has read goes in, what serves
//! comes out. Listeners come in from outside, so that tests bind ports of their own.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::prompt::Prompt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;

use crate::admin::{self, Callers};
use crate::config::{FullTextConfig, ServerConfig};
use crate::engine_pool::{EnginePool, EnginePoolConfig};
use crate::limits::{Admission, UnsentReplies};
use crate::mcp::{Mcp, McpConfig};
use crate::metrics::Metrics;
use crate::readiness::Latch;
use crate::sessions::{SessionKey, Sessions, SessionsConfig};
use crate::sharing::{self, Hello, Socket};
use crate::shutdown::{Drained, Shutdown};
use crate::subscriptions::{Subscriptions, SubscriptionsConfig};
use crate::tools::{Tool, ToolRefused};
use crate::transport::http::{self, Arrivals, HttpConfig, HttpServer, RefusedHosts};
use crate::transport::stdio::{self, StdioConfig};

/// How long requests that run may take when the process ends.
pub const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

/// Threads that may wait for the disk at a time, on any machine: waiting costs no processor.
const POOL_THREADS: usize = 32;
/// Work that may wait for such a thread.
const POOL_QUEUE_MAX: usize = 1_024;
/// Messages of a batch (revision 2025-03-26).
const BATCH_MESSAGES_MAX: usize = 100;
/// A page of a list ends after this many bytes.
const PAGE_BYTES_MAX: usize = 512 * 1024;
/// Streams of one HTTP/2 connection at a time.
const STREAMS_PER_CONNECTION_MAX: u32 = 256;
/// How long a request's head may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection may do nothing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a request's body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Memory for the URIs that clients watch: 256 bytes for each of as many as may be watched.
const WATCHED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How long a client may take nothing of a reply.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Bodies that are on their way at a time.
const BODIES_ARRIVING_MAX: usize = 1_024;
/// Bytes of bodies that came in pieces.
const ARRIVED_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Bytes of replies that their clients have not taken yet.
const UNSENT_REPLY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The same of one window that shares the store.
const FOLLOWER_UNSENT_REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Requests of one stdio client at a time.
const STDIO_REQUESTS_MAX: usize = 64;

/// A server that is ready to answer on any transport.
pub struct App {
    /// Counts and gauges.
    pub metrics: Arc<Metrics>,
    /// The process's end.
    pub shutdown: Shutdown,
    config: ServerConfig,
    mcp: Arc<Mcp>,
    subscriptions: Arc<Subscriptions>,
}

impl App {
    /// Puts the protocol in front of an engine. Callers are anonymous until identities arrive.
    pub fn new(engine: Arc<Engine>, config: ServerConfig, full_text: &FullTextConfig) -> App {
        App::ending_with(engine, config, full_text, Shutdown::new())
    }

    /// The same in a process whose end may have begun already.
    pub fn ending_with(
        engine: Arc<Engine>,
        config: ServerConfig,
        full_text: &FullTextConfig,
        shutdown: Shutdown,
    ) -> App {
        let metrics = Arc::new(Metrics::new());
        let mcp = mcp(engine, &config, full_text, &metrics);
        App::of(mcp, config, metrics, shutdown)
    }

    /// The same with tools of the embedding program; see [`crate::builder::ServerBuilder`].
    pub(crate) fn with_tools(
        engine: Arc<Engine>,
        config: ServerConfig,
        full_text: &FullTextConfig,
        tools: Vec<Tool>,
    ) -> Result<App, ToolRefused> {
        let metrics = Arc::new(Metrics::new());
        let ours = mcp(engine, &config, full_text, &metrics);
        let mcp = tools.into_iter().try_fold(ours, Mcp::with_tool)?;
        Ok(App::of(mcp, config, metrics, Shutdown::new()))
    }

    fn of(mcp: Mcp, config: ServerConfig, metrics: Arc<Metrics>, shutdown: Shutdown) -> App {
        let streams = SubscriptionsConfig {
            streams_max: config.streams_max,
            watched_bytes_max: WATCHED_BYTES_MAX,
            keep_alive: config.stream_keep_alive,
        };
        let engine = Arc::clone(mcp.engine());
        let subscriptions = Arc::new(Subscriptions::new(engine, streams, Arc::clone(&metrics)));
        App { metrics, shutdown, config, mcp: Arc::new(mcp), subscriptions }
    }

    /// The engine behind it, to put resources in while it serves.
    pub fn engine(&self) -> &Arc<Engine> {
        self.mcp.engine()
    }

    /// Serves these prompts beside the stored ones, in place of those that were declared before, and tells whoever
    /// listens.
    pub fn declare_prompts(&self, prompts: impl IntoIterator<Item = Arc<Prompt>>) {
        self.prompt_declarer()(prompts.into_iter().collect());
    }

    /// Does what [`App::declare_prompts`] does, from a task of its own.
    pub fn prompt_declarer(&self) -> impl Fn(Vec<Arc<Prompt>>) + Send + 'static {
        let (mcp, subscriptions) = (Arc::clone(&self.mcp), Arc::clone(&self.subscriptions));
        move |prompts| {
            if mcp.prompts().declares(&prompts) {
                return;
            }
            for name in mcp.prompts().declare(prompts) {
                tracing::warn!("the stored prompt `{name}` is hidden: one of its name is declared");
            }
            subscriptions.declared_prompts_changed();
        }
    }

    /// Gives latches; until each of them is dropped, replies about spaces say that they are stale at once.
    pub fn unsettled(&self) -> impl Fn() -> Latch + Send + 'static {
        let mcp = Arc::clone(&self.mcp);
        move || mcp.unsettled()
    }

    /// Serves Streamable HTTP until the shutdown begins; open connections are drained by [`App::drain`].
    pub async fn serve_http(&self, listener: TcpListener) {
        let config = &self.config;
        let sessions =
            SessionsConfig { sessions_max: config.sessions_max, idle_timeout: config.session_idle };
        let key = SessionKey::new(self.mcp.engine().derived_secret(SessionKey::PURPOSE));
        let sessions = Arc::new(Sessions::new(
            sessions,
            key,
            Arc::clone(&self.subscriptions),
            Arc::clone(self.mcp.access()),
            Arc::clone(&self.metrics),
        ));
        self.subscriptions.start(&self.shutdown);
        let server = HttpServer {
            config: HttpConfig {
                allowed_hosts: config.allowed_hosts.clone(),
                metrics_hosts: config.metrics_hosts.clone(),
                trusted_proxies: config.trusted_proxies.clone(),
                body_bytes_max: bytes(config.body_bytes_max),
                connections_max: config.connections_max,
                streams_per_connection_max: STREAMS_PER_CONNECTION_MAX,
                head_timeout: HEAD_TIMEOUT,
                idle_timeout: IDLE_TIMEOUT,
                request_timeout: config.request_timeout,
                body_timeout: BODY_TIMEOUT,
                write_timeout: WRITE_TIMEOUT,
            },
            pool: self.pool(),
            sessions,
            subscriptions: Arc::clone(&self.subscriptions),
            admission: Admission::new(config.concurrent_requests_max, Arc::clone(&self.metrics)),
            arrivals: Arrivals::new(BODIES_ARRIVING_MAX, ARRIVED_BYTES_MAX, &self.metrics),
            unsent_replies: UnsentReplies::new(UNSENT_REPLY_BYTES_MAX, &self.metrics),
            refused_hosts: RefusedHosts::default(),
            metrics: Arc::clone(&self.metrics),
            shutdown: self.shutdown.clone(),
        };
        http::serve(listener, Arc::new(server)).await;
    }

    /// Serves the admin plane to whom it is for, until the shutdown begins.
    pub fn serve_admin(&self, listener: TcpListener, callers: Callers) {
        let (engine, prompts) = (Arc::clone(self.mcp.engine()), Arc::clone(self.mcp.prompts()));
        let plane = admin::serve_apart(listener, engine, prompts, callers, self.shutdown.clone());
        self.shutdown.tasks().spawn(async move {
            if let Err(error) = plane.await {
                tracing::error!("the admin plane has ended: {error}");
            }
        });
    }

    /// Serves the one client on stdin and stdout until its input ends or the shutdown begins.
    ///
    /// # Errors
    /// What broke the input or the output.
    pub async fn serve_stdio(&self) -> io::Result<()> {
        self.serve_lines(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// The same for a client on any other pair of streams, which is the process's own client.
    ///
    /// # Errors
    /// What broke the input or the output.
    pub async fn serve_lines<R, W>(&self, reader: R, writer: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        self.subscriptions.start(&self.shutdown);
        let session = self.session(self.pool(), UNSENT_REPLY_BYTES_MAX);
        session.serve(reader, writer).await
    }

    /// Shares the store with the processes that come to `socket`, each a client as one on stdin is, until the shutdown
    /// begins. `hello` is what they are told first.
    pub fn share(&self, socket: Socket, hello: Hello) {
        let session = self.session(self.pool(), FOLLOWER_UNSENT_REPLY_BYTES_MAX);
        let serve = move |reader, writer| session.clone().serve(reader, writer);
        let engine = Arc::clone(self.mcp.engine());
        let own = move || Hello { newest: Some(engine.log_range().newest), ..hello.clone() };
        let metrics = Arc::clone(&self.metrics);
        let welcome = sharing::welcome(socket, own, serve, metrics, self.shutdown.clone());
        self.shutdown.tasks().spawn(welcome);
    }

    fn session(&self, pool: Arc<EnginePool>, unsent_reply_bytes_max: usize) -> Session {
        let config = StdioConfig {
            line_bytes_max: bytes(self.config.body_bytes_max),
            requests_in_flight_max: STDIO_REQUESTS_MAX,
            request_timeout: self.config.request_timeout,
            unsent_reply_bytes_max,
            drain_timeout: DRAIN_DEADLINE,
        };
        Session {
            pool,
            subscriptions: Arc::clone(&self.subscriptions),
            metrics: Arc::clone(&self.metrics),
            config,
            shutdown: self.shutdown.clone(),
        }
    }

    /// Ends everything in order; says how that went.
    pub async fn drain(&self) -> Drained {
        // While requests are answered, the full-text index ends what it reads, and checks of the store end.
        self.mcp.engine().begin_closing();
        self.shutdown.drain(DRAIN_DEADLINE).await
    }

    fn pool(&self) -> Arc<EnginePool> {
        let bounds = EnginePoolConfig { threads_max: POOL_THREADS, queue_max: POOL_QUEUE_MAX };
        Arc::new(EnginePool::new(Arc::clone(&self.mcp), &bounds, Arc::clone(&self.metrics)))
    }
}

fn mcp(
    engine: Arc<Engine>,
    config: &ServerConfig,
    full_text: &FullTextConfig,
    metrics: &Arc<Metrics>,
) -> Mcp {
    let bounds = McpConfig {
        contents_bytes_max: bytes(config.reply_bytes_max),
        page_items_max: config.page_items_max,
        page_bytes_max: PAGE_BYTES_MAX,
        batch_messages_max: BATCH_MESSAGES_MAX,
        tool_calls_per_second: config.tool_calls_per_second,
        completions_per_second: config.completions_per_second,
        search_time_max: full_text.time_max,
        tool_results: config.tool_results,
    };
    Mcp::new(engine, bounds, Access::anonymous(), Arc::clone(metrics))
}

/// What a client of lines needs.
#[derive(Clone)]
struct Session {
    pool: Arc<EnginePool>,
    subscriptions: Arc<Subscriptions>,
    metrics: Arc<Metrics>,
    config: StdioConfig,
    shutdown: Shutdown,
}

// === impl Session ===

impl Session {
    async fn serve<R, W>(self, reader: R, writer: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let Self { pool, subscriptions, metrics, config, shutdown } = self;
        stdio::serve(reader, writer, pool, subscriptions, metrics, config, shutdown).await
    }
}

/// Sizes of the configuration fit the address space, or mean "no bound" there.
fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
