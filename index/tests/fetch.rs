//! The text behind the tool `fetch`: windows, fragments, several parts, folders.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use common::*;
use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::fetch_text::TextRequest;
use pressmark_index::resource::{Body, Part};
use pressmark_index::space::SpaceSettings;

fn docs() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    (folder, engine)
}

#[test]
fn a_text_is_fetched_in_windows() {
    let (_folder, engine) = docs();
    let mut resource = text("docs", "docs://h/a", "0123456789中文");
    resource.title = Some("Digits".into());
    put(&engine, resource).unwrap();
    let access = Access::anonymous();
    let fetch = |uri, offset, limit| {
        engine.fetch_text(&TextRequest { uri, access: &access, offset, limit }).unwrap()
    };
    let first = fetch("docs://h/a", 0, 10);
    assert_eq!(
        (first.text.as_str(), first.next_offset, first.total_chars),
        ("0123456789", Some(10), 12)
    );
    assert_eq!(first.title, "Digits");
    let last = fetch("docs://h/a", 10, 10);
    assert_eq!((last.text.as_str(), last.next_offset), ("中文", None));
    assert_eq!(fetch("docs://h/a", 99, 10).text, "");
    let listing = fetch("docs://h/", 0, 1_000);
    assert_eq!(listing.text, "- docs://h/a (Digits)\n");
    let mut binary = text("docs", "docs://h/b", "");
    binary.contents[0].body = Body::Blob(vec![1, 2, 3]);
    binary.contents[0].mime_type = Some("image/png".into());
    binary.mime_type = None;
    put(&engine, binary).unwrap();
    assert!(fetch("docs://h/b", 0, 1_000).text.contains("image/png, 3 bytes"));
}

#[test]
fn fetch_follows_fragments_and_its_windows_join() {
    let (_folder, engine) = docs();
    let lines: String = (0..100).map(|n| format!("line {n} \u{4e2d}\n")).collect();
    put(&engine, text("docs", "docs://h/lines", &lines)).unwrap();
    for n in 0..100 {
        put(&engine, text("docs", &format!("docs://h/folder/{n:03}"), "x")).unwrap();
    }
    let mut bundle = text("docs", "docs://h/bundle", "first");
    bundle.contents.push(Part {
        uri: Some("docs://h/bundle#2".into()),
        mime_type: Some("image/png".into()),
        meta: None,
        body: Body::Blob(vec![1; 100_000]),
    });
    bundle.contents.push(Part {
        uri: None,
        mime_type: None,
        meta: None,
        body: Body::Text("third\n".repeat(20_000)),
    });
    put(&engine, bundle).unwrap();
    let access = Access::anonymous();
    let joined = |uri: &str, limit: u64| {
        let (mut all, mut offset) = (String::new(), Some(0));
        while let Some(from) = offset {
            let fetched = engine
                .fetch_text(&TextRequest { uri, access: &access, offset: from, limit })
                .unwrap();
            assert!(fetched.text.chars().count() as u64 <= limit);
            all.push_str(&fetched.text);
            offset = fetched.next_offset;
            assert_eq!(offset.is_none(), all.chars().count() as u64 == fetched.total_chars);
        }
        all
    };
    assert_eq!(joined("docs://h/lines", 7), lines);
    assert_eq!(joined("docs://h/lines#line=10,12", 7), "line 10 \u{4e2d}\nline 11 \u{4e2d}\n");
    assert_eq!(
        joined("docs://h/lines#char=5,25", 7),
        lines.chars().skip(5).take(20).collect::<String>()
    );
    assert_eq!(joined("docs://h/folder", 100).lines().count(), 100);
    let bundle = joined("docs://h/bundle", 9_999);
    assert!(
        bundle.starts_with(
            "first\n\n--- docs://h/bundle#2\n(binary content: image/png, 100000 bytes;"
        ),
        "{bundle:.200}"
    );
    assert!(bundle.ends_with("third\n"));
    let uri = engine
        .fetch_text(&TextRequest {
            uri: "docs://h/lines#line=1,2",
            access: &access,
            offset: 0,
            limit: 9,
        })
        .unwrap()
        .uri;
    assert_eq!(uri, "docs://h/lines#line=1,2");
    let bad = TextRequest { uri: "docs://h/lines#line=x", access: &access, offset: 0, limit: 9 };
    check_error(engine.fetch_text(&bad), ErrorKind::InvalidFragment);
}

#[test]
fn fetch_finds_what_hosts_spell_differently() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("acme", "v://acme/{name}")).unwrap();
    for (space, uri) in [
        ("acme", "v://acme/report%20%281%29.md"),
        ("docs", "docs://h/x/y"),
        ("docs", "docs://h/page/"),
        ("docs", "docs://h/f"),
        ("docs", "docs://h/f/g"),
    ] {
        put(&engine, text(space, uri, "found")).unwrap();
    }
    let access = Access::anonymous();
    let fetch = |uri| {
        engine.fetch_text(&TextRequest { uri, access: &access, offset: 0, limit: 100 }).unwrap()
    };
    for (asked, stored) in [
        ("v://acme/report%20(1).md", "v://acme/report%20%281%29.md"),
        ("docs://h/x/y/", "docs://h/x/y"),
        ("docs://h/page", "docs://h/page/"),
    ] {
        let found = fetch(asked);
        assert_eq!((found.uri.as_str(), found.text.as_str()), (stored, "found"), "{asked}");
    }
    assert!(fetch("docs://h/f/").text.contains("docs://h/f/g"));
}
