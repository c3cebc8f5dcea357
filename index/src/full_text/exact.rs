//! What a resource is called: whoever types all of a title, of a variable's value or of the last segment of a URI means
//! that resource, and not the many others that have the words.
//!
//! A name is one term of all its words, behind a character that says what it is a name by. A name of several words is
//! there a second time with its words joined, so that `scikit-learn` and `scikitlearn` find each other.

use super::analysis::Analyser;
use super::asked::Whole;

/// Longer names are not found as a whole.
const NAME_BYTES_MAX: usize = 512;

/// What a name is the name of, the least telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NamedBy {
    Segment = 1,
    Value = 2,
    Title = 3,
}

impl NamedBy {
    pub(super) const ALL: [NamedBy; 3] = [NamedBy::Title, NamedBy::Value, NamedBy::Segment];
}

/// How a name is spelled in its term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Words,
    Joined,
}

/// How close a name is to what was typed, greater is closer; 0: it is no name of the resource.
pub(super) type Closeness = u8;

/// What names that differ from the query in nothing but case, accents and punctuation have over those whose words are
/// joined otherwise, and names that are one edit away over those that are two edits away.
const CLOSER: Closeness = 3;

/// Terms to look up, with the closeness of the resources that have one of them.
pub(super) type NameTerms = Vec<(NamedBy, Closeness, String)>;

/// The terms of a resource's names. Of two ways in which it is called the same, the more telling one counts.
pub(super) fn name_terms<'n>(
    analyser: &mut Analyser,
    names: impl IntoIterator<Item = (NamedBy, &'n str)>,
) -> Vec<String> {
    let mut keys: Vec<(NamedBy, String)> = Vec::new();
    for (by, name) in names {
        let Some(key) = key(analyser, name) else { continue };
        match keys.iter_mut().find(|(_, known)| *known == key) {
            Some((known_by, _)) => *known_by = by.max(*known_by),
            None => keys.push((by, key)),
        }
    }
    let mut terms = Vec::with_capacity(keys.len() * 2);
    for (by, key) in keys {
        let joined = joined(&key);
        if joined != key {
            terms.push(term(by, Spelling::Joined, &joined));
        }
        terms.push(term(by, Spelling::Words, &key));
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// All words of a name, so that names that differ in case, accents and punctuation alone are the same.
fn key(analyser: &mut Analyser, name: &str) -> Option<String> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    Some(analyser.fold_whole(name)).filter(|key| !key.is_empty())
}

/// The terms of resources whose name is what was typed.
pub(super) fn typed_terms(whole: &Whole) -> NameTerms {
    let (kinds, key) = match whole {
        Whole::Name(key) => (&NamedBy::ALL[..], key),
        Whole::Title(key) => (&[NamedBy::Title][..], key),
    };
    let joined = joined(key);
    let mut terms = Vec::new();
    for by in kinds {
        let closeness = *by as Closeness;
        terms.push((*by, closeness + CLOSER, term(*by, Spelling::Words, key)));
        terms.push((*by, closeness, term(*by, Spelling::Joined, &joined)));
        if joined != *key {
            terms.push((*by, closeness, term(*by, Spelling::Words, &joined)));
        }
    }
    terms
}

/// The terms of resources whose name is a token that is spelled much like the only word of a query.
pub(super) fn similar_terms(token: &str, is_one_edit: bool) -> NameTerms {
    let mut terms = Vec::new();
    for by in NamedBy::ALL {
        let closeness = by as Closeness + if is_one_edit { CLOSER } else { 0 };
        for spelling in [Spelling::Words, Spelling::Joined] {
            terms.push((by, closeness, term(by, spelling, token)));
        }
    }
    terms
}

fn joined(key: &str) -> String {
    key.replace(' ', "")
}

fn term(by: NamedBy, spelling: Spelling, key: &str) -> String {
    let mark = match (by, spelling) {
        (NamedBy::Title, Spelling::Words) => 'T',
        (NamedBy::Title, Spelling::Joined) => 't',
        (NamedBy::Value, Spelling::Words) => 'V',
        (NamedBy::Value, Spelling::Joined) => 'v',
        (NamedBy::Segment, Spelling::Words) => 'S',
        (NamedBy::Segment, Spelling::Joined) => 's',
    };
    format!("{mark}{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once_by_what_tells_most() {
        let names = [
            (NamedBy::Title, "Scikit-Learn"),
            (NamedBy::Value, "scikit-learn"),
            (NamedBy::Segment, "README.md"),
            (NamedBy::Value, "..."),
        ];
        let terms = name_terms(&mut Analyser::default(), names);
        assert_eq!(terms, ["Sreadme md", "Tscikit learn", "sreadmemd", "tscikitlearn"]);
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        assert!(name_terms(&mut Analyser::default(), [(NamedBy::Title, &*long)]).is_empty());
    }

    #[test]
    fn each_spelling_of_a_name_is_looked_up() {
        let terms = typed_terms(&Whole::Title("scikit learn".to_owned()));
        let wanted = [(6, "Tscikit learn"), (3, "tscikitlearn"), (3, "Tscikitlearn")];
        let wanted = wanted.map(|(closeness, term)| (NamedBy::Title, closeness, term.to_owned()));
        assert_eq!(terms, wanted);
        assert_eq!(typed_terms(&Whole::Name("a".to_owned())).len(), 6);
        let close = similar_terms("a", true).into_iter().map(|(_, closeness, _)| closeness).min();
        let far = similar_terms("a", false).into_iter().map(|(_, closeness, _)| closeness).max();
        assert!(close > far);
    }
}
