//! Connections: accepted up to a bound, watched while they do nothing, drained at the end.

use std::{convert::Infallible, io, pin::pin, sync::Arc, time::Duration};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::{
    HttpServer,
    activity::{Activity, RequestActivity, idle, stalled},
    routes,
};
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
    connection(stream, caller, server, &connection_builder(server)).await;
}

async fn connection<S>(
    stream: S,
    caller: Caller,
    server: &Arc<HttpServer>,
    builder: &auto::Builder<TokioExecutor>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Arc::new(Activity::default());
    let service = service_fn(|request| {
        let server = Arc::clone(server);
        let active = RequestActivity::begin(&activity);
        async move {
            let response = routes::respond(&server, request, caller).await;
            Ok::<_, Infallible>(response.map(|reply| reply.into_body(active)))
        }
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut stalled = pin!(stalled(&activity, server.config.write_timeout));
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stalled.as_mut() => Some(Ok(())),
        () = server.shutdown.begun() => None,
        () = idle(&activity, server.config.idle_timeout) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            // What is being answered is still answered; a client that does not take its answer
            // loses it.
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = stalled => Ok(()),
                () = idle(&activity, server.config.idle_timeout) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended with an error: {error}");
    }
}
