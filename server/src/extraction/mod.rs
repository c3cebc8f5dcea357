//! From what a resource holds to the text that is searched: title, words, language.
//!
//! Texts are their own text, except HTML, Markdown, notebooks, drawings and what has escapes. Of documents in blobs the
//! text is found by a reader of ours, in this process where the reader's work is bounded by what it reads, in a child
//! where it is not ([`pdf`]), or by a command of the operator's ([`command`]). What has no text is found by its title,
//! URI and description all the same.

mod archive;
mod command;
mod decode;
mod format;
mod html;
mod json;
mod markdown;
mod notebook;
mod office;
pub(crate) mod pdf;
mod resource;
mod text;
mod xml;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::sources::headline;
use archive::Archive;
use format::Format;
use office::Document;

pub use command::ExtractCommand;

/// Larger contents have no text taken from them.
pub(crate) const INPUT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The most text that is taken from one document. A thick book has 2 MiB.
pub(crate) const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

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
    /// The title that the document itself tells.
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
    /// A command took too long.
    #[error("the command took more than {0:?}")]
    TimedOut(Duration),
    /// A command failed.
    #[error("the command failed: {0}")]
    Command(String),
}

/// Finds the text of resources; one for the process.
#[derive(Debug)]
pub struct Extractor {
    /// By the essence of a MIME type.
    commands: HashMap<String, ExtractCommand>,
    pdf: Option<ExtractCommand>,
}

// === impl Extractor ===

impl Extractor {
    /// An extractor with commands for MIME types, which go before our own readers. `program` is this program, which reads
    /// PDF files as a child; without it none are read.
    pub fn new(
        commands: impl IntoIterator<Item = (String, ExtractCommand)>,
        program: Option<PathBuf>,
    ) -> Self {
        let commands = commands.into_iter();
        Self {
            commands: commands.map(|(name, command)| (format::essence(&name), command)).collect(),
            pdf: program.map(|program| ExtractCommand {
                program,
                arguments: vec![pdf::SUBCOMMAND.to_owned()],
                timeout: pdf::TIMEOUT,
                output_bytes_max: 2 * TEXT_BYTES_MAX as u64,
            }),
        }
    }

    /// Finds the text of a resource.
    ///
    /// # Errors
    /// When there is none to be found; see [`ExtractFault`].
    pub fn text_of<'a>(
        &self,
        mime_type: &str,
        contents: Contents<'a>,
    ) -> Result<Extracted<'a>, ExtractFault> {
        let bytes = match contents {
            Contents::Text(text) => text.as_bytes(),
            Contents::Blob(bytes) => bytes,
        };
        if bytes.len() > INPUT_BYTES_MAX {
            return Err(ExtractFault::TooLarge);
        }
        let essence = format::essence(mime_type);
        if let Some(command) = self.commands.get(&essence) {
            return by_command(command, bytes);
        }
        // Readers only read, so that a panic leaves nothing half-changed.
        catch_unwind(AssertUnwindSafe(|| match contents {
            Contents::Text(text) => Ok(of_text(&essence, text)),
            Contents::Blob(bytes) => self.of_blob(mime_type, &essence, bytes),
        }))
        .unwrap_or(Err(ExtractFault::Panicked))
    }

    fn of_blob<'a>(
        &self,
        mime_type: &str,
        essence: &str,
        bytes: &'a [u8],
    ) -> Result<Extracted<'a>, ExtractFault> {
        let read = match Format::of(essence) {
            Format::Word => office::word,
            Format::Slides => office::slides,
            Format::Sheets => office::sheets,
            Format::OpenDocument => office::open_document,
            Format::Book => office::book,
            Format::Pdf => return self.of_pdf(bytes),
            Format::Unknown => return Err(ExtractFault::Unknown),
            _ => {
                let text = decode::decode(bytes, mime_type);
                return Ok(of_text(essence, &text).into_owned());
            }
        };
        let Document { title, language, text } = read(Archive::open(bytes)?, TEXT_BYTES_MAX);
        let text = Cow::Owned(titled(title.as_deref(), text));
        Ok(Extracted { title, text, language, is_code: false })
    }

    fn of_pdf(&self, bytes: &[u8]) -> Result<Extracted<'static>, ExtractFault> {
        let command = self.pdf.as_ref().ok_or(ExtractFault::Unknown)?;
        let output = command.run(bytes)?;
        let output = String::from_utf8_lossy(&output);
        let (title, text) = output.split_once('\n').unwrap_or(("", &output));
        let mut words = text::TextBuilder::new(TEXT_BYTES_MAX);
        text.lines().for_each(|line| {
            words.line();
            words.push(line);
        });
        let title = Some(title).filter(|title| !title.is_empty());
        Ok(Extracted {
            title: title.map(str::to_owned),
            text: Cow::Owned(titled(title, words.finish())),
            language: None,
            is_code: false,
        })
    }
}

/// The text with its title on top, unless it begins with it: the record of a file has the file's name as its title, and
/// that goes before.
fn titled(title: Option<&str>, text: String) -> String {
    match title {
        Some(title) if !text.starts_with(title) => format!("{title}\n{text}"),
        _ => text,
    }
}

fn by_command(command: &ExtractCommand, bytes: &[u8]) -> Result<Extracted<'static>, ExtractFault> {
    let output = command.run(bytes)?;
    let text = match String::from_utf8(output) {
        Ok(text) => text,
        Err(error) => decode::decode(error.as_bytes(), "").into_owned(),
    };
    Ok(Extracted { title: None, text: Cow::Owned(text), language: None, is_code: false })
}

fn of_text<'a>(essence: &str, text: &'a str) -> Extracted<'a> {
    let is_code = format::is_code(essence);
    let title = || headline(essence, text).title;
    let plain = |text| Extracted { title: None, text, language: None, is_code };
    match Format::of(essence) {
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

// === impl Extracted ===

impl Extracted<'_> {
    fn into_owned(self) -> Extracted<'static> {
        let Self { title, text, language, is_code } = self;
        Extracted { title, text: Cow::Owned(text.into_owned()), language, is_code }
    }
}
