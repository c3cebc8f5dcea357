//! From a body to its answer: the method table, and the only place that catches panics.

use std::{
    any::Any,
    num::NonZeroU32,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hyper::StatusCode;
use pressmark_index::{access::Access, engine::Engine};

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{
    Method,
    batch::BatchContext,
    handlers::{self, Context, Outcome},
    protocol::{self, Channel, Era, Params, Revision},
    work::{Answer, RequestKey, Step, Work, WorkKind},
};
use crate::{
    call_rates::{CallRates, Caller},
    error::{Code, Fault},
    json_rpc::{self, Malformed, Message, Request},
    metrics::Metrics,
    prompts::Prompts,
    readiness::{Latch, Readiness},
    tools::{Tool, ToolRefused, ToolSet},
};

/// Bounds of what one message may ask.
#[derive(Debug, Clone)]
pub struct McpConfig {
    /// The most bytes that the `contents` of a reply may take.
    pub contents_bytes_max: usize,
    /// The most entries of a list's page.
    pub page_items_max: usize,
    /// The bytes after which a list's page ends.
    pub page_bytes_max: usize,
    /// The most messages of a batch.
    pub batch_messages_max: usize,
    /// How many tool calls a caller may make in a second.
    pub tool_calls_per_second: NonZeroU32,
    /// How many completions a caller may ask for in a second.
    pub completions_per_second: NonZeroU32,
    /// How long a search may take.
    pub search_time_max: Duration,
    /// What the results of our own tools hold.
    pub tool_results: ToolResults,
}

/// What the results of `search` and `fetch` hold besides `structuredContent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolResults {
    /// One text in which each URI stands once: every host and framework takes it.
    #[default]
    Text,
    /// One text with all that `structuredContent` has, for hosts that parse it and want `url`.
    Full,
    /// The short text, and a `resource_link` for each resource.
    Links,
}

/// The protocol in front of an engine; shared by all transports.
pub struct Mcp {
    pub(super) engine: Arc<Engine>,
    pub(super) prompts: Arc<Prompts>,
    pub(super) config: McpConfig,
    pub(super) access: Arc<Access>,
    pub(super) tools: ToolSet,
    settled: Readiness,
    tool_calls: CallRates,
    completions: CallRates,
    pub(super) metrics: Arc<Metrics>,
    next_request_id: AtomicU64,
}

// === impl Mcp ===

impl Mcp {
    /// The protocol in front of `engine`; every caller has `access`.
    pub fn new(
        engine: Arc<Engine>,
        config: McpConfig,
        access: Access,
        metrics: Arc<Metrics>,
    ) -> Self {
        let access = Arc::new(access);
        Self {
            prompts: Arc::new(Prompts::new(Arc::clone(&engine))),
            engine,
            access,
            tools: ToolSet::new(handlers::tools::built_in()),
            settled: Readiness::new(),
            tool_calls: CallRates::new(config.tool_calls_per_second),
            completions: CallRates::new(config.completions_per_second),
            metrics,
            next_request_id: AtomicU64::new(1),
            config,
        }
    }

    /// The same with a tool of the embedding program, listed after those before it.
    ///
    /// # Errors
    /// What clients would refuse of it.
    pub fn with_tool(mut self, tool: Tool) -> Result<Self, ToolRefused> {
        self.tools.add(tool)?;
        Ok(self)
    }

    /// Until the latch is dropped, spaces are being filled: clients are told not to keep what they get
    /// of them, since a list that is cached now would hide what comes in the next second.
    #[must_use]
    pub fn unsettled(&self) -> Latch {
        self.settled.latch()
    }

    /// Whether no space is being filled for the first time.
    pub fn is_settled(&self) -> bool {
        self.settled.ready()
    }

    /// Whether texts are indexed, so that there is the tool `search`.
    pub fn is_searchable(&self) -> bool {
        self.engine.full_text_progress().is_some()
    }

    /// How long a client may keep a reply about spaces that allow `ttl`.
    pub(super) fn freshness(&self, ttl: Duration) -> Duration {
        if self.is_settled() { ttl } else { Duration::ZERO }
    }

    /// The engine behind it.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The prompts that are served.
    pub fn prompts(&self) -> &Arc<Prompts> {
        &self.prompts
    }

    /// What every caller may see.
    pub fn access(&self) -> &Arc<Access> {
        &self.access
    }

    /// What the reply to one message takes at most, its frame apart.
    pub fn reply_bytes_max(&self) -> usize {
        self.config.contents_bytes_max
    }

    /// Answers one body or line as far as memory can; never waits.
    pub fn receive(&self, body: &[u8], channel: Channel<'_>) -> Step {
        let request_id = self.next_request_id();
        caught(request_id, || Ok(self.received(body, channel, request_id)))
            .unwrap_or_else(|fault| Step::Answer(Answer::fault(Method::Other, None, &fault)))
    }

