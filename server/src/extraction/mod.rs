//! From what a resource holds to the text that is searched: title, words, language.
//!
//! Texts are their own text, except HTML, Markdown, notebooks, drawings and what has escapes. What only has to be decoded
//! is read in this process. Everything that needs a parser is read in a child of ours ([`child`]), which has bounds of
//! memory, time and stack that hold whatever the parser does, or by a command of the operator's ([`command`]). What has no
//! text is found by its title, URI and description all the same.

mod resource;

pub(crate) mod child;
mod command;
mod frame;
mod passed_over;
mod readers;
mod running;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

use pressmark_index::full_text::extract::Stop;

use child::Child;
use passed_over::PassedOver;
use readers::{Format, INPUT_BYTES_MAX, TEXT_BYTES_MAX, decode, essence};
use resource::Failures;

pub use command::ExtractCommand;
pub use readers::{Contents, ExtractFault, Extracted};

/// Finds the text of resources; one for the process.
#[derive(Debug)]
pub struct Extractor {
    /// By the essence of a MIME type.
    commands: HashMap<String, ExtractCommand>,
    child: Option<Child>,
    passed_over: PassedOver,
    failures: Failures,
}

// === impl Extractor ===

impl Extractor {
    /// An extractor with commands for MIME types, which go before our own readers. `program` is this program, which reads
    /// formats as a child. Without it they are read in this process, where only their known weaknesses are bounded, and no
    /// PDF files are read.
    pub fn new(
        commands: impl IntoIterator<Item = (String, ExtractCommand)>,
        program: Option<PathBuf>,
    ) -> Self {
        let commands = commands.into_iter();
        Self {
            commands: commands.map(|(name, command)| (essence(&name), command)).collect(),
            child: program.map(Child::new),
            passed_over: PassedOver::default(),
            failures: Failures::default(),
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
        stop: &Stop,
    ) -> Result<Extracted<'a>, ExtractFault> {
        let bytes = match contents {
            Contents::Text(text) => text.as_bytes(),
            Contents::Blob(bytes) => bytes,
        };
        if bytes.len() > INPUT_BYTES_MAX {
            return Err(ExtractFault::TooLarge);
        }
        let essence = essence(mime_type);
        if let Some(command) = self.commands.get(&essence) {
            return by_command(command, bytes, stop);
        }
        let format = Format::of(&essence);
        let needs_child = match contents {
            Contents::Text(_) => format.is_parsed_as_text(),
            Contents::Blob(_) => format.is_parsed(),
        };
        match &self.child {
            Some(child) if needs_child => {
                if self.passed_over.contains(bytes) {
                    return Err(ExtractFault::PassedOver);
                }
                let found = child.read(mime_type, contents, stop);
                if matches!(found, Err(ExtractFault::Died | ExtractFault::TimedOut(_))) {
                    self.passed_over.add(bytes);
                }
                found
            }
            None if format == Format::Pdf && needs_child => Err(ExtractFault::Unknown),
            _ => readers::read(mime_type, contents),
        }
    }
}

fn by_command(
    command: &ExtractCommand,
    bytes: &[u8],
    stop: &Stop,
) -> Result<Extracted<'static>, ExtractFault> {
    let output = command.run(bytes, stop)?;
    let text = match String::from_utf8(output) {
        Ok(text) => text,
        Err(error) => decode(error.as_bytes(), "").into_owned(),
    };
    Ok(Extracted { title: None, text: Cow::Owned(text), language: None, is_code: false })
}
