//! A call of a tool: a plain reply when nothing comes before it, else a stream of events that ends with it.
//!
//! Only a call that tells something pays for a stream, and over HTTP/1 for a connection, which a stream takes to its end.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::{
    HttpServer,
    content::Accepted,
    events::{Events, KEEP_ALIVE, Next, event},
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
    /// The time between two comments of a call that tells nothing.
    keep_alive: Interval,
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
    server: &HttpServer,
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
        let mut keep_alive = tokio::time::interval(server.subscriptions.keep_alive_period());
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        keep_alive.reset();
        let metrics = Arc::clone(&server.metrics);
        let ended = false;
        let call =
            CallEvents { running, first, ended, started, keep_alive, metrics, admitted: None };
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
        if told.is_pending() {
            let due = self.keep_alive.poll_tick(context);
            return due.map(|_| Some(Next::Events(KEEP_ALIVE.to_vec(), None)));
        }
        self.keep_alive.reset();
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
