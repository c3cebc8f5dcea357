//! The hits of a page, read from the store: what is shown is what the caller may see now.

use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument};

use super::plan::read_failed;
use super::rank::Ranked;
use super::request::{SearchHit, SearchRequest};
use super::schema::Fields;
use super::snippet::{Snippet, Snippets, Wanted};
use super::source::{Loaded, Stored, decode, read_many};
use crate::error::{ErrorKind, Result};
use crate::shared::Shared;
use crate::store::View;

/// A snippet is looked for in so many bytes at the beginning of a text.
const SNIPPET_TEXT_BYTES_MAX: usize = 512 * 1024;

pub(super) fn hits(
    shared: &Shared,
    (searcher, fields): (&Searcher, &Fields),
    request: &SearchRequest<'_>,
    wanted: &Wanted,
    ranked: &[Ranked],
) -> Result<Vec<SearchHit>> {
    let found: Vec<Indexed> = ranked
        .iter()
        .filter_map(|found| Indexed::read(searcher, fields, found).transpose())
        .collect::<Result<_>>()?;
    let store = shared.store();
    let view = store.view();
    let uris: Vec<&str> = found.iter().map(|found| found.uri.as_str()).collect();
    let stored = read_many(&view, &uris)?;
    let mut snippets = Snippets::new(wanted);
    let mut hits = Vec::with_capacity(found.len());
    for (Indexed { uri, shown, score }, stored) in found.iter().zip(stored) {
        match hit(shared, &view, request, (uri, stored)) {
            Ok(Some((loaded, space))) => {
                hits.push(SearchHit {
                    uri: uri.clone(),
                    title: loaded.title(),
                    mime_type: loaded.descriptor.mime_type().unwrap_or_default(),
                    space,
                    last_modified: Some(loaded.head.order.modified).filter(|time| *time != 0),
                    score: request.access.sees_everything().then_some(*score),
                    snippet: snippet_of(loaded, shown.as_deref(), request, &mut snippets),
                });
            }
            // It is gone, or hidden, since the index was committed.
            Ok(None) => {}
            // What cannot be read keeps nobody from the other hits.
            Err(error) if error.kind() == ErrorKind::Corrupt => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hits)
}

/// What the index keeps of a hit.
struct Indexed {
    uri: String,
    shown: Option<String>,
    score: f32,
}

impl Indexed {
    fn read(searcher: &Searcher, fields: &Fields, found: &Ranked) -> Result<Option<Indexed>> {
        let address = DocAddress { segment_ord: found.segment, doc_id: found.doc };
        let document: TantivyDocument = searcher.doc(address).map_err(read_failed)?;
        let field =
            |field| document.get_first(field).and_then(|value| value.as_str()).map(str::to_owned);
        let shown = field(fields.shown_text);
        Ok(field(fields.uri).map(|uri| Indexed { uri, shown, score: found.rank.score() }))
    }
}

/// The resource and the name of its space, if the caller may see it.
fn hit(
    shared: &Shared,
    view: &View<'_>,
    request: &SearchRequest<'_>,
    (uri, stored): (&str, Stored<'_>),
) -> Result<Option<(Loaded, String)>> {
    let text_bytes = if request.snippet_bytes == 0 { 0 } else { SNIPPET_TEXT_BYTES_MAX };
    let Some(loaded) = decode(view, uri, stored, text_bytes)? else { return Ok(None) };
    let catalog = shared.catalog();
    let (space, acl) = (loaded.head.space, loaded.head.acl);
    let visible = shared.visible(&catalog, space, acl, uri, request.access)?;
    Ok(visible.map(|(space, _)| (loaded, space.settings.name.clone())))
}

fn snippet_of(
    loaded: Loaded,
    shown: Option<&str>,
    request: &SearchRequest<'_>,
    snippets: &mut Snippets<'_>,
) -> Snippet {
    if request.snippet_bytes == 0 {
        return Snippet::default();
    }
    let description = loaded.descriptor.description();
    let text = match shown {
        Some(shown) => shown
            .get(..shown.floor_char_boundary(SNIPPET_TEXT_BYTES_MAX))
            .unwrap_or_default()
            .to_owned(),
        None => loaded.into_text(),
    };
    let text = if text.is_empty() { description.unwrap_or_default() } else { text };
    snippets.of(&text, request.snippet_bytes)
}
