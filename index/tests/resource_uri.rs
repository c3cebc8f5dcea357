//! Spellings of resource URIs: the normal form, what hosts make of stored URIs, paths in URIs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of test functions"
)]

use std::borrow::Cow;

use pressmark_index::error::ErrorKind;
use pressmark_index::resource_uri::{
    URI_BYTES_MAX, alias_candidates, alias_of, decode_path, escape_path, last_segment, normalise,
    normalise_strict,
};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// A host that undoes some of the four escapes before it asks, each once.
fn undo(stored: &str, escapes: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = stored;
    while let Some(first) = rest.chars().next() {
        if let Some((escape, raw)) = escapes.iter().find(|(escape, _)| rest.starts_with(escape)) {
            out.push_str(raw);
            rest = &rest[escape.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

const FOUR: [(&str, &str); 4] = [("%2F", "/"), ("%25", "%"), ("%2B", "+"), ("%26", "&")];

/// Whether a store with this one resource answers what is asked.
fn found(stored: &str, asked: &str) -> bool {
    let Ok(asked) = normalise(asked) else {
        return false;
    };
    let alias = alias_of(stored);
    *asked == *stored
        || alias_candidates(&asked).iter().any(|one| Some(one) == alias.as_ref() || one == stored)
}

#[test]
fn a_plain_uri_is_borrowed() {
    let check = |uri| {
        assert!(matches!(normalise(uri), Ok(Cow::Borrowed(same)) if same == uri), "{uri}");
    };
    check("docs://handbook/guide/install.md");
    check("docs://handbook/a%2Fb%20c?x=1&y=%26#line=1,2");
    check("docs://handbook/%E6%97%A5%E6%9C%AC.md");
    check("file:///srv/a.b/..c/...");
    check("urn:isbn:0451450523");
}

#[test]
fn what_is_asked_is_normalised_leniently() {
    let check = |uri, expected: &str| assert_eq!(normalise(uri).unwrap(), expected);
    check("DOCS://Handbook/%7Ea/%2fb", "docs://handbook/~a/%2Fb");
    check("docs://handbook/日本 x", "docs://handbook/%E6%97%A5%E6%9C%AC%20x");
    check("docs://handbook/100%_done.txt", "docs://handbook/100%_done.txt");
    check("docs://handbook/a/../b", "docs://handbook/b");
    check("file://localhost/x", "file:///x");
}

#[test]
fn what_is_no_uri_is_refused_with_its_kind() {
    let check = |uri: &str, hint: &str| {
        let error = normalise(uri).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidUri);
        assert!(error.detail().contains(hint), "{error}");
    };
    check("docs://a/caf%E9", "`{+v}`");
    check("docs://a/%D83D%DE00", "not UTF-8");
    check("docs://a/%65E5%672C%E9", "not UTF-8");
    let long = format!("docs://{}", "x".repeat(URI_BYTES_MAX));
    assert_eq!(normalise(&long).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(
        normalise_strict(&"é".repeat(URI_BYTES_MAX / 2)).unwrap_err().kind(),
        ErrorKind::InvalidUri
    );
    let grows = format!("docs://a/{}", "é".repeat(URI_BYTES_MAX / 4));
    assert_eq!(normalise_strict(&grows).unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn what_is_stored_is_normalised_strictly() {
    assert_eq!(normalise_strict("Docs://A/%7e é").unwrap(), "docs://a/~%20%C3%A9");
    let check = |uri: &str, hint: &str| {
        let error = normalise_strict(uri).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidUri);
        assert!(error.detail().contains(hint), "{error}");
    };
    check("docs://a/100%", "at byte 12");
    check("a/b", "no scheme");
    check("docs://a/./b", "`.` or `..`");
    check("docs://a/%2e%2E", "`.` or `..`");
    check("docs://a/..%2F..%2Fetc%2Fpasswd", "`.` or `..`");
    check("docs://a/b%2f..", "`.` or `..`");
    check("docs:..", "`.` or `..`");
}

#[test]
fn undone_spellings_lead_to_the_stored_uri() {
    let check =
        |stored: &str, asked: &str| assert!(found(stored, asked), "{stored} asked as {asked}");
    check("d://a/b%2Fc", "d://a/b/c");
    check("d://a/100%25_done.txt", "d://a/100%_done.txt");
    check("d://a/x%26y%2Bz%2Fw", "d://a/x&y%2Bz%2Fw");
    check("d://a/a%252Fb", "d://a/a%2Fb");
    check("d://a/caf%C3%A9", "d://a/cafe%CC%81");
    check("d://a/cafe%CC%81", "d://a/café");
    check("d://a/e%CC%81%2Fx", "d://a/é/x");
    check("d://a/%25%33".replace("%33", "3").as_str(), "d://a/%3");
    assert_eq!(alias_of("d://a/b"), None);
    assert_eq!(alias_of("d://a/b%2Fc").as_deref(), Some("d://a/b/c"));
    assert!(!found("d://a/b%2Fc", "d://a/c"));
}

/// The two kinds of mixed undoing that nothing can mend (see the module).
#[test]
fn an_escaped_escape_half_undone_is_not_found() {
    assert!(!found("d://a/x%252Fy%26z", "d://a/x%2Fy%26z"));
    assert!(found("d://a/x%252Fy%26z", "d://a/x%2Fy&z"));
    assert!(normalise("d://a/x%E9").is_err());
    assert_eq!(alias_of("d://a/x%25E9"), None);
    assert!(found("d://a/x%25E9%2Fy%26z", "d://a/x%25E9/y%26z"));
}

#[test]
fn file_paths_make_the_round_trip() {
    let check = |path: &str, escaped: &str| {
        assert_eq!(escape_path(path), escaped);
        assert_eq!(decode_path(escaped).as_deref(), Some(path));
        let uri = format!("docs://a/{escaped}");
        assert_eq!(normalise_strict(&uri).unwrap(), uri);
    };
    check("bug#42 &v=2+rev?.md", "bug%2342%20&v=2+rev%3F.md");
    check("100%_done.txt", "100%25_done.txt");
    check("notes/#todo.txt", "notes/%23todo.txt");
    check("手册/安装.md", "%E6%89%8B%E5%86%8C/%E5%AE%89%E8%A3%85.md");
    check("a[1]\\b.md", "a%5B1%5D%5Cb.md");
    assert_eq!(decode_path("100%"), None);
}

#[test]
fn the_last_segment_is_a_name_for_people() {
    let check = |uri, expected: &str| assert_eq!(last_segment(uri), expected, "{uri}");
    check("docs://a/guide/My%20File.md#line=1,2", "My File.md");
    check("docs://a/guide/", "guide");
    check("docs://a", "a");
    check("pypi://packages/a%2Fb", "a/b");
    check("acme://products?page=2", "products?page=2");
    check("urn:isbn:1", "isbn:1");
    check("docs://a/100%", "100%");
    check("docs://", "");
}

/// URIs as they are stored, many with the escapes that hosts undo.
fn stored() -> impl Strategy<Value = String> {
    let path = "([a-f0-9A/.?&+=]|%2F|%25|%26|%2B|%23|%3F|%C3%A9|e%CC%81|%E6%97%A5|%E2%84%AA){0,14}";
    let authority =
        prop::sample::select(vec!["d://host/", "d://host", "d:", "file:///", "d://%2Fh"]);
    (authority, path).prop_filter_map("must be storable", |(authority, path)| {
        normalise_strict(&format!("{authority}{path}")).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_host_undoes_the_stored_uri_is_found(stored in stored(), subset in 0_u8..16) {
        let undone: Vec<_> = (0..).zip(FOUR).filter(|(bit, _)| subset >> bit & 1 == 1).map(|(_, e)| e).collect();
        let left = |(escape, _): &(&str, &str)| !undone.iter().any(|(u, _)| u == escape) && stored.contains(escape);
        let escaped_escape = stored.match_indices("%25").any(|(at, _)| {
            stored.as_bytes()[at + 3..].iter().take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2
        });
        let undid_percent = undone.iter().any(|(escape, _)| *escape == "%25");
        prop_assume!(!(escaped_escape && undid_percent && FOUR.iter().any(left)));
        let asked = undo(&stored, &undone);
        prop_assume!(normalise(&asked).is_ok());
        prop_assert!(found(&stored, &asked), "{} asked as {}", stored, asked);
    }

    #[test]
    fn names_are_found_in_either_unicode_form(name in "[a-zé日ñ가́]{0,8}", other in any::<bool>()) {
        let composed: String = name.nfc().collect();
        let decomposed: String = name.nfd().collect();
        let (on_disk, asked) = if other { (composed, decomposed) } else { (decomposed, composed) };
        let stored = normalise_strict(&format!("d://a/{}", escape_path(&on_disk))).unwrap();
        let asked = format!("d://a/{asked}");
        prop_assert!(found(&stored, &asked), "{} asked as {}", stored, asked);
    }

    #[test]
    fn paths_are_escaped_invertibly(path in any::<String>()) {
        prop_assert_eq!(decode_path(&escape_path(&path)), Some(path));
    }

    #[test]
    fn any_text_is_normalised_or_refused(text in any::<String>()) {
        if let Ok(once) = normalise(&text) {
            let once = once.into_owned();
            prop_assert_eq!(normalise(&once).unwrap(), once.clone());
            alias_candidates(&once);
            last_segment(&once);
        }
    }

    #[test]
    fn what_is_stored_is_its_own_normal_form(stored in stored()) {
        prop_assert_eq!(normalise(&stored).unwrap(), stored.clone());
    }
}
