//! The data directory: what it holds is for its owner only, and nothing in it is lost unnoticed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::child::{check_success, child_after, folder};
use common::*;
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::mutation::Mutation;
use pressmark_index::space::SpaceSettings;

fn filled(data: &Path, count: usize) -> Engine {
    let engine = open(data);
    engine.put_space(SpaceSettings::new("docs", "docs://h/{name}")).unwrap();
    for number in 0..count {
        put(&engine, text("docs", &format!("docs://h/{number}"), "a text")).unwrap();
    }
    engine
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_directory_that_others_may_look_into_holds_nothing_that_they_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // Made by hand, with what an earlier program left in it.
    for name in ["", "store", "completion", "full_text"] {
        fs::create_dir_all(data.join(name)).unwrap();
        fs::set_permissions(data.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let engine = filled(&data, 10);
    engine.flush().unwrap();
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}: {:o}", path.display(), mode(&path));
    }
    assert_eq!(mode(&data), 0o755, "the directory itself stays as its owner made it");
    let copy = folder.path().join("copy");
    let request = pressmark_index::backup::BackupRequest { folder: &copy, previous: None };
    engine.backup(&request, &mut |_| ()).unwrap();
    assert_eq!(mode(&copy), 0o700);
}

#[test]
fn a_folder_with_other_files_in_the_places_of_a_store_is_refused() {
    for name in
        ["completion/thesis.odt", "full_text/a.txt", "store/goods.csv", "ADMIN", "write-probe"]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        let message =
            check_error(Engine::open(folder.path(), &options()).map(drop), ErrorKind::Conflict);
        assert!(message.contains(name.split('/').next().unwrap()), "{message}");
        assert!(message.contains("name an empty folder"), "{message}");
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
    }
}

/// The newest write-ahead log.
fn wal(data: &Path) -> PathBuf {
    let logs = fs::read_dir(data.join("store")).unwrap().map(|entry| entry.unwrap().path());
    let logs = logs.filter(|path| path.extension().is_some_and(|ending| ending == "log"));
    logs.filter(|path| fs::metadata(path).unwrap().len() > 0).max().unwrap()
}

#[test]
fn a_log_that_was_cut_or_deleted_is_noticed() {
    let check = |damage: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let engine = filled(&data, 20);
        engine.flush().unwrap();
        for number in 0..20 {
            put(&engine, text("docs", &format!("docs://h/{number}"), "another text")).unwrap();
        }
        drop(engine);
        damage(&data);
        let message = check_error(Engine::open(&data, &options()).map(drop), ErrorKind::Corrupt);
        for wanted in ["was shortened or deleted", "restore a backup", "delete ", "/NEWEST"] {
            assert!(message.contains(wanted), "{message}");
        }
        // It is said each time, until the operator decides.
        check_error(Engine::open(&data, &options()).map(drop), ErrorKind::Corrupt);
        fs::remove_file(data.join("NEWEST")).unwrap();
        let engine = open(&data);
        assert_eq!(read_text(&engine, "docs://h/19"), "a text");
        check_clean(&engine);
        drop(engine);
        check_clean(&open(&data));
    };
    check(&|data| fs::remove_file(wal(data)).unwrap());
    check(&|data| fs::write(wal(data), "").unwrap());
    check(&|data| {
        let log = fs::OpenOptions::new().write(true).open(wal(data)).unwrap();
        log.set_len(log.metadata().unwrap().len() / 2).unwrap();
    });
}

#[test]
fn a_store_without_the_number_or_with_another_stores_number_opens() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    drop(filled(&one, 20));
    drop(filled(&two, 1));
    fs::copy(one.join("NEWEST"), two.join("NEWEST")).unwrap();
    drop(open(&two));
    for content in [&b""[..], b"PmN1", &[0; 20], &[0xFF; 20]] {
        fs::write(one.join("NEWEST"), content).unwrap();
        drop(open(&one));
    }
    fs::remove_file(one.join("NEWEST")).unwrap();
    assert_eq!(read_text(&open(&one), "docs://h/0"), "a text");
}

#[test]
fn child_that_reads() {
    let Some(folder) = folder() else { return };
    let engine = open(&folder.join("data"));
    assert_eq!(read_text(&engine, "docs://h/0"), "a text");
    let health = engine.health();
    assert!(!health.writable, "{health:?}");
    assert!(health.reason.unwrap().contains("Read-only file system"));
    let put = Mutation::Put(Box::new(text("docs", "docs://h/0", "more")));
    check_error(engine.commit(vec![put]), ErrorKind::Poisoned);
}

#[test]
fn a_store_on_a_read_only_file_system_is_read() {
    for has_lock in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        drop(filled(&folder.path().join("data"), 3));
        if !has_lock {
            fs::remove_file(folder.path().join("data/LOCK")).unwrap();
        }
        let script = "unshare --mount true 2>/dev/null && as= || as='--user --map-root-user'; \
                      exec unshare $as --mount sh -c 'mount --bind \"$PRESSMARK_TEST_FOLDER\" \"$PRESSMARK_TEST_FOLDER\" && \
                      mount -o remount,ro,bind \"$PRESSMARK_TEST_FOLDER\" && exec \"$@\"' sh \"$@\"";
        let output = child_after(script, "child_that_reads", folder.path()).output().unwrap();
        check_success(&output);
    }
}
