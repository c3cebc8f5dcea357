//! Typo tolerance: the values of which some prefix is within one or two edits of what is typed.
//!
//! An edit adds, drops or changes a character or swaps two neighbours (optimal string alignment). The trie is followed
//! with the distances between what leads to a node and every beginning of the typed text; where a node is near enough,
//! all beneath it match.
//!
//! Of the distances only those that can still matter are kept, as sets of bits (Wu and Manber, Fast Text Searching
//! Allowing Errors, 1992; swaps after Hyyrö, A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit
//! Distances, 2003), so that a node costs some twenty instructions.

mod whole;

use std::ops::Range;

pub(super) use whole::whole_ranks;

use crate::completion::segment::{Dictionary, TrieNode, first_char};
use crate::error::Result;

/// From this many characters on one edit is forgiven, from that many on two.
const ONE_EDIT_CHARS_MIN: usize = 4;
const TWO_EDITS_CHARS_MIN: usize = 8;
/// Longer texts are taken as they are typed. Their beginnings are bits of a word, the empty one left out.
const TYPED_CHARS_MAX: usize = 64;
const EDITS_MAX: usize = 2;
const ASCII: usize = 128;
/// Nodes and keys that are looked at in one search: about a millisecond at ten million values.
const LOOKS_MAX: usize = 12_000;

/// The typed text, ready to be compared.
pub(super) struct Typed {
    /// For each ASCII character the places where it is typed.
    ascii: Box<[u64; ASCII]>,
    /// The same for others.
    others: Vec<(char, u64)>,
    /// The bit of the whole text.
    whole: u64,
    edits_max: usize,
    /// Of a path: the slashes that what is compared must have, so that typos never lead to another depth.
    slashes: Option<usize>,
}

/// Beginnings of the typed text: bit `n - 1` is the one of `n` characters.
type Beginnings = u64;

/// Where the comparison stands after some characters of a value.
#[derive(Clone, Copy)]
struct State {
    /// For each number of edits the beginnings that are at most so many away from the value's characters.
    within: [Beginnings; EDITS_MAX + 1],
    /// The same one character before.
    before: [Beginnings; EDITS_MAX + 1],
    /// The places where the last character is typed.
    last: u64,
    length: usize,
    slashes: usize,
}

impl Typed {
    /// `None` where nothing is forgiven: the text is too short, or too long.
    pub(super) fn new(folded: &str, is_path: bool) -> Option<Typed> {
        let count = folded.chars().count();
        let edits_max = match count {
            TWO_EDITS_CHARS_MIN..=TYPED_CHARS_MAX => EDITS_MAX,
            ONE_EDIT_CHARS_MIN..TWO_EDITS_CHARS_MIN => 1,
            _ => return None,
        };
        let mut ascii = Box::new([0_u64; ASCII]);
        let mut others: Vec<(char, u64)> = Vec::new();
        for (at, character) in folded.chars().enumerate() {
            let known = others.iter_mut().find(|(other, _)| *other == character);
            if let Some(places) = ascii.get_mut(code(character)) {
                *places |= 1 << at;
            } else if let Some((_, places)) = known {
                *places |= 1 << at;
            } else {
                others.push((character, 1 << at));
            }
        }
        let slashes = folded.matches('/').count();
        let slashes = is_path.then_some(slashes);
        Some(Typed { ascii, others, whole: 1 << (count - 1), edits_max, slashes })
    }

    fn places(&self, character: char) -> u64 {
        self.ascii.get(code(character)).copied().unwrap_or_else(|| {
            let known = self.others.iter().find(|(other, _)| *other == character);
            known.map_or(0, |(_, places)| *places)
        })
    }

    fn start(&self) -> State {
        // So many characters are so many edits away from nothing.
        let within = [0, 0b1, 0b11];
        State { within, before: [0; EDITS_MAX + 1], last: 0, length: 0, slashes: 0 }
    }

