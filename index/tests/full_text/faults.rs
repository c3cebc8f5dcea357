//! The index is derived: whatever happens to it, the store goes on and the index comes back.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::full_text::{SearchNote, SearchRequest};
use pressmark_index::mutation::Mutation;

use crate::common::child::{Disk, check_success, child, fail};
use crate::common::{check_clean, delete, read_text};
use crate::library::*;

fn fill(folder: &Path) -> Engine {
    let engine = library(folder, &[]);
    put_all(&engine, (0..100).map(|n| document(&format!("n{n}"), "", &format!("word w{n}"))));
    assert_eq!(search(&engine, "word").total, 100);
    engine
}

/// Opens again and checks that all is found.
#[track_caller]
fn check_comes_back(folder: &Path) {
    check_is_whole(&open(folder));
}

/// The same of an index that is damaged: the first check of the store tells of it.
#[track_caller]
fn check_comes_back_from_damage(folder: &Path, told: &str) {
    let engine = open(folder);
    let report = engine.verify(&mut |_| {}).unwrap();
    assert_eq!(report.fault_count, 1, "{told}: {:?}", report.findings);
    let finding = &report.findings[0];
    assert!(finding.starts_with("full text: ") && finding.contains(told), "{told}: {finding}");
    assert!(finding.contains("made anew"), "{finding}");
    wait_for_discards(&engine, 1);
    check_is_whole(&engine);
}

#[track_caller]
fn check_is_whole(engine: &Engine) {
    let page = search(engine, "word");
    assert_eq!((page.total, page.notes), (100, Vec::new()));
    check_clean(engine);
    delete(engine, "docs://library/n7");
    put_all(engine, [document("n101", "", "word again")]);
    assert_eq!(search(engine, "word").total, 100);
    check_clean(engine);
}

fn wait_for_discards(engine: &Engine, count: u64) {
    let deadline = Instant::now() + TIME_MAX;
    while engine.stats().unwrap().full_text.unwrap().discarded < count {
        assert!(Instant::now() < deadline, "{:?}", engine.full_text_progress());
        std::thread::yield_now();
    }
}

/// Changes a byte in the middle of the largest file of a kind; returns the file's name.
fn damage(folder: &Path, extension: &str) -> String {
    let files = fs::read_dir(folder.join("full_text")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|found| found == extension));
    let path = files.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let footer = last_of(&bytes, b"{\"version\"");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.write_at(&[bytes[footer / 2] ^ 0x55], u64::try_from(footer / 2).unwrap()).unwrap();
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn last_of(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).rposition(|window| window == wanted).unwrap()
}

const EXTENSIONS: [&str; 6] = ["pos", "idx", "term", "store", "fieldnorm", "fast"];

#[test]
fn a_file_that_was_changed_is_found_after_a_start() {
    for extension in EXTENSIONS {
        let folder = tempfile::tempdir().unwrap();
        drop(fill(folder.path()));
        let name = damage(folder.path(), extension);
        check_comes_back_from_damage(folder.path(), &name);
    }
}

#[test]
fn a_file_that_is_changed_while_it_is_used_is_found_by_a_check_of_the_store() {
    for extension in EXTENSIONS {
        let folder = tempfile::tempdir().unwrap();
        let engine = fill(folder.path());
        check_clean(&engine);
        let name = damage(folder.path(), extension);
        for _ in 0..2 {
            let report = engine.verify(&mut |_| {}).unwrap();
            assert_eq!(report.fault_count, 1, "{extension}: {:?}", report.findings);
            let finding = &report.findings[0];
            assert!(finding.contains(&name) && finding.contains("`Reindex`"), "{finding}");
        }
        assert!(engine.remake_full_text());
        wait_for_discards(&engine, 1);
        check_is_whole(&engine);
    }
}

#[test]
fn the_first_search_after_a_start_waits_until_the_index_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let access = Access::anonymous();
    let engine = fill(folder.path());
    let cursor = engine.search(&request(&engine, "word", &access)).unwrap().next_cursor.unwrap();
    drop(engine);
    for cursor in [None, Some(cursor.as_str())] {
        let engine = open(folder.path());
        let request = request(&engine, "word", &access);
        let page = engine.search(&SearchRequest { after_sequence: None, cursor, ..request });
        let page = page.unwrap();
        assert_eq!((page.total, page.hits.len(), page.notes), (100, 50, Vec::new()), "{cursor:?}");
    }
}

