//! Which language a text is in: as declared, else by trigrams.

use super::{Language, beginning};

/// So much of a text is looked at, bytes: more does not make the answer better.
const SAMPLE_BYTES_MAX: usize = 1_024;
/// With fewer letters nobody can say, bytes.
const SAMPLE_BYTES_MIN: usize = 24;

/// The language whose stems a text gets. What is declared (a BCP 47 tag) holds, also when there is no stemmer for it;
/// `None` when unsure.
pub(crate) fn detect_language(text: &str, declared: Option<&str>) -> Option<Language> {
    if let Some(tag) =
        declared.map(str::trim).filter(|tag| !tag.is_empty() && !tag.eq_ignore_ascii_case("und"))
    {
        return Language::of_tag(tag);
    }
    let sample = beginning(text, SAMPLE_BYTES_MAX);
    if sample.len() < SAMPLE_BYTES_MIN {
        return None;
    }
    let detected = whatlang::detect(sample)?;
    detected.is_reliable().then(|| Language::of_detected(detected.lang())).flatten()
}
