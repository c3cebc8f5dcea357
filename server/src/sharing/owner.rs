//! The owner's side: takes followers in and serves each as a client of its own.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncWrite, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{Hello, Socket, hello::HELLO_TIMEOUT, place};
use crate::{metrics::Metrics, shutdown::Shutdown};

/// Windows that share a store with its owner at a time.
pub const FOLLOWERS_MAX: usize = 64;

/// How long no connection is taken after one could not be, for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Lines from a follower, behind its hello.
pub type FollowerReader = BufReader<OwnedReadHalf>;

/// Lines to a follower. Once the shutdown begins nothing is written any more: what would be said then, such as that a
/// listen ends, is not for a client that the next owner goes on serving.
pub struct FollowerWriter {
    half: OwnedWriteHalf,
    shutdown: Shutdown,
}

/// Takes followers in until the shutdown begins. `own` makes the owner's hello; `session` serves one of them.
pub async fn welcome<H, S, F>(
    socket: Socket,
    own: H,
    session: S,
    metrics: Arc<Metrics>,
    shutdown: Shutdown,
) where
    H: Fn() -> Hello,
    S: Fn(FollowerReader, FollowerWriter) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(FOLLOWERS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = socket.listener.accept() => accepted,
            () = shutdown.begun() => break,
        };
        match accepted {
            Ok((stream, _)) if !is_trusted(&stream) => {}
            Ok((stream, _)) => match Arc::clone(&places).try_acquire_owned() {
                Ok(place) => {
                    let (session, own, ends) = (session.clone(), own(), shutdown.clone());
                    let window = Window::new(place, &metrics);
                    shutdown.tasks().spawn(async move {
                        let _window = window;
                        tokio::select! {
                            () = take_in(stream, own, session, &ends) => {}
                            // The follower replays to the next owner what was not answered.
                            () = ends.begun() => {}
                        }
                    });
                }
                Err(_) => {
                    metrics.windows_refused.inc();
                    turn_away(&stream, own());
                }
            },
            Err(error) => {
                tracing::warn!("a window could not be taken in: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    socket.unbind();
}

/// One of those that may share the store at a time.
struct Window {
    _place: OwnedSemaphorePermit,
    metrics: Arc<Metrics>,
}

// === impl Window ===

impl Window {
    fn new(place: OwnedSemaphorePermit, metrics: &Arc<Metrics>) -> Self {
        metrics.windows.inc();
        Self { _place: place, metrics: Arc::clone(metrics) }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.metrics.windows.dec();
    }
}

fn is_trusted(stream: &UnixStream) -> bool {
    match stream.peer_cred() {
        Ok(peer) if place::is_own(peer.uid()) => true,
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), "a process of another user was turned away");
            false
        }
        Err(error) => {
            tracing::warn!("a process that does not say whose it is was turned away: {error}");
            false
        }
    }
}

/// Says that there is no room. It fits the buffer of a connection that is new.
fn turn_away(stream: &UnixStream, own: Hello) {
    let reason = format!("{FOLLOWERS_MAX} windows share the store already: close some");
    if let Ok(line) = (Hello { refused: Some(reason), ..own }).line() {
        let _ = stream.try_write(&line);
    }
}

async fn take_in<S, F>(stream: UnixStream, own: Hello, session: S, shutdown: &Shutdown)
where
    S: Fn(FollowerReader, FollowerWriter) -> F,
    F: Future<Output = io::Result<()>>,
{
    let (reader, half) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let mut writer = FollowerWriter { half, shutdown: shutdown.clone() };
    let hellos = async {
        let follower = Hello::read(&mut reader).await?;
        let refused = own.misfit(&follower);
        Hello { refused, ..own.clone() }.write(&mut writer).await?;
        io::Result::Ok(follower)
    };
    let follower = match timeout(HELLO_TIMEOUT, hellos).await {
        Ok(Ok(follower)) => follower,
        Ok(Err(error)) => {
            tracing::debug!("a process came without a hello: {error}");
            return;
        }
        Err(_) => {
            tracing::debug!("a process came and said nothing");
            return;
        }
    };
    if own.misfit(&follower).is_some() {
        tracing::warn!(
            pid = follower.pid,
            version = follower.version,
            "a window of another version was turned away"
        );
        return;
    }
    tracing::debug!(pid = follower.pid, version = follower.version, "a window shares the store");
    if let Err(error) = session(reader, writer).await {
        // A window that was killed leaves in this way.
        tracing::debug!(pid = follower.pid, "a window has gone: {error}");
    }
}

// === impl FollowerWriter ===

impl AsyncWrite for FollowerWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.shutdown.has_begun() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        Pin::new(&mut this.half).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().half).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().half).poll_shutdown(context)
    }
}
