//! From the JSON that hosts get, as the engine keeps it, to messages of the plane.

use pressmark_index::contents::Contents;
use pressmark_index::contents_fragment::WireFields;
use pressmark_index::error::{Error, ErrorKind};
use pressmark_index::list::ListPage;
use pressmark_proto::v1;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::convert;

const ALL_FIELDS: WireFields =
    WireFields { title: true, icons: true, meta: true, last_modified: true };

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    uri: String,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    mime_type: Option<String>,
    size: Option<u64>,
    #[serde(default)]
    annotations: Annotations,
    icons: Option<Box<RawValue>>,
    #[serde(rename = "_meta")]
    meta: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Annotations {
    audience: Vec<Role>,
    priority: Option<f64>,
    last_modified: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    uri: Option<String>,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<Box<RawValue>>,
}

/// Resources as `resources/list` shows them.
pub(super) fn listed(page: &ListPage) -> Result<Vec<v1::Resource>, Error> {
    let mut resources = Vec::with_capacity(page.items.len());
    let mut json = Vec::new();
    for descriptor in &page.items {
        json.clear();
        descriptor.write(ALL_FIELDS, &mut json);
        resources.push(resource(&json)?);
    }
    Ok(resources)
}

fn resource(json: &[u8]) -> Result<v1::Resource, Error> {
    let listed: Listed = serde_json::from_slice(json).map_err(|error| corrupt("list", error))?;
    let Annotations { audience, priority, last_modified } = listed.annotations;
    let modified = last_modified.and_then(|text| crate::moment::time(&text));
    let role = |role| match role {
        Role::User => v1::Role::User.into(),
        Role::Assistant => v1::Role::Assistant.into(),
    };
    Ok(v1::Resource {
        uri: listed.uri,
        name: listed.name,
        title: listed.title,
        description: listed.description,
        mime_type: listed.mime_type,
        size: listed.size,
        audience: audience.into_iter().map(role).collect(),
        priority,
        last_modified: modified.map(convert::time),
        icons_json: listed.icons.map(text),
        meta_json: listed.meta.map(text),
        ..v1::Resource::default()
    })
}

/// The `contents` of `resources/read`.
pub(super) fn parts(contents: &Contents, uri: &str) -> Result<Vec<v1::Part>, Error> {
    let mut json = Vec::with_capacity(contents.encoded_bytes(uri));
    contents.write_array(uri, ALL_FIELDS, &mut json)?;
    let parts: Vec<Part> = serde_json::from_slice(&json).map_err(|error| corrupt(uri, error))?;
    parts.into_iter().map(|part| sent(part, uri)).collect()
}

fn sent(part: Part, uri: &str) -> Result<v1::Part, Error> {
    use v1::part::Body;
    let body = match part.blob {
        Some(blob) => {
            let bytes = base64_simd::STANDARD.decode_to_vec(blob);
            Body::Blob(bytes.map_err(|error| corrupt(uri, error))?.into())
        }
        None => Body::Text(part.text.unwrap_or_default()),
    };
    Ok(v1::Part {
        uri: part.uri,
        mime_type: part.mime_type,
        meta_json: part.meta.map(text),
        body: Some(body),
    })
}

fn text(json: Box<RawValue>) -> String {
    Box::<str>::from(json).into()
}

fn corrupt(subject: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let text = "what is stored is not the JSON that was written";
    Error::new(ErrorKind::Corrupt, subject, text).with_source(source)
}
