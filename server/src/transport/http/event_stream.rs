//! A stream of events on an HTTP/1 connection that was taken from the HTTP library: a few hundred bytes while it is idle.
//!
//! One future does everything, without a timer of its own unless its client takes nothing. The connection ends with the
//! stream, so that whatever else the client sends on it is never answered.

use std::{
    fmt::Write as _,
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::{HeaderMap, Version};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

use super::events::{Events, Next};
use crate::subscriptions::Batch;

/// A response whose body is events, about to be written by hand.
pub(super) struct Takeover {
    /// Status line and headers.
    head: Vec<u8>,
    events: Events,
    /// HTTP/1.0 knows no chunks: there the body goes to the end of the connection.
    chunked: bool,
}

/// The rest of the connection's life.
pub(super) struct EventStream<S> {
    stream: S,
    events: Events,
    chunked: bool,
    unsent: Vec<u8>,
    sent: usize,
    /// The notifications in `unsent`.
    batch: Option<Batch>,
    ending: bool,
    ignored_bytes: usize,
    write_timeout: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

/// A client that sends more than this behind its request is cut off: nobody reads it.
const IGNORED_BYTES_MAX: usize = 64 * 1024;
const READ_BYTES: usize = 256;

// === impl Takeover ===

impl Takeover {
    pub(super) fn new(version: Version, headers: &HeaderMap, events: Events) -> Self {
        let chunked = version >= Version::HTTP_11;
        let mut head = String::from("HTTP/1.1 200 OK\r\nconnection: close\r\n");
        if chunked {
            head.push_str("transfer-encoding: chunked\r\n");
        }
        let date = jiff::fmt::rfc2822::DateTimePrinter::new()
            .timestamp_to_rfc9110_string(&jiff::Timestamp::now());
        if let Ok(date) = date {
            let _ = write!(head, "date: {date}\r\n");
        }
        let mut head = head.into_bytes();
        for (name, value) in headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        Self { head, events, chunked }
    }

    /// Goes on with the connection.
    pub(super) fn serve<S>(self, stream: S, write_timeout: Duration) -> EventStream<S> {
        EventStream {
            stream,
            events: self.events,
            chunked: self.chunked,
            unsent: self.head,
            sent: 0,
            batch: None,
            ending: false,
            ignored_bytes: 0,
            write_timeout,
            stalled: None,
        }
    }
}

// === impl EventStream ===

impl<S: AsyncRead + AsyncWrite + Unpin> EventStream<S> {
    /// Writes and takes until there is nothing to write; ready when the stream has ended.
    fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_write(context))?;
            if self.ending {
                return Pin::new(&mut self.stream).poll_shutdown(context);
            }
            match ready!(self.events.poll_next(context)) {
                Some(Next::Events(bytes, batch)) => {
                    self.batch = batch;
                    self.frame(&bytes);
                }
                Some(Next::Last(bytes)) => {
                    self.frame(&bytes);
                    if self.chunked {
                        self.unsent.extend_from_slice(b"0\r\n\r\n");
                    }
                    self.ending = true;
                }
                None => self.ending = true,
            }
        }
    }

    fn frame(&mut self, bytes: &[u8]) {
        if !self.chunked {
            return self.unsent.extend_from_slice(bytes);
        }
        // A chunk of no bytes would be the end.
        if !bytes.is_empty() {
            self.unsent.reserve(bytes.len() + 24);
            self.unsent.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
            self.unsent.extend_from_slice(bytes);
            self.unsent.extend_from_slice(b"\r\n");
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.unsent.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.stream).poll_write(context, rest) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => {
                    self.sent += count;
                    self.stalled = None;
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    let timeout = self.write_timeout;
                    let stalled =
                        self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
                    ready!(stalled.as_mut().poll(context));
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
        }
        // An idle stream keeps no buffer.
        self.unsent = Vec::new();
        self.sent = 0;
        if let Some(batch) = self.batch.take() {
            self.events.delivered(&batch);
        }
        Poll::Ready(Ok(()))
    }

    /// Ready when the client has closed the connection, or its half of it: that cancels the listen.
    fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut bytes = [0; READ_BYTES];
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            self.ignored_bytes += buffer.filled().len();
            let open = read.is_ok() && !buffer.filled().is_empty();
            if !open || self.ignored_bytes > IGNORED_BYTES_MAX {
                return Poll::Ready(());
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Future for EventStream<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.poll_closed(context).is_ready() {
            return Poll::Ready(());
        }
        self.poll_events(context).map(|ended| {
            if let Err(error) = ended {
                tracing::debug!("a stream of notifications ended with an error: {error}");
            }
        })
    }
}
