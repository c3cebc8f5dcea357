//! What a comparison with plain tantivy needs to do the same work as the engine: its schema, its analysis, the tokens that
//! it looks for. For benches only: it promises nothing.

use std::path::Path;

use tantivy::schema::Field;
use tantivy::{Index, Searcher, TantivyDocument, Term};

use super::analysis::tokenizer::TextTokenizer;
use super::analysis::{Analyser, Language, detect_language};
use super::document::tagged;
use super::exact::{NamedBy, name_terms};
use super::query::{Form, KnownFields, Matcher, Sequence, parse};
use super::schema::{Fields, Place, TOKENIZER, uri_hash, value_term};
use super::snapshot::languages;
use crate::error::Result;
use crate::space::SpaceId;

/// The number of the first space of a store.
const SPACE: SpaceId = SpaceId(1);

/// An index with the engine's schema, for tantivy's own writer and searchers.
pub struct Yardstick {
    /// The index.
    pub index: Index,
    /// Where words are: title, words of the URI, text.
    pub places: [Field; 3],
    /// The text.
    pub text: Field,
    /// The same, stored.
    pub shown_text: Field,
    fields: Fields,
}

/// What one document has.
#[derive(Debug, Clone, Copy)]
pub struct YardstickDocument<'a> {
    /// Its URI.
    pub uri: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its MIME type.
    pub mime_type: &'a str,
    /// Its variables with their values.
    pub variables: &'a [(&'a str, &'a str)],
    /// The number of its ACL.
    pub acl: u64,
    /// When it was modified.
    pub modified: i64,
}

/// A way in which something can be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YardstickForm {
    /// A token.
    Term(String),
    /// Tokens at these positions.
    Sequence(Vec<(usize, String)>),
    /// Any token that begins so.
    Beginning(String),
}

impl Yardstick {
    /// Opens the index of a folder, or makes one.
    ///
    /// # Errors
    /// What tantivy says.
    pub fn open(folder: &Path) -> tantivy::Result<Yardstick> {
        let fields = Fields::new();
        std::fs::create_dir_all(folder)?;
        let directory = tantivy::directory::MmapDirectory::open(folder)?;
        let index = Index::open_or_create(directory, fields.schema.clone())?;
        index.tokenizers().register(TOKENIZER, TextTokenizer::default());
        let places = Place::ALL.map(|place| fields.of(place));
        Ok(Yardstick { index, places, text: fields.text, shown_text: fields.shown_text, fields })
    }

    /// The document, with its text stored.
    pub fn document(&self, document: &YardstickDocument<'_>) -> TantivyDocument {
        let fields = &self.fields;
        let language = detect_language(document.text, None);
        let mut made = TantivyDocument::new();
        made.add_text(fields.uri, document.uri);
        made.add_text(fields.title, tagged(language, document.title));
        made.add_text(fields.uri_words, tagged(None, document.uri));
        made.add_text(fields.text, tagged(language, document.text));
        made.add_text(fields.shown_text, document.text);
        let values = document.variables.iter().map(|(_, value)| (NamedBy::Value, *value));
        let names = [(NamedBy::Title, document.title)].into_iter().chain(values);
        for term in name_terms(&mut Analyser::default(), names) {
            made.add_text(fields.exact, term);
        }
        for (variable, value) in document.variables {
            made.add_text(fields.binding, value_term(SPACE, variable, value));
        }
        if let Some(language) = language {
            made.add_u64(fields.language, u64::from(language.number()));
        }
        made.add_text(fields.mime_type, document.mime_type);
        made.add_text(fields.mime_type, "text/*");
        made.add_u64(fields.space, u64::from(SPACE.0));
        made.add_u64(fields.acl, document.acl);
        made.add_u64(fields.priority, u64::from(u16::MAX / 2));
        made.add_i64(fields.modified, document.modified);
        made.add_u64(fields.version, 1);
        made.add_u64(fields.uri_hash, uri_hash(document.uri));
        made
    }

    /// What questions are read with: the languages of the texts.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn reader(&self, searcher: &Searcher) -> Result<YardstickReader> {
        Ok(YardstickReader { languages: languages(searcher, &self.fields)? })
    }

    /// What resources with a value of a variable have.
    pub fn value(&self, variable: &str, value: &str) -> Term {
        Term::from_field_text(self.fields.binding, &value_term(SPACE, variable, value))
    }

    /// What resources of a MIME type have.
    pub fn mime_type(&self, mime_type: &str) -> Term {
        Term::from_field_text(self.fields.mime_type, mime_type)
    }

    /// What resources with an ACL have.
    pub fn acl(&self, acl: u64) -> Term {
        Term::from_field_u64(self.fields.acl, acl)
    }

    /// What resources of the space have.
    pub fn space(&self) -> Term {
        Term::from_field_u64(self.fields.space, u64::from(SPACE.0))
    }
}

/// Reads what is typed, as the engine does.
#[derive(Debug)]
pub struct YardstickReader {
    languages: Vec<Language>,
}

impl YardstickReader {
    /// What is asked for: of each clause one of the forms must be there, in one of the places.
    pub fn clauses(&self, typed: &str) -> Vec<Vec<YardstickForm>> {
        let known = KnownFields { variables: &[], languages: &self.languages };
        let clauses = parse(typed, &known).clauses;
        clauses.into_iter().map(|clause| forms(clause.matcher)).collect()
    }
}

fn forms(matcher: Matcher) -> Vec<YardstickForm> {
    let sequence = |sequence: Sequence| {
        let terms = sequence.terms.into_iter();
        YardstickForm::Sequence(
            terms.map(|(at, text)| (usize::try_from(at).unwrap_or(usize::MAX), text)).collect(),
        )
    };
    match matcher {
        Matcher::Word(word) => word
            .forms
            .into_iter()
            .map(|form| match form {
                Form::Term(text) | Form::Stem(text) => YardstickForm::Term(text),
                Form::Sequence(terms) => sequence(terms),
            })
            .collect(),
        Matcher::Phrase(terms) => vec![sequence(terms)],
        Matcher::Prefix(text) => vec![YardstickForm::Beginning(text)],
        Matcher::Value(_) => Vec::new(),
    }
}
