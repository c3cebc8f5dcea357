//! Two neighbouring segments become one. What the newer one says of a value or pair holds; what both changed adds up.

use std::cmp::Ordering;
use std::path::Path;

use super::dictionary::{Dictionary, DictionaryBuilder, Suffix, is_implied};
use super::facets::FacetSums;
use super::pair_list::{PairList, PairListBuilder};
use super::section::{SpillFolder, to_usize};
use super::texts::Joined;
use super::visibility::{NO_SET, SetId, StateId, Visibility, VisibilityBuilder};
use super::{Segment, Weight, wrong_shape};
use crate::completion::plan::Plan;
use crate::error::Result;

/// The rank of a value that is not in the merged dictionary.
const DROPPED: u32 = u32::MAX;

/// What a merged segment is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be searched.
    Search,
    /// To be merged again: without what only searching needs.
    Merging,
}

/// Merges `newer` into `older`. With `is_oldest` nothing lies beneath: what is gone is dropped.
pub(crate) fn merge(
    older: &Segment,
    newer: &Segment,
    plan: &Plan,
    (is_oldest, purpose): (bool, Purpose),
    folder: Option<&Path>,
) -> Result<Segment> {
    let mut states = MergedStates {
        builder: VisibilityBuilder::new(),
        older: Remap::new(&older.visibility),
        newer: Remap::new(&newer.visibility),
        is_oldest,
        last: None,
    };
    let mut ranks = Vec::new();
    let mut dictionaries = Vec::new();
    for variable in 0..plan.variable_count() {
        let pair = (older.dictionary(variable)?, newer.dictionary(variable)?);
        let (dictionary, maps) = merge_dictionaries(pair, &mut states, purpose, folder)?;
        dictionaries.push(dictionary);
        ranks.push(maps);
    }
    let mut lists = Vec::new();
    for (number, shape) in plan.lists().iter().enumerate() {
        let maps = |variable: usize| ranks.get(variable).ok_or_else(wrong_shape);
        let context = shape.context.iter().map(|v| maps(*v)).collect::<Result<Vec<_>>>()?;
        let target = maps(shape.target)?;
        let cursors = (
            Cursor::new(older.list(number)?, context.iter().map(|map| &*map.older), &target.older),
            Cursor::new(newer.list(number)?, context.iter().map(|map| &*map.newer), &target.newer),
        );
        let targets = dictionaries.get(shape.target).ok_or_else(wrong_shape)?;
        let builder = PairListBuilder::new(shape, folder);
        lists.push(merge_lists(cursors, builder, (targets, purpose), &mut states)?);
    }
    let sequence = newer.sequence;
    Ok(Segment { sequence, dictionaries, lists, visibility: states.builder.finish() })
}

/// Set numbers of a segment in the merged one, as far as they have been asked for.
struct Remap<'a> {
    visibility: &'a Visibility,
    sets: Vec<Option<SetId>>,
}

impl<'a> Remap<'a> {
    fn new(visibility: &'a Visibility) -> Self {
        Remap { visibility, sets: Vec::new() }
    }

    fn set(&mut self, builder: &mut VisibilityBuilder, set: SetId) -> SetId {
        let at = to_usize(set);
        if self.sets.len() <= at {
            self.sets.resize(at + 1, None);
        }
        let visibility = self.visibility;
        match self.sets.get_mut(at) {
            Some(place) => *place.get_or_insert_with(|| builder.intern_set(visibility.set(set))),
            None => NO_SET,
        }
    }
}

struct MergedStates<'a> {
    builder: VisibilityBuilder,
    older: Remap<'a>,
    newer: Remap<'a>,
    is_oldest: bool,
    /// The last answer: neighbours are mostly alike.
    last: Option<(StatesOfSides, Option<StateId>)>,
}

/// The states of an entry in the older and the newer segment.
type StatesOfSides = (Option<StateId>, Option<StateId>);

impl MergedStates<'_> {
    /// The merged state of an entry from the states it has on either side; `None`: there is nothing to keep.
    fn state(&mut self, older: Option<StateId>, newer: Option<StateId>) -> Option<StateId> {
        match self.last {
            Some((sides, state)) if sides == (older, newer) => state,
            _ => {
                let state = self.new_state(older, newer);
                self.last = Some(((older, newer), state));
                state
            }
        }
    }

    fn new_state(&mut self, older: Option<StateId>, newer: Option<StateId>) -> Option<StateId> {
        let sets = |remap: &Remap<'_>, state: Option<StateId>| {
            state.map(|state| remap.visibility.state(state))
        };
        let (old, new) = (sets(&self.older, older), sets(&self.newer, newer));
        let (after, after_is_new) = match (new, old) {
            (Some((after, _)), _) => (after, true),
            (None, Some((after, _))) => (after, false),
            (None, None) => return None,
        };
        let (before, before_is_new) = match (old, new) {
            (Some((_, before)), _) => (before, false),
            (None, Some((_, before))) => (before, true),
            (None, None) => return None,
        };
        let before = if self.is_oldest { NO_SET } else { before };
        if after == NO_SET && before == NO_SET {
            return None;
        }
        let after = self.set(after, after_is_new);
        let before = self.set(before, before_is_new);
        Some(self.builder.intern_state(after, before))
    }

    fn set(&mut self, set: SetId, is_new: bool) -> SetId {
        let remap = if is_new { &mut self.newer } else { &mut self.older };
        remap.set(&mut self.builder, set)
    }
}

