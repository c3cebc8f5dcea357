//! A trie over the sorted keys of a dictionary: the range of a prefix in a few steps, and the branches that typo
//! tolerance follows without touching a text.
//!
//! Nodes stand in breadth-first order, the children of one behind the children of the one before it. A node is split
//! only while many keys lie beneath it; what is left is small enough to look at the keys themselves.

use std::ops::Range;

use super::section::{ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder};
use super::section::{to_u32, to_usize, u32_at};
use super::texts::{Texts, gallop, partition};
use crate::error::Result;

/// Keys beneath a node that is not split.
const LEAF_KEYS_MAX: usize = 8;
/// Label, first child, first rank, each 4 bytes.
const NODE_NUMBERS: usize = 3;

/// A trie by folded characters.
#[derive(Clone, Default)]
pub(crate) struct Trie {
    nodes: Bytes,
}

/// A node with the ranks of the keys beneath it, those that end at it included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrieNode {
    index: usize,
    pub(crate) ranks: Range<usize>,
}

impl Trie {
    fn number(&self, node: usize, which: usize) -> usize {
        to_usize(u32_at(&self.nodes, node * NODE_NUMBERS + which))
    }

    pub(crate) fn root(&self, texts: &Texts) -> TrieNode {
        TrieNode { index: 0, ranks: 0..texts.len() }
    }

    /// The nodes beneath a node, by number.
    pub(crate) fn children(&self, node: &TrieNode) -> Range<usize> {
        let count = (self.nodes.len() / 4 / NODE_NUMBERS).saturating_sub(1);
        if node.index >= count {
            return 0..0;
        }
        let first = self.number(node.index, 1);
        first..self.number(node.index + 1, 1).min(count).max(first)
    }

    /// Whether the keys beneath have to be looked at one by one.
    pub(crate) fn is_leaf(&self, node: &TrieNode) -> bool {
        // Mostly the ranks say it, and the node need not be fetched.
        node.ranks.len() <= LEAF_KEYS_MAX || self.children(node).is_empty()
    }

    /// The character that leads to a node.
    pub(crate) fn label(&self, index: usize) -> char {
        let label = char::from_u32(u32_at(&self.nodes, index * NODE_NUMBERS));
        label.unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// One of the children of a node, all of which are given.
    pub(crate) fn child(&self, node: &TrieNode, children: &Range<usize>, index: usize) -> TrieNode {
        let start = self.number(index, 2).clamp(node.ranks.start, node.ranks.end);
        let end = if index + 1 < children.end { self.number(index + 1, 2) } else { node.ranks.end };
        TrieNode { index, ranks: start..end.clamp(start, node.ranks.end) }
    }

    /// The child for a character.
    pub(crate) fn descend(&self, node: &TrieNode, character: char) -> Option<TrieNode> {
        let children = self.children(node);
        let label = u32::from(character);
        let index = partition(children.start, children.end, |index| {
            u32_at(&self.nodes, index * NODE_NUMBERS) < label
        });
        let found = index < children.end && u32_at(&self.nodes, index * NODE_NUMBERS) == label;
        found.then(|| self.child(node, &children, index))
    }

    /// The ranks of all keys that start with `prefix`.
    pub(crate) fn prefix(&self, texts: &Texts, prefix: &str) -> Range<usize> {
        let mut node = self.root(texts);
        for character in prefix.chars() {
            if self.is_leaf(&node) {
                let prefix = prefix.as_bytes();
                let Range { start, end } = node.ranks;
                let first = texts.partition(start, end, |term| term.key < prefix);
                let last = texts.partition(first, end, |term| term.key.starts_with(prefix));
                return first..last;
            }
            match self.descend(&node, character) {
                Some(child) => node = child,
                None => return 0..0,
            }
        }
        node.ranks
    }

    pub(super) fn build(texts: &Texts, folder: SpillFolder<'_>) -> Result<Trie> {
        let mut nodes = vec![BuildNode { label: 0, first_rank: 0, end: texts.len(), depth: 0 }];
        let mut first_children: Vec<u32> = Vec::new();
        let mut at = 0;
        while let Some(node) = nodes.get(at).copied() {
            first_children.push(to_u32(nodes.len()));
            split(texts, node, &mut nodes);
            at += 1;
        }
        first_children.push(to_u32(nodes.len()));
        nodes.push(BuildNode { label: 0, first_rank: texts.len(), end: texts.len(), depth: 0 });
        let mut section = SectionWriter::new(folder);
        for (node, first_child) in nodes.iter().zip(first_children) {
            section.put_u32(node.label)?;
            section.put_u32(first_child)?;
            section.put_u32(to_u32(node.first_rank))?;
        }
        Ok(Trie { nodes: section.finish()? })
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.section(&self.nodes)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Trie> {
        Ok(Trie { nodes: archive.section()? })
    }
}

#[derive(Clone, Copy)]
struct BuildNode {
    label: u32,
    first_rank: usize,
    end: usize,
    /// Bytes of the keys that lead to it.
    depth: usize,
}

fn split(texts: &Texts, node: BuildNode, nodes: &mut Vec<BuildNode>) {
    if node.end - node.first_rank <= LEAF_KEYS_MAX {
        return;
    }
    let ends_here = |rank: usize| texts.key(rank).len() <= node.depth;
    let mut rank = gallop(node.first_rank, node.end, ends_here);
    while rank < node.end {
        let key = texts.key(rank).get(node.depth..).unwrap_or_default();
        let Some((character, bytes)) = first_char(key) else { break };
        let branch = key.get(..bytes).unwrap_or_default();
        let end = gallop(rank, node.end, |other| {
            texts.key(other).get(node.depth..).is_some_and(|rest| rest.starts_with(branch))
        });
        let depth = node.depth + bytes;
        nodes.push(BuildNode { label: u32::from(character), first_rank: rank, end, depth });
        rank = end.max(rank + 1);
    }
}

/// The first character of UTF-8 with its length.
pub(crate) fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    let length = match bytes.first()? {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    };
    let character = bytes.get(..length).and_then(|text| std::str::from_utf8(text).ok())?;
    Some((character.chars().next()?, length))
}

#[cfg(test)]
mod tests {
    use super::super::texts::{TermRef, TextsBuilder};
    use super::*;
    use proptest::prelude::*;

    fn texts(keys: &[String]) -> Texts {
        let mut builder = TextsBuilder::new(None);
        for key in keys {
            builder.push(TermRef { key: key.as_bytes(), raw: key.as_bytes() }).unwrap();
        }
        builder.finish().unwrap()
    }

    proptest! {
        #[test]
        fn a_prefix_has_the_keys_that_start_with_it(
            mut keys in prop::collection::vec("[abé]{0,6}", 0..300),
            prefix in "[abé]{0,4}",
        ) {
            keys.sort();
            let texts = texts(&keys);
            let trie = Trie::build(&texts, None).unwrap();
            let found = trie.prefix(&texts, &prefix);
            let wanted = keys.iter().filter(|key| key.starts_with(&prefix)).count();
            prop_assert_eq!(found.len(), wanted);
            prop_assert!(keys[found].iter().all(|key| key.starts_with(&prefix)));
        }
    }
}
