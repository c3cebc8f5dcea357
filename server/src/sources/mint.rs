//! From a file to a resource record.

use pressmark_index::resource::{
    Address, Annotations, Binding, Body, Part, Resource, SourceMark, Value,
};

use super::beneath::EntryStat;
use super::headline::headline;
use super::media_type::judge;
use super::read_file::ReadFile;
use crate::terminal::escaped_label;

/// Goes up whenever the same bytes would become another record, or other bytes would count as a secret: then every
/// file is read again once.
const MINT_VERSION: u8 = 4;

/// The README and the index page of the folder itself.
const PRIORITY_ROOT_PAGE: f64 = 0.8;

/// Those of sub-folders; above 0.5, which stands for a record without a priority.
const PRIORITY_FOLDER_PAGE: f64 = 0.6;

/// The record of the file at `relative`; `path` is the same, escaped.
pub(super) fn mint(
    space: &str,
    relative: &str,
    path: String,
    file: ReadFile,
    mark: SourceMark,
) -> Resource {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let judged = judge(name, file.bytes);
    let headline = match &judged.body {
        Body::Text(text) => headline(&judged.mime_type, text),
        Body::Blob(_) => Default::default(),
    };
    let annotations = Annotations {
        audience: Vec::new(),
        priority: priority(relative, name, &judged.mime_type),
        last_modified: Some(file.stat.modified),
    };
    let part = Part { uri: None, mime_type: None, meta: None, body: judged.body };
    Resource {
        space: space.to_owned(),
        address: Address::Variables(vec![Binding {
            name: "path".to_owned(),
            value: Value::String(path),
        }]),
        // Many files of a folder are called `README.md`: only the path tells them apart in a list.
        name: Some(escaped_label(relative).into_owned()),
        title: headline.title.map(shown),
        description: headline.description.map(shown),
        mime_type: Some(judged.mime_type),
        contents: vec![part],
        annotations,
        size: Some(file.stat.bytes),
        icons: None,
        meta: None,
        pinned: false,
        acl: None,
        source: Some(mark),
    }
}

/// What a file says of itself, or its name, may neither act on a terminal nor reorder what stands beside it.
fn shown(text: String) -> String {
    escaped_label(&text).into_owned()
}

/// What tells that a file would become the same record as before.
///
/// `named`: whether an include pattern spelled it out, since then its content is not judged.
pub(super) fn fingerprint(named: bool, stat: &EntryStat) -> Vec<u8> {
    let mut fingerprint = vec![MINT_VERSION, u8::from(named)];
    fingerprint.extend_from_slice(&stat.fingerprint);
    fingerprint
}

/// READMEs and index pages say what a folder holds. An `index.js` does not.
fn priority(relative: &str, name: &str, mime_type: &str) -> Option<f64> {
    const PAGE_TYPES: [&str; 5] =
        ["text/markdown", "text/html", "text/plain", "text/x-rst", "text/asciidoc"];
    let name = name.to_ascii_lowercase();
    let stem_end = name.find(['.', '-', '_']).unwrap_or(name.len());
    let is_page = match name.get(..stem_end) {
        Some("readme") => true,
        Some("index") => name.get(stem_end..).is_some_and(|rest| rest.starts_with('.')),
        _ => false,
    };
    if !is_page || !PAGE_TYPES.contains(&mime_type) {
        return None;
    }
    Some(if relative.contains('/') { PRIORITY_FOLDER_PAGE } else { PRIORITY_ROOT_PAGE })
}
