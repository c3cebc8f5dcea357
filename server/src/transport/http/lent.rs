//! A connection's stream that can be taken back from the HTTP library.
//!
//! A stream of notifications over HTTP/1.1 keeps its connection to the end. What the library holds for requests that will
//! not come (buffers, parser, timers: some 10 KB) would be most of what an idle stream costs, so the connection is taken
//! from it once the request is read, and [`super::event_stream`] writes what is left to write.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The stream as the HTTP library has it.
pub(super) struct Lent<S>(Arc<Mutex<Option<S>>>);

/// The way to get it back.
pub(super) struct Lender<S>(Arc<Mutex<Option<S>>>);

/// Lends a stream.
pub(super) fn lend<S>(stream: S) -> (Lent<S>, Lender<S>) {
    let shared = Arc::new(Mutex::new(Some(stream)));
    (Lent(Arc::clone(&shared)), Lender(shared))
}

impl<S> Lender<S> {
    /// The stream; from now on it does nothing in the hands of whom it was lent to.
    pub(super) fn take_back(self) -> Option<S> {
        self.0.lock().take()
    }
}

impl<S: Unpin> Lent<S> {
    fn with<T>(&self, act: impl FnOnce(Pin<&mut S>) -> Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match &mut *self.0.lock() {
            Some(stream) => act(Pin::new(stream)),
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lent<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_read(context, buffer))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lent<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.0.lock().as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(context))
    }
}
