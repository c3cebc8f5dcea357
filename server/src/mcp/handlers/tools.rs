//! `tools/list` and `tools/call`: the table of tools and the frame of their results.

use std::time::Duration;

use pressmark_index::{resource::UnixMillis, space::CacheScope};
use serde_json::value::RawValue;

use super::{
    Context, Outcome,
    arguments::{self, Argument},
    cursor, fetch, required_string, search,
};
use crate::{
    error::{Fault, quoted},
    json_rpc::write,
    mcp::{
        protocol::{CacheHint, Params, Revision, finish, open},
        work::EngineCall,
    },
};

/// The tools change with the program only.
const TOOLS_TTL: Duration = Duration::from_secs(3600);

/// Every tool only reads, and nothing outside this server.
const ANNOTATIONS: &str =
    r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#;

/// A tool as it is listed; schemas are JSON Schema 2020-12.
#[derive(Clone, Copy)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) arguments: &'static [Argument],
    pub(super) output_schema: &'static str,
}

const TOOLS: [&Tool; 2] = [&search::TOOL, &fetch::TOOL];

/// The tools that there are: without an index nothing can be searched.
fn offered(context: &Context<'_>) -> impl Iterator<Item = &'static Tool> {
    let has_index = context.mcp.is_searchable();
    TOOLS.into_iter().filter(move |tool| has_index || tool.name != search::TOOL.name)
}

/// All tools, on one page.
pub(crate) fn tools_list(context: &Context<'_>, params: &Params<'_>) -> Result<Outcome, Fault> {
    if cursor(params.cursor)?.is_some() {
        return Err(Fault::invalid_params("`cursor` is none of this list: it has one page"));
    }
    let mut out = open(context.id, 8192);
    out.extend_from_slice(b"\"tools\":[");
    for (at, tool) in offered(context).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        tool.write(context.revision, &mut out);
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
    let names: Vec<_> = offered(context).map(|tool| tool.name).collect();
    let call = match &*name {
        name if !names.contains(&name) => {
            let message =
                format!("unknown tool `{}`: the tools are {}", quoted(name), names.join(", "));
            return Err(Fault::invalid_params(message));
        }
        "search" => search::SearchArguments::read(arguments).map(EngineCall::Search),
        _ => fetch::FetchArguments::read(arguments).map(EngineCall::Fetch),
    };
    match call {
        Ok(call) => Ok(Outcome::Work(call)),
        Err(text) => wrong_arguments(context, text).map(Outcome::Reply),
    }
}

/// Arguments that do not fit: for the model where the revision has it so, else for the host.
pub(super) fn wrong_arguments(context: &Context<'_>, text: String) -> Result<Vec<u8>, Fault> {
    if context.revision.reports_wrong_arguments_to_model() {
        Ok(error_result(context, &text))
    } else {
        Err(Fault::invalid_params(text))
    }
}

/// A call beyond the caller's allowance: the model can wait and call again.
pub(in crate::mcp) fn too_many_calls(context: &Context<'_>, wait: Duration) -> Vec<u8> {
    let seconds = wait.as_secs_f64().ceil().max(1.0);
    error_result(context, &format!("too many tool calls: wait {seconds} s, then call again"))
}

/// A result that tells the model what went wrong.
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

/// A result that is JSON: as text first, for hosts that show nothing else, then as links and structured content where the
/// revision has them.
pub(super) fn structured_result(
    context: &Context<'_>,
    structured: &str,
    links: &[Link<'_>],
) -> Vec<u8> {
    let is_structured = context.revision.has_structured_content();
    let copies = if is_structured { 2 } else { 1 };
    let mut out = open(context.id, 256 + copies * structured.len() + structured.len() / 8);
    out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    write::string(structured, &mut out);
    out.push(b'}');
    if is_structured {
        links.iter().for_each(|link| link.write(&mut out));
        out.extend_from_slice(b"],\"structuredContent\":");
        out.extend_from_slice(structured.as_bytes());
    } else {
        out.push(b']');
    }
    out.extend_from_slice(b",\"isError\":false");
    finish(out, context.revision, None)
}

/// RFC 3339 in UTC; none for a time beyond the calendar.
pub(super) fn timestamp(millis: UnixMillis) -> Option<String> {
    jiff::Timestamp::from_millisecond(millis).ok().map(|timestamp| timestamp.to_string())
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
    fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"name\":");
        write::string(self.name, out);
        if revision.has_titles() {
            out.extend_from_slice(b",\"title\":");
            write::string(self.title, out);
        }
        out.extend_from_slice(b",\"description\":");
        write::string(self.description, out);
        out.extend_from_slice(b",\"inputSchema\":");
        out.extend_from_slice(arguments::schema(self.arguments).as_bytes());
        if revision.has_structured_content() {
            out.extend_from_slice(b",\"outputSchema\":");
            out.extend_from_slice(self.output_schema.as_bytes());
        }
        if revision.has_tool_annotations() {
            out.extend_from_slice(b",\"annotations\":");
            out.extend_from_slice(ANNOTATIONS.as_bytes());
        }
        out.push(b'}');
    }
}
