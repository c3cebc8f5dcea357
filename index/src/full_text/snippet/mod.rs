//! The place of a text that shows best why it was found, with the words that were asked for marked.
//!
//! The work is bounded: the first [`SCANNED_BYTES_MAX`] bytes are looked at until all that is wanted is found close together,
//! and what is behind them only for words that were not there (`late`). Chosen is the window with the most
//! different wanted words, among those the densest, among those the first. It begins where a sentence does when one is
//! near, else where a word does; no character as a reader sees it is cut. White space of all kinds becomes one space.

mod late;
mod matches;
#[cfg(test)]
mod tests;
mod wanted;
mod window;
mod write;

use std::ops::Range;

pub(crate) use wanted::Wanted;

/// So much of a text is looked at in any case, bytes.
pub(crate) const SCANNED_BYTES_MAX: usize = 128 << 10;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// On one line, with `…` where it was cut.
    pub text: String,
    /// The matched words, as byte ranges of `text`: in order, not empty, without overlap.
    pub marks: Vec<Range<usize>>,
}

/// Makes the snippets of one search: what is wanted is looked up in one text after the other.
pub(crate) struct Snippets<'a>(matches::Finder<'a>);

impl<'a> Snippets<'a> {
    pub(crate) fn new(wanted: &'a Wanted) -> Snippets<'a> {
        Snippets(matches::Finder::new(wanted))
    }

    /// The best piece of a text, of at most `bytes_max` bytes. Without a match, it is the text's beginning.
    pub(crate) fn of(&mut self, text: &str, bytes_max: usize) -> Snippet {
        let hits = self.0.hits(text, bytes_max);
        let best = window::best(&hits, bytes_max);
        let start = best.map_or(0, |best| window::start(text, &best.span, bytes_max));
        let marks = matches::merged(&hits);
        write::piece(text, start, &marks, bytes_max)
    }
}
