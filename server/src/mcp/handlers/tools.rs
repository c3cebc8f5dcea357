//! `tools/list` and `tools/call`: which tool answers, and the frame of the results of our own.

use std::{borrow::Cow, time::Duration};

use hyper::StatusCode;
use pressmark_index::{moment::rfc_3339, resource::UnixMillis, space::CacheScope};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Context, Outcome,
    arguments::{self, Argument},
    cursor, fetch, required_string, search,
};
use crate::{
    error::{Code, Fault, quoted},
    json_rpc::write,
    mcp::{
        ToolResults,
        protocol::{CacheHint, Era, Params, finish, open},
        work::EngineCall,
    },
    tools::{
        Callee, Definition, OutputSchema, OwnTool,
        call::{CallRequest, NotCalled, ToolCall},
    },
};

/// The tools change with the program only.
const TOOLS_TTL: Duration = Duration::from_secs(3600);

/// Every tool only reads, and nothing outside this server.
const ANNOTATIONS: &str =
    r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#;

/// A tool of ours; schemas are JSON Schema 2020-12.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) arguments: &'static [Argument],
    pub(super) output_schema: &'static str,
}

/// The tools that every server has.
pub(in crate::mcp) fn built_in() -> [(Definition, Callee); 2] {
    [(search::TOOL.definition(), Callee::Search), (fetch::TOOL.definition(), Callee::Fetch)]
}

/// Without an index nothing can be searched.
fn is_offered(context: &Context<'_>, callee: &Callee) -> bool {
    !matches!(callee, Callee::Search) || context.mcp.is_searchable()
}

/// All tools, on one page.
pub(crate) fn tools_list(context: &Context<'_>, params: &Params<'_>) -> Result<Outcome, Fault> {
    if cursor(params.cursor)?.is_some() {
        return Err(Fault::invalid_params("`tools/list` has a single page: leave `cursor` out"));
    }
    let mut out = open(context.id, 8192);
    out.extend_from_slice(b"\"tools\":[");
    let tools = context.mcp.tools.iter().filter(|(_, callee)| is_offered(context, callee));
    for (at, (definition, _)) in tools.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        definition.write(context.revision, &mut out);
    }
    out.push(b']');
    let hint = CacheHint { ttl: TOOLS_TTL, scope: CacheScope::Public };
    Ok(Outcome::Reply(finish(out, context.revision, Some(hint))))
}

/// Decodes the arguments of the named tool.
pub(crate) fn tools_call(context: &Context<'_>, params: &Params<'_>) -> Result<Outcome, Fault> {
    let name = required_string(params.name, "name")?;
    // Some clients send `null` for a call without arguments.
    let arguments = params.arguments.map(RawValue::get).filter(|raw| *raw != "null");
    let arguments = arguments.unwrap_or("{}");
    if !arguments.starts_with('{') {
        return Err(Fault::invalid_params("`arguments` must be an object"));
    }
    let callee = context.mcp.tools.get(&name).filter(|callee| is_offered(context, callee));
    let call = match callee.ok_or_else(|| unknown_tool(context, &name))? {
        Callee::Search => search::SearchArguments::read(arguments).map(EngineCall::Search),
        Callee::Fetch => fetch::FetchArguments::read(arguments).map(EngineCall::Fetch),
        Callee::Own(own) => return call_own(context, params, own, arguments),
    };
    match call {
        Ok(call) => Ok(Outcome::Work(call)),
        Err(text) => Ok(Outcome::Reply(error_result(context, &text))),
    }
}

fn unknown_tool(context: &Context<'_>, name: &str) -> Fault {
    let tools = context.mcp.tools.iter().filter(|(_, callee)| is_offered(context, callee));
    let names: Vec<_> = tools.map(|(definition, _)| definition.name.as_str()).collect();
    let names = names.join(", ");
    Fault::invalid_params(format!("unknown tool `{}`: the tools are {names}", quoted(name)))
}

/// Decodes the arguments of a tool of the embedding program, which its transport runs.
fn call_own(
    context: &Context<'_>,
    params: &Params<'_>,
    own: &OwnTool,
    arguments: &str,
) -> Result<Outcome, Fault> {
    let log_level = match context.revision.era() {
        Era::Modern => {
            if let Some(capability) = params.undeclared_capability(own.client_capabilities()) {
                return Err(missing_capability(capability));
            }
            params.log_level()?
        }
        Era::Legacy => context.subscription.and_then(|client| client.log_level()),
    };
    let request = CallRequest {
        id: context.id,
        revision: context.revision,
        request_id: context.request_id,
        engine: &context.mcp.engine,
        access: &context.mcp.access,
        reply_bytes_max: context.mcp.config.contents_bytes_max,
        progress_token: params.progress_token()?,
        log_level,
        metrics: &context.mcp.metrics.own_tools,
    };
    match ToolCall::new(&context.mcp.tools, own, arguments, &request) {
        Ok(call) => Ok(Outcome::Call(Box::new(call))),
        Err(NotCalled::WrongArguments(text)) => Ok(Outcome::Reply(error_result(context, &text))),
        Err(NotCalled::Overloaded) => {
            context.mcp.metrics.requests_shed.inc();
            Err(Fault::overloaded())
        }
    }
}

