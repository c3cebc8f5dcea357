//! `pressmark read`: what hosts see, from the shell.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use pressmark_index::moment::rfc_3339;
use pressmark_proto::v1;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Common;
use super::numbers::bytes_text;
use super::output::{Failure, Out};
use super::target::Target;
use crate::terminal;

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

/// Prints a resource as it is: text as text, a binary as its bytes, a folder as its entries' URIs.
pub(super) fn read(common: &Common, uri: &str) -> Result<ExitCode, Failure> {
    let target = Target::find(common, "read")?;
    let request = v1::ReadResourceRequest { uri: uri.to_owned() };
    let read = target.wait(target.reading().read_resource(request))?;
    // A pipe gets every byte; a terminal would act on some.
    let on_terminal = std::io::stdout().is_terminal();
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
                Some(v1::part::Body::Text(text)) if on_terminal => {
                    out.bytes(terminal::escaped(text).as_bytes())?;
                }
                Some(v1::part::Body::Text(text)) => out.bytes(text.as_bytes())?,
                Some(v1::part::Body::Blob(bytes)) if on_terminal => {
                    let bytes = bytes_text(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
                    common.remark(&format!("{uri}: binary, {bytes}; write it to a file or a pipe"));
                }
                Some(v1::part::Body::Blob(bytes)) => out.bytes(bytes)?,
                None => {}
            }
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

/// JSON that the store has checked; what is none is left out.
pub(super) fn raw(json: Option<&str>) -> Option<&RawValue> {
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

/// A time as MCP writes it.
pub(super) fn time_text(time: &prost_types::Timestamp) -> Option<String> {
    let millis = time.seconds.checked_mul(1_000)?.checked_add(i64::from(time.nanos / 1_000_000))?;
    rfc_3339(millis)
}
