//! Batches of revision 2025-03-26: many messages in a body, within the bounds of one.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    Answer, Mcp, Method, Step,
    dispatch::{malformed_answer, served},
    handlers::Context,
    protocol::{Params, Revision},
};
use crate::{
    call_rates::Caller,
    error::{Code, Fault},
    json_rpc::{self, Message},
    subscriptions::Subscription,
};

/// What the messages of a batch have in common.
#[derive(Clone, Copy)]
pub(super) struct BatchContext<'a> {
    pub(super) revision: Revision,
    pub(super) caller: Caller,
    pub(super) subscription: Option<&'a Arc<Subscription>>,
    /// No message is begun after it.
    pub(super) deadline: Instant,
}

// === impl Mcp ===

impl Mcp {
    /// Answers the messages one after another until the reply is full or the time is over; every
    /// request has an answer all the same.
    pub(super) fn batch(&self, text: &str, context: BatchContext<'_>) -> Answer {
        let elements = match json_rpc::parse_batch(text, self.config.batch_messages_max) {
            Ok(elements) => elements,
            Err(malformed) => return malformed_answer(&malformed),
        };
        let mut replies = vec![b'['];
        let mut full = false;
        for element in elements {
            let Some(reply) = self.batch_element(element.get(), context, &replies, &mut full)
            else {
                continue;
            };
            if replies.len() > 1 {
                replies.push(b',');
            }
            replies.extend_from_slice(&reply);
        }
        if replies.len() == 1 {
            return Answer::accepted(Method::Batch);
        }
        replies.push(b']');
        Answer::reply(Method::Batch, replies)
    }

    /// The reply to a message of a batch; none to what wants none.
    fn batch_element(
        &self,
        text: &str,
        context: BatchContext<'_>,
        before: &[u8],
        full: &mut bool,
    ) -> Option<Vec<u8>> {
        let request = match json_rpc::parse_element(text) {
            Ok(Message::Request(request)) => request,
            Ok(Message::Notification { .. } | Message::Response) => return None,
            Err(malformed) => return malformed_answer(&malformed).body,
        };
        let refused = |fault: &Fault| Some(fault.reply(Some(request.id)));
        if *full {
            return refused(&reply_full());
        }
        if Instant::now() >= context.deadline {
            return refused(&Fault::timed_out());
        }
        let step = Params::read(request.params).and_then(|params| {
            if params.is_modern()? {
                return Err(Fault::invalid_request("a modern request must not be part of a batch"));
            }
            let method = served(&request.method, context.revision)?;
            if method == Method::Initialize {
                return Err(Fault::invalid_request("`initialize` must not be part of a batch"));
            }
            let request_id = self.next_request_id();
            let revision = context.revision;
            let subscription = context.subscription;
            let request = Context { mcp: self, id: request.id, revision, subscription, request_id };
            self.start(&request, method, &params, context.caller)
        });
        let reply = match step {
            Ok(Step::Answer(answer)) => answer.body,
            Ok(Step::Work(work)) => self.perform(work, context.deadline).body,
            Ok(Step::Call(call)) => {
                let left = context.deadline.saturating_duration_since(Instant::now());
                call.run_in_batch(left).body
            }
            // Modern requests were refused above.
            Ok(Step::Listen(_)) => None,
            Err(fault) => return refused(&fault),
        }?;
        // The first reply is bounded as any other is.
        if before.len() > 1 && before.len() + reply.len() > self.config.contents_bytes_max {
            *full = true;
            return refused(&reply_full());
        }
        Some(reply)
    }
}

/// What fits no more into a batch's reply.
fn reply_full() -> Fault {
    Fault::new(Code::Internal, "the reply to the batch is full; send this message by itself")
}