    /// The state after one more character; `None` when no continuation can be near enough.
    fn step(&self, state: &State, character: char, edits_max: usize) -> Option<State> {
        let here = self.places(character);
        // The empty beginning is as many edits away as the value has characters. It follows nothing, so it is shifted
        // in where a beginning gets longer by one character.
        let empty = |edits: usize, length: usize| u64::from(length <= edits);
        let [none, one, two] = state.within;
        let [before_none, before_one, _] = state.before;
        // After a swap the value's last two characters are the typed ones the other way round.
        let swapped = (here << 1) & state.last;
        let swap = |before: Beginnings, edits: usize| {
            let longer = match state.length.checked_sub(1) {
                Some(length) => (before << 2) | (empty(edits, length) << 1),
                None => 0,
            };
            longer & swapped
        };
        let longer = |beginnings: Beginnings, edits: usize, length: usize| {
            (beginnings << 1) | empty(edits, length)
        };
        let length = state.length + 1;
        let next_none = longer(none, 0, state.length) & here;
        let next_one = (longer(one, 1, state.length) & here)
            | none
            | longer(none, 0, state.length)
            | longer(next_none, 0, length)
            | swap(before_none, 0);
        let next_two = (longer(two, 2, state.length) & here)
            | one
            | longer(one, 1, state.length)
            | longer(next_one, 1, length)
            | swap(before_one, 1);
        let within = [next_none, next_one, next_two];
        // What ends here may be as near as one character before, if a swap comes: with one edit less.
        let (nearest, saved) = match edits_max {
            1 => (next_one, none | empty(0, state.length)),
            _ => (next_two, one | empty(1, state.length)),
        };
        let is_alive = (nearest | empty(edits_max, length) | saved) != 0;
        let slashes = state.slashes + usize::from(character == '/');
        is_alive.then_some(State { within, before: state.within, last: here, length, slashes })
    }

    fn is_near(&self, state: &State, edits_max: usize) -> bool {
        self.slashes.is_none_or(|slashes| slashes == state.slashes)
            && state.within.get(edits_max).is_some_and(|within| within & self.whole != 0)
    }

    /// Whether some prefix of the folded text is near enough.
    pub(super) fn matches(&self, folded: &str) -> bool {
        let mut state = self.start();
        for character in folded.chars() {
            match self.step(&state, character, self.edits_max) {
                Some(next) => state = next,
                None => return false,
            }
            if self.is_near(&state, self.edits_max) {
                return true;
            }
        }
        false
    }
}

/// Where a character's places are; beyond the table for what is not ASCII.
fn code(character: char) -> usize {
    usize::try_from(u32::from(character)).unwrap_or(usize::MAX)
}

/// What matches in one dictionary.
pub(super) struct Near {
    /// The ranks, as ranges without overlap.
    pub(super) ranks: Vec<Range<usize>>,
    /// What they come to, as it was counted.
    pub(super) total: i64,
    /// Whether all of it was looked at.
    pub(super) is_complete: bool,
}

/// Looks for what matches until `count` of it comes to more than `total_max`; then what is nearest is there for certain.
pub(super) fn near_ranks(
    typed: &Typed,
    dictionary: &Dictionary,
    depth: Option<char>,
    total_max: i64,
    mut count: impl FnMut(&Range<usize>) -> Result<i64>,
) -> Result<Near> {
    let mut found = Vec::new();
    let mut total = None;
    let mut is_complete = false;
    // Where there are too many with two edits, those with one come first.
    for edits_max in (1..=typed.edits_max).rev() {
        let mut search = Search {
            typed,
            edits_max,
            dictionary,
            found: Vec::new(),
            looks: 0,
            total: 0,
            total_max,
            count: &mut count,
        };
        search.run(depth)?;
        total.get_or_insert(search.total);
        let has_all = search.is_complete();
        found.append(&mut search.found);
        if has_all {
            is_complete = edits_max == typed.edits_max;
            break;
        }
    }
    Ok(Near { ranks: without_overlap(found), total: total.unwrap_or(0), is_complete })
}

/// Of ranges of which one may be in another, but none begins in one and ends behind it.
fn without_overlap(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    ranges.retain(|range| {
        let is_new = range.end > end;
        end = end.max(range.end);
        is_new
    });
    ranges
}

struct Search<'a> {
    typed: &'a Typed,
    edits_max: usize,
    dictionary: &'a Dictionary,
    found: Vec<Range<usize>>,
    looks: usize,
    /// What was found comes to this, and may come to that.
    total: i64,
    total_max: i64,
    count: &'a mut dyn FnMut(&Range<usize>) -> Result<i64>,
}

