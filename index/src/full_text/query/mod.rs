//! What a person types, as clauses. Nothing is an error: what is no syntax is words.
//!
//! - Words: all are wanted. `"several words"` in quotes of any kind stand next to each other. `-word` and `-"a phrase"`
//!   are excluded, except when nothing else is asked for: then they are words. `word*` is the beginning of a word.
//! - `title:`, `uri:`, `space:`, `mime:` and the variables of the spaces are fields when a value follows without a space.
//!   `title:` takes a word, a phrase or a beginning. `uri:` takes words of the URI; with a colon in it, the whole URI, or
//!   the beginning of it when it ends in `*` or `/`. `space:`, `mime:` and variables take the whole value as it is
//!   written, or its beginning when it ends in `*`; a MIME type is compared in lower case, and one without a slash
//!   (`mime:text`) is the type of its family.
//! - Everything else (`AND`, brackets, colons, lone quotes and dashes, unknown fields) parts words.
//!
//! Bounds: [`QUERY_BYTES_MAX`], [`QUERY_CLAUSES_MAX`], [`SEQUENCE_TERMS_MAX`]; what is beyond is left out, and
//! [`Query::cut`] says how much.

#[cfg(test)]
mod agreement;
mod pieces;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use super::analysis::{Language, beginning};
use pieces::{Body, Piece};

/// Of a query, so many bytes are read.
pub(crate) const QUERY_BYTES_MAX: usize = 4_096;
/// Clauses of a query; the same one twice is one.
pub(crate) const QUERY_CLAUSES_MAX: usize = 32;
/// Terms that stand next to each other, of one clause.
pub(crate) const SEQUENCE_TERMS_MAX: usize = 64;
/// Languages whose stems are tried for each word.
pub(crate) const STEM_LANGUAGES_MAX: usize = 8;

/// What the parser has to know of the index.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KnownFields<'a> {
    /// The variables of the spaces that are searched.
    pub(crate) variables: &'a [String],
    /// The languages of the texts, the most frequent first; the first [`STEM_LANGUAGES_MAX`] are tried.
    pub(crate) languages: &'a [Language],
}

/// A query's clauses, in the order in which they were typed. Without any, nothing was asked that could be found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Query {
    pub(crate) clauses: Vec<Clause>,
    pub(crate) cut: Option<Cut>,
}

/// What was left out of a query that is too long. At least one number is above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cut {
    /// Bytes at the end that were not read.
    pub(crate) bytes: usize,
    /// Words that were read and are not looked for.
    pub(crate) words: usize,
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) occur: Occur,
    pub(crate) field: Field,
    pub(crate) matcher: Matcher,
    /// The word, phrase or value as it was typed, without operators and quotes.
    pub(crate) typed: String,
}

/// Whether a document must or must not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occur {
    Wanted,
    Excluded,
}

/// Where it is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    /// Title, words of the URI, and text.
    Any,
    Title,
    Uri,
    Space,
    MimeType,
    /// A variable of a space, by its name.
    Variable(String),
}

/// How it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Matcher {
    /// A document has the word when it has one of the forms. In `Field::Any`, `Title` or `Uri`.
    Word(Word),
    /// Terms at the given distances. In `Field::Any`, `Title` or `Uri`.
    Phrase(Sequence),
    /// Words that begin so (a folded, unmarked term's beginning). In `Field::Any`, `Title` or `Uri`.
    Prefix(String),
    /// A whole value or the beginning of one. In `Field::Uri`, `Space`, `MimeType` or `Variable`.
    Value(Value),
}

/// A word's forms, the best first; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) forms: Vec<Form>,
}

/// A form of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// The word as it was typed, folded.
    Term(String),
    /// Its stem in some language, marked, or bare for texts whose word is the stem.
    Stem(String),
    /// Its parts, or the words that make it up, or the pairs of a script without spaces. When too few documents have
    /// all words, the terms may be asked for one by one.
    Sequence(Sequence),
}

/// Two or more terms with their positions, which begin at 0 and rise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) terms: Vec<(u32, String)>,
}

/// A value of a field that is compared as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Exact(String),
    Prefix(String),
}

impl Query {
    /// Whether nothing is left to look for: there were only signs, or nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }
}

/// Parses what a person typed.
pub(crate) fn parse(text: &str, known: &KnownFields<'_>) -> Query {
    let read = bounded(text);
    let mut parser = Parser { known, clauses: Vec::new(), words_left_out: 0 };
    for piece in pieces::pieces(read, known.variables) {
        parser.piece(read, piece);
    }
    let Parser { mut clauses, words_left_out, .. } = parser;
    if clauses.iter().all(|clause| clause.occur == Occur::Excluded) {
        clauses.iter_mut().for_each(|clause| clause.occur = Occur::Wanted);
    }
    clauses
        .iter_mut()
        .filter(|clause| clause.occur == Occur::Excluded)
        .for_each(|clause| exactly(&mut clause.matcher));
    let cut = Cut { bytes: text.len() - read.len(), words: words_left_out };
    Query { clauses, cut: (cut != Cut::default()).then_some(cut) }
}

