//! A call of a tool of the embedding program: within a bound of time, told of while it runs, ended by whoever asked.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{self, Poll, ready},
    time::Duration,
};

use parking_lot::Mutex;
use pressmark_index::{access::Access, engine::Engine};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    task::{AbortHandle, JoinError, JoinHandle},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    Context, LogLevel, OwnTool, ToolError, ToolResult, ToolSet, context::Call, tool::Running,
};
use crate::{
    error::{Code, Fault},
    mcp::{Answer, Method, panicked, protocol::Revision},
    metrics::ToolMetrics,
};

/// Notifications that wait for a client; more are not sent.
const NOTIFICATIONS_MAX: usize = 64;

/// What is known of a request that calls a tool.
pub(crate) struct CallRequest<'a> {
    pub(crate) id: &'a str,
    pub(crate) revision: Revision,
    /// Names the request in the log.
    pub(crate) request_id: u64,
    pub(crate) engine: &'a Arc<Engine>,
    pub(crate) access: &'a Arc<Access>,
    pub(crate) reply_bytes_max: usize,
    pub(crate) progress_token: Option<&'a str>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) metrics: &'a ToolMetrics,
}

/// A call that is to be made.
pub struct ToolCall {
    reply: Reply,
    running: Running,
    notifications: mpsc::Receiver<Vec<u8>>,
    time_max: Option<Duration>,
    over: CancellationToken,
    place: OwnedSemaphorePermit,
    counted: Counted,
}

/// A call while it runs.
struct Counted(ToolMetrics);

/// What the answer of a call needs.
struct Reply {
    tool: String,
    id: Box<str>,
    revision: Revision,
    request_id: u64,
    bytes_max: usize,
}

/// What happens to a call whose client has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientGone {
    /// It is over: the client took its request back by going (2026-07-28, cancellation).
    Cancels,
    /// It goes on: the connection may have broken by itself (2025-11-25, transports).
    RunsOn,
}

/// A call that runs. What there is to send comes in order, the answer last.
pub struct RunningCall {
    id: Box<str>,
    request_id: u64,
    notifications: mpsc::Receiver<Vec<u8>>,
    task: JoinHandle<Answer>,
    /// What it came to, until what it said before is sent.
    ended: Option<Told>,
    client_gone: ClientGone,
}

/// What a call has to send.
#[derive(Debug)]
pub enum Told {
    /// A notification; more comes.
    Notification(Vec<u8>),
    /// The answer; nothing comes after it.
    Answer(Answer),
    /// It was cancelled by its client: there is no answer.
    Cancelled,
}

// === impl ToolCall ===

impl ToolCall {
    /// Decodes the arguments and takes a place. The handler does nothing before [`ToolCall::start`].
    pub(crate) fn new(
        tools: &ToolSet,
        own: &OwnTool,
        arguments: &str,
        request: &CallRequest<'_>,
    ) -> Result<Self, NotCalled> {
        let tool = &own.tool;
        let place =
            Arc::clone(&tools.places).try_acquire_owned().map_err(|_| NotCalled::Overloaded)?;
        let (sender, notifications) = mpsc::channel(NOTIFICATIONS_MAX);
        let over = CancellationToken::new();
        let context = Context::new(Call {
            engine: Arc::clone(request.engine),
            access: Arc::clone(request.access),
            revision: request.revision,
            contents_bytes_max: request.reply_bytes_max,
            progress_token: request.progress_token.map(Into::into),
            log_level: request.log_level.filter(|_| tool.logs),
            progressed: Mutex::new(f64::NEG_INFINITY),
            notifications: sender,
            threads: Arc::clone(&tools.threads),
            over: over.clone(),
            metrics: request.metrics.clone(),
        });
        let running = (tool.handler)(context, arguments).map_err(NotCalled::WrongArguments)?;
        let reply = Reply {
            tool: tool.name.clone(),
            id: request.id.into(),
            revision: request.revision,
            request_id: request.request_id,
            bytes_max: request.reply_bytes_max,
        };
        let (time_max, counted) = (tool.time_max, Counted::new(request.metrics));
        Ok(Self { reply, running, notifications, time_max, over, place, counted })
    }

    /// Runs the handler on a task of its own, for as long as its tool or else `time_max` says.
    pub fn start(self, time_max: Duration, client_gone: ClientGone) -> RunningCall {
        let Self { reply, running, notifications, time_max: own_time_max, over, place, counted } =
            self;
        let (id, request_id) = (reply.id.clone(), reply.request_id);
        let time_max = own_time_max.unwrap_or(time_max);
        let task = tokio::spawn(async move {
            let _place = place;
            let _over = over.drop_guard();
            match timeout(time_max, running).await {
                Ok(result) => reply.answer(result),
                Err(_) => {
                    counted.0.timed_out.inc();
                    reply.timed_out(time_max)
                }
            }
        });
        RunningCall { id, request_id, notifications, task, ended: None, client_gone }
    }

