//! What a tool comes to: content for the model, structured content for programs, or what went wrong.

use std::fmt;

use pressmark_index::error::Error;
use serde::Serialize;
use serde_json::{json, value::RawValue};

use crate::{
    json_rpc::write,
    mcp::protocol::{Revision, finish, open},
};

/// What a tool returns: content in the order in which the model reads it.
#[derive(Debug, Clone, Default)]
pub struct ToolResult {
    content: Vec<Content>,
    /// JSON.
    structured: Option<String>,
    failed: bool,
}

/// A block of content.
#[derive(Debug, Clone)]
pub struct Content(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Text(String),
    /// An image or a sound, in base64.
    Media {
        type_name: &'static str,
        data: String,
        mime_type: String,
    },
    Link(ResourceLink),
    /// The parts of a resource, each as JSON of the caller's revision.
    Resource(Vec<Box<RawValue>>),
}

/// A resource that the client may read, in place of its contents.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLink {
    /// Where it is.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// Why a tool has no result.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// For the model, which may do something else then: a result with `isError`.
    #[error("{0}")]
    Failed(String),
    /// The arguments are of the right types and still wrong: for the model, which can correct them.
    #[error("{0}")]
    WrongArguments(String),
    /// The engine's: for the model what it asked wrong, for the log what is wrong with the store.
    #[error(transparent)]
    Engine(#[from] Error),
    /// Only for the log; the client is told a number that the log explains, as error -32603.
    #[error("{0}")]
    Internal(String),
}

/// The place of a block's data in texts for revisions that have no such block.
const PICTURED_AS_TEXT: &str = "cannot be shown in this revision of the protocol";

// === impl ToolResult ===

impl ToolResult {
    /// A result without content.
    pub fn new() -> Self {
        Self::default()
    }

    /// A result that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().with(Content::text(text))
    }

    /// The same result with another block at its end.
    #[must_use]
    pub fn with(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }

    /// A value as structured content, and as JSON text for hosts that show nothing else.
    pub(super) fn structured(value: &impl Serialize) -> Result<Self, ToolError> {
        let json = serde_json::to_string(value).map_err(|error| {
            ToolError::Internal(format!("the result of a tool does not encode: {error}"))
        })?;
        Ok(Self { structured: Some(json.clone()), ..Self::text(json) })
    }

    /// A result that tells the model what went wrong.
    pub(crate) fn failure(text: impl Into<String>) -> Self {
        Self { failed: true, ..Self::text(text) }
    }

    /// The reply that carries it.
    pub(crate) fn reply(&self, id: &str, revision: Revision) -> Vec<u8> {
        let mut out = open(id, 64);
        out.extend_from_slice(b"\"content\":[");
        let mut first = true;
        for content in &self.content {
            content.write(revision, &mut first, &mut out);
        }
        out.push(b']');
        let structured = self.structured.as_deref().filter(|_| revision.has_structured_content());
        // What is no object has been structured content only since it may be any value.
        let structured =
            structured.filter(|json| json.starts_with('{') || revision.has_structured_values());
        if let Some(json) = structured {
            out.extend_from_slice(b",\"structuredContent\":");
            out.extend_from_slice(json.as_bytes());
        }
        out.extend_from_slice(if self.failed {
            b",\"isError\":true"
        } else {
            b",\"isError\":false"
        });
        finish(out, revision, None)
    }
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl FromIterator<Content> for ToolResult {
    fn from_iter<I: IntoIterator<Item = Content>>(content: I) -> Self {
        Self { content: content.into_iter().collect(), ..Self::default() }
    }
}

// === impl Content ===

impl Content {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Kind::Text(text.into()))
    }

    /// A picture.
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::media("image", bytes, mime_type.into())
    }

    /// A sound. Clients of the first revision are told in words that there is one.
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::media("audio", bytes, mime_type.into())
    }

    /// A resource to read. Clients of revisions before 2025-06-18 get its URI as text.
    pub fn link(link: ResourceLink) -> Self {
        Self(Kind::Link(link))
    }

    /// A resource with its text, which need not be one of the store.
    pub fn resource_text(uri: &str, mime_type: &str, text: &str) -> Self {
        Self::resource(&json!({ "uri": uri, "mimeType": mime_type, "text": text }))
    }

    /// A resource with its bytes, which need not be one of the store.
    pub fn resource_blob(uri: &str, mime_type: &str, bytes: &[u8]) -> Self {
        let blob = base64_simd::STANDARD.encode_to_string(bytes);
        Self::resource(&json!({ "uri": uri, "mimeType": mime_type, "blob": blob }))
    }

    fn media(type_name: &'static str, bytes: &[u8], mime_type: String) -> Self {
        let data = base64_simd::STANDARD.encode_to_string(bytes);
        Self(Kind::Media { type_name, data, mime_type })
    }

    fn resource(contents: &serde_json::Value) -> Self {
        Self(Kind::Resource(serde_json::value::to_raw_value(contents).into_iter().collect()))
    }

    /// All parts of a resource as a read returned them.
    pub(super) fn stored(parts: Vec<Box<RawValue>>) -> Self {
        Self(Kind::Resource(parts))
    }

    fn write(&self, revision: Revision, first: &mut bool, out: &mut Vec<u8>) {
        let mut begin = |out: &mut Vec<u8>, type_name: &str| {
            out.extend_from_slice(if std::mem::take(first) {
                b"{\"type\":\""
            } else {
                b",{\"type\":\""
            });
            out.extend_from_slice(type_name.as_bytes());
            out.push(b'"');
        };
        let mut text = |out: &mut Vec<u8>, text: &str| {
            begin(out, "text");
            out.extend_from_slice(b",\"text\":");
            write::string(text, out);
            out.push(b'}');
        };
        match &self.0 {
            Kind::Text(said) => text(out, said),
            Kind::Media { type_name: "audio", mime_type, .. } if !revision.has_audio() => {
                text(out, &format!("[a sound, {mime_type}: it {PICTURED_AS_TEXT}]"));
            }
            Kind::Media { type_name, data, mime_type } => {
                begin(out, type_name);
                out.extend_from_slice(b",\"data\":\"");
                // The alphabet of base64 has nothing to escape.
                out.extend_from_slice(data.as_bytes());
                out.extend_from_slice(b"\",\"mimeType\":");
                write::string(mime_type, out);
                out.push(b'}');
            }
            Kind::Link(link) if revision.has_structured_content() => {
                begin(out, "resource_link");
                let members = serde_json::to_string(link).unwrap_or_default();
                out.push(b',');
                out.extend_from_slice(members.trim_start_matches('{').as_bytes());
            }
            Kind::Link(link) => {
                text(out, &format!("{}: {}", link.title.as_ref().unwrap_or(&link.name), link.uri));
            }
            Kind::Resource(parts) => {
                for part in parts {
                    begin(out, "resource");
                    out.extend_from_slice(b",\"resource\":");
                    out.extend_from_slice(part.get().as_bytes());
                    out.push(b'}');
                }
            }
        }
    }
}

// === impl ToolError ===

impl ToolError {
    /// The call failed: `text` is for the model.
    pub fn failed(text: impl fmt::Display) -> Self {
        Self::Failed(text.to_string())
    }
}
