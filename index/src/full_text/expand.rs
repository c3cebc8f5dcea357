//! Tokens that a typed word stands for beside itself: those that begin with it, and those that are spelled much like it.

use std::collections::HashMap;

use tantivy::postings::TermInfo;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, SegmentReader, Term};

use super::plan::{io_failed, read_failed};
use super::postings::{Bits, Clock};
use super::schema::{Fields, Place};
use crate::error::Result;
use crate::store::key::after_prefix;

/// Tokens with one beginning that are looked at in a place of a segment.
const BEGINNING_TOKENS_MAX: usize = 1_000_000;
/// Tokens that may stand for a word.
const SIMILAR_TOKENS_MAX: usize = 32;
/// From this many characters on a word may have one typo.
const ONE_TYPO_CHARS: usize = 4;
/// From this many on it may have two, of which none is in the first character.
const TWO_TYPOS_CHARS: usize = 8;
/// How much a word that is only spelled alike counts, at most.
const SIMILAR_WEIGHT: f32 = 0.5;
/// What is left of it with two typos.
const TWO_EDITS: f32 = 0.6;
/// Stems begin below this, which nobody types.
const TYPED_FROM: &str = "\u{2}";

/// The documents of a segment with a token that begins so; and whether there are more tokens than were looked at.
pub(super) fn beginning(
    segment: &SegmentReader,
    field: Field,
    beginning: &str,
    clock: &mut Clock,
) -> Result<(Bits, bool)> {
    let mut bits = Bits::new(segment.max_doc());
    let index = segment.inverted_index(field).map_err(read_failed)?;
    let mut range = index.terms().range().ge(beginning);
    if let Some(end) = after_prefix(beginning.as_bytes()) {
        range = range.lt(end);
    }
    let mut stream = range.into_stream().map_err(io_failed)?;
    let mut count = 0;
    while stream.advance() {
        if count >= BEGINNING_TOKENS_MAX {
            return Ok((bits, true));
        }
        count += 1;
        let mut postings = index
            .read_block_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)
            .map_err(io_failed)?;
        while !postings.docs().is_empty() && clock.step() {
            postings.docs().iter().for_each(|doc| bits.insert(*doc));
            postings.advance();
        }
        if clock.is_up() {
            break;
        }
    }
    Ok((bits, false))
}

/// A token that is spelled much like a word.
pub(super) struct Similar {
    pub(super) text: String,
    /// One edit away, not two.
    pub(super) is_one_edit: bool,
    /// Where it is, with its term in each segment.
    pub(super) places: Vec<(Place, Vec<Option<TermInfo>>)>,
    /// In how many documents it is, in the place that has the most.
    pub(super) documents: u64,
}

