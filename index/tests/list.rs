//! `resources/list` and `resources/templates/list`: order, pages, cursors.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use common::*;
use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::list::PageBounds;
use pressmark_index::mutation::Mutation;
use pressmark_index::space::{ListMode, SpaceSettings};

fn space(engine: &Engine, name: &str, list: ListMode) {
    let mut settings = SpaceSettings::new(name, format!("{name}://h/{{+path}}"));
    settings.list = list;
    settings.title = Some(format!("Space {name}"));
    engine.put_space(settings).unwrap();
}

fn fill(engine: &Engine, space: &str, count: usize) {
    let all = (0..count).map(|n| text(space, &format!("{space}://h/d/{n:05}"), "x"));
    for result in
        engine.commit(all.map(|resource| Mutation::Put(Box::new(resource))).collect()).unwrap()
    {
        result.unwrap();
    }
}

#[test]
fn the_most_valuable_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    space(&engine, "a", ListMode::All);
    for (name, pinned, priority, modified) in [
        ("plain-b", false, None, None),
        ("plain-a", false, None, None),
        ("pinned", true, Some(0.1), None),
        ("low", false, Some(0.2), Some(99)),
        ("high", false, Some(0.9), None),
        ("recent", false, None, Some(2_000)),
        ("older", false, None, Some(1_000)),
    ] {
        let mut resource = text("a", &format!("a://h/{name}"), "x");
        resource.pinned = pinned;
        resource.annotations.priority = priority;
        resource.annotations.last_modified = modified;
        put(&engine, resource).unwrap();
    }
    let wanted = ["pinned", "high", "recent", "older", "plain-a", "plain-b", "low"]
        .map(|name| format!("a://h/{name}"));
    for items_max in [1, 2, 3, 100] {
        assert_eq!(uris(&list_all(&engine, &Access::anonymous(), items_max)), wanted);
    }
}

#[test]
fn each_space_lists_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    for (name, mode) in [
        ("all", ListMode::All),
        ("pinned", ListMode::Pinned),
        ("none", ListMode::None),
        ("auto", ListMode::Auto),
    ] {
        space(&engine, name, mode);
        fill(&engine, name, 3);
        let mut resource = text(name, &format!("{name}://h/top"), "x");
        resource.pinned = true;
        put(&engine, resource).unwrap();
    }
    let listed = list_all(&engine, &Access::anonymous(), 3);
    assert_eq!(
        uris(&listed),
        [
            "all://h/top",
            "all://h/d/00000",
            "all://h/d/00001",
            "all://h/d/00002",
            "pinned://h/",
            "pinned://h/top",
            "auto://h/top",
            "auto://h/d/00000",
            "auto://h/d/00001",
            "auto://h/d/00002",
        ]
    );
    let root = listed.iter().find(|item| item["uri"] == "pinned://h/").unwrap();
    assert_eq!(
        (root["title"].as_str(), root["mimeType"].as_str()),
        (Some("Space pinned"), Some("inode/directory"))
    );
    // Every listed URI reads back.
    for uri in uris(&listed) {
        read(&engine, &uri).unwrap();
    }
}

#[test]
fn above_a_thousand_resources_auto_lists_pinned_ones_and_the_root_folder() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    space(&engine, "auto", ListMode::Auto);
    fill(&engine, "auto", 1_000);
    assert_eq!(list_all(&engine, &Access::anonymous(), 300).len(), 1_000);
    let mut resource = text("auto", "auto://h/top", "x");
    resource.pinned = true;
    put(&engine, resource).unwrap();
    assert_eq!(uris(&list_all(&engine, &Access::anonymous(), 1)), ["auto://h/", "auto://h/top"]);
    delete(&engine, "auto://h/d/00500");
    assert_eq!(list_all(&engine, &Access::anonymous(), 300).len(), 1_000);
}

#[test]
fn nothing_is_skipped_or_repeated_while_the_list_changes() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    space(&engine, "a", ListMode::All);
    fill(&engine, "a", 100);
    let access = Access::anonymous();
    let bounds = PageBounds { items_max: 10, bytes_max: 1 << 20 };
    let mut cursor = None;
    let mut seen = Vec::new();
    loop {
        let page = engine.list(cursor.as_deref(), &access, bounds).unwrap();
        for item in &page.items {
            let mut json = Vec::new();
            item.write(ALL_FIELDS, &mut json);
            let item: serde_json::Value = serde_json::from_slice(&json).unwrap();
            seen.push(item["uri"].as_str().unwrap().to_owned());
        }
        // The entry at the cursor goes, and one before it comes.
        delete(&engine, seen.last().unwrap());
        put(&engine, text("a", &format!("a://h/c/{}", seen.len()), "new")).unwrap();
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, (0..100).map(|n| format!("a://h/d/{n:05}")).collect::<Vec<_>>());
}

#[test]
fn a_page_is_bounded_in_bytes_and_never_empty() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    space(&engine, "a", ListMode::All);
    fill(&engine, "a", 10);
    let bounds = PageBounds { items_max: 1_000, bytes_max: 1 };
    let page = engine.list(None, &Access::anonymous(), bounds).unwrap();
    assert_eq!(page.items.len(), 1);
    assert!(page.next_cursor.is_some());
}

#[test]
fn a_cursor_is_good_for_its_list_and_store_only() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let engines = [open(folders[0].path()), open(folders[1].path())];
    for engine in &engines {
        space(engine, "a", ListMode::All);
        space(engine, "b", ListMode::All);
        fill(engine, "a", 5);
    }
    let access = Access::anonymous();
    let bounds = PageBounds { items_max: 1, bytes_max: 1 << 20 };
    let resources = engines[0].list(None, &access, bounds).unwrap().next_cursor.unwrap();
    let templates = engines[0].list_templates(None, &access, bounds).unwrap().next_cursor.unwrap();
    assert!(engines[0].list(Some(&resources), &access, bounds).is_ok());
    let second = engines[0].list_templates(Some(&templates), &access, bounds).unwrap();
    assert_eq!(second.spaces[0].settings.name, "b");
    assert!(second.next_cursor.is_none());
    for (engine, cursor) in
        [(0, "bogus"), (0, ""), (0, "5"), (0, templates.as_str()), (1, resources.as_str())]
    {
        check_error(engines[engine].list(Some(cursor), &access, bounds), ErrorKind::InvalidCursor);
    }
    check_error(
        engines[0].list_templates(Some(&resources), &access, bounds),
        ErrorKind::InvalidCursor,
    );
}

#[test]
fn a_space_that_outgrows_the_bound_is_listed_to_the_end_as_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    space(&engine, "auto", ListMode::Auto);
    fill(&engine, "auto", 1_000);
    let access = Access::anonymous();
    let bounds = PageBounds { items_max: 250, bytes_max: 1 << 20 };
    let first = engine.list(None, &access, bounds).unwrap();
    put(&engine, text("auto", "auto://h/z", "one more")).unwrap();
    let (mut count, mut cursor) = (first.items.len(), first.next_cursor);
    while let Some(after) = cursor {
        let page = engine.list(Some(&after), &access, bounds).unwrap();
        count += page.items.len();
        cursor = page.next_cursor;
    }
    assert_eq!(count, 1_001);
    assert_eq!(list_all(&engine, &access, 250).len(), 1, "a new walk sees the root folder");
}