/// The ranks of both sides in the merged dictionary.
struct RankMaps {
    older: Vec<u32>,
    newer: Vec<u32>,
}

fn merge_dictionaries<'d>(
    (older, newer): (&'d Dictionary, &'d Dictionary),
    states: &mut MergedStates<'_>,
    purpose: Purpose,
    folder: SpillFolder<'_>,
) -> Result<(Dictionary, RankMaps)> {
    let mut builder = DictionaryBuilder::new(older.is_path, folder);
    let mut maps =
        RankMaps { older: Vec::with_capacity(older.len()), newer: Vec::with_capacity(newer.len()) };
    // Later words of these come from the newer side.
    let mut in_both: Vec<bool> = Vec::with_capacity(older.len());
    let (mut at, mut at_newer) = (0, 0);
    let term_at = |dictionary: &'d Dictionary, rank: usize| {
        (rank < dictionary.len()).then(|| dictionary.texts.term(rank))
    };
    let (mut old_term, mut new_term) = (term_at(older, 0), term_at(newer, 0));
    loop {
        let (order, term) = match (old_term, new_term) {
            (Some(old), Some(new)) => match old.cmp(&new) {
                Ordering::Less => (Ordering::Less, old),
                order => (order, new),
            },
            (Some(old), None) => (Ordering::Less, old),
            (None, Some(new)) => (Ordering::Greater, new),
            (None, None) => break,
        };
        let from_older = order.is_le().then_some(at);
        let from_newer = order.is_ge().then_some(at_newer);
        let state_of = |dictionary: &Dictionary, rank: usize| dictionary.states.at(rank);
        let old_state = from_older.map(|rank| state_of(older, rank));
        let new_state = from_newer.map(|rank| state_of(newer, rank));
        let state = states.state(old_state, new_state);
        let rank = state.map_or(DROPPED, |_| builder.next_rank());
        if let Some(state) = state {
            let (dictionary, place) = match from_newer {
                Some(rank) => (newer, rank),
                None => (older, at),
            };
            let weight = dictionary.weight(place);
            let own = match (from_older, from_newer) {
                (Some(old), Some(new)) => {
                    let mut sums = FacetSums::new();
                    older.add_facets(old, states.older.visibility, &mut sums);
                    newer.add_facets(new, states.newer.visibility, &mut sums);
                    (!is_implied(states.builder.so_far(), state, weight, &sums)).then_some(sums)
                }
                _ => dictionary.own_facets(place),
            };
            builder.push(term, weight, state, own.as_ref())?;
        }
        if from_older.is_some() {
            maps.older.push(rank);
            in_both.push(from_newer.is_some());
            at += 1;
            old_term = term_at(older, at);
        }
        if from_newer.is_some() {
            maps.newer.push(rank);
            at_newer += 1;
            new_term = term_at(newer, at_newer);
        }
    }
    let from_older = SuffixCursor::new(older, |rank| {
        let is_newer = in_both.get(rank).copied().unwrap_or(true);
        if is_newer { DROPPED } else { maps.older.get(rank).copied().unwrap_or(DROPPED) }
    });
    let from_newer =
        SuffixCursor::new(newer, |rank| maps.newer.get(rank).copied().unwrap_or(DROPPED));
    let suffixes = MergedSuffixes { older: from_older, newer: from_newer };
    let dictionary = builder.finish(suffixes, purpose)?;
    Ok((dictionary, maps))
}

/// The later words of one side that stay, with their rank in the merged dictionary.
struct SuffixCursor<'a, M> {
    dictionary: &'a Dictionary,
    map: M,
    at: usize,
    here: Option<(Joined<'a>, Suffix)>,
}

impl<'a, M: Fn(usize) -> u32> SuffixCursor<'a, M> {
    fn new(dictionary: &'a Dictionary, map: M) -> Self {
        let mut cursor = SuffixCursor { dictionary, map, at: 0, here: None };
        cursor.advance();
        cursor
    }

