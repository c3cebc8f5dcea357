//! The best values of frequent prefixes, found beforehand: what is typed first matches most, and costs least.

use std::ops::Range;

use super::section::{ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder};
use super::section::{to_u32, to_usize, u32_at};
use super::texts::{Texts, partition};
use super::trie::{Trie, TrieNode};
use crate::completion::request::VALUES_MAX;
use crate::error::Result;

/// Prefixes with fewer values are quick without.
const VALUES_MIN: usize = 2_048;

/// For each frequent prefix its ranks, and the best of them.
#[derive(Clone, Default)]
pub(crate) struct Tops {
    /// First rank and end of each, sorted.
    ranges: Bytes,
    /// The best ranks of each, `VALUES_MAX` of them.
    best: Bytes,
}

impl Tops {
    fn range(&self, at: usize) -> (u32, u32) {
        (u32_at(&self.ranges, at * 2), u32_at(&self.ranges, at * 2 + 1))
    }

    /// The best of these ranks, best first; none where they were not found beforehand.
    pub(super) fn of(&self, ranks: Range<usize>) -> impl Iterator<Item = usize> {
        let wanted = (to_u32(ranks.start), to_u32(ranks.end));
        let count = self.ranges.len() / 8;
        let at = partition(0, count, |at| self.range(at) < wanted);
        let found = if at < count && self.range(at) == wanted { VALUES_MAX } else { 0 };
        (0..found).map(move |place| to_usize(u32_at(&self.best, at * VALUES_MAX + place)))
    }

    pub(super) fn build<I: Iterator<Item = usize>>(
        trie: &Trie,
        texts: &Texts,
        best_first: impl Fn(Range<usize>) -> I,
        folder: SpillFolder<'_>,
    ) -> Result<Tops> {
        let mut frequent: Vec<(u32, u32)> = Vec::new();
        let mut open: Vec<TrieNode> = vec![trie.root(texts)];
        while let Some(node) = open.pop() {
            if node.ranks.len() >= VALUES_MIN {
                frequent.push((to_u32(node.ranks.start), to_u32(node.ranks.end)));
                open.extend(trie.branches(&node).map(|(_, child)| child));
            }
        }
        frequent.sort_unstable();
        frequent.dedup();
        let (mut ranges, mut best) = (SectionWriter::new(folder), SectionWriter::new(folder));
        for (start, end) in frequent {
            ranges.put_u32(start)?;
            ranges.put_u32(end)?;
            for rank in best_first(to_usize(start)..to_usize(end)).take(VALUES_MAX) {
                best.put_u32(to_u32(rank))?;
            }
        }
        Ok(Tops { ranges: ranges.finish()?, best: best.finish()? })
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.section(&self.ranges)?;
        archive.section(&self.best)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Tops> {
        Ok(Tops { ranges: archive.section()?, best: archive.section()? })
    }
}
