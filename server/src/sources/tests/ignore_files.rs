//! What `.gitignore` and `.ignore` files hide.

use std::fs;
use std::ops::ControlFlow;

use expect_test::expect;

use super::selection::check;
use super::{put, refusals, served, source, tree};
use crate::sources::{Remembered, Scope};

#[test]
fn ignore_files_are_honoured_without_a_repository() {
    check(
        &[],
        &[],
        &[
            (".gitignore", "*.log\n/out/\n!keep.log\n"),
            ("a.log", ""),
            ("keep.log", ""),
            ("out/a.md", ""),
            ("x/out/a.md", ""),
            ("x/.gitignore", "!a.log\n"),
            ("x/a.log", ""),
            ("x/.ignore", "*.tmp\n"),
            ("x/b.tmp", ""),
            ("b.tmp", ""),
        ],
        &expect![[r#"
            .gitignore
            b.tmp
            keep.log
            x/.gitignore
            x/.ignore
            x/a.log
            x/out/a.md"#]],
    );
}

#[test]
fn ignore_files_above_count_within_a_repository_only() {
    let outer = tree(&[
        ("repo/.git/HEAD", ""),
        ("repo/.gitignore", "*.log\n/docs/private\n"),
        ("repo/.ignore", "docs\n*.md"),
        ("repo/docs/a.log", ""),
        ("repo/docs/private/b", ""),
        ("repo/docs/c.md", ""),
        (".gitignore", "*.md"),
    ]);
    // `.ignore` and `.gitignore` are one set of rules; one that ignores the folder itself is passed over whole.
    let all = served(&source(&outer.path().join("repo/docs")), &[]);
    expect![[r#"
        a.log
        c.md
        private/b"#]]
    .assert_eq(&all);
    fs::remove_file(outer.path().join("repo/.ignore")).unwrap();
    expect!["c.md"].assert_eq(&served(&source(&outer.path().join("repo/docs")), &[]));
}

#[test]
fn an_ignore_file_that_is_a_link_counts_for_nothing() {
    let outside = tree(&[("rules", "*.md")]);
    let folder = tree(&[("a.md", "")]);
    std::os::unix::fs::symlink(outside.path().join("rules"), folder.path().join(".gitignore"))
        .unwrap();
    expect!["a.md"].assert_eq(&served(&source(folder.path()), &[]));
}

#[test]
fn a_folder_is_left_out_whose_ignore_file_is_too_large() {
    let large = format!("hidden.md\n{}", "# filler\n".repeat(120_000));
    for name in [".gitignore", ".ignore"] {
        let folder =
            tree(&[("a.md", ""), ("sub/hidden.md", ""), ("sub/b.md", ""), ("sub/deep/c.md", "")]);
        put(folder.path(), &format!("sub/{name}"), large.as_bytes());
        let mut source = source(folder.path());
        expect!["a.md"]
            .assert_eq(&served(&source, &[("sub/hidden.md", ""), ("sub/deep/c.md", "")]));
        let refused = refusals(&source);
        let reason = &refused["sub/"];
        assert!(reason.starts_with(&format!("its {name} has more than 1048576 bytes")), "{reason}");
        // As the source itself: what was served stays, and nothing is added.
        source.root = folder.path().join("sub");
        let scanned =
            source.scan(Scope::Whole, &Remembered::NOTHING, &mut |_| ControlFlow::Continue(()));
        let error = scanned.unwrap_err().to_string();
        assert!(error.contains(&format!("/sub: its {name} has more than")), "{error}");
    }
}

#[test]
fn rules_that_are_too_many_to_be_compiled_together_count_all_the_same() {
    // Each is far below the bound of a compiled expression, all of them are beyond it.
    let mut rules = String::from("hidden.md\n");
    for number in 0..40 {
        rules.push_str(&format!("{number}{}x\n", "[!a-c]?[\u{100}-\u{fff0}]".repeat(200)));
    }
    rules.push_str("*.log\n!keep.log\n");
    check(
        &[],
        &[],
        &[(".gitignore", &rules), ("hidden.md", ""), ("a.log", ""), ("keep.log", ""), ("b.md", "")],
        &expect![[r#"
            .gitignore
            b.md
            keep.log"#]],
    );
}

#[test]
fn braces_in_ignore_files_hide_what_git_hides() {
    check(
        &[],
        &[],
        &[
            (".gitignore", "a{b\nc}d\n[z-a]\n*.log\n"),
            ("a{b", ""),
            ("c}d", ""),
            ("e.log", ""),
            ("f.md", ""),
        ],
        &expect![[r#"
            .gitignore
            f.md"#]],
    );
}
