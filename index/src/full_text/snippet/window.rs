//! Which part of a text is shown.

use std::collections::HashMap;
use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::matches::Hit;

/// More hits than these make a window no better.
const DENSE_HITS: usize = 6;

/// A window: from the start of its first hit to the end of its last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) span: Range<usize>,
    /// How many clauses it answers.
    pub(super) clauses: usize,
    hits: usize,
}

/// The best window of at most `bytes_max` bytes; the first of several. `hits` are in the order in which they begin.
pub(super) fn best(hits: &[Hit], bytes_max: usize) -> Option<Window> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut first = 0;
    let mut best: Option<Window> = None;
    for (last, hit) in hits.iter().enumerate() {
        *counts.entry(hit.clause).or_default() += 1;
        let fits = |gone: &Hit| hit.end.saturating_sub(gone.start) <= bytes_max;
        while let Some(gone) = hits.get(first).filter(|gone| first < last && !fits(gone)) {
            first += 1;
            if let Some(count) = counts.get_mut(&gone.clause) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&gone.clause);
                }
            }
        }
        let start = hits.get(first).map_or(hit.start, |hit| hit.start);
        let hits = (last + 1 - first).min(DENSE_HITS);
        let window = Window { span: start..hit.end, clauses: counts.len(), hits };
        let worth = |window: &Window| (window.clauses, window.hits);
        if best.as_ref().is_none_or(|best| worth(&window) > worth(best)) {
            best = Some(window);
        }
    }
    best
}

/// Where a snippet begins that has to show a span: with its sentence when that is near, else some words before it. Near
/// the end of the text it begins earlier, so that it is not short.
pub(super) fn start(text: &str, span: &Range<usize>, bytes_max: usize) -> usize {
    let slack = bytes_max.saturating_sub(span.len());
    let behind = text.len().saturating_sub(span.end);
    let at_the_end = behind < slack / 2;
    let lead = if at_the_end { slack - behind } else { slack / 2 };
    let earliest = text.floor_char_boundary(span.start.saturating_sub(lead));
    if earliest == 0 {
        return 0;
    }
    let mut sentences = sentence_starts(text.get(earliest..span.start).unwrap_or_default());
    let sentence = if at_the_end { sentences.next() } else { sentences.last() };
    let start = match sentence {
        Some(sentence) => earliest + sentence,
        None => {
            let near = text.floor_char_boundary(span.start.saturating_sub(lead / 2));
            let lead = text.get(near..span.start).unwrap_or_default();
            // A lead without a space is of a script without spaces, or one long word.
            lead.find(char::is_whitespace).map_or(near, |space| near + space)
        }
    };
    grapheme_start(text, start)
}

/// Where sentences begin: after a stop and a space, after a stop of the scripts that put no space, on each line.
fn sentence_starts(text: &str) -> impl Iterator<Item = usize> {
    let mut after_stop = false;
    text.char_indices().filter_map(move |(at, character)| {
        let begins = match character {
            '。' | '！' | '？' | '\n' => Some(at + character.len_utf8()),
            _ if character.is_whitespace() && after_stop => Some(at),
            _ => None,
        };
        after_stop = match character {
            '.' | '!' | '?' | '…' => true,
            '"' | '\'' | ')' | '”' | '»' => after_stop,
            _ => false,
        };
        begins
    })
}

/// The boundary between characters as readers see them, at `at` or before it.
fn grapheme_start(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(at),
    }
}
