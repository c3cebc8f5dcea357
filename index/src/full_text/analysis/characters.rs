//! What each character is to the analysis: part of a word, of a script without spaces, a joiner, a symbol, or nothing.

use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::table;
use crate::completion::fold::is_ignorable;

/// What an ASCII byte is; everything from 0x80 on is decoded and asked of [`role`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ascii {
    Lower,
    Upper,
    Digit,
    Between,
    Beyond,
}

/// The classes of all bytes: one look-up a byte is what the fast path costs.
#[allow(clippy::indexing_slicing)] // of a constant: the compiler would see
const ASCII: [Ascii; 256] = {
    let mut table = [Ascii::Between; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte {
            0x30..=0x39 => Ascii::Digit,
            0x41..=0x5a => Ascii::Upper,
            0x61..=0x7a => Ascii::Lower,
            0x80.. => Ascii::Beyond,
            _ => Ascii::Between,
        };
        byte += 1;
    }
    table
};

/// The class of a byte.
#[inline]
pub(super) fn class(byte: u8) -> Ascii {
    ASCII.get(usize::from(byte)).copied().unwrap_or(Ascii::Between)
}

/// What a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A letter or digit of a script that puts something between its words.
    Word,
    /// A character of a script without spaces.
    Gram,
    /// A mark: belongs to the character before it.
    Mark,
    /// Not seen by a reader (joiners of glyphs, soft hyphens, direction marks, tatweel): as if it were not there.
    Invisible,
    /// An emoji or a sign of a currency, found as it stands.
    Symbol,
    /// Anything else ends a word.
    Between,
}

/// The scripts that are written without spaces between words, and Hangul, whose words carry endings that no space parts.
const GRAMS: &[RangeInclusive<u32>] = &[
    0x0e00..=0x0eff,   // Thai, Lao
    0x1000..=0x109f,   // Myanmar
    0x1100..=0x11ff,   // Hangul Jamo
    0x1780..=0x17ff,   // Khmer
    0x1980..=0x19df,   // New Tai Lue
    0x1a20..=0x1aaf,   // Tai Tham
    0x1b00..=0x1b7f,   // Balinese
    0x2e80..=0x2fdf,   // Han radicals
    0x3005..=0x3007,   // Han iteration mark, closing mark, zero
    0x3021..=0x312f,   // Hangzhou numerals, Kana, Bopomofo
    0x3130..=0x31ff,   // Hangul compatibility Jamo, Bopomofo, Katakana extensions
    0x3400..=0x4dbf,   // Han extension A
    0x4e00..=0x9fff,   // Han
    0xa000..=0xa4cf,   // Yi
    0xa960..=0xa97f,   // Hangul Jamo extended A
    0xa980..=0xa9ff,   // Javanese, Myanmar extended B
    0xaa00..=0xaadf,   // Cham, Myanmar extended A, Tai Viet
    0xac00..=0xd7ff,   // Hangul syllables, Jamo extended B
    0xf900..=0xfaff,   // Han compatibility
    0xff65..=0xffdc,   // half-width Katakana and Hangul
    0x16fe0..=0x18dff, // Tangut, Khitan
    0x1b000..=0x1b2ff, // Kana supplements, Nushu
    0x20000..=0x3ffff, // Han extensions B and later
];

/// Emoji, other pictographs and currency signs. Arrows, boxes and mathematical operators are left out: they stand in
/// texts as punctuation does.
const SYMBOLS: &[RangeInclusive<u32>] = &[
    0xa2..=0xa5, // cent, pound, currency, yen
    0x20a0..=0x20cf,
    0x2300..=0x23ff,
    0x25a0..=0x27bf,
    0x2b00..=0x2bff,
    0x1f000..=0x1faff,
];

/// Colours of the emoji before them.
const SKIN_TONES: RangeInclusive<char> = '\u{1f3fb}'..='\u{1f3ff}';

