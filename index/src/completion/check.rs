//! Checks a completion index against the store, in both directions and without making another index.
//!
//! Each resource's values, and the pairs of them that lists hold, are looked for in the index; what is found is tallied
//! by its place there. Then each entry must say what was tallied for it: how many resources are behind it, their highest
//! priority, and who sees them. For an entry that no resource leads to, nothing was tallied. What is tallied at a time
//! is bounded: the resources are gone through several times where an index has many parts.

use std::sync::Arc;

use super::catch_up::{Listed, read_log};
use super::layers::{Groups, Layers, NOT_THERE, Ranks};
use super::new_layer::new_layer;
use super::plan::{Facts, ListShape, Plan};
use super::segment::{Facet, Segment, TermRef, Weight};
use super::spaces::SpaceIndex;
use super::tally::{Place, Tally};
use crate::catalog::Space;
use crate::error::Result;
use crate::faults::Faults;
use crate::shared::Shared;
use crate::stop::Stop;
use crate::store::View;

/// Entries that are tallied at a time, of 12 bytes each; a single part may have more.
const ENTRIES_MAX: usize = 16 * 1024 * 1024;

/// Returns how many entries were compared, and what differs.
///
/// # Errors
/// `Closed` when `stop` is asked; what keeps the store from being read.
pub(crate) fn check(shared: &Shared, stop: &Stop) -> Result<(u64, Faults)> {
    let mut faults = Faults::default();
    let mut compared = 0;
    for index in shared.completions.all() {
        let catalog = shared.catalog();
        let Some(space) = catalog.get(index.id) else { continue };
        let store = shared.store();
        let Some((layers, view)) = as_it_is(shared, &index, space, || store.view())? else {
            continue;
        };
        let mut named =
            |text: String| faults.add(|| format!("space `{}`: {text}", space.settings.name));
        let mut left = parts(&index.plan);
        while !left.is_empty() {
            let mut some = tallied_at_a_time(&mut left, &layers)?;
            tally(&view, space, &layers, (&mut some, stop), &mut named)?;
            for (part, tally) in &some {
                stop.check()?;
                compared += part.compare(&layers, tally, &mut named)?;
            }
        }
    }
    Ok((compared, faults))
}

/// The layers and a view of the store in which they are to be right; `None` while the index is being made.
fn as_it_is<'v>(
    shared: &Shared,
    index: &SpaceIndex,
    space: &Space,
    view: impl FnOnce() -> View<'v>,
) -> Result<Option<(Layers, View<'v>)>> {
    // While it is locked no commit becomes visible, but one may be written already: the log tells what it changed.
    let mut stack = index.lock();
    if !stack.is_live || stack.is_removed {
        return Ok(None);
    }
    index.settle(&mut stack)?;
    let view = view();
    let covered = shared.log_range().newest.max(stack.layers.sequence());
    let (changes, up_to) = read_log(&view, space, covered, (usize::MAX, &[]))?;
    let mut layers = stack.layers.clone();
    if !changes.is_empty() {
        let layer = new_layer(&index.plan, &layers, &changes, up_to, None)?;
        layers = layers.with(Arc::new(layer));
    }
    Ok(Some((layers, view)))
}

/// A part of an index that is tallied by itself.
enum Part<'p> {
    /// The values of a variable.
    Values(usize),
    /// A list, by its number.
    List(usize, &'p ListShape),
}

fn parts(plan: &Plan) -> Vec<Part<'_>> {
    let values = (0..plan.variable_count()).map(Part::Values);
    let lists = plan.lists().iter().enumerate();
    values.chain(lists.map(|(number, shape)| Part::List(number, shape))).collect()
}

/// Takes parts with at most [`ENTRIES_MAX`] entries together, and at least one.
fn tallied_at_a_time<'p>(
    left: &mut Vec<Part<'p>>,
    layers: &Layers,
) -> Result<Vec<(Part<'p>, Tally)>> {
    let mut some = Vec::new();
    let mut entries = 0;
    while let Some(part) = left.pop() {
        let counts = layers.segments.iter().map(|segment| part.entry_count(segment));
        let counts = counts.collect::<Result<Vec<usize>>>()?;
        entries += counts.iter().sum::<usize>();
        if entries > ENTRIES_MAX && !some.is_empty() {
            left.push(part);
            break;
        }
        some.push((part, Tally::new(counts.into_iter())));
    }
    Ok(some)
}

