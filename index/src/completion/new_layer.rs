//! From the changes of some commits to the segment that says what they made of values and pairs.

use std::path::Path;
use std::sync::Arc;

use smallvec::SmallVec;

use super::layers::{Current, Groups, Layers, NOT_THERE, Ranks};
use super::plan::{Facts, ListShape, Plan, Term};
use super::segment::{
    Facet, FacetSums, NewPair, NewValue, Segment, SegmentBuilder, TermRef, Weight,
};
use crate::error::Result;

/// A resource that came, went, or changed what completion knows of it.
#[derive(Debug, Clone)]
pub(crate) struct FactChange {
    pub(crate) facts: Arc<Facts>,
    /// What it was; `None`: it was not there.
    pub(crate) removed: Option<Facet>,
    /// What it is; `None`: it is gone.
    pub(crate) added: Option<Facet>,
}

/// The segment that goes on top of `layers`.
pub(crate) fn new_layer(
    plan: &Plan,
    layers: &Layers,
    changes: &[FactChange],
    sequence: u64,
    folder: Option<&Path>,
) -> Result<Segment> {
    let mut builder = SegmentBuilder::new(folder);
    let mut variables = Vec::with_capacity(plan.variable_count());
    for variable in 0..plan.variable_count() {
        let values = Values::collect(layers, variable, changes)?;
        builder.dictionary(plan.is_path(variable), values.new_values())?;
        variables.push(values);
    }
    for (number, shape) in plan.lists().iter().enumerate() {
        add_list(&mut builder, layers, changes, &variables, (number, shape))?;
    }
    Ok(builder.finish(sequence))
}

/// The values of one variable that the changes touch, sorted; their index is their rank in the new segment.
struct Values<'a> {
    values: Vec<Value<'a>>,
    /// For each change the ranks of its terms.
    of_change: Vec<RanksOfChange>,
}

struct Value<'a> {
    term: &'a Term,
    sums: FacetSums,
    settled: Settled,
    /// Its ranks in the layers beneath.
    ranks: Ranks,
}

/// Mostly a change has one value of a variable.
type RanksOfChange = SmallVec<[u32; 2]>;

/// ACLs, sorted; mostly there is one, or none.
type Acls = SmallVec<[u32; 4]>;

/// What an entry is after the changes, and who saw it before.
#[derive(Default)]
struct Settled {
    weight: Weight,
    after: Acls,
    before: Acls,
}

impl<'a> Values<'a> {
    fn collect(layers: &Layers, variable: usize, changes: &'a [FactChange]) -> Result<Self> {
        let mut touched: Vec<(u64, &Term, usize)> = Vec::new();
        for (number, change) in changes.iter().enumerate() {
            let terms = change.facts.terms.get(variable).into_iter().flatten();
            touched.extend(terms.map(|term| (first_bytes(&term.key), term, number)));
        }
        touched.sort_unstable_by(|(bytes, a, change), (other_bytes, b, other)| {
            // Mostly the first bytes decide, and no text need be fetched.
            bytes
                .cmp(other_bytes)
                .then_with(|| (&a.key, &a.raw, change).cmp(&(&b.key, &b.raw, other)))
        });
        let mut values: Vec<Value<'a>> = Vec::new();
        let mut of_change = vec![RanksOfChange::new(); changes.len()];
        for (_, term, number) in touched {
            let same = |value: &Value<'_>| value.term.key == term.key && value.term.raw == term.raw;
            if !values.last().is_some_and(same) {
                let ranks = layers.ranks(variable, term.as_ref())?;
                values.push(Value {
                    term,
                    sums: FacetSums::new(),
                    settled: Settled::default(),
                    ranks,
                });
            }
            let rank = u32::try_from(values.len() - 1).unwrap_or(u32::MAX);
            if let (Some(value), Some(change)) = (values.last_mut(), changes.get(number)) {
                add(change, |facet| facet, &mut value.sums);
            }
            if let Some(ranks) = of_change.get_mut(number) {
                ranks.push(rank);
            }
        }
        for value in &mut values {
            let current = layers.value(variable, &value.ranks)?;
            let mut existing = FacetSums::new();
            if value.sums.takes_away() {
                layers.value_facets(variable, &value.ranks, &mut existing)?;
            }
            value.settled = settle(current, existing, &value.sums);
        }
        Ok(Values { values, of_change })
    }

