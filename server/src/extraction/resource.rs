//! The engine's seam: a resource of several parts as one text, and what became of those without one.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use pressmark_index::full_text::extract::{
    Extract, ExtractError, ExtractFailures, Extracted as Found, ExtractedText, Source,
    SourceContent, Stop,
};

use super::{Contents, ExtractFault, Extractor, TEXT_BYTES_MAX};

/// Goes up whenever a reader of ours gives other text: indexes made before are made again.
const READERS_VERSION: u32 = 2;

impl Extract for Extractor {
    fn extract(&self, source: &Source<'_>, stop: &Stop) -> Result<Found, ExtractError> {
        let mut found = Found { is_code: !source.parts.is_empty(), ..Found::default() };
        let mut texts = Vec::with_capacity(source.parts.len());
        let mut fault = None;
        for part in source.parts {
            let contents = match part.content {
                SourceContent::Text(text) => Contents::Text(text),
                SourceContent::Blob(bytes) => Contents::Blob(bytes),
            };
            let mime_type = part.mime_type.or(source.mime_type).unwrap_or_default();
            match self.text_of(mime_type, contents, stop) {
                Ok(part) => {
                    found.is_code &= part.is_code;
                    found.title = found.title.or(part.title);
                    found.language = found.language.or(part.language);
                    texts.push(part.text);
                }
                Err(ExtractFault::Stopped) => return Err(ExtractError::Stopped),
                Err(error) => {
                    self.failures.note(source.uri, mime_type, &error);
                    fault = Some(error);
                }
            }
        }
        match fault {
            // What one part lacks, another may have.
            Some(fault) if texts.is_empty() => return Err(ExtractError::NoText(fault.to_string())),
            fault => found.text = joined(&texts, fault.is_none()),
        }
        Ok(found)
    }

    fn version(&self) -> u32 {
        let mut commands: Vec<_> = self.commands.iter().collect();
        commands.sort_by_key(|(name, _)| name.as_str());
        let mut spelled = format!("{READERS_VERSION} {}", self.child.is_some());
        for (name, command) in commands {
            let _ = write!(spelled, "\n{name} {:?} {:?}", command.program, command.arguments);
        }
        let hash = blake3::hash(spelled.as_bytes());
        let [a, b, c, d, ..] = *hash.as_bytes();
        u32::from_be_bytes([a, b, c, d])
    }

    fn failures(&self) -> ExtractFailures {
        self.failures.counted()
    }
}

/// What has gone wrong since the start.
#[derive(Debug, Default)]
pub(super) struct Failures {
    command: AtomicU64,
    unreadable: AtomicU64,
    passed_over: AtomicU64,
    /// MIME types whose command has failed before: the log has one line for each, the counter counts on.
    warned: Mutex<HashSet<String>>,
}

// === impl Failures ===

impl Failures {
    fn note(&self, uri: &str, mime_type: &str, fault: &ExtractFault) {
        match fault {
            ExtractFault::Unknown | ExtractFault::Stopped => {}
            ExtractFault::Command(_)
            | ExtractFault::CommandTimedOut(_)
            | ExtractFault::CommandOutput(_) => {
                self.command.fetch_add(1, Ordering::Relaxed);
                if self.warned.lock().insert(mime_type.to_owned()) {
                    tracing::warn!(
                        uri,
                        mime_type,
                        error = %fault,
                        "a document has no text; further failures for this type are only counted"
                    );
                }
            }
            ExtractFault::Died | ExtractFault::TimedOut(_) => {
                self.passed_over.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(
                    uri,
                    mime_type,
                    error = %fault,
                    "a document is passed over; it is served, and found by its title and URI only"
                );
            }
            ExtractFault::PassedOver => {
                self.passed_over.fetch_add(1, Ordering::Relaxed);
            }
            ExtractFault::TooLarge | ExtractFault::Damaged(_) | ExtractFault::Panicked => {
                self.unreadable.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(uri, mime_type, error = %fault, "a document has no text");
            }
        }
    }

    fn counted(&self) -> ExtractFailures {
        ExtractFailures {
            command: self.command.load(Ordering::Relaxed),
            unreadable: self.unreadable.load(Ordering::Relaxed),
            passed_over: self.passed_over.load(Ordering::Relaxed),
        }
    }
}

/// The text of all parts; nothing that would have to be kept where each is as it is stored.
fn joined(texts: &[Cow<'_, str>], is_whole: bool) -> ExtractedText {
    let as_stored = is_whole && texts.iter().all(|text| matches!(text, Cow::Borrowed(_)));
    if as_stored {
        return ExtractedText::AsStored;
    }
    let mut text = String::new();
    for part in texts {
        if !text.is_empty() {
            text.push('\n');
        }
        let room = TEXT_BYTES_MAX.saturating_sub(text.len());
        text.push_str(part.get(..part.floor_char_boundary(room)).unwrap_or_default());
    }
    ExtractedText::Other(text)
}

#[cfg(test)]
mod tests {
    use pressmark_index::full_text::extract::SourcePart;

    use super::*;

    fn parts(parts: &[(&'static str, SourceContent<'static>)]) -> Result<Found, ExtractError> {
        let parts: Vec<SourcePart<'_>> = parts
            .iter()
            .map(|(mime_type, content)| SourcePart {
                mime_type: Some(mime_type),
                content: *content,
            })
            .collect();
        let source = Source { uri: "x://y", mime_type: None, parts: &parts };
        Extract::extract(&Extractor::new([], None), &source, &Stop::default())
    }

    #[test]
    fn parts_make_one_text() {
        use SourceContent::{Blob, Text};
        let plain = ("text/plain", Text("plain"));
        let page = ("text/html", Text("<html lang=de><title>T</title><p>page"));
        let picture = ("image/png", Blob(b"\x89PNG"));
        assert_eq!(parts(&[plain]).unwrap(), Found::default());
        let found = parts(&[plain, page, picture]).unwrap();
        assert_eq!(found.text, ExtractedText::Other("plain\npage".to_owned()));
        assert_eq!((found.title.as_deref(), found.language.as_deref()), (Some("T"), Some("de")));
        assert!(!found.is_code && parts(&[("text/x-rust", Text("fn"))]).unwrap().is_code);
        assert!(parts(&[picture]).is_err());
        assert_eq!(
            parts(&[plain, picture]).unwrap().text,
            ExtractedText::Other("plain".to_owned())
        );
    }

    #[test]
    fn another_command_makes_another_version() {
        let command = |program: &str| super::super::ExtractCommand {
            program: program.into(),
            arguments: Vec::new(),
            timeout: std::time::Duration::from_secs(1),
            output_bytes_max: 1,
        };
        let version =
            |program: &str| Extractor::new([("a/b".to_owned(), command(program))], None).version();
        assert_eq!(version("x"), version("x"));
        assert_ne!(version("x"), version("y"));
    }
}
