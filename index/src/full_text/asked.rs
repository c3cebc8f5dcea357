//! What a query asks for, in terms of the index: tokens, runs of tokens, beginnings of tokens.

use super::query::Query;
use super::schema::Place;

/// A query, understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// All of them are wanted, most of them will do.
    pub(super) words: Vec<Word>,
    /// These must be there.
    pub(super) required: Vec<Expression>,
    /// These must not.
    pub(super) excluded: Vec<Expression>,
    /// The whole query as a title would be, see `title_exact`.
    pub(super) whole: Option<String>,
    pub(super) filters: AskedFilters,
    /// Nothing was typed: all that the filters leave is wanted.
    pub(super) is_everything: bool,
}

/// What the query says about others than words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AskedFilters {
    pub(super) spaces: Vec<String>,
    pub(super) mime_types: Vec<String>,
    /// Variables with their values.
    pub(super) variables: Vec<(String, String)>,
}

/// A word.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) expression: Expression,
    /// As it was typed, folded, where words that are spelled much like it may stand for it.
    pub(super) typed: Option<String>,
}

/// Alternatives of which one must be there.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) alternatives: Vec<Alternative>,
    /// Where.
    pub(super) places: Vec<Place>,
}

/// One way in which something can be there.
#[derive(Debug, Clone)]
pub(super) enum Alternative {
    Token {
        text: String,
        weight: f32,
    },
    /// Tokens with their positions.
    Run {
        tokens: Vec<(String, u32)>,
        weight: f32,
    },
    /// All tokens that begin so.
    Beginning {
        text: String,
    },
}

impl Asked {
    pub(super) fn new(typed: &str, query: Query) -> Asked {
        let is_everything = typed.trim().is_empty();
        let words: Vec<Word> = query
            .words
            .into_iter()
            .map(|text| Word {
                expression: Expression {
                    alternatives: vec![Alternative::Token { text: text.clone(), weight: 1.0 }],
                    places: Place::ALL.to_vec(),
                },
                typed: Some(text),
            })
            .collect();
        let whole = super::document::exact_key(typed);
        Asked { words, whole, is_everything, ..Asked::default() }
    }

    /// Whether nothing can be looked for, although something was typed.
    pub(super) fn has_no_words(&self) -> bool {
        !self.is_everything
            && self.words.is_empty()
            && self.required.is_empty()
            && self.filters == AskedFilters::default()
    }
}
