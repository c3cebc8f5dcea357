//! What a snippet marks.

use std::collections::HashMap;

use crate::full_text::analysis::Language;
use crate::full_text::query::{Field, Form, Matcher, Occur, Query, Sequence};

/// Stemming leaves a word's beginning as it is: so many characters, in nearly all words of nearly all languages.
const STEM_BEGINNING: usize = 3;

/// The tokens that a query asks for, by the clause they stand for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Folded words, bare stems and characters; marked stems too.
    pub(super) terms: HashMap<String, usize>,
    pub(super) prefixes: Vec<(String, usize)>,
    pub(super) sequences: Vec<(Sequence, usize)>,
    /// How many clauses there are that a text can answer.
    pub(super) clauses: usize,
    /// The languages in which marked stems were made.
    pub(super) languages: Vec<Language>,
    /// What the marked stems begin with: words that begin otherwise are not stemmed.
    pub(super) stem_beginnings: Vec<String>,
}

impl Wanted {
    /// What a query asks for in titles and texts; the languages are those it was parsed with.
    pub(crate) fn of(query: &Query, languages: &[Language]) -> Self {
        let mut wanted = Self { languages: languages.to_vec(), ..Self::default() };
        for (at, clause) in query.clauses.iter().enumerate() {
            let shown = matches!(clause.field, Field::Any | Field::Title);
            if clause.occur == Occur::Excluded || !shown {
                continue;
            }
            if !matches!(clause.matcher, Matcher::Value(_)) {
                wanted.clauses += 1;
            }
            match &clause.matcher {
                Matcher::Word(word) => word.forms.iter().for_each(|form| wanted.form(at, form)),
                Matcher::Phrase(sequence) => wanted.sequences.push((sequence.clone(), at)),
                Matcher::Prefix(prefix) => wanted.prefixes.push((prefix.clone(), at)),
                Matcher::Value(_) => {}
            }
        }
        wanted
    }

    /// A further term for the clause at an index of [`Query::clauses`]: what a mistyped word was taken for.
    pub(crate) fn also(&mut self, clause: usize, term: &str) {
        self.terms.entry(term.to_owned()).or_insert(clause);
    }

    fn form(&mut self, clause: usize, form: &Form) {
        match form {
            Form::Term(term) => self.also(clause, term),
            Form::Stem(stem) => {
                self.also(clause, stem);
                if let Some(bare) = stem.strip_prefix(crate::full_text::analysis::STEM_MARK) {
                    let beginning: String = bare.chars().take(STEM_BEGINNING).collect();
                    if !self.stem_beginnings.contains(&beginning) {
                        self.stem_beginnings.push(beginning);
                    }
                }
            }
            Form::Sequence(sequence) => self.sequences.push((sequence.clone(), clause)),
        }
    }
}
