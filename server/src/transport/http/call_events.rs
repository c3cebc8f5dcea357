//! A call of a tool: a plain reply when nothing comes before it, else a stream of events that ends with it.
//!
//! Only a call that tells something pays for a stream, and over HTTP/1 for a connection, which a stream takes to its end.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    content::Accepted,
    events::{Events, Next, event},
};
use crate::{
    error::{Code, Fault},
    limits::Admitted,
    mcp::{Answer, Method, RequestKey, protocol::Era},
    metrics::{Finished, Metrics, Transport},
    subscriptions::Subscription,
    tools::call::{ClientGone, RunningCall, Told, ToolCall},
};

/// The events of one call.
pub(super) struct CallEvents {
    running: RunningCall,
    /// What came first, before there was a stream.
    first: Option<Told>,
    ended: bool,
    started: Instant,
    metrics: Arc<Metrics>,
    /// Given back when the stream has ended.
    pub(super) admitted: Option<Admitted>,
}

/// What a call came to first.
pub(super) enum Called {
    /// The whole reply.
    Answer(Answer),
    /// There is something to tell before the reply.
    Events(Events),
}

/// Makes a call for a client that takes at least one of JSON and events; without events nothing is told before the reply.
pub(super) async fn call(
    call: ToolCall,
    client: Option<&Subscription>,
    accepted: Accepted,
    time_max: Duration,
    metrics: &Arc<Metrics>,
) -> Called {
    let started = Instant::now();
    let client_gone = match call.revision().era() {
        Era::Legacy => ClientGone::RunsOn,
        Era::Modern => ClientGone::Cancels,
    };
    let id = call.id().to_owned();
    let mut running = call.start(time_max, client_gone);
    if let (Some(client), Some(key)) = (client, RequestKey::of(&id)) {
        client.calls(key, running.abort_handle());
    }
    loop {
        let first = match running.next().await {
            Told::Notification(_) if !accepted.events => continue,
            Told::Answer(answer) if accepted.json => return Called::Answer(answer),
            Told::Cancelled if accepted.json => return Called::Answer(cancelled(&id)),
            told => Some(told),
        };
        let metrics = Arc::clone(metrics);
        let call = CallEvents { running, first, ended: false, started, metrics, admitted: None };
        return Called::Events(Events::Call(Box::new(call)));
    }
}

/// Something must be answered in a reply that is not a stream; its client ignores it.
fn cancelled(id: &str) -> Answer {
    let fault = Fault::new(Code::Internal, "the call was cancelled by its client");
    Answer::fault(Method::ToolsCall, Some(id), &fault)
}

// === impl CallEvents ===

impl CallEvents {
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Next>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let told = match self.first.take() {
            Some(told) => Poll::Ready(told),
            None => self.running.poll_next(context),
        };
        told.map(|told| {
            Some(match told {
                Told::Notification(message) => Next::Events(event(&message), None),
                Told::Answer(answer) => {
                    self.ended = true;
                    let body = answer.body.unwrap_or_default();
                    self.metrics.finished(&Finished {
                        method: answer.method,
                        transport: Transport::http,
                        code: answer.code,
                        duration: self.started.elapsed(),
                        reply_bytes: body.len(),
                    });
                    Next::Last(event(&body))
                }
                Told::Cancelled => {
                    self.ended = true;
                    Next::Last(Vec::new())
                }
            })
        })
    }
}
