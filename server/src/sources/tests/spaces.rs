//! Spaces from the paths of the command line.

use std::fs;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use pressmark_index::space::{AliasClash, ListMode};

use super::{served, tree};
use crate::sources::{FolderSource, check_distinct, folder_spaces};

fn check(files: &[(&str, &str)], paths: &[&str], expect: &Expect) {
    let folder = tree(files);
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path().join(path)).collect();
    let text = match folder_spaces(&paths) {
        Ok(spaces) => spaces
            .iter()
            .map(|(settings, source)| {
                assert_eq!(settings.name, source.space);
                assert_eq!(
                    (settings.alias_clash, settings.list),
                    (AliasClash::Warn, ListMode::Auto)
                );
                assert_eq!(settings.ttl.as_secs(), 60);
                let title = settings.title.as_deref().unwrap();
                let is_there = source.setting().is_ok();
                let files = is_there.then(|| served(source, &[]).replace('\n', " "));
                let files = files.unwrap_or_else(|| "away".to_owned());
                format!("{} {title:?}: {files}", settings.uri_template)
            })
            .collect::<Vec<_>>()
            .join("\n"),
        Err(error) => error.to_string(),
    };
    let place = folder.path().canonicalize().unwrap();
    let text = text.replace(place.to_str().unwrap(), "ROOT");
    expect.assert_eq(&text.replace(folder.path().to_str().unwrap(), "ROOT"));
}

#[test]
fn folders_become_slugs() {
    check(
        &[
            ("Engineering Handbook/a", ""),
            ("x/Engineering_Handbook/b", ""),
            ("手册/c", ""),
            ("Q&A -- 2026!/d", ""),
        ],
        &["Engineering Handbook", "x/Engineering_Handbook", "手册", "Q&A -- 2026!"],
        &expect![[r#"
            docs://engineering-handbook/{+path} "Engineering Handbook": a
            docs://engineering-handbook-2/{+path} "Engineering_Handbook": b
            docs://docs/{+path} "手册": c
            docs://q-a-2026/{+path} "Q&A -- 2026!": d"#]],
    );
    let long = "long name ".repeat(12);
    check(
        &[(&format!("{long}/a"), "")],
        &[&long],
        &expect![[
            r#"docs://long-name-long-name-long-name-long-name-long-nam/{+path} "long name long name long name long name long name long name long name long name long name long name long name long name ": a"#
        ]],
    );
}

#[test]
fn a_number_that_a_folder_bears_is_taken() {
    check(
        &[("h-2/a", ""), ("h/b", ""), ("x/h/c", ""), ("y/H/d", "")],
        &["h-2", "h", "x/h", "y/H"],
        &expect![[r#"
            docs://h-2/{+path} "h-2": a
            docs://h/{+path} "h": b
            docs://h-3/{+path} "h": c
            docs://h-4/{+path} "H": d"#]],
    );
}

#[test]
fn nested_folders_are_allowed_and_twice_the_same_is_not() {
    check(
        &[("h/in/a", "")],
        &["h", "h/in"],
        &expect![[r#"
        docs://h/{+path} "h": in/a
        docs://in/{+path} "in": a"#]],
    );
    check(
        &[("h/a", ""), ("x/", "")],
        &["h", "x/../h/."],
        &expect!["ROOT/x/../h/.: is the same as ROOT/h; name it once"],
    );
}

#[test]
fn a_file_is_served_alone() {
    check(
        &[
            ("a/N*tes [1] {x}.md", ""),
            ("a/Notes.md", ""),
            ("a/b/N*tes [1] {x}.md", ""),
            (".env", ""),
        ],
        &["a/N*tes [1] {x}.md", ".env"],
        &expect![[r#"
            docs://n-tes-1-x/{+path} "N*tes [1] {x}.md": N*tes%20%5B1%5D%20%7Bx%7D.md
            docs://env/{+path} ".env": .env"#]],
    );
}

#[test]
fn what_cannot_be_opened_is_named() {
    check(
        &[("h/a", "")],
        &["h", "missing"],
        &expect![[r#"
            docs://h/{+path} "h": a
            docs://missing/{+path} "missing": away"#]],
    );
    let folder = tree(&[]);
    let fifo = folder.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let error = folder_spaces(&[fifo]).unwrap_err().to_string();
    assert!(error.ends_with("fifo: is neither a folder nor a regular file"), "{error}");
}

#[test]
fn the_same_paths_give_the_same_ids() {
    let folder = tree(&[("a/x", ""), ("b/x", "")]);
    let paths = [folder.path().join("a"), folder.path().join("b")];
    let ids = || -> Vec<u64> {
        folder_spaces(&paths).unwrap().iter().map(|(_, source)| source.source_id()).collect()
    };
    let before = ids();
    fs::write(folder.path().join("a/y"), "").unwrap();
    assert_eq!(before, ids());
    assert_ne!(before[0], before[1]);
}

#[test]
fn the_order_of_the_command_line_changes_no_name() {
    let files = [("A/docs/x", ""), ("B/docs/x", ""), ("C/docs-2/x", "")];
    let folder = tree(&files);
    let named = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path().join(path)).collect();
        let spaces = folder_spaces(&paths).unwrap();
        let mut named: Vec<String> = spaces
            .iter()
            .map(|(_, source)| {
                let root = source.root.strip_prefix(folder.path()).unwrap();
                format!("{} {}", source.space, root.display())
            })
            .collect();
        named.sort();
        named.join("\n")
    };
    let wanted = expect![[r#"
        docs A/docs
        docs-2 C/docs-2
        docs-3 B/docs"#]];
    wanted.assert_eq(&named(&["A/docs", "B/docs", "C/docs-2"]));
    wanted.assert_eq(&named(&["C/docs-2", "B/docs", "A/docs"]));
}

#[test]
fn one_folder_under_two_names_is_refused_within_a_space() {
    let folder = tree(&[("real/a", "")]);
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    let source = |space: &str, path: &str| FolderSource::new(space, folder.path().join(path));
    let error = check_distinct(&[source("x", "real"), source("x", "link")]).unwrap_err();
    expect!["ROOT/link: is the same as ROOT/real; name it once"]
        .assert_eq(&error.to_string().replace(folder.path().to_str().unwrap(), "ROOT"));
    check_distinct(&[source("x", "real"), source("y", "link"), source("x", "away")]).unwrap();
}
