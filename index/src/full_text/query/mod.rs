//! Stands in for the query language of another branch until the two are merged: plain words.

use super::analysis::analyse;

/// The names that may stand before a colon.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownFields {
    /// Variables of the spaces that the caller sees.
    pub(crate) variables: Vec<String>,
}

/// What was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) words: Vec<String>,
}

/// Understands a query; never an error.
pub(crate) fn parse(text: &str, _known: &KnownFields) -> Query {
    let mut query = Query::default();
    analyse(text, None, &mut |token| query.words.push(token.text.to_owned()));
    query
}
