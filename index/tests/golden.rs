//! Stores that older programs wrote: each opens, reads as it did, verifies clean, and takes writes.
//!
//! When this fails after a change of the format: raise `FORMAT_VERSION`, migrate in `Engine::open`, keep the old
//! golden store, and add one of the new version with `examples/golden_store.rs`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::path::Path;

use common::*;
use pressmark_index::access::Access;
use pressmark_index::completion::{CompletionRequest, VALUES_MAX};
use pressmark_index::engine::Committed;
use pressmark_index::mutation::ChangeKind;
use pressmark_index::prompt::PromptCompletion;
use serde_json::json;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn version_1_reads_as_it_was_written() {
    check_reads_as_written("v1");
}

#[test]
fn version_2_reads_as_it_was_written() {
    check_reads_as_written("v2");
}

#[test]
fn version_3_reads_as_it_was_written() {
    check_reads_as_written("v3");
}

/// Version 3 brought prompts; older stores have none, and take them.
#[test]
fn version_3_has_its_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v3");
    copy(&golden, folder.path());
    let prompts = open(folder.path()).prompts();
    let prompt = prompts.by_name("review").unwrap();
    let settings = prompt.settings();
    assert_eq!(settings.title.as_deref(), Some("Review"));
    assert_eq!(settings.description.as_deref(), Some("Looks a page over"));
    let arguments: Vec<_> = settings
        .arguments
        .iter()
        .map(|argument| (argument.name.as_str(), argument.required, &argument.completion))
        .collect();
    let values = PromptCompletion::Values(vec!["kind".into(), "dry".into()]);
    let variable = PromptCompletion::Variable { space: "handbook".into(), variable: "path".into() };
    let wanted = [("tone", false, &values), ("page", true, &variable)];
    assert_eq!(arguments[..2], wanted);
    assert_eq!(arguments[2], ("note", true, &PromptCompletion::None));
    let filled = [("page", "a/b.md"), ("note", "n")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    let said: Vec<String> = prompt
        .fill(&filled, 1_000)
        .unwrap()
        .into_iter()
        .map(|message| format!("{:?} {:?}", message.role, message.content))
        .collect();
    assert_eq!(
        said,
        [
            r#"User Text("Review a/b.md, : {n}")"#,
            r#"User Image(Media { mime_type: "image/png", data: [0, 127, 255] })"#,
            r#"User Audio(Media { mime_type: "audio/wav", data: [0, 127, 255] })"#,
            r#"User ResourceLink("docs://handbook/a/b.md")"#,
            r#"Assistant EmbeddedResource("docs://handbook/full.md")"#,
        ]
    );

    let older = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v2"), older.path());
    open(older.path()).put_prompt(std::sync::Arc::clone(prompt)).unwrap();
    assert_eq!(open(older.path()).prompts().by_name("review"), Some(prompt));
}

/// Version 2 brought the completion index, and is found by what completes when the store is opened.
#[test]
fn version_2_completes_as_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v2");
    copy(&golden, folder.path());
    let engine = open(folder.path());
    let request = CompletionRequest {
        space: "handbook",
        variable: "path",
        typed: "",
        context: &[],
        access: &Access::anonymous(),
        count_max: VALUES_MAX,
    };
    let found = engine.complete(&request).unwrap();
    let wanted = ["full.md", "b%20c.md", "large.md", "once.md", "x%2Fy.md"];
    assert_eq!((&found.values, found.total), (&wanted.iter().collect(), Some(5)));
}

fn check_reads_as_written(version: &str) {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(version);
    copy(&golden, folder.path());
    let options = pressmark_index::engine::EngineOptions {
        change_log_retention: std::time::Duration::from_secs(1 << 40),
        ..options()
    };
    let engine = pressmark_index::engine::Engine::open(folder.path(), &options).unwrap();
    check_clean(&engine);
    assert_eq!(
        read(&engine, "docs://handbook/full.md").unwrap(),
        json!([
            {"uri": "docs://handbook/full.md", "mimeType": "text/markdown", "text": "# Full \"title\"\n中文\u{2028}\n"},
            {"uri": "docs://handbook/full.md#logo", "_meta": {"part": 2}, "mimeType": "image/png", "blob": "AH//"},
        ])
    );
    let listed = list_all(&engine, &Access::anonymous(), 3);
    assert_eq!(
        listed[0],
        json!({
            "uri": "docs://handbook/full.md", "name": "full", "title": "Full \"title\"", "description": "Every field",
            "mimeType": "text/markdown", "size": 25,
            "annotations": {"audience": ["user", "assistant"], "priority": 0.75, "lastModified": "2025-01-12T15:00:58Z"},
            "icons": [{"src": "data:,"}], "_meta": {"k": 1},
        })
    );
    assert_eq!(listed.len(), 5);
    assert_eq!(read_text(&engine, "docs://handbook/b%20c.md"), "B, second version");
    assert_eq!(read_text(&engine, "docs://handbook/x/y.md"), "an escaped slash");
    assert_eq!(read_text(&engine, "docs://handbook/large.md#line=9998,9999"), "line 9998\n");
    check_not_found(&engine, "docs://handbook/gone.md");
    check_not_found(&engine, "pypi://packages/secret");
    assert!(
        read_as(&engine, "pypi://packages/secret", &Access::anonymous().with_groups(["staff"]))
            .is_ok()
    );
    let changes = engine.changes_after(0, 100).unwrap();
    assert_eq!(changes.len(), 9);
    assert_eq!(
        (changes[5].kind, changes[5].uri.as_str()),
        (ChangeKind::Deleted, "docs://handbook/gone.md")
    );
    assert!(matches!(
        engine.commit_once(b"golden-key", Vec::new()).unwrap(),
        Committed::Before { before: 8, last: 9 }
    ));
    assert_eq!(
        engine.source_fingerprint(42, "docs://handbook/full.md").unwrap(),
        Some(vec![1, 2, 3])
    );
    assert_eq!(
        put(&engine, text("handbook", "docs://handbook/gone.md", "back")).unwrap().version,
        2
    );
    check_clean(&engine);
}
