//! `pressmark read` and `pressmark list`: what hosts see, from the shell.

use std::process::ExitCode;

use pressmark_proto::v1;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Common;
use super::output::{Failure, Out};
use super::target::Target;

/// The answer to `read --json`: the contents that a host gets.
#[derive(Serialize)]
struct Contents<'a> {
    folder: bool,
    contents: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

/// A line of `list --json`: the resource as a host gets it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Annotations>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icons: Option<&'a RawValue>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audience: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

/// Prints a resource as it is: text as text, a binary as its bytes, a folder as its entries' URIs.
pub(super) fn read(common: &Common, uri: &str) -> Result<ExitCode, Failure> {
    let target = Target::look(common, "read")?;
    let request = v1::ReadResourceRequest { uri: uri.to_owned() };
    let read = target.wait(target.reading().read_resource(request))?;
    let mut out = Out::new();
    if common.json {
        let contents = read.contents.iter().map(Part::of).collect();
        out.json(&Contents { folder: read.folder, contents })?;
    } else if read.folder {
        for part in &read.contents {
            out.line(part.uri())?;
        }
    } else {
        for part in &read.contents {
            match &part.body {
                Some(v1::part::Body::Text(text)) => out.bytes(text.as_bytes())?,
                Some(v1::part::Body::Blob(bytes)) => out.bytes(bytes)?,
                None => {}
            }
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what `resources/list` shows to an operator, one URI and title a line.
pub(super) fn list(common: &Common) -> Result<ExitCode, Failure> {
    let target = Target::look(common, "list")?;
    let mut pages = target.wait(target.reading().list_resources(v1::ListResourcesRequest {}))?;
    let mut out = Out::new();
    while let Some(page) = target.next(&mut pages)? {
        for resource in &page.resources {
            if common.json {
                out.json(&Listed::of(resource))?;
            } else {
                let title = Some(resource.title()).filter(|title| !title.is_empty());
                out.line(&format!(
                    "{}\t{}",
                    resource.uri,
                    one_line(title.unwrap_or(resource.name()))
                ))?;
            }
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// JSON that the store has checked; what is none is left out.
fn raw(json: Option<&str>) -> Option<&RawValue> {
    json.and_then(|json| serde_json::from_str(json).ok())
}

impl<'a> Part<'a> {
    fn of(part: &'a v1::Part) -> Self {
        let (text, blob) = match &part.body {
            Some(v1::part::Body::Text(text)) => (Some(text.as_str()), None),
            Some(v1::part::Body::Blob(bytes)) => {
                (None, Some(base64_simd::STANDARD.encode_to_string(bytes)))
            }
            None => (None, None),
        };
        Self {
            uri: part.uri(),
            mime_type: part.mime_type.as_deref(),
            text,
            blob,
            meta: raw(part.meta_json.as_deref()),
        }
    }
}

impl<'a> Listed<'a> {
    fn of(resource: &'a v1::Resource) -> Self {
        let annotations = Annotations::of(resource);
        Self {
            uri: &resource.uri,
            name: resource.name.as_deref(),
            title: resource.title.as_deref(),
            description: resource.description.as_deref(),
            mime_type: resource.mime_type.as_deref(),
            size: resource.size,
            annotations,
            icons: raw(resource.icons_json.as_deref()),
            meta: raw(resource.meta_json.as_deref()),
        }
    }
}

impl Annotations {
    fn of(resource: &v1::Resource) -> Option<Self> {
        let audience = resource.audience().filter_map(|role| match role {
            v1::Role::User => Some("user"),
            v1::Role::Assistant => Some("assistant"),
            v1::Role::Unspecified => None,
        });
        let annotations = Self {
            audience: audience.collect(),
            priority: resource.priority,
            last_modified: resource.last_modified.as_ref().and_then(time_text),
        };
        let Self { audience, priority, last_modified } = &annotations;
        let is_empty = audience.is_empty() && priority.is_none() && last_modified.is_none();
        (!is_empty).then_some(annotations)
    }
}

/// A time as MCP writes it.
pub(super) fn time_text(time: &prost_types::Timestamp) -> Option<String> {
    jiff::Timestamp::new(time.seconds, time.nanos).ok().map(|time| time.to_string())
}
