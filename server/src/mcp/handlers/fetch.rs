//! The tool `fetch`: the text of a resource, for hosts that know tools only.

use pressmark_index::{
    error::ErrorKind,
    fetch_text::{FetchedText, TextRequest},
};
use serde::Serialize;

use super::{
    Context,
    arguments::{Argument, Empty, Kind, decode},
    tools::{Link, Tool, error_result, structured_result, timestamp},
};
use crate::error::{Code, Fault, quoted};

/// The characters of a reply without `limit`: hosts cap a result at about 25,000 tokens, and a
/// character of Chinese or Japanese is about one token.
const LIMIT_DEFAULT: u64 = 20_000;

/// The largest `limit`.
const LIMIT_MAX: u64 = 200_000;

/// The largest `offset` that a JSON number says exactly (RFC 8259 section 6).
const OFFSET_MAX: u64 = (1 << 53) - 1;

const ARGUMENTS: [Argument; 3] = [
    Argument {
        name: "id",
        kind: Kind::Required { what: "the URI of the resource", empty: Empty::NotGiven },
        description: "The URI of the resource.",
    },
    Argument {
        name: "offset",
        kind: Kind::Integer { least: 0, most: OFFSET_MAX, default: 0 },
        description: "How many characters of the text to skip.",
    },
    Argument {
        name: "limit",
        kind: Kind::Integer { least: 1, most: LIMIT_MAX, default: LIMIT_DEFAULT },
        description: "The most characters to return.",
    },
];

pub(super) const TOOL: Tool = Tool {
    name: "fetch",
    title: "Fetch a resource",
    description: "Reads one resource as text. `id` is its URI, as `search`, a resource list, a \
resource template or an earlier reply spells it; a URI may end in a fragment that counts from zero and \
excludes the end, such as `#line=0,200`. Long texts come in parts: when a reply has `nextOffset`, \
call again with it as `offset`. `offset` and `limit` may be left out, null or empty.",
    arguments: &ARGUMENTS,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
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
                Code::InvalidParams => Ok(error_result(context, &fault.message)),
                _ => Err(fault),
            };
        }
    };
    let link =
        Link { uri: &fetched.uri, title: &fetched.title, mime_type: fetched.mime_type.as_deref() };
    let brief = Fetched { url: None, ..Fetched::of(&fetched) };
    structured_result(context, &brief, &Fetched::of(&fetched), &[link])
}

// === impl FetchArguments ===

impl FetchArguments {
    /// Decodes an object of arguments.
    ///
    /// # Errors
    /// A text that lets a model correct itself.
    pub(super) fn read(arguments: &str) -> Result<Self, String> {
        let [id, offset, limit] = decode(TOOL.name, &ARGUMENTS, arguments)?;
        Ok(Self {
            id: id.text().unwrap_or_default(),
            offset: offset.integer_or(0),
            limit: limit.integer_or(LIMIT_DEFAULT),
        })
    }
}

// === impl Fetched ===

impl<'a> Fetched<'a> {
    fn of(fetched: &'a FetchedText) -> Self {
        Self {
            id: &fetched.uri,
            title: &fetched.title,
            text: &fetched.text,
            url: Some(&fetched.uri),
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
            (r#"{"id":"x","limit":"5"}"#, fits("x", 0, 5)),
            (r#"{"id":"x","limit":5.5}"#, limit_fault()),
            (r#"{"id":"x","limit":null,"offset":null}"#, fits("x", 0, LIMIT_DEFAULT)),
            (r#"{"id":"x","limit":"","offset":""}"#, fits("x", 0, LIMIT_DEFAULT)),
            (r#"{"id":[]}"#, id_fault()),
            (r#"{"id":""}"#, id_fault()),
            (r#"{"id":null}"#, id_fault()),
            ("{}", id_fault()),
            (
                r#"{"id":"x","id":"y"}"#,
                fault("`arguments` must be an object with at most 1024 members, each given once"),
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
}
