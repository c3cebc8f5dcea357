//! Committing: versions, the change log, refusals, spaces, idempotency, the lock, reopening.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::*;
use pressmark_index::access::Access;
use pressmark_index::engine::{Committed, Engine, EngineOptions};
use pressmark_index::error::ErrorKind;
use pressmark_index::mutation::{Applied, ChangeKind, Mutation, Outcome};
use pressmark_index::resource::{Address, Binding, Resource, SourceMark, Value};
use pressmark_index::space::{ListMode, SpaceSettings};

fn engine() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    (folder, engine)
}

fn summary(applied: &Applied) -> (Outcome, u64, Option<u64>) {
    (applied.outcome, applied.version, applied.sequence)
}

#[test]
fn versions_count_changes_and_go_on_after_a_deletion() {
    let (folder, engine) = engine();
    let one = || text("docs", "docs://h/a", "one");
    assert_eq!(summary(&put(&engine, one()).unwrap()), (Outcome::Created, 1, Some(1)));
    assert_eq!(summary(&put(&engine, one()).unwrap()), (Outcome::Unchanged, 1, None));
    assert_eq!(
        summary(&put(&engine, text("docs", "docs://h/a", "two")).unwrap()),
        (Outcome::Updated, 2, Some(2))
    );
    assert_eq!(summary(&delete(&engine, "docs://h/a")), (Outcome::Deleted, 2, Some(3)));
    assert_eq!(summary(&delete(&engine, "docs://h/a")), (Outcome::Absent, 2, None));
    drop(engine);
    let engine = open(folder.path());
    assert_eq!(summary(&put(&engine, one()).unwrap()), (Outcome::Created, 3, Some(4)));
    let changes = engine.changes_after(0, 100).unwrap();
    assert_eq!(
        changes
            .iter()
            .map(|change| (change.sequence, change.kind, change.version))
            .collect::<Vec<_>>(),
        [
            (1, ChangeKind::Created, 1),
            (2, ChangeKind::Updated, 2),
            (3, ChangeKind::Deleted, 2),
            (4, ChangeKind::Created, 3)
        ]
    );
    assert_eq!(engine.changes_after(3, 100).unwrap().len(), 1);
    assert_eq!(engine.changes_after(0, 2).unwrap().len(), 2);
    assert!(engine.changes_after(4, 2).unwrap().is_empty());
    check_clean(&engine);
}

#[test]
fn a_time_that_changes_alone_notifies_nobody_and_shows_in_the_list() {
    let (_folder, engine) = engine();
    let at = |modified: i64, fingerprint: u8| {
        let mut resource = text("docs", "docs://h/a", "same");
        resource.annotations.last_modified = Some(modified);
        resource.source = Some(SourceMark { source_id: 7, fingerprint: vec![fingerprint] });
        resource
    };
    put(&engine, at(1_000, 1)).unwrap();
    assert_eq!(summary(&put(&engine, at(2_000, 2)).unwrap()), (Outcome::Unchanged, 1, None));
    let listed = list_all(&engine, &Access::anonymous(), 10);
    assert_eq!(listed[0]["annotations"]["lastModified"], "1970-01-01T00:00:02Z");
    assert_eq!(engine.source_fingerprint(7, "docs://h/a").unwrap(), Some(vec![2]));
    let mut uris = Vec::new();
    engine
        .each_of_source(7, |uri| {
            uris.push(uri.to_owned());
            Ok(())
        })
        .unwrap();
    assert_eq!(uris, ["docs://h/a"]);
    check_clean(&engine);
}

