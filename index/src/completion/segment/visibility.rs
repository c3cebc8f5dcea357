//! Who sees an entry: sets of ACLs, and the states of entries.
//!
//! A value is seen by those who pass at least one ACL of the resources behind it, so an entry carries the *set* of
//! those ACLs, interned. Its *state* is that set after the changes of this segment and before them. What a caller sees
//! in a range is a sum over states, exact over all layers: each adds what it made visible less what it took away.

use std::collections::HashMap;

use super::section::{ArchiveReader, ArchiveWriter, Bytes, Column, SectionWriter, SpillFolder};
use super::section::{to_u32, to_usize, u32_at};
use crate::error::Result;

/// A set of ACL numbers; 0 is the empty one: no resource, nobody sees it.
pub(crate) type SetId = u32;
/// Interned set after and set before.
pub(crate) type StateId = u32;

/// Nothing is there, and nothing was.
pub(crate) const NO_SET: SetId = 0;

/// The sets and states of a segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visibility {
    sets: Vec<Box<[u32]>>,
    states: Vec<(SetId, SetId)>,
}

impl Visibility {
    /// The ACLs of a set.
    pub(crate) fn set(&self, id: SetId) -> &[u32] {
        self.sets.get(to_usize(id)).map_or(&[], |set| set)
    }

    /// Sets after and before.
    pub(crate) fn state(&self, id: StateId) -> (SetId, SetId) {
        self.states.get(to_usize(id)).copied().unwrap_or_default()
    }

    pub(crate) fn is_alive(&self, id: StateId) -> bool {
        self.state(id).0 != NO_SET
    }

    /// Whether it was seen by anybody before the changes of this segment.
    pub(crate) fn was_there(&self, id: StateId) -> bool {
        self.state(id).1 != NO_SET
    }

    /// Counts what was seen by anybody before the changes of this segment.
    pub(crate) fn were_there(&self) -> Seen {
        let of_states = self.states.iter().map(|&(_, before)| SeenState {
            after: before != NO_SET,
            change: i8::from(before != NO_SET),
        });
        Seen { states: of_states.collect() }
    }

    /// For each state what a caller sees of it.
    pub(crate) fn seen(&self, passes: &mut dyn FnMut(u32) -> Result<bool>) -> Result<Seen> {
        let sees = self
            .sets
            .iter()
            .map(|set| set.iter().try_fold(false, |seen, acl| Ok(seen || passes(*acl)?)))
            .collect::<Result<Vec<bool>>>()?;
        let sees = |set: SetId| sees.get(to_usize(set)).copied().unwrap_or(false);
        let of_states = self.states.iter().map(|&(after, before)| SeenState {
            after: sees(after),
            change: i8::from(sees(after)) - i8::from(sees(before)),
        });
        Ok(Seen { states: of_states.collect() })
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) {
        let mut number = |number: usize| archive.number(u64::try_from(number).unwrap_or(u64::MAX));
        number(self.sets.len());
        for set in &self.sets {
            number(set.len());
            set.iter().for_each(|acl| number(to_usize(*acl)));
        }
        number(self.states.len());
        for (after, before) in &self.states {
            number(to_usize(*after));
            number(to_usize(*before));
        }
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Visibility> {
        let mut visibility = Visibility::default();
        for _ in 0..archive.count()? {
            let set = (0..archive.count()?).map(|_| archive.number32()).collect::<Result<_>>()?;
            visibility.sets.push(set);
        }
        for _ in 0..archive.count()? {
            visibility.states.push((archive.number32()?, archive.number32()?));
        }
        Ok(visibility)
    }
}

/// What a caller sees of the entries of a segment, by state.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    states: Vec<SeenState>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SeenState {
    after: bool,
    change: i8,
}

impl Seen {
    /// Whether an entry in this state is seen.
    pub(crate) fn after(&self, state: StateId) -> bool {
        self.states.get(to_usize(state)).is_some_and(|state| state.after)
    }

    /// Whether an entry in this state became seen (1), ceased to be (-1), or neither.
    fn change(&self, state: StateId) -> i64 {
        self.states.get(to_usize(state)).map_or(0, |state| i64::from(state.change))
    }
}

/// Interns while a segment is built.
#[derive(Debug)]
pub(super) struct VisibilityBuilder {
    done: Visibility,
    sets: HashMap<Box<[u32]>, SetId>,
    states: HashMap<(SetId, SetId), StateId>,
    /// The last answers: neighbours are mostly alike.
    last_set: SetId,
    last_state: StateId,
}

impl VisibilityBuilder {
    pub(super) fn new() -> Self {
        let mut builder = VisibilityBuilder {
            done: Visibility::default(),
            sets: HashMap::new(),
            states: HashMap::new(),
            last_set: NO_SET,
            last_state: 0,
        };
        builder.intern_set(&[]);
        builder
    }

    /// The number of a set; sorted and without doubles.
    pub(super) fn intern_set(&mut self, set: &[u32]) -> SetId {
        if !self.done.sets.is_empty() && self.done.set(self.last_set) == set {
            return self.last_set;
        }
        if let Some(id) = self.sets.get(set) {
            self.last_set = *id;
            return *id;
        }
        let id = to_u32(self.done.sets.len());
        self.done.sets.push(set.into());
        self.sets.insert(set.into(), id);
        self.last_set = id;
        id
    }

    pub(super) fn intern_state(&mut self, after: SetId, before: SetId) -> StateId {
        if self.done.states.get(to_usize(self.last_state)) == Some(&(after, before)) {
            return self.last_state;
        }
        let next = to_u32(self.done.states.len());
        let id = *self.states.entry((after, before)).or_insert(next);
        if id == next {
            self.done.states.push((after, before));
        }
        self.last_state = id;
        id
    }