#[test]
fn an_index_that_was_deleted_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    drop(fill(folder.path()));
    fs::remove_dir_all(folder.path().join("full_text")).unwrap();
    check_comes_back(folder.path());
}

#[test]
fn an_index_that_is_damaged_is_made_anew() {
    for damage in ["cut", "garbage", "missing", "meta"] {
        let folder = tempfile::tempdir().unwrap();
        drop(fill(folder.path()));
        let index = folder.path().join("full_text");
        for entry in fs::read_dir(&index).unwrap() {
            let path = entry.unwrap().path();
            let is_segment = path.extension().is_some_and(|extension| extension != "json")
                && !path.file_name().unwrap().to_str().unwrap().starts_with('.');
            let length = fs::metadata(&path).unwrap().len();
            let file = fs::File::options().write(true).open(&path).unwrap();
            match damage {
                "cut" if is_segment => file.set_len(length / 2).unwrap(),
                "garbage" if is_segment => {
                    fs::write(&path, vec![0x5a; usize::try_from(length).unwrap()]).unwrap();
                }
                "missing" if is_segment => fs::remove_file(&path).unwrap(),
                "meta" if path.ends_with("meta.json") => fs::write(&path, "{").unwrap(),
                _ => {}
            }
        }
        check_comes_back_from_damage(folder.path(), "");
    }
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    drop(fill(folder.path()));
    let meta = folder.path().join("full_text/meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    assert!(text.contains("schema=2"), "{text}");
    fs::write(&meta, text.replace("schema=2", "schema=1")).unwrap();
    check_comes_back(folder.path());
}

#[test]
fn a_store_without_full_text_catches_up_when_it_has_it_again() {
    let folder = tempfile::tempdir().unwrap();
    drop(fill(folder.path()));
    let without = Engine::open(folder.path(), &crate::common::options()).unwrap();
    assert!(try_search(&without, "word").is_err());
    put_all(&without, (0..100).map(|n| document(&format!("n{n}"), "", "word changed")));
    delete(&without, "docs://library/n5");
    put_all(&without, [document("n5", "", "word again")]);
    drop(without);
    check_comes_back(folder.path());
}

#[test]
fn a_log_that_does_not_reach_back_is_made_up_for() {
    let folder = tempfile::tempdir().unwrap();
    drop(fill(folder.path()));
    let forgetful =
        EngineOptions { change_log_retention: Duration::ZERO, ..crate::common::options() };
    for round in 0..3 {
        // The first commit of an engine looks for what is too old.
        let without = Engine::open(folder.path(), &forgetful).unwrap();
        put_all(
            &without,
            (0..30).map(|n| document(&format!("n{n}"), "", &format!("word r{round}"))),
        );
        delete(&without, &format!("docs://library/n9{round}"));
        put_all(&without, [document(&format!("new{round}"), "", "word")]);
    }
    assert!(Engine::open(folder.path(), &forgetful).unwrap().log_range().oldest > 100);
    let engine = open(folder.path());
    assert_eq!(search(&engine, "r2").total, 30);
    assert_eq!((search(&engine, "r1").total, search(&engine, "w91").total), (0, 0));
    assert_eq!(engine.stats().unwrap().full_text.unwrap().discarded, 0);
    check_clean(&engine);
    drop(engine);
    check_comes_back(folder.path());
}

#[test]
fn an_index_is_made_anew_when_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let engine = fill(folder.path());
    assert!(engine.remake_full_text());
    wait_for_discards(&engine, 1);
    put_all(&engine, [document("n101", "", "word")]);
    let page = search(&engine, "word");
    assert_eq!((page.total, page.notes), (101, Vec::new()));
    check_clean(&engine);
}

#[test]
fn a_removed_space_is_not_found_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let engine = fill(folder.path());
    engine.remove_space("docs").unwrap();
    let page = search(&engine, "word");
    assert_eq!((page.total, page.hits.len()), (0, 0));
    check_clean(&engine);
}

