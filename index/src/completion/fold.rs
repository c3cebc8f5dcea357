//! How typed text and values are compared: without case, accents and width.
//!
//! A character is folded by NFKD (Unicode Standard Annex 15), dropping marks (General_Category M), then upper case and
//! lower case, which unites what full case folding unites (`ß` and `SS`, `ς` and `Σ`), then NFKD again. Each character
//! is folded on its own: what is dropped is all that canonical ordering would move, so folding a text is folding its
//! characters one after the other, and the places where words begin can be carried over.

use unicode_normalization::UnicodeNormalization;
pub(super) use unicode_normalization::char::is_combining_mark;

/// Appends a character's folded form; nothing for a mark.
pub(super) fn fold_char(character: char, folded: &mut String) {
    fold_char_dropping(character, is_combining_mark, folded);
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
