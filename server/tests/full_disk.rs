//! The program on a file system that is full: what it says, and that nothing is broken once there is space again.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The folder that the child works in: a small file system in memory.
const FOLDER: &str = "PRESSMARK_TEST_FOLDER";
const TMPFS_MEBIBYTES: usize = 48;
const BALLAST_BYTES: usize = 24 << 20;
const RECORDS: usize = 300;

fn pressmark(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(arguments)
        .args(["--config", "pressmark.toml", "--log", "warn"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn check(folder: &Path, arguments: &[&str], code: i32, says: &str) {
    let output = pressmark(folder, arguments);
    let all = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(code), "{all}");
    assert!(all.contains(says), "{all}");
}

/// Runs in a mount namespace of its own; does nothing as an ordinary test.
#[test]
fn child_on_a_small_file_system() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let config = "[storage]\npath = \"data\"\n[[space]]\nname = \"docs\"\nuri_template = \"docs://h/{name}\"\n";
    std::fs::write(folder.join("pressmark.toml"), config).unwrap();
    let records: String = (0..RECORDS)
        .map(|number| {
            let text = format!("{number:09} ").repeat(10_000);
            format!("{{\"uri\":\"docs://h/{number}\",\"text\":\"{text}\"}}\n")
        })
        .collect();
    // Through a pipe, so that the file does not take the space itself.
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![1; BALLAST_BYTES]).unwrap();
    let load = |code: i32, says: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pressmark"))
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
            .unwrap();
        // The program ends before it has read all when the disk is full.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), records.as_bytes());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(says), "{said}");
    };
    load(2, "No space left on device");
    std::fs::remove_file(&ballast).unwrap();
    check(folder, &["verify"], 0, " 0 faults");
    load(0, "300 records loaded");
    check(folder, &["read", "docs://h/299"], 0, "000000299 000000299");
    check(folder, &["verify"], 0, "300 resources");
}

#[test]
fn a_load_into_a_full_disk_says_so_and_is_repeated_without_harm() {
    let folder = tempfile::tempdir().unwrap();
    let may_mount =
        Command::new("unshare").args(["--mount", "true"]).stderr(Stdio::null()).status().unwrap();
    let namespaces: &[&str] =
        if may_mount.success() { &["--mount"] } else { &["--user", "--map-root-user", "--mount"] };
    let script = format!(
        "mount -t tmpfs -o size={TMPFS_MEBIBYTES}m pressmark-test \"${FOLDER}\" && exec \"$@\""
    );
    let output = Command::new("unshare")
        .args(namespaces)
        .args(["sh", "-c", &script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child_on_a_small_file_system", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