    pub(super) fn so_far(&self) -> &Visibility {
        &self.done
    }

    pub(super) fn finish(self) -> Visibility {
        self.done
    }
}

/// Entries that are counted together.
const BLOCK: usize = 4_096;
/// Blocks that are counted together once more.
const BLOCKS_TOGETHER: usize = 64;

/// How many entries of each state are in each block, so that counting a range does not look at every entry.
#[derive(Clone, Default)]
pub(crate) struct StateCounts {
    blocks: Tally,
    together: Tally,
}

/// For each block the states in it, with how many entries have them.
#[derive(Clone, Default)]
struct Tally {
    starts: Bytes,
    counts: Bytes,
}

impl StateCounts {
    pub(super) fn build(states: &Column, count: usize, folder: SpillFolder<'_>) -> Result<Self> {
        if states.constant().is_some() {
            return Ok(StateCounts::default());
        }
        let tally = |width: usize| -> Result<Tally> {
            let mut starts = SectionWriter::new(folder);
            let mut counts = SectionWriter::new(folder);
            let mut total = 0;
            for block in 0..count.div_ceil(width) {
                starts.put_u32(total)?;
                let mut tally: HashMap<StateId, u32> = HashMap::new();
                for at in block * width..(block * width + width).min(count) {
                    *tally.entry(states.at(at)).or_default() += 1;
                }
                let mut tally: Vec<_> = tally.into_iter().collect();
                tally.sort_unstable();
                for (state, count) in tally {
                    counts.put_u32(state)?;
                    counts.put_u32(count)?;
                    total += 1;
                }
            }
            starts.put_u32(total)?;
            Ok(Tally { starts: starts.finish()?, counts: counts.finish()? })
        };
        Ok(StateCounts { blocks: tally(BLOCK)?, together: tally(BLOCK * BLOCKS_TOGETHER)? })
    }

    /// What this range adds to what the caller sees.
    pub(crate) fn change(&self, states: &Column, seen: &Seen, from: usize, to: usize) -> i64 {
        if from >= to {
            return 0;
        }
        if let Some(state) = states.constant() {
            return seen.change(state) * i64::try_from(to - from).unwrap_or(i64::MAX);
        }
        let one_by_one = |from: usize, to: usize| -> i64 {
            (from..to).map(|at| seen.change(states.at(at))).sum()
        };
        let (first, last) = (from.div_ceil(BLOCK), to / BLOCK);
        if first >= last {
            return one_by_one(from, to);
        }
        one_by_one(from, first * BLOCK)
            + self.of_blocks(seen, first, last)
            + one_by_one(last * BLOCK, to)
    }

    fn of_blocks(&self, seen: &Seen, first: usize, last: usize) -> i64 {
        let (first_big, last_big) = (first.div_ceil(BLOCKS_TOGETHER), last / BLOCKS_TOGETHER);
        if first_big >= last_big {
            return self.blocks.change(seen, first, last);
        }
        self.blocks.change(seen, first, first_big * BLOCKS_TOGETHER)
            + self.together.change(seen, first_big, last_big)
            + self.blocks.change(seen, last_big * BLOCKS_TOGETHER, last)
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        for tally in [&self.blocks, &self.together] {
            archive.section(&tally.starts)?;
            archive.section(&tally.counts)?;
        }
        Ok(())
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<StateCounts> {
        let mut tally = || -> Result<Tally> {
            Ok(Tally { starts: archive.section()?, counts: archive.section()? })
        };
        Ok(StateCounts { blocks: tally()?, together: tally()? })
    }
}

impl Tally {
    fn change(&self, seen: &Seen, first: usize, last: usize) -> i64 {
        let (from, to) = (u32_at(&self.starts, first), u32_at(&self.starts, last));
        (to_usize(from)..to_usize(to))
            .map(|at| {
                let state = u32_at(&self.counts, at * 2);
                seen.change(state) * i64::from(u32_at(&self.counts, at * 2 + 1))
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::section::ColumnWriter;
    use super::*;

    #[test]
    fn a_range_is_counted_as_one_by_one() {
        let mut builder = VisibilityBuilder::new();
        let sets = [
            NO_SET,
            builder.intern_set(&[0]),
            builder.intern_set(&[1]),
            builder.intern_set(&[1, 2]),
        ];
        let states: Vec<StateId> = sets
            .iter()
            .flat_map(|after| sets.iter().map(move |before| (*after, *before)))
            .map(|(after, before)| builder.intern_state(after, before))
            .collect();
        let visibility = builder.finish();
        let count = BLOCK * BLOCKS_TOGETHER * 2 + 5_000;
        let mut column = ColumnWriter::new(None);
        let of = |at: usize| states[(at * 7 + at / 1_000) % states.len()];
        (0..count).for_each(|at| column.push(of(at)).unwrap());
        let column = column.finish().unwrap();
        let counts = StateCounts::build(&column, count, None).unwrap();
        let seen = visibility.seen(&mut |acl| Ok(acl == 2)).unwrap();
        for (from, to) in [
            (0, count),
            (1, 2),
            (5, 9_000),
            (4_096, 8_192),
            (100, 300_000),
            (270_000, 530_000),
            (9, 9),
        ] {
            let wanted: i64 = (from..to).map(|at| seen.change(column.at(at))).sum();
            assert_eq!(counts.change(&column, &seen, from, to), wanted, "{from}..{to}");
        }
        assert!(
            seen.after(states[12]) && !seen.after(states[4]) && !visibility.is_alive(states[0])
        );
    }
}
