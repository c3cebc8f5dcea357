//! ConfigMaps and Secrets of Kubernetes: names that are links through `..data`, which is replaced at each change.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use expect_test::expect;
use tempfile::TempDir;

use super::{put, records, scan_all, scan_one, served, source};
use crate::sources::{Scanned, also_touched};

/// Puts the files into a new folder and has `..data` point to it, as the kubelet does.
fn project(root: &Path, folder: &str, files: &[(&str, &str)]) {
    let before = fs::read_link(root.join("..data")).ok();
    for (path, content) in files {
        put(root, &format!("{folder}/{path}"), content.as_bytes());
    }
    symlink(folder, root.join("..data_tmp")).unwrap();
    fs::rename(root.join("..data_tmp"), root.join("..data")).unwrap();
    for (path, _) in files {
        let name = path.split('/').next().unwrap();
        let _ = symlink(format!("..data/{name}"), root.join(name));
    }
    if let Some(before) = before {
        fs::remove_dir_all(root.join(before)).unwrap();
    }
}

fn config_map(root: &Path) {
    let files = [
        ("guide.md", "# One"),
        (".env", "A=1"),
        ("sub/deep/page.md", "two"),
        (".gitignore", "*.log\n"),
        ("x.log", ""),
    ];
    project(root, "..2026_11_30_08_00_00.1", &files);
}

#[test]
fn files_of_a_config_map_are_served_under_their_own_names() {
    let folder = TempDir::new().unwrap();
    config_map(folder.path());
    fs::create_dir(folder.path().join("inner")).unwrap();
    project(&folder.path().join("inner"), "..2026_11_30_08_00_00.2", &[("a.md", "inner")]);
    let asked = [
        ("guide.md", ""),
        (".env", ""),
        ("sub/deep/page.md", ""),
        ("inner/a.md", ""),
        ("..data", ""),
    ];
    expect![[r#"
        .gitignore
        guide.md
        inner/a.md
        sub/deep/page.md"#]]
    .assert_eq(&served(&source(folder.path()), &asked));
    assert!(
        scan_one(&source(folder.path()), Path::new("..2026_11_30_08_00_00.1/guide.md")).is_empty()
    );
}

#[test]
fn a_swap_changes_what_is_served_and_is_noticed() {
    let folder = TempDir::new().unwrap();
    config_map(folder.path());
    let before = records(&source(folder.path()));
    project(folder.path(), "..2026_12_01_08_00_00.3", &[("guide.md", "# Another")]);
    let after = records(&source(folder.path()));
    assert_eq!(
        after.keys().collect::<Vec<_>>(),
        ["guide.md"],
        "links that lead nowhere are nothing"
    );
    assert_ne!(before["guide.md"], after["guide.md"]);
    assert_eq!(after["guide.md"].title.as_deref(), Some("Another"));
    assert_eq!(also_touched(Path::new("in/..data")), [Path::new("in")]);
    assert_eq!(also_touched(Path::new("..data")), [Path::new("")]);
}

#[test]
fn links_that_only_look_like_a_projection_lead_nowhere() {
    let outside = TempDir::new().unwrap();
    put(outside.path(), "secret.md", b"");
    put(outside.path(), "..x/secret.md", b"");
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("root");
    put(&root, "own/a.md", b"");
    let targets = [
        outside.path().display().to_string(),
        "..".into(),
        "own".into(),
        ".".into(),
        "../..x".into(),
    ];
    put(folder.path(), "..x/secret.md", b"");
    for target in targets {
        symlink(&target, root.join("..data")).unwrap();
        symlink("..data/secret.md", root.join("secret.md")).unwrap();
        symlink("..data/a.md", root.join("a.md")).unwrap();
        expect!["own/a.md"].assert_eq(&served(&source(&root), &[("secret.md", ""), ("a.md", "")]));
        for name in ["..data", "secret.md", "a.md"] {
            fs::remove_file(root.join(name)).unwrap();
        }
    }
    // Within a projection, a link is a link.
    config_map(&root);
    let real = fs::read_link(root.join("..data")).unwrap();
    symlink(outside.path().join("secret.md"), root.join(real).join("link.md")).unwrap();
    symlink("..data/link.md", root.join("link.md")).unwrap();
    symlink("..data/guide.md", root.join("other.md")).unwrap();
    let (all, _) = scan_all(&source(&root));
    assert!(all.iter().all(|scanned| matches!(scanned, Scanned::Changed(_))), "{all:?}");
    expect![[r#"
        .gitignore
        guide.md
        own/a.md
        sub/deep/page.md"#]]
    .assert_eq(&served(&source(&root), &[("link.md", ""), ("other.md", "")]));
}
