//! All values that go with chosen ones, side by side: a person types several characters into the same field, and every
//! key asks the same values again.
//!
//! In the segments the values of a group lie all over the dictionary. Here their texts are one behind the other, so that
//! words are found by going through them all at the speed of memory.

use std::ops::Range;

use memchr::memmem;

use super::classes::{Found, LATER_VALUES_MAX, LATER_WORDS_BELOW, TYPOS_BELOW};
use super::judged::{has_later_word, is_near, whole_first};
use super::question::{Candidate, Question, keep_first};
use super::typos::Typed;
use super::within::of_entries;
use crate::completion::layers::Groups;
use crate::completion::request::VALUES_MAX;
use crate::completion::segment::{TermRef, Weight, gallop, partition};
use crate::error::Result;

/// Larger groups are answered from the segments.
pub(super) const GROUP_ENTRIES_MAX: usize = 8_192;
/// Texts beyond this are not copied.
const GROUP_BYTES_MAX: usize = 1024 * 1024;
/// Of more values than this the best are looked for from the best of the group on.
const RANGE_SORTED_MAX: usize = 512;
/// Stands between keys: no text has this byte.
const SEPARATOR: u8 = 0xff;

/// The values of a group that a caller sees, in the order of their terms.
pub(crate) struct GroupValues {
    values: Box<[GroupValue]>,
    keys: Box<[u8]>,
    raws: Box<[u8]>,
    /// Places of `values`, the best first.
    best_first: Box<[u32]>,
}

struct GroupValue {
    weight: Weight,
    /// Where its texts end; those of the one before end where they begin.
    key_end: u32,
    raw_end: u32,
}

impl GroupValues {
    /// `None`: they are too large.
    pub(super) fn read(
        question: &Question<'_>,
        groups: &Groups<'_>,
    ) -> Result<Option<GroupValues>> {
        let entries: Vec<_> =
            groups.layers.iter().map(|(_, _, entries)| vec![entries.clone()]).collect();
        let mut found = of_entries(question, groups, &entries, |_| true)?;
        let bytes = found.iter().map(|value| value.term.key.len() + value.term.raw.len() + 1);
        if bytes.sum::<usize>() > GROUP_BYTES_MAX {
            return Ok(None);
        }
        // Each layer is in order.
        found.sort_by(|a, b| a.term.cmp(&b.term));
        let (mut keys, mut raws) = (Vec::new(), Vec::new());
        let values = found.iter().map(|value| {
            keys.extend_from_slice(value.term.key);
            keys.push(SEPARATOR);
            raws.extend_from_slice(value.term.raw);
            let end = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            GroupValue { weight: value.weight, key_end: end(&keys), raw_end: end(&raws) }
        });
        let values: Box<[GroupValue]> = values.collect();
        let mut best_first: Box<[u32]> = (0..).take(values.len()).collect();
        // In the order of terms they are already.
        best_first
            .sort_by_key(|at| std::cmp::Reverse(found.get(to_usize(*at)).map(|one| one.weight)));
        Ok(Some(GroupValues { values, keys: keys.into(), raws: raws.into(), best_first }))
    }

    /// About how much memory they take.
    pub(crate) fn bytes(&self) -> usize {
        let each = size_of::<GroupValue>() + size_of::<u32>();
        self.keys.len() + self.raws.len() + self.values.len() * each
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn candidate(&self, at: usize) -> Option<Candidate<'_>> {
        let value = self.values.get(at)?;
        let before = at.checked_sub(1).and_then(|before| self.values.get(before));
        let (key_start, raw_start) = before.map_or((0, 0), |one| (one.key_end, one.raw_end));
        let key_end = to_usize(value.key_end).checked_sub(1)?;
        let key = self.keys.get(to_usize(key_start)..key_end)?;
        let raw = self.raws.get(to_usize(raw_start)..to_usize(value.raw_end))?;
        Some(Candidate { layer: 0, rank: at, weight: value.weight, term: TermRef { key, raw } })
    }

    fn key(&self, at: usize) -> &[u8] {
        self.candidate(at).map_or(&[], |candidate| candidate.term.key)
    }

