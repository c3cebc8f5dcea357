//! A disk that refuses writes for a while: reads go on, writes are refused with the reason, and are taken again by
//! themselves once the cause is gone.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::child::{Disk, check_success, child, child_on_tmpfs, fail, folder, tell};
use common::*;
use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::error::{Error, ErrorKind};
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Resource, SourceMark};
use pressmark_index::space::SpaceSettings;
use pressmark_index::writer::Durability;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
/// Far more than recovery takes; only a test that fails waits so long.
const RECOVERY_MAX: Duration = Duration::from_secs(120);

/// What a child says when all its checks have passed.
const LAST_WORD: &str = "all checked";

/// Asks until the answer is yes.
#[track_caller]
fn until(what: &str, mut answer: impl FnMut() -> bool) {
    let began = Instant::now();
    while !answer() {
        assert!(began.elapsed() < RECOVERY_MAX, "not yet: {what}");
        std::thread::yield_now();
    }
}

fn open_with_space(folder: &Path, durability: Durability) -> Engine {
    let engine = Engine::open(folder, &EngineOptions { durability, ..options() }).unwrap();
    engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    engine
}

fn restricted(uri: &str, body: &str, group: &str) -> Resource {
    Resource { acl: Some(vec![group.into()]), ..text("docs", uri, body) }
}

fn try_put(engine: &Engine, resource: Resource) -> Result<(), Error> {
    engine.commit(vec![Mutation::Put(Box::new(resource))])?.remove(0).map(drop)
}

/// The error with what caused it, as it is logged.
fn chain(error: &Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    format!("{error}: {}", source.unwrap_or_default())
}

#[track_caller]
fn check_refusing(engine: &Engine, reason: &str) {
    let health = engine.health();
    assert!(!health.writable && health.since.is_some(), "{health:?}");
    assert!(health.reason.as_ref().is_some_and(|text| text.contains(reason)), "{health:?}");
    let refused =
        check_error(try_put(engine, text("docs", "docs://h/c", "c")), ErrorKind::Poisoned);
    assert!(refused.contains(reason) && refused.contains("reads go on"), "{refused}");
    check_error(engine.put_space(SpaceSettings::new("more", "more://{x}")), ErrorKind::Poisoned);
    check_error(engine.remove_space("docs"), ErrorKind::Poisoned);
    assert_eq!(read_text(engine, "docs://h/a"), "a");
    assert!(uris(&list_all(engine, &Access::anonymous(), 10)).contains(&"docs://h/a".to_owned()));
}

/// After recovery: all that was acknowledged, in a sound store, that takes more.
#[track_caller]
fn check_recovered(engine: &Engine) {
    assert!(engine.health().writable);
    assert_eq!(read_text(engine, "docs://h/a"), "a");
    let before = engine.log_range().newest;
    let applied = put(engine, restricted("docs://h/d", "d", "group-2")).unwrap();
    assert_eq!(applied.sequence, Some(before + 1));
    let member = Access::anonymous().with_groups(["group-2"]);
    assert_eq!(read_as(engine, "docs://h/d", &member).unwrap()[0]["text"], "d");
    check_not_found(engine, "docs://h/d");
    assert_eq!(engine.changes_after(0, 1_000).unwrap().len() as u64, engine.log_range().newest);
    check_clean(engine);
}

/// What each child does: the disk refuses, mends itself, and refuses again.
fn fails_and_recovers(folder: &Path, kind: &str, error: i32, reason: &str) {
    let engine = open_with_space(folder, Durability::Sync);
    put(&engine, text("docs", "docs://h/a", "a")).unwrap();
    for round in 0..2 {
        fail(kind, Some(error));
        let body = format!("b, round {round}");
        let failed = try_put(&engine, restricted("docs://h/b", &body, "group-1")).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Io);
        assert!(chain(&failed).contains(reason), "{}", chain(&failed));
        check_refusing(&engine, reason);
        fail(kind, None);
        until("a commit is taken", || {
            try_put(&engine, restricted("docs://h/b", &body, "group-1")).is_ok()
        });
        let member = Access::anonymous().with_groups(["group-1"]);
        assert_eq!(read_as(&engine, "docs://h/b", &member).unwrap()[0]["text"], body.as_str());
        check_recovered(&engine);
        engine.commit(vec![Mutation::Delete { uri: "docs://h/d".into() }]).unwrap();
    }
    tell(LAST_WORD);
    // No destructor writes anything now, and the parent cuts the power.
    std::process::abort();
}