/// The tokens of some places that are spelled much like a word, the word itself not among them: the nearest first, of
/// those the most frequent.
pub(super) fn similar(
    searcher: &Searcher,
    (fields, places): (&Fields, &[Place]),
    typed: &str,
    clock: &mut Clock,
) -> Result<Vec<Similar>> {
    let automaton = |typos| {
        let query = FuzzyTermQuery::new(Term::from_field_text(fields.title, typed), typos, true);
        query.automaton().map_err(read_failed)
    };
    let first = typed.chars().next().map(String::from).unwrap_or_default().into_bytes();
    let behind_first = after_prefix(&first);
    let from = TYPED_FROM.as_bytes().to_vec();
    // Where each automaton goes through the tokens. A second typo makes it large: with the first character it goes through
    // a part of them.
    let searches = match typed.chars().count() {
        TWO_TYPOS_CHARS.. => vec![
            (automaton(2)?, first.clone(), behind_first.clone()),
            (automaton(1)?, from, Some(first)),
            (automaton(1)?, behind_first.unwrap_or_default(), None),
        ],
        ONE_TYPO_CHARS.. => vec![(automaton(1)?, from, None)],
        _ => return Ok(Vec::new()),
    };
    let segments = searcher.segment_readers();
    let mut found: HashMap<String, Similar> = HashMap::new();
    for place in places {
        let mut documents: HashMap<String, u64> = HashMap::new();
        for (ordinal, segment) in segments.iter().enumerate() {
            let index = segment.inverted_index(fields.of(*place)).map_err(read_failed)?;
            for (automaton, from, until) in &searches {
                let mut search = index.terms().search(automaton).ge(from);
                if let Some(until) = until {
                    search = search.lt(until);
                }
                let mut stream = search.into_stream().map_err(io_failed)?;
                while clock.look() && stream.advance() {
                    let Ok(text) = std::str::from_utf8(stream.key()) else { continue };
                    if text == typed {
                        continue;
                    }
                    *documents.entry(text.to_owned()).or_default() +=
                        u64::from(stream.value().doc_freq);
                    let token = found.entry(text.to_owned()).or_insert_with(|| Similar {
                        text: text.to_owned(),
                        is_one_edit: is_one_edit(typed, text),
                        places: Vec::new(),
                        documents: 0,
                    });
                    token.add(*place, (ordinal, segments.len()), stream.value());
                }
            }
        }
        for (text, documents) in documents {
            if let Some(token) = found.get_mut(&text) {
                token.documents = token.documents.max(documents);
            }
        }
    }
    let mut tokens: Vec<Similar> = found.into_values().collect();
    let place = |token: &Similar| (!token.is_one_edit, std::cmp::Reverse(token.documents));
    tokens.sort_unstable_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.text.cmp(&b.text)));
    tokens.truncate(SIMILAR_TOKENS_MAX);
    Ok(tokens)
}

impl Similar {
    /// How much it counts beside a word that is there as it was typed: the more often it is used, and the fewer the edits,
    /// the likelier it was meant.
    pub(super) fn weight(&self, most_documents: u64) -> f32 {
        let frequency = |documents: u64| (documents.max(1) as f32 + 1.0).ln();
        let share = frequency(self.documents) / frequency(most_documents.max(self.documents));
        let edits = if self.is_one_edit { 1.0 } else { TWO_EDITS };
        SIMILAR_WEIGHT * edits * (0.5 + 0.5 * share)
    }

    fn add(&mut self, place: Place, (ordinal, segments): (usize, usize), term: &TermInfo) {
        if self.places.last().is_none_or(|(last, _)| *last != place) {
            self.places.push((place, vec![None; segments]));
        }
        let terms = self.places.last_mut().map(|(_, terms)| terms);
        if let Some(place) = terms.and_then(|terms| terms.get_mut(ordinal)) {
            *place = Some(term.clone());
        }
    }
}

/// Whether one character more, less or other, or a swap of two neighbours, makes one word out of the other.
fn is_one_edit(one: &str, other: &str) -> bool {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let (mut one, mut other) = (&one[..], &other[..]);
    while let (Some((a, one_rest)), Some((b, other_rest))) =
        (one.split_first(), other.split_first())
        && a == b
    {
        (one, other) = (one_rest, other_rest);
    }
    while let (Some((a, one_rest)), Some((b, other_rest))) = (one.split_last(), other.split_last())
        && a == b
    {
        (one, other) = (one_rest, other_rest);
    }
    match (one, other) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_told_from_two() {
        for (typed, other, wanted) in [
            ("flsk", "flask", true),
            ("flsk", "fls", true),
            ("flsk", "flak", true),
            ("flsk", "fslk", true),
            ("reqeusts", "requests", true),
            ("naïve", "naive", true),
            ("aab", "ab", true),
            ("flsk", "flsk", false),
            ("abcd", "badc", false),
            ("flsk", "folks", false),
            ("abc", "cba", false),
        ] {
            assert_eq!(is_one_edit(typed, other), wanted, "{typed} {other}");
            assert_eq!(is_one_edit(other, typed), wanted, "{other} {typed}");
        }
    }
}