/// -32021 with HTTP 400 (2026-07-28, client capabilities).
fn missing_capability(capability: &str) -> Fault {
    let mut required = serde_json::Map::new();
    required.insert(capability.to_owned(), serde_json::json!({}));
    let message = format!("the tool needs a client that declares the capability `{capability}`");
    Fault::new(Code::MissingClientCapability, message)
        .with_data(serde_json::json!({ "requiredCapabilities": required }).to_string())
        .with_status(StatusCode::BAD_REQUEST)
}

/// A call beyond the caller's allowance: the model can wait and call again.
pub(in crate::mcp) fn too_many_calls(context: &Context<'_>, wait: Duration) -> Vec<u8> {
    let seconds = wait.as_secs_f64().ceil().max(1.0);
    error_result(context, &format!("too many tool calls: wait {seconds} s, then call again"))
}

/// A result that tells the model what went wrong, wrong arguments included: revisions before 2025-11-25 have error -32602
/// for those, but the adapters of agent frameworks raise it as an exception, and the model never learns of it.
pub(super) fn error_result(context: &Context<'_>, text: &str) -> Vec<u8> {
    let mut out = open(context.id, 64 + text.len());
    out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    write::string(text, &mut out);
    out.extend_from_slice(b"}],\"isError\":true");
    finish(out, context.revision, None)
}

/// A resource that a result points to.
pub(super) struct Link<'a> {
    pub(super) uri: &'a str,
    pub(super) title: &'a str,
    pub(super) mime_type: Option<&'a str>,
}

/// A result that is JSON: one text item with what a model needs, and the structured content where the revision has it.
/// Whether the text says everything, and whether links follow it, is configured.
pub(super) fn structured_result(
    context: &Context<'_>,
    brief: &impl Serialize,
    whole: &impl Serialize,
    links: &[Link<'_>],
) -> Result<Vec<u8>, Fault> {
    let form = context.mcp.config.tool_results;
    let is_structured = context.revision.has_structured_content();
    let whole = json(context, whole)?;
    let text = match form {
        ToolResults::Full => Cow::Borrowed(&whole),
        ToolResults::Text | ToolResults::Links => Cow::Owned(json(context, brief)?),
    };
    let structured_bytes = if is_structured { whole.len() } else { 0 };
    let mut out = open(context.id, 256 + text.len() + text.len() / 8 + structured_bytes);
    out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    write::string(&text, &mut out);
    out.push(b'}');
    if is_structured {
        if form == ToolResults::Links {
            links.iter().for_each(|link| link.write(&mut out));
        }
        out.extend_from_slice(b"],\"structuredContent\":");
        out.extend_from_slice(whole.as_bytes());
    } else {
        out.push(b']');
    }
    out.extend_from_slice(b",\"isError\":false");
    Ok(finish(out, context.revision, None))
}

fn json(context: &Context<'_>, value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| {
        let request_id = context.request_id;
        tracing::error!(request_id, "the result of a tool does not encode: {error}");
        Fault::internal(request_id)
    })
}

/// RFC 3339 in UTC; none for a time beyond the calendar.
pub(super) fn timestamp(millis: UnixMillis) -> Option<String> {
    rfc_3339(millis)
}

// === impl Link ===

impl Link<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",{\"type\":\"resource_link\",\"uri\":");
        write::string(self.uri, out);
        out.extend_from_slice(b",\"name\":");
        write::string(self.title, out);
        if let Some(mime_type) = self.mime_type {
            out.extend_from_slice(b",\"mimeType\":");
            write::string(mime_type, out);
        }
        out.push(b'}');
    }
}

// === impl Tool ===

impl Tool {
    fn definition(&self) -> Definition {
        Definition {
            name: self.name.to_owned(),
            title: Some(self.title.to_owned()),
            description: Some(self.description.to_owned()),
            input_schema: arguments::schema(self.arguments),
            output_schema: Some(OutputSchema {
                json: self.output_schema.to_owned(),
                of_object: true,
            }),
            annotations: ANNOTATIONS.to_owned(),
        }
    }
}
