//! Copies of a store are made while it serves, hold one state of it, and can be put back.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use common::*;
use pressmark_index::access::Access;
use pressmark_index::backup::{self, BackupReport, BackupRequest, Progress};
use pressmark_index::engine::Engine;
use pressmark_index::error::{Error, ErrorKind};
use pressmark_index::space::SpaceSettings;

fn engine() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(&folder.path().join("data"));
    engine.put_space(SpaceSettings::new("docs", "docs://h/{name}")).unwrap();
    (folder, engine)
}

fn back_up(engine: &Engine, folder: &Path) -> Result<BackupReport, Error> {
    engine.backup(&BackupRequest { folder, previous: None }, &mut |_| ())
}

/// Two resources are always changed together, and their texts say in which round.
fn put_pair(engine: &Engine, round: usize) {
    use pressmark_index::mutation::Mutation;
    let body = format!("{round} {}", "x".repeat(3_000));
    let pair = ["docs://h/one", "docs://h/two"]
        .map(|uri| Mutation::Put(Box::new(text("docs", uri, &body))));
    engine.commit(pair.into()).unwrap();
}

#[test]
fn a_copy_made_while_the_store_changes_holds_one_state() {
    let (folder, engine) = engine();
    let done = AtomicBool::new(false);
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !done.load(Ordering::Relaxed) {
                put_pair(&engine, round);
                round += 1;
            }
        });
        while engine.log_range().newest < 100 {
            std::thread::yield_now();
        }
        let report = back_up(&engine, &folder.path().join("copy"));
        done.store(true, Ordering::Relaxed);
        report.unwrap()
    });
    assert!(report.sequence >= 100 && report.bytes_shared > 0, "{report:?}");

    let restored = folder.path().join("restored");
    let put_back = backup::restore(&folder.path().join("copy"), &restored, &mut |_| ()).unwrap();
    assert_eq!(put_back.sequence, report.sequence);
    let copy = open(&restored);
    assert!(copy.log_range().newest >= report.sequence);
    assert_eq!(read_text(&copy, "docs://h/one"), read_text(&copy, "docs://h/two"));
    check_clean(&copy);
    assert_eq!(list_all(&copy, &Access::anonymous(), 10).len(), 2);
    // The store and its copies go their own ways.
    put_pair(&copy, 1_000_000);
    assert!(!read_text(&engine, "docs://h/one").starts_with("1000000"));
    put_pair(&engine, 2_000_000);
    assert!(read_text(&copy, "docs://h/one").starts_with("1000000"));
    check_clean(&engine);
    let names: Vec<_> = std::fs::read_dir(folder.path().join("data")).unwrap().collect();
    assert!(names.iter().all(|name| !format!("{name:?}").contains("backup-links")), "{names:?}");
}

#[test]
fn progress_ends_with_everything() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let mut last = Progress::default();
    let request = BackupRequest { folder: &folder.path().join("copy"), previous: None };
    let report = engine
        .backup(&request, &mut |progress| {
            assert!(progress.bytes_done >= last.bytes_done);
            last = progress;
        })
        .unwrap();
    assert_eq!(last.bytes_done, last.bytes_total);
    assert_eq!(last.bytes_done, report.bytes_shared + report.bytes_copied);
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    back_up(&engine, &copy).unwrap();
    let message = check_error(back_up(&engine, &copy), ErrorKind::Conflict);
    assert!(message.contains("not empty"), "{message}");
    let message = check_error(backup::restore(&copy, &copy, &mut |_| ()), ErrorKind::Conflict);
    assert!(message.contains("not empty"), "{message}");
    check_error(back_up(&engine, Path::new("/")), ErrorKind::Conflict);
}

