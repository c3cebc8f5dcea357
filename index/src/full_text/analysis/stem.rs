//! Stems of words, with a small memory: a text uses few words often.

use super::language::Language;
use super::{STEM_MARK, fold};
use frostem::Stemmer;

/// How many words' stems are remembered; the last word with a slot's hash wins.
const SLOTS: usize = 4_096;
/// Longer words are not stemmed, bytes: they are no words of a language.
const STEMMED_BYTES_MAX: usize = 48;
/// Shorter words are not stemmed, bytes.
const STEMMED_BYTES_MIN: usize = 3;

#[derive(Debug, Clone, Default)]
struct Slot {
    word: String,
    /// With its mark; empty where the stem is the word itself.
    stem: String,
}

/// The stems of one language's words.
#[derive(Clone)]
pub(super) struct Stems {
    language: Language,
    stemmer: Option<Stemmer>,
    slots: Vec<Slot>,
    lower: String,
}

impl Stems {
    /// With a memory for the words of many texts.
    pub(super) fn new(language: Language) -> Self {
        Self::remembering(language, SLOTS)
    }

    /// For one word.
    pub(super) fn once(language: Language) -> Self {
        Self::remembering(language, 1)
    }

    fn remembering(language: Language, slots: usize) -> Self {
        let slots = vec![Slot::default(); slots];
        Self { language, stemmer: language.stemmer(), slots, lower: String::new() }
    }

    /// Goes on with another language, whose words are not those remembered.
    pub(super) fn speak(&mut self, language: Language) {
        if self.language != language {
            self.language = language;
            self.stemmer = language.stemmer();
            self.slots.iter_mut().for_each(|slot| slot.word.clear());
        }
    }

    /// Whether `I` and `i` are two letters of the language.
    pub(super) fn dotless(&self) -> bool {
        self.language.dotless()
    }

    /// The marked and folded stem of a word, where it is not the folded word itself.
    pub(super) fn stem(&mut self, word: &str, folded: &str) -> Option<&str> {
        if !stemmed(word) {
            return None;
        }
        let at = slot_of(word) % self.slots.len().max(1);
        let slot = self.slots.get_mut(at)?;
        if slot.word != word {
            let stemmer = self.stemmer.as_ref()?;
            let needs_case = !word.bytes().all(|byte| byte.is_ascii_lowercase());
            if needs_case {
                fold::lower_composed(word, self.language.dotless(), &mut self.lower);
            }
            let stem = stemmer.stem(if needs_case { &self.lower } else { word });
            slot.word.clear();
            slot.word.push_str(word);
            slot.stem.clear();
            slot.stem.push(STEM_MARK);
            fold::fold_word(&stem, &mut slot.stem);
            let bare = slot.stem.get(STEM_MARK.len_utf8()..).unwrap_or_default();
            if bare.is_empty() || bare == folded {
                slot.stem.clear();
            }
        }
        (!slot.stem.is_empty()).then_some(slot.stem.as_str())
    }
}

/// FNV-1a, which is short and good enough for words.
fn slot_of(word: &str) -> usize {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    usize::try_from((hash ^ (hash >> 32)) & 0xffff_ffff).unwrap_or(0)
}

/// Whether words of this length are stemmed at all.
pub(super) fn stemmed(word: &str) -> bool {
    (STEMMED_BYTES_MIN..=STEMMED_BYTES_MAX).contains(&word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tag: &str, word: &str, wanted: Option<&str>) {
        let mut stems = Stems::new(Language::of_tag(tag).unwrap());
        let mut folded = String::new();
        fold::fold_word(word, &mut folded);
        for _ in 0..2 {
            let stem =
                stems.stem(word, &folded).map(|stem| stem.trim_start_matches(STEM_MARK).to_owned());
            assert_eq!(stem.as_deref(), wanted, "{tag} {word}");
        }
    }

    #[test]
    fn words_meet_in_their_stems() {
        for (tag, word, wanted) in [
            ("en", "running", Some("run")),
            ("en", "Running", Some("run")),
            ("en", "run", None),
            ("en", "is", None),
            ("de", "Häuser", Some("haus")),
            ("de", "Haus", None),
            ("fr", "mangées", Some("mang")),
            ("ru", "книгами", Some("книг")),
            ("tr", "kitaplar", Some("kitap")),
            ("es", "canciones", Some("cancion")),
        ] {
            check(tag, word, wanted);
        }
    }

    #[test]
    fn another_language_does_not_remember() {
        let mut stems = Stems::new(Language::of_tag("en").unwrap());
        assert_eq!(stems.stem("houses", "houses"), Some("\u{1}hous"));
        stems.speak(Language::of_tag("de").unwrap());
        assert_eq!(stems.stem("häuser", "hauser"), Some("\u{1}haus"));
        stems.speak(Language::of_tag("en").unwrap());
        assert_eq!(stems.stem("houses", "houses"), Some("\u{1}hous"));
    }
}