    fn received(&self, body: &[u8], channel: Channel<'_>, request_id: u64) -> Step {
        match json_rpc::parse(body) {
            Ok(Message::Request(request)) => self.request(&request, channel, request_id),
            Ok(Message::Notification { method, params }) => {
                let step = unanswered(protocol::of_other(channel), Method::Notification);
                match step {
                    Step::Answer(answer) if method == CANCELLED => {
                        Step::Answer(Answer { cancels: cancelled_id(params), ..answer })
                    }
                    step => step,
                }
            }
            Ok(Message::Response) => {
                unanswered(protocol::of_other(channel).and_then(with_responses), Method::Other)
            }
            Err(Malformed::Batch(text)) => self.batch_step(text, channel),
            Err(malformed) => Step::Answer(malformed_answer(&malformed)),
        }
    }

    /// Does work that [`Mcp::receive`] handed out; may wait for the disk. What of a batch has not
    /// begun at the deadline is answered by an error each.
    pub fn perform(&self, work: Work, deadline: Instant) -> Answer {
        match work.0 {
            WorkKind::Request { id, method, revision, request_id, call } => {
                let context =
                    Context { mcp: self, id: &id, revision, subscription: None, request_id };
                let reply = caught(request_id, || handlers::perform(&context, call));
                match reply {
                    Ok(reply) => Answer::reply(method, reply),
                    Err(fault) => Answer::fault(method, Some(&id), &fault),
                }
            }
            WorkKind::Batch { text, revision, caller, subscription } => {
                let subscription = subscription.as_ref();
                let context = BatchContext { revision, caller, subscription, deadline };
                caught(self.next_request_id(), || Ok(self.batch(&text, context)))
                    .unwrap_or_else(|fault| Answer::fault(Method::Batch, None, &fault))
            }
        }
    }

    pub(super) fn next_request_id(&self) -> u64 {
        self.next_request_id.fetch_add(1, Ordering::Relaxed)
    }

    fn request(&self, request: &Request<'_>, channel: Channel<'_>, request_id: u64) -> Step {
        let mut method = Method::Other;
        let params =
            Params::read(request.params).map_err(|fault| protocol::malformed(fault, channel));
        let step = params.and_then(|params| {
            let revision = protocol::of_request(request, &params, channel)?;
            method = served(&request.method, revision)?;
            let subscription = channel.subscription();
            let context = Context { mcp: self, id: request.id, revision, subscription, request_id };
            self.start(&context, method, &params, channel.caller())
        });
        step.unwrap_or_else(|fault| Step::Answer(Answer::fault(method, Some(request.id), &fault)))
    }

    pub(super) fn start(
        &self,
        context: &Context<'_>,
        method: Method,
        params: &Params<'_>,
        caller: Caller,
    ) -> Result<Step, Fault> {
        let Context { id, revision, request_id, .. } = *context;
        tracing::debug!(request_id, method = method.label(), revision = revision.name(), "request");
        if let Err(wait) = self.admit(method, caller) {
            self.metrics.over_rate(method);
            return match method {
                Method::ToolsCall => {
                    let reply = handlers::tools::too_many_calls(context, wait);
                    Ok(Step::Answer(Answer::reply(method, reply)))
                }
                _ => Err(handlers::completion::too_many_requests(wait)),
            };
        }
        let outcome = caught(request_id, || handle(context, method, params))?;
        Ok(match outcome {
            Outcome::Reply(reply) => Step::Answer(Answer::reply(method, reply)),
            Outcome::Agreed { reply, revision } => {
                let answer = Answer::reply(method, reply);
                Step::Answer(Answer { negotiated: Some(revision), ..answer })
            }
            Outcome::Listen(listen) => Step::Listen(listen),
            Outcome::Call(call) => Step::Call(call),
            Outcome::Work(call) => {
                let id = id.into();
                Step::Work(Work(WorkKind::Request { id, method, revision, request_id, call }))
            }
        })
    }

    /// Takes a request from its caller's allowance, where the method has one.
    fn admit(&self, method: Method, caller: Caller) -> Result<(), Duration> {
        match method {
            Method::ToolsCall => self.tool_calls.admit(caller),
            Method::CompletionComplete => self.completions.admit(caller),
            _ => Ok(()),
        }
    }

    fn batch_step(&self, text: &str, channel: Channel<'_>) -> Step {
        let fault = match protocol::of_other(channel) {
            Ok(revision) if revision.has_batches() => {
                return Step::Work(Work(WorkKind::Batch {
                    text: text.into(),
                    revision,
                    caller: channel.caller(),
                    subscription: channel.subscription().cloned(),
                }));
            }
            Ok(revision) => Fault::invalid_request(format!(
                "revision {} has no batches: send one message at a time",
                revision.name()
            )),
            Err(fault) => fault,
        };
        Step::Answer(Answer::fault(Method::Batch, None, &fault))
    }
}