    fn candidates(&self, range: Range<usize>) -> impl Iterator<Item = Candidate<'_>> {
        range.filter_map(|at| self.candidate(at))
    }

    /// The best values for what is typed, with their total.
    pub(super) fn answer(&self, question: &Question<'_>) -> Found<'_> {
        let typed = question.typed.key.as_bytes();
        let start = partition(0, self.len(), |at| self.key(at) < typed);
        let end = partition(start, self.len(), |at| self.key(at).starts_with(typed));
        let mut found = Found { total: to_u64(end - start), ..Found::default() };
        found.values = self.beginnings(question, start..end);
        if found.total >= LATER_WORDS_BELOW {
            return found;
        }
        let later = self.later_words(question, &(start..end));
        let mut count = later.len();
        self.add(&mut found, later.clone(), |mut values, room| {
            keep_first(&mut values, room, |a, b| question.typed.order(a, b));
            values
        });
        let near = Typed::new(question.typed.folded(), question.typed.depth.is_some());
        if found.total < TYPOS_BELOW
            && let Some(near) = near
        {
            let others = (0..start).chain(end..self.len());
            let is_near = |at: &usize| {
                self.candidate(*at).is_some_and(|value| is_near(question, &near, value.term))
            };
            let others = others.filter(|at| later.binary_search(at).is_err());
            let others: Vec<usize> = others.filter(is_near).collect();
            count += others.len();
            self.add(&mut found, others, |values, room| whole_first(question, &near, values, room));
        }
        found.is_cut = count > LATER_VALUES_MAX;
        found
    }

    /// The best of those that begin as typed.
    fn beginnings(&self, question: &Question<'_>, range: Range<usize>) -> Vec<Candidate<'_>> {
        let best_of = |range: Range<usize>, room: usize| {
            let mut values: Vec<_> = self.candidates(range).collect();
            keep_first(&mut values, room, |a, b| question.typed.order(a, b));
            values
        };
        if range.len() <= RANGE_SORTED_MAX {
            return best_of(range, VALUES_MAX);
        }
        // Those with the very key come first in the order of terms, too.
        let typed = question.typed.key.as_bytes();
        let longer = partition(range.start, range.end, |at| self.key(at).len() <= typed.len());
        let mut values = best_of(range.start..longer, VALUES_MAX);
        let longer = longer..range.end;
        let best = self.best_first.iter().map(|at| to_usize(*at));
        let best = best.filter(|at| longer.contains(at)).filter_map(|at| self.candidate(at));
        values.extend(best.take(VALUES_MAX.saturating_sub(values.len())));
        values
    }

    /// The places of values with a later word that begins as typed, rising.
    fn later_words(&self, question: &Question<'_>, beginnings: &Range<usize>) -> Vec<usize> {
        let has_word = |at: usize| {
            !beginnings.contains(&at)
                && self.candidate(at).is_some_and(|value| has_later_word(question, value.term))
        };
        let typed = question.typed.folded();
        // Of a path the word stands behind a folder.
        let word = match question.typed.depth {
            Some(_) => typed.rsplit('/').next().unwrap_or_default(),
            None => typed,
        };
        if word.is_empty() {
            return (0..self.len()).filter(|at| has_word(*at)).collect();
        }
        let key_end = |at: usize| self.values.get(at).map_or(0, |value| to_usize(value.key_end));
        let mut found = Vec::new();
        // The value that comes next, and where the one before it ends.
        let (mut next, mut looked_to) = (0, 0);
        for place in memmem::find_iter(&self.keys, word.as_bytes()) {
            // A value is looked at once, however often it has the word.
            if place < looked_to {
                continue;
            }
            let at = gallop(next, self.len(), |at| key_end(at) <= place);
            (next, looked_to) = (at + 1, key_end(at));
            if has_word(at) {
                found.push(at);
            }
        }
        found
    }

    /// Adds the values of a later class, the best first, as far as there is room.
    fn add<'v>(
        &'v self,
        found: &mut Found<'v>,
        places: Vec<usize>,
        first: impl FnOnce(Vec<Candidate<'v>>, usize) -> Vec<Candidate<'v>>,
    ) {
        found.total += to_u64(places.len());
        let values = places.into_iter().filter_map(|at| self.candidate(at)).collect();
        let room = VALUES_MAX.saturating_sub(found.values.len());
        found.values.extend(first(values, room));
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
