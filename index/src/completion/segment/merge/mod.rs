//! Neighbouring segments become one. What the newest one says of a value or pair holds; what several changed adds up.
//!
//! All of a run are gone through together, so that each entry is copied once, however many segments there are.

mod dictionaries;
mod lists;
mod states;

use std::path::Path;

use smallvec::SmallVec;

use self::dictionaries::merge_dictionaries;
use self::lists::{Cursor, merge_lists};
use self::states::MergedStates;
use super::pair_list::PairListBuilder;
use super::{Segment, wrong_shape};
use crate::completion::plan::Plan;
use crate::error::Result;

/// The rank of a value that is not in the merged dictionary.
const DROPPED: u32 = u32::MAX;

/// Where one entry stands: the segment's place in the run, and the entry's place there. Oldest first.
type Places = SmallVec<[(usize, usize); 4]>;

/// Merges neighbours, oldest first. With `is_oldest` nothing lies beneath: what is gone is dropped.
pub(crate) fn merge(
    run: &[&Segment],
    plan: &Plan,
    is_oldest: bool,
    folder: Option<&Path>,
) -> Result<Segment> {
    let mut states = MergedStates::new(run, is_oldest);
    let mut ranks = Vec::new();
    let mut dictionaries = Vec::new();
    for variable in 0..plan.variable_count() {
        let sides: Vec<_> =
            run.iter().map(|segment| segment.dictionary(variable)).collect::<Result<_>>()?;
        let (dictionary, maps) = merge_dictionaries(&sides, &mut states, folder)?;
        dictionaries.push(dictionary);
        ranks.push(maps);
    }
    let mut lists = Vec::new();
    for (number, shape) in plan.lists().iter().enumerate() {
        let maps = |variable: usize, side: usize| {
            let maps = ranks.get(variable).and_then(|maps| maps.get(side));
            maps.map(Vec::as_slice).ok_or_else(wrong_shape)
        };
        let mut cursors = Vec::with_capacity(run.len());
        for (side, segment) in run.iter().enumerate() {
            let contexts = shape.context.iter().map(|variable| maps(*variable, side));
            let contexts = contexts.collect::<Result<Vec<_>>>()?;
            cursors.push(Cursor::new(segment.list(number)?, contexts, maps(shape.target, side)?));
        }
        let targets = dictionaries.get(shape.target).ok_or_else(wrong_shape)?;
        let builder = PairListBuilder::new(shape, folder);
        lists.push(merge_lists(cursors, builder, targets, &mut states)?);
    }
    let sequence = run.last().map_or(0, |newest| newest.sequence);
    let visibility = states.finish();
    Ok(Segment { sequence, dictionaries, lists, visibility, checked: Vec::new() })
}
