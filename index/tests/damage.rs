//! Stores that are damaged or cannot be opened: the fault is named, and the rest is served.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::child::{check_success, child_after, child_on_tmpfs, folder};
use common::*;
use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, FORMAT_VERSION};
use pressmark_index::error::{Error, ErrorKind};
use pressmark_index::mutation::{Applied, Mutation};
use pressmark_index::space::{ListMode, SpaceSettings};

const RESOURCES: u64 = 100;
/// So many of them may share a block of 8 KiB.
const BLOCK_RESOURCES_MAX: usize = 16;
/// Far more than recovery takes; only a test that fails waits so long.
const RECOVERY_MAX: Duration = Duration::from_secs(120);

fn uri(number: u64) -> String {
    format!("docs://h/{number:03}")
}

/// Text that does not compress well.
fn noise(number: u64, bytes: usize) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::new();
    while text.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{:016x}", state ^ (state >> 29)));
    }
    text
}

/// A store with resources of so many bytes, all in tables, closed.
fn store_of(folder: &Path, bytes: usize) {
    let engine = open(folder);
    let mut settings = SpaceSettings::new("docs", "docs://h/{+path}");
    settings.list = ListMode::All;
    engine.put_space(settings).unwrap();
    for number in 0..RESOURCES {
        put(&engine, text("docs", &uri(number), &noise(number, bytes))).unwrap();
    }
    engine.flush().unwrap();
}

/// Opens RocksDB without the engine.
fn families(folder: &Path) -> (PathBuf, Vec<String>) {
    let store = folder.join("store");
    let families = rocksdb::DB::list_cf(&rocksdb::Options::default(), &store).unwrap();
    (store, families)
}

/// Changes a byte in the middle of the largest file of that kind that holds contents; the file's name.
fn damage(folder: &Path, extension: &str) -> String {
    let (store, families) = families(folder);
    let options = rocksdb::Options::default();
    let db = rocksdb::DB::open_cf_for_read_only(&options, &store, families, false).unwrap();
    let tables: Vec<_> = db
        .live_files()
        .unwrap()
        .into_iter()
        .filter(|file| file.column_family_name == "contents")
        .map(|file| file.name.trim_start_matches('/').to_owned())
        .collect();
    let candidates = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    let path = candidates
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter(|path| extension != "sst" || tables.iter().any(|table| path.ends_with(table)))
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x04;
    std::fs::write(&path, bytes).unwrap();
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The error with what caused it, as it is logged.
fn chain(error: &Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    format!("{error}: {}", source.unwrap_or_default())
}

fn check_damaged(bytes: usize, extension: &str, names_file: bool) {
    let folder = tempfile::tempdir().unwrap();
    store_of(folder.path(), bytes);
    store_of(folder.path(), bytes);
    let file = damage(folder.path(), extension);
    let engine = open(folder.path());
    let mut broken = Vec::new();
    for number in 0..RESOURCES {
        match read(&engine, &uri(number)) {
            Ok(contents) => assert_eq!(contents[0]["text"], noise(number, bytes).as_str()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{}", chain(&error));
                assert!(!names_file || chain(&error).contains(&file), "{}", chain(&error));
                broken.push(uri(number));
            }
        }
    }
    assert!((1..=BLOCK_RESOURCES_MAX).contains(&broken.len()), "{broken:?}");
    assert_eq!(list_all(&engine, &Access::anonymous(), 50).len() as u64, RESOURCES);

    // The damage is found, and so is all that is sound behind it.
    let report = engine.verify(&mut |_| ()).unwrap();
    for uri in &broken {
        assert!(
            report.findings.iter().any(|finding| finding.starts_with(uri)),
            "{:#?}",
            report.findings
        );
    }
    // Chunks are met once more when all of them are counted.
    assert!(report.fault_count <= broken.len() as u64 + 1, "{:#?}", report.findings);
    assert!(report.resources >= RESOURCES - broken.len() as u64, "{}", report.resources);

    check_writes(&engine, &broken[0], &file);
}

/// Commits, although compaction may meet the damage at any moment: then RocksDB stops all writes until the store has
/// been opened anew, and the engine says why.
fn commit_when_taken(
    engine: &Engine,
    file: &str,
    mutations: &[Mutation],
) -> Result<Vec<Result<Applied, Error>>, Error> {
    let began = Instant::now();
    loop {
        match engine.commit(mutations.to_vec()) {
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Poisoned) => {
                assert!(chain(&error).contains(file), "{}", chain(&error));
                assert!(began.elapsed() < RECOVERY_MAX, "{}", chain(&error));
            }
            result => return result,
        }
    }
}