/// As much of a query as is read: no half word at the end where there are several.
fn bounded(text: &str) -> &str {
    let read = beginning(text, QUERY_BYTES_MAX);
    if read.len() == text.len() {
        return read;
    }
    read.rfind(char::is_whitespace)
        .and_then(|end| read.get(..end))
        .filter(|read| !read.trim().is_empty())
        .unwrap_or(read)
}

/// What is excluded is excluded as it was typed: a stem would exclude too much.
fn exactly(matcher: &mut Matcher) {
    if let Matcher::Word(word) = matcher {
        let first_is_term = matches!(word.forms.first(), Some(Form::Term(_)));
        let mut place = 0;
        word.forms.retain(|form| {
            place += 1;
            place == 1 || (!first_is_term && matches!(form, Form::Sequence(_)))
        });
    }
}

struct Parser<'a> {
    known: &'a KnownFields<'a>,
    clauses: Vec<Clause>,
    words_left_out: usize,
}

impl Parser<'_> {
    fn piece(&mut self, text: &str, piece: Piece) {
        let occur = if piece.excluded { Occur::Excluded } else { Occur::Wanted };
        let words = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        match (&piece.field, &piece.body) {
            (Field::Any | Field::Title, Body::Quoted(range)) => {
                self.phrase(occur, piece.field, words(range));
            }
            (Field::Any | Field::Title, Body::Bare(range)) => {
                self.words(occur, &piece.field, words(range));
            }
            (Field::Uri, body @ (Body::Quoted(range) | Body::Bare(range))) => {
                match (uri_value(words(range)), body) {
                    (Some(value), _) => self.value(occur, piece.field, words(range), value),
                    (None, Body::Quoted(_)) => self.phrase(occur, piece.field, words(range)),
                    (None, Body::Bare(_)) => self.words(occur, &piece.field, words(range)),
                }
            }
            (Field::MimeType, Body::Quoted(range) | Body::Bare(range)) => {
                let value = mime_value(words(range));
                self.value(occur, piece.field, words(range), value);
            }
            (Field::Space | Field::Variable(_), Body::Quoted(range)) => {
                let value = Value::Exact(words(range).trim().to_owned());
                self.value(occur, piece.field, words(range), value);
            }
            (Field::Space | Field::Variable(_), Body::Bare(range)) => {
                let value = bare_value(words(range));
                self.value(occur, piece.field, words(range), value);
            }
        }
    }

    fn words(&mut self, occur: Occur, field: &Field, text: &str) {
        let languages =
            self.known.languages.get(..STEM_LANGUAGES_MAX).unwrap_or(self.known.languages);
        for found in words::words(text, languages) {
            self.words_left_out += found.left_out;
            let clause =
                Clause { occur, field: field.clone(), matcher: found.matcher, typed: found.typed };
            self.push(clause);
        }
    }

    fn phrase(&mut self, occur: Occur, field: Field, text: &str) {
        if let Some(found) = words::phrase(text) {
            self.words_left_out += found.left_out;
            self.push(Clause { occur, field, matcher: found.matcher, typed: found.typed });
        }
    }

    fn value(&mut self, occur: Occur, field: Field, typed: &str, value: Value) {
        let (Value::Exact(own) | Value::Prefix(own)) = &value;
        if !own.is_empty() {
            self.push(Clause {
                occur,
                field,
                matcher: Matcher::Value(value),
                typed: typed.trim().to_owned(),
            });
        }
    }

    fn push(&mut self, clause: Clause) {
        let same = |other: &Clause| {
            (&other.field, &other.matcher, other.occur)
                == (&clause.field, &clause.matcher, clause.occur)
        };
        if self.clauses.iter().any(same) {
            return;
        }
        if self.clauses.len() == QUERY_CLAUSES_MAX {
            self.words_left_out += 1;
        } else {
            self.clauses.push(clause);
        }
    }
}

fn bare_value(typed: &str) -> Value {
    match typed.strip_suffix(['*', '＊']) {
        Some(beginning) => Value::Prefix(beginning.trim_end_matches(['*', '＊']).to_owned()),
        None => Value::Exact(typed.to_owned()),
    }
}

/// A URI has a scheme; anything else is words of one.
fn uri_value(typed: &str) -> Option<Value> {
    let typed = typed.trim();
    let (scheme, _) = typed.split_once(':')?;
    let named = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|character| {
            character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.')
        });
    if !named {
        return None;
    }
    Some(if typed.ends_with('/') { Value::Prefix(typed.to_owned()) } else { bare_value(typed) })
}

fn mime_value(typed: &str) -> Value {
    let lower = typed.trim().to_ascii_lowercase();
    match bare_value(&lower) {
        Value::Exact(family) if !family.is_empty() && !family.contains('/') => {
            Value::Prefix(family + "/")
        }
        value => value,
    }
}
