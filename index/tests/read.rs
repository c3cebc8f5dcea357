//! Reading: whole resources, parts of texts, folders, other spellings.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use common::*;
use pressmark_index::access::{Access, RequiredValue};
use pressmark_index::contents::Contents;
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::fetch_text::TextRequest;
use pressmark_index::resource::{Body, Part, RawJson};
use pressmark_index::space::{AliasClash, CacheScope, SpaceSettings};
use serde_json::json;

fn docs() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    (folder, engine)
}

#[test]
fn a_resource_reads_back_as_it_was_written() {
    let (_folder, engine) = docs();
    let body = "line 1\nline \"2\"\\ \u{2028} 中文 \u{0}\u{7f}";
    put(&engine, text("docs", "docs://h/a.txt", body)).unwrap();
    assert_eq!(
        read(&engine, "docs://h/a.txt").unwrap(),
        json!([{"uri": "docs://h/a.txt", "mimeType": "text/plain", "text": body}])
    );
    check_not_found(&engine, "docs://h/b.txt");
    check_clean(&engine);
}

#[test]
fn several_parts_keep_their_order_and_their_own_uris() {
    let (_folder, engine) = docs();
    let mut resource = text("docs", "docs://h/bundle", "first");
    resource.contents.push(Part {
        uri: Some("docs://h/bundle#logo".into()),
        mime_type: Some("image/png".into()),
        meta: Some(RawJson(r#"{"a":1}"#.into())),
        body: Body::Blob(vec![0, 255, 128]),
    });
    put(&engine, resource).unwrap();
    assert_eq!(
        read(&engine, "docs://h/bundle").unwrap(),
        json!([
            {"uri": "docs://h/bundle", "mimeType": "text/plain", "text": "first"},
            {"uri": "docs://h/bundle#logo", "_meta": {"a": 1}, "mimeType": "image/png", "blob": "AP+A"},
        ])
    );
}

#[test]
fn the_asked_spelling_is_echoed_and_the_stored_one_is_told() {
    let (_folder, engine) = docs();
    put(&engine, text("docs", "docs://h/caf%C3%A9/a%26b.txt", "x")).unwrap();
    for asked in
        ["docs://h/café/a%26b.txt", "DOCS://h/caf%c3%a9/a%26b.txt", "docs://h/caf%C3%A9/a&b.txt"]
    {
        let contents = read(&engine, asked).unwrap();
        assert_eq!(contents[0]["uri"], asked);
        assert_eq!(contents[0]["_meta"]["pressmark/storedUri"], "docs://h/caf%C3%A9/a%26b.txt");
    }
    assert!(read(&engine, "docs://h/caf%C3%A9/a%26b.txt").unwrap()[0].get("_meta").is_none());
}

#[test]
fn escapes_that_are_not_utf_8_are_an_error_that_says_so() {
    let (_folder, engine) = docs();
    for uri in ["docs://h/%E9", "docs://h/%D83D%DE00"] {
        let message = check_error(read(&engine, uri), ErrorKind::InvalidUri);
        assert!(message.contains("UTF-8") && message.contains("{+"), "{message}");
    }
}

#[test]
fn query_variables_come_in_any_order_or_not_at_all() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("products", "acme://products{?page,limit}")).unwrap();
    for uri in ["acme://products", "acme://products?limit=10", "acme://products?page=2&limit=10"] {
        put(&engine, text("products", uri, uri)).unwrap();
        assert_eq!(read_text(&engine, uri), uri);
    }
    assert_eq!(
        read_text(&engine, "acme://products?limit=10&page=2"),
        "acme://products?page=2&limit=10"
    );
    let message = check_error(
        put(&engine, text("products", "acme://products?limit=1&page=2", "")),
        ErrorKind::InvalidRecord,
    );
    assert!(message.contains("acme://products?page=2&limit=1"), "{message}");
}

