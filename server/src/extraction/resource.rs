//! The engine's seam: a resource of several parts as one text.

use std::borrow::Cow;
use std::fmt::Write as _;

use pressmark_index::full_text::extract::{
    Extract, ExtractError, Extracted as Found, ExtractedText, Source, SourceContent, Stop,
};

use super::{Contents, Extractor, TEXT_BYTES_MAX};

/// Goes up whenever a reader of ours gives other text: indexes made before are made anew.
const READERS_VERSION: u32 = 1;

impl Extract for Extractor {
    fn extract(&self, source: &Source<'_>, _stop: &Stop) -> Result<Found, ExtractError> {
        let mut found = Found { is_code: !source.parts.is_empty(), ..Found::default() };
        let mut texts = Vec::with_capacity(source.parts.len());
        let mut fault = None;
        for part in source.parts {
            let contents = match part.content {
                SourceContent::Text(text) => Contents::Text(text),
                SourceContent::Blob(bytes) => Contents::Blob(bytes),
            };
            let mime_type = part.mime_type.or(source.mime_type).unwrap_or_default();
            match self.text_of(mime_type, contents) {
                Ok(part) => {
                    found.is_code &= part.is_code;
                    found.title = found.title.or(part.title);
                    found.language = found.language.or(part.language);
                    texts.push(part.text);
                }
                Err(error) => fault = Some(error),
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
        let mut spelled = format!("{READERS_VERSION} {}", self.pdf.is_some());
        for (name, command) in commands {
            let _ = write!(spelled, "\n{name} {:?} {:?}", command.program, command.arguments);
        }
        let hash = blake3::hash(spelled.as_bytes());
        let [a, b, c, d, ..] = *hash.as_bytes();
        u32::from_be_bytes([a, b, c, d])
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
