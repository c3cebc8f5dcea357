//! The best of a range: a tree of minima over ranks of merit, and the stream that goes through a range best first.
//!
//! Positions are in order of the tie-break (folded bytes, raw bytes), so among equal merits the one at the lower
//! position is better, and the order is total without comparing a single text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::section::{
    ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder, to_u32, u64_at,
};
use crate::error::Result;

/// Children of a node. Small, because what is not the best of a node is looked at in vain.
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
    Tree {
        tree: &'a MinTree,
        merit: M,
        heap: BinaryHeap<Reverse<Node>>,
        range: Range<usize>,
    },
}

/// A subtree, or at level 0 a position. Ordered by merit, then place, then inner nodes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node {
    merit: u64,
    start: u32,
    below: Reverse<u8>,
}

impl<'a, M: Fn(usize) -> u64> BestFirst<'a, M> {
    pub(super) fn new(tree: &'a MinTree, merit: M, range: Range<usize>) -> Self {
        let mut stream = BestFirst::Tree { tree, merit, heap: BinaryHeap::new(), range };
        stream.cover();
        stream
    }

    /// The fewest nodes that cover the range.
    fn cover(&mut self) {
        let BestFirst::Tree { tree, heap, range, merit } = self else { return };
        let (mut from, mut to) = (range.start, range.end);
        let mut level = 0_u8;
        let mut width = 1;
        while from < to {
            let last = usize::from(level) >= tree.levels.len();
            while from < to && (last || from % FAN_OUT != 0) {
                heap.push(Reverse(node(tree, &*merit, level, width, from)));
                from += 1;
            }
            while from < to && to % FAN_OUT != 0 {
                to -= 1;
                heap.push(Reverse(node(tree, &*merit, level, width, to)));
            }
            from /= FAN_OUT;
            to /= FAN_OUT;
            level += 1;
            width *= FAN_OUT;
        }
    }
}

fn node(
    tree: &MinTree,
    merit: impl Fn(usize) -> u64,
    level: u8,
    width: usize,
    index: usize,
) -> Node {
    let merit = match usize::from(level).checked_sub(1).and_then(|above| tree.levels.get(above)) {
        None => merit(index),
        Some(minima) => u64_at(minima, index),
    };
    Node { merit, start: to_u32(index * width), below: Reverse(level) }
}

impl<M: Fn(usize) -> u64> Iterator for BestFirst<'_, M> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            BestFirst::InOrder(range) => range.next(),
            BestFirst::Tree { tree, merit, heap, .. } => loop {
                let Reverse(best) = heap.pop()?;
                let start = usize::try_from(best.start).unwrap_or(usize::MAX);
                let Reverse(level) = best.below;
                let Some(level) = level.checked_sub(1) else { return Some(start) };
                let width = FAN_OUT.pow(u32::from(level));
                let first = start / width;
                for child in first..first + FAN_OUT {
                    // The cover holds whole nodes only, so all children lie within the range.
                    heap.push(Reverse(node(tree, &*merit, level, width, child)));
                }
            },
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