    fn advance(&mut self) -> Option<Suffix> {
        let before = self.here.take();
        while self.at < self.dictionary.suffixes.len() {
            let suffix = self.dictionary.suffixes.at(self.at);
            self.at += 1;
            let rank = (self.map)(to_usize(suffix.rank));
            if rank != DROPPED {
                self.here = Some((self.dictionary.suffix_text(suffix), Suffix { rank, ..suffix }));
                break;
            }
        }
        before.map(|(_, suffix)| suffix)
    }
}

struct MergedSuffixes<'a, O, N> {
    older: SuffixCursor<'a, O>,
    newer: SuffixCursor<'a, N>,
}

impl<O: Fn(usize) -> u32, N: Fn(usize) -> u32> Iterator for MergedSuffixes<'_, O, N> {
    type Item = Suffix;

    fn next(&mut self) -> Option<Suffix> {
        let older_first = match (&self.older.here, &self.newer.here) {
            (Some((text, suffix)), Some((other_text, other))) => {
                text.compare(other_text).then(suffix.cmp(other)).is_lt()
            }
            (Some(_), None) => true,
            (None, _) => false,
        };
        if older_first { self.older.advance() } else { self.newer.advance() }
    }
}

/// The entries of one side whose values stay, by their ranks in the merged dictionaries.
struct Cursor<'a> {
    list: &'a PairList,
    contexts: Vec<&'a [u32]>,
    targets: &'a [u32],
    group: usize,
    entry: usize,
    group_end: usize,
    context: Vec<u32>,
    target: u32,
    at_end: bool,
}

impl<'a> Cursor<'a> {
    fn new(
        list: &'a PairList,
        contexts: impl Iterator<Item = &'a [u32]>,
        targets: &'a [u32],
    ) -> Self {
        let mut cursor = Cursor {
            list,
            contexts: contexts.collect(),
            targets,
            group: 0,
            entry: 0,
            group_end: 0,
            context: Vec::new(),
            target: DROPPED,
            at_end: false,
        };
        cursor.settle();
        cursor
    }

    /// Moves to the next entry whose values all stay.
    fn settle(&mut self) {
        loop {
            while self.entry >= self.group_end {
                if self.group >= self.list.group_count() {
                    self.at_end = true;
                    return;
                }
                self.enter_group();
            }
            let rank = self.targets.get(self.list.target(self.entry)).copied();
            match rank.filter(|rank| *rank != DROPPED) {
                Some(rank) => {
                    self.target = rank;
                    return;
                }
                None => self.entry += 1,
            }
        }
    }

    fn enter_group(&mut self) {
        let entries = self.list.entries_of(self.group);
        (self.entry, self.group_end) = (entries.start, entries.end);
        self.context.clear();
        for (map, rank) in self.contexts.iter().zip(self.list.context_of(self.group)) {
            self.context.push(map.get(to_usize(rank)).copied().unwrap_or(DROPPED));
        }
        if self.context.contains(&DROPPED) {
            self.entry = self.group_end;
        }
        self.group += 1;
    }

    fn advance(&mut self) {
        self.entry += 1;
        self.settle();
    }

    fn place(&self) -> (&[u32], u32) {
        (&self.context, self.target)
    }
}

fn merge_lists(
    (mut older, mut newer): (Cursor<'_>, Cursor<'_>),
    mut builder: PairListBuilder<'_>,
    (targets, purpose): (&Dictionary, Purpose),
    states: &mut MergedStates<'_>,
) -> Result<PairList> {
    loop {
        let order = match (older.at_end, newer.at_end) {
            (true, true) => break,
            (false, true) => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, false) => older.place().cmp(&newer.place()),
        };
        let from_older = order.is_le().then_some(older.entry);
        let from_newer = order.is_ge().then_some(newer.entry);
        let old_state = from_older.map(|entry| older.list.states.at(entry));
        let new_state = from_newer.map(|entry| newer.list.states.at(entry));
        if let Some(state) = states.state(old_state, new_state) {
            let (side, entry) = match from_newer {
                Some(entry) => (&newer, entry),
                None => (&older, older.entry),
            };
            let resources = side.list.resource_count(entry);
            let own = match (from_older, from_newer) {
                (Some(old), Some(new)) => {
                    let mut sums = FacetSums::new();
                    older.list.add_facets(old, states.older.visibility, &mut sums);
                    newer.list.add_facets(new, states.newer.visibility, &mut sums);
                    let weight = Weight { priority: 0, count: resources };
                    (!is_implied(states.builder.so_far(), state, weight, &sums)).then_some(sums)
                }
                _ => side.list.own_facets(entry),
            };
            builder.push(side.place(), resources, state, own.as_ref())?;
        }
        if from_older.is_some() {
            older.advance();
        }
        if from_newer.is_some() {
            newer.advance();
        }
    }
    builder.finish(targets, purpose)
}
