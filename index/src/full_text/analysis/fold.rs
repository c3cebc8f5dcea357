//! How words are compared: without case, accents and width.
//!
//! The folding is the one of completion (NFKD, marks dropped, case folded), except that marks which carry a word's
//! meaning are kept: the vowel signs of the Indic scripts, of Thai, Khmer and their kin, and the voicing marks of Kana.
//! Of these scripts only what writers leave out or put in freely is dropped: nuktas, viramas and tone marks, as Unicode's
//! property Diacritic has them (and Lucene's `ICUFoldingFilter` after it; that one also drops Kana's voicing marks, which
//! makes one word of バス and ハス). Hebrew points, Arabic vowel marks, the dots of `ё` and `й` go. Letters with strokes,
//! which have no decomposition, fold to the letter without (`ø`, `ł`, `đ`), ligatures to their letters. Digits of all
//! scripts become ASCII digits.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{compose, is_combining_mark};

use super::characters::invisible;
use super::table::{self, Entry};
use crate::completion::fold::fold_char_dropping;

/// Marks of scripts whose marks are kept, that are dropped all the same.
fn dropped_of_kept_script(code: u32) -> bool {
    match code {
        // In the blocks from Devanagari to Malayalam, nukta and virama stand at the same place of each block of 128.
        0x0900..=0x0d7f => {
            matches!(code & 0x7f, 0x3c | 0x4d) || matches!(code, 0x0951..=0x0954 | 0x0d3b)
        }
        0x0dca => true,                            // Sinhala
        0x0e3a | 0x0e47..=0x0e4c | 0x0e4e => true, // Thai
        0x0eba | 0x0ec8..=0x0ecc => true,          // Lao
        0x1037 | 0x103a | 0x1087..=0x108d => true, // Myanmar: tones and the sign that silences a consonant
        0x17c9..=0x17d1 | 0x17d3 | 0x17dd => true, // Khmer; the sign of subscripts stays
        _ => false,
    }
}

/// Whether the marks of a block carry meaning.
fn keeps_marks(code: u32) -> bool {
    matches!(
        code,
        0x0780..=0x07bf // Thaana
            | 0x0900..=0x0dff // Devanagari to Sinhala
            | 0x0e00..=0x109f // Thai, Lao, Tibetan, Myanmar
            | 0x1700..=0x17ff // Tagalog to Khmer
            | 0x1900..=0x1aaf // Limbu to Tai Tham
            | 0x1b00..=0x1c4f // Balinese to Lepcha
            | 0x3099..=0x309a // Kana
            | 0xa800..=0xabff // Syloti Nagri to Meetei Mayek
            | 0x11000..=0x11fff // historic Indic
    )
}

fn dropped(character: char) -> bool {
    let code = u32::from(character);
    let mark = is_combining_mark(character) && (!keeps_marks(code) || dropped_of_kept_script(code));
    mark || invisible(character)
}

/// The value of a digit in whatever script, General_Category Nd, for the scripts that are in everyday use.
fn digit(character: char) -> Option<char> {
    const ZEROS: [u32; 19] = [
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
        0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0x1810,
    ];
    let code = u32::from(character);
    let zero = ZEROS.iter().rfind(|zero| **zero <= code)?;
    char::from_digit(code.checked_sub(*zero).filter(|value| *value < 10)?, 10)
}

/// Letters that have no decomposition and are typed without what is special about them.
fn spelled_plainly(lower: char) -> Option<&'static str> {
    Some(match lower {
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'ŋ' => "n",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ß' => "ss", // of a capital one: the small one has become two letters
        'ı' => "i",
        '\u{649}' | '\u{6cc}' => "\u{64a}", // alef maksura, Farsi yeh: yeh
        '\u{6a9}' => "\u{643}",             // keheh: kaf
        '\u{629}' => "\u{647}",             // teh marbuta: heh
        _ => return None,
    })
}

/// Appends the folded form of one character; what is neither letter, digit nor mark is left out, and what is invisible.
pub(super) fn fold_char(character: char, folded: &mut String) {
    match u32::from(character) {
        // What folds to itself: Han, Hangul syllables.
        0x4e00..=0x9fff | 0xac00..=0xd7a3 => folded.push(character),
        _ => match table::kept(character).and_then(Entry::folded) {
            Some(kept) => folded.push_str(kept),
            None => fold_char_anew(character, folded),
        },
    }
}