/// Runs a child that ends by aborting; what it had acknowledged outlives that and a power cut.
fn run_child_and_cut_power(test: &str) {
    let (disk, folder) = (Disk::new(), tempfile::tempdir().unwrap());
    let mut command = child(test, folder.path());
    let output = disk.attach(&mut command, folder.path()).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains(LAST_WORD), "{out}{err}");
    disk.cut_power(folder.path());
    let engine = open(folder.path());
    let member = Access::anonymous().with_groups(["group-1"]);
    assert_eq!(read_as(&engine, "docs://h/b", &member).unwrap()[0]["text"], "b, round 1");
    check_not_found(&engine, "docs://h/d");
    check_recovered(&engine);
}

fn run_child(test: &str) {
    let (disk, folder) = (Disk::new(), tempfile::tempdir().unwrap());
    let mut command = child(test, folder.path());
    check_success(&disk.attach(&mut command, folder.path()).output().unwrap());
}

#[test]
fn child_whose_writes_fail() {
    let Some(folder) = folder() else { return };
    fails_and_recovers(&folder, "fail-write", EIO, "Input/output error");
}

#[test]
fn writes_that_failed_are_refused_until_writing_works() {
    run_child_and_cut_power("child_whose_writes_fail");
}

#[test]
fn child_whose_syncs_fail() {
    let Some(folder) = folder() else { return };
    fails_and_recovers(&folder, "fail-sync", EIO, "Input/output error");
}

#[test]
fn syncs_that_failed_are_not_believed_when_they_work_again() {
    run_child_and_cut_power("child_whose_syncs_fail");
}

#[test]
fn child_whose_disk_is_said_to_be_full() {
    let Some(folder) = folder() else { return };
    fails_and_recovers(&folder, "fail-write", ENOSPC, "No space left on device");
}

#[test]
fn a_disk_that_says_it_is_full_is_asked_again() {
    run_child_and_cut_power("child_whose_disk_is_said_to_be_full");
}

#[test]
fn child_whose_syncs_fail_in_the_background() {
    let Some(folder) = folder() else { return };
    let engine = open_with_space(&folder, Durability::Interval(Duration::from_millis(5)));
    put(&engine, text("docs", "docs://h/a", "a")).unwrap();
    fail("fail-sync", Some(EIO));
    until("the failed sync is noticed", || !engine.health().writable);
    check_refusing(&engine, "Input/output error");
    fail("fail-sync", None);
    // Nobody submits anything meanwhile.
    until("writes are taken", || engine.health().writable);
    check_recovered(&engine);
}

#[test]
fn a_sync_that_fails_between_commits_is_noticed_and_mended() {
    run_child("child_whose_syncs_fail_in_the_background");
}

