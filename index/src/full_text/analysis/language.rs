//! The languages whose words are stemmed, by the codes that declarations and the detection give them.

use frostem::{Algorithm, Stemmer};

/// A language that there is a stemmer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(u8);

struct Known {
    /// ISO 639-1 code, or 639-2 where there is none; other codes that are used for it, and for languages so near that the
    /// stemmer serves them.
    codes: &'static [&'static str],
    stemmer: Algorithm,
}

const fn known(codes: &'static [&'static str], stemmer: Algorithm) -> Known {
    Known { codes, stemmer }
}

/// The order is part of what is stored (see [`Language::number`]): new languages go to the end.
const LANGUAGES: [Known; 35] = [
    known(&["en", "eng"], Algorithm::English),
    known(&["ar", "ara"], Algorithm::Arabic),
    known(&["hy", "hye", "arm"], Algorithm::Armenian),
    known(&["eu", "eus", "baq"], Algorithm::Basque),
    known(&["ca", "cat"], Algorithm::Catalan),
    known(&["cs", "ces", "cze"], Algorithm::Czech),
    known(&["da", "dan"], Algorithm::Danish),
    known(&["nl", "nld", "dut"], Algorithm::Dutch),
    known(&["eo", "epo"], Algorithm::Esperanto),
    known(&["et", "est"], Algorithm::Estonian),
    known(&["fi", "fin"], Algorithm::Finnish),
    known(&["fr", "fra", "fre"], Algorithm::French),
    known(&["de", "deu", "ger"], Algorithm::German),
    known(&["el", "ell", "gre"], Algorithm::Greek),
    known(&["hi", "hin"], Algorithm::Hindi),
    known(&["hu", "hun"], Algorithm::Hungarian),
    known(&["id", "ind", "in", "ms"], Algorithm::Indonesian),
    known(&["ga", "gle"], Algorithm::Irish),
    known(&["it", "ita"], Algorithm::Italian),
    known(&["lt", "lit"], Algorithm::Lithuanian),
    known(&["ne", "nep"], Algorithm::Nepali),
    known(&["no", "nor", "nb", "nob", "nn", "nno"], Algorithm::Norwegian),
    known(&["fa", "fas", "per", "pes"], Algorithm::Persian),
    known(&["pl", "pol"], Algorithm::Polish),
    known(&["pt", "por"], Algorithm::Portuguese),
    known(&["ro", "ron", "rum", "mo"], Algorithm::Romanian),
    known(&["ru", "rus"], Algorithm::Russian),
    known(&["sr", "srp", "hr", "hrv", "bs"], Algorithm::Serbian),
    known(&["st", "sot"], Algorithm::Sesotho),
    known(&["es", "spa"], Algorithm::Spanish),
    known(&["sv", "swe"], Algorithm::Swedish),
    known(&["ta", "tam"], Algorithm::Tamil),
    known(&["tr", "tur"], Algorithm::Turkish),
    known(&["uk", "ukr"], Algorithm::Ukrainian),
    known(&["yi", "yid"], Algorithm::Yiddish),
];

impl Language {
    /// How many languages there are; their numbers are below.
    pub(crate) const COUNT: u8 = 35;

    /// The language of a BCP 47 tag (`de`, `pt-BR`, `zh_Hans`); `None` where there is no stemmer for it.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let code = tag.trim().split(['-', '_']).next()?;
        let named =
            |known: &Known| known.codes.iter().any(|known| known.eq_ignore_ascii_case(code));
        u8::try_from(LANGUAGES.iter().position(named)?).ok().map(Self)
    }

    fn known(self) -> Option<&'static Known> {
        LANGUAGES.get(usize::from(self.0))
    }

    /// The shortest ISO 639 code.
    #[cfg(test)]
    pub(crate) fn tag(self) -> &'static str {
        self.known().and_then(|known| known.codes.first()).copied().unwrap_or("und")
    }

    /// A number below [`Language::COUNT`] that stays the same between versions.
    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// The language with a number.
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        (number < Self::COUNT).then_some(Self(number))
    }

    pub(super) fn stemmer(self) -> Option<Stemmer> {
        self.known().map(|known| Stemmer::new(known.stemmer))
    }

    /// Whether `I` and `i` are two letters.
    pub(super) fn dotless(self) -> bool {
        self.known().is_some_and(|known| known.stemmer == Algorithm::Turkish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_languages() {
        for (tag, wanted) in [
            ("en", Some("en")),
            ("EN-us", Some("en")),
            ("pt_BR", Some("pt")),
            (" de ", Some("de")),
            ("deu", Some("de")),
            ("nb-NO", Some("no")),
            ("zh-Hans", None),
            ("ja", None),
            ("x", None),
            ("", None),
            ("english", None),
        ] {
            assert_eq!(Language::of_tag(tag).map(Language::tag), wanted, "{tag}");
        }
    }

    #[test]
    fn numbers_come_back() {
        for number in 0..Language::COUNT {
            let language = Language::of_number(number).unwrap();
            assert_eq!(
                (language.number(), Language::of_tag(language.tag())),
                (number, Some(language))
            );
            assert!(language.stemmer().is_some());
        }
        assert_eq!(Language::of_number(Language::COUNT), None);
    }
}
