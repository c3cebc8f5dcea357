//! What was found, as the model reads it.

use std::borrow::Cow;
use std::time::Duration;

use pressmark_index::full_text::{SearchHit, SearchPage};
use serde::Serialize;

use super::super::tools::{Link, timestamp};
use crate::{highlight::highlighted, search_notes::told};

/// Characters of a title.
pub(super) const TITLE_CHARS_MAX: usize = 300;

/// What stands around a matched word, as Markdown has it.
const MARK: &str = "**";

/// The result, as `structuredContent` has it; [`Found::brief`] is what a model reads.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found<'a> {
    pub(super) results: Vec<Hit<'a>>,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hit<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    title: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    pub(super) snippet: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

// === impl Found ===

impl<'a> Found<'a> {
    pub(super) fn of(page: &'a SearchPage, time_max: Duration) -> Self {
        let mut notes: Vec<String> = page.notes.iter().map(|note| told(note, time_max)).collect();
        if !page.total_is_exact {
            notes.push(format!("there are at least {} results", page.total));
        }
        if page.total == 0 && page.notes.is_empty() {
            notes.push("nothing was found: try other or fewer words, or a prefix*".to_owned());
        }
        Self {
            results: page.hits.iter().map(Hit::of).collect(),
            total: page.total,
            next_cursor: page.next_cursor.as_deref(),
            notes,
        }
    }
}

impl Found<'_> {
    /// The same with each URI once, and without what the URI says: a model pays for every word.
    pub(super) fn brief(&self) -> Found<'_> {
        Found {
            results: self.results.iter().map(Hit::brief).collect(),
            total: self.total,
            next_cursor: self.next_cursor,
            notes: self.notes.clone(),
        }
    }
}

// === impl Hit ===

impl<'a> Hit<'a> {
    fn of(hit: &'a SearchHit) -> Self {
        let SearchHit { uri, title, snippet, score, mime_type, space, last_modified } = hit;
        Self {
            id: uri,
            uri: Some(uri),
            title: shown_title(title),
            url: Some(uri),
            snippet: Cow::Owned(highlighted(snippet, MARK, MARK)),
            score: score.map(rounded),
            mime_type: Some(mime_type.as_str()).filter(|mime_type| !mime_type.is_empty()),
            space: Some(space),
            last_modified: last_modified.and_then(timestamp),
        }
    }

    fn brief(&self) -> Hit<'_> {
        Hit {
            id: self.id,
            uri: None,
            title: Cow::Borrowed(&self.title),
            url: None,
            snippet: Cow::Borrowed(&self.snippet),
            score: self.score,
            mime_type: self.mime_type,
            space: None,
            last_modified: self.last_modified.clone(),
        }
    }

    pub(super) fn link(&self) -> Link<'_> {
        Link { uri: self.id, title: &self.title, mime_type: self.mime_type }
    }
}

pub(super) fn shown_title(title: &str) -> Cow<'_, str> {
    match title.char_indices().nth(TITLE_CHARS_MAX) {
        None => Cow::Borrowed(title),
        Some((end, _)) => Cow::Owned(format!("{}…", title.get(..end).unwrap_or_default())),
    }
}

/// A score with three decimals: more say nothing, and JSON has no infinity.
fn rounded(score: f32) -> f64 {
    let score = f64::from(score);
    if score.is_finite() { (score * 1000.0).round() / 1000.0 } else { 0.0 }
}