#[test]
fn many_changes_of_one_resource_leave_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[]);
    for round in 0..200 {
        match round % 4 {
            3 => drop(delete(&engine, "docs://library/n")),
            _ => put_all(&engine, [document("n", "", &format!("word round{round}"))]),
        }
    }
    let mutations = vec![
        Mutation::Put(Box::new(document("n", "", "word first"))),
        Mutation::Delete { uri: "docs://library/n".into() },
        Mutation::Put(Box::new(document("n", "", "word last"))),
    ];
    engine.commit(mutations).unwrap();
    assert_eq!(search(&engine, "word").total, 1);
    assert_eq!(search(&engine, "last").total, 1);
    check_clean(&engine);
}

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

#[test]
fn child_whose_index_cannot_be_written() {
    let Some(folder) = crate::common::child::folder() else { return };
    let engine = library(&folder, &[("before", "", "word")]);
    assert_eq!(search(&engine, "word").total, 1);
    for (kind, error) in [("fail-write", ENOSPC), ("fail-sync", EIO), ("fail-write", EIO)] {
        fail(kind, Some(error));
        let name = format!("{kind}{error}");
        put_all(&engine, [document(&name, "", "word")]);
        let uri = format!("docs://library/{name}");
        assert_eq!(read_text(&engine, &uri), "word");
        assert!(engine.health().writable);
        let deadline = Instant::now() + TIME_MAX;
        while engine.full_text_progress().unwrap().failure.is_none() {
            assert!(Instant::now() < deadline, "{:?}", engine.full_text_progress());
            std::thread::yield_now();
        }
        // What was found before still is, and the page says that it is behind.
        let access = pressmark_index::access::Access::anonymous();
        let request = request(&engine, "word", &access);
        let request = pressmark_index::full_text::SearchRequest {
            time_max: Duration::from_millis(200),
            ..request
        };
        let page = engine.search(&request).unwrap();
        assert!(page.total >= 1, "{page:?}");
        assert!(page.notes.contains(&pressmark_index::full_text::SearchNote::StillBehind));
        if kind == "fail-sync" {
            // So many that it is said without being asked for.
            put_all(&engine, (0..2_001).map(|n| document(&format!("more{n}"), "", "other")));
            let request =
                pressmark_index::full_text::SearchRequest { after_sequence: None, ..request };
            let page = engine.search(&request).unwrap();
            assert!(page.notes.contains(&pressmark_index::full_text::SearchNote::IndexFailing));
        }
        fail(kind, None);
        assert!(search(&engine, "word").hits.iter().any(|hit| hit.uri == uri));
        check_clean(&engine);
        assert_eq!(engine.full_text_progress().unwrap().failure, None);
    }
}

#[test]
fn an_index_that_cannot_be_written_stops_nobody() {
    let (disk, folder) = (Disk::new(), tempfile::tempdir().unwrap());
    let mut command = child("faults::child_whose_index_cannot_be_written", folder.path());
    disk.attach(&mut command, &folder.path().join("full_text"));
    check_success(&command.output().unwrap());
}

/// A process that ended in the middle of a commit left them: the name of a file of deletions is the next one's, too.
#[test]
fn files_that_nobody_names_are_removed_and_stall_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(fill(folder.path()));
    let index = folder.path().join("full_text");
    let stem = |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let segments: Vec<String> = fs::read_dir(&index)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "fast"))
        .map(stem)
        .collect();
    let mut planted: Vec<_> = segments
        .iter()
        .flat_map(|segment| (0..500).map(move |number| format!("{segment}.{number}.del")))
        .collect();
    let others = ["0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f.idx", ".tmpAbCdEf", "other.json"];
    planted.extend(others.map(str::to_owned));
    planted.iter().for_each(|name| fs::write(index.join(name), "left").unwrap());
    check_comes_back(folder.path());
    let left: Vec<_> = others.iter().filter(|name| index.join(name).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A search that waits for a change does not wait for an index that cannot be used.
#[test]
fn nobody_waits_long_for_an_index_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    drop(library(folder.path(), &[("a", "", "word")]));
    let index = folder.path().join("full_text");
    fs::remove_dir_all(&index).unwrap();
    fs::write(&index, "in the way").unwrap();
    let engine = open(folder.path());
    let begun = Instant::now();
    let page = search(&engine, "word");
    assert!(page.notes.contains(&SearchNote::IndexFailing), "{:?}", page.notes);
    // It would be three quarters of what a search may take.
    assert!(begun.elapsed() < TIME_MAX / 2, "{:?}", begun.elapsed());
}
