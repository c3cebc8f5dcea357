//! Connections: accepted up to a bound, watched while they do nothing, drained at the end.

use std::{convert::Infallible, net::IpAddr, pin::pin, sync::Arc, task::Poll};

use hyper::{Request, Response, Version, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

use super::{
    HttpServer,
    activity::{Activity, RequestActivity, idle, stalled},
    event_stream::{EventStream, Takeover},
    lent::lend,
    reply_body::ReplyBody,
    routes,
};
use crate::{
    call_rates::Caller,
    client_address::{behind, is_in},
    limits::{Share, Shares},
    metrics::Metrics,
    transport::accept::Acceptor,
};

/// The most bytes of a request's head.
const HEAD_BYTES_MAX: u32 = 64 * 1024;

/// Serves connections until the shutdown begins, and sweeps the sessions meanwhile; open
/// connections are tasks of the shutdown, which waits for them.
pub async fn serve(listener: TcpListener, server: Arc<HttpServer>) {
    let places =
        Arc::new(Semaphore::new(server.config.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    let shares = Shares::of(server.config.connections_max, server.metrics.shares_used_up.clone());
    let builder = Arc::new(connection_builder(&server));
    let mut acceptor = Acceptor::new(listener);
    let (sessions, shutdown) = (Arc::clone(&server.sessions), server.shutdown.clone());
    server.shutdown.tasks().spawn(async move { sessions.sweep(shutdown).await });
    loop {
        let accepted = tokio::select! {
            () = server.shutdown.begun() => return,
            accepted = accept(&mut acceptor, &places) => accepted,
        };
        // Nothing closes the places.
        let Some((stream, peer, place)) = accepted else { return };
        let peer = Peer::new(peer, &server);
        // All clients of a trusted proxy come from its address: their shares are those of their own addresses.
        let share = match peer.proxy {
            Some(_) => None,
            None => match shares.take(peer.caller, 1) {
                Some(share) => Some(share),
                None => {
                    tracing::debug!("a connection is closed: its address has its share of them");
                    continue;
                }
            },
        };
        let (server, builder) = (Arc::clone(&server), Arc::clone(&builder));
        let open = OpenConnection::new(place, share, &server);
        let tasks = server.shutdown.tasks().clone();
        tasks.clone().spawn(async move {
            if let Some(events) = connection(stream, peer, &server, &builder).await {
                // A task of its own: this one is as large as a connection that may get any request.
                tasks.spawn(async move {
                    let _open = open;
                    events.await;
                });
            }
        });
    }
}

/// A connection that counts as open until this is dropped.
struct OpenConnection {
    _place: OwnedSemaphorePermit,
    _share: Option<Share>,
    metrics: Arc<Metrics>,
}

impl OpenConnection {
    fn new(place: OwnedSemaphorePermit, share: Option<Share>, server: &HttpServer) -> Self {
        server.metrics.connections.inc();
        Self { _place: place, _share: share, metrics: Arc::clone(&server.metrics) }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.metrics.connections.dec();
    }
}

/// A place comes before the connection: those without one wait in the system's queue.
async fn accept(
    acceptor: &mut Acceptor,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    let (stream, peer) = acceptor.accept().await;
    Some((stream, peer.ip(), place))
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy)]
struct Peer {
    caller: Caller,
    /// Its address, where it is a trusted proxy.
    proxy: Option<IpAddr>,
}

// === impl Peer ===

impl Peer {
    fn new(address: IpAddr, server: &HttpServer) -> Self {
        let proxy = is_in(address, &server.config.trusted_proxies).then_some(address);
        Self { caller: Caller::at(address), proxy }
    }

    /// Who sent a request.
    fn caller(&self, request: &Request<Incoming>, server: &HttpServer) -> Caller {
        match self.proxy {
            Some(proxy) => {
                Caller::at(behind(proxy, request.headers(), &server.config.trusted_proxies))
            }
            None => self.caller,
        }
    }
}

fn connection_builder(server: &HttpServer) -> auto::Builder<TokioExecutor> {
    let config = &server.config;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.head_timeout)
        // A client that has sent all it will send still reads its answer.
        .half_close(true)
        .max_buf_size(HEAD_BYTES_MAX as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(config.idle_timeout)
        .keep_alive_timeout(config.head_timeout)
        .max_concurrent_streams(config.streams_per_connection_max)
        .max_header_list_size(HEAD_BYTES_MAX);
    builder
}

/// Serves one connection until its client ends it, the shutdown begins, or nothing happens on it.
pub async fn serve_connection<S>(stream: S, caller: Caller, server: &Arc<HttpServer>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let builder = connection_builder(server);
    let peer = Peer { caller, proxy: None };
    if let Some(events) = connection(stream, peer, server, &builder).await {
        events.await;
    }
}

/// Serves requests; a connection that became a stream of events is handed back.
async fn connection<S>(
    stream: S,
    peer: Peer,
    server: &Arc<HttpServer>,
    builder: &auto::Builder<TokioExecutor>,
) -> Option<EventStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Arc::new(Activity::default());
    let takeover = Arc::new(Mutex::new(None));
    let service = service_fn(|request: Request<Incoming>| {
        let server = Arc::clone(server);
        let active = RequestActivity::begin(&activity);
        let takeover = Arc::clone(&takeover);
        let caller = peer.caller(&request, &server);
        async move { answer(&server, request, caller, active, &takeover).await }
    });
    let (lent, lender) = lend(stream);
    let mut connection = Box::pin(builder.serve_connection(TokioIo::new(lent), service));
    // HTTP/1 requests are answered by the connection's own task: it sees this when they have been polled.
    let mut taken_over = pin!(std::future::poll_fn(|_| match takeover.lock().take() {
        Some(takeover) => Poll::Ready(takeover),
        None => Poll::Pending,
    }));
    let mut stalled = pin!(stalled(&activity, server.config.write_timeout));
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => Ended::Closed(ended),
        takeover = taken_over.as_mut() => Ended::TakenOver(takeover),
        () = stalled.as_mut() => Ended::Closed(Ok(())),
        () = server.shutdown.begun() => Ended::Asked,
        () = idle(&activity, server.config.idle_timeout) => Ended::Asked,
    };
    let ended = match ended {
        Ended::Asked => {
            // What is being answered is still answered; a client that does not take its answer
            // loses it.
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                biased;
                ended = connection.as_mut() => Ended::Closed(ended),
                takeover = taken_over => Ended::TakenOver(takeover),
                () = stalled => Ended::Closed(Ok(())),
                () = idle(&activity, server.config.idle_timeout) => Ended::Closed(Ok(())),
            }
        }
        ended => ended,
    };
    drop(connection);
    match ended {
        Ended::TakenOver(takeover) => {
            let stream = lender.take_back()?;
            return Some(takeover.serve(stream, server.config.write_timeout));
        }
        Ended::Closed(Err(error)) => {
            tracing::debug!("a connection ended with an error: {error}");
        }
        Ended::Closed(Ok(())) | Ended::Asked => {}
    }
    None
}

/// Answers one request. A stream of events over HTTP/1 is left in `takeover`, and then there is no answer: as far as the
/// HTTP library goes, the connection ends here.
async fn answer(
    server: &HttpServer,
    request: Request<Incoming>,
    caller: Caller,
    active: RequestActivity,
    takeover: &Mutex<Option<Takeover>>,
) -> Result<Response<ReplyBody>, Infallible> {
    let version = request.version();
    let mut response = routes::respond(server, request, caller).await;
    if version <= Version::HTTP_11
        && let Some(events) = response.body_mut().events.take()
    {
        *takeover.lock() = Some(Takeover::new(version, response.headers(), events));
        return std::future::pending().await;
    }
    Ok(response.map(|reply| reply.into_body(active)))
}

/// Why a connection is no longer served as one of requests.
enum Ended<E> {
    Closed(Result<(), E>),
    /// Nothing happens on it, or the process ends.
    Asked,
    /// It became a stream of events.
    TakenOver(Takeover),
}
