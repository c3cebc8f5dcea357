//! From a resource to the document that is indexed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, Value as FieldValue};

use super::analysis::tokenizer::language_mark;
use super::analysis::{Analyser, Language, detect_language};
use super::exact::{NamedBy, name_terms};
use super::extract::{Extract, ExtractError, Extracted, ExtractedText};
use super::schema::{Fields, essence, path_term, uri_hash, value_term};
use super::source::{Loaded, TEXT_BYTES_MAX};
use crate::catalog::SpaceCatalog;
use crate::resource::{Binding, Value};
use crate::resource_uri;
use crate::space::SpaceId;
use crate::stop::Stop;

/// Bytes of documents that wait to be indexed.
const WAITING_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long to wait for room; after that a document goes on all the same.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(1);
/// While it waits, a request to stop is looked for this often.
const STOP_POLL: Duration = Duration::from_millis(50);
/// Folders of one path that can be asked for.
const PATH_DEPTH_MAX: usize = 64;

/// A document on its way into the index.
#[derive(Debug)]
pub(super) struct ResourceDocument {
    values: Vec<(Field, FieldContent)>,
    room: Room,
}

#[derive(Debug)]
enum FieldContent {
    Text(String),
    Unsigned(u64),
    Signed(i64),
}

impl ResourceDocument {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.room.bytes
    }
}

impl Document for ResourceDocument {
    type Value<'a> = BorrowedContent<'a>;
    type FieldsValuesIter<'a> = BorrowedContents<'a>;

    fn iter_fields_and_values(&self) -> BorrowedContents<'_> {
        // tantivy indexes all that waits before it ends, even if nothing of it is kept.
        let values = if self.room.waiting.is_discarded.load(Ordering::Relaxed) {
            &[]
        } else {
            self.values.as_slice()
        };
        BorrowedContents(values.iter())
    }
}

/// Fields with their values as tantivy reads them.
#[derive(Debug)]
pub(super) struct BorrowedContents<'a>(std::slice::Iter<'a, (Field, FieldContent)>);

impl<'a> Iterator for BorrowedContents<'a> {
    type Item = (Field, BorrowedContent<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(field, content)| (*field, BorrowedContent(content)))
    }
}

/// A value as tantivy reads it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BorrowedContent<'a>(&'a FieldContent);

impl<'a> FieldValue<'a> for BorrowedContent<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match self.0 {
            FieldContent::Text(text) => ReferenceValueLeaf::Str(text),
            FieldContent::Unsigned(number) => ReferenceValueLeaf::U64(*number),
            FieldContent::Signed(number) => ReferenceValueLeaf::I64(*number),
        })
    }
}

/// Makes documents out of resources.
pub(super) struct DocumentMaker {
    fields: Fields,
    extract: Arc<dyn Extract>,
    waiting: Arc<Waiting>,
    analyser: Analyser,
}

impl DocumentMaker {
    pub(super) fn new(fields: &Fields, extract: &Arc<dyn Extract>) -> DocumentMaker {
        DocumentMaker {
            fields: fields.clone(),
            extract: Arc::clone(extract),
            waiting: Arc::new(Waiting::default()),
            analyser: Analyser::default(),
        }
    }

    /// Nothing that waits to be indexed will be kept: it need not be looked at any more.
    pub(super) fn discard_waiting(&self) {
        self.waiting.is_discarded.store(true, Ordering::Relaxed);
    }

