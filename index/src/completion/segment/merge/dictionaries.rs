//! The dictionaries of one variable become one.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::super::dictionary::{Dictionary, DictionaryBuilder, Suffix};
use super::super::facets::FacetSums;
use super::super::section::{SpillFolder, to_usize};
use super::super::texts::{Joined, TermRef};
use super::states::MergedStates;
use super::{DROPPED, Places};
use crate::error::Result;

/// For each side the ranks of its values in the merged dictionary.
type RankMaps = Vec<Vec<u32>>;

/// The next value of each side; the least first, of equal ones the oldest.
type Heads<'a> = BinaryHeap<Reverse<(TermRef<'a>, usize, usize)>>;

pub(super) fn merge_dictionaries(
    sides: &[&Dictionary],
    states: &mut MergedStates<'_>,
    folder: SpillFolder<'_>,
) -> Result<(Dictionary, RankMaps)> {
    let is_path = sides.first().is_some_and(|dictionary| dictionary.is_path);
    let mut builder = DictionaryBuilder::new(is_path, folder);
    let mut maps: RankMaps = sides.iter().map(|side| Vec::with_capacity(side.len())).collect();
    let mut outdated: Vec<Bits> = sides.iter().map(|side| Bits::new(side.len())).collect();
    let mut heads: Heads<'_> = sides
        .iter()
        .enumerate()
        .filter(|(_, dictionary)| dictionary.len() > 0)
        .map(|(side, dictionary)| Reverse((dictionary.texts.term(0), side, 0)))
        .collect();
    let mut places = Places::new();
    while let Some(Reverse((term, ..))) = heads.peek() {
        let term = *term;
        take_all(sides, &mut heads, term, &mut places);
        let rank = add_value(&mut builder, sides, (term, &places), states)?;
        for (at, (side, place)) in places.iter().enumerate() {
            if let Some(map) = maps.get_mut(*side) {
                map.push(rank);
            }
            if let Some(outdated) = outdated.get_mut(*side).filter(|_| at + 1 < places.len()) {
                outdated.set(*place);
            }
        }
    }
    let cursors = sides
        .iter()
        .zip(&maps)
        .zip(&outdated)
        .map(|((dictionary, map), outdated)| SuffixCursor { dictionary, map, outdated, at: 0 });
    let dictionary = builder.finish(MergedSuffixes::new(cursors.collect()))?;
    Ok((dictionary, maps))
}

/// Where `term` stands, oldest first; the heads move on to what follows it.
fn take_all<'a>(
    sides: &[&'a Dictionary],
    heads: &mut Heads<'a>,
    term: TermRef<'a>,
    places: &mut Places,
) {
    places.clear();
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((other, side, rank)) = *head;
        if other != term {
            break;
        }
        places.push((side, rank));
        let dictionary = sides.get(side).filter(|dictionary| rank + 1 < dictionary.len());
        match dictionary {
            Some(dictionary) => *head = Reverse((dictionary.texts.term(rank + 1), side, rank + 1)),
            None => drop(PeekMut::pop(head)),
        }
    }
}

/// Adds what the sides say of one value; its rank, or [`DROPPED`].
fn add_value(
    builder: &mut DictionaryBuilder<'_>,
    sides: &[&Dictionary],
    (term, places): (TermRef<'_>, &Places),
    states: &mut MergedStates<'_>,
) -> Result<u32> {
    let (Some(&(oldest, first)), Some(&(newest, last))) = (places.first(), places.last()) else {
        return Ok(DROPPED);
    };
    let (Some(old), Some(new)) = (sides.get(oldest), sides.get(newest)) else {
        return Ok(DROPPED);
    };
    let state = if places.len() == 1 {
        states.alone(newest, new.states.at(last))
    } else {
        states.together((oldest, old.states.at(first)), (newest, new.states.at(last)))
    };
    let Some(state) = state else { return Ok(DROPPED) };
    let weight = new.weight(last);
    let own = if places.len() == 1 {
        new.own_facets(last)
    } else {
        let mut sums = FacetSums::new();
        for (side, rank) in places {
            if let (Some(side), Some(visibility)) = (sides.get(*side), states.visibility(*side)) {
                side.add_facets(*rank, visibility, &mut sums);
            }
        }
        states.own(sums, state, weight)
    };
    let rank = builder.next_rank();
    builder.push(term, weight, state, own.as_ref())?;
    Ok(rank)
}

/// A bit for each value of a side.
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }
}

/// The later words of one side that stay.
struct SuffixCursor<'a> {
    dictionary: &'a Dictionary,
    map: &'a [u32],
    /// Values whose later words come from a newer side.
    outdated: &'a Bits,
    at: usize,
}

impl<'a> SuffixCursor<'a> {
    /// The next one, with its text and its value's rank in the merged dictionary.
    fn next(&mut self) -> Option<(Joined<'a>, Suffix)> {
        while self.at < self.dictionary.suffixes.len() {
            let suffix = self.dictionary.suffixes.at(self.at);
            self.at += 1;
            let value = to_usize(suffix.rank);
            let rank = self.map.get(value).copied().unwrap_or(DROPPED);
            if rank != DROPPED && !self.outdated.has(value) {
                let text = self.dictionary.suffix_text(suffix);
                return Some((text, Suffix { rank, ..suffix }));
            }
        }
        None
    }
}

/// The later words of all sides in order.
struct MergedSuffixes<'a> {
    cursors: Vec<SuffixCursor<'a>>,
    heads: BinaryHeap<Reverse<SuffixHead<'a>>>,
}

struct SuffixHead<'a> {
    text: Joined<'a>,
    suffix: Suffix,
    side: usize,
}

impl Ord for SuffixHead<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.compare(&other.text).then_with(|| self.suffix.cmp(&other.suffix))
    }
}

impl PartialOrd for SuffixHead<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SuffixHead<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SuffixHead<'_> {}

impl<'a> MergedSuffixes<'a> {
    fn new(mut cursors: Vec<SuffixCursor<'a>>) -> Self {
        let heads = cursors.iter_mut().enumerate().filter_map(|(side, cursor)| {
            let (text, suffix) = cursor.next()?;
            Some(Reverse(SuffixHead { text, suffix, side }))
        });
        MergedSuffixes { heads: heads.collect(), cursors }
    }
}

impl Iterator for MergedSuffixes<'_> {
    type Item = Suffix;

    fn next(&mut self) -> Option<Suffix> {
        let mut head = self.heads.peek_mut()?;
        let Reverse(SuffixHead { suffix, side, .. }) = *head;
        match self.cursors.get_mut(side).and_then(SuffixCursor::next) {
            Some((text, next)) => *head = Reverse(SuffixHead { text, suffix: next, side }),
            None => drop(PeekMut::pop(head)),
        }
        Some(suffix)
    }
}
