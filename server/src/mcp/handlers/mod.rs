//! One function a method: it decodes, makes one engine call, converts.

mod arguments;
pub mod completion;
pub mod fetch;
pub mod lifecycle;
pub mod prompts;
pub mod resources;
pub mod search;
pub mod subscriptions;
pub mod templates;
pub mod tools;

use std::{borrow::Cow, sync::Arc};

use pressmark_index::error::Error;
use serde_json::value::RawValue;

use super::{Mcp, protocol::Revision, work::EngineCall};
use crate::{
    error::Fault,
    json_rpc,
    subscriptions::{Listen, Subscription},
    tools::call::ToolCall,
};

/// What a handler needs besides its parameters.
pub(crate) struct Context<'a> {
    pub(super) mcp: &'a Mcp,
    /// The id as it was spelled.
    pub(super) id: &'a str,
    pub(super) revision: Revision,
    /// What the client watches, where it is one of the legacy era that has a session.
    pub(super) subscription: Option<&'a Arc<Subscription>>,
    /// Names the request in the log.
    pub(super) request_id: u64,
}

/// What a handler came to without waiting.
pub(crate) enum Outcome {
    /// The whole reply.
    Reply(Vec<u8>),
    /// The reply to an `initialize` that agreed on a revision.
    Agreed { reply: Vec<u8>, revision: Revision },
    /// A stream of notifications.
    Listen(Listen),
    /// It needs the disk.
    Work(EngineCall),
    /// A tool of the embedding program is to be called.
    Call(Box<ToolCall>),
}

/// Makes the engine call of a request that needs the disk.
pub(super) fn perform(context: &Context<'_>, call: EngineCall) -> Result<Vec<u8>, Fault> {
    match call {
        EngineCall::ResourcesRead { uri } => resources::read_from_disk(context, &uri),
        EngineCall::ResourcesList { cursor } => resources::list(context, cursor.as_deref()),
        EngineCall::CompletionComplete(arguments) => completion::complete(context, &arguments),
        EngineCall::PromptsGet(arguments) => prompts::get(context, &arguments),
        EngineCall::Search(arguments) => search::search(context, &arguments),
        EngineCall::Fetch(arguments) => fetch::fetch(context, &arguments),
    }
}

// === impl Context ===

impl Context<'_> {
    fn fault(&self, error: &Error) -> Fault {
        Fault::of_engine(error, self.revision, self.request_id)
    }
}

/// A parameter that must be there and be a string.
fn required_string<'a>(
    raw: Option<&'a RawValue>,
    name: &'static str,
) -> Result<Cow<'a, str>, Fault> {
    raw.and_then(json_rpc::string)
        .ok_or_else(|| Fault::invalid_params(format!("`{name}` must be a string")))
}

/// The cursor of a list; `null` is what some clients send for none.
fn cursor<'a>(raw: Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, Fault> {
    match raw {
        None => Ok(None),
        Some(raw) if raw.get() == "null" => Ok(None),
        Some(raw) => match json_rpc::string(raw) {
            Some(cursor) => Ok(Some(cursor)),
            None => Err(Fault::invalid_params("`cursor` must be a string that a list returned")),
        },
    }
}