/// As [`fold_char`], by Unicode's tables.
pub(super) fn fold_char_anew(character: char, folded: &mut String) {
    if let Some(digit) = digit(character) {
        return folded.push(digit);
    }
    let from = folded.len();
    fold_char_dropping(character, dropped, folded);
    let Some(fresh) = folded.get(from..) else { return };
    // The apostrophe is of `ŉ`; by itself it is no part of a word.
    let plain = |part: char| (part.is_alphanumeric() && part != 'ʼ') || is_combining_mark(part);
    if fresh.chars().all(|part| plain(part) && spelled_plainly(part).is_none()) {
        return;
    }
    let mut spelled = String::new();
    for part in fresh.chars().filter(|part| plain(*part)) {
        match spelled_plainly(part) {
            Some(letters) => spelled.push_str(letters),
            None => spelled.push(part),
        }
    }
    folded.truncate(from);
    folded.push_str(&spelled);
}

/// Appends the folded form of a word.
pub(super) fn fold_word(word: &str, folded: &mut String) {
    word.chars().for_each(|character| fold_char(character, folded));
}

/// The folded character that two folded characters make: Kana with its voicing mark, Jamo of one syllable.
pub(super) fn composed(first: char, second: char) -> Option<char> {
    let composes = matches!(u32::from(second), 0x3099 | 0x309a | 0x1161..=0x1175 | 0x11a8..=0x11c2);
    if composes { compose(first, second) } else { None }
}

/// Writes a word as stemmers want it: lower case, accents composed and kept.
pub(super) fn lower_composed(word: &str, turkish: bool, lower: &mut String) {
    lower.clear();
    let lowered = word.chars().filter(|character| !invisible(*character)).flat_map(|character| {
        let own = match character {
            'I' if turkish => Some('ı'),
            'İ' => Some('i'),
            '\u{2019}' | 'ʼ' => Some('\''),
            _ => None,
        };
        own.into_iter().chain(character.to_lowercase().take(if own.is_some() {
            0
        } else {
            usize::MAX
        }))
    });
    lower.extend(lowered.nfc());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, wanted: &str) {
        let mut folded = String::new();
        fold_word(word, &mut folded);
        assert_eq!(folded, wanted, "{word}");
        let mut again = String::new();
        fold_word(&folded, &mut again);
        assert_eq!(again, folded, "folding twice is folding once: {word}");
    }

    #[test]
    fn case_accents_and_width_do_not_count() {
        for (word, wanted) in [
            ("Requests", "requests"),
            ("Café", "cafe"),
            ("Cafe\u{301}", "cafe"),
            ("STRASSE", "strasse"),
            ("straße", "strasse"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("σίσυφος", "σισυφοσ"),
            ("Ｆｕｌｌ１", "full1"),
            ("İstanbul", "istanbul"),
            ("ISPARTA", "isparta"),
            ("ısparta", "isparta"),
            ("ﬁle", "file"),
            ("Łódź", "lodz"),
            ("Ørsted", "orsted"),
            ("Ærø", "aero"),
            ("Œuvre", "oeuvre"),
            ("Ёлка", "елка"),
            ("ЙОД", "иод"),
            ("Ⅷ", "viii"),
            ("®", ""),
        ] {
            check(word, wanted);
        }
    }

    #[test]
    fn marks_that_carry_meaning_stay() {
        for (word, wanted) in [
            ("हिन्दी", "हिनदी"),
            ("क़लम", "कलम"),
            ("কো", "ক\u{9c7}\u{9be}"),
            ("தமிழ்", "தமிழ"),
            ("ที่นี่", "ทีนี"),
            ("مُحَمَّد", "محمد"),
            ("محمـــد", "محمد"),
            ("\u{fe71}", ""),
            ("أحمد", "احمد"),
            ("کتابی", "كتابي"),
            ("שָׁלוֹם", "שלום"),
            ("٣٫١٤", "314"),
            ("२०२६", "2026"),
            ("๕", "5"),
        ] {
            check(word, wanted);
        }
    }

    #[test]
    fn kana_keeps_its_voice() {
        assert_eq!(composed('か', '\u{3099}'), Some('が'));
        assert_eq!(composed('ᄒ', 'ᅡ'), Some('하'));
        assert_eq!(composed('하', 'ᆫ'), Some('한'));
        assert_eq!(composed('a', '\u{301}'), None);
    }

    #[test]
    fn stemmers_get_what_they_know() {
        for (word, turkish, wanted) in [
            ("Mangé", false, "mangé"),
            ("Mange\u{301}", false, "mangé"),
            ("KIRMIZI", true, "kırmızı"),
            ("İyi", true, "iyi"),
            ("L\u{2019}Homme", false, "l'homme"),
        ] {
            let mut lower = String::new();
            lower_composed(word, turkish, &mut lower);
            assert_eq!(lower, wanted);
        }
    }
}
