//! Typo tolerance: the values of which some prefix is within one or two edits of what is typed.
//!
//! An edit adds, drops or changes a character or swaps two neighbours (optimal string alignment). The trie is followed
//! with a row of the distance table for each node; only the band of cells that can still matter is computed. Where a
//! node is near enough, all beneath it match.

use std::ops::Range;

use crate::completion::segment::{Dictionary, TrieNode, first_char};

/// From this many characters on one edit is forgiven, from that many on two.
const ONE_EDIT_CHARS_MIN: usize = 4;
const TWO_EDITS_CHARS_MIN: usize = 8;
/// Longer texts are taken as they are typed.
const TYPED_CHARS_MAX: usize = 64;
/// Nodes and keys that are looked at for one question.
const LOOKS_MAX: usize = 20_000;

/// The typed text, ready to be compared.
pub(super) struct Typed {
    chars: Vec<char>,
    edits_max: u8,
    /// Of a path: the slashes that what is compared must have, so that typos never lead to another depth.
    slashes: Option<usize>,
}

type Row = [u8; TYPED_CHARS_MAX + 1];

/// Where the table stands after some characters of a value.
#[derive(Clone)]
struct State {
    row: Row,
    previous: Row,
    last: Option<char>,
    length: usize,
    slashes: usize,
}

impl Typed {
    /// `None` where nothing is forgiven: the text is too short, or too long.
    pub(super) fn new(folded: &str, is_path: bool) -> Option<Typed> {
        let chars: Vec<char> = folded.chars().collect();
        let edits_max = match chars.len() {
            TWO_EDITS_CHARS_MIN..=TYPED_CHARS_MAX => 2,
            ONE_EDIT_CHARS_MIN..TWO_EDITS_CHARS_MIN => 1,
            _ => return None,
        };
        let slashes = chars.iter().filter(|character| **character == '/').count();
        Some(Typed { chars, edits_max, slashes: is_path.then_some(slashes) })
    }

    fn start(&self) -> State {
        let mut row = [u8::MAX; TYPED_CHARS_MAX + 1];
        for (distance, cell) in (0..=self.edits_max).zip(&mut row) {
            *cell = distance;
        }
        State { row, previous: [u8::MAX; TYPED_CHARS_MAX + 1], last: None, length: 0, slashes: 0 }
    }

    /// The state after one more character; `None` when no continuation can be near enough.
    fn step(&self, state: &State, character: char) -> Option<State> {
        let band = usize::from(self.edits_max);
        let length = state.length + 1;
        let mut row = [u8::MAX; TYPED_CHARS_MAX + 1];
        let (first, last) = (length.saturating_sub(band), (length + band).min(self.chars.len()));
        let cell = |row: &Row, at: usize| row.get(at).copied().unwrap_or(u8::MAX);
        let mut least = u8::MAX;
        for at in first..=last {
            let mut best = cell(&state.row, at).saturating_add(1);
            if let Some(before) = at.checked_sub(1) {
                let typed = self.chars.get(before).copied();
                let changed = u8::from(typed != Some(character));
                best = best
                    .min(cell(&state.row, before).saturating_add(changed))
                    .min(cell(&row, before).saturating_add(1));
                let swapped = before.checked_sub(1).filter(|two_before| {
                    typed == state.last && self.chars.get(*two_before) == Some(&character)
                });
                if let Some(two_before) = swapped {
                    best = best.min(cell(&state.previous, two_before).saturating_add(1));
                }
            }
            least = least.min(best);
            if let Some(place) = row.get_mut(at) {
                *place = best;
            }
        }
        // A swap may still save what the row before it holds.
        let before = state.row.iter().min().copied().unwrap_or(u8::MAX);
        let alive = least <= self.edits_max || before < self.edits_max;
        let slashes = state.slashes + usize::from(character == '/');
        alive.then_some(State { row, previous: state.row, last: Some(character), length, slashes })
    }

    fn is_near(&self, state: &State) -> bool {
        self.slashes.is_none_or(|slashes| slashes == state.slashes)
            && state.row.get(self.chars.len()).is_some_and(|distance| *distance <= self.edits_max)
    }

    /// Whether some prefix of the folded text is near enough.
    pub(super) fn matches(&self, folded: &str) -> bool {
        let mut state = self.start();
        for character in folded.chars() {
            match self.step(&state, character) {
                Some(next) => state = next,
                None => return false,
            }
            if self.is_near(&state) {
                return true;
            }
        }
        false
    }
}

/// The ranks that match in one dictionary, as ranges without overlap; whether all of it was looked at.
pub(super) fn near_ranks(
    typed: &Typed,
    dictionary: &Dictionary,
    depth: Option<char>,
) -> (Vec<Range<usize>>, bool) {
    let mut search = Search { typed, dictionary, found: Vec::new(), looks: 0 };
    let root = dictionary.trie.root(&dictionary.texts);
    match depth {
        None => search.visit(&root, 0, &typed.start()),
        Some(depth) if dictionary.trie.is_leaf(&root) => {
            search.look_at(&root, 0, &typed.start(), Some(depth));
        }
        Some(depth) => {
            if let Some(node) = dictionary.trie.descend(&root, depth) {
                search.visit(&node, depth.len_utf8(), &typed.start());
            }
        }
    }
    (search.found, search.looks <= LOOKS_MAX)
}

struct Search<'a> {
    typed: &'a Typed,
    dictionary: &'a Dictionary,
    found: Vec<Range<usize>>,
    looks: usize,
}

impl Search<'_> {
    /// `depth` are the bytes of the keys that lead to the node.
    fn visit(&mut self, node: &TrieNode, depth: usize, state: &State) {
        self.looks += 1;
        if self.looks > LOOKS_MAX {
            return;
        }
        if self.dictionary.trie.is_leaf(node) {
            self.look_at(node, depth, state, None);
            return;
        }
        for (character, child) in self.dictionary.trie.branches(node) {
            let Some(next) = self.typed.step(state, character) else { continue };
            if self.typed.is_near(&next) {
                self.found.push(child.ranks);
            } else {
                self.visit(&child, depth + character.len_utf8(), &next);
            }
        }
    }

    /// Compares the keys beneath a leaf one by one.
    fn look_at(&mut self, node: &TrieNode, depth: usize, state: &State, path_depth: Option<char>) {
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
            let mut state = state.clone();
            while let Some((character, bytes)) = first_char(rest) {
                let Some(next) = self.typed.step(&state, character) else { break };
                state = next;
                if self.typed.is_near(&state) {
                    self.found.push(rank..rank + 1);
                    break;
                }
                rest = rest.get(bytes..).unwrap_or_default();
            }
        }
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
