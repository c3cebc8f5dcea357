//! The best of a range: a tree of minima over ranks of merit, and the stream that goes through a range best first.
//!
//! Positions are in order of the tie-break (folded bytes, raw bytes), so among equal merits the one at the lower
//! position is better, and the order is total without comparing a single text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::section::{
    ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder, to_u32, to_usize, u64_at,
};
use crate::error::Result;

/// Children of a node; as many merits lie in one line of memory mostly.
const FAN_OUT: usize = 16;

/// Minima of 16, 256, ... positions; empty where all merits are the same.
#[derive(Clone, Default)]
pub(crate) struct MinTree {
    levels: Vec<Bytes>,
}

impl MinTree {
    pub(super) fn build(
        count: usize,
        merit: impl Fn(usize) -> u64,
        folder: SpillFolder<'_>,
    ) -> Result<MinTree> {
        let mut levels: Vec<Bytes> = Vec::new();
        let mut below = count;
        while below > FAN_OUT {
            let nodes = below.div_ceil(FAN_OUT);
            let mut section = SectionWriter::new(folder);
            for node in 0..nodes {
                let children = node * FAN_OUT..(node * FAN_OUT + FAN_OUT).min(below);
                let least = match levels.last() {
                    None => children.map(&merit).min(),
                    Some(level) => children.map(|child| u64_at(level, child)).min(),
                };
                section.put(&least.unwrap_or(u64::MAX).to_le_bytes())?;
            }
            levels.push(section.finish()?);
            below = nodes;
        }
        Ok(MinTree { levels })
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.number(u64::try_from(self.levels.len()).unwrap_or(u64::MAX));
        self.levels.iter().try_for_each(|level| archive.section(level))
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<MinTree> {
        let count = archive.count()?;
        let levels = (0..count).map(|_| archive.section()).collect::<Result<_>>()?;
        Ok(MinTree { levels })
    }
}

/// Positions of a range, the best merit first, then the lower position.
pub(crate) enum BestFirst<'a, M> {
    /// All merits are the same.
    InOrder(Range<usize>),
    Tree(Search<'a, M>),
}

/// The search in a tree. Of the children of a node only the best that was not taken yet stands in the heap: what is
/// taken brings the next one after it.
pub(crate) struct Search<'a, M> {
    tree: &'a MinTree,
    merit: M,
    heap: BinaryHeap<Reverse<Node>>,
    range: Range<usize>,
}

/// A subtree, or at level 0 a position. Ordered by merit, then place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    merit: u64,
    start: u32,
    level: u8,
}

impl<'a, M: Fn(usize) -> u64> BestFirst<'a, M> {
    pub(super) fn new(tree: &'a MinTree, merit: M, range: Range<usize>) -> Self {
        let mut search = Search { tree, merit, heap: BinaryHeap::new(), range };
        search.cover();
        BestFirst::Tree(search)
    }
}

impl<M: Fn(usize) -> u64> Search<'_, M> {
    /// The fewest nodes that cover the range: of each run of siblings the best one.
    fn cover(&mut self) {
        let (mut from, mut to) = (self.range.start, self.range.end);
        let mut level = 0_u8;
        while from < to {
            let is_last = usize::from(level) >= self.tree.levels.len();
            if is_last {
                for block in from / FAN_OUT..to.div_ceil(FAN_OUT) {
                    self.push_best(level, block, None);
                }
                return;
            }
            if from % FAN_OUT != 0 {
                self.push_best(level, from / FAN_OUT, None);
            }
            if to % FAN_OUT != 0 && (from % FAN_OUT == 0 || from / FAN_OUT != to / FAN_OUT) {
                self.push_best(level, to / FAN_OUT, None);
            }
            (from, to) = (from.div_ceil(FAN_OUT), to / FAN_OUT);
            level += 1;
        }
    }

    /// Pushes the best of a run of siblings that comes after the given one and lies within the range as a whole.
    fn push_best(&mut self, level: u8, block: usize, after: Option<(u64, usize)>) {
        let width = FAN_OUT.pow(u32::from(level));
        let first = (block * FAN_OUT).max(self.range.start.div_ceil(width));
        let end = (block * FAN_OUT + FAN_OUT).min(self.range.end / width);
        let minima = usize::from(level).checked_sub(1).and_then(|at| self.tree.levels.get(at));
        let siblings = (first..end).map(|index| match minima {
            None => ((self.merit)(index), index),
            Some(minima) => (u64_at(minima, index), index),
        });
        let best = siblings.filter(|place| after.is_none_or(|after| *place > after)).min();
        if let Some((merit, index)) = best {
            self.heap.push(Reverse(Node { merit, start: to_u32(index * width), level }));
        }
    }
}

impl<M: Fn(usize) -> u64> Iterator for BestFirst<'_, M> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let search = match self {
            BestFirst::InOrder(range) => return range.next(),
            BestFirst::Tree(search) => search,
        };
        loop {
            let Reverse(Node { merit, start, level }) = search.heap.pop()?;
            let start = to_usize(start);
            let index = start / FAN_OUT.pow(u32::from(level));
            search.push_best(level, index / FAN_OUT, Some((merit, index)));
            let Some(below) = level.checked_sub(1) else { return Some(start) };
            search.push_best(below, index, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_comes_best_first(merits in prop::collection::vec(0_u64..50, 0..3_000), a: usize, b: usize) {
            let count = merits.len();
            let (a, b) = (a % (count + 1), b % (count + 1));
            let range = a.min(b)..a.max(b);
            let tree = MinTree::build(count, |at| merits[at], None).unwrap();
            let mut wanted: Vec<usize> = range.clone().collect();
            wanted.sort_by_key(|&at| (merits[at], at));
            let found: Vec<usize> = BestFirst::new(&tree, |at| merits[at], range).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
