//! What is the same to a person who types: case, accents, width and what nobody sees aside. And where words begin.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// NFKD, marks dropped, case folded; character by character, and again, since a folded letter may decompose.
pub(crate) fn fold(text: &str) -> Vec<char> {
    text.chars().flat_map(fold_char).collect()
}

fn fold_char(character: char) -> Vec<char> {
    let upper = bare(std::iter::once(character)).flat_map(char::to_uppercase).collect::<Vec<_>>();
    let lower = upper.into_iter().flat_map(char::to_lowercase).collect::<Vec<_>>();
    bare(lower.into_iter()).collect()
}

fn bare(characters: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    characters.nfkd().filter(|character| !is_left_out(*character))
}

/// Marks, and what has no glyph of its own and no width, or only makes a word wider.
fn is_left_out(character: char) -> bool {
    const UNSEEN: [(char, char); 16] = [
        ('\u{ad}', '\u{ad}'),
        ('\u{61c}', '\u{61c}'),
        ('\u{640}', '\u{640}'),
        ('\u{115f}', '\u{1160}'),
        ('\u{17b4}', '\u{17b5}'),
        ('\u{180b}', '\u{180f}'),
        ('\u{200b}', '\u{200f}'),
        ('\u{202a}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{3164}', '\u{3164}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{feff}', '\u{feff}'),
        ('\u{ffa0}', '\u{ffa0}'),
        ('\u{fff0}', '\u{fff8}'),
        ('\u{1bca0}', '\u{1bca3}'),
        ('\u{e0000}', '\u{e0fff}'),
    ];
    is_combining_mark(character)
        || UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&character))
        || ('\u{1d173}'..='\u{1d17a}').contains(&character)
}

/// The places, in bytes, at which a word begins that is not the first: after anything that is neither letter nor digit,
/// and at the humps of camelCase and HTTPServer. A mark belongs to the letter before it.
pub(crate) fn later_words(text: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> =
        text.char_indices().filter(|(_, character)| !is_left_out(*character)).collect();
    let mut places = Vec::new();
    for at in 1..letters.len() {
        let (place, this) = letters[at];
        let before = letters[at - 1].1;
        let after = letters.get(at + 1).map(|(_, character)| *character);
        let after_separator = !before.is_alphanumeric();
        let hump = this.is_uppercase() && (before.is_lowercase() || before.is_numeric());
        let ends_capitals =
            this.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase);
        if after_separator || hump || ends_capitals {
            places.push(place);
        }
    }
    places
}

#[test]
fn folds() {
    for (text, folded) in [
        ("Requests", "requests"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("café", "cafe"),
        ("cafe\u{301}", "cafe"),
        ("ÅNGSTRÖM", "angstrom"),
        ("Ａｂｃ１２", "abc12"),
        ("ｶﾞｲﾄﾞ", "カイト"),
        ("ガイド", "カイト"),
        ("ﬁle", "file"),
        ("Ⅻ", "xii"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("Σίσυφος", "σισυφοσ"),
        ("İstanbul", "istanbul"),
        ("日本語", "日本語"),
        ("🦉", "🦉"),
        ("\u{301}", ""),
        ("Ge\u{ad}samt\u{ad}kon\u{ad}zept", "gesamtkonzept"),
        ("zero\u{200b}width\u{200d}joiner\u{200c}s", "zerowidthjoiners"),
    ] {
        assert_eq!(fold(text).into_iter().collect::<String>(), folded, "{text}");
    }
}

#[test]
fn words_begin() {
    for (text, words) in [
        ("", ""),
        ("pandas", ""),
        ("pandas-requests", "requests"),
        ("a.b_c d", "b_c d|c d|d"),
        ("a--b", "-b|b"),
        ("-a", "a"),
        ("a-", ""),
        ("camelCase", "Case"),
        ("HTTPServer", "Server"),
        ("utf8Decoder", "Decoder"),
        ("ABC", ""),
        ("aBC", "BC"),
        ("éÉte", "Éte"),
        ("e\u{301}E\u{301}te", "E\u{301}te"),
        ("日本-語", "語"),
        ("🦉owl", "owl"),
        ("a 🦉 b", "🦉 b| b|b"),
        ("soft\u{ad}hyphen", ""),
        ("soft-\u{ad}hyphen", "hyphen"),
    ] {
        let found: Vec<&str> = later_words(text).into_iter().map(|place| &text[place..]).collect();
        assert_eq!(found.join("|"), words, "{text}");
    }
}
