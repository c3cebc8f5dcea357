//! What a file is, by its content first and its name second.
//!
//! Text is served as text: valid UTF-8 without the control characters that the WHATWG's MIME Sniffing standard calls
//! binary data bytes (section 3). A byte order mark stays where it is, so that the bytes read back as they are. All
//! else is a blob, UTF-16 and other encodings included: text that is guessed may be wrong, bytes are not.

use pressmark_index::resource::Body;

use super::media_type_table::{TEXT_NAMES, TEXT_TYPES, ZIP_BASED};

const PLAIN: &str = "text/plain";
const OCTETS: &str = "application/octet-stream";

/// How far into a text its type is looked for.
const SNIFF_BYTES: usize = 512;

/// A file's content with its type.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) mime_type: String,
    pub(super) body: Body,
}

/// Judges the content of a file called `name`.
pub(super) fn judge(name: &str, bytes: Vec<u8>) -> Judged {
    // A PDF may be all ASCII and is no text to a reader all the same.
    if bytes.starts_with(b"%PDF-") || bytes.iter().any(|&byte| is_binary_data(byte)) {
        return blob(name, bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Judged { mime_type: text_type(name, &text), body: Body::Text(text) },
        Err(error) => blob(name, error.into_bytes()),
    }
}

fn is_binary_data(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

fn blob(name: &str, bytes: Vec<u8>) -> Judged {
    Judged { mime_type: blob_type(name, &bytes), body: Body::Blob(bytes) }
}

fn text_type(name: &str, text: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if let Some((_, mime_type)) = TEXT_NAMES.iter().find(|(known, _)| *known == lower) {
        return (*mime_type).to_owned();
    }
    let Some(extension) = extension(&lower) else {
        return sniffed_text_type(text).to_owned();
    };
    if let Some((_, mime_type)) = TEXT_TYPES.iter().find(|(known, _)| *known == extension) {
        return (*mime_type).to_owned();
    }
    match mime_guess::from_ext(extension).first_raw() {
        Some(mime_type) if is_textual(mime_type) => mime_type.to_owned(),
        // The extension promises something else and the content is text: the content is right.
        Some(_) => PLAIN.to_owned(),
        None => sniffed_text_type(text).to_owned(),
    }
}

/// The type of a text whose name says nothing.
fn sniffed_text_type(text: &str) -> &'static str {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let head: String = start.chars().take(SNIFF_BYTES).collect::<String>().to_ascii_lowercase();
    if head.starts_with("<!doctype html") || head.starts_with("<html") {
        return "text/html";
    }
    if head.starts_with("<svg") || (head.starts_with("<?xml") && head.contains("<svg")) {
        return "image/svg+xml";
    }
    if head.starts_with("<?xml") {
        return "text/xml";
    }
    let Some(interpreter) = head.strip_prefix("#!").and_then(|rest| rest.lines().next()) else {
        return PLAIN;
    };
    let is = |name: &str| interpreter.contains(name);
    match () {
        () if is("python") => "text/x-python",
        () if is("node") || is("deno") => "text/javascript",
        () if is("perl") => "text/x-perl",
        () if is("ruby") => "text/x-ruby",
        () if is("sh") => "text/x-shellscript",
        () => PLAIN,
    }
}

fn blob_type(name: &str, bytes: &[u8]) -> String {
    let lower = name.to_ascii_lowercase();
    let by_name = extension(&lower).and_then(|extension| {
        let known = mime_guess::from_ext(extension).first_raw();
        known.filter(|mime_type| *mime_type != OCTETS)
    });
    let by_content = infer::get(bytes)
        .filter(|found| found.matcher_type() != infer::MatcherType::Text)
        .map(|found| found.mime_type());
    let mime_type = match by_content {
        // Many formats are ZIP files; only the name tells them apart.
        Some("application/zip") => extension(&lower)
            .filter(|extension| ZIP_BASED.contains(extension))
            .and(by_name)
            .unwrap_or("application/zip"),
        Some(mime_type) => mime_type,
        None => by_name_of_text(&lower, bytes)
            .or(by_name.filter(|name| !is_textual(name)))
            .unwrap_or(OCTETS),
    };
    mime_type.to_owned()
}

/// A textual type by name, for bytes that are text in another encoding than UTF-8.
fn by_name_of_text(lower: &str, bytes: &[u8]) -> Option<&'static str> {
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if !utf16 && bytes.iter().any(|&byte| is_binary_data(byte)) {
        return None;
    }
    let extension = extension(lower)?;
    let known = TEXT_TYPES.iter().find(|(known, _)| *known == extension).map(|(_, known)| *known);
    known.or_else(|| mime_guess::from_ext(extension).first_raw().filter(|known| is_textual(known)))
}

/// Whether a type is one that text is usually given.
fn is_textual(mime_type: &str) -> bool {
    let subtype = mime_type.strip_prefix("application/").unwrap_or_default();
    mime_type.starts_with("text/")
        || mime_type.ends_with("+xml")
        || mime_type.ends_with("+json")
        || matches!(subtype, "json" | "xml" | "javascript" | "yaml" | "toml" | "sql" | "x-sh")
}

/// What follows the last dot of a lower-case name. A leading dot starts a hidden name, not an extension.
fn extension(lower: &str) -> Option<&str> {
    let (stem, extension) = lower.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then_some(extension)
}
