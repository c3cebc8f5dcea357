//! Connections: accepted up to a bound, watched while they do nothing, drained at the end.

use std::{
    convert::Infallible,
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::{HttpServer, routes};
use crate::call_rates::Caller;

/// A pause after an accept that failed, which it does while the process has no file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The most bytes of a request's head.
const HEAD_BYTES_MAX: u32 = 64 * 1024;

/// Serves connections until the shutdown begins, and sweeps the sessions meanwhile; open
/// connections are tasks of the shutdown, which waits for them.
pub async fn serve(listener: TcpListener, server: Arc<HttpServer>) {
    let places =
        Arc::new(Semaphore::new(server.config.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    let builder = Arc::new(connection_builder(&server));
    let (sessions, shutdown) = (Arc::clone(&server.sessions), server.shutdown.clone());
    server.shutdown.tasks().spawn(async move { sessions.sweep(shutdown).await });
    loop {
        let accepted = tokio::select! {
            () = server.shutdown.begun() => return,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, caller, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a connection was not accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (server, builder) = (Arc::clone(&server), Arc::clone(&builder));
        let tasks = server.shutdown.tasks().clone();
        tasks.spawn(async move {
            let _place = place;
            server.metrics.connections.inc();
            connection(stream, caller, &server, &builder).await;
            server.metrics.connections.dec();
        });
    }
}

/// A place comes before the connection: those without one wait in the system's queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, Caller, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, Caller::at(peer.ip()), place))
}

fn connection_builder(server: &HttpServer) -> auto::Builder<TokioExecutor> {
    let config = &server.config;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.head_timeout)
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

/// What a connection's requests have been doing.
#[derive(Default)]
struct Activity {
    begun: AtomicU64,
    in_flight: AtomicUsize,
}

async fn connection(
    stream: TcpStream,
    caller: Caller,
    server: &Arc<HttpServer>,
    builder: &auto::Builder<TokioExecutor>,
) {
    let activity = Arc::new(Activity::default());
    let service = service_fn(|request| {
        let server = Arc::clone(server);
        let request_activity = RequestActivity::begin(&activity);
        async move {
            let _active = request_activity;
            Ok::<_, Infallible>(routes::respond(&server, request, caller).await)
        }
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut idle = pin!(idle(&activity, server.config.idle_timeout));
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = server.shutdown.begun() => None,
        () = idle.as_mut() => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            // What is being answered is still answered; a client that does not take its answer
            // within another idle time loses it.
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = self::idle(&activity, server.config.idle_timeout) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended with an error: {error}");
    }
}

/// Ends when no request has begun or been in flight for `timeout`. Covers what the head's timeout
/// does not: a client that opens a connection and says nothing, or less than a protocol's name.
async fn idle(activity: &Activity, timeout: Duration) {
    let mut seen = activity.begun.load(Ordering::Relaxed);
    loop {
        tokio::time::sleep(timeout).await;
        let begun = activity.begun.load(Ordering::Relaxed);
        if begun == seen && activity.in_flight.load(Ordering::Relaxed) == 0 {
            return;
        }
        seen = begun;
    }
}

/// Counts a request of a connection while it is answered.
struct RequestActivity(Arc<Activity>);

impl RequestActivity {
    fn begin(activity: &Arc<Activity>) -> Self {
        activity.begun.fetch_add(1, Ordering::Relaxed);
        activity.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for RequestActivity {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