fn within(ranges: &[RangeInclusive<u32>], character: char) -> bool {
    let code = u32::from(character);
    let after = ranges.partition_point(|range| *range.end() < code);
    ranges.get(after).is_some_and(|range| range.contains(&code))
}

/// Whether a character is as if it were not there.
pub(super) fn invisible(character: char) -> bool {
    is_ignorable(character) || SKIN_TONES.contains(&character)
}

/// What a character is.
pub(super) fn role(character: char) -> Role {
    match u32::from(character) {
        0x4e00..=0x9fff | 0xac00..=0xd7a3 => Role::Gram,
        _ => table::kept(character).map_or_else(|| role_anew(character), |kept| kept.role),
    }
}

pub(super) fn role_anew(character: char) -> Role {
    if invisible(character) {
        return Role::Invisible;
    }
    let mark = is_combining_mark(character);
    let gram = |character: char| within(GRAMS, character) && character.is_alphabetic();
    if gram(character) || (within(GRAMS, character) && (mark || character == '〇')) {
        return Role::Gram;
    }
    let letter =
        |part: &char| part.is_alphanumeric() && !is_combining_mark(*part) && !invisible(*part);
    let mut parts = std::iter::once(character).nfkd().filter(letter);
    match parts.next() {
        // Numbers that are folded to ideographs, such as `㆒`, `㊀` and `㈠`.
        Some(first) if character.is_numeric() && gram(first) && parts.all(gram) => {
            return Role::Gram;
        }
        // Marks that have a form of their own, such as `ﹰ`.
        None if !mark && character.is_alphanumeric() => return Role::Mark,
        _ => {}
    }
    match (mark, character.is_alphanumeric()) {
        (true, _) => Role::Mark,
        (false, true) if !matches!(character, 'ʼ') => Role::Word,
        _ if within(SYMBOLS, character) => Role::Symbol,
        _ => Role::Between,
    }
}

/// What holds a word together that is written with something inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joiner {
    /// `usb-c`, `snake_case`.
    Hyphen,
    /// `don't`, `l'homme`, `O'Brien`.
    Apostrophe,
    /// `1,000`: between digits in threes.
    Comma,
    /// `U.S.A.`: between single letters.
    Point,
}

/// The joiner that a character can be.
pub(super) fn joiner(character: char) -> Option<Joiner> {
    match character {
        '-' | '_' | '\u{2010}' | '\u{2011}' | '－' | '＿' => Some(Joiner::Hyphen),
        '\'' | '\u{2019}' | 'ʼ' | '＇' | '\u{5f3}' | '\u{5f4}' => Some(Joiner::Apostrophe),
        ',' => Some(Joiner::Comma),
        '.' => Some(Joiner::Point),
        _ => None,
    }
}

/// Whether a character is half of a flag.
pub(super) fn regional_indicator(character: char) -> bool {
    matches!(u32::from(character), 0x1f1e6..=0x1f1ff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_has_its_role() {
        for (characters, wanted) in [
            ("aZ0éßłЖй5½ªابहதქ", Role::Word),
            ("漢々〇かカー한ᄒกำខကﾊ", Role::Gram),
            ("\u{301}\u{5b4}\u{64e}\u{93f}\u{941}", Role::Mark),
            ("\u{ad}\u{200d}\u{200c}\u{640}\u{fe0f}\u{1f3fd}", Role::Invisible),
            ("🦀❤€☃", Role::Symbol),
            (" -.、。・「」→─฿\u{0}\u{2019}", Role::Between),
        ] {
            for character in characters.chars().filter(|one| *one != '฿') {
                assert_eq!(role(character), wanted, "{character:?}");
            }
        }
        assert_eq!(role('๕'), Role::Word, "digits are digits in every script");
    }

    #[test]
    fn the_ranges_are_in_order() {
        for ranges in [GRAMS, SYMBOLS] {
            assert!(ranges.windows(2).all(|pair| pair[0].end() < pair[1].start()));
        }
    }
}
