//! Values that are all of what is typed but for some typos: they come before those that only begin so.

use std::ops::Range;

use super::{State, Typed};
use crate::completion::segment::{Dictionary, TrieNode, first_char};

/// Nodes and keys that are looked at in one search: some tenths of a millisecond.
const LOOKS_MAX: usize = 4_000;

impl Typed {
    /// Whether a whole folded text is near enough. The slash at the end of a folder is left out where none is typed.
    pub(in crate::completion::query) fn is_whole(&self, folded: &str) -> bool {
        self.ends_near(&self.start(), folded.as_bytes())
    }

    fn ends_near(&self, from: &State, mut rest: &[u8]) -> bool {
        let mut end = End { state: *from, is_near_without_slash: false };
        while let Some((character, bytes)) = first_char(rest) {
            match self.after(&end, character) {
                Some(next) => end = next,
                None => return false,
            }
            rest = rest.get(bytes..).unwrap_or_default();
        }
        self.is_end(&end)
    }

    fn after(&self, end: &End, character: char) -> Option<End> {
        let is_folder = character == '/' && self.slashes.is_some();
        let is_near_without_slash = is_folder && self.is_near(&end.state, self.edits_max);
        match self.step(&end.state, character, self.edits_max) {
            Some(state) => Some(End { state, is_near_without_slash }),
            None if is_near_without_slash => {
                // Nothing that goes on is near, but the folder itself is.
                Some(End { state: State { within: [0; 3], ..end.state }, is_near_without_slash })
            }
            None => None,
        }
    }

    fn is_end(&self, end: &End) -> bool {
        end.is_near_without_slash || self.is_near(&end.state, self.edits_max)
    }
}

/// Where the comparison stands, if the value ends here.
#[derive(Clone, Copy)]
struct End {
    state: State,
    is_near_without_slash: bool,
}

/// The ranks of the values that are near as a whole, as far as they are found within the bound.
pub(in crate::completion::query) fn whole_ranks(
    typed: &Typed,
    dictionary: &Dictionary,
    depth: Option<char>,
) -> Vec<usize> {
    let mut search = WholeSearch { typed, dictionary, found: Vec::new(), looks: 0 };
    let root = dictionary.trie.root(&dictionary.texts);
    let start = End { state: typed.start(), is_near_without_slash: false };
    match depth {
        None => search.visit(&root, 0, &start),
        Some(depth) if dictionary.trie.is_leaf(&root) => {
            let of_depth = |rank: &usize| {
                first_char(dictionary.texts.key(*rank)).is_some_and(|(first, _)| first == depth)
            };
            let ranks: Vec<usize> = root.ranks.clone().filter(of_depth).collect();
            for rank in ranks {
                search.look_at(rank..rank + 1, depth.len_utf8(), &start);
            }
        }
        Some(depth) => {
            if let Some(node) = dictionary.trie.descend(&root, depth) {
                search.visit(&node, depth.len_utf8(), &start);
            }
        }
    }
    search.found
}

struct WholeSearch<'a> {
    typed: &'a Typed,
    dictionary: &'a Dictionary,
    found: Vec<usize>,
    looks: usize,
}

impl WholeSearch<'_> {
    /// `depth` are the bytes of the keys that lead to the node.
    fn visit(&mut self, node: &TrieNode, depth: usize, end: &End) {
        self.looks += 1;
        let trie = &self.dictionary.trie;
        if trie.is_leaf(node) {
            return self.look_at(node.ranks.clone(), depth, end);
        }
        if self.typed.is_end(end) {
            // Keys that end here come before all that go on.
            let ends_here = |rank: &usize| self.dictionary.texts.key(*rank).len() == depth;
            self.found.extend(node.ranks.clone().take_while(ends_here));
        }
        let children = trie.children(node);
        for index in children.clone() {
            if self.looks > LOOKS_MAX {
                break;
            }
            let character = trie.label(index);
            if let Some(next) = self.typed.after(end, character) {
                let child = trie.child(node, &children, index);
                self.visit(&child, depth + character.len_utf8(), &next);
            }
        }
    }

    fn look_at(&mut self, ranks: Range<usize>, depth: usize, end: &End) {
        for rank in ranks {
            self.looks += 1;
            let key = self.dictionary.texts.key(rank);
            let is_here = key.len() == depth && self.typed.is_end(end);
            let rest = key.get(depth..).unwrap_or_default();
            if is_here || (!rest.is_empty() && self.typed.ends_near(&end.state, rest)) {
                self.found.push(rank);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_are_told_from_beginnings() {
        for (typed, value, is_path, wanted) in [
            ("flsk", "flask", false, true),
            ("flsk", "fls", false, true),
            ("flsk", "flask-admin", false, false),
            ("flsk", "folk", false, false),
            ("dcos", "docs/", true, true),
            ("dcos/", "docs/", true, true),
            ("dcos", "docs/x", true, false),
            ("docs/fiel", "docs/file/", true, true),
            ("dcos", "docs/", false, false),
        ] {
            let found = Typed::new(typed, is_path).unwrap().is_whole(value);
            assert_eq!(found, wanted, "{typed} {value}");
        }
    }
}
