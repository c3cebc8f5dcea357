//! Reading: whole resources, parts of texts, folders, other spellings.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use common::*;
use pressmark_index::access::Access;
use pressmark_index::contents::Contents;
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::resource::{Body, Part, RawJson};
use pressmark_index::space::{AliasClash, SpaceSettings};
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
        assert_eq!(contents[0]["_meta"]["io.pressmark/storedUri"], "docs://h/caf%C3%A9/a%26b.txt");
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
        {"uri": "docs://h/a/b/", "mimeType": "inode/directory", "text": "docs://h/a/b/"},
        {
            "uri": "docs://h/a/e.md",
            "mimeType": "text/plain",
            "text": "docs://h/a/e.md (Title of a/e.md: two lines)",
        },
    ]);
    assert_eq!(read(&engine, "docs://h/a/").unwrap(), folder);
    assert_eq!(read(&engine, "docs://h/a").unwrap(), folder);
    let root = read(&engine, "docs://h").unwrap();
    assert_eq!(uris(root.as_array().unwrap()), ["docs://h/a.txt", "docs://h/a/", "docs://h/z/"]);
    check_not_found(&engine, "docs://h/a/b/c.md/d/");
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
fn a_cut_listing_says_so_in_its_last_entry() {
    let (_folder, engine) = docs();
    let all = (0..1_001).map(|n| text("docs", &format!("docs://h/many/{n:04}"), "x"));
    let mutations =
        all.map(|resource| pressmark_index::mutation::Mutation::Put(Box::new(resource))).collect();
    engine.commit(mutations).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    let entries = read(&engine, "docs://h/many").unwrap();
    assert_eq!(entries.as_array().unwrap().len(), 1_000);
    assert_eq!(entries[999]["_meta"]["io.pressmark/truncated"], true);
    assert!(entries[998].get("_meta").is_none());
    let text = |number: usize| entries[number]["text"].as_str().unwrap();
    assert!(text(999).contains("the listing is cut here"), "{}", text(999));
    assert!(!text(998).contains("cut"), "{}", text(998));
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
fn delimiters_that_hosts_undo_find_the_stored_resource() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("acme", "v://acme/{name}")).unwrap();
    engine.put_space(SpaceSettings::new("plus", "p://(acme)/{+path}")).unwrap();
    put(&engine, text("acme", "v://acme/report%20%281%29.md", "report")).unwrap();
    put(&engine, text("acme", "v://acme/%21%27%2A%2C%3A%40%3D%3B%24%26%2B", "all")).unwrap();
    put(&engine, text("plus", "p://(acme)/x(1)", "raw")).unwrap();
    for (asked, wanted) in [
        ("v://acme/report%20(1).md", "report"),
        ("v://acme/report%20%281%29.md", "report"),
        ("v://acme/!'*,:@=;$&+", "all"),
        ("p://(acme)/x%281%29", "raw"),
        ("p://(acme)/x(1)", "raw"),
    ] {
        assert_eq!(read_text(&engine, asked), wanted, "{asked}");
    }
    check_error(read(&engine, "v://acme/report%20(2).md"), ErrorKind::NotFound);
    let clash = put(&engine, text("plus", "p://(acme)/x%281%29", "escaped"));
    let message = check_error(clash, ErrorKind::Conflict);
    assert!(message.contains("`p://(acme)/x(1)`"), "{message}");
}

#[test]
fn a_string_for_an_exploded_path_is_its_segments() {
    use pressmark_index::resource::{Address, Binding, Value};
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("repo", "r://repo{/path*}")).unwrap();
    for (value, uri) in [("server.py", "r://repo/server.py"), ("a/b", "r://repo/a/b")] {
        let mut resource = text("repo", "", value);
        let binding = Binding { name: "path".into(), value: Value::String(value.into()) };
        resource.address = Address::Variables(vec![binding]);
        put(&engine, resource).unwrap();
        assert_eq!(read_text(&engine, uri), value);
    }
    let mut resource = text("repo", "", "x");
    let binding = Binding { name: "pth".into(), value: Value::String("x".into()) };
    resource.address = Address::Variables(vec![binding]);
    let message = check_error(put(&engine, resource), ErrorKind::InvalidRecord);
    assert!(message.contains("no variable `pth`; it has `path`"), "{message}");
}

#[test]
fn templates_that_match_the_same_uris_are_refused_as_two_spaces() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("one", "p://p/{name}/{+rest}{?q}")).unwrap();
    for (template, refused) in [
        ("p://p/{x}/{+y}{?q}", true),
        ("P://P/{x}/{+y}{?q}", true),
        ("p://p/{x}/{y}{?q}", false),
        ("p://p/{x}/{+y}{?other}", false),
        ("p://p/{x}/{+x}{?q}", false),
    ] {
        let put = engine.put_space(SpaceSettings::new("two", template));
        let is_conflict = put.as_ref().is_err_and(|error| error.kind() == ErrorKind::Conflict);
        assert_eq!(is_conflict, refused, "{template}: {put:?}");
    }
}

#[test]
fn a_slash_that_hosts_add_or_strip_finds_the_document() {
    let (_folder, engine) = docs();
    engine.put_space(SpaceSettings::new("web", "w://{+path}")).unwrap();
    for uri in ["w://x/y", "w://x/page/", "w://x/both", "w://x/both/", "w://x/f", "w://x/f/g"] {
        put(&engine, text("web", uri, uri)).unwrap();
    }
    for (asked, wanted) in [
        ("w://x/y/", "w://x/y"),
        ("w://x/page", "w://x/page/"),
        ("w://x/both", "w://x/both"),
        ("w://x/both/", "w://x/both/"),
        ("w://x/f", "w://x/f"),
    ] {
        assert_eq!(read_text(&engine, asked), wanted, "{asked}");
    }
    // A folder stays one, and only one slash is looked past.
    let folder = read(&engine, "w://x/f/").unwrap();
    assert_eq!(uris(folder.as_array().unwrap()), ["w://x/f/g"]);
    for missing in ["w://x/y//", "w://x/none/", "w://x/none"] {
        check_error(read(&engine, missing), ErrorKind::NotFound);
    }
}
