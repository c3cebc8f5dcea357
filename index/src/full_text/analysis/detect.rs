//! Which language a text is in: as declared, else by what its letters look like.
//!
//! Two libraries, because neither is enough. whichlang answers in two microseconds and is right for the 16 languages it
//! knows, but takes every other language for one of them and never says that it is unsure. whatlang knows 70 and says when
//! it is sure, which of a sentence it seldom is, and takes thirty times as long. So: plain ASCII that whichlang takes for
//! English is English; else what both say holds, or what whatlang is sure of. Of sentences of 60 to 120 bytes in ten
//! languages, 95 in 100 (the median of the languages) get the right one, where whatlang alone is sure of 79 (English 100
//! and 76, Spanish 91 and 59), and at most one a wrong one. The tables are in `docs/query-language.md`.

use super::{Language, beginning};

/// So much of a text is looked at, bytes: more does not make the answer better.
const SAMPLE_BYTES_MAX: usize = 512;
/// With fewer nobody can say, bytes.
const SAMPLE_BYTES_MIN: usize = 24;

/// The language whose stems a text gets. What is declared (a BCP 47 tag) holds, also when there is no stemmer for it;
/// `None` when unsure.
pub fn detect_language(text: &str, declared: Option<&str>) -> Option<Language> {
    if let Some(tag) =
        declared.map(str::trim).filter(|tag| !tag.is_empty() && !tag.eq_ignore_ascii_case("und"))
    {
        return Language::of_tag(tag);
    }
    let sample = beginning(text, SAMPLE_BYTES_MAX);
    if sample.len() < SAMPLE_BYTES_MIN || !sample.contains(char::is_alphabetic) {
        return None;
    }
    let fast = whichlang::detect_language(sample);
    if fast == whichlang::Lang::Eng && sample.is_ascii() {
        return Language::of_tag(fast.three_letter_code());
    }
    let slow = whatlang::detect(sample)?;
    let agreed = slow.lang().code() == fast.three_letter_code();
    (agreed || slow.is_reliable()).then(|| Language::of_tag(slow.lang().code())).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart_or_not_at_all() {
        for (text, declared, wanted) in [
            ("A small library that parses configuration files", None, Some("en")),
            ("Eine kleine Bibliothek, die Dateien einliest und prüft", None, Some("de")),
            ("Une petite bibliothèque pour lire des fichiers de configuration", None, Some("fr")),
            ("Небольшая библиотека для чтения файлов", None, Some("ru")),
            (
                "Pieni kirjasto, joka lukee ja tarkistaa asetustiedostoja ja kertoo käyttäjälle, mitä niissä on vialla",
                None,
                Some("fi"),
            ),
            ("認證系統使用JWT令牌，並且支援多種語言。", None, None),
            ("serde", None, None),
            ("0000 1111 2222 3333 4444 5555", None, None),
            ("", None, None),
            ("serde", Some("en-US"), Some("en")),
            ("A small library that parses configuration files", Some("de"), Some("de")),
            ("A small library that parses configuration files", Some("ja"), None),
            ("A small library that parses configuration files", Some(""), Some("en")),
            ("A small library that parses configuration files", Some("und"), Some("en")),
        ] {
            assert_eq!(
                detect_language(text, declared).map(Language::tag),
                wanted,
                "{text} {declared:?}"
            );
        }
    }
}
