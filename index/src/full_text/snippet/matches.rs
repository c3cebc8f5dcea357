//! Where a text has what is wanted.

use std::collections::HashMap;
use std::ops::Range;

use super::late::Late;
use super::{SCANNED_BYTES_MAX, Wanted, window};
use crate::full_text::analysis::{Analyser, Token, TokenKind, stems};

/// Places that are remembered of one text; what comes later is not marked.
const HITS_MAX: usize = 4_096;
/// A text is looked through in pieces of this size, bytes, until one window has all that is wanted.
const PIECE_BYTES: usize = 16 << 10;

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

/// What is wanted, made ready for one text after the other.
pub(super) struct Finder<'a> {
    wanted: &'a Wanted,
    /// The sequences that a term belongs to, and its place in each.
    places: HashMap<&'a str, Vec<(usize, usize)>>,
    /// With what the tokens begin that are looked up: most do not.
    initials: Initials,
    /// Which clause's stem a word has, as it is written.
    stemmed: HashMap<String, Option<usize>>,
    analyser: Analyser,
    late: Late<'a>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(wanted: &'a Wanted) -> Self {
        let mut initials = Initials::default();
        let mut places: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (sequence, (terms, _)) in wanted.sequences.iter().enumerate() {
            for (place, (_, term)) in terms.terms.iter().enumerate() {
                initials.add(term);
                places.entry(term).or_default().push((sequence, place));
            }
        }
        wanted.terms.keys().for_each(|term| initials.add(term));
        wanted.prefixes.iter().for_each(|(prefix, _)| initials.add(prefix));
        wanted.stem_beginnings.iter().for_each(|beginning| initials.add(beginning));
        let (stemmed, analyser) = (HashMap::new(), Analyser::default());
        let late = Late::new(wanted);
        Self { wanted, places, initials, stemmed, analyser, late }
    }

    /// The places in the order in which they begin, up to where the text has all that is wanted in `bytes_max` bytes. Behind
    /// the first [`SCANNED_BYTES_MAX`] only clauses are looked for that were not there.
    pub(super) fn hits(&mut self, text: &str, bytes_max: usize) -> Vec<Hit> {
        let Self { wanted, places, initials, stemmed, analyser, late } = self;
        let mut search = Search {
            text,
            wanted,
            places,
            initials,
            stemmed,
            begun: HashMap::new(),
            hits: Vec::new(),
            weak: Vec::new(),
        };
        let mut from = 0;
        while from < text.len() && search.hits.len() < HITS_MAX {
            let end = piece_end(text, from);
            let piece = text.get(from..end).unwrap_or_default();
            if from >= SCANNED_BYTES_MAX {
                let answered = search.clauses();
                if answered.len() >= wanted.clauses || !late.goes_on() {
                    break;
                }
                if !late.may_answer(piece, &answered) {
                    from = end;
                    continue;
                }
            }
            search.begun.clear(); // positions count from the piece's start
            analyser.analyse(piece, None, &mut |token| {
                search.token(Token { start: from + token.start, end: from + token.end, ..token });
            });
            from = end;
            search.hits.sort_unstable_by_key(|hit| (hit.start, hit.end, hit.clause));
            let best = window::best(&search.hits, bytes_max);
            if best.is_some_and(|best| best.clauses == wanted.clauses) {
                break;
            }
        }
        search.answered()
    }
}

/// Where the piece ends that begins at `from`: behind white space when there is some.
fn piece_end(text: &str, from: usize) -> usize {
    let end = text.floor_char_boundary(from.saturating_add(PIECE_BYTES));
    if end == text.len() {
        return end;
    }
    let piece = text.get(from..end).unwrap_or_default();
    piece.rfind(char::is_whitespace).filter(|space| *space > 0).map_or(end, |space| from + space)
}

/// One text that is gone through.
struct Search<'s, 'a> {
    text: &'s str,
    wanted: &'a Wanted,
    places: &'s HashMap<&'a str, Vec<(usize, usize)>>,
    initials: &'s Initials,
    stemmed: &'s mut HashMap<String, Option<usize>>,
    /// By sequence and the position at which it began.
    begun: HashMap<(usize, u32), Begun>,
    hits: Vec<Hit>,
    /// Single terms of sequences: marked where the text has no whole one.
    weak: Vec<Hit>,
}

impl Search<'_, '_> {
    fn token(&mut self, token: Token<'_>) {
        if !self.initials.has(token.text) || self.hits.len() >= HITS_MAX {
            return;
        }
        if let Some(clause) = self.clause_of(&token) {
            self.hits.push(Hit { clause, start: token.start, end: token.end });
        }
        let places = self.places;
        for (sequence, place) in places.get(token.text).into_iter().flatten() {
            self.advance(*sequence, *place, &token);
        }
    }

    fn clause_of(&mut self, token: &Token<'_>) -> Option<usize> {
        if let Some(clause) = self.wanted.terms.get(token.text) {
            return Some(*clause);
        }
        let begins = |(prefix, _): &&(String, usize)| {
            token.kind != TokenKind::Gram && token.text.starts_with(prefix.as_str())
        };
        if let Some((_, clause)) = self.wanted.prefixes.iter().find(begins) {
            return Some(*clause);
        }
        let worded = matches!(token.kind, TokenKind::Word | TokenKind::Part);
        let begins = |beginning: &String| token.text.starts_with(beginning.as_str());
        if !worded || !self.wanted.stem_beginnings.iter().any(begins) {
            return None;
        }
        let word = self.text.get(token.start..token.end).unwrap_or_default();
        if let Some(known) = self.stemmed.get(word) {
            return *known;
        }
        let found = stems(word, &self.wanted.languages);
        let clause = found.iter().find_map(|stem| self.wanted.terms.get(stem).copied());
        if self.stemmed.len() < HITS_MAX {
            self.stemmed.insert(word.to_owned(), clause);
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
            let begun = Begun { terms: 1, start: token.start, end: token.end };
            self.begun.insert((sequence, origin), begun);
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

    /// The clauses that the text answers, rising.
    fn clauses(&self) -> Vec<usize> {
        let mut clauses: Vec<usize> = self.hits.iter().map(|hit| hit.clause).collect();
        clauses.sort_unstable();
        clauses.dedup();
        clauses
    }

    /// The hits, and the weak ones of the clauses that have no other.
    fn answered(self) -> Vec<Hit> {
        let answered = self.clauses();
        let Self { mut hits, weak, .. } = self;
        hits.extend(weak.into_iter().filter(|hit| answered.binary_search(&hit.clause).is_err()));
        hits.sort_unstable_by_key(|hit| (hit.start, hit.end, hit.clause));
        hits
    }
}

/// A set of first characters; now and then it says yes to another one.
#[derive(Default)]
struct Initials([u64; Self::WORDS]);

impl Initials {
    const WORDS: usize = 16;

    fn place(initial: char) -> (usize, u32) {
        let code = u32::from(initial);
        (usize::try_from(code / u64::BITS).unwrap_or(0) % Self::WORDS, code % u64::BITS)
    }

    fn set(&mut self, initial: char) {
        let (word, bit) = Self::place(initial);
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << bit;
        }
    }

    fn add(&mut self, term: &str) {
        term.chars().take(1).for_each(|initial| self.set(initial));
    }

    fn has(&self, text: &str) -> bool {
        let Some((word, bit)) = text.chars().next().map(Self::place) else { return false };
        self.0.get(word).is_some_and(|word| word & (1 << bit) != 0)
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