    /// The document of a resource; `None`: `stop` was asked before it was whole. Waits while too much waits to be indexed.
    pub(super) fn make(
        &mut self,
        catalog: &SpaceCatalog,
        loaded: Loaded,
        stop: &Stop,
    ) -> Option<ResourceDocument> {
        let fields = &self.fields;
        let extracted = loaded.with_source(|source| self.extract.extract(source, stop));
        if stop.is_asked() {
            return None;
        }
        let extracted = match extracted {
            Ok(extracted) => extracted,
            // What cannot be read is found by what its record says.
            Err(ExtractError::NoText(_)) => {
                let text = ExtractedText::Other(String::new());
                Extracted { text, ..Extracted::default() }
            }
            Err(ExtractError::Stopped) => return None,
        };
        let mut values = Vec::with_capacity(16);
        let mut text_value =
            |field: Field, text: String| values.push((field, FieldContent::Text(text)));
        let (uri, head) = (loaded.uri.clone(), loaded.head.clone());
        let (name, title) = (loaded.descriptor.name(), loaded.descriptor.title());
        let title = title.or_else(|| extracted.title.clone());
        let description = loaded.descriptor.description();
        if let Some(mime_type) = loaded.descriptor.mime_type() {
            let essence = essence(&mime_type);
            if let Some((kind, _)) = essence.split_once('/') {
                text_value(fields.mime_type, format!("{kind}/*"));
            }
            text_value(fields.mime_type, essence);
        }
        let (text, is_shown) = match extracted.text {
            ExtractedText::AsStored => (loaded.into_text(), false),
            ExtractedText::Other(mut text) => {
                text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
                (text, true)
            }
        };
        let language = if extracted.is_code {
            None
        } else {
            detect_language(&text, extracted.language.as_deref())
        };
        let last_segment = resource_uri::last_segment(&uri);
        // Without a name of its own a resource has the last segment as its name.
        let own_name = name.as_deref().filter(|name| *name != last_segment);
        let bindings = bindings(catalog, head.space, &uri);
        let bound: Vec<String> = bindings.iter().filter_map(whole_value).collect();
        let names = title.as_deref().into_iter().chain(own_name).map(|name| (NamedBy::Title, name));
        let names = names.chain(bound.iter().map(|value| (NamedBy::Value, value.as_str())));
        let names = names.chain([(NamedBy::Segment, last_segment.as_str())]);
        for term in name_terms(&mut self.analyser, names) {
            text_value(fields.exact, term);
        }
        for term in binding_terms(head.space, bindings) {
            text_value(fields.binding, term);
        }
        let name = name.filter(|name| title.as_deref() != Some(name));
        for title in [title, name].into_iter().flatten() {
            text_value(fields.title, tagged(language, &title));
        }
        let spoken = resource_uri::decode_path(&uri);
        text_value(fields.uri_words, tagged(None, spoken.as_deref().unwrap_or(&uri)));
        if let Some(description) = description {
            text_value(fields.text, tagged(language, &description));
        }
        text_value(fields.text, tagged(language, &text));
        if is_shown {
            text_value(fields.shown_text, text);
        }
        if let Some(language) = language {
            let number = u64::from(language.number());
            values.push((fields.language, FieldContent::Unsigned(number)));
        }
        let mut text_value =
            |field: Field, text: String| values.push((field, FieldContent::Text(text)));
        let hash = uri_hash(&uri);
        text_value(fields.uri, uri);
        values.extend([
            (fields.space, FieldContent::Unsigned(u64::from(head.space.0))),
            (fields.acl, FieldContent::Unsigned(u64::from(head.acl.0))),
            (fields.priority, FieldContent::Unsigned(u64::from(head.order.priority))),
            (fields.modified, FieldContent::Signed(head.order.modified)),
            (fields.version, FieldContent::Unsigned(head.version)),
            (fields.uri_hash, FieldContent::Unsigned(hash)),
        ]);
        let bytes = values.iter().map(|(_, content)| content.bytes()).sum();
        let room = self.waiting.take_room(bytes, stop)?;
        Some(ResourceDocument { values, room })
    }
}

impl FieldContent {
    fn bytes(&self) -> usize {
        match self {
            FieldContent::Text(text) => text.len(),
            FieldContent::Unsigned(_) | FieldContent::Signed(_) => 8,
        }
    }
}

/// A text as the tokenizer wants it, with its language.
pub(super) fn tagged(language: Option<Language>, text: &str) -> String {
    let mark = language_mark(language);
    let mut tagged = String::with_capacity(mark.len_utf8() + text.len());
    tagged.push(mark);
    tagged.push_str(text);
    tagged
}

/// The values that the template finds in the URI.
fn bindings(catalog: &SpaceCatalog, space: SpaceId, uri: &str) -> Vec<Binding> {
    let known = catalog.everything().find(|known| known.id == space);
    known.and_then(|space| space.matcher.match_uri(uri)).unwrap_or_default()
}

/// A value as one text, which may be the name of the resource.
fn whole_value(binding: &Binding) -> Option<String> {
    match &binding.value {
        Value::String(value) => Some(value.clone()),
        Value::List(segments) => Some(segments.join("/")),
        Value::Map(_) => None,
    }
}

/// The terms by which conditions find the values.
fn binding_terms(space: SpaceId, bindings: Vec<Binding>) -> Vec<String> {
    let mut terms = Vec::new();
    for binding in bindings {
        match binding.value {
            Value::String(value) => terms.push(value_term(space, &binding.name, &value)),
            Value::List(segments) => {
                let mut path = String::new();
                for (depth, segment) in segments.iter().enumerate() {
                    path.push_str(segment);
                    if depth + 1 < segments.len() && depth < PATH_DEPTH_MAX {
                        path.push('/');
                        terms.push(path_term(space, &binding.name, &path));
                    } else if depth + 1 < segments.len() {
                        path.push('/');
                    }
                }
                terms.push(path_term(space, &binding.name, &path));
            }
            Value::Map(_) => {}
        }
    }
    terms
}

/// How much waits to be indexed.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Mutex<usize>,
    less: Condvar,
    /// The session has ended.
    is_discarded: AtomicBool,
}

/// A document's share of what waits; given back when it is indexed or dropped.
#[derive(Debug)]
struct Room {
    waiting: Arc<Waiting>,
    bytes: usize,
}

impl Waiting {
    /// `None`: `stop` was asked.
    fn take_room(self: &Arc<Self>, bytes: usize, stop: &Stop) -> Option<Room> {
        let mut sum = self.bytes.lock();
        // One document goes on each time round even if none is indexed: who adds it learns why.
        let patience = Instant::now() + ROOM_WAIT_MAX;
        while *sum > WAITING_BYTES_MAX && Instant::now() < patience {
            if stop.is_asked() {
                return None;
            }
            self.less.wait_for(&mut sum, STOP_POLL);
        }
        *sum = sum.saturating_add(bytes);
        Some(Room { waiting: Arc::clone(self), bytes })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut sum = self.waiting.bytes.lock();
        *sum = sum.saturating_sub(self.bytes);
        if *sum <= WAITING_BYTES_MAX {
            self.waiting.less.notify_one();
        }
    }
}