#[test]
fn child_that_reads_for_long() {
    let Some(folder) = folder() else { return };
    let engine = open_with_space(&folder, Durability::Sync);
    let source = Some(SourceMark { source_id: 7, fingerprint: vec![1] });
    put(&engine, Resource { source, ..text("docs", "docs://h/a", "a") }).unwrap();
    fail("fail-sync", Some(EIO));
    try_put(&engine, text("docs", "docs://h/b", "b")).unwrap_err();
    let mut seen = 0;
    engine
        .each_of_source(7, |_| {
            fail("fail-sync", None);
            until("recovery waits for this read", || {
                engine.health().reason.is_some_and(|reason| reason.contains("a long read"))
            });
            check_refusing(&engine, "a long read");
            seen += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, 1);
    until("writes are taken", || engine.health().writable);
    check_recovered(&engine);
}

#[test]
fn a_long_read_holds_up_recovery_and_no_other_read() {
    run_child("child_that_reads_for_long");
}

// === a file system that is really full ===

const TMPFS_MEBIBYTES: u32 = 48;
const BALLAST_BYTES: usize = 20 << 20;

fn large(number: usize) -> Resource {
    text("docs", &format!("docs://h/{number}"), &format!("{number:09}\n").repeat(10_000))
}

#[track_caller]
fn check_large(engine: &Engine, count: usize) {
    for number in 0..count {
        assert_eq!(read_text(engine, &format!("docs://h/{number}")).len(), 100_000, "{number}");
    }
    check_clean(engine);
}

#[test]
fn child_on_a_full_disk() {
    let Some(folder) = folder() else { return };
    let (ballast, data) = (folder.join("ballast"), folder.join("data"));
    std::fs::write(&ballast, vec![1; BALLAST_BYTES]).unwrap();
    let engine = open_with_space(&data, Durability::Sync);
    let mut acknowledged = 0;
    let failed = loop {
        match try_put(&engine, large(acknowledged)) {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    let began = Instant::now();
    assert_eq!(failed.kind(), ErrorKind::Io);
    assert!(chain(&failed).contains("No space left on device"), "{}", chain(&failed));
    let health = engine.health();
    assert!(
        health.reason.as_ref().is_some_and(|text| text.contains("No space left")),
        "{health:?}"
    );
    check_large(&engine, acknowledged);
    check_error(try_put(&engine, large(acknowledged)), ErrorKind::Poisoned);
    std::fs::remove_file(&ballast).unwrap();
    until("a commit is taken", || try_put(&engine, large(acknowledged)).is_ok());
    let recovered = began.elapsed();
    acknowledged += 1;
    assert!(engine.health().writable);
    check_large(&engine, acknowledged);
    drop(engine);
    check_large(&open(&data), acknowledged);
    tell(&format!(
        "\nfull disk: {acknowledged} resources of 100,000 bytes acknowledged, recovered after {:.1} s",
        recovered.as_secs_f64()
    ));
}

#[test]
fn a_full_disk_keeps_nobody_from_reading_and_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        child_on_tmpfs(TMPFS_MEBIBYTES, "child_on_a_full_disk", folder.path()).output().unwrap();
    check_success(&output);
    let out = String::from_utf8_lossy(&output.stdout);
    out.lines().filter(|line| line.starts_with("full disk")).for_each(tell);
}

#[test]
fn child_that_opens_a_store_on_a_full_disk() {
    let Some(folder) = folder() else { return };
    let (ballast, data) = (folder.join("ballast"), folder.join("data"));
    std::fs::write(&ballast, vec![1; BALLAST_BYTES]).unwrap();
    let engine = open_with_space(&data, Durability::Sync);
    let mut acknowledged = 0;
    while try_put(&engine, large(acknowledged)).is_ok() {
        acknowledged += 1;
    }
    drop(engine);
    // What closing set free is taken too.
    let mut filler = std::fs::File::create(folder.join("filler")).unwrap();
    while std::io::Write::write(&mut filler, &[1; 4096]).is_ok_and(|written| written > 0) {}
    for _ in 0..2 {
        let engine = open(&data);
        let health = engine.health();
        assert!(!health.writable && health.since.is_some(), "{health:?}");
        assert!(health.reason.is_some_and(|text| text.contains("No space left")));
        let refused = check_error(try_put(&engine, large(0)), ErrorKind::Poisoned);
        assert!(refused.contains("No space left") && refused.contains("reads go on"), "{refused}");
        check_large(&engine, acknowledged);
    }
    let engine = open(&data);
    std::fs::remove_file(&ballast).unwrap();
    until("a commit is taken", || try_put(&engine, large(acknowledged)).is_ok());
    acknowledged += 1;
    assert!(engine.health().writable);
    check_large(&engine, acknowledged);
    drop(engine);
    check_large(&open(&data), acknowledged);
}

#[test]
fn a_store_on_a_full_disk_is_opened_for_reading_until_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let child = "child_that_opens_a_store_on_a_full_disk";
    check_success(&child_on_tmpfs(TMPFS_MEBIBYTES, child, folder.path()).output().unwrap());
}

#[test]
fn child_whose_disk_fails_when_the_store_is_opened() {
    let Some(folder) = folder() else { return };
    let engine = open_with_space(&folder, Durability::Sync);
    put(&engine, text("docs", "docs://h/a", "a")).unwrap();
    drop(engine);
    fail("fail-sync", Some(EIO));
    let engine = open(&folder);
    check_refusing(&engine, "Input/output error");
    fail("fail-sync", None);
    until("writes are taken", || engine.health().writable);
    check_recovered(&engine);
}

#[test]
fn a_store_whose_disk_fails_is_opened_for_reading() {
    run_child("child_whose_disk_fails_when_the_store_is_opened");
}
