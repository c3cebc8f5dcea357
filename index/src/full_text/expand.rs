//! Tokens that a typed word stands for beside itself: those that begin with it, and those that are spelled much like it.

use std::collections::HashMap;

use tantivy::postings::TermInfo;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, SegmentReader, Term};

use super::plan::{io_failed, read_failed};
use super::postings::{Bits, Clock};
use crate::error::Result;
use crate::store::key::after_prefix;

/// Tokens with one beginning that are looked at in a place of a segment.
const BEGINNING_TOKENS_MAX: usize = 1_000_000;
/// Tokens that may stand for a word in a place: those in the most documents.
const SIMILAR_TOKENS_MAX: usize = 32;
/// From this many characters on a word may have one typo.
const ONE_TYPO_CHARS: usize = 4;
/// From this many on it may have two, of which none is in the first character.
const TWO_TYPOS_CHARS: usize = 8;
/// How much a word that is only spelled alike counts.
pub(super) const SIMILAR_WEIGHT: f32 = 0.5;
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
    /// Its term in each segment.
    pub(super) terms: Vec<Option<TermInfo>>,
    /// In how many documents it is.
    pub(super) documents: u64,
}

/// The tokens that are spelled much like a word, the word itself not among them.
pub(super) fn similar(
    searcher: &Searcher,
    field: Field,
    typed: &str,
    clock: &mut Clock,
) -> Result<Vec<Similar>> {
    let chars = typed.chars().count();
    let typos = match chars {
        TWO_TYPOS_CHARS.. => 2,
        ONE_TYPO_CHARS.. => 1,
        _ => return Ok(Vec::new()),
    };
    let query = FuzzyTermQuery::new(Term::from_field_text(field, typed), typos, true);
    let segments = searcher.segment_readers();
    let mut found: HashMap<String, Similar> = HashMap::new();
    for (ordinal, segment) in segments.iter().enumerate() {
        let index = segment.inverted_index(field).map_err(read_failed)?;
        let automaton = query.automaton().map_err(read_failed)?;
        let mut search = index.terms().search(automaton).ge(TYPED_FROM);
        if typos == 2 {
            // A second typo makes the automaton large; with the first character it goes through a part of the tokens.
            let first = typed.chars().next().map(String::from).unwrap_or_default();
            search = search.ge(&first);
            if let Some(end) = after_prefix(first.as_bytes()) {
                search = search.lt(end);
            }
        }
        let mut stream = search.into_stream().map_err(io_failed)?;
        while clock.look() && stream.advance() {
            let Ok(text) = std::str::from_utf8(stream.key()) else { continue };
            if text == typed {
                continue;
            }
            let token = found.entry(text.to_owned()).or_insert_with(|| Similar {
                text: text.to_owned(),
                terms: vec![None; segments.len()],
                documents: 0,
            });
            token.documents += u64::from(stream.value().doc_freq);
            if let Some(term) = token.terms.get_mut(ordinal) {
                *term = Some(stream.value().clone());
            }
        }
    }
    let mut tokens: Vec<Similar> = found.into_values().collect();
    tokens.sort_by(|a, b| b.documents.cmp(&a.documents).then_with(|| a.text.cmp(&b.text)));
    tokens.truncate(SIMILAR_TOKENS_MAX);
    Ok(tokens)
}