#[test]
fn a_copy_that_lacks_something_is_refused() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let target = folder.path().join("restored");
    let check = |name: &str, damage: &dyn Fn(&Path), wanted: &str| {
        let copy = folder.path().join(name);
        back_up(&engine, &copy).unwrap();
        damage(&copy);
        let message = check_error(backup::restore(&copy, &target, &mut |_| ()), ErrorKind::Corrupt);
        assert!(message.contains(wanted), "{message}");
        assert!(!target.exists() && !folder.path().join("restored.partial").exists());
    };
    check("a", &|copy| std::fs::remove_file(copy.join("BACKUP")).unwrap(), "no complete backup");
    check(
        "b",
        &|copy| std::fs::remove_file(copy.join("store/CURRENT")).unwrap(),
        "CURRENT is missing",
    );
    check(
        "c",
        &|copy| std::fs::write(copy.join("store/CURRENT"), "x").unwrap(),
        "1 bytes instead of",
    );
    check(
        "d",
        &|copy| std::fs::write(copy.join("BACKUP"), "pressmark backup 9\n").unwrap(),
        "another",
    );
    // What is derived is made anew.
    let copy = folder.path().join("e");
    back_up(&engine, &copy).unwrap();
    let _ = std::fs::remove_dir_all(copy.join("completion"));
    backup::restore(&copy, &target, &mut |_| ()).unwrap();
    check_clean(&open(&target));
}

/// Another file system, where nothing can be shared with the store.
const OTHER_FILE_SYSTEM: &str = "/dev/shm";

#[test]
fn a_later_copy_on_another_file_system_shares_what_has_not_changed() {
    let (_folder, engine) = engine();
    put_pair(&engine, 1);
    let copies = tempfile::tempdir_in(OTHER_FILE_SYSTEM).unwrap();
    let first = copies.path().join("first");
    let report = back_up(&engine, &first).unwrap();
    assert_eq!(report.bytes_shared, 0, "{report:?}");
    put_pair(&engine, 2);
    let later = copies.path().join("later");
    let request = BackupRequest { folder: &later, previous: Some(&first) };
    let report = engine.backup(&request, &mut |_| ()).unwrap();
    assert!(report.bytes_shared > 0, "{report:?}");
    // The earlier one is not needed for the later one.
    std::fs::remove_dir_all(&first).unwrap();
    let restored = copies.path().join("restored");
    backup::restore(&later, &restored, &mut |_| ()).unwrap();
    let copy = open(&restored);
    assert!(read_text(&copy, "docs://h/one").starts_with("2 "));
    check_clean(&copy);
}

#[test]
fn what_cannot_be_the_place_of_a_copy_is_refused_with_the_reason() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let at = |path: &str| folder.path().join(path);
    std::fs::write(at("file"), "").unwrap();
    std::os::unix::fs::symlink(at("data"), at("link")).unwrap();
    let long = "x".repeat(300);
    let check = |copied: Result<BackupReport, Error>, path: &str, kind, says: &str| {
        let error = copied.unwrap_err();
        assert_eq!(error.kind(), kind, "{path}: {error}");
        assert!(error.to_string().contains(says), "{path}: {error}");
    };
    for (path, kind, says) in [
        ("data/copy", ErrorKind::Conflict, "into the data directory"),
        ("data/a/b", ErrorKind::Conflict, "into the data directory"),
        ("link/copy", ErrorKind::Conflict, "into the data directory"),
        ("none/../data/copy", ErrorKind::Conflict, "into the data directory"),
        ("file", ErrorKind::Conflict, "it is a file"),
        ("file/copy", ErrorKind::Conflict, "it is a file"),
        (&long, ErrorKind::LimitExceeded, "too long"),
        // Its `.partial` is too long.
        (&long[..250], ErrorKind::LimitExceeded, "too long"),
        ("nul\0", ErrorKind::InvalidRecord, "no path"),
    ] {
        check(back_up(&engine, &at(path)), path, kind, says);
    }
    back_up(&engine, &at("copy")).unwrap();
    for (path, says) in [("copy/new", "into the copy"), ("copy/store/new", "into the copy")] {
        let restored = backup::restore(&at("copy"), &at(path), &mut |_| ());
        check(restored, path, ErrorKind::Conflict, says);
    }
    // What is taken away as the rest of an earlier one must not be what is read.
    std::fs::rename(at("copy"), at("new.partial")).unwrap();
    let restored = backup::restore(&at("new.partial"), &at("new"), &mut |_| ());
    check(restored, "new", ErrorKind::Conflict, "into the copy");
    backup::restore(&at("new.partial"), &at("other"), &mut |_| ()).unwrap();
}

