//! An engine with full text, and short ways to ask it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::error::Error;
use pressmark_index::full_text::extract::AsStored;
use pressmark_index::full_text::{FullTextOptions, SearchPage, SearchRequest, SearchSort};
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Resource};
use pressmark_index::space::SpaceSettings;

use crate::common;

/// No search of these tests comes near it.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(30);

pub(crate) fn full_text_options() -> FullTextOptions {
    FullTextOptions {
        memory_bytes: 16 << 20,
        hit_cache_bytes: 1 << 20,
        threads: 1,
        commit_interval: Duration::from_millis(20),
        extract: Arc::new(AsStored),
    }
}

pub(crate) fn options() -> EngineOptions {
    EngineOptions { full_text: Some(full_text_options()), ..common::options() }
}

pub(crate) fn open(folder: &Path) -> Engine {
    Engine::open(folder, &options()).unwrap()
}

/// An engine with a space `docs` and the documents of a table: name, title, text.
pub(crate) fn library(folder: &Path, documents: &[(&str, &str, &str)]) -> Engine {
    let engine = open(folder);
    engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
    put_all(&engine, documents.iter().map(|(name, title, text)| document(name, title, text)));
    engine
}

pub(crate) fn document(name: &str, title: &str, text: &str) -> Resource {
    let address = Address::Uri(format!("docs://library/{name}"));
    let mut resource = Resource::text("docs", address, "text/plain", text);
    resource.title = Some(title.to_owned()).filter(|title| !title.is_empty());
    resource
}

pub(crate) fn put_all(engine: &Engine, resources: impl IntoIterator<Item = Resource>) {
    let puts = resources.into_iter().map(|resource| Mutation::Put(Box::new(resource))).collect();
    for result in engine.commit(puts).unwrap() {
        result.unwrap();
    }
}

/// A request for the first page of all there is, once the index has caught up.
pub(crate) fn request<'a>(
    engine: &Engine,
    query: &'a str,
    access: &'a Access,
) -> SearchRequest<'a> {
    SearchRequest {
        query,
        space: None,
        variables: &[],
        mime_type: None,
        modified: None,
        sort: SearchSort::Relevance,
        limit: 50,
        cursor: None,
        // So that what is shown is kept, and has to be forgotten.
        snippet_bytes: 100,
        after_sequence: Some(engine.log_range().newest),
        time_max: TIME_MAX,
        access,
    }
}

pub(crate) fn try_search(engine: &Engine, query: &str) -> Result<SearchPage, Error> {
    let access = Access::anonymous();
    engine.search(&request(engine, query, &access))
}

pub(crate) fn search(engine: &Engine, query: &str) -> SearchPage {
    try_search(engine, query).unwrap()
}

/// Waits until all resources were looked at: the newest change may be found before.
pub(crate) fn wait_until_made(engine: &Engine) {
    let deadline = Instant::now() + TIME_MAX;
    while engine.full_text_progress().unwrap().indexed_through < engine.log_range().newest {
        assert!(Instant::now() < deadline, "{:?}", engine.full_text_progress());
        std::thread::yield_now();
    }
}

/// The last segments of the URIs that were found, in order.
pub(crate) fn names(page: &SearchPage) -> Vec<&str> {
    page.hits.iter().map(|hit| hit.uri.rsplit('/').next().unwrap()).collect()
}

/// All pages of a request, of `limit` hits each.
pub(crate) fn pages(engine: &Engine, request: &SearchRequest<'_>, limit: usize) -> Vec<SearchPage> {
    let mut pages: Vec<SearchPage> = Vec::new();
    loop {
        let cursor = pages.last().map(|page| page.next_cursor.clone());
        let cursor = match cursor {
            Some(None) => return pages,
            Some(cursor) => cursor,
            None => None,
        };
        let request = SearchRequest { limit, cursor: cursor.as_deref(), ..*request };
        pages.push(engine.search(&request).unwrap());
    }
}