#[test]
fn undone_escapes_find_the_stored_resource_unless_two_would_meet() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("strict", "s://h/{name}")).unwrap();
    put(&engine, text("strict", "s://h/a%2Fb", "slash")).unwrap();
    assert_eq!(read_text(&engine, "s://h/a/b"), "slash");
    let message =
        check_error(put(&engine, text("strict", "s://h/a%252Fb", "double")), ErrorKind::Conflict);
    assert!(message.contains("s://h/a%252Fb") && message.contains("`s://h/a%2Fb`"), "{message}");

    let mut warned = SpaceSettings::new("warned", "w://h/{name}");
    warned.alias_clash = AliasClash::Warn;
    engine.put_space(warned).unwrap();
    put(&engine, text("warned", "w://h/x%252Fy", "double")).unwrap();
    assert_eq!(read_text(&engine, "w://h/x%2Fy"), "double");
    let applied = put(&engine, text("warned", "w://h/x%2Fy", "single")).unwrap();
    assert!(applied.warning.unwrap().contains("w://h/x%252Fy"));
    assert_eq!(read_text(&engine, "w://h/x%2Fy"), "single");
    assert_eq!(read_text(&engine, "w://h/x%252Fy"), "double");
    check_clean(&engine);
    delete(&engine, "w://h/x%2Fy");
    assert_eq!(read_text(&engine, "w://h/x%2Fy"), "double");
    check_clean(&engine);
}

#[test]
fn both_normal_forms_of_a_name_find_it_and_exact_bytes_win() {
    let (_folder, engine) = docs();
    put(&engine, text("docs", "docs://h/re%CC%81sume%CC%81.md", "decomposed")).unwrap();
    assert_eq!(read_text(&engine, "docs://h/r%C3%A9sum%C3%A9.md"), "decomposed");
    put(&engine, text("docs", "docs://h/caf%C3%A9", "composed")).unwrap();
    assert_eq!(read_text(&engine, "docs://h/cafe%CC%81"), "composed");
}

#[test]
fn dot_segments_never_leave_the_space() {
    let (_folder, engine) = docs();
    put(&engine, text("docs", "docs://h/etc/passwd", "ours")).unwrap();
    for uri in
        ["docs://h/..%2F..%2Fetc%2Fpasswd", "docs://h/%2e%2e/%2e%2e/x", "docs://other/etc/passwd"]
    {
        check_not_found(&engine, uri);
    }
    for uri in ["docs://h/a/%2E%2e/b", "docs://h/..%2Fx", "docs://h/."] {
        assert!(put(&engine, text("docs", uri, "")).is_err(), "{uri}");
    }
}

// === parts of texts ===

#[test]
fn parts_of_a_text_are_cut_by_lines_and_characters() {
    let (_folder, engine) = docs();
    put(&engine, text("docs", "docs://h/a", "zero\none\r\nzwei 中\n\"drei\"")).unwrap();
    for (fragment, wanted) in [
        ("line=0,1", "zero\n"),
        ("line=1,3", "one\r\nzwei 中\n"),
        ("line=2,", "zwei 中\n\"drei\""),
        ("line=,2", "zero\none\r\n"),
        ("line=3,99", "\"drei\""),
        ("line=9,10", ""),
        ("char=0,4", "zero"),
        ("char=15,16", "中"),
        ("char=17,", "\"drei\""),
    ] {
        assert_eq!(read_text(&engine, &format!("docs://h/a#{fragment}")), wanted, "{fragment}");
    }
    for fragment in ["line=3", "line=5,2", "L10", "line=a,b", "char=1,2;length=9"] {
        let message = check_error(
            read(&engine, &format!("docs://h/a#{fragment}")),
            ErrorKind::InvalidFragment,
        );
        assert!(message.contains("line="), "{message}");
    }
    check_not_found(&engine, "docs://h/absent#line=0,1");
}

#[test]
fn a_resource_stored_with_exactly_that_fragment_wins() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("parts", "p://h/{name}{#part}")).unwrap();
    put(&engine, text("parts", "p://h/a", "whole\n")).unwrap();
    put(&engine, text("parts", "p://h/a#line=0,1", "stored")).unwrap();
    assert_eq!(read_text(&engine, "p://h/a#line=0,1"), "stored");
    assert_eq!(read_text(&engine, "p://h/a#line=0,2"), "whole\n");
}

