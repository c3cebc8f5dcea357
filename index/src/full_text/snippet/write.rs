//! A piece of a text on one line.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::Snippet;

const ELLIPSIS: &str = "…";
/// A word that was cut is left out when it is not longer, bytes.
const CUT_WORD_BYTES_MAX: usize = 32;
/// White space and signs that are passed over, for each byte of the snippet, at most.
const READ_BYTES_FACTOR: usize = 8;

/// The piece that begins at `start`, with those of the text's marks that it shows.
pub(super) fn piece(text: &str, start: usize, marks: &[Range<usize>], bytes_max: usize) -> Snippet {
    let mut snippet = Snippet::default();
    let room = bytes_max.saturating_sub(2 * ELLIPSIS.len());
    if room == 0 {
        return snippet;
    }
    let read_end =
        text.floor_char_boundary(start.saturating_add(bytes_max.saturating_mul(READ_BYTES_FACTOR)));
    let read = text.get(start..read_end).unwrap_or_default();
    if start > 0 && !text.get(..start).unwrap_or_default().trim().is_empty() {
        snippet.text.push_str(ELLIPSIS);
    }
    let limit = room + snippet.text.len();
    let mut marks = marks.iter().skip_while(|mark| mark.end <= start).peekable();
    let mut space = false;
    let mut written = false;
    let mut cut = read_end < text.len();
    let mut next = 0;
    while let Some(grapheme) = read.get(next..).and_then(first_grapheme) {
        let at = start + next;
        next += grapheme.len();
        if grapheme.chars().all(|character| character.is_whitespace() || character.is_control()) {
            space = written;
            continue;
        }
        if snippet.text.len() + usize::from(space) + grapheme.len() > limit {
            cut = true;
            break;
        }
        if space {
            snippet.text.push(' ');
            space = false;
        }
        while marks.next_if(|mark| mark.end <= at).is_some() {}
        let marked =
            marks.peek().filter(|mark| mark.start <= at || at + grapheme.len() > mark.start);
        let from = snippet.text.len();
        snippet.text.extend(grapheme.chars().filter(|character| !character.is_control()));
        written = true;
        if let Some(mark) = marked {
            mark_from(&mut snippet, from, mark.start.max(start) < at);
        }
    }
    if cut {
        cut_word(&mut snippet);
        snippet.text.push_str(ELLIPSIS);
    }
    snippet
}

/// The character as readers see it that a text begins with. An ASCII character before another one is one by itself; that
/// CR and LF are one is of no use here, since both are white space.
fn first_grapheme(text: &str) -> Option<&str> {
    match text.as_bytes() {
        [first, second, ..] if first.is_ascii() && second.is_ascii() => text.get(..1),
        _ => text.graphemes(true).next(),
    }
}

/// Marks what was written last; what belongs to the mark before becomes one with it, with the space between.
fn mark_from(snippet: &mut Snippet, from: usize, goes_on: bool) {
    let end = snippet.text.len();
    match snippet.marks.last_mut() {
        Some(last) if goes_on && from.saturating_sub(last.end) <= 1 => last.end = end,
        _ => snippet.marks.push(from..end),
    }
}

/// Leaves out the rest of a word at the end, unless it is marked or long.
fn cut_word(snippet: &mut Snippet) {
    let Some(space) = snippet.text.rfind(' ') else { return };
    let marked = snippet.marks.last().is_some_and(|mark| mark.end > space);
    if !marked && snippet.text.len() - space <= CUT_WORD_BYTES_MAX {
        snippet.text.truncate(space);
    }
}
