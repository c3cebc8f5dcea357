//! Office documents: OOXML (Word, PowerPoint, Excel), OpenDocument and EPUB. All are XML in a ZIP file.

mod book;
mod open_document;
mod properties;
mod sheets;
mod slides;
mod word;

#[cfg(test)]
mod tests;

use super::archive::Archive;
use super::text::TextBuilder;

pub(super) use book::book;
pub(super) use open_document::open_document;
pub(super) use sheets::sheets;
pub(super) use slides::slides;
pub(super) use word::word;

/// What a document says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) title: Option<String>,
    pub(super) language: Option<String>,
    pub(super) text: String,
}

// === impl Document ===

impl Document {
    /// A text with the properties that `part` of the archive tells.
    fn with_properties(archive: &mut Archive<'_>, part: &str, text: TextBuilder) -> Self {
        let found = archive.text(part).map(|xml| properties::read(&xml)).unwrap_or_default();
        Self { title: found.title, language: found.language, text: text.finish() }
    }
}