#[test]
fn a_second_copy_into_a_folder_that_is_being_written_is_refused() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let copies = tempfile::tempdir_in(OTHER_FILE_SYSTEM).unwrap();
    for (name, target) in [("links", folder.path()), ("bytes", copies.path())] {
        let copy = target.join(name);
        let mut refused = 0;
        let request = BackupRequest { folder: &copy, previous: None };
        let report = engine.backup(&request, &mut |_| {
            let message = check_error(back_up(&engine, &copy), ErrorKind::Conflict);
            assert!(message.contains("another backup or restore is writing there"), "{message}");
            assert!(message.contains(&format!("{name}.partial")), "{message}");
            refused += 1;
        });
        assert!(report.is_ok() && refused > 0, "{name}: {report:?}");
        let restored = target.join(format!("{name}-restored"));
        backup::restore(&copy, &restored, &mut |_| ()).unwrap();
        check_clean(&open(&restored));
        assert!(!restored.join("PRESSMARK-PARTIAL").exists());
    }
}

#[test]
fn a_copy_that_somebody_changes_meanwhile_is_not_reported_as_complete() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let copies = tempfile::tempdir_in(OTHER_FILE_SYSTEM).unwrap();
    for (name, target) in [("links", folder.path()), ("bytes", copies.path())] {
        let copy = target.join(name);
        let current = target.join(format!("{name}.partial/store/CURRENT"));
        let mut deleted = false;
        let request = BackupRequest { folder: &copy, previous: None };
        let report =
            engine.backup(&request, &mut |_| deleted |= std::fs::remove_file(&current).is_ok());
        let message = check_error(report, ErrorKind::Conflict);
        assert!(deleted && message.contains("CURRENT is missing"), "{message}");
        assert!(!copy.exists() && !target.join(format!("{name}.partial")).exists());
    }
}

#[test]
fn a_partial_folder_that_is_not_ours_is_left_alone() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let at = |path: &str| folder.path().join(path);
    std::fs::create_dir(at("copy.partial")).unwrap();
    std::fs::write(at("copy.partial/thesis.odt"), "three years").unwrap();
    std::fs::create_dir(at("elsewhere")).unwrap();
    std::fs::write(at("elsewhere/kept"), "kept").unwrap();
    std::os::unix::fs::symlink(at("elsewhere"), at("link.partial")).unwrap();
    std::fs::write(at("file.partial"), "kept").unwrap();
    back_up(&engine, &at("good")).unwrap();
    for target in ["copy", "link", "file"] {
        for result in
            [back_up(&engine, &at(target)), backup::restore(&at("good"), &at(target), &mut |_| ())]
        {
            let message = check_error(result, ErrorKind::Conflict);
            assert!(message.contains(&format!("{target}.partial")), "{message}");
            assert!(message.contains("move it away"), "{message}");
        }
    }
    assert_eq!(std::fs::read(at("copy.partial/thesis.odt")).unwrap(), b"three years");
    assert_eq!(std::fs::read(at("elsewhere/kept")).unwrap(), b"kept");
    assert_eq!(std::fs::read(at("file.partial")).unwrap(), b"kept");
}

