//! The segments of a space, one over the other, and what they say together of one value or pair.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::segment::{FacetSums, PairList, Segment, TermRef, Weight};
use crate::error::Result;

/// A value is in no dictionary of this layer.
pub(crate) const NOT_THERE: u32 = u32::MAX;

/// A value's rank in each layer, oldest first.
pub(crate) type Ranks = SmallVec<[u32; 8]>;

/// The segments, oldest first.
#[derive(Clone, Default)]
pub(crate) struct Layers {
    pub(crate) segments: Vec<Arc<Segment>>,
    /// Which state of which space was shown to readers: no two have the same number. 0: it was not shown yet.
    pub(crate) state: u64,
}

/// The number of the next state that is shown.
static NEXT_STATE: AtomicU64 = AtomicU64::new(1);

/// What a value or pair has come to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Current<'a> {
    pub(crate) weight: Weight,
    /// The ACLs of the resources behind it, sorted; empty when there is none.
    pub(crate) acls: &'a [u32],
}

impl Layers {
    /// The last change that is in them.
    pub(crate) fn sequence(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.sequence)
    }

    /// Entries of each.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.segments.iter().map(|segment| segment.entry_count()).collect()
    }

    /// The same layers with one more on top.
    pub(crate) fn with(&self, segment: Arc<Segment>) -> Layers {
        let mut segments = self.segments.clone();
        segments.push(segment);
        Layers::of(segments)
    }

    pub(crate) fn of(segments: Vec<Arc<Segment>>) -> Layers {
        Layers { segments, state: 0 }
    }

    /// The same layers to be shown to readers.
    pub(crate) fn shown(&self) -> Layers {
        let state = NEXT_STATE.fetch_add(1, Ordering::Relaxed);
        Layers { segments: self.segments.clone(), state }
    }

    /// The rank of a value in each layer.
    pub(crate) fn ranks(&self, variable: usize, term: TermRef<'_>) -> Result<Ranks> {
        let rank = |segment: &Arc<Segment>| {
            let found = segment.dictionary(variable)?.find(term);
            Ok(found.map_or(NOT_THERE, |rank| u32::try_from(rank).unwrap_or(NOT_THERE)))
        };
        self.segments.iter().map(rank).collect()
    }

    /// The newest layer that knows the value, with its rank there.
    pub(crate) fn newest_of(
        &self,
        variable: usize,
        term: TermRef<'_>,
    ) -> Result<Option<(usize, usize)>> {
        for (layer, segment) in self.segments.iter().enumerate().rev() {
            if let Some(rank) = segment.dictionary(variable)?.find(term) {
                return Ok(Some((layer, rank)));
            }
        }
        Ok(None)
    }

    /// Whether a layer above this one says something of the value.
    pub(crate) fn is_hidden(
        &self,
        layer: usize,
        variable: usize,
        term: TermRef<'_>,
    ) -> Result<bool> {
        for segment in self.segments.iter().skip(layer + 1) {
            if segment.dictionary(variable)?.find(term).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a value has come to, by its ranks in the layers.
    pub(crate) fn value(&self, variable: usize, ranks: &[u32]) -> Result<Option<Current<'_>>> {
        for (segment, rank) in self.segments.iter().zip(ranks).rev() {
            if let Some(rank) = there(*rank) {
                let dictionary = segment.dictionary(variable)?;
                let (after, _) = segment.visibility.state(dictionary.states.at(rank));
                let acls = segment.visibility.set(after);
                return Ok(Some(Current { weight: dictionary.weight(rank), acls }));
            }
        }
        Ok(None)
    }

    /// All resources behind a value, by facet.
    pub(crate) fn value_facets(
        &self,
        variable: usize,
        ranks: &[u32],
        sums: &mut FacetSums,
    ) -> Result<()> {
        for (segment, rank) in self.segments.iter().zip(ranks) {
            if let Some(rank) = there(*rank) {
                segment.dictionary(variable)?.add_facets(rank, &segment.visibility, sums);
            }
        }
        Ok(())
    }
}

pub(crate) fn there(rank: u32) -> Option<usize> {
    usize::try_from(rank).ok().filter(|_| rank != NOT_THERE)
}

/// The groups of one context in the lists of all layers.
pub(crate) struct Groups<'a> {
    /// For each layer its segment, the list, and the entries of the context.
    pub(crate) layers: Vec<(&'a Arc<Segment>, &'a PairList, Range<usize>)>,
}

impl<'a> Groups<'a> {
    /// `context_ranks[layer]` are the ranks of the context's values there.
    pub(crate) fn find(
        layers: &'a Layers,
        list: usize,
        context_ranks: &[Vec<u32>],
    ) -> Result<Groups<'a>> {
        let of_layer = |(segment, ranks): (&'a Arc<Segment>, &Vec<u32>)| {
            let pairs = segment.list(list)?;
            let entries = if ranks.contains(&NOT_THERE) { 0..0 } else { pairs.group(ranks) };
            Ok((segment, pairs, entries))
        };
        let layers = layers.segments.iter().zip(context_ranks).map(of_layer);
        Ok(Groups { layers: layers.collect::<Result<_>>()? })
    }

    /// Entries of all layers.
    pub(crate) fn entry_count(&self) -> usize {
        self.layers.iter().map(|(_, _, entries)| entries.len()).sum()
    }

    /// What a pair has come to, by the ranks of its target in the layers: the newest layer that knows it, with its
    /// entry there.
    pub(crate) fn newest(&self, target_ranks: &[u32]) -> Option<(usize, usize)> {
        let layers = self.layers.iter().zip(target_ranks).enumerate().rev();
        layers
            .filter_map(|(layer, ((_, list, entries), rank))| {
                list.find(entries, there(*rank)?).map(|entry| (layer, entry))
            })
            .next()
    }

    /// What a pair has come to.
    pub(crate) fn pair(&self, target_ranks: &[u32]) -> Option<Current<'a>> {
        let (layer, entry) = self.newest(target_ranks)?;
        let (segment, list, _) = self.layers.get(layer)?;
        let (after, _) = segment.visibility.state(list.states.at(entry));
        let weight = Weight { priority: 0, count: list.resource_count(entry) };
        Some(Current { weight, acls: segment.visibility.set(after) })
    }

    /// All resources behind a pair, by ACL.
    pub(crate) fn pair_facets(&self, target_ranks: &[u32], sums: &mut FacetSums) {
        for ((segment, list, entries), rank) in self.layers.iter().zip(target_ranks) {
            if let Some(entry) = there(*rank).and_then(|rank| list.find(entries, rank)) {
                list.add_facets(entry, &segment.visibility, sums);
            }
        }
    }
}
