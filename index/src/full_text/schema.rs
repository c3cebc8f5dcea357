//! The fields of a document, and the terms that filters are made of.

use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
};

use crate::space::SpaceId;

/// Changes whenever a document has other fields or a field holds something else: indexes made before are made anew.
pub(super) const SCHEMA_VERSION: u32 = 2;

/// Under which name the index knows the analysis.
pub(super) const TOKENIZER: &str = "pressmark";

/// Where the words of a query are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Title = 0,
    UriWords = 1,
    Text = 2,
}

impl Place {
    pub(super) const ALL: [Place; 3] = [Place::Title, Place::UriWords, Place::Text];
}

/// The fields of the index.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    pub(super) schema: Schema,
    /// The key: the URI as it is.
    pub(super) uri: Field,
    /// Title and name.
    pub(super) title: Field,
    /// The URI, decoded, as words.
    pub(super) uri_words: Field,
    /// Description and contents.
    pub(super) text: Field,
    /// Title, name, values of variables and last segment of the URI, each as one term of all its words; see `exact`.
    pub(super) exact: Field,
    pub(super) space: Field,
    /// Space, variable and value.
    pub(super) binding: Field,
    pub(super) mime_type: Field,
    pub(super) acl: Field,
    /// The number of the language that the text is stemmed in.
    pub(super) language: Field,
    /// `annotations.priority`, 0 to 65,535.
    pub(super) priority: Field,
    pub(super) modified: Field,
    pub(super) version: Field,
    /// A hash of the URI, so that hits that are otherwise alike have an order.
    pub(super) uri_hash: Field,
    /// The text of which the snippet is made, where it is not the stored one.
    pub(super) shown_text: Field,
}

/// The fields that are read as columns.
pub(super) mod column {
    use std::sync::Arc;

    use tantivy::SegmentReader;
    use tantivy::columnar::ColumnValues;

    use super::super::commit::failed;
    use crate::error::Result;

    pub(crate) const ACL: &str = "acl";
    pub(crate) const SPACE: &str = "space";
    pub(crate) const MODIFIED: &str = "modified";
    pub(crate) const PRIORITY: &str = "priority";
    pub(crate) const VERSION: &str = "version";
    pub(crate) const URI_HASH: &str = "uri_hash";

    /// A column of numbers.
    pub(crate) fn unsigned(
        segment: &SegmentReader,
        name: &str,
    ) -> Result<Arc<dyn ColumnValues<u64>>> {
        let columns = segment.fast_fields();
        columns.column_first_or_default(name).map_err(|source| failed("read", source))
    }

    /// A column of numbers that may be below zero.
    pub(crate) fn signed(
        segment: &SegmentReader,
        name: &str,
    ) -> Result<Arc<dyn ColumnValues<i64>>> {
        let columns = segment.fast_fields();
        columns.column_first_or_default(name).map_err(|source| failed("read", source))
    }
}

impl Fields {
    pub(super) fn new() -> Fields {
        let mut builder = Schema::builder();
        let words = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_index_option(IndexRecordOption::WithFreqsAndPositions),
        );
        let key = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::Basic),
        );
        let uri = builder.add_text_field("uri", key.clone() | STORED);
        let title = builder.add_text_field("title", words.clone());
        let uri_words = builder.add_text_field("uri_words", words.clone());
        let text = builder.add_text_field("text", words);
        let exact = builder.add_text_field("exact", key.clone());
        let space = builder.add_u64_field(column::SPACE, INDEXED | FAST);
        let binding = builder.add_text_field("binding", key.clone());
        let mime_type = builder.add_text_field("mime_type", key);
        let acl = builder.add_u64_field(column::ACL, INDEXED | FAST);
        let language = builder.add_u64_field("language", INDEXED);
        let priority = builder.add_u64_field(column::PRIORITY, FAST);
        let modified = builder.add_i64_field(column::MODIFIED, FAST);
        let version = builder.add_u64_field(column::VERSION, FAST);
        let uri_hash = builder.add_u64_field(column::URI_HASH, FAST);
        let shown_text = builder.add_text_field("shown_text", STORED);
        let schema = builder.build();
        Fields {
            schema,
            uri,
            title,
            uri_words,
            text,
            exact,
            space,
            binding,
            mime_type,
            acl,
            language,
            priority,
            modified,
            version,
            uri_hash,
            shown_text,
        }
    }

    pub(super) fn of(&self, place: Place) -> Field {
        match place {
            Place::Title => self.title,
            Place::UriWords => self.uri_words,
            Place::Text => self.text,
        }
    }

    pub(super) fn uri_term(&self, uri: &str) -> Term {
        Term::from_field_text(self.uri, uri)
    }
}

/// The term of a variable whose value is a string: what conditions on values are about.
pub(super) fn value_term(space: SpaceId, variable: &str, value: &str) -> String {
    format!("{}\0{variable}\0={value}", space.0)
}

/// The term of a variable whose value is a list: the whole path, or a folder on the way to it, which ends in `/`.
pub(super) fn path_term(space: SpaceId, variable: &str, path: &str) -> String {
    format!("{}\0{variable}\0/{path}", space.0)
}

/// A MIME type without its parameters, in lower case.
pub(super) fn essence(mime_type: &str) -> String {
    mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A hash of a URI that is the same on every machine.
pub(super) fn uri_hash(uri: &str) -> u64 {
    let mut bytes = [0; 8];
    blake3::Hasher::new().update(uri.as_bytes()).finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
