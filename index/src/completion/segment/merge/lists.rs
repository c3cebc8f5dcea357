//! The lists of one context and target become one.

use super::super::dictionary::{Dictionary, Weight};
use super::super::facets::FacetSums;
use super::super::pair_list::{PairList, PairListBuilder};
use super::super::section::to_usize;
use super::states::MergedStates;
use super::{DROPPED, Places};
use crate::error::Result;

/// The entries of one side whose values stay, by their ranks in the merged dictionaries.
pub(super) struct Cursor<'a> {
    list: &'a PairList,
    /// The ranks of the context's values and of the targets in the merged dictionaries.
    contexts: Vec<&'a [u32]>,
    targets: &'a [u32],
    group: usize,
    context: Vec<u32>,
    entry: usize,
    group_end: usize,
    /// The target of `entry`; [`DROPPED`] at the end of the group.
    target: u32,
    at_end: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(list: &'a PairList, contexts: Vec<&'a [u32]>, targets: &'a [u32]) -> Self {
        let mut cursor = Cursor {
            list,
            contexts,
            targets,
            group: 0,
            context: Vec::new(),
            entry: 0,
            group_end: 0,
            target: DROPPED,
            at_end: false,
        };
        cursor.next_group();
        cursor
    }

    /// Moves to the next group with an entry that stays.
    fn next_group(&mut self) {
        while self.group < self.list.group_count() {
            let entries = self.list.entries_of(self.group);
            (self.entry, self.group_end) = (entries.start, entries.end);
            self.context.clear();
            for (map, rank) in self.contexts.iter().zip(self.list.context_of(self.group)) {
                self.context.push(map.get(to_usize(rank)).copied().unwrap_or(DROPPED));
            }
            self.group += 1;
            if !self.context.contains(&DROPPED) {
                self.settle();
                if self.target != DROPPED {
                    return;
                }
            }
        }
        self.at_end = true;
    }

    /// Goes to the first entry from here on whose target stays.
    fn settle(&mut self) {
        self.target = DROPPED;
        while self.entry < self.group_end {
            let target = self.targets.get(self.list.target(self.entry)).copied();
            if let Some(target) = target.filter(|target| *target != DROPPED) {
                self.target = target;
                return;
            }
            self.entry += 1;
        }
    }

    fn advance(&mut self) {
        self.entry += 1;
        self.settle();
    }
}

pub(super) fn merge_lists(
    mut cursors: Vec<Cursor<'_>>,
    mut builder: PairListBuilder<'_>,
    targets: &Dictionary,
    states: &mut MergedStates<'_>,
) -> Result<PairList> {
    let mut context: Vec<u32> = Vec::new();
    let mut sides: Vec<usize> = Vec::new();
    while let Some(least) =
        cursors.iter().filter(|cursor| !cursor.at_end).map(|cursor| &cursor.context).min()
    {
        context.clone_from(least);
        sides.clear();
        let has_group = |cursor: &Cursor<'_>| !cursor.at_end && cursor.context == context;
        sides.extend((0..cursors.len()).filter(|side| cursors.get(*side).is_some_and(has_group)));
        merge_groups(&mut cursors, &sides, (&context, &mut builder), states)?;
        for side in &sides {
            if let Some(cursor) = cursors.get_mut(*side) {
                cursor.next_group();
            }
        }
    }
    builder.finish(targets)
}

/// The groups of one context, which all of `sides` have, become one.
fn merge_groups(
    cursors: &mut [Cursor<'_>],
    sides: &[usize],
    (context, builder): (&[u32], &mut PairListBuilder<'_>),
    states: &mut MergedStates<'_>,
) -> Result<()> {
    let mut places = Places::new();
    loop {
        let heads = sides.iter().filter_map(|side| cursors.get(*side).map(|head| head.target));
        let Some(target) = heads.min().filter(|target| *target != DROPPED) else { return Ok(()) };
        places.clear();
        for side in sides {
            if let Some(cursor) = cursors.get_mut(*side).filter(|cursor| cursor.target == target) {
                places.push((*side, cursor.entry));
                cursor.advance();
            }
        }
        add_pair(cursors, &places, (context, target, &mut *builder), states)?;
    }
}

/// Adds what the sides say of one pair.
fn add_pair(
    cursors: &[Cursor<'_>],
    places: &Places,
    (context, target, builder): (&[u32], u32, &mut PairListBuilder<'_>),
    states: &mut MergedStates<'_>,
) -> Result<()> {
    let (Some(&(oldest, first)), Some(&(newest, last))) = (places.first(), places.last()) else {
        return Ok(());
    };
    let (Some(old), Some(new)) = (cursors.get(oldest), cursors.get(newest)) else {
        return Ok(());
    };
    let state = if places.len() == 1 {
        states.alone(newest, new.list.states.at(last))
    } else {
        states.together((oldest, old.list.states.at(first)), (newest, new.list.states.at(last)))
    };
    let Some(state) = state else { return Ok(()) };
    let resources = new.list.resource_count(last);
    let own = if places.len() == 1 {
        new.list.own_facets(last)
    } else {
        let mut sums = FacetSums::new();
        for (side, entry) in places {
            if let (Some(side), Some(visibility)) = (cursors.get(*side), states.visibility(*side)) {
                side.list.add_facets(*entry, visibility, &mut sums);
            }
        }
        states.own(sums, state, Weight { priority: 0, count: resources })
    };
    builder.push((context, target), resources, state, own.as_ref())
}