#[test]
fn changes_carry_the_acls_before_and_after() {
    let (_folder, engine) = engine();
    let with = |acl: Option<&[&str]>| {
        let mut resource = text("docs", "docs://h/a", "x");
        resource.acl = acl.map(|groups| groups.iter().map(|group| (*group).to_owned()).collect());
        resource
    };
    put(&engine, with(None)).unwrap();
    put(&engine, with(Some(&["b", "a", "b"]))).unwrap();
    put(&engine, with(Some(&[]))).unwrap();
    delete(&engine, "docs://h/a");
    let acls: Vec<_> =
        engine.changes_after(0, 10).unwrap().into_iter().map(|c| (c.old_acl, c.new_acl)).collect();
    let groups = |names: &[&str]| {
        Some(Arc::from(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()))
    };
    assert_eq!(
        acls,
        [
            (None, None),
            (None, groups(&["a", "b"])),
            (groups(&["a", "b"]), groups(&[])),
            (groups(&[]), None)
        ]
    );
    check_clean(&engine);
}

#[test]
fn a_refused_record_leaves_no_trace_and_keeps_no_other_out() {
    let (_folder, engine) = engine();
    let mut bad_priority = text("docs", "docs://h/bad", "x");
    bad_priority.annotations.priority = Some(f64::NAN);
    let mut empty = text("docs", "docs://h/empty", "x");
    empty.contents.clear();
    let mutations = [
        text("docs", "docs://h/good-1", "x"),
        bad_priority,
        text("nowhere", "docs://h/x", "x"),
        text("docs", "other://h/x", "x"),
        text("docs", "docs://h/%E9", "x"),
        text("docs", "docs://h/100%", "x"),
        empty,
        text("docs", "docs://h/good-2", "x"),
    ];
    let results = engine.commit(mutations.map(|r| Mutation::Put(Box::new(r))).into()).unwrap();
    let kinds: Vec<_> =
        results.iter().map(|result| result.as_ref().err().map(|error| error.kind())).collect();
    assert_eq!(
        kinds,
        [
            None,
            Some(ErrorKind::InvalidRecord),
            Some(ErrorKind::NotFound),
            Some(ErrorKind::InvalidRecord),
            Some(ErrorKind::InvalidUri),
            Some(ErrorKind::InvalidUri),
            Some(ErrorKind::InvalidRecord),
            None,
        ]
    );
    assert_eq!(list_all(&engine, &Access::operator(), 10).len(), 2);
    assert_eq!(engine.log_range().newest, 2);
    check_clean(&engine);
}

#[test]
fn bindings_must_come_back_from_the_uri() {
    let (_folder, engine) = engine();
    engine.put_space(SpaceSettings::new("data", "data://{path}/info")).unwrap();
    let by = |space: &str, name: &str, value: &str| {
        let mut resource = text(space, "", "x");
        resource.address = Address::Variables(vec![Binding {
            name: name.into(),
            value: Value::String(value.into()),
        }]);
        resource
    };
    let applied = put(&engine, by("data", "path", "hello/world")).unwrap();
    assert_eq!(applied.uri, "data://hello%2Fworld/info");
    assert_eq!(read_text(&engine, "data://hello%2Fworld/info"), "x");
    let message = check_error(put(&engine, by("data", "paht", "x")), ErrorKind::InvalidRecord);
    assert!(message.contains("paht"), "{message}");
    // Values of `{+x}` are URI-spelled: another spelling of the same is no other value.
    assert_eq!(put(&engine, by("docs", "path", "a b")).unwrap().uri, "docs://h/a%20b");
    assert_eq!(put(&engine, by("docs", "path", "a//b?c")).unwrap().uri, "docs://h/a//b?c");
}

#[test]
fn a_uri_belongs_to_one_space() {
    let (_folder, engine) = engine();
    engine.put_space(SpaceSettings::new("twin", "docs://h/{name}")).unwrap();
    put(&engine, text("docs", "docs://h/a", "x")).unwrap();
    let message = check_error(put(&engine, text("twin", "docs://h/a", "x")), ErrorKind::Conflict);
    assert!(message.contains("`docs`"), "{message}");
}

