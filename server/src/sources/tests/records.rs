//! The records that files become, and what is known of them.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use expect_test::expect;
use pressmark_index::resource::{Address, Binding, Body, Value};

use super::{path_of, records, source, tree};
use crate::sources::{FolderSource, Scanned};

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
    assert_eq!(resource.name.as_deref(), Some("Guide.md"));
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
        .scan(&look_up, &mut |scanned| {
            lines.push(match scanned {
                Scanned::Changed(resource) => format!("changed {}", path_of(&resource)),
                Scanned::Unchanged { path } => format!("unchanged {path}"),
                Scanned::Refused { path, .. } => format!("refused {path}"),
                Scanned::Unreadable { path, .. } => format!("unreadable {path}"),
                Scanned::Gone { path } => format!("gone {path}"),
            });
            ControlFlow::Continue(())
        })
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
    assert!(matches!(source.read_one(Path::new("x/a.md")), Scanned::Changed(_)));
    for gone in ["x/y/c.md", "x/y", "x/none.md", "none/none.md", "x/a.md/inside"] {
        assert_eq!(source.read_one(Path::new(gone)), Scanned::Gone { path: gone.to_owned() });
    }
    let mut seen = Vec::new();
    let report = source
        .scan_beneath(Path::new("x/y"), &|_| None, &mut |scanned| {
            seen.push(scanned);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((seen.len(), report.files, report.left_out), (1, 1, 1));
    assert!(matches!(&seen[0], Scanned::Changed(resource) if path_of(resource) == "x/y/b.md"));
}
