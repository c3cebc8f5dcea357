//! The best values of frequent prefixes, found beforehand: what is typed first matches most, and is asked most.
//!
//! They stand here once more with their texts and weights, one behind the other: the best of ten million values lie all over
//! the dictionary, and fetching them there costs more than finding them.

use std::ops::Range;

use super::dictionary::Weight;
use super::section::{ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder};
use super::section::{to_u32, to_usize, u32_at};
use super::texts::{TermRef, Texts, partition, read_entry};
use super::trie::{Trie, TrieNode};
use crate::completion::request::VALUES_MAX;
use crate::error::Result;

/// Prefixes with fewer values are quick without.
const VALUES_MIN: usize = 512;
/// Before a value's text: rank, priority, count, length of the text, 4 bytes each.
const HEAD_BYTES: usize = 16;

/// For each frequent prefix the best of its values.
#[derive(Clone, Default)]
pub(crate) struct Tops {
    /// First rank, end, and place in `values` of each, sorted.
    prefixes: Bytes,
    values: Bytes,
}

/// A value with all that is needed to offer it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TopValue<'a> {
    pub(crate) rank: usize,
    pub(crate) weight: Weight,
    pub(crate) term: TermRef<'a>,
}

impl Tops {
    fn prefix(&self, at: usize) -> (u32, u32) {
        (u32_at(&self.prefixes, at * 3), u32_at(&self.prefixes, at * 3 + 1))
    }

    /// The best of these ranks, best first; none where they were not found beforehand.
    pub(crate) fn of(&self, ranks: Range<usize>) -> impl Iterator<Item = TopValue<'_>> {
        let wanted = (to_u32(ranks.start), to_u32(ranks.end));
        let count = self.prefixes.len() / 12;
        let at = partition(0, count, |at| self.prefix(at) < wanted);
        let is_there = at < count && self.prefix(at) == wanted;
        let place = to_usize(u32_at(&self.prefixes, at * 3 + 2));
        let mut rest = self.values.get(place..).filter(|_| is_there).unwrap_or_default();
        let values = std::iter::from_fn(move || {
            let (head, behind) = rest.split_at_checked(HEAD_BYTES)?;
            let (text, behind) = behind.split_at_checked(to_usize(u32_at(head, 3)))?;
            rest = behind;
            let priority = u16::try_from(u32_at(head, 1)).unwrap_or_default();
            let weight = Weight { priority, count: u32_at(head, 2) };
            Some(TopValue { rank: to_usize(u32_at(head, 0)), weight, term: read_entry(text) })
        });
        values.take(VALUES_MAX)
    }

    pub(super) fn build<I: Iterator<Item = usize>>(
        (trie, texts): (&Trie, &Texts),
        weight: impl Fn(usize) -> Weight,
        best_first: impl Fn(Range<usize>) -> I,
        folder: SpillFolder<'_>,
    ) -> Result<Tops> {
        let mut frequent: Vec<(u32, u32)> = Vec::new();
        let mut open: Vec<TrieNode> = vec![trie.root(texts)];
        while let Some(node) = open.pop() {
            if node.ranks.len() >= VALUES_MIN {
                frequent.push((to_u32(node.ranks.start), to_u32(node.ranks.end)));
                let children = trie.children(&node);
                open.extend(children.clone().map(|index| trie.child(&node, &children, index)));
            }
        }
        frequent.sort_unstable();
        frequent.dedup();
        let (mut prefixes, mut values) = (SectionWriter::new(folder), SectionWriter::new(folder));
        for (start, end) in frequent {
            prefixes.put_u32(start)?;
            prefixes.put_u32(end)?;
            prefixes.put_u32(u32::try_from(values.len()).unwrap_or(u32::MAX))?;
            for rank in best_first(to_usize(start)..to_usize(end)).take(VALUES_MAX) {
                let (weight, text) = (weight(rank), texts.entry(rank));
                values.put_u32(to_u32(rank))?;
                values.put_u32(u32::from(weight.priority))?;
                values.put_u32(weight.count)?;
                values.put_u32(to_u32(text.len()))?;
                values.put(text)?;
            }
        }
        Ok(Tops { prefixes: prefixes.finish()?, values: values.finish()? })
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.section(&self.prefixes)?;
        archive.section(&self.values)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Tops> {
        Ok(Tops { prefixes: archive.section()?, values: archive.section()? })
    }
}