    fn new_values(&self) -> impl Iterator<Item = NewValue<'_>> {
        self.values.iter().map(|value| NewValue {
            term: value.term.as_ref(),
            words: &value.term.words,
            weight: value.settled.weight,
            after: &value.settled.after,
            before: &value.settled.before,
            sums: &value.sums,
        })
    }
}

/// A number that is less where the text is less in its first bytes.
fn first_bytes(key: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(key.bytes()).for_each(|(place, byte)| *place = byte);
    u64::from_be_bytes(first)
}

impl Term {
    pub(crate) fn as_ref(&self) -> TermRef<'_> {
        TermRef { key: self.key.as_bytes(), raw: self.raw.as_bytes() }
    }
}

fn add(change: &FactChange, facet: impl Fn(Facet) -> Facet, sums: &mut FacetSums) {
    if let Some(removed) = change.removed {
        sums.add(facet(removed), -1);
    }
    if let Some(added) = change.added {
        sums.add(facet(added), 1);
    }
}

/// What an entry comes to. Where only resources came, what it was and what came say it all; else `existing` are all
/// that were behind it.
fn settle(current: Option<Current<'_>>, mut existing: FacetSums, sums: &FacetSums) -> Settled {
    let before = current.map_or_else(Acls::new, |current| Acls::from_slice(current.acls));
    if sums.takes_away() {
        sums.iter().for_each(|(facet, count)| existing.add(facet, count));
        let left = existing.iter().filter(|(_, count)| *count > 0);
        let priority = left.clone().map(|(facet, _)| facet.priority).max().unwrap_or(0);
        let count = left.clone().map(|(_, count)| count).sum();
        // Facets sort by ACL first.
        let mut after: Acls = left.map(|(facet, _)| facet.acl).collect();
        after.dedup();
        let weight = Weight { priority, count: to_count(count) };
        return Settled { weight, after, before };
    }
    let weight = current.map(|current| current.weight).unwrap_or_default();
    let priority = sums.iter().map(|(facet, _)| facet.priority).max().unwrap_or(0);
    let mut after = before.clone();
    after.extend(sums.iter().map(|(facet, _)| facet.acl));
    after.sort_unstable();
    after.dedup();
    let count = i64::from(weight.count).saturating_add(sums.total());
    let weight = Weight { priority: weight.priority.max(priority), count: to_count(count) };
    Settled { weight, after, before }
}

fn to_count(count: i64) -> u32 {
    u32::try_from(count.max(0)).unwrap_or(u32::MAX)
}

