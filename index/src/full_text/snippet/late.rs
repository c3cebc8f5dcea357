//! Matches far into a text: the beginning is analysed word by word, what comes behind it only where it may help.

use std::collections::HashMap;

use memchr::memmem::Finder;

use super::wanted::Wanted;
use crate::full_text::analysis::STEM_MARK;

/// Bytes behind the beginnings of texts that are analysed for one page.
const ANALYSED_BYTES_MAX: usize = 2 << 20;
/// Bytes behind the beginnings of texts that are looked through for one page.
const SCANNED_BYTES_MAX: usize = 32 << 20;

/// Finds the pieces of a text that may have a clause, and counts what that costs.
pub(super) struct Late<'a> {
    /// What a lower-case text has where it answers a clause, as far as ASCII goes.
    needles: HashMap<usize, Vec<Finder<'a>>>,
    lower: Vec<u8>,
    analysed_bytes_left: usize,
    scanned_bytes_left: usize,
}

impl<'a> Late<'a> {
    pub(super) fn new(wanted: &'a Wanted) -> Self {
        let mut needles: HashMap<usize, Vec<Finder<'a>>> = HashMap::new();
        let mut add = |clause: usize, needle: &'a str| {
            needles.entry(clause).or_default().push(Finder::new(needle));
        };
        for (term, clause) in &wanted.terms {
            let Some(stem) = term.strip_prefix(STEM_MARK) else {
                add(*clause, term);
                continue;
            };
            let beginning = wanted.stem_beginnings.iter().find(|begin| stem.starts_with(*begin));
            add(*clause, beginning.map_or(stem, String::as_str));
        }
        wanted.prefixes.iter().for_each(|(prefix, clause)| add(*clause, prefix));
        for (sequence, clause) in &wanted.sequences {
            sequence.terms.iter().for_each(|(_, term)| add(*clause, term));
        }
        Late {
            needles,
            lower: Vec::new(),
            analysed_bytes_left: ANALYSED_BYTES_MAX,
            scanned_bytes_left: SCANNED_BYTES_MAX,
        }
    }

    /// Whether there is still time for this page's texts.
    pub(super) fn goes_on(&self) -> bool {
        self.analysed_bytes_left > 0 && self.scanned_bytes_left > 0
    }

    /// Whether a piece is to be analysed: it may answer a clause of which no text was found.
    pub(super) fn may_answer(&mut self, piece: &str, answered: &[usize]) -> bool {
        self.scanned_bytes_left = self.scanned_bytes_left.saturating_sub(piece.len());
        self.lower.clear();
        self.lower.extend_from_slice(piece.as_bytes());
        self.lower.make_ascii_lowercase();
        let missing = self.needles.iter().filter(|(clause, _)| !answered.contains(clause));
        let mut missing = missing.flat_map(|(_, needles)| needles);
        // Other letters may be written in several ways: only the analysis knows them.
        let may = !piece.is_ascii() || missing.any(|needle| needle.find(&self.lower).is_some());
        if may {
            self.analysed_bytes_left = self.analysed_bytes_left.saturating_sub(piece.len());
        }
        may
    }
}
