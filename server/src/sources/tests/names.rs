//! File names: each is served under its exact bytes, or refused with all of them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use expect_test::expect;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{put, records, refusals, scan_one, served, source};
use crate::sources::{Remembered, Scanned, Scope};

#[test]
fn names_are_escaped_as_a_uri_path_holds_them() {
    let files = [
        ("bug#42 &v=2+rev?.md", ""),
        ("100%_done.txt", ""),
        ("notes/#todo.txt", ""),
        ("手册/章节 一.md", ""),
        ("caf\u{e9}.md", "composed"),
        ("cafe\u{301}.md", "decomposed"),
        ("..hidden", ""),
        ("...", ""),
        (" lead and trail ", ""),
        ("%2F", ""),
        ("a[1].txt", ""),
        ("line\nbreak", ""),
        ("c:\\x", ""),
    ];
    let folder = super::tree(&files);
    expect![[r#"
        %20lead%20and%20trail%20
        %252F
        %E6%89%8B%E5%86%8C/%E7%AB%A0%E8%8A%82%20%E4%B8%80.md
        ...
        ..hidden
        100%25_done.txt
        a%5B1%5D.txt
        bug%2342%20&v=2+rev%3F.md
        c:%5Cx
        caf%C3%A9.md
        cafe%CC%81.md
        line%0Abreak
        notes/%23todo.txt"#]]
    .assert_eq(&served(&source(folder.path()), &files));
}

#[test]
fn every_printable_ascii_character_and_the_longest_name() {
    let folder = TempDir::new().unwrap();
    let mut expected = Vec::new();
    for character in ' '..='~' {
        if character != '/' {
            expected.push(format!("{character}x{character}"));
        }
    }
    expected.push("n".repeat(255));
    for name in &expected {
        put(folder.path(), name, name.as_bytes());
    }
    let mut names: Vec<String> = records(&source(folder.path()))
        .into_values()
        .map(|resource| resource.name.unwrap())
        .collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn names_that_are_not_utf8_are_refused_with_every_byte() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(OsStr::from_bytes(b"caf\xe9 1.md")), "").unwrap();
    fs::create_dir(folder.path().join(OsStr::from_bytes(b"d\xff"))).unwrap();
    fs::write(folder.path().join(OsStr::from_bytes(b"d\xff/inside.md")), "").unwrap();
    put(folder.path(), "ok.md", b"");
    expect![[r#"
        {
            "caf%E9%201.md": "its name is not UTF-8, which a URI cannot say; rename it to serve it",
            "d%FF/": "its name is not UTF-8, which a URI cannot say; rename it to serve it",
        }
    "#]]
    .assert_debug_eq(&refusals(&source(folder.path())));
    assert_eq!(served(&source(folder.path()), &[]), "ok.md");
    let one = scan_one(&source(folder.path()), Path::new(OsStr::from_bytes(b"caf\xe9 1.md")));
    assert!(
        matches!(&one[..], [Scanned::Refused { path, .. }] if path == "caf%E9%201.md"),
        "{one:?}"
    );
}

#[test]
fn the_order_is_that_of_the_bytes_and_a_sink_can_end_the_walk() {
    let folder = super::tree(&[("b/x", ""), ("B", ""), ("a", ""), ("b.md", ""), ("\u{e9}", "")]);
    let mut seen = Vec::new();
    source(folder.path())
        .scan(Scope::Whole, &Remembered::NOTHING, &mut |scanned| {
            let Scanned::Changed(resource) = scanned else {
                assert!(matches!(scanned, Scanned::Folder { .. }), "{scanned:?}");
                return std::ops::ControlFlow::Continue(());
            };
            seen.push(super::path_of(&resource));
            if seen.len() == 4 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!(seen, ["B", "a", "b/x", "b.md"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Undoing the escapes of a served path gives the file's name back, byte for byte.
    #[test]
    fn an_escaped_name_is_the_name(name in "[^/\0]{1,40}") {
        prop_assume!(name != "." && name != ".." && name.len() <= 255);
        let escaped = crate::sources::uri_path::escape_path(&name);
        let mut bytes = Vec::new();
        let mut rest = escaped.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            if byte == b'%' {
                let digits = std::str::from_utf8(&after[..2]).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = &after[2..];
            } else {
                bytes.push(byte);
                rest = after;
            }
        }
        prop_assert_eq!(bytes, name.as_bytes());
        prop_assert!(!escaped.contains(['?', '#', '[', ']', ' ']) && escaped.is_ascii());
    }
}
