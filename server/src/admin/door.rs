//! Connections to the plane: a bounded number, and each has a while to make its first call that is let in. So whoever has
//! no token, or says nothing, keeps no place.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tokio_stream::Stream;
use tonic::transport::server::Connected;

use crate::transport::accept::Acceptor;

/// Connections at a time; more wait in the system's queue.
const CONNECTIONS_MAX: usize = 256;
/// Silent connections must not take the descriptors that hosts and the store need: the plane gets at most this part of them.
const DESCRIPTORS_PART: u64 = 8;
/// From the connection's start to its first call that is let in.
const FIRST_CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a call of the connection was let in; found among the extensions of each of its requests.
#[derive(Clone, Default)]
pub(super) struct LetIn(Arc<AtomicBool>);

/// A connection that ends when no call of it is let in for too long.
pub(super) struct Connection<S> {
    stream: S,
    let_in: LetIn,
    /// Gone once a call was let in.
    timeout: Option<Pin<Box<Sleep>>>,
    _place: Option<OwnedSemaphorePermit>,
}

/// The connections of a listener, as they come.
pub(super) fn connections(
    listener: TcpListener,
) -> impl Stream<Item = io::Result<Connection<TcpStream>>> {
    let places = Arc::new(Semaphore::new(places(getrlimit(Resource::Nofile).current)));
    futures_util::stream::unfold(Acceptor::new(listener), move |mut acceptor| {
        let places = Arc::clone(&places);
        async move {
            // The semaphore is never closed.
            let place = places.acquire_owned().await.ok()?;
            let (stream, _) = acceptor.accept().await;
            Some((Ok(Connection::new(stream, Some(place))), acceptor))
        }
    })
}

/// Connections at a time in a process that may open so many files; `None` is without limit.
fn places(descriptors: Option<u64>) -> usize {
    let part = descriptors.map_or(u64::MAX, |descriptors| descriptors / DESCRIPTORS_PART);
    usize::try_from(part).unwrap_or(usize::MAX).clamp(1, CONNECTIONS_MAX)
}

// === impl LetIn ===

impl LetIn {
    /// A call was let in.
    pub(super) fn call(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

// === impl Connection ===

impl<S> Connection<S> {
    fn new(stream: S, place: Option<OwnedSemaphorePermit>) -> Self {
        let timeout = Some(Box::pin(tokio::time::sleep(FIRST_CALL_TIMEOUT)));
        Self { stream, let_in: LetIn::default(), timeout, _place: place }
    }

    /// Ready when the time for a first call is over.
    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.let_in.0.load(Ordering::Relaxed) {
            self.timeout = None;
        }
        match &mut self.timeout {
            Some(timeout) => timeout.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.poll_timeout(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S> Connected for Connection<S> {
    type ConnectInfo = LetIn;

    fn connect_info(&self) -> LetIn {
        self.let_in.clone()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::Instant;

    use super::*;

    #[test]
    fn few_descriptors_leave_few_places() {
        let cases =
            [(None, 256), (Some(1 << 20), 256), (Some(1_024), 128), (Some(256), 32), (Some(4), 1)];
        for (descriptors, wanted) in cases {
            assert_eq!(places(descriptors), wanted, "{descriptors:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_call_that_is_let_in_ends() {
        for said in [&b""[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
            let (mut client, served) = tokio::io::duplex(1024);
            let (mut connection, begun) = (Connection::new(served, None), Instant::now());
            client.write_all(said).await.unwrap();
            let mut read = Vec::new();
            let error = connection.read_to_end(&mut read).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert_eq!((read.as_slice(), begun.elapsed()), (said, FIRST_CALL_TIMEOUT));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_call_was_let_in_stays() {
        let (mut client, served) = tokio::io::duplex(1024);
        let mut connection = Connection::new(served, None);
        connection.connect_info().call();
        tokio::time::advance(FIRST_CALL_TIMEOUT * 100).await;
        client.write_all(b"x").await.unwrap();
        assert_eq!(connection.read_u8().await.unwrap(), b'x');
    }
}