/// Goes through all resources of the space once.
fn tally(
    view: &View<'_>,
    space: &Space,
    layers: &Layers,
    (parts, stop): (&mut [(Part<'_>, Tally)], &Stop),
    fault: &mut dyn FnMut(String),
) -> Result<()> {
    let mut listed = Listed::of(view, space)?;
    while let Some((facts, facet)) = listed.next(space)? {
        stop.check()?;
        let terms = facts.terms.iter().enumerate().map(|(variable, terms)| {
            terms.iter().map(|term| layers.ranks(variable, term.as_ref())).collect()
        });
        let ranks = terms.collect::<Result<Vec<Vec<Ranks>>>>()?;
        for (part, tally) in parts.iter_mut() {
            part.add(layers, (&facts, &ranks, facet), tally, fault)?;
        }
    }
    Ok(())
}

/// What a resource is found by: its terms, their ranks in all layers, and what it counts as.
type Found<'a> = (&'a Facts, &'a [Vec<Ranks>], Facet);

impl Part<'_> {
    fn entry_count(&self, segment: &Segment) -> Result<usize> {
        match self {
            Part::Values(variable) => segment.dictionary(*variable).map(|values| values.len()),
            Part::List(number, _) => segment.list(*number).map(|list| list.len()),
        }
    }

    /// Tallies one resource.
    fn add(
        &self,
        layers: &Layers,
        (facts, ranks, facet): Found<'_>,
        tally: &mut Tally,
        fault: &mut dyn FnMut(String),
    ) -> Result<()> {
        let of = |variable: usize| ranks.get(variable).map_or(&[][..], Vec::as_slice);
        match self {
            Part::Values(variable) => {
                let terms = facts.terms.get(*variable).into_iter().flatten();
                for (term, ranks) in terms.zip(of(*variable)) {
                    match newest(ranks) {
                        Some(place) => tally.add(place, facet),
                        None => fault(format!("the index lacks the value `{}`", term.raw)),
                    }
                }
            }
            Part::List(number, shape) => {
                let facet = Facet { priority: 0, ..facet };
                let places: Vec<&[Ranks]> = shape.context.iter().map(|v| of(*v)).collect();
                for context in choices(&places) {
                    let groups = groups(layers, *number, &context)?;
                    for target in of(shape.target) {
                        match groups.newest(target) {
                            Some(place) => tally.add(place, facet),
                            None => fault(format!("list {number} lacks a pair of a resource")),
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares each entry with what was tallied for it. Returns how many say something that counts.
    fn compare(
        &self,
        layers: &Layers,
        tally: &Tally,
        fault: &mut dyn FnMut(String),
    ) -> Result<u64> {
        let mut compared = 0;
        for (layer, segment) in layers.segments.iter().enumerate() {
            match self {
                Part::Values(variable) => {
                    let values = segment.dictionary(*variable)?;
                    for rank in 0..values.len() {
                        let said = (values.weight(rank), values.states.at(rank));
                        compared += 1;
                        if differs(segment, said, tally.at((layer, rank)))
                            && !self.is_hidden(layers, (layer, rank), &[], rank)?
                        {
                            let value = text(values.texts.term(rank));
                            fault(format!("the index is wrong about the value `{value}`"));
                        }
                    }
                }
                Part::List(number, shape) => {
                    let list = segment.list(*number)?;
                    for group in 0..list.group_count() {
                        let context: Vec<u32> = list.context_of(group).collect();
                        for entry in list.entries_of(group) {
                            let weight = Weight { priority: 0, count: list.resource_count(entry) };
                            let said = (weight, list.states.at(entry));
                            compared += 1;
                            let target = list.target(entry);
                            if differs(segment, said, tally.at((layer, entry)))
                                && !self.is_hidden(layers, (layer, entry), &context, target)?
                            {
                                let value = segment.dictionary(shape.target)?.texts.term(target);
                                let value = text(value);
                                fault(format!("list {number} is wrong about the value `{value}`"));
                            }
                        }
                    }
                }
            }
        }
        Ok(compared)
    }

    /// Whether a newer layer says what the entry has come to; `context` and `target` are ranks in its own layer.
    fn is_hidden(
        &self,
        layers: &Layers,
        (layer, entry): Place,
        context: &[u32],
        target: usize,
    ) -> Result<bool> {
        let Some(segment) = layers.segments.get(layer) else { return Ok(false) };
        let ranks = |variable: usize, rank: usize| {
            layers.ranks(variable, segment.dictionary(variable)?.texts.term(rank))
        };
        let found = match self {
            Part::Values(variable) => newest(&ranks(*variable, target)?),
            Part::List(number, shape) => {
                let context = shape.context.iter().zip(context);
                let context = context
                    .map(|(variable, rank)| {
                        ranks(*variable, usize::try_from(*rank).unwrap_or(usize::MAX))
                    })
                    .collect::<Result<Vec<Ranks>>>()?;
                let context: Vec<&Ranks> = context.iter().collect();
                groups(layers, *number, &context)?.newest(&ranks(shape.target, target)?)
            }
        };
        Ok(found.is_some_and(|found| found != (layer, entry)))
    }
}

/// The newest layer that knows a value, with its rank there.
fn newest(ranks: &Ranks) -> Option<Place> {
    let newest = ranks.iter().enumerate().rev().find(|(_, rank)| **rank != NOT_THERE);
    newest.and_then(|(layer, rank)| Some((layer, usize::try_from(*rank).ok()?)))
}

/// The groups of one context, given by the ranks of each of its values.
fn groups<'l>(layers: &'l Layers, list: usize, context: &[&Ranks]) -> Result<Groups<'l>> {
    let of_layer = |layer: usize| {
        let rank = |ranks: &&Ranks| ranks.get(layer).copied().unwrap_or(NOT_THERE);
        context.iter().map(rank).collect()
    };
    let ranks: Vec<Vec<u32>> = (0..layers.segments.len()).map(of_layer).collect();
    Groups::find(layers, list, &ranks)
}

/// Every choice of one from each place.
fn choices<'r>(places: &[&'r [Ranks]]) -> Vec<Vec<&'r Ranks>> {
    places.iter().fold(vec![Vec::new()], |choices, place| {
        let longer = |choice: Vec<&'r Ranks>| {
            place.iter().map(move |ranks| choice.iter().copied().chain([ranks]).collect())
        };
        choices.into_iter().flat_map(longer).collect()
    })
}

/// Whether an entry says something else than was tallied for it.
fn differs(
    segment: &Segment,
    (weight, state): (Weight, u32),
    (right, acls): (Weight, &[u32]),
) -> bool {
    let said = segment.visibility.set(segment.visibility.state(state).0);
    weight != right || said != acls
}

fn text(term: TermRef<'_>) -> String {
    String::from_utf8_lossy(term.raw).into_owned()
}
