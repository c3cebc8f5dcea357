//! Streamable HTTP, with health and metrics beside it.
//!
//! A request passes, in this order:
//!
//! 1. `listener`: a bounded number of connections, and of each address; a deadline for heads; idle ones are closed.
//! 2. `origin`: Host and Origin. Before everything else, so that a web page that has no business
//!    here learns nothing, not even which paths exist. `/healthz` and `/readyz` are in front of
//!    it: probes ask by address. Under a name that is not allowed they say no more than their status.
//! 3. `routes`: the path and the HTTP method.
//! 4. `content`: Content-Type and Accept, which need no body.
//! 5. `body`: the bounded body. One that is not there with its head waits in a place of its own, for
//!    a while of its own, so that half-sent bodies keep nobody else away.
//! 6. [`crate::limits`]: admission, which is held until the reply is written.
//! 7. the request's deadline, which covers reading the body, waiting for the pool, and the work.
//! 8. `post`: the session that the request names, then [`crate::mcp::Mcp::receive`] at once on
//!    this task; only what needs the disk goes through [`crate::engine_pool`].
//! 9. the budget of reply bytes: what is large and not taken yet, over all connections.
//! 10. metrics for whatever came out, and the response, whose bytes own what the request holds.
//!     A client that takes nothing of it for a while loses its connection.
//!
//! The reply to a `subscriptions/listen` or a `GET` has no end. Over HTTP/1 `event_stream` takes the connection over from
//! the HTTP library (see `lent`); over HTTP/2 `reply_body` hands out the same events.

mod activity;
mod body;
mod call_events;
mod content;
mod cors;
mod event_stream;
mod events;
mod get;
mod lent;
mod listener;
mod origin;
mod post;
mod reply_body;
mod responses;
mod routes;

use std::{sync::Arc, time::Duration};

pub use body::Arrivals;
pub use listener::{serve, serve_connection};
pub use origin::RefusedHosts;

use crate::{
    client_address::Network,
    engine_pool::EnginePool,
    limits::{Admission, UnsentReplies},
    metrics::Metrics,
    sessions::Sessions,
    shutdown::Shutdown,
    subscriptions::Subscriptions,
};

/// Bounds and manners of the HTTP front.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Host names that Host and Origin may have besides loopback ones; any port.
    pub allowed_hosts: Vec<String>,
    /// Host names that requests for the metrics may name besides those.
    pub metrics_hosts: Vec<String>,
    /// Proxies that tell where requests come from.
    pub trusted_proxies: Vec<Network>,
    /// The most bytes of a request's body.
    pub body_bytes_max: usize,
    /// The most connections at a time; more wait in the system's queue.
    pub connections_max: usize,
    /// The most streams of an HTTP/2 connection at a time.
    pub streams_per_connection_max: u32,
    /// How long a request's head may take to arrive, from the connection's start or the reply
    /// before it on: also how long an HTTP/1.1 connection is kept for another request.
    pub head_timeout: Duration,
    /// How long a connection of any version may do nothing.
    pub idle_timeout: Duration,
    /// How long a request may take from its head to its reply.
    pub request_timeout: Duration,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// How long a client may take nothing of a reply; its connection is cut before twice as long.
    pub write_timeout: Duration,
}

/// Everything that answers HTTP requests; shared by all connections.
pub struct HttpServer {
    /// Bounds and manners.
    pub config: HttpConfig,
    /// The protocol and the pool for what needs the disk.
    pub pool: Arc<EnginePool>,
    /// Sessions of the legacy revisions.
    pub sessions: Arc<Sessions>,
    /// Streams of notifications.
    pub subscriptions: Arc<Subscriptions>,
    /// How many requests are answered at a time.
    pub admission: Admission,
    /// Places for bodies that are not there with their heads.
    pub arrivals: Arrivals,
    /// Bytes of replies that are not written yet, over all connections.
    pub unsent_replies: UnsentReplies,
    /// Hosts whose refusal was logged.
    pub refused_hosts: RefusedHosts,
    /// What `/metrics` says.
    pub metrics: Arc<Metrics>,
    /// The process's end.
    pub shutdown: Shutdown,
}
