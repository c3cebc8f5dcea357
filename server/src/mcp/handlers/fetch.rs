//! The tool `fetch`: the text of a resource, for hosts that know tools only.

use std::borrow::Cow;

use pressmark_index::{
    error::ErrorKind,
    fetch_text::{FetchedText, TextRequest},
    resource::UnixMillis,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Context,
    tools::{Tool, error_result, wrong_arguments},
};
use crate::{
    error::{Code, Fault, quoted},
    json_rpc::{self, write},
    mcp::protocol::{finish, open},
};

/// The characters of a reply without `limit`: hosts cap a result at about 25,000 tokens, and a
/// character of Chinese or Japanese is about one token.
const LIMIT_DEFAULT: u64 = 20_000;

/// The largest `limit`.
const LIMIT_MAX: u64 = 200_000;

/// The largest `offset` that a JSON number says exactly (RFC 8259 section 6).
const OFFSET_MAX: u64 = (1 << 53) - 1;

pub(super) const TOOL: Tool = Tool {
    name: "fetch",
    title: "Fetch a resource",
    description: "Reads one resource as text. `id` is its URI, as a resource list, a resource \
template or an earlier reply spells it; a URI may end in a fragment that counts from zero and \
excludes the end, such as `#line=0,200`. Long texts come in parts: when a reply has `nextOffset`, \
call again with it as `offset`.",
    input_schema: r#"{"type":"object","properties":{"id":{"type":"string","description":"The URI of the resource."},"offset":{"type":"integer","minimum":0,"maximum":9007199254740991,"default":0,"description":"How many characters of the text to skip."},"limit":{"type":"integer","minimum":1,"maximum":200000,"default":20000,"description":"The most characters to return."}},"required":["id"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"id":{"type":"string","description":"The URI of the resource."},"title":{"type":"string"},"text":{"type":"string"},"url":{"type":"string","description":"The URI again, for citations."},"metadata":{"type":"object","properties":{"space":{"type":"string"},"mimeType":{"type":"string"},"size":{"type":"integer","description":"In bytes."},"lastModified":{"type":"string"},"totalChars":{"type":"integer","description":"The characters of the whole text."}},"required":["space","totalChars"],"additionalProperties":false},"nextOffset":{"type":"integer","description":"The offset of the next part; absent at the end."},"more":{"type":"string","description":"How to get the next part; absent at the end."}},"required":["id","title","text","url","metadata"],"additionalProperties":false}"#,
};

/// The decoded arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FetchArguments {
    id: String,
    offset: u64,
    limit: u64,
}

/// The result, as `structuredContent` has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fetched<'a> {
    id: &'a str,
    title: &'a str,
    text: &'a str,
    url: &'a str,
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// For models that read the text and not the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    space: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
    total_chars: u64,
}

/// Fetches a text and frames it for the request's revision.
pub(super) fn fetch(context: &Context<'_>, arguments: &FetchArguments) -> Result<Vec<u8>, Fault> {
    let request = TextRequest {
        uri: &arguments.id,
        access: &context.mcp.access,
        offset: arguments.offset,
        limit: arguments.limit,
    };
    let fetched = match context.mcp.engine.fetch_text(&request) {
        Ok(fetched) => fetched,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = format!(
                "there is no resource `{}`: `id` must be a whole URI, spelled as it was listed",
                quoted(&arguments.id)
            );
            return Ok(error_result(context, &text));
        }
        Err(error) => {
            let fault = context.fault(&error);
            return match fault.code {
                Code::InvalidParams => wrong_arguments(context, fault.message.into_owned()),
                _ => Err(fault),
            };
        }
    };
    reply(context, &fetched)
}

fn reply(context: &Context<'_>, fetched: &FetchedText) -> Result<Vec<u8>, Fault> {
    let structured = serde_json::to_string(&Fetched::of(fetched)).map_err(|error| {
        let request_id = context.request_id;
        tracing::error!(request_id, "a fetched text does not encode: {error}");
        Fault::internal(request_id)
    })?;
    let is_structured = context.revision.has_structured_content();
    let copies = if is_structured { 2 } else { 1 };
    let mut out = open(context.id, 256 + copies * structured.len() + structured.len() / 8);
    out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    write::string(&structured, &mut out);
    out.push(b'}');
    if is_structured {
        resource_link(fetched, &mut out);
        out.extend_from_slice(b"],\"structuredContent\":");
        out.extend_from_slice(structured.as_bytes());
    } else {
        out.push(b']');
    }
    out.extend_from_slice(b",\"isError\":false");
    Ok(finish(out, context.revision, None))
}

fn resource_link(fetched: &FetchedText, out: &mut Vec<u8>) {
    out.extend_from_slice(b",{\"type\":\"resource_link\",\"uri\":");
    write::string(&fetched.uri, out);
    out.extend_from_slice(b",\"name\":");
    write::string(&fetched.title, out);
    if let Some(mime_type) = &fetched.mime_type {
        out.extend_from_slice(b",\"mimeType\":");
        write::string(mime_type, out);
    }
    out.push(b'}');
}

