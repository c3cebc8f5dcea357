//! Messages as server-sent events (WHATWG HTML, section 9.2), whoever writes them to the connection: the notifications of a
//! listen or a session, or what a call of a tool tells before its reply.

use std::task::{Context, Poll};

use super::call_events::CallEvents;
use crate::{
    limits::Admitted,
    mcp::protocol::{Revision, notifications},
    subscriptions::{Batch, NotificationStream, Taken},
};

/// A comment line, which every reader of events passes over.
pub(super) const KEEP_ALIVE: &[u8] = b":\n\n";

/// The events of one response.
pub(super) enum Events {
    /// What a client watches.
    Watched(Watched),
    /// A call of a tool.
    Call(Box<CallEvents>),
}

/// The events of one stream of notifications.
pub(super) struct Watched {
    stream: NotificationStream,
    numbering: Numbering,
    state: State,
}

/// Whether events have ids, by which a stream that broke is taken up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbering {
    /// 2026-07-28: streams are not resumable.
    None,
    /// The revisions with sessions: no two events of a session have the same id.
    OfSession,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Opening,
    Open,
    Ended,
}

/// What comes next on the connection.
pub(super) enum Next {
    /// Bytes, with the notifications that they carry.
    Events(Vec<u8>, Option<Batch>),
    /// The last bytes, which may be none; nothing comes after them.
    Last(Vec<u8>),
}

// === impl Events ===

impl Events {
    /// The events of a `subscriptions/listen`.
    pub(super) fn of_listen(stream: NotificationStream) -> Self {
        Self::Watched(Watched { stream, numbering: Numbering::None, state: State::Opening })
    }

    /// The events of a session's stream.
    pub(super) fn of_session(stream: NotificationStream, revision: Revision) -> Self {
        // An event without data primes the client with an id; readers before that revision may take it for a message.
        let state = if revision >= Revision::V2025_11_25 { State::Opening } else { State::Open };
        Self::Watched(Watched { stream, numbering: Numbering::OfSession, state })
    }

    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Next>> {
        match self {
            Self::Watched(watched) => watched.poll_next(context),
            Self::Call(call) => call.poll_next(context),
        }
    }

    /// Counts a batch whose bytes are with the system.
    pub(super) fn delivered(&self, batch: &Batch) {
        if let Self::Watched(watched) = self {
            watched.stream.delivered(batch);
        }
    }

    /// A call holds its request's place to the end; streams of what is watched have bounds of their own.
    pub(super) fn hold(&mut self, admitted: Admitted) {
        if let Self::Call(call) = self {
            call.admitted = Some(admitted);
        }
    }
}

// === impl Watched ===

impl Watched {
    fn poll_next(&mut self, context: &Context<'_>) -> Poll<Option<Next>> {
        match self.state {
            State::Opening => {
                self.state = State::Open;
                return Poll::Ready(Some(Next::Events(self.opening(), None)));
            }
            State::Ended => return Poll::Ready(None),
            State::Open => {}
        }
        self.stream.poll_take(context).map(|taken| {
            Some(match taken {
                Taken::Batch(batch) => Next::Events(self.events(&batch), Some(batch)),
                Taken::KeepAlive => Next::Events(KEEP_ALIVE.to_vec(), None),
                Taken::Ended(_) => {
                    self.state = State::Ended;
                    Next::Last(self.closing())
                }
            })
        })
    }

    fn opening(&mut self) -> Vec<u8> {
        match self.numbering {
            Numbering::None => {
                let mut out = DATA.to_vec();
                self.stream.take_acknowledgement(&mut out);
                out.extend_from_slice(END);
                out
            }
            Numbering::OfSession => {
                format!("id: {}\ndata:\n\n", self.stream.number_opening()).into_bytes()
            }
        }
    }

    fn events(&self, batch: &Batch) -> Vec<u8> {
        let mut out = Vec::with_capacity(EVENT_BYTES * (batch.uris.len() + 1));
        self.stream.write(batch, |number, message| {
            if self.numbering != Numbering::None {
                out.extend_from_slice(format!("id: {number}\n").as_bytes());
            }
            out.extend_from_slice(DATA);
            message(&mut out);
            out.extend_from_slice(END);
        });
        out
    }

    /// A listen that ends in order ends with its result; a session's stream just ends.
    fn closing(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(id) = self.stream.listen_id() {
            out.extend_from_slice(DATA);
            notifications::listen_result(id, &mut out);
            out.extend_from_slice(END);
        }
        out
    }
}

/// A message as an event.
pub(super) fn event(message: &[u8]) -> Vec<u8> {
    [DATA, message, END].concat()
}

/// Messages hold no line ends: JSON escapes them.
const DATA: &[u8] = b"data: ";
const END: &[u8] = b"\n\n";
/// What a notification takes as a rule.
const EVENT_BYTES: usize = 256;
