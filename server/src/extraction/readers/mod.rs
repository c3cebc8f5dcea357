//! The readers of formats: from contents to text. They know neither the store nor processes, and take no more memory than
//! [`TEXT_BYTES_MAX`] for what they give and a small multiple of what they are given.
//!
//! Those that use a parser of somebody else's run in a child of ours, see [`super::child`]; the others look at each byte
//! once and run where they are called.

mod archive;
mod decode;
mod format;
mod html;
mod html_input;
mod json;
mod markdown;
mod notebook;
mod office;
pub(super) mod pdf;
mod text;
mod xml;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use thiserror::Error;

use crate::sources::headline::headline;
use archive::Archive;
use office::Document;

pub(super) use decode::decode;
pub(super) use format::{Format, essence};

/// Larger contents have no text taken from them.
pub(crate) const INPUT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The most text that is taken from one document. A thick book has 2 MiB.
pub(crate) const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Of a text, readers see so much: its marks may be as long as its words.
const MARKUP_BYTES_MAX: usize = 4 * TEXT_BYTES_MAX;

/// What a resource holds.
#[derive(Debug, Clone, Copy)]
pub enum Contents<'a> {
    /// Text.
    Text(&'a str),
    /// Bytes.
    Blob(&'a [u8]),
}

/// What was found in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Extracted<'a> {
    /// The title that the document itself gives.
    pub title: Option<String>,
    /// Borrowed where it is the resource's own text.
    pub text: Cow<'a, str>,
    /// The language that the document declares, as a BCP 47 tag.
    pub language: Option<String>,
    /// Whether its words are mostly identifiers.
    pub is_code: bool,
}

/// Why there is no text.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ExtractFault {
    /// No reader knows the type.
    #[error("no reader for this type; a command can be set under [[extract]]")]
    Unknown,
    /// More bytes than are looked at.
    #[error("the document or its text is too large")]
    TooLarge,
    /// It is not what its type says.
    #[error("the document cannot be read: {0}")]
    Damaged(String),
    /// A reader failed in a way that is its own fault.
    #[error("the reader of this type failed on the document")]
    Panicked,
    /// Reading it ended the process that reads.
    #[error("the reader of this type ran out of memory or stack, or crashed")]
    Died,
    /// It took too long.
    #[error("reading took more than {0:?}")]
    TimedOut(Duration),
    /// It is known that reading it ends the process that reads, or takes too long.
    #[error("the document is passed over, since it could not be read before")]
    PassedOver,
    /// A command failed.
    #[error("the command failed: {0}")]
    Command(String),
    /// A command took too long.
    #[error("the command took more than {0:?}; see extract.timeout")]
    CommandTimedOut(Duration),
    /// A command wrote too much.
    #[error("the command wrote more than {0} bytes; see extract.output_bytes_max")]
    CommandOutput(u64),
    /// The engine closes.
    #[error("the engine closes")]
    Stopped,
}

/// Reads contents in this process. What the parsers do that it calls is bounded by nothing: who reads documents of others
/// calls it where a death is survived.
///
/// # Errors
/// When there is no text to be found; see [`ExtractFault`].
pub(crate) fn read<'a>(
    mime_type: &str,
    contents: Contents<'a>,
) -> Result<Extracted<'a>, ExtractFault> {
    // Readers only read, so that a panic leaves nothing half-changed.
    catch_unwind(AssertUnwindSafe(|| match contents {
        Contents::Text(text) => Ok(of_text(&essence(mime_type), text)),
        Contents::Blob(bytes) => of_blob(mime_type, bytes),
    }))
    .unwrap_or(Err(ExtractFault::Panicked))
}

fn of_blob<'a>(mime_type: &str, bytes: &'a [u8]) -> Result<Extracted<'a>, ExtractFault> {
    let essence = essence(mime_type);
    let read = match Format::of(&essence) {
        Format::Word => office::word,
        Format::Slides => office::slides,
        Format::Sheets => office::sheets,
        Format::OpenDocument => office::open_document,
        Format::Book => office::book,
        Format::Pdf => return of_pdf(bytes),
        Format::Unknown => return Err(ExtractFault::Unknown),
        _ => {
            let bytes = bytes.get(..MARKUP_BYTES_MAX).unwrap_or(bytes);
            return Ok(match decode::decode(bytes, mime_type) {
                Cow::Borrowed(text) => of_text(&essence, text),
                Cow::Owned(text) => of_text(&essence, &text).into_owned(),
            });
        }
    };
    let Document { title, language, text } = read(Archive::open(bytes)?, TEXT_BYTES_MAX);
    let text = Cow::Owned(titled(title.as_deref(), text));
    Ok(Extracted { title, text, language, is_code: false })
}

fn of_pdf(bytes: &[u8]) -> Result<Extracted<'static>, ExtractFault> {
    let (title, found) = pdf::text(bytes).map_err(ExtractFault::Damaged)?;
    let mut words = text::TextBuilder::new(TEXT_BYTES_MAX);
    found.lines().for_each(|line| {
        words.line();
        words.push(line);
    });
    let text = Cow::Owned(titled(title.as_deref(), words.finish()));
    Ok(Extracted { title, text, language: None, is_code: false })
}

/// The text with its title on top, unless it begins with it: the record of a file has the file's name as its title, and
/// that goes before.
fn titled(title: Option<&str>, text: String) -> String {
    match title {
        Some(title) if !text.starts_with(title) => format!("{title}\n{text}"),
        _ => text,
    }
}

fn of_text<'a>(essence: &str, text: &'a str) -> Extracted<'a> {
    let is_code = format::is_code(essence);
    let format = Format::of(essence);
    let text = if format.is_as_stored() { text } else { beginning(text) };
    let title = || headline(essence, text).title;
    let plain = |text| Extracted { title: None, text, language: None, is_code };
    match format {
        Format::Html => {
            let page = html::page(text, TEXT_BYTES_MAX);
            let text = Cow::Owned(page.text);
            Extracted { title: title(), text, language: page.language, is_code }
        }
        Format::Markdown => {
            Extracted { title: title(), ..plain(Cow::Owned(markdown::text(text, TEXT_BYTES_MAX))) }
        }
        Format::Notebook => match notebook::text(text, TEXT_BYTES_MAX) {
            Some(words) => plain(Cow::Owned(words)),
            None => plain(json::text(text)),
        },
        Format::Json => plain(json::text(text)),
        Format::Drawing => plain(Cow::Owned(xml::words(text, TEXT_BYTES_MAX))),
        Format::Xml => plain(html_escape::decode_html_entities(text)),
        // A text with a document's type is one that somebody else took from it.
        Format::Plain
        | Format::Word
        | Format::Slides
        | Format::Sheets
        | Format::OpenDocument
        | Format::Book
        | Format::Pdf
        | Format::Unknown => plain(Cow::Borrowed(text)),
    }
}

/// The part of a text that readers see.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MARKUP_BYTES_MAX)).unwrap_or(text)
}

// === impl Extracted ===

impl Extracted<'_> {
    fn into_owned(self) -> Extracted<'static> {
        let Self { title, text, language, is_code } = self;
        Extracted { title, text: Cow::Owned(text.into_owned()), language, is_code }
    }
}
