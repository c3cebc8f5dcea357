//! The languages whose words are stemmed, by the names that declarations and the detection give them.

use frostem::{Algorithm, Stemmer};
use whatlang::Lang;

/// A language that there is a stemmer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Language(u8);

struct Known {
    /// ISO 639-1 code, or 639-2 where there is none; other codes that declarations use.
    codes: &'static [&'static str],
    stemmer: Algorithm,
    detected: Option<Lang>,
}

const fn known(
    codes: &'static [&'static str],
    stemmer: Algorithm,
    detected: Option<Lang>,
) -> Known {
    Known { codes, stemmer, detected }
}

/// The order is part of what is stored (see [`Language::number`]): new languages go to the end.
const LANGUAGES: [Known; 35] = [
    known(&["en", "eng"], Algorithm::English, Some(Lang::Eng)),
    known(&["ar", "ara"], Algorithm::Arabic, Some(Lang::Ara)),
    known(&["hy", "hye", "arm"], Algorithm::Armenian, Some(Lang::Hye)),
    known(&["eu", "eus", "baq"], Algorithm::Basque, None),
    known(&["ca", "cat"], Algorithm::Catalan, Some(Lang::Cat)),
    known(&["cs", "ces", "cze"], Algorithm::Czech, Some(Lang::Ces)),
    known(&["da", "dan"], Algorithm::Danish, Some(Lang::Dan)),
    known(&["nl", "nld", "dut"], Algorithm::Dutch, Some(Lang::Nld)),
    known(&["eo", "epo"], Algorithm::Esperanto, Some(Lang::Epo)),
    known(&["et", "est"], Algorithm::Estonian, Some(Lang::Est)),
    known(&["fi", "fin"], Algorithm::Finnish, Some(Lang::Fin)),
    known(&["fr", "fra", "fre"], Algorithm::French, Some(Lang::Fra)),
    known(&["de", "deu", "ger"], Algorithm::German, Some(Lang::Deu)),
    known(&["el", "ell", "gre"], Algorithm::Greek, Some(Lang::Ell)),
    known(&["hi", "hin"], Algorithm::Hindi, Some(Lang::Hin)),
    known(&["hu", "hun"], Algorithm::Hungarian, Some(Lang::Hun)),
    known(&["id", "ind", "in", "ms"], Algorithm::Indonesian, Some(Lang::Ind)),
    known(&["ga", "gle"], Algorithm::Irish, None),
    known(&["it", "ita"], Algorithm::Italian, Some(Lang::Ita)),
    known(&["lt", "lit"], Algorithm::Lithuanian, Some(Lang::Lit)),
    known(&["ne", "nep"], Algorithm::Nepali, Some(Lang::Nep)),
    known(&["no", "nor", "nb", "nob", "nn", "nno"], Algorithm::Norwegian, Some(Lang::Nob)),
    known(&["fa", "fas", "per"], Algorithm::Persian, Some(Lang::Pes)),
    known(&["pl", "pol"], Algorithm::Polish, Some(Lang::Pol)),
    known(&["pt", "por"], Algorithm::Portuguese, Some(Lang::Por)),
    known(&["ro", "ron", "rum", "mo"], Algorithm::Romanian, Some(Lang::Ron)),
    known(&["ru", "rus"], Algorithm::Russian, Some(Lang::Rus)),
    known(&["sr", "srp", "hr", "hrv", "bs"], Algorithm::Serbian, Some(Lang::Srp)),
    known(&["st", "sot"], Algorithm::Sesotho, None),
    known(&["es", "spa"], Algorithm::Spanish, Some(Lang::Spa)),
    known(&["sv", "swe"], Algorithm::Swedish, Some(Lang::Swe)),
    known(&["ta", "tam"], Algorithm::Tamil, Some(Lang::Tam)),
    known(&["tr", "tur"], Algorithm::Turkish, Some(Lang::Tur)),
    known(&["uk", "ukr"], Algorithm::Ukrainian, Some(Lang::Ukr)),
    known(&["yi", "yid"], Algorithm::Yiddish, Some(Lang::Yid)),
];

impl Language {
    /// How many languages there are; their numbers are below.
    pub(crate) const COUNT: u8 = 35;

    /// The language of a BCP 47 tag (`de`, `pt-BR`, `zh_Hans`); `None` where there is no stemmer for it.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let code = tag.trim().split(['-', '_']).next()?;
        Self::position(|known| known.codes.iter().any(|known| known.eq_ignore_ascii_case(code)))
    }

    pub(super) fn of_detected(detected: Lang) -> Option<Self> {
        Self::position(|known| known.detected == Some(detected))
    }

    fn position(is_it: impl Fn(&Known) -> bool) -> Option<Self> {
        let at = LANGUAGES.iter().position(is_it)?;
        u8::try_from(at).ok().map(Self)
    }

    fn known(self) -> Option<&'static Known> {
        LANGUAGES.get(usize::from(self.0))
    }

    /// The shortest ISO 639 code.
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
