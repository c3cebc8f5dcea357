//! The hits of a page, read from the store: what is shown is what the caller may see now.

use tantivy::schema::Value;
use tantivy::{DocAddress, TantivyDocument};

use super::FullText;
use super::hit::{self, HotHit};
use super::plan::read_failed;
use super::postings::Clock;
use super::rank::Ranked;
use super::request::{SearchHit, SearchRequest};
use super::schema::Fields;
use super::snapshot::Snapshot;
use super::snippet::{Snippet, Snippets, Wanted};
use super::source::{TEXT_BYTES_MAX, decode, read_many};
use crate::error::{ErrorKind, Result};
use crate::shared::Shared;

/// So many bytes of each text are read, and kept. If no wanted word is in them, more is read.
const SNIPPET_TEXT_BYTES_MAX: usize = 512 * 1024;

pub(super) fn hits(
    shared: &Shared,
    full_text: &FullText,
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    wanted: &Wanted,
    (ranked, clock): (&[Ranked], &mut Clock),
) -> Result<Vec<SearchHit>> {
    let found: Vec<Indexed> = ranked
        .iter()
        .filter_map(|found| Indexed::read(snapshot, &full_text.fields, found).transpose())
        .collect::<Result<_>>()?;
    let uris: Vec<&str> = found.iter().map(|found| found.uri.as_str()).collect();
    let text_bytes_max = if request.snippet_bytes == 0 { 0 } else { SNIPPET_TEXT_BYTES_MAX };
    let read = hit::read(shared, &full_text.hits, &uris, text_bytes_max)?;
    let catalog = shared.catalog();
    let mut snippets = Snippets::new(wanted);
    let mut hits = Vec::with_capacity(found.len());
    for (indexed, hit) in found.iter().zip(read) {
        let Indexed { uri, score, .. } = indexed;
        let hit = match hit {
            Ok(Some(hit)) => hit,
            // It is gone since the index was committed.
            Ok(None) => continue,
            // What cannot be read keeps nobody from the other hits.
            Err(error) if error.kind() == ErrorKind::Corrupt => continue,
            Err(error) => return Err(error),
        };
        let visible = shared.visible(&catalog, hit.space, hit.acl, uri, request.access)?;
        // It may have been hidden since.
        let Some((space, _)) = visible else { continue };
        hits.push(SearchHit {
            uri: uri.clone(),
            title: hit.title.clone(),
            mime_type: hit.mime_type.clone(),
            space: space.settings.name.clone(),
            last_modified: hit.modified,
            score: request.access.sees_everything().then_some(*score),
            snippet: Snippet::default(),
        });
        let Some(SearchHit { snippet, .. }) = hits.last_mut() else { continue };
        *snippet = snippet_of(&hit, indexed.shown(&hit), request.snippet_bytes, &mut snippets);
        let may_be_later = snippet.marks.is_empty() && !snippet.text.is_empty();
        if may_be_later && indexed.shown.is_none() && is_cut(&hit) && clock.look() {
            let text = whole_text(shared, uri, hit.version)?;
            let later = snippets.of(&text, request.snippet_bytes);
            if !later.marks.is_empty() {
                *snippet = later;
            }
        }
    }
    Ok(hits)
}

/// What the index keeps of a hit.
struct Indexed {
    uri: String,
    shown: Option<String>,
    /// Of which space and version of the resource.
    space: u64,
    version: u64,
    score: f32,
}

impl Indexed {
    /// The text that was taken from the resource, where that is not the stored one. Of another version than the one whose
    /// title is shown nothing is: it may have been changed so that nobody sees it any more.
    fn shown(&self, hit: &HotHit) -> Option<&str> {
        let is_same = self.space == u64::from(hit.space.0) && self.version == hit.version;
        self.shown.as_deref().map(|shown| if is_same { shown } else { "" })
    }

    fn read(snapshot: &Snapshot, fields: &Fields, found: &Ranked) -> Result<Option<Indexed>> {
        let address = DocAddress { segment_ord: found.segment, doc_id: found.doc };
        let document: TantivyDocument = snapshot.searcher.doc(address).map_err(read_failed)?;
        let segment = usize::try_from(found.segment).ok().and_then(|at| snapshot.segments.get(at));
        let Some(segment) = segment else { return Ok(None) };
        let (space, version) =
            (segment.space.get_val(found.doc), segment.version.get_val(found.doc));
        let field =
            |field| document.get_first(field).and_then(|value| value.as_str()).map(str::to_owned);
        let shown = field(fields.shown_text);
        let score = found.rank.score();
        Ok(field(fields.uri).map(|uri| Indexed { uri, shown, space, version, score }))
    }
}

/// Whether there may be more of its text than is kept.
fn is_cut(hit: &HotHit) -> bool {
    hit.text.len() + char::MAX.len_utf8() > SNIPPET_TEXT_BYTES_MAX
}

/// All of a text that can be found; none if it is another version by now, or cannot be read.
fn whole_text(shared: &Shared, uri: &str, version: u64) -> Result<String> {
    let store = shared.store();
    let view = store.view();
    let Some(stored) = read_many(&view, &[uri])?.pop() else { return Ok(String::new()) };
    match decode(&view, uri, stored, TEXT_BYTES_MAX) {
        Ok(Some(loaded)) if loaded.head.version == version => Ok(loaded.into_text()),
        Ok(_) => Ok(String::new()),
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(String::new()),
        Err(error) => Err(error),
    }
}

fn snippet_of(
    hit: &HotHit,
    shown: Option<&str>,
    bytes_max: usize,
    snippets: &mut Snippets<'_>,
) -> Snippet {
    if bytes_max == 0 {
        return Snippet::default();
    }
    let text = shown.unwrap_or(&hit.text);
    let text = if text.is_empty() { hit.description.as_deref().unwrap_or_default() } else { text };
    snippets.of(text, bytes_max)
}
