//! The edges inside a word: humps of identifiers, letters beside digits, the apostrophe of a contraction.

use std::ops::Range;

use smallvec::SmallVec;

use super::characters::{Joiner, Role, joiner, role};
use super::table;

/// Words with more parts, or with more edges between letters and digits, are taken whole only: they are keys and
/// digests, whose parts nobody asks for.
pub(super) const PARTS_MAX: usize = 16;
const DIGIT_EDGES_MAX: usize = 3;

/// The parts of a word, as byte ranges of the text.
pub(super) type Parts = SmallVec<[Range<usize>; PARTS_MAX]>;

/// What a letter is to the edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letter {
    Lower,
    Upper,
    Digit,
    /// Letters of scripts without case.
    Other,
}

fn letter(character: char) -> Letter {
    table::kept(character).map_or_else(|| letter_anew(character), |kept| kept.letter)
}

pub(super) fn letter_anew(character: char) -> Letter {
    if character.is_numeric() {
        Letter::Digit
    } else if character.is_uppercase() {
        Letter::Upper
    } else if character.is_lowercase() {
        Letter::Lower
    } else {
        Letter::Other
    }
}

/// The parts of the word that stands at `offset` in its text; none when it has no edge, or too many.
pub(super) fn parts(word: &str, offset: usize) -> Parts {
    let mut parts = Parts::new();
    let mut digit_edges = 0;
    let mut start = 0;
    // The characters before this one: where the last one begins, and the kinds of both.
    let mut last: Option<(usize, Letter)> = None;
    let mut last_but_one: Option<Letter> = None;
    let mut cut = |start: usize, end: usize| {
        if start < end && parts.len() <= PARTS_MAX {
            parts.push(offset + start..offset + end);
        }
    };
    for (at, character) in word.char_indices() {
        if joiner(character) == Some(Joiner::Apostrophe) {
            cut(start, at);
            start = at + character.len_utf8();
            (last, last_but_one) = (None, None);
            continue;
        }
        if role(character) != Role::Word {
            continue; // a mark belongs to the letter before it
        }
        let here = letter(character);
        if let Some((last_at, before)) = last {
            let digit_edge = (before == Letter::Digit) != (here == Letter::Digit);
            digit_edges += usize::from(digit_edge);
            if digit_edge || (before == Letter::Lower && here == Letter::Upper) {
                cut(start, at);
                start = at;
            } else if before == Letter::Upper
                && here == Letter::Lower
                && last_but_one == Some(Letter::Upper)
            {
                cut(start, last_at); // the last of several capitals begins the next part
                start = last_at;
            }
        }
        last_but_one = last.map(|(_, letter)| letter);
        last = Some((at, here));
    }
    cut(start, word.len());
    if parts.len() < 2 || parts.len() > PARTS_MAX || digit_edges > DIGIT_EDGES_MAX {
        parts.clear();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_their_edges() {
        for (word, wanted) in [
            ("camelCase", "camel Case"),
            ("PascalCase", "Pascal Case"),
            ("HTTPServer", "HTTP Server"),
            ("getHTTPResponse", "get HTTP Response"),
            ("utf8", "utf 8"),
            ("E0308", "E 0308"),
            ("Uint8Array", "Uint 8 Array"),
            ("don't", "don t"),
            ("fooBar\u{2019}s", "foo Bar s"),
            ("plain", ""),
            ("Plain", ""),
            ("PLAIN", ""),
            ("2026", ""),
            ("ÉcoleNormale", "École Normale"),
            ("e\u{301}coleNormale", "e\u{301}cole Normale"),
            ("ПриветМир", "Привет Мир"),
            ("a1b2c3d4", ""),
            (
                "testShouldReturnNothingWhenTheUserIsGone",
                "test Should Return Nothing When The User Is Gone",
            ),
            ("aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgHiJ", ""),
        ] {
            let found: Vec<&str> = parts(word, 0).into_iter().map(|part| &word[part]).collect();
            assert_eq!(found.join(" "), wanted, "{word}");
        }
    }
}
