//! Resources come back as they were put, page by page, and changes can be made conditional on a version.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use common::*;
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::mutation::{Applied, Mutation, Outcome};
use pressmark_index::resource::{
    Address, Annotations, Body, Part, RawJson, Resource, Role, SourceMark,
};
use pressmark_index::space::SpaceSettings;
use pressmark_index::stored::ScanRequest;

fn engine() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    (folder, engine)
}

fn full(uri: &str) -> Resource {
    let large = "line of text with \"quotes\" and ü\r\n".repeat(5_000);
    let part = |uri: Option<&str>, mime_type: &str, body| Part {
        uri: uri.map(str::to_owned),
        mime_type: Some(mime_type.to_owned()),
        meta: Some(RawJson("{\"a\":[1]}".to_owned())),
        body,
    };
    Resource {
        space: "docs".to_owned(),
        address: Address::Uri(uri.to_owned()),
        name: Some("na\"me".to_owned()),
        title: Some("Title".to_owned()),
        description: Some("one\ntwo".to_owned()),
        mime_type: Some("text/plain".to_owned()),
        contents: vec![
            part(None, "text/plain", Body::Text(large)),
            part(Some("docs://h/other#x"), "image/png", Body::Blob(vec![0, 255, 7])),
            part(None, "application/zip", Body::Blob(vec![9; 100_000])),
        ],
        annotations: Annotations {
            audience: vec![Role::Assistant, Role::User],
            priority: Some(0.123_456_789),
            last_modified: Some(1_736_694_058_123),
        },
        size: Some(77),
        icons: Some(RawJson("[{\"src\":\"https://h/i.png\"}]".to_owned())),
        meta: Some(RawJson("{\"k\":{\"v\":null}}".to_owned())),
        pinned: true,
        acl: Some(vec!["editors".to_owned(), "staff".to_owned()]),
        source: Some(SourceMark { source_id: 9, fingerprint: vec![1, 2] }),
    }
}

fn apply(engine: &Engine, mutation: Mutation) -> Result<Applied, pressmark_index::error::Error> {
    engine.commit(vec![mutation]).unwrap().remove(0)
}

#[test]
fn everything_of_a_resource_comes_back() {
    let (_folder, engine) = engine();
    let resource = full("docs://h/a%20b");
    let applied = apply(&engine, Mutation::Put(Box::new(resource.clone()))).unwrap();
    let stored = engine.stored("docs://h/a%20b").unwrap();
    assert_eq!(stored.resource, resource);
    assert_eq!((stored.version, Some(stored.sequence)), (1, applied.sequence));
    // Put again as it came back: nothing has changed.
    let again = apply(&engine, Mutation::Put(Box::new(stored.resource))).unwrap();
    assert_eq!(again.outcome, Outcome::Unchanged);
    check_error(engine.stored("docs://h/none"), ErrorKind::NotFound);
}

#[test]
fn what_a_record_does_not_say_is_filled_in() {
    let (_folder, engine) = engine();
    put(&engine, text("docs", "docs://h/a/b", "ü")).unwrap();
    let stored = engine.stored("docs://h/a/b").unwrap().resource;
    assert_eq!(stored.name.as_deref(), Some("b"));
    assert_eq!(stored.size, Some(2));
    assert_eq!(stored.annotations, Annotations::default());
    assert_eq!((stored.acl, stored.pinned, stored.icons, stored.meta), (None, false, None, None));
}

#[test]
fn pages_of_a_scan_hold_everything_once() {
    let (_folder, engine) = engine();
    // The second space lies within the literal of the first.
    engine.put_space(SpaceSettings::new("years", "docs://h/y/{year}/{name}")).unwrap();
    let mut wanted = Vec::new();
    for number in 0..25 {
        let uri = format!("docs://h/a/{number:02}");
        put(&engine, text("docs", &uri, "x")).unwrap();
        wanted.push(uri);
        put(&engine, text("years", &format!("docs://h/y/{number}/n"), "y")).unwrap();
    }
    put(&engine, text("docs", "docs://h/z", "z")).unwrap();
    wanted.push("docs://h/z".to_owned());
    let scan = |space, uri_prefix, without_bodies| {
        let mut uris = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = engine
                .scan(&ScanRequest {
                    space,
                    uri_prefix,
                    after_uri: after.as_deref(),
                    without_bodies,
                    count_max: 7,
                    bytes_max: usize::MAX,
                })
                .unwrap();
            for stored in page.resources {
                let Address::Uri(uri) = stored.resource.address else { unreachable!() };
                let body = stored.resource.contents.first().unwrap().body.is_empty();
                assert_eq!(body, without_bodies, "{uri}");
                uris.push(uri);
            }
            match page.after_uri {
                Some(uri) => after = Some(uri),
                None => return uris,
            }
        }
    };
    assert_eq!(scan(Some("docs"), "", false), wanted);
    assert_eq!(scan(Some("docs"), "docs://h/a/1", true), wanted[10..20]);
    assert_eq!(scan(Some("docs"), "doc", true), wanted);
    assert_eq!(scan(None, "", true).len(), 51);
    assert_eq!(scan(Some("years"), "docs://h/a", true), Vec::<String>::new());
    let request = ScanRequest {
        space: Some("none"),
        uri_prefix: "",
        after_uri: None,
        without_bodies: true,
        count_max: 1,
        bytes_max: 1,
    };
    check_error(engine.scan(&request), ErrorKind::NotFound);
}

#[test]
fn a_change_may_depend_on_the_version() {
    let (_folder, engine) = engine();
    let when = |expected, then| Mutation::IfVersion { expected, then: Box::new(then) };
    let write = |body: &str| Mutation::Put(Box::new(text("docs", "docs://h/a", body)));
    let delete = || Mutation::Delete { uri: "docs://h/%61".to_owned() };

    assert_eq!(apply(&engine, when(0, write("one"))).unwrap().version, 1);
    let message = check_error(apply(&engine, when(0, write("two"))), ErrorKind::VersionMismatch);
    assert!(message.contains("version 1"), "{message}");
    check_error(apply(&engine, when(2, delete())), ErrorKind::VersionMismatch);
    assert_eq!(engine.stored("docs://h/a").unwrap().version, 1);

    // Within one commit each sees what was before it.
    let results = engine
        .commit(vec![
            when(1, write("two")),
            when(1, write("three")),
            when(2, delete()),
            when(0, write("four")),
        ])
        .unwrap();
    let versions: Vec<_> = results
        .into_iter()
        .map(|result| result.map(|applied| applied.version).map_err(|error| error.kind()))
        .collect();
    assert_eq!(versions, [Ok(2), Err(ErrorKind::VersionMismatch), Ok(2), Ok(3)]);

    let wrong = Mutation::Put(Box::new(text("docs", "other://h/a", "x")));
    check_error(apply(&engine, when(7, wrong)), ErrorKind::InvalidRecord);
}
