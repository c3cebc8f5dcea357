//! The body of a response, which owns what its request holds until the last byte is written.
//!
//! hyper drops a body as soon as it has its bytes, which may be long before the client takes them.
//! So it is the bytes that own the permits: they live as long as a piece of them is unwritten.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::{
    activity::RequestActivity,
    events::{Events, Next},
};
use crate::limits::{Admitted, UnsentReply};

/// A reply that is made and not yet on its way.
#[derive(Default)]
pub(super) struct Reply {
    pub(super) bytes: Vec<u8>,
    /// Given back when the reply is written.
    pub(super) admitted: Option<Admitted>,
    /// Given back when the reply is written.
    pub(super) reserved: Option<UnsentReply>,
    /// In place of the bytes.
    pub(super) events: Option<Events>,
}

/// A reply on its way.
pub(super) enum ReplyBody {
    /// Piece by piece.
    Whole { rest: Bytes, activity: Arc<RequestActivity> },
    /// As it comes. Its client must take what there is within the time for any reply, and may wait for more.
    Events { events: Box<Events>, activity: RequestActivity },
}

/// What is handed to the connection at a time: taking the next piece shows that the client reads.
const PIECE_BYTES: usize = 64 * 1024;

/// The bytes and what they hold.
struct Owned {
    bytes: Vec<u8>,
    _admitted: Option<Admitted>,
    _reserved: Option<UnsentReply>,
    _activity: Arc<RequestActivity>,
}

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

// === impl Reply ===

impl Reply {
    /// Sends it: from now on the client has to take it.
    pub(super) fn into_body(self, activity: RequestActivity) -> ReplyBody {
        if let Some(events) = self.events {
            return ReplyBody::Events { events: Box::new(events), activity };
        }
        let activity = Arc::new(activity);
        if self.bytes.is_empty() {
            return ReplyBody::Whole { rest: Bytes::new(), activity };
        }
        activity.progressed();
        let owned = Owned {
            bytes: self.bytes,
            _admitted: self.admitted,
            _reserved: self.reserved,
            _activity: Arc::clone(&activity),
        };
        ReplyBody::Whole { rest: Bytes::from_owner(owned), activity }
    }
}

impl From<Vec<u8>> for Reply {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }
}

// === impl ReplyBody ===

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            ReplyBody::Whole { rest, .. } if rest.is_empty() => Poll::Ready(None),
            ReplyBody::Whole { rest, activity } => {
                activity.progressed();
                let piece_bytes = rest.len().min(PIECE_BYTES);
                let piece = rest.split_to(piece_bytes);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            ReplyBody::Events { events, activity } => {
                // Asked only when the stream has room: its client has taken what was there.
                activity.caught_up();
                events.poll_next(context).map(|next| {
                    let bytes = match next? {
                        Next::Events(bytes, batch) => {
                            if let Some(batch) = batch {
                                events.delivered(&batch);
                            }
                            bytes
                        }
                        Next::Last(bytes) => bytes,
                    };
                    activity.progressed();
                    Some(Ok(Frame::data(bytes.into())))
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ReplyBody::Whole { rest, .. } if rest.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Whole { rest, .. } => SizeHint::with_exact(rest.len() as u64),
            ReplyBody::Events { .. } => SizeHint::default(),
        }
    }
}
