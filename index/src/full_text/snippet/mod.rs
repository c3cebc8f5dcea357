//! Stands in for the snippets of another branch until the two are merged: how a text begins.

use std::ops::Range;

/// A piece of a text with what was found in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The piece.
    pub text: String,
    /// Where the words that were looked for stand in it, in bytes.
    pub marks: Vec<Range<usize>>,
}

/// What to look for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted;

/// The best piece of a text, of at most `bytes_max` bytes.
pub(crate) fn snippet(text: &str, _wanted: &Wanted, bytes_max: usize) -> Snippet {
    let end = text.floor_char_boundary(bytes_max);
    Snippet { text: text.get(..end).unwrap_or_default().to_owned(), marks: Vec::new() }
}