#[test]
fn spaces_are_checked_when_they_are_added() {
    let (_folder, engine) = engine();
    for (name, template, kind, says) in [
        ("x", "x://{a}{b}", ErrorKind::InvalidTemplate, "at byte"),
        ("x", "x://{a:3}", ErrorKind::InvalidTemplate, "at byte"),
        ("x", "x://{a", ErrorKind::InvalidTemplate, "at byte"),
        ("X", "x://h/{a}", ErrorKind::InvalidRecord, "name"),
        ("docs2", "docs://h/{+path}", ErrorKind::Conflict, "`docs`"),
    ] {
        let message = check_error(engine.put_space(SpaceSettings::new(name, template)), kind);
        assert!(message.contains(says), "{template}: {message}");
    }
    put(&engine, text("docs", "docs://h/a", "x")).unwrap();
    let message = check_error(
        engine.put_space(SpaceSettings::new("docs", "docs://other/{+path}")),
        ErrorKind::Conflict,
    );
    assert!(message.contains("remove"), "{message}");
    let mut settings = SpaceSettings::new("docs", "docs://h/{+path}");
    settings.list = ListMode::None;
    engine.put_space(settings).unwrap();
    assert!(list_all(&engine, &Access::operator(), 10).is_empty());
}

#[test]
fn a_removed_space_takes_its_resources_with_it() {
    let (folder, engine) = engine();
    engine.put_space(SpaceSettings::new("other", "other://h/{+path}")).unwrap();
    let all =
        (0..25_000).map(|n| Mutation::Put(Box::new(text("docs", &format!("docs://h/{n}"), "x"))));
    engine.commit(all.collect()).unwrap();
    put(&engine, text("other", "other://h/a", "x")).unwrap();
    assert_eq!(engine.remove_space("docs").unwrap(), 25_000);
    check_not_found(&engine, "docs://h/1");
    check_clean(&engine);
    assert_eq!(engine.changes_after(25_001, 100_000).unwrap().len(), 25_000);
    check_error(engine.remove_space("docs"), ErrorKind::NotFound);
    let id = engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    assert_eq!(id.0, 3, "numbers are never used again");
    drop(engine);
    let engine = open(folder.path());
    assert_eq!(read_text(&engine, "other://h/a"), "x");
    check_clean(&engine);
}

#[test]
fn a_commit_with_a_key_is_applied_once() {
    let (folder, engine) = engine();
    let commit = |engine: &Engine| {
        engine
            .commit_once(b"key-1", vec![Mutation::Put(Box::new(text("docs", "docs://h/a", "x")))])
            .unwrap()
    };
    assert!(matches!(commit(&engine), Committed::Now(results) if results.len() == 1));
    delete(&engine, "docs://h/a");
    assert!(matches!(commit(&engine), Committed::Before { before: 0, last: 1 }));
    drop(engine);
    let engine = open(folder.path());
    assert!(matches!(commit(&engine), Committed::Before { before: 0, last: 1 }));
    check_not_found(&engine, "docs://h/a");
}

#[test]
fn what_is_older_than_the_retention_goes() {
    let (folder, engine) = engine();
    put(&engine, text("docs", "docs://h/a", "x")).unwrap();
    delete(&engine, "docs://h/a");
    let commit = |engine: &Engine| {
        let put = Mutation::Put(Box::new(text("docs", "docs://h/b", "x")));
        engine.commit_once(b"key", vec![put]).unwrap()
    };
    commit(&engine);
    drop(engine);
    let options = EngineOptions { change_log_retention: Duration::ZERO, ..options() };
    let engine = Engine::open(folder.path(), &options).unwrap();
    put(&engine, text("docs", "docs://h/c", "x")).unwrap();
    assert_eq!((engine.log_range().oldest, engine.log_range().newest), (4, 4));
    let message = check_error(engine.changes_after(2, 10), ErrorKind::LimitExceeded);
    assert!(message.contains("snapshot"), "{message}");
    assert_eq!(engine.changes_after(3, 10).unwrap().len(), 1);
    assert!(matches!(commit(&engine), Committed::Now(_)), "its key is forgotten");
    assert_eq!(put(&engine, text("docs", "docs://h/a", "x")).unwrap().version, 1);
    check_clean(&engine);
}

