//! Whatever stands in a text is found by typing it: the analysis of texts and the reading of queries agree.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::full_text::analysis::analyse;

/// A text's tokens, as a posting list has them.
#[derive(Default)]
struct Postings {
    positions: HashMap<String, HashSet<u32>>,
}

impl Postings {
    fn of(text: &str, language: Option<Language>) -> Self {
        let mut postings = Self::default();
        analyse(text, language, &mut |token| {
            postings.positions.entry(token.text.to_owned()).or_default().insert(token.position);
        });
        postings
    }

    fn has(&self, term: &str) -> bool {
        self.positions.contains_key(term)
    }

    fn adjoin(&self, sequence: &Sequence) -> bool {
        let Some((_, first)) = sequence.terms.first() else { return false };
        let starts = self.positions.get(first).into_iter().flatten();
        starts.into_iter().any(|start| {
            let at = |(offset, term): &(u32, String)| {
                self.positions.get(term).is_some_and(|all| all.contains(&(start + offset)))
            };
            sequence.terms.iter().all(at)
        })
    }

    fn answers(&self, matcher: &Matcher) -> bool {
        match matcher {
            Matcher::Word(word) => word.forms.iter().any(|form| match form {
                Form::Term(term) | Form::Stem(term) => self.has(term),
                Form::Sequence(sequence) => self.adjoin(sequence),
            }),
            Matcher::Phrase(sequence) => self.adjoin(sequence),
            Matcher::Prefix(prefix) => {
                self.positions.keys().any(|term| term.starts_with(prefix.as_str()))
            }
            Matcher::Value(_) => false,
        }
    }
}

fn found(text: &str, typed: &str, language: Option<Language>) -> Result<(), TestCaseError> {
    let postings = Postings::of(text, language);
    let languages: Vec<Language> = language.into_iter().collect();
    let query = parse(typed, &KnownFields { variables: &[], languages: &languages });
    for clause in &query.clauses {
        prop_assert!(clause.occur == Occur::Wanted, "{typed:?} excludes {clause:?}");
        prop_assert!(
            postings.answers(&clause.matcher),
            "{typed:?} not found in {text:?}: {clause:?}"
        );
    }
    Ok(())
}

/// Words as they stand in texts of all kinds.
const WORD: &str = "[a-z]{1,6}|[A-Z][a-z]{1,5}|[A-Z]{2,4}|[a-z]{1,4}[A-Z][a-z]{1,4}[0-9]{0,2}|[a-z]{1,3}(_[a-z]{1,4}){1,3}\
    |[a-z]{1,4}-[a-z]{1,4}|[a-zé]{1,5}['\u{2019}](s|t|ll|homme)|[0-9]{1,3}(,[0-9]{3}){0,2}|[0-9]{1,2}\\.[0-9]{1,2}|C\\+\\+|C#|F#|\\.NET\
    |[äöüßéèñçøł]{1,3}[a-z]{1,3}|[а-яё]{1,6}|[α-ω]{1,5}|[א-ת]{2,4}|[ا-ي]{2,5}|[क-ह][ा-ौ]?[क-ह]|[一-三天地玄黃]{1,6}|[か-ご]{1,4}\
    |[ก-ข]ี่?น|[가-갛]{1,4}|🦀|👍🏽|使用[A-Z]{2,3}令牌";

const BETWEEN: &str = " |, |\\. |: |\n|  |; |\\) \\(|—|、";

fn text() -> impl Strategy<Value = (Vec<String>, String)> {
    prop::collection::vec((WORD, BETWEEN), 1..12).prop_map(|pairs| {
        let words = pairs.iter().map(|(word, _)| word.clone()).collect();
        (words, pairs.iter().map(|(word, between)| format!("{word}{between}")).collect())
    })
}

fn language() -> impl Strategy<Value = Option<Language>> {
    prop::option::of((0..Language::COUNT).prop_map(|number| Language::of_number(number).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn each_word_of_a_text_finds_it((words, text) in text(), language in language()) {
        for word in &words {
            found(&text, word, language)?;
            found(&text, &word.to_lowercase(), language)?;
            found(&text, &format!("({word})?"), language)?;
            found(&text, &format!("{word}*"), language)?;
        }
    }

    #[test]
    fn each_phrase_of_a_text_finds_it((_, text) in text(), from in any::<prop::sample::Index>(), length in 1_usize..40) {
        // A phrase begins and ends where words do.
        let ends: Vec<usize> = std::iter::once(0)
            .chain(text.char_indices().filter(|(_, next)| next.is_whitespace()).map(|(at, _)| at))
            .chain([text.len()])
            .collect();
        let start = ends[from.index(ends.len())];
        let Some(end) = ends.iter().copied().filter(|end| *end > start).take(length % 5 + 1).last() else { return Ok(()) };
        found(&text, &format!("\"{}\"", &text[start..end]), None)?;
        found(&text, &format!("«{}»", text[start..end].to_lowercase()), None)?;
        found(&text, &text[start..end].replace('*', " "), None)?;
    }

    #[test]
    fn any_part_of_a_run_without_spaces_finds_it(run in "[一-九天地玄黃かがさざ가-갛]{2,12}", from in 0_usize..12, length in 1_usize..12) {
        let part: String = run.chars().skip(from).take(length).collect();
        found(&format!("before {run}after"), &part, None)?;
        found(&format!("before {run}after"), &format!("\"{part}\""), None)?;
    }

    #[test]
    fn parts_of_identifiers_find_them(parts in prop::collection::vec("[a-z]{2,5}", 1..6)) {
        let camel: String = parts.iter().map(|part| part[..1].to_uppercase() + &part[1..]).collect();
        let snake = parts.join("_");
        for text in [&camel, &snake, &parts.join("-"), &parts.join(" ")] {
            for part in &parts {
                found(text, part, None)?;
            }
            found(text, &parts.join(" "), None)?;
            found(text, &format!("\"{}\"", parts.join(" ")), None)?;
            found(text, &snake, None)?;
            found(text, &camel, None)?;
        }
    }

    #[test]
    fn nothing_is_an_error_or_out_of_bounds(typed in "([\\PC\u{0}\\s]{0,6}|\"|«|「|-|\\*|:|title:|uri:|name:|space:|mime:|[一-九]{1,9}|[a-z]{1,5}){0,60}") {
        let variables = ["name".to_owned()];
        let query = parse(&typed, &KnownFields { variables: &variables, languages: &[] });
        prop_assert!(query.clauses.len() <= QUERY_CLAUSES_MAX);
        prop_assert!(query.clauses.is_empty() || query.clauses.iter().any(|clause| clause.occur == Occur::Wanted));
        for clause in &query.clauses {
            let sequences: Vec<&Sequence> = match &clause.matcher {
                Matcher::Word(word) => {
                    prop_assert!(!word.forms.is_empty());
                    word.forms.iter().filter_map(|form| if let Form::Sequence(terms) = form { Some(terms) } else { None }).collect()
                }
                Matcher::Phrase(sequence) => vec![sequence],
                Matcher::Prefix(_) | Matcher::Value(_) => vec![],
            };
            for sequence in sequences {
                prop_assert!((2..=SEQUENCE_TERMS_MAX).contains(&sequence.terms.len()));
                prop_assert!(sequence.terms.first().is_some_and(|(offset, _)| *offset == 0));
                prop_assert!(sequence.terms.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }
}
