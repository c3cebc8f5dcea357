//! PDF as text, in a process of its own.
//!
//! The library that reads them panics on many files, and what it does on hostile ones is bounded by nothing: it may recurse,
//! allocate, or never end. So it runs in a child of ours, `pressmark extract-pdf`, which bounds its own memory and time
//! before it reads, and which the parent kills when it is late. Whatever happens there costs one document its text.

use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{INPUT_BYTES_MAX, TEXT_BYTES_MAX};

/// The subcommand of the child.
pub(crate) const SUBCOMMAND: &str = "extract-pdf";

/// How long one file may take; the child stops before, between two pages, and tells what it has.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);
const READING_TIME: Duration = Duration::from_secs(15);

/// The memory of the child. A file inflates to several times its size.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// What the child does: reads a PDF from stdin and writes its text to stdout.
///
/// # Errors
/// When the input is no PDF that can be read, or the output is closed.
pub(crate) fn run() -> io::Result<()> {
    bound_process()?;
    panic::set_hook(Box::new(|_| {}));
    let mut bytes = Vec::new();
    io::stdin().lock().take(INPUT_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    let text = text(&bytes, READING_TIME).map_err(io::Error::other)?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn bound_process() -> io::Result<()> {
    let seconds = TIMEOUT.as_secs();
    for (resource, most) in
        [(Resource::Data, MEMORY_BYTES_MAX), (Resource::Cpu, seconds), (Resource::Core, 0)]
    {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// The text of the pages that can be read. The first line is the title, which may be empty.
fn text(bytes: &[u8], time: Duration) -> Result<String, String> {
    let begun = Instant::now();
    let document = quietly(|| Document::load_mem(bytes))
        .ok_or("the file is damaged")?
        .map_err(|error| error.to_string())?;
    let mut document = document;
    if document.is_encrypted() {
        // Many are encrypted with the empty password, so that anyone may read and nobody may print.
        quietly(|| document.decrypt("")).and_then(Result::ok).ok_or("the file has a password")?;
    }
    let mut text = quietly(|| title(&document)).flatten().unwrap_or_default();
    text.push('\n');
    let pages = quietly(|| document.get_pages()).ok_or("the file has no pages")?;
    for number in pages.keys() {
        if begun.elapsed() > time || text.len() > TEXT_BYTES_MAX {
            break;
        }
        let mut page = String::new();
        quietly(|| output_doc_page(&document, &mut PlainTextOutput::new(&mut page), *number));
        text.push_str(&page);
        text.push('\n');
    }
    Ok(text)
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
