//! The records that files become, and what is known of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use expect_test::expect;
use pressmark_index::resource::{Address, Binding, Body, Value};

use super::{path_of, put, records, scan_one, source, tree};
use crate::sources::{Entries, FolderSource, Remembered, Scanned, Scope, also_touched};

#[test]
fn a_record_says_all_that_the_file_does() {
    let folder = tree(&[("a b/Guide.md", "# The *guide*\n\nHow it works. And more.\n")]);
    let source = source(folder.path());
    let resource = records(&source).remove("a%20b/Guide.md").unwrap();
    assert_eq!(resource.space, "docs");
    assert_eq!(
        resource.address,
        Address::Variables(vec![Binding {
            name: "path".to_owned(),
            value: Value::String("a%20b/Guide.md".to_owned()),
        }])
    );
    assert_eq!(resource.name.as_deref(), Some("a b/Guide.md"), "unique in the folder");
    assert_eq!(resource.title.as_deref(), Some("The guide"));
    assert_eq!(resource.description.as_deref(), Some("How it works."));
    assert_eq!(resource.mime_type.as_deref(), Some("text/markdown"));
    assert_eq!(resource.size, Some(39));
    assert_eq!(resource.contents.len(), 1);
    assert!(matches!(&resource.contents[0].body, Body::Text(text) if text.len() == 39));
    assert_eq!((resource.acl, resource.pinned), (None, false));
    let modified = fs::metadata(folder.path().join("a b/Guide.md")).unwrap().modified().unwrap();
    let modified = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(resource.annotations.last_modified.map(i128::from), i128::try_from(modified).ok());
    assert_eq!(resource.source.unwrap().source_id, source.source_id());
}

#[test]
fn names_and_titles_neither_act_nor_reorder_text() {
    let folder = tree(&[
        ("d\u{2066}/a\u{202e}fdp.md", "# T\u{202e}itle\n\nSay \u{2067}it.\n"),
        ("\u{1b}[2J\u{7}", "x"),
        ("two\nlines", "x"),
    ]);
    let labels: Vec<_> = records(&source(folder.path()))
        .into_iter()
        .map(|(path, resource)| (path, resource.name, resource.title, resource.description))
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        labels,
        [
            ("%1B%5B2J%07".to_owned(), some(r"\u{1b}[2J\u{7}"), None, some("x")),
            (
                "d%E2%81%A6/a%E2%80%AEfdp.md".to_owned(),
                some(r"d\u{2066}/a\u{202e}fdp.md"),
                some(r"T\u{202e}itle"),
                some(r"Say \u{2067}it."),
            ),
            ("two%0Alines".to_owned(), some(r"two\u{a}lines"), None, some("x")),
        ]
    );
}