#[test]
fn a_slice_of_a_large_text_reads_only_its_chunks() {
    let (_folder, engine) = docs();
    let lines: Vec<String> =
        (0..400_000).map(|n| format!("{n}: 行 the quick brown fox jumps over\r\n")).collect();
    let whole = lines.concat();
    assert!(whole.len() > 15 << 20);
    put(&engine, text("docs", "docs://h/large", &whole)).unwrap();
    let access = Access::anonymous();
    let slice = |fragment: &str| -> (String, usize) {
        let uri = format!("docs://h/large#{fragment}");
        let contents: Contents = read_bounded(&engine, &uri, &access, BYTES_MAX).unwrap();
        let mut json = Vec::new();
        contents.write_array(&uri, ALL_FIELDS, &mut json).unwrap();
        let array: serde_json::Value = serde_json::from_slice(&json).unwrap();
        (array[0]["text"].as_str().unwrap().to_owned(), contents.chunk_reads)
    };
    for from in [0, 1, 1_234, 199_999, 399_990] {
        let (text, chunk_reads) = slice(&format!("line={from},{}", from + 10));
        assert_eq!(text, lines[from..from + 10].concat());
        assert!(chunk_reads <= 2, "{chunk_reads} chunks for ten lines");
    }
    let (part, chunk_reads) = slice("char=5000000,5000100");
    assert_eq!(part, whole.chars().skip(5_000_000).take(100).collect::<String>());
    assert!(chunk_reads <= 2);
    let message = check_error(read(&engine, "docs://h/large"), ErrorKind::LimitExceeded);
    assert!(
        message.contains("docs://h/large#line=0,200") && message.contains("400000 lines"),
        "{message}"
    );
    check_error(read(&engine, "docs://h/large#line=0,300000"), ErrorKind::LimitExceeded);
    check_clean(&engine);
    // Another version leaves no chunk behind.
    put(&engine, text("docs", "docs://h/large", "small")).unwrap();
    check_clean(&engine);
}

#[test]
fn a_large_binary_reads_back_whole_and_not_in_parts() {
    let (_folder, engine) = docs();
    let bytes: Vec<u8> = (0..1_000_001_u32).map(|n| (n % 251) as u8).collect();
    let mut resource = text("docs", "docs://h/image", "");
    resource.mime_type = Some("image/png".into());
    resource.contents[0].body = Body::Blob(bytes.clone());
    put(&engine, resource).unwrap();
    let contents = read(&engine, "docs://h/image").unwrap();
    assert_eq!(
        base64_simd::STANDARD.decode_to_vec(contents[0]["blob"].as_str().unwrap()).unwrap(),
        bytes
    );
    check_error(read(&engine, "docs://h/image#char=0,1"), ErrorKind::InvalidFragment);
    check_clean(&engine);
}

// === folders ===

#[test]
fn a_folder_lists_its_children_once_each() {
    let (_folder, engine) = docs();
    for path in ["a/b/c.md", "a/b/d.md", "a/e.md", "a.txt", "z/%E4%B8%AD%E6%96%87.md"] {
        let mut resource = text("docs", &format!("docs://h/{path}"), "x");
        resource.title = Some(format!("Title of {path}"));
        resource.description = Some("two\nlines".into());
        put(&engine, resource).unwrap();
    }
    let folder = json!([
        {"uri": "docs://h/a/b/", "mimeType": "inode/directory", "text": ""},
        {"uri": "docs://h/a/e.md", "mimeType": "text/plain", "text": "Title of a/e.md: two lines"},
    ]);
    assert_eq!(read(&engine, "docs://h/a/").unwrap(), folder);
    assert_eq!(read(&engine, "docs://h/a").unwrap(), folder);
    let root = read(&engine, "docs://h").unwrap();
    assert_eq!(uris(root.as_array().unwrap()), ["docs://h/a.txt", "docs://h/a/", "docs://h/z/"]);
    check_not_found(&engine, "docs://h/a/b/c.md/");
    check_not_found(&engine, "docs://h/nothing/");
}

#[test]
fn a_long_folder_is_cut_and_says_so() {
    let (_folder, engine) = docs();
    let all = (0..1_200).map(|n| text("docs", &format!("docs://h/many/{n:04}"), "x"));
    let mutations =
        all.map(|resource| pressmark_index::mutation::Mutation::Put(Box::new(resource))).collect();
    engine.commit(mutations).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    let contents = read_bounded(&engine, "docs://h/many", &Access::anonymous(), BYTES_MAX).unwrap();
    assert!(contents.truncated());
}

// === access ===

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

// === fetch ===

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

// === what memory keeps ===

