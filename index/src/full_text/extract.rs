//! The seam to what knows file formats: how the text of a resource is had.

use std::fmt;

/// A resource, as an extractor gets it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its URI.
    pub uri: &'a str,
    /// Its MIME type.
    pub mime_type: Option<&'a str>,
    /// Its parts.
    pub parts: &'a [SourcePart<'a>],
}

/// A part of a resource.
#[derive(Debug, Clone, Copy)]
pub struct SourcePart<'a> {
    /// Its MIME type.
    pub mime_type: Option<&'a str>,
    /// What it holds.
    pub content: SourceContent<'a>,
}

/// Text, or decoded bytes.
#[derive(Debug, Clone, Copy)]
pub enum SourceContent<'a> {
    /// A text.
    Text(&'a str),
    /// A binary.
    Blob(&'a [u8]),
}

/// What can be found of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    /// A title that the contents give; that of the record goes before.
    pub title: Option<String>,
    /// Its text.
    pub text: ExtractedText,
    /// The language that the contents declare, as a BCP 47 tag.
    pub language: Option<String>,
    /// Whether it is source code: no language of people, so that its words are not stemmed.
    pub is_code: bool,
}

/// The text of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ExtractedText {
    /// The texts of its parts as they are stored: it need not be kept a second time.
    #[default]
    AsStored,
    /// Another one, which the index keeps for snippets.
    Other(String),
}

/// Gets the text out of resources. Called by one thread, for every resource that changes: it must be bounded in time and
/// memory.
pub trait Extract: Send + Sync + fmt::Debug {
    /// The text of a resource. A resource that gives an error is found by its title and URI only.
    ///
    /// # Errors
    /// What keeps its text from being read.
    fn extract(&self, source: &Source<'_>) -> Result<Extracted, ExtractError>;

    /// Changes whenever the same resource gives another text: indexes made before are made anew.
    fn version(&self) -> u32;
}

/// Why there is no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExtractError(pub String);

/// Takes texts as they are, and nothing of binaries.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsStored;

impl Extract for AsStored {
    fn extract(&self, _source: &Source<'_>) -> Result<Extracted, ExtractError> {
        Ok(Extracted::default())
    }

    fn version(&self) -> u32 {
        0
    }
}