// === impl FetchArguments ===

impl FetchArguments {
    /// Decodes an object of arguments.
    ///
    /// # Errors
    /// A text that lets a model correct itself.
    pub(super) fn read(arguments: &str) -> Result<Self, String> {
        let members = json_rpc::members(arguments)
            .ok_or("`arguments` must be an object that has each member once")?;
        let mut id = None;
        let mut offset = 0;
        let mut limit = LIMIT_DEFAULT;
        for (name, value) in members {
            match &*name {
                "id" => id = json_rpc::string(value).map(Cow::into_owned),
                "offset" => offset = integer("offset", value, 0, OFFSET_MAX)?,
                "limit" => limit = integer("limit", value, 1, LIMIT_MAX)?,
                unknown => {
                    return Err(format!(
                        "unknown argument `{}`: `fetch` takes `id`, `offset` and `limit`",
                        quoted(unknown)
                    ));
                }
            }
        }
        let id = id.ok_or("`id` is required: a string, the URI of the resource")?;
        Ok(Self { id, offset, limit })
    }
}

/// An integer as JSON Schema sees it: `10` and `10.0` are the same number.
fn integer(name: &str, value: &RawValue, least: u64, most: u64) -> Result<u64, String> {
    let number = value.get().parse::<u64>().ok().or_else(|| {
        let whole = value.get().strip_suffix(".0")?;
        whole.parse().ok()
    });
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("`{name}` must be an integer from {least} to {most}"))
}

// === impl Fetched ===

impl<'a> Fetched<'a> {
    fn of(fetched: &'a FetchedText) -> Self {
        Self {
            id: &fetched.uri,
            title: &fetched.title,
            text: &fetched.text,
            url: &fetched.uri,
            metadata: Metadata {
                space: &fetched.space,
                mime_type: fetched.mime_type.as_deref(),
                size: fetched.size,
                last_modified: fetched.last_modified.and_then(timestamp),
                total_chars: fetched.total_chars,
            },
            next_offset: fetched.next_offset,
            more: fetched.next_offset.map(|offset| {
                format!("there is more text: call `fetch` again with the same `id` and `offset` {offset}")
            }),
        }
    }
}

/// RFC 3339 in UTC; none for a time beyond the calendar.
fn timestamp(millis: UnixMillis) -> Option<String> {
    jiff::Timestamp::from_millisecond(millis).ok().map(|timestamp| timestamp.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fit_or_say_why_not() {
        let fits =
            |id: &str, offset, limit| Ok(FetchArguments { id: id.to_owned(), offset, limit });
        let fault = |text: &str| Err(text.to_owned());
        let limit_fault = || fault("`limit` must be an integer from 1 to 200000");
        let id_fault = || fault("`id` is required: a string, the URI of the resource");
        for (arguments, expected) in [
            (r#"{"id":"doc://x"}"#, fits("doc://x", 0, LIMIT_DEFAULT)),
            (r#"{"limit":5,"offset":7.0,"id":"doc:\/\/x"}"#, fits("doc://x", 7, 5)),
            (r#"{"id":"x","limit":200000}"#, fits("x", 0, LIMIT_MAX)),
            (r#"{"id":"x","limit":200001}"#, limit_fault()),
            (r#"{"id":"x","limit":0}"#, limit_fault()),
            (r#"{"id":"x","limit":"5"}"#, limit_fault()),
            (r#"{"id":"x","limit":5.5}"#, limit_fault()),
            (r#"{"id":"x","limit":null}"#, limit_fault()),
            (r#"{"id":7}"#, id_fault()),
            ("{}", id_fault()),
            (
                r#"{"id":"x","id":"y"}"#,
                fault("`arguments` must be an object that has each member once"),
            ),
            (
                r#"{"id":"x","max":1}"#,
                fault("unknown argument `max`: `fetch` takes `id`, `offset` and `limit`"),
            ),
            (
                r#"{"id":"x","offset":-1}"#,
                fault("`offset` must be an integer from 0 to 9007199254740991"),
            ),
        ] {
            assert_eq!(FetchArguments::read(arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn schemas_say_the_bounds_that_are_checked() {
        let schema: serde_json::Value = serde_json::from_str(TOOL.input_schema).unwrap();
        let properties = &schema["properties"];
        assert_eq!(properties["limit"]["maximum"], LIMIT_MAX);
        assert_eq!(properties["limit"]["default"], LIMIT_DEFAULT);
        assert_eq!(properties["offset"]["maximum"], OFFSET_MAX);
        assert!(serde_json::from_str::<serde_json::Value>(TOOL.output_schema).is_ok());
    }
}