    /// Runs the handler to its end on this thread, which must be one that may wait, and sends nothing meanwhile: a batch
    /// is answered at once.
    pub(crate) fn run_in_batch(self, time_max: Duration) -> Answer {
        let fault = Fault::internal(self.reply.request_id);
        let id = self.reply.id.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return Answer::fault(Method::ToolsCall, Some(&id), &fault);
        };
        let mut running = self.start(time_max, ClientGone::Cancels);
        runtime.block_on(async {
            loop {
                match running.next().await {
                    Told::Notification(_) => {}
                    Told::Answer(answer) => return answer,
                    Told::Cancelled => return Answer::fault(Method::ToolsCall, Some(&id), &fault),
                }
            }
        })
    }

    /// The revision it is answered in.
    pub fn revision(&self) -> Revision {
        self.reply.revision
    }

    /// The id of the request, as it was spelled.
    pub fn id(&self) -> &str {
        &self.reply.id
    }
}

/// Why a tool is not called.
pub(crate) enum NotCalled {
    /// As many calls run as there may.
    Overloaded,
    /// A text for the model.
    WrongArguments(String),
}

// === impl Counted ===

impl Counted {
    fn new(metrics: &ToolMetrics) -> Self {
        metrics.running.inc();
        Self(metrics.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.running.dec();
    }
}

// === impl Reply ===

impl Reply {
    fn answer(&self, result: Result<ToolResult, ToolError>) -> Answer {
        let result =
            match result {
                Ok(result) => result,
                Err(ToolError::Failed(text)) => ToolResult::failure(text),
                Err(ToolError::WrongArguments(text)) => ToolResult::failure(text),
                Err(ToolError::Engine(error)) => {
                    let fault = Fault::of_engine(&error, self.revision, self.request_id);
                    match fault.code {
                        Code::InvalidParams | Code::ResourceNotFound => ToolResult::failure(
                            format!("{}: {}", crate::error::quoted(error.subject()), fault.message),
                        ),
                        _ => return self.fault(&fault),
                    }
                }
                Err(ToolError::Internal(text)) => {
                    let (request_id, tool) = (self.request_id, &self.tool);
                    tracing::error!(request_id, tool, "a tool failed: {text}");
                    return self.fault(&Fault::internal(request_id));
                }
            };
        let body = result.reply(&self.id, self.revision);
        if body.len() <= self.bytes_max {
            return Answer::reply(Method::ToolsCall, body);
        }
        let text = format!(
            "the result of `{}` has {} bytes, and a reply at most {}: ask for less",
            self.tool,
            body.len(),
            self.bytes_max
        );
        self.failure(text)
    }

    fn timed_out(&self, time_max: Duration) -> Answer {
        tracing::warn!(request_id = self.request_id, tool = self.tool, "a tool took too long");
        self.failure(format!("`{}` took longer than {time_max:?} and was ended", self.tool))
    }

    fn failure(&self, text: String) -> Answer {
        let body = ToolResult::failure(text).reply(&self.id, self.revision);
        Answer::reply(Method::ToolsCall, body)
    }

    fn fault(&self, fault: &Fault) -> Answer {
        Answer::fault(Method::ToolsCall, Some(&self.id), fault)
    }
}

// === impl RunningCall ===

impl RunningCall {
    /// What is to be sent next.
    pub fn poll_next(&mut self, context: &mut task::Context<'_>) -> Poll<Told> {
        if let Poll::Ready(Some(message)) = self.notifications.poll_recv(context) {
            return Poll::Ready(Told::Notification(message));
        }
        if self.ended.is_none() {
            let ended = ready!(Pin::new(&mut self.task).poll(context));
            self.ended = Some(self.told(ended));
            // A clone of the context may outlive the call: it is not heard any more.
            self.notifications.close();
        }
        if let Ok(message) = self.notifications.try_recv() {
            return Poll::Ready(Told::Notification(message));
        }
        Poll::Ready(self.ended.take().unwrap_or(Told::Cancelled))
    }

    fn told(&self, ended: Result<Answer, JoinError>) -> Told {
        match ended {
            Ok(answer) => Told::Answer(answer),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => {
                    let fault = panicked(self.request_id, &*panic);
                    Told::Answer(Answer::fault(Method::ToolsCall, Some(&self.id), &fault))
                }
                Err(_aborted) => Told::Cancelled,
            },
        }
    }

    /// The same for those who can wait.
    pub async fn next(&mut self) -> Told {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Ends it when its client asks for that.
    pub fn abort_handle(&self) -> AbortHandle {
        self.task.abort_handle()
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if self.client_gone == ClientGone::Cancels {
            self.task.abort();
        }
    }
}
