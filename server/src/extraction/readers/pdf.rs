//! PDF as text.
//!
//! The library that reads them panics on many files, and what it does on hostile ones is bounded by nothing: it may recurse,
//! allocate, or never end.

use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};

use super::TEXT_BYTES_MAX;

/// After so long no other page is begun.
const READING_TIME: Duration = Duration::from_secs(15);

/// The title, and the text of the pages that can be read.
pub(super) fn text(bytes: &[u8]) -> Result<(Option<String>, String), String> {
    let begun = Instant::now();
    let document = quietly(|| Document::load_mem(bytes))
        .ok_or("the file is damaged")?
        .map_err(|error| error.to_string())?;
    let mut document = document;
    if document.is_encrypted() {
        // Many are encrypted with the empty password, so that anyone may read and nobody may print.
        quietly(|| document.decrypt("")).and_then(Result::ok).ok_or("the file has a password")?;
    }
    let title = quietly(|| title(&document)).flatten().filter(|title| !title.is_empty());
    let mut text = String::new();
    let pages = quietly(|| document.get_pages()).ok_or("the file has no pages")?;
    for number in pages.keys() {
        if begun.elapsed() > READING_TIME || text.len() > TEXT_BYTES_MAX {
            break;
        }
        let mut page = String::new();
        quietly(|| output_doc_page(&document, &mut PlainTextOutput::new(&mut page), *number));
        text.push_str(&page);
        text.push('\n');
    }
    Ok((title, text))
}

fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get(b"Info").ok()?.as_reference().ok()?;
    let info = document.get_dictionary(info).ok()?;
    let title = info.get(b"Title").ok()?.as_str().ok()?;
    let units = title.strip_prefix(&[0xfe, 0xff]).map(|rest| {
        let units = rest.chunks_exact(2).map(|pair| match pair {
            [high, low] => u16::from_be_bytes([*high, *low]),
            _ => 0,
        });
        char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{fffd}')).collect::<String>()
    });
    // Else it is in an encoding of PDF's own, which agrees with Latin-1 in nearly all.
    let title = units.unwrap_or_else(|| title.iter().map(|byte| char::from(*byte)).collect());
    Some(title.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What a call into the library came to; `None` when it panicked.
fn quietly<T>(call: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(call)).ok()
}
