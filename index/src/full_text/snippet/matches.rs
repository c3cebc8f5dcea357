//! Where a text has what is wanted.

use std::collections::HashMap;
use std::ops::Range;

use super::Wanted;
use crate::full_text::analysis::{Token, TokenKind, analyse, stems};

/// Places that are remembered of one text; what comes later is not marked.
const HITS_MAX: usize = 4_096;

/// A place of the text that answers a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) clause: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A sequence that has begun and may be finished.
struct Begun {
    /// How many of its terms have come.
    terms: usize,
    start: usize,
    end: usize,
}

struct Search<'a> {
    text: &'a str,
    wanted: &'a Wanted,
    /// The sequences that a term belongs to, and its place in each.
    places: HashMap<&'a str, Vec<(usize, usize)>>,
    /// By sequence and the position at which it began.
    begun: HashMap<(usize, u32), Begun>,
    /// Which clause's stem a word has.
    stemmed: HashMap<String, Option<usize>>,
    hits: Vec<Hit>,
    /// Single terms of sequences: marked where the text has no whole one.
    weak: Vec<Hit>,
}

/// The places in the order in which they begin.
pub(super) fn hits(text: &str, wanted: &Wanted) -> Vec<Hit> {
    let mut places: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (sequence, (terms, _)) in wanted.sequences.iter().enumerate() {
        for (place, (_, term)) in terms.terms.iter().enumerate() {
            places.entry(term).or_default().push((sequence, place));
        }
    }
    let mut search = Search {
        text,
        wanted,
        places,
        begun: HashMap::new(),
        stemmed: HashMap::new(),
        hits: Vec::new(),
        weak: Vec::new(),
    };
    analyse(text, None, &mut |token| search.token(token));
    let Search { mut hits, weak, .. } = search;
    let mut answered: Vec<usize> = hits.iter().map(|hit| hit.clause).collect();
    answered.sort_unstable();
    answered.dedup();
    hits.extend(weak.into_iter().filter(|hit| answered.binary_search(&hit.clause).is_err()));
    hits.sort_unstable_by_key(|hit| (hit.start, hit.end, hit.clause));
    hits
}

impl Search<'_> {
    fn token(&mut self, token: Token<'_>) {
        if self.hits.len() >= HITS_MAX {
            return;
        }
        if let Some(clause) = self.clause_of(&token) {
            self.hits.push(Hit { clause, start: token.start, end: token.end });
        }
        if let Some(places) = self.places.get(token.text) {
            for (sequence, place) in places.clone() {
                self.advance(sequence, place, &token);
            }
        }
    }

    fn clause_of(&mut self, token: &Token<'_>) -> Option<usize> {
        if let Some(clause) = self.wanted.terms.get(token.text) {
            return Some(*clause);
        }
        let worded = token.kind != TokenKind::Gram;
        let prefix = self
            .wanted
            .prefixes
            .iter()
            .find(|(prefix, _)| worded && token.text.starts_with(prefix.as_str()));
        if let Some((_, clause)) = prefix {
            return Some(*clause);
        }
        let initial = token
            .text
            .chars()
            .next()
            .filter(|initial| self.wanted.stem_initials.contains(initial))?;
        if !matches!(token.kind, TokenKind::Word | TokenKind::Part) || !initial.is_alphabetic() {
            return None;
        }
        if let Some(known) = self.stemmed.get(token.text) {
            return *known;
        }
        let word = self.text.get(token.start..token.end).unwrap_or_default();
        let terms = &self.wanted.terms;
        let clause =
            stems(word, &self.wanted.languages).iter().find_map(|stem| terms.get(stem).copied());
        if self.stemmed.len() < HITS_MAX {
            self.stemmed.insert(token.text.to_owned(), clause);
        }
        clause
    }

    /// A term of a sequence has come. Positions never fall, so the first term comes first.
    fn advance(&mut self, sequence: usize, place: usize, token: &Token<'_>) {
        let Some((terms, clause)) = self.wanted.sequences.get(sequence) else { return };
        if self.weak.len() < HITS_MAX {
            self.weak.push(Hit { clause: *clause, start: token.start, end: token.end });
        }
        let Some((offset, _)) = terms.terms.get(place) else { return };
        let Some(origin) = token.position.checked_sub(*offset) else { return };
        if place == 0 && self.begun.len() < HITS_MAX {
            self.begun
                .insert((sequence, origin), Begun { terms: 1, start: token.start, end: token.end });
            return;
        }
        let Some(begun) = self.begun.get_mut(&(sequence, origin)) else { return };
        if begun.terms == place {
            begun.terms += 1;
            begun.start = begun.start.min(token.start);
            begun.end = begun.end.max(token.end);
        }
        if begun.terms == terms.terms.len() {
            self.hits.push(Hit { clause: *clause, start: begun.start, end: begun.end });
            self.begun.remove(&(sequence, origin));
        }
    }
}

/// The places as ranges without overlap.
pub(super) fn merged(hits: &[Hit]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for hit in hits {
        match ranges.last_mut() {
            Some(last) if hit.start < last.end => last.end = last.end.max(hit.end),
            _ => ranges.push(hit.start..hit.end),
        }
    }
    ranges
}
