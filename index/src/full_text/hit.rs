//! What is shown of a resource that was found: read from the store, and kept while it is found often.
//!
//! A hit takes two values out of the store, a descriptor and contents, and decoding both: for ten hits that was a third of
//! what a quick search took.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::source::{Loaded, decode, read_many};
use crate::error::Result;
use crate::hot_values::{Hot, HotValues};
use crate::resource::UnixMillis;
use crate::shared::Shared;
use crate::space::SpaceId;
use crate::store::value::AclId;

/// What a search shows of a resource, whoever asks.
#[derive(Debug)]
pub(crate) struct HotHit {
    pub(super) space: SpaceId,
    pub(super) acl: AclId,
    pub(super) version: u64,
    pub(super) title: String,
    pub(super) mime_type: String,
    pub(super) modified: Option<UnixMillis>,
    pub(super) description: Option<String>,
    /// The beginning of its text.
    pub(super) text: String,
}

impl Hot for HotHit {
    fn heap_bytes(&self) -> usize {
        let description = self.description.as_ref().map_or(0, String::capacity);
        let texts = [&self.title, &self.mime_type, &self.text];
        description + texts.iter().map(|text| text.capacity()).sum::<usize>()
    }
}

impl From<Loaded> for HotHit {
    fn from(loaded: Loaded) -> HotHit {
        HotHit {
            space: loaded.head.space,
            acl: loaded.head.acl,
            version: loaded.head.version,
            title: loaded.title(),
            mime_type: loaded.descriptor.mime_type().unwrap_or_default(),
            modified: Some(loaded.head.order.modified).filter(|time| *time != 0),
            description: loaded.descriptor.description(),
            text: loaded.into_text(),
        }
    }
}

/// The resources of a page in its order, each with up to `text_bytes_max` bytes of text; `None`: it is gone.
pub(super) fn read(
    shared: &Shared,
    kept: &HotValues<HotHit>,
    uris: &[&str],
    text_bytes_max: usize,
) -> Result<Vec<Result<Option<Arc<HotHit>>>>> {
    let hits: Vec<Option<Arc<HotHit>>> = uris.iter().map(|uri| kept.get(uri)).collect();
    let missing = uris.iter().zip(&hits).filter(|(_, hit)| hit.is_none());
    let missing: Vec<&str> = missing.map(|(uri, _)| *uri).collect();
    if missing.is_empty() {
        return Ok(hits.into_iter().map(Ok).collect());
    }
    // Before the store is read: what a commit replaces from now on is not kept.
    let noted = shared.newest().load(Ordering::Acquire);
    let store = shared.store();
    let view = store.view();
    let mut stored = read_many(&view, &missing)?.into_iter();
    let mut read = |uri: &str| {
        let Some(stored) = stored.next() else { return Ok(None) };
        let Some(loaded) = decode(&view, uri, stored, text_bytes_max)? else { return Ok(None) };
        let hit = Arc::new(HotHit::from(loaded));
        if text_bytes_max > 0 && kept.wants(hit.heap_bytes()) {
            kept.offer(uri, Arc::clone(&hit), noted, shared.newest());
        }
        Ok(Some(hit))
    };
    let hits = uris.iter().zip(hits);
    Ok(hits.map(|(uri, hit)| hit.map_or_else(|| read(uri), |hit| Ok(Some(hit)))).collect())
}
