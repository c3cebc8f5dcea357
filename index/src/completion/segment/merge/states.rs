//! States of entries in the merged segment.

use super::super::Segment;
use super::super::dictionary::{Weight, is_implied};
use super::super::facets::FacetSums;
use super::super::section::to_usize;
use super::super::visibility::{NO_SET, SetId, StateId, Visibility, VisibilityBuilder};

/// Interns the states of the merged segment from those of the run.
pub(super) struct MergedStates<'a> {
    builder: VisibilityBuilder,
    sides: Vec<Side<'a>>,
    is_oldest: bool,
}

/// The numbers of one segment's sets and states in the merged one, as far as they have been asked for.
struct Side<'a> {
    visibility: &'a Visibility,
    sets: Vec<Option<SetId>>,
    /// Of entries that no other segment of the run has; within, `None` where there is nothing to keep.
    states: Vec<Option<Option<StateId>>>,
}

impl<'a> MergedStates<'a> {
    pub(super) fn new(run: &[&'a Segment], is_oldest: bool) -> Self {
        let side = |segment: &&'a Segment| Side {
            visibility: &segment.visibility,
            sets: Vec::new(),
            states: Vec::new(),
        };
        MergedStates {
            builder: VisibilityBuilder::new(),
            sides: run.iter().map(side).collect(),
            is_oldest,
        }
    }

    /// The merged state of an entry that one segment of the run has; `None`: there is nothing to keep.
    pub(super) fn alone(&mut self, side: usize, state: StateId) -> Option<StateId> {
        let at = to_usize(state);
        let known = self.sides.get(side).and_then(|side| side.states.get(at).copied().flatten());
        if let Some(merged) = known {
            return merged;
        }
        let merged = self.together((side, state), (side, state));
        if let Some(side) = self.sides.get_mut(side) {
            if side.states.len() <= at {
                side.states.resize(at + 1, None);
            }
            if let Some(place) = side.states.get_mut(at) {
                *place = Some(merged);
            }
        }
        merged
    }

    /// The same for one that several have, from the oldest and the newest of them.
    pub(super) fn together(
        &mut self,
        (oldest, oldest_state): (usize, StateId),
        (newest, newest_state): (usize, StateId),
    ) -> Option<StateId> {
        let (after, _) = self.sides.get(newest)?.visibility.state(newest_state);
        let (_, before) = self.sides.get(oldest)?.visibility.state(oldest_state);
        let before = if self.is_oldest { NO_SET } else { before };
        if after == NO_SET && before == NO_SET {
            return None;
        }
        let after = self.set(newest, after);
        let before = self.set(oldest, before);
        Some(self.builder.intern_state(after, before))
    }

    fn set(&mut self, side: usize, set: SetId) -> SetId {
        let at = to_usize(set);
        let Some(side) = self.sides.get_mut(side) else { return NO_SET };
        if side.sets.len() <= at {
            side.sets.resize(at + 1, None);
        }
        let (visibility, builder) = (side.visibility, &mut self.builder);
        match side.sets.get_mut(at) {
            Some(place) => *place.get_or_insert_with(|| builder.intern_set(visibility.set(set))),
            None => NO_SET,
        }
    }

    pub(super) fn visibility(&self, side: usize) -> Option<&'a Visibility> {
        self.sides.get(side).map(|side| side.visibility)
    }

    /// The facets of an entry with this state and weight, unless they are implied.
    pub(super) fn own(&self, sums: FacetSums, state: StateId, weight: Weight) -> Option<FacetSums> {
        (!is_implied(self.builder.so_far(), state, weight, &sums)).then_some(sums)
    }

    pub(super) fn finish(self) -> Visibility {
        self.builder.finish()
    }
}