/// A commit that meets the damage is refused as a whole; all others are taken.
#[track_caller]
fn check_writes(engine: &Engine, damaged: &str, file: &str) {
    let before = engine.log_range().newest;
    let good = |body| Mutation::Put(Box::new(text("docs", "docs://h/good", body)));
    let meets = [good("first"), Mutation::Put(Box::new(text("docs", damaged, "new")))];
    match commit_when_taken(engine, file, &meets) {
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{}", chain(&error));
            check_not_found(engine, "docs://h/good");
            assert_eq!(engine.log_range().newest, before);
        }
        // Chunks are not read when their resource gets a new text: that mends it.
        Ok(_) => check_clean(engine),
    }
    commit_when_taken(engine, file, &[good("second")]).unwrap().remove(0).unwrap();
    assert_eq!(read_text(engine, "docs://h/good"), "second");
    assert_eq!(engine.spaces().spaces[0].resource_count(), RESOURCES + 1);
}

#[test]
fn a_damaged_block_of_a_table_costs_what_is_in_it() {
    check_damaged(1_000, "sst", true);
}

#[test]
fn a_damaged_larger_value_costs_its_resource() {
    check_damaged(50_000, "sst", true);
}

#[test]
fn a_damaged_chunk_costs_its_resource() {
    check_damaged(150_000, "blob", false);
}

// === stores that cannot be opened ===

#[track_caller]
fn check_does_not_open(folder: &Path, kind: ErrorKind, says: &[&str]) {
    let error = Engine::open(folder, &options()).err().unwrap();
    assert_eq!(error.kind(), kind, "{}", chain(&error));
    for part in says {
        assert!(chain(&error).contains(part), "{}", chain(&error));
    }
}

#[test]
fn a_store_of_a_newer_format_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let (store, families) = families(folder.path());
    let db = rocksdb::DB::open_cf(&rocksdb::Options::default(), &store, families).unwrap();
    db.put(b"format_version", (FORMAT_VERSION + 1).to_be_bytes()).unwrap();
    drop(db);
    check_does_not_open(
        folder.path(),
        ErrorKind::UnknownFormat,
        &["has format 4", "knows format 3", "newer"],
    );
}

#[test]
fn what_is_no_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    check_does_not_open(
        &file.join("data"),
        ErrorKind::Io,
        &["file/data", "cannot be made", "Not a directory"],
    );
    std::fs::create_dir(folder.path().join("LOCK")).unwrap();
    check_does_not_open(folder.path(), ErrorKind::Io, &["LOCK", "Is a directory"]);
    std::fs::remove_dir(folder.path().join("LOCK")).unwrap();
    std::fs::write(folder.path().join("store"), "").unwrap();
    check_does_not_open(folder.path(), ErrorKind::Conflict, &["it holds `store`, but no store"]);
}

#[test]
fn child_on_a_read_only_file_system() {
    let Some(folder) = folder() else { return };
    drop(open(&folder));
    let remounted =
        std::process::Command::new("mount").args(["-o", "remount,ro"]).arg(&folder).status();
    assert!(remounted.unwrap().success());
    // A store is read there; one that does not exist yet cannot be made.
    let health = open(&folder).health();
    assert!(health.reason.is_some_and(|reason| reason.contains("Read-only file system")));
    check_does_not_open(&folder.join("new"), ErrorKind::Io, &["/new", "Read-only file system"]);
}

#[test]
fn a_read_only_file_system_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = child_on_tmpfs(16, "child_on_a_read_only_file_system", folder.path());
    check_success(&child.output().unwrap());
}

#[test]
fn child_with_few_open_files() {
    let Some(folder) = folder() else { return };
    check_does_not_open(&folder, ErrorKind::Io, &["Too many open files", "`ulimit -n`"]);
}

#[test]
fn too_few_open_files_are_named_and_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    store_of(folder.path(), 1_000);
    let mut child =
        child_after("ulimit -n 12 && exec \"$@\"", "child_with_few_open_files", folder.path());
    check_success(&child.output().unwrap());
    check_clean(&open(folder.path()));
}