#[test]
fn readmes_and_index_pages_come_first() {
    let folder = tree(&[
        ("README.md", ""),
        ("index.html", ""),
        ("sub/readme.zh.txt", ""),
        ("sub/README", ""),
        ("sub/index.md", ""),
        ("sub/index.js", ""),
        ("sub/readmemore.md", ""),
        ("sub/other.md", ""),
    ]);
    let priorities: BTreeMap<String, f64> = records(&source(folder.path()))
        .into_iter()
        .filter_map(|(path, resource)| Some((path, resource.annotations.priority?)))
        .collect();
    expect![[r#"
        {
            "README.md": 0.8,
            "index.html": 0.8,
            "sub/README": 0.6,
            "sub/index.md": 0.6,
            "sub/readme.zh.txt": 0.6,
        }
    "#]]
    .assert_debug_eq(&priorities);
}

/// What a second scan says of each path when it knows what the first one found.
fn rescan(source: &FolderSource, known: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut lines = Vec::new();
    let look_up = |path: &str| known.get(path).cloned();
    source
        .scan(
            Scope::Whole,
            &Remembered { served: &look_up, ..Remembered::NOTHING },
            &mut |scanned| {
                lines.push(match scanned {
                    Scanned::Changed(resource) => format!("changed {}", path_of(&resource)),
                    Scanned::Unchanged { path } => format!("unchanged {path}"),
                    Scanned::Refused { path, .. } => format!("refused {path}"),
                    Scanned::Unreadable { path, .. } => format!("unreadable {path}"),
                    Scanned::Folder { .. } => return ControlFlow::Continue(()),
                });
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    lines
}

fn fingerprints(source: &FolderSource) -> BTreeMap<String, Vec<u8>> {
    records(source)
        .into_iter()
        .map(|(path, resource)| (path, resource.source.unwrap().fingerprint))
        .collect()
}

#[test]
fn only_what_changed_is_read_again() {
    let folder = tree(&[("a b.md", "1"), ("c.md", "1"), ("d.md", "1"), ("e.md", "1")]);
    let source = source(folder.path());
    let known = fingerprints(&source);
    fs::write(folder.path().join("c.md"), "22").unwrap();
    // Saved by an editor: a new file of the same size takes the old one's place.
    fs::write(folder.path().join("d.new"), "2").unwrap();
    fs::rename(folder.path().join("d.new"), folder.path().join("d.md")).unwrap();
    fs::remove_file(folder.path().join("e.md")).unwrap();
    assert_eq!(rescan(&source, &known), ["unchanged a%20b.md", "changed c.md", "changed d.md"]);
}

#[test]
fn a_file_that_is_named_is_read_even_if_it_looks_as_known() {
    let folder = tree(&[("a/b.md", "1"), ("c.md", "1")]);
    let source = source(folder.path());
    let known = fingerprints(&source);
    let names = BTreeSet::from(["a".into(), "c.md".into()]);
    let entries = Entries::from([(PathBuf::new(), names)]);
    let (mut read, look_up) = (Vec::new(), |path: &str| known.get(path).cloned());
    source
        .scan(
            Scope::Entries(&entries),
            &Remembered { served: &look_up, ..Remembered::NOTHING },
            &mut |scanned| {
                if let Scanned::Changed(resource) = scanned {
                    read.push(path_of(&resource));
                }
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    assert_eq!(read, ["c.md"]);
}

#[test]
fn a_file_is_judged_again_when_it_is_no_longer_included_by_name() {
    let folder = tree(&[("key", "-----BEGIN PRIVATE KEY-----\nx")]);
    let mut source = source(folder.path());
    source.include = vec!["key".to_owned()];
    let known = fingerprints(&source);
    assert_eq!(rescan(&source, &known), ["unchanged key"]);
    source.include = Vec::new();
    assert_eq!(rescan(&source, &known), ["refused key"]);
}

#[test]
fn one_file_or_one_folder_can_be_asked_for() {
    let folder =
        tree(&[("x/a.md", ""), ("x/y/b.md", ""), ("x/.gitignore", "c.md"), ("x/y/c.md", "")]);
    let source = source(folder.path());
    assert!(matches!(scan_one(&source, Path::new("x/a.md"))[..], [Scanned::Changed(_)]));
    for gone in ["x/y/c.md", "x/none.md", "none/none.md", "x/a.md/inside"] {
        assert_eq!(scan_one(&source, Path::new(gone)), [], "{gone}");
    }
    let folder = Scanned::Folder { relative: "x/y".to_owned() };
    let is_b = |scanned: &Scanned| matches!(scanned, Scanned::Changed(file) if path_of(file) == "x/y/b.md");
    let all = scan_one(&source, Path::new("x/y"));
    assert!(matches!(&all[..], [first, file] if *first == folder && is_b(file)), "{all:?}");
}

#[test]
fn what_an_entry_says_about_others_is_looked_at_with_it() {
    let touched = |path: &str| {
        let paths = also_touched(Path::new(path));
        paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(touched("a/b.md"), [""; 0]);
    assert_eq!(touched("a/.gitignore"), ["a"]);
    assert_eq!(touched(".ignore"), [""]);
    assert_eq!(touched("a/Cargo.toml"), ["a/target", "a/vendor"]);
    assert_eq!(touched("a/b/CURRENT"), ["a/b", "a"]);
}

#[test]
fn the_setting_changes_with_the_folder_and_the_ignore_files_above_it() {
    let outer = tree(&[("repo/.git/", ""), ("repo/docs/a.md", ""), ("repo/docs/sub/b.md", "")]);
    let source = source(&outer.path().join("repo/docs"));
    let first = source.setting().unwrap();
    put(outer.path(), "repo/docs/c.md", b"");
    put(outer.path(), ".gitignore", b"beyond the repository");
    assert_eq!(source.setting().unwrap(), first);
    put(outer.path(), "repo/.gitignore", b"a.md");
    let second = source.setting().unwrap();
    assert_ne!(second, first);
    fs::rename(outer.path().join("repo/docs"), outer.path().join("away")).unwrap();
    assert!(source.setting().is_err());
    fs::create_dir(outer.path().join("repo/docs")).unwrap();
    assert_ne!(source.setting().unwrap(), second);
}