#[test]
fn commits_of_many_threads_are_all_applied() {
    let (_folder, engine) = engine();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let engine = &engine;
            scope.spawn(move || {
                for n in 0..50 {
                    put(engine, text("docs", &format!("docs://h/{thread}/{n}"), "x")).unwrap();
                    put(engine, text("docs", "docs://h/shared", &format!("{thread} {n}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(list_all(&engine, &Access::anonymous(), 1_000).len(), 401);
    let sequences: Vec<_> =
        engine.changes_after(0, 10_000).unwrap().iter().map(|change| change.sequence).collect();
    assert_eq!(sequences, (1..=engine.log_range().newest).collect::<Vec<_>>());
    check_clean(&engine);
}

#[test]
fn a_second_owner_is_refused_with_the_name_of_the_first() {
    let (folder, engine) = engine();
    let message =
        check_error(Engine::open(folder.path(), &options()).map(|_| ()), ErrorKind::Locked);
    assert!(message.contains("owned by a test"), "{message}");
    drop(engine);
    open(folder.path());
}

#[test]
fn fields_that_clients_would_choke_on_are_refused() {
    let (_folder, engine) = engine();
    let with = |change: &dyn Fn(&mut Resource)| {
        let mut resource = text("docs", "docs://h/a", "x");
        change(&mut resource);
        put(&engine, resource).unwrap_err().to_string()
    };
    for (message, says) in [
        (with(&|r| r.mime_type = Some("bogus".into())), "mimeType is `bogus`"),
        (with(&|r| r.mime_type = Some(String::new())), "mimeType is ``"),
        (with(&|r| r.contents[0].mime_type = Some("a/b\nc".into())), "mimeType"),
        (with(&|r| r.contents[0].uri = Some("not a uri".into())), "no URI"),
        (with(&|r| r.contents[0].uri = Some("x:%E9".into())), "UTF-8"),
        (with(&|r| r.acl = Some(vec![String::new()])), "group"),
        (with(&|r| r.title = Some("x".repeat(70_000))), "at most 65536"),
    ] {
        assert!(message.contains(says), "{message}");
    }
    assert_eq!(engine.log_range().newest, 0);
}

#[test]
fn a_commit_is_told_when_it_can_be_read() {
    let (_folder, engine) = engine();
    let engine = Arc::new(engine);
    let (tell, told) = std::sync::mpsc::sync_channel(16);
    let reader = Arc::downgrade(&engine);
    engine.on_commit(Box::new(move |newest| {
        let changes = reader.upgrade().map(|engine| engine.changes_after(0, 100).unwrap().len());
        tell.try_send((newest, changes)).unwrap();
    }));
    for (uri, body) in [("docs://h/a", "one"), ("docs://h/a", "one"), ("docs://h/b", "two")] {
        put(&engine, text("docs", uri, body)).unwrap();
    }
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [(1, Some(1)), (1, Some(1)), (2, Some(2))]);
}

#[test]
fn changes_say_whether_lists_of_pinned_resources_show_them() {
    let (_folder, engine) = engine();
    let resource = |pinned, acl: Option<&str>, body| {
        let acl = acl.map(|group| vec![group.to_owned()]);
        Resource { pinned, acl, ..text("docs", "docs://h/a", body) }
    };
    for (pinned, acl, body, expected) in [
        (false, None, "one", false),
        (true, None, "one", true),
        (true, None, "two", false),
        (true, Some("staff"), "two", true),
        (false, Some("staff"), "two", true),
        (false, None, "two", false),
        (true, None, "two", true),
    ] {
        let applied = put(&engine, resource(pinned, acl, body)).unwrap();
        let change = engine.changes_after(applied.sequence.unwrap() - 1, 1).unwrap().remove(0);
        assert_eq!(change.pinned_list, expected, "{pinned} {acl:?} {body}");
    }
    let deleted = delete(&engine, "docs://h/a").sequence.unwrap();
    assert!(engine.changes_after(deleted - 1, 1).unwrap()[0].pinned_list);
}