/// What a client sends that wants no answer any more.
const CANCELLED: &str = "notifications/cancelled";

/// The id in a cancellation; malformed ones are ignored, as the specification says.
fn cancelled_id(params: Option<&RawValue>) -> Option<RequestKey> {
    #[derive(serde::Deserialize)]
    struct Cancelled<'a> {
        #[serde(borrow, rename = "requestId")]
        request_id: &'a RawValue,
    }
    let cancelled: Cancelled<'_> = serde_json::from_str(params?.get()).ok()?;
    RequestKey::of(cancelled.request_id.get())
}

/// The method table: which handler answers what.
fn handle(context: &Context<'_>, method: Method, params: &Params<'_>) -> Result<Outcome, Fault> {
    match method {
        Method::ResourcesRead => handlers::resources::resources_read(context, params),
        Method::ResourcesList => handlers::resources::resources_list(params),
        Method::ResourcesTemplatesList => {
            handlers::templates::resources_templates_list(context, params)
        }
        Method::CompletionComplete => handlers::completion::completion_complete(context, params),
        Method::PromptsList => handlers::prompts::prompts_list(context, params),
        Method::PromptsGet => handlers::prompts::prompts_get(context, params),
        Method::ResourcesSubscribe => handlers::subscriptions::resources_subscribe(context, params),
        Method::ResourcesUnsubscribe => {
            handlers::subscriptions::resources_unsubscribe(context, params)
        }
        Method::SubscriptionsListen => {
            handlers::subscriptions::subscriptions_listen(context, params)
        }
        Method::ToolsList => handlers::tools::tools_list(context, params),
        Method::ToolsCall => handlers::tools::tools_call(context, params),
        Method::LoggingSetLevel if context.mcp.tools.logs() => {
            handlers::lifecycle::logging_set_level(context, params)
        }
        Method::LoggingSetLevel => Err(method_not_found()),
        Method::Initialize => handlers::lifecycle::initialize(context, params),
        Method::Ping => Ok(handlers::lifecycle::ping(context)),
        Method::ServerDiscover => Ok(handlers::lifecycle::server_discover(context)),
        // Names of metrics only: `Method::served` never returns them.
        Method::Notification | Method::Batch | Method::Other => Err(method_not_found()),
    }
}

pub(super) fn served(name: &str, revision: Revision) -> Result<Method, Fault> {
    let era = revision.era();
    Method::served(name, era).ok_or_else(|| match era {
        Era::Legacy => method_not_found(),
        Era::Modern => method_not_found().with_status(StatusCode::NOT_FOUND),
    })
}

/// A revision in which servers may ask their clients something. We ask nothing, but a stray answer
/// does no harm.
fn with_responses(revision: Revision) -> Result<Revision, Fault> {
    match revision.era() {
        Era::Legacy => Ok(revision),
        Era::Modern => Err(Fault::invalid_request("clients send no responses in this revision")),
    }
}

fn method_not_found() -> Fault {
    Fault::new(Code::MethodNotFound, "method not found")
}

fn unanswered(revision: Result<Revision, Fault>, method: Method) -> Step {
    Step::Answer(match revision {
        Ok(_) => Answer::accepted(method),
        Err(fault) => Answer::fault(method, None, &fault),
    })
}

pub(super) fn malformed_answer(malformed: &Malformed<'_>) -> Answer {
    match malformed {
        Malformed::Syntax => Answer::fault(Method::Other, None, &Fault::parse_error()),
        Malformed::Batch(_) => {
            let fault = Fault::invalid_request("a message of a batch is a JSON object");
            Answer::fault(Method::Other, None, &fault)
        }
        Malformed::Invalid { id, reason } => {
            Answer::fault(Method::Other, *id, &Fault::invalid_request(*reason))
        }
    }
}

/// Runs a handler; a panic in it is this request's internal error and nobody else's.
///
/// A handler only reads shared state, so that nothing half-changed is left behind.
fn caught<T>(request_id: u64, handler: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(handler))
        .unwrap_or_else(|panic| Err(panicked(request_id, &*panic)))
}

/// Logs a handler's panic; what its client is told says nothing of it.
pub(crate) fn panicked(request_id: u64, panic: &(dyn Any + Send)) -> Fault {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(request_id, panic = text, "a handler panicked");
    Fault::internal(request_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_internal_error() {
        let fault = caught::<()>(42, || panic!("broken handler")).unwrap_err();
        assert_eq!(fault.code, Code::Internal);
        assert!(fault.message.contains("42"));
        assert!(!fault.message.contains("broken"));
    }
}