/// Adds the pairs of one list that the changes touch.
fn add_list(
    builder: &mut SegmentBuilder<'_>,
    layers: &Layers,
    changes: &[FactChange],
    variables: &[Values<'_>],
    (number, shape): (usize, &ListShape),
) -> Result<()> {
    let tuples = Tuples::collect(shape, changes.len(), variables);
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    let mut groups: Option<(&[u32], Groups<'_>)> = None;
    for (tuple, change) in tuples.sorted() {
        let Some((target, context)) = tuple.split_last() else { continue };
        if !pairs.last().is_some_and(|pair| pair.context == context && pair.target == *target) {
            pairs.push(Pair {
                context,
                target: *target,
                sums: FacetSums::new(),
                settled: Settled::default(),
            });
        }
        if let (Some(pair), Some(change)) = (pairs.last_mut(), changes.get(change)) {
            add(change, |facet| Facet { priority: 0, ..facet }, &mut pair.sums);
        }
    }
    for pair in &mut pairs {
        let target_ranks = ranks_of(variables, shape.target, pair.target);
        let context = shape.context.iter().zip(pair.context);
        let is_new = is_in_no_layer(target_ranks)
            || context
                .into_iter()
                .any(|(variable, rank)| is_in_no_layer(ranks_of(variables, *variable, *rank)));
        if is_new {
            pair.settled = settle(None, FacetSums::new(), &pair.sums);
            continue;
        }
        if groups.as_ref().is_none_or(|(context, _)| *context != pair.context) {
            let ranks = context_ranks(layers, shape, variables, pair.context);
            groups = Some((pair.context, Groups::find(layers, number, &ranks)?));
        }
        let Some((_, groups)) = &groups else { continue };
        let mut existing = FacetSums::new();
        if pair.sums.takes_away() {
            groups.pair_facets(target_ranks, &mut existing);
        }
        pair.settled = settle(groups.pair(target_ranks), existing, &pair.sums);
    }
    let new_pairs = pairs.iter().map(|pair| {
        Ok(NewPair {
            context: pair.context,
            target: pair.target,
            resources: pair.settled.weight.count,
            after: &pair.settled.after,
            before: &pair.settled.before,
            sums: &pair.sums,
        })
    });
    builder.list(shape, new_pairs)
}

struct Pair<'a> {
    context: &'a [u32],
    target: u32,
    sums: FacetSums,
    settled: Settled,
}

fn ranks_of<'a>(variables: &'a [Values<'_>], variable: usize, rank: u32) -> &'a [u32] {
    let values = variables.get(variable).map(|values| values.values.as_slice());
    let value = usize::try_from(rank).ok().and_then(|rank| values.unwrap_or_default().get(rank));
    value.map_or(&[], |value| &value.ranks)
}

fn is_in_no_layer(ranks: &[u32]) -> bool {
    ranks.iter().all(|rank| *rank == NOT_THERE)
}

/// For each layer the ranks of the context's values there.
fn context_ranks(
    layers: &Layers,
    shape: &ListShape,
    variables: &[Values<'_>],
    context: &[u32],
) -> Vec<Vec<u32>> {
    let of_layer = |layer: usize| {
        let values = shape.context.iter().zip(context);
        let rank = |(variable, rank): (&usize, &u32)| {
            let ranks = ranks_of(variables, *variable, *rank);
            ranks.get(layer).copied().unwrap_or(NOT_THERE)
        };
        values.map(rank).collect()
    };
    (0..layers.segments.len()).map(of_layer).collect()
}

/// Ranks of context and target, one tuple behind the other, each with the number of its change.
struct Tuples {
    width: usize,
    ranks: Vec<u32>,
    changes: Vec<usize>,
}

impl Tuples {
    fn collect(shape: &ListShape, change_count: usize, variables: &[Values<'_>]) -> Tuples {
        let width = shape.context.len() + 1;
        let mut tuples = Tuples { width, ranks: Vec::new(), changes: Vec::new() };
        let mut tuple = Vec::with_capacity(width);
        let mut places: Vec<&[u32]> = Vec::with_capacity(width);
        for change in 0..change_count {
            places.clear();
            places.extend(shape.context.iter().chain([&shape.target]).map(|variable| {
                let values = variables.get(*variable);
                values.and_then(|values| values.of_change.get(change)).map_or(&[][..], |r| r)
            }));
            tuples.combine(&places, &mut tuple, change);
        }
        tuples
    }

    /// Every choice of one rank from each place.
    fn combine(&mut self, places: &[&[u32]], tuple: &mut Vec<u32>, change: usize) {
        let Some((ranks, rest)) = places.split_first() else {
            self.ranks.extend_from_slice(tuple);
            self.changes.push(change);
            return;
        };
        for rank in *ranks {
            tuple.push(*rank);
            self.combine(rest, tuple, change);
            tuple.pop();
        }
    }

    fn tuple(&self, index: usize) -> &[u32] {
        self.ranks.get(index * self.width..(index + 1) * self.width).unwrap_or_default()
    }

    fn sorted(&self) -> impl Iterator<Item = (&[u32], usize)> {
        let mut order: Vec<(u128, usize)> = (0..self.changes.len())
            .map(|index| (first_numbers(self.tuple(index)), index))
            .collect();
        order.sort_unstable_by(|(numbers, a), (other_numbers, b)| {
            numbers
                .cmp(other_numbers)
                .then_with(|| self.behind_first(*a).cmp(self.behind_first(*b)))
                .then(a.cmp(b))
        });
        order.into_iter().filter_map(|(_, index)| {
            self.changes.get(index).map(|change| (self.tuple(index), *change))
        })
    }

    /// What [`first_numbers`] leaves out of a tuple.
    fn behind_first(&self, index: usize) -> &[u32] {
        self.tuple(index).get(4..).unwrap_or_default()
    }
}

/// A number that is less where the first four of the tuple are less; most tuples have no more.
fn first_numbers(tuple: &[u32]) -> u128 {
    let numbers = tuple.iter().copied().chain(std::iter::repeat(0)).take(4);
    numbers.fold(0, |sum, number| (sum << 32) | u128::from(number))
}
