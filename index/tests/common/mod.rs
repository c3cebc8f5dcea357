//! What the engine's tests share: an engine in a folder of its own, and short ways to ask it.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

pub mod child;

use std::path::Path;
use std::time::Duration;

use pressmark_index::access::Access;
use pressmark_index::contents::Contents;
use pressmark_index::contents_fragment::WireFields;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::error::{Error, ErrorKind};
use pressmark_index::list::PageBounds;
use pressmark_index::mutation::{Applied, Mutation};
use pressmark_index::read::{ReadOutcome, ReadRequest, Tier};
use pressmark_index::resource::{Address, Resource};
use pressmark_index::writer::Durability;
use serde_json::Value;

pub const ALL_FIELDS: WireFields =
    WireFields { title: true, icons: true, meta: true, last_modified: true };
pub const BYTES_MAX: usize = 8 << 20;

pub fn options() -> EngineOptions {
    EngineOptions {
        block_cache_bytes: 16 << 20,
        hot_cache_bytes: 1 << 20,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        full_text: None,
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(3600),
        owner: "a test".into(),
    }
}

pub fn open(folder: &Path) -> Engine {
    Engine::open(folder, &options()).unwrap()
}

/// A text resource at a URI.
pub fn text(space: &str, uri: &str, text: &str) -> Resource {
    Resource::text(space, Address::Uri(uri.into()), "text/plain", text)
}

pub fn put(engine: &Engine, resource: Resource) -> Result<Applied, Error> {
    engine.commit(vec![Mutation::Put(Box::new(resource))]).unwrap().remove(0)
}

pub fn delete(engine: &Engine, uri: &str) -> Applied {
    engine.commit(vec![Mutation::Delete { uri: uri.into() }]).unwrap().remove(0).unwrap()
}

/// Reads as the transports do: from memory first, then from the disk.
pub fn read_bounded(
    engine: &Engine,
    uri: &str,
    access: &Access,
    bytes_max: usize,
) -> Result<Contents, Error> {
    for tier in [Tier::Memory, Tier::Disk] {
        if let ReadOutcome::Contents(contents) =
            engine.read(&ReadRequest { uri, access, bytes_max, tier })?
        {
            return Ok(contents);
        }
    }
    panic!("{uri}: a read from the disk did not come to an end")
}

/// The `contents` array of a reply.
pub fn read_as(engine: &Engine, uri: &str, access: &Access) -> Result<Value, Error> {
    let contents = read_bounded(engine, uri, access, BYTES_MAX)?;
    let mut json = Vec::new();
    contents.write_array(uri, ALL_FIELDS, &mut json)?;
    assert!(json.len() <= contents.encoded_bytes(uri) + json.len() / 8, "one allocation as a rule");
    Ok(serde_json::from_slice(&json).unwrap())
}

pub fn read(engine: &Engine, uri: &str) -> Result<Value, Error> {
    read_as(engine, uri, &Access::anonymous())
}

/// The text of the first entry.
pub fn read_text(engine: &Engine, uri: &str) -> String {
    let contents = read(engine, uri).unwrap_or_else(|error| panic!("{error}"));
    contents[0]["text"].as_str().unwrap().to_owned()
}

#[track_caller]
pub fn check_not_found(engine: &Engine, uri: &str) {
    check_error(read(engine, uri), ErrorKind::NotFound);
}

#[track_caller]
pub fn check_error<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    error.to_string()
}

/// All pages of `resources/list`, of `items_max` items each.
pub fn list_all(engine: &Engine, access: &Access, items_max: usize) -> Vec<Value> {
    let mut items = Vec::new();
    let mut cursor = None;
    loop {
        let bounds = PageBounds { items_max, bytes_max: 1 << 20 };
        let page = engine.list(cursor.as_deref(), access, bounds).unwrap();
        for item in &page.items {
            let mut json = Vec::new();
            item.write(ALL_FIELDS, &mut json);
            items.push(serde_json::from_slice(&json).unwrap());
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return items,
        }
    }
}

pub fn uris(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| item["uri"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
pub fn check_clean(engine: &Engine) {
    let report = engine.verify(&mut |_| ()).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
}
