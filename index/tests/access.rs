//! What a caller may see: totals, lists, folders and spellings included.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use common::*;
use pressmark_index::access::{Access, RequiredValue};
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::fetch_text::TextRequest;
use pressmark_index::space::{AliasClash, CacheScope, SpaceSettings};

fn docs() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    (folder, engine)
}

#[test]
fn what_one_may_not_see_is_answered_like_what_is_not_there() {
    let (_folder, engine) = docs();
    let mut secret = text("docs", "docs://h/s/secret.md", "hush");
    secret.acl = Some(vec!["staff".into(), "board".into()]);
    put(&engine, secret).unwrap();
    put(&engine, text("docs", "docs://h/open.md", "all")).unwrap();
    let anonymous = Access::anonymous();
    let staff = Access::anonymous().with_groups(["staff"]);
    let hidden = read_as(&engine, "docs://h/s/secret.md", &anonymous).unwrap_err();
    let absent = read_as(&engine, "docs://h/s/absent.md", &anonymous).unwrap_err();
    assert_eq!(hidden.detail(), absent.detail());
    for uri in ["docs://h/s/secret.md#line=0,1", "docs://h/s/", "docs://h/s/secret.md?x"] {
        check_error(read_as(&engine, uri, &anonymous), ErrorKind::NotFound);
    }
    assert_eq!(read_as(&engine, "docs://h/s/secret.md", &staff).unwrap()[0]["text"], "hush");
    assert_eq!(
        uris(read_as(&engine, "docs://h/", &anonymous).unwrap().as_array().unwrap()),
        ["docs://h/open.md"]
    );
    assert_eq!(
        uris(read_as(&engine, "docs://h/", &staff).unwrap().as_array().unwrap()),
        ["docs://h/open.md", "docs://h/s/"]
    );
    assert_eq!(list_all(&engine, &anonymous, 10).len(), 1);
    assert_eq!(list_all(&engine, &staff, 10).len(), 2);
    let contents = read_bounded(&engine, "docs://h/s/secret.md", &staff, BYTES_MAX).unwrap();
    assert_eq!(contents.cache_scope, CacheScope::Private);
    let fetch =
        TextRequest { uri: "docs://h/s/secret.md", access: &anonymous, offset: 0, limit: 10 };
    check_error(engine.fetch_text(&fetch), ErrorKind::NotFound);
    let other_spaces = Access::operator().with_spaces(["other"]);
    check_error(read_as(&engine, "docs://h/open.md", &other_spaces), ErrorKind::NotFound);
    assert!(list_all(&engine, &other_spaces, 10).is_empty());
}

#[test]
fn a_variable_that_must_have_a_value_bounds_all_reads() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("tenants", "t://h/{tenant}/{name}")).unwrap();
    for uri in ["t://h/acme/a", "t://h/beta/a"] {
        put(&engine, text("tenants", uri, uri)).unwrap();
    }
    let acme = Access::anonymous().with_required_value(RequiredValue {
        space: "tenants".into(),
        variable: "tenant".into(),
        values: ["acme".to_owned()].into(),
    });
    assert!(read_as(&engine, "t://h/acme/a", &acme).is_ok());
    check_error(read_as(&engine, "t://h/beta/a", &acme), ErrorKind::NotFound);
    assert_eq!(uris(&list_all(&engine, &acme, 10)), ["t://h/acme/a"]);
    assert_eq!(
        uris(read_as(&engine, "t://h/", &acme).unwrap().as_array().unwrap()),
        ["t://h/acme/"]
    );
}

#[test]
fn an_acl_of_nobody_hides_from_everyone_but_the_operator() {
    let (_folder, engine) = docs();
    let mut nobody = text("docs", "docs://h/x", "x");
    nobody.acl = Some(Vec::new());
    put(&engine, nobody).unwrap();
    check_not_found(&engine, "docs://h/x");
    assert!(read_as(&engine, "docs://h/x", &Access::operator()).is_ok());
}

#[test]
fn a_hidden_twin_does_not_take_the_undone_spelling_away() {
    let (_folder, engine) = docs();
    let mut settings = SpaceSettings::new("warned", "w://h/{name}");
    settings.alias_clash = AliasClash::Warn;
    engine.put_space(settings).unwrap();
    put(&engine, text("warned", "w://h/a%252Fb%2Fc", "open")).unwrap();
    let mut hidden = text("warned", "w://h/a%252Fb%252Fc", "hidden");
    hidden.acl = Some(vec!["staff".into()]);
    put(&engine, hidden).unwrap();
    assert_eq!(read_text(&engine, "w://h/a%2Fb/c"), "open");
}

#[test]
fn what_is_hidden_changes_neither_lists_nor_folders() {
    let (_folder, engine) = docs();
    let hidden = (0..1_200).map(|n| {
        let mut hidden = text("docs", &format!("docs://h/a/{n:05}"), "x");
        hidden.acl = Some(vec!["staff".into()]);
        hidden
    });
    let open = (0..5).map(|n| text("docs", &format!("docs://h/z/{n}"), "x"));
    let all = hidden
        .chain(open)
        .map(|resource| pressmark_index::mutation::Mutation::Put(Box::new(resource)));
    engine.commit(all.collect()).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    let anonymous = Access::anonymous();
    assert_eq!(list_all(&engine, &anonymous, 3).len(), 5, "not the pinned list of a large space");
    assert_eq!(uris(read(&engine, "docs://h").unwrap().as_array().unwrap()), ["docs://h/z/"]);
    let staff = Access::anonymous().with_groups(["staff"]);
    assert_eq!(uris(&list_all(&engine, &staff, 3)), ["docs://h/"]);
    let contents = read_bounded(&engine, "docs://h/z/1", &anonymous, BYTES_MAX).unwrap();
    assert_eq!(contents.cache_scope, CacheScope::Private, "the space has ACLs");
}

#[test]
fn many_hidden_resources_cost_bounded_work_and_no_gap() {
    let (_folder, engine) = docs();
    let hidden = (0..25_000).map(|n| {
        let mut hidden = text("docs", &format!("docs://h/a/{n:05}"), "x");
        hidden.acl = Some(vec!["staff".into()]);
        hidden
    });
    let all: Vec<_> = hidden.chain([text("docs", "docs://h/z/1", "x")]).collect();
    for some in all.chunks(10_000) {
        let puts = some
            .iter()
            .map(|resource| pressmark_index::mutation::Mutation::Put(Box::new(resource.clone())));
        engine.commit(puts.collect()).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    }
    let access = Access::anonymous();
    let bounds = pressmark_index::list::PageBounds { items_max: 100, bytes_max: 1 << 20 };
    let first = engine.list(None, &access, bounds).unwrap();
    assert!(first.items.is_empty(), "a page looks at 10,000 entries");
    assert!(first.next_cursor.is_some());
    assert_eq!(uris(&list_all(&engine, &access, 100)), ["docs://h/z/1"]);
}
