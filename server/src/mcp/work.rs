//! What a message leads to: an answer, or work for the pool that leads to one.

use std::sync::Arc;

use hyper::StatusCode;
use serde_json::value::RawValue;

use super::{
    Method,
    handlers::{
        completion::CompletionArguments, fetch::FetchArguments, prompts::GetArguments,
        search::SearchArguments,
    },
    protocol::Revision,
};
use crate::{
    call_rates::Caller,
    error::{Code, Fault},
    json_rpc,
    subscriptions::{Listen, Subscription},
    tools::call::ToolCall,
};

/// What a message leads to.
pub enum Step {
    /// It is answered already.
    Answer(Answer),
    /// A stream of notifications that is to be opened.
    Listen(Listen),
    /// It may wait for the disk: run it with [`super::Mcp::perform`] on the pool.
    Work(Work),
    /// A tool of the embedding program is to be called: start it, and send what it tells.
    Call(Box<ToolCall>),
}

/// The answer to one body or line.
#[derive(Debug)]
pub struct Answer {
    /// The reply; `None` where the message wants none.
    pub body: Option<Vec<u8>>,
    /// What HTTP says.
    pub status: StatusCode,
    /// What was asked, for metrics.
    pub method: Method,
    /// The error's code, for metrics; of a batch none.
    pub code: Option<Code>,
    /// The revision that an `initialize` agreed on.
    pub negotiated: Option<Revision>,
    /// The request that the client wants no answer to any more.
    pub cancels: Option<RequestKey>,
}

/// A request's id by its meaning: `"a"` and `"\u0061"` are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestKey(Box<str>);

impl RequestKey {
    /// The key of an id as it was spelled; `None` for what is no id.
    ///
    /// An integer is its digits: as a floating-point number, large ones would be one.
    pub fn of(id: &str) -> Option<Self> {
        if !json_rpc::is_id(id) {
            return None;
        }
        if id.starts_with('"') {
            let text: String = serde_json::from_str(id).ok()?;
            return Some(Self(format!("\"{text}").into()));
        }
        let is_integer = serde_json::from_str::<&RawValue>(id).is_ok();
        is_integer.then(|| Self(if id == "-0" { "0" } else { id }.into()))
    }

    /// The id as JSON.
    pub(crate) fn to_json(&self) -> String {
        match self.0.strip_prefix('"') {
            Some(text) => serde_json::Value::from(text).to_string(),
            None => self.0.as_ref().to_owned(),
        }
    }
}

/// Work for the pool; owns all it needs.
pub struct Work(pub(super) WorkKind);

pub(super) enum WorkKind {
    Request {
        id: Box<str>,
        method: Method,
        revision: Revision,
        request_id: u64,
        call: EngineCall,
    },
    Batch {
        text: Box<str>,
        revision: Revision,
        caller: Caller,
        subscription: Option<Arc<Subscription>>,
    },
}

/// An engine call with its decoded parameters.
#[derive(Debug)]
pub(crate) enum EngineCall {
    ResourcesRead { uri: String },
    ResourcesList { cursor: Option<String> },
    CompletionComplete(CompletionArguments<'static>),
    PromptsGet(GetArguments),
    Search(SearchArguments),
    Fetch(FetchArguments),
}

// === impl Answer ===

impl Answer {
    pub(crate) fn reply(method: Method, body: Vec<u8>) -> Self {
        Self {
            body: Some(body),
            status: StatusCode::OK,
            method,
            code: None,
            negotiated: None,
            cancels: None,
        }
    }

    pub(super) fn accepted(method: Method) -> Self {
        let status = StatusCode::ACCEPTED;
        Self { body: None, status, method, code: None, negotiated: None, cancels: None }
    }

    /// The answer that tells a fault; without id where none could be read.
    pub fn fault(method: Method, id: Option<&str>, fault: &Fault) -> Self {
        Self {
            body: Some(fault.reply(id)),
            status: fault.status,
            method,
            code: Some(fault.code),
            negotiated: None,
            cancels: None,
        }
    }
}

// === impl Work ===

impl Work {
    /// What is asked, for metrics.
    pub fn method(&self) -> Method {
        match &self.0 {
            WorkKind::Request { method, .. } => *method,
            WorkKind::Batch { .. } => Method::Batch,
        }
    }

    /// The id of the request, for an answer that does not come from its work.
    pub fn id(&self) -> Option<&str> {
        match &self.0 {
            WorkKind::Request { id, .. } => Some(id),
            WorkKind::Batch { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_equal_where_ids_mean_the_same() {
        let key = |id: &str| RequestKey::of(id);
        for (one, other, same) in [
            (r#""a""#, r#""\u0061""#, true),
            ("7", "7", true),
            ("0", "-0", true),
            ("7", r#""7""#, false),
            (r#""\"7""#, r#""7""#, false),
            ("99999999999999999999", "99999999999999999998", false),
            ("9007199254740993", "9007199254740992", false),
        ] {
            assert_eq!(key(one) == key(other), same, "{one} {other}");
        }
        for (id, json) in [(r#""\u0061\"""#, r#""a\"""#), ("7", "7"), ("-0", "0")] {
            assert_eq!(key(id).unwrap().to_json(), json);
        }
        for none in ["1.5", "1e3", "null", "{}", "01", "\"", ""] {
            assert_eq!(key(none), None, "{none}");
        }
    }
}