#[test]
fn the_rest_of_an_interrupted_copy_makes_way() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let at = |path: &str| folder.path().join(path);
    // An empty folder is nobody's work.
    std::fs::create_dir(at("empty.partial")).unwrap();
    back_up(&engine, &at("empty")).unwrap();
    std::fs::create_dir_all(at("copy.partial/store")).unwrap();
    std::fs::write(at("copy.partial/PRESSMARK-PARTIAL"), "").unwrap();
    std::fs::write(at("copy.partial/store/999999.sst"), "half").unwrap();
    back_up(&engine, &at("copy")).unwrap();
    assert!(!at("copy/store/999999.sst").exists() && !at("copy.partial").exists());
    backup::restore(&at("copy"), &at("restored"), &mut |_| ()).unwrap();
    check_clean(&open(&at("restored")));
}

#[test]
fn folders_of_the_user_in_the_data_directory_are_left_alone() {
    let (folder, engine) = engine();
    drop(engine);
    let data = folder.path().join("data");
    for name in ["thesis.backup-links", "1-2.backup-links"] {
        std::fs::create_dir(data.join(name)).unwrap();
        std::fs::write(data.join(name).join("kept"), "").unwrap();
    }
    drop(open(&data));
    assert!(data.join("thesis.backup-links/kept").exists());
    assert!(!data.join("1-2.backup-links").exists(), "what a killed process left");
}

#[test]
fn a_copy_is_compared_with_its_manifest() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    engine.flush().unwrap();
    let target = folder.path().join("restored");
    let check = |name: &str, damage: &dyn Fn(&Path), wanted: &str| {
        let copy = folder.path().join(name);
        back_up(&engine, &copy).unwrap();
        damage(&copy);
        let message = check_error(backup::restore(&copy, &target, &mut |_| ()), ErrorKind::Corrupt);
        assert!(message.contains(wanted) && message.contains("another"), "{message}");
    };
    let manifest = |copy: &Path| std::fs::read_to_string(copy.join("BACKUP")).unwrap();
    let rewrite = |copy: &Path, text: &str| std::fs::write(copy.join("BACKUP"), text).unwrap();
    let table = |copy: &Path| {
        let mut files =
            std::fs::read_dir(copy.join("store")).unwrap().map(|file| file.unwrap().path());
        files.find(|file| file.extension().is_some_and(|ending| ending == "sst")).unwrap()
    };
    // Zeros in place of a table, as after a power cut on the target's disk.
    check(
        "zeros",
        &|copy| {
            let (table, bytes) = (table(copy), table(copy).metadata().unwrap().len());
            std::fs::remove_file(&table).unwrap();
            std::fs::write(table, vec![0; usize::try_from(bytes).unwrap()]).unwrap();
        },
        "ends in other bytes",
    );
    check("gone", &|copy| std::fs::remove_file(table(copy)).unwrap(), "is missing");
    check(
        "cut",
        &|copy| {
            let text = manifest(copy);
            let lines: Vec<_> = text.lines().collect();
            rewrite(copy, &format!("{}\n", lines[..lines.len() - 3].join("\n")));
        },
        "its file BACKUP is damaged",
    );
    check(
        "upwards",
        &|copy| rewrite(copy, "pressmark backup 1\nsequence 1\n5 ../../../etc/passwd\n"),
        "its file BACKUP is damaged",
    );
}

#[test]
fn copies_of_earlier_versions_are_restored() {
    let (folder, engine) = engine();
    put_pair(&engine, 1);
    let copy = folder.path().join("copy");
    back_up(&engine, &copy).unwrap();
    let mut text = format!("pressmark backup 1\nsequence {}\n", engine.log_range().newest);
    for file in std::fs::read_dir(copy.join("store")).unwrap() {
        let file = file.unwrap();
        let (bytes, name) = (file.metadata().unwrap().len(), file.file_name());
        text.push_str(&format!("{bytes} {}\n", name.display()));
    }
    std::fs::write(copy.join("BACKUP"), text).unwrap();
    let restored = folder.path().join("restored");
    backup::restore(&copy, &restored, &mut |_| ()).unwrap();
    assert_eq!(read_text(&open(&restored), "docs://h/one"), read_text(&engine, "docs://h/one"));
}