impl Search<'_> {
    fn run(&mut self, depth: Option<char>) -> Result<()> {
        let (trie, start) = (&self.dictionary.trie, self.typed.start());
        let root = trie.root(&self.dictionary.texts);
        match depth {
            None => self.visit(&root, 0, &start),
            Some(depth) if trie.is_leaf(&root) => self.look_at(&root, 0, &start, Some(depth)),
            Some(depth) => match trie.descend(&root, depth) {
                Some(node) => self.visit(&node, depth.len_utf8(), &start),
                None => Ok(()),
            },
        }
    }

    fn is_complete(&self) -> bool {
        self.looks <= LOOKS_MAX && self.total <= self.total_max
    }

    fn add(&mut self, ranks: Range<usize>) -> Result<()> {
        self.total += (self.count)(&ranks)?;
        self.found.push(ranks);
        Ok(())
    }

    /// `depth` are the bytes of the keys that lead to the node.
    fn visit(&mut self, node: &TrieNode, depth: usize, state: &State) -> Result<()> {
        self.looks += 1;
        if self.dictionary.trie.is_leaf(node) {
            return self.look_at(node, depth, state, None);
        }
        let trie = &self.dictionary.trie;
        let children = trie.children(node);
        for index in children.clone() {
            if !self.is_complete() {
                break;
            }
            let character = trie.label(index);
            let Some(next) = self.typed.step(state, character, self.edits_max) else { continue };
            let child = trie.child(node, &children, index);
            if self.typed.is_near(&next, self.edits_max) {
                self.add(child.ranks)?;
            } else {
                self.visit(&child, depth + character.len_utf8(), &next)?;
            }
        }
        Ok(())
    }

    /// Compares the keys beneath a leaf one by one.
    fn look_at(
        &mut self,
        node: &TrieNode,
        depth: usize,
        state: &State,
        path_depth: Option<char>,
    ) -> Result<()> {
        for rank in node.ranks.clone() {
            self.looks += 1;
            let key = self.dictionary.texts.key(rank);
            let mut rest = key.get(depth..).unwrap_or_default();
            if let Some(path_depth) = path_depth {
                match first_char(rest) {
                    Some((first, bytes)) if first == path_depth => {
                        rest = rest.get(bytes..).unwrap_or_default();
                    }
                    _ => continue,
                }
            }
            let mut state = *state;
            while let Some((character, bytes)) = first_char(rest) {
                let next = self.typed.step(&state, character, self.edits_max);
                let Some(next) = next else { break };
                state = next;
                if self.typed.is_near(&state, self.edits_max) {
                    self.add(rank..rank + 1)?;
                    break;
                }
                rest = rest.get(bytes..).unwrap_or_default();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distance(a: &[char], b: &[char]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let changed = usize::from(a[i - 1] != b[j - 1]);
                    let mut best = (table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1)
                        .min(table[i - 1][j - 1] + changed);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        best = best.min(table[i - 2][j - 2] + 1);
                    }
                    best
                };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn a_prefix_within_the_edits_matches(typed in "[abc]{4,10}", value in "[abc]{0,14}") {
            let typed_chars: Vec<char> = typed.chars().collect();
            let value_chars: Vec<char> = value.chars().collect();
            let edits = if typed_chars.len() >= 8 { 2 } else { 1 };
            let wanted = (0..=value_chars.len())
                .any(|end| distance(&typed_chars, &value_chars[..end]) <= edits);
            prop_assert_eq!(Typed::new(&typed, false).unwrap().matches(&value), wanted);
        }
    }

    #[test]
    fn short_and_long_texts_are_taken_as_they_are() {
        assert!(Typed::new("abc", false).is_none());
        assert!(Typed::new(&"x".repeat(65), false).is_none());
        assert!(Typed::new("pands", false).unwrap().matches("pandas-stubs"));
        assert!(Typed::new("pnadas", false).unwrap().matches("pandas"));
        assert!(!Typed::new("pnds", false).unwrap().matches("pandas"));
    }
}