#[test]
fn a_read_after_a_commit_never_sees_what_the_commit_replaced() {
    let (_folder, engine) = docs();
    let done = std::sync::atomic::AtomicBool::new(false);
    put(&engine, text("docs", "docs://h/hot", "0")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = 0_u64;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let seen = read_text(&engine, "docs://h/hot").parse().unwrap();
                    assert!(seen >= last, "{seen} after {last}");
                    last = seen;
                }
            });
        }
        for n in 1..=300 {
            put(&engine, text("docs", "docs://h/hot", &n.to_string())).unwrap();
            for _ in 0..8 {
                assert_eq!(read_text(&engine, "docs://h/hot"), n.to_string());
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(engine.stats().unwrap().hot_values.1 <= 1);
    delete(&engine, "docs://h/hot");
    check_not_found(&engine, "docs://h/hot");
}

// === what reviewers and attackers found ===

#[test]
fn an_undone_name_of_dots_is_no_way_up() {
    let (_folder, engine) = docs();
    for uri in ["docs://h/q/%252e%252e", "docs://h/d/%252E", "docs://h/a.txt", "docs://h/d/x"] {
        put(&engine, text("docs", uri, uri)).unwrap();
    }
    for folder in ["docs://h/", "docs://h", "docs://h/d/", "docs://h/q/.."] {
        let entries = read(&engine, folder).unwrap();
        assert!(entries[0]["uri"].as_str() != Some(folder), "{folder} is a folder: {entries}");
    }
    assert_eq!(read_text(&engine, "docs://h/q/%252e%252e"), "docs://h/q/%252e%252e");
    check_clean(&engine);
}

#[test]
fn file_uris_of_any_host_are_names_like_others() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("search", "file://name/search?={search}")).unwrap();
    engine.put_space(SpaceSettings::new("local", "file:///{+path}")).unwrap();
    put(&engine, text("search", "file://name/search?=abc", "found")).unwrap();
    put(&engine, text("local", "file:///x", "local")).unwrap();
    assert_eq!(read_text(&engine, "file://name/search?=abc"), "found");
    assert_eq!(read_text(&engine, "file://localhost/x"), "local");
    check_not_found(&engine, "file://elsewhere/x");
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

#[test]
fn a_cut_listing_says_so_in_its_last_entry() {
    let (_folder, engine) = docs();
    let all = (0..1_001).map(|n| text("docs", &format!("docs://h/many/{n:04}"), "x"));
    let mutations =
        all.map(|resource| pressmark_index::mutation::Mutation::Put(Box::new(resource))).collect();
    engine.commit(mutations).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    let entries = read(&engine, "docs://h/many").unwrap();
    assert_eq!(entries.as_array().unwrap().len(), 1_000);
    assert_eq!(entries[999]["_meta"]["pressmark/truncated"], true);
    assert!(entries[998].get("_meta").is_none());
}

#[test]
fn a_folder_is_not_read_in_parts() {
    let (_folder, engine) = docs();
    put(&engine, text("docs", "docs://h/a/b", "x")).unwrap();
    check_error(read(&engine, "docs://h/a#line=0,1"), ErrorKind::InvalidFragment);
    check_error(read(&engine, "docs://h/b#line=0,1"), ErrorKind::NotFound);
}

#[test]
fn the_bound_of_a_reply_counts_everything_in_it() {
    let (_folder, engine) = docs();
    let mut resource = text("docs", "docs://h/a", "x");
    resource.contents[0].meta = Some(RawJson(format!(r#"{{"a":"{}"}}"#, "x".repeat(10_000))));
    put(&engine, resource).unwrap();
    check_error(
        read_bounded(&engine, "docs://h/a", &Access::anonymous(), 5_000).map(drop),
        ErrorKind::LimitExceeded,
    );
}

#[test]
fn a_text_of_long_lines_is_offered_by_characters() {
    let (_folder, engine) = docs();
    put(&engine, text("docs", "docs://h/one-line", &"x".repeat(100_000))).unwrap();
    let error = read_bounded(&engine, "docs://h/one-line", &Access::anonymous(), 50_000).map(drop);
    let message = check_error(error, ErrorKind::LimitExceeded);
    assert!(message.contains("in 1 lines") && !message.contains("#line="), "{message}");
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
