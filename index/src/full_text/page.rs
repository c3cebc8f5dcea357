//! The hits of a page, read from the store: what is shown is what the caller may see now.

use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument};

use super::plan::read_failed;
use super::rank::Ranked;
use super::request::{SearchHit, SearchRequest};
use super::schema::Fields;
use super::snippet::{self, Snippet, Wanted};
use super::source::{Loaded, load};
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
    let store = shared.store();
    let view = store.view();
    let mut hits = Vec::with_capacity(ranked.len());
    for found in ranked {
        let address = DocAddress { segment_ord: found.segment, doc_id: found.doc };
        let document: TantivyDocument = searcher.doc(address).map_err(read_failed)?;
        let field = |field| document.get_first(field).and_then(|value| value.as_str());
        let Some(uri) = field(fields.uri) else { continue };
        let shown = field(fields.shown_text);
        match hit(shared, &view, request, uri) {
            Ok(Some((loaded, space))) => {
                hits.push(SearchHit {
                    uri: uri.to_owned(),
                    title: loaded.title(),
                    mime_type: loaded.descriptor.mime_type().unwrap_or_default(),
                    space,
                    last_modified: Some(loaded.head.order.modified).filter(|time| *time != 0),
                    score: found.rank.score(),
                    snippet: snippet_of(loaded, shown, request, wanted),
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

/// The resource and the name of its space, if the caller may see it.
fn hit(
    shared: &Shared,
    view: &View<'_>,
    request: &SearchRequest<'_>,
    uri: &str,
) -> Result<Option<(Loaded, String)>> {
    let text_bytes = if request.snippet_bytes == 0 { 0 } else { SNIPPET_TEXT_BYTES_MAX };
    let Some(loaded) = load(view, uri, text_bytes)? else { return Ok(None) };
    let catalog = shared.catalog();
    let (space, acl) = (loaded.head.space, loaded.head.acl);
    let visible = shared.visible(&catalog, space, acl, uri, request.access)?;
    Ok(visible.map(|(space, _)| (loaded, space.settings.name.clone())))
}

fn snippet_of(
    loaded: Loaded,
    shown: Option<&str>,
    request: &SearchRequest<'_>,
    wanted: &Wanted,
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
    snippet::snippet(&text, wanted, request.snippet_bytes)
}
