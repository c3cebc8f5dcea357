//! How typed text and values are compared: without case, accents and width.
//!
//! A character is folded by NFKD (Unicode Standard Annex 15), dropping marks (General_Category M) and what nobody sees
//! (Default_Ignorable_Code_Point: soft hyphens, joiners, direction marks), then upper case and
//! lower case, which unites what full case folding unites (`ß` and `SS`, `ς` and `Σ`), then NFKD again. Each character
//! is folded on its own: what is dropped is all that canonical ordering would move, so folding a text is folding its
//! characters one after the other, and the places where words begin can be carried over.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Whether a character is as if it were not there: a mark, or one that nobody sees.
pub(super) fn is_dropped(character: char) -> bool {
    !character.is_ascii() && (is_combining_mark(character) || is_ignorable(character))
}

/// Default_Ignorable_Code_Point of Unicode 16, its marks included, and the tatweel, which only makes words wider.
pub(crate) fn is_ignorable(character: char) -> bool {
    matches!(
        u32::from(character),
        0xad // soft hyphen
            | 0x34f // combining grapheme joiner
            | 0x61c // Arabic letter mark
            | 0x640 // tatweel
            | 0x115f..=0x1160 // Hangul fillers
            | 0x17b4..=0x17b5 // Khmer inherent vowels
            | 0x180b..=0x180f // Mongolian variation selectors and vowel separator
            | 0x200b..=0x200f // zero width space, joiners, direction marks
            | 0x202a..=0x202e // embeddings and overrides of direction
            | 0x2060..=0x206f // word joiner, invisible operators, isolates
            | 0x3164 // Hangul filler
            | 0xfe00..=0xfe0f // variation selectors
            | 0xfeff // zero width no-break space
            | 0xffa0 // half-width Hangul filler
            | 0xfff0..=0xfff8 // not assigned
            | 0x1bca0..=0x1bca3 // shorthand format controls
            | 0x1d173..=0x1d17a // musical format controls
            | 0xe0000..=0xe0fff // tags, variation selectors
    )
}

/// Appends a character's folded form; nothing for what is dropped.
pub(super) fn fold_char(character: char, folded: &mut String) {
    fold_char_dropping(character, is_dropped, folded);
}

/// Appends a character's folded form without the characters that `dropped` names.
pub(crate) fn fold_char_dropping(
    character: char,
    dropped: impl Fn(char) -> bool,
    folded: &mut String,
) {
    if character.is_ascii() {
        folded.push(character.to_ascii_lowercase());
        return;
    }
    let plain = std::iter::once(character).nfkd().filter(|part| !dropped(*part));
    let cased = plain.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.extend(cased.nfkd().filter(|part| !dropped(*part)));
}

/// What stands in a folded segment of a path for characters that fold to `/` (`／`, `℅`): a slash would part the segment.
const SLASH_OF_SEGMENT: char = '\u{2044}';

/// Appends the folded form of a character of a path's segment: no slash is in it.
pub(super) fn fold_char_of_segment(character: char, folded: &mut String) {
    let start = folded.len();
    fold_char(character, folded);
    let has_slash = |folded: &str| folded.get(start..).is_some_and(|piece| piece.contains('/'));
    if has_slash(folded) {
        let piece = folded.split_off(start);
        folded.extend(piece.chars().map(|part| if part == '/' { SLASH_OF_SEGMENT } else { part }));
    }
}

/// The folded form of a path's segment.
pub(super) fn fold_segment(segment: &str) -> String {
    let mut folded = String::with_capacity(segment.len());
    segment.chars().for_each(|character| fold_char_of_segment(character, &mut folded));
    folded
}

/// A text's folded form.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    text.chars().for_each(|character| fold_char(character, &mut folded));
    folded
}

/// Whether a word begins at `here`, given the characters before and behind it, marks left out: they belong to the
/// letter before them.
///
/// A word begins after anything that is not a letter or digit, at a hump (`fooBar`, `http2Server`), and at the last
/// capital of several (`HTTPServer`).
pub(super) fn begins_word(before: char, here: char, behind: Option<char>) -> bool {
    if !before.is_alphanumeric() {
        return true;
    }
    let hump = before.is_lowercase() || before.is_numeric();
    let last_capital = before.is_uppercase() && behind.is_some_and(char::is_lowercase);
    here.is_uppercase() && (hump || last_capital)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_width_do_not_count() {
        for (text, wanted) in [
            ("Requests", "requests"),
            ("Café", "cafe"),
            ("Cafe\u{301}", "cafe"),
            ("STRASSE", "strasse"),
            ("straße", "strasse"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("σίσυφος", "σισυφοσ"),
            ("Ｆｕｌｌ", "full"),
            ("ｶﾞ", "カ"),
            ("日本語", "日本語"),
            ("🦀", "🦀"),
            ("İ", "i"),
            ("ﬁle", "file"),
            ("Ge\u{ad}samt\u{ad}kon\u{ad}zept", "gesamtkonzept"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("محمـــد", "محمد"),
            ("a\u{feff}b\u{2060}c\u{202e}d\u{e0061}", "abcd"),
            ("ﾠ\u{3164}", ""),
        ] {
            assert_eq!(fold(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_segment_has_no_slash_in_it() {
        for (text, wanted) in [("売上／Report", "売上⁄report"), ("℅ me", "c⁄o me"), ("½", "1⁄2")]
        {
            assert_eq!(fold_segment(text), wanted, "{text}");
        }
        let all = (0..=u32::from(char::MAX)).filter_map(char::from_u32);
        let parted = all.filter(|one| *one != '/' && fold_segment(&one.to_string()).contains('/'));
        assert_eq!(parted.count(), 0);
    }

    #[test]
    fn words_begin_behind_separators_and_at_humps() {
        let starts = |text: &str| {
            let chars: Vec<char> = text.chars().collect();
            (1..chars.len())
                .filter(|&at| begins_word(chars[at - 1], chars[at], chars.get(at + 1).copied()))
                .collect::<Vec<_>>()
        };
        assert_eq!(starts("pandas-requests"), [7]);
        assert_eq!(starts("fooBar2Baz"), [3, 7]);
        assert_eq!(starts("HTTPServer"), [4]);
        assert_eq!(starts("a..b"), [2, 3]);
        assert_eq!(starts("with 🦀"), [5]);
        assert_eq!(starts("ABC"), [] as [usize; 0]);
        assert_eq!(starts("v2x"), [] as [usize; 0]);
    }
}
