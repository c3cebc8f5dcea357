//! A load that is killed, again and again: the store stays sound, and loading once more completes it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::writer::Durability;

/// More than all lanes of the largest machine can hold back (8 lanes, three batches of 2,000 each): what is beyond has
/// been committed when the last record is taken.
const RECORDS: usize = 50_000;
/// The engine itself is killed a hundred times in its own tests.
const ROUNDS: usize = 25;

fn start_load(folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args([
            "load",
            "docs",
            "-",
            "--format",
            "ndjson",
            "--config",
            "pressmark.toml",
            "--log",
            "warn",
        ])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Opens what is left; how many resources those are.
#[track_caller]
fn check_sound(folder: &Path) -> u64 {
    let options = EngineOptions {
        block_cache_bytes: 16 << 20,
        hot_cache_bytes: 1 << 20,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        full_text: None,
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(3600),
        owner: "a test".into(),
    };
    let engine = Engine::open(&folder.join("data"), &options).unwrap();
    let report = engine.verify(&mut |_| ()).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(engine.log_range().newest, report.resources, "a record was written twice");
    report.resources
}

#[test]
fn a_load_that_is_killed_again_and_again_is_completed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let config = "[storage]\npath = \"data\"\n[[space]]\nname = \"docs\"\nuri_template = \"docs://h/{name}\"\n";
    std::fs::write(folder.path().join("pressmark.toml"), config).unwrap();
    let records: String = (0..RECORDS)
        .map(|number| format!("{{\"uri\":\"docs://h/{number}\",\"text\":\"{number:020}\"}}\n"))
        .collect();
    let mut stored = 0;
    for round in 0..ROUNDS {
        let mut load = start_load(folder.path());
        // The pipe holds a fraction of this: most of it has been read when the last byte is taken.
        let bytes = records.len() * (round + 1) / (ROUNDS + 1);
        load.stdin.as_mut().unwrap().write_all(&records.as_bytes()[..bytes]).unwrap();
        load.kill().unwrap();
        load.wait().unwrap();
        let now = check_sound(folder.path());
        assert!(now >= stored, "round {round}: {now} resources, {stored} before");
        stored = now;
    }
    assert!(
        stored > 0 && stored < RECORDS as u64,
        "{stored} were stored by loads that were killed"
    );
    let mut load = start_load(folder.path());
    load.stdin.take().unwrap().write_all(records.as_bytes()).unwrap();
    let output = load.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("50000 records loaded"), "{said}");
    assert_eq!(check_sound(folder.path()), RECORDS as u64);
}
