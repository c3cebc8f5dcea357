//! `pressmark dump`: a space as NDJSON that `pressmark load` takes back.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use pressmark_proto::v1;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Common;
use super::inspect::{raw, time_text};
use super::list::resource_count;
use super::numbers::counted;
use super::output::{Failure, Out};
use super::target::Target;

#[derive(Debug, Args)]
pub(super) struct DumpArgs {
    /// Name of the space
    space: String,
}

/// A record, with the fields that `load` reads.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icons: Option<&'a RawValue>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    acl: Option<&'a [String]>,
    #[serde(flatten)]
    contents: Contents<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Contents<'a> {
    Text(&'a str),
    Blob(String),
    #[serde(rename = "contents")]
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
    #[serde(flatten)]
    body: Contents<'a>,
}

/// Prints all resources of the space, one a line, in the byte order of their URIs.
pub(super) fn run(common: &Common, arguments: &DumpArgs) -> Result<ExitCode, Failure> {
    let target = Target::find(common, "dump")?;
    let spaces = target.wait(target.spaces().list_spaces(v1::ListSpacesRequest {}))?.spaces;
    resource_count(&spaces, Some(&arguments.space))?;
    let request = v1::ScanResourcesRequest {
        space: arguments.space.clone(),
        ..v1::ScanResourcesRequest::default()
    };
    let mut pages = target.wait(target.resources().scan_resources(request))?;
    let mut out = Out::new();
    let mut dumped = 0;
    while let Some(page) = target.next(&mut pages)? {
        for resource in page.resources.iter().filter_map(|stored| stored.resource.as_ref()) {
            out.json(&Record::of(resource))?;
            dumped += 1;
        }
    }
    out.end()?;
    common.remark(&counted(dumped, "record", "records"));
    Ok(ExitCode::SUCCESS)
}

impl<'a> Record<'a> {
    fn of(resource: &'a v1::Resource) -> Self {
        Self {
            uri: &resource.uri,
            name: resource.name.as_deref(),
            title: resource.title.as_deref(),
            description: resource.description.as_deref(),
            mime_type: resource.mime_type.as_deref(),
            annotations: annotations(resource),
            size: resource.size,
            icons: raw(resource.icons_json.as_deref()),
            meta: raw(resource.meta_json.as_deref()),
            pinned: resource.pinned,
            acl: resource.acl.as_ref().map(|acl| acl.groups.as_slice()),
            contents: contents(resource),
        }
    }
}

fn annotations(resource: &v1::Resource) -> BTreeMap<&'static str, serde_json::Value> {
    let audience: Vec<serde_json::Value> = resource
        .audience()
        .filter_map(|role| match role {
            v1::Role::User => Some("user".into()),
            v1::Role::Assistant => Some("assistant".into()),
            v1::Role::Unspecified => None,
        })
        .collect();
    let modified = resource.last_modified.as_ref().and_then(time_text);
    [
        ("audience", Some(audience).filter(|roles| !roles.is_empty()).map(Into::into)),
        ("priority", resource.priority.map(Into::into)),
        ("lastModified", modified.map(Into::into)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// The short form where one part says nothing of its own.
///
/// A resource takes the type of its first part. So if it has none, a type on its first part is only the default of blobs,
/// and a record that spelled it out would give the resource that type.
fn contents(resource: &v1::Resource) -> Contents<'_> {
    let mut parts = resource.contents.iter().filter_map(part).collect::<Vec<_>>();
    if let (None, Some(first)) = (&resource.mime_type, parts.first_mut()) {
        first.mime_type = None;
    }
    match parts.pop() {
        Some(Part { uri: None, mime_type: None, meta: None, body }) if parts.is_empty() => body,
        last => Contents::Parts(parts.into_iter().chain(last).collect()),
    }
}

fn part(part: &v1::Part) -> Option<Part<'_>> {
    Some(Part {
        uri: part.uri.as_deref(),
        mime_type: part.mime_type.as_deref(),
        meta: raw(part.meta_json.as_deref()),
        body: body(part.body.as_ref()?),
    })
}

fn body(body: &v1::part::Body) -> Contents<'_> {
    match body {
        v1::part::Body::Text(text) => Contents::Text(text),
        v1::part::Body::Blob(bytes) => {
            Contents::Blob(base64_simd::STANDARD.encode_to_string(bytes))
        }
    }
}
