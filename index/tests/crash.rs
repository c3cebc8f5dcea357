//! A process that ends at any moment: what it had acknowledged is there, nothing is torn, nothing is counted twice.
//!
//! A child commits from several threads and tells each acknowledged change over a pipe. It is killed; in the tests
//! named after a power cut the files then lose what was not synced. The parent opens what is left and compares.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::child::{Disk, child, folder, tell};
use common::*;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::mutation::{Applied, ChangeKind, Mutation};
use pressmark_index::space::{ListMode, SpaceSettings};
use pressmark_index::writer::Durability;

const THREADS: u64 = 3;
const URIS_PER_THREAD: u64 = 12;
const RESOURCES_PER_SPACE: u64 = 30;
/// Rounds that go on in one folder before the next begins with an empty one.
const ROUNDS_PER_FOLDER: usize = 10;
/// Far beyond a test's end: only what is asked for is synced.
const NEVER: Duration = Duration::from_secs(24 * 3600);

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

// === the child ===

fn open_as(folder: &Path, durability: Durability) -> Engine {
    Engine::open(folder, &EngineOptions { durability, ..options() }).unwrap()
}

fn settings(name: &str) -> SpaceSettings {
    let mut settings = SpaceSettings::new(name, format!("{name}://x/{{+path}}"));
    settings.list = ListMode::All;
    settings
}

/// What a step writes: from a few bytes to what is stored in chunks and in blob files.
fn body(uri: &str, step: u64) -> String {
    let mut text = format!("{uri} at step {step}: ");
    let mut random = Random(step);
    let length =
        if random.below(8) == 0 { 50_000 + random.below(200_000) } else { random.below(600) };
    while (text.len() as u64) < length {
        text.push_str(&format!("{:016x}\n", random.below(u64::MAX)));
    }
    text
}

fn put_of(space: &str, uri: &str, step: u64) -> Mutation {
    Mutation::Put(Box::new(text(space, uri, &body(uri, step))))
}

/// Commits and tells what came of it once it is acknowledged.
fn commit(engine: &Engine, step: u64, mutations: Vec<Mutation>) {
    for result in engine.commit(mutations).unwrap() {
        let Applied { uri, outcome, version, sequence, .. } = result.unwrap();
        if let Some(sequence) = sequence {
            tell(&format!("ack {sequence} {version} {outcome:?} {step} {uri}"));
        }
    }
}

fn change_resources(engine: &Engine, seed: u64, first_step: u64, thread: u64) {
    let mut random = Random(seed ^ thread << 32);
    for step in first_step.. {
        let uri = |number| format!("docs://x/{thread}/{number}");
        let one = uri(random.below(URIS_PER_THREAD));
        commit(
            engine,
            step,
            match random.below(10) {
                0 | 1 => vec![Mutation::Delete { uri: one }],
                2 => {
                    (0..URIS_PER_THREAD).map(|number| put_of("docs", &uri(number), step)).collect()
                }
                _ => vec![put_of("docs", &one, step)],
            },
        );
    }
}

fn add_and_remove_a_space(engine: &Engine, step: u64) {
    let name = format!("s{step}");
    engine.put_space(settings(&name)).unwrap();
    let puts = (0..RESOURCES_PER_SPACE).map(|n| put_of(&name, &format!("{name}://x/{n}"), step));
    commit(engine, step, puts.collect());
    tell(&format!("removing {name}"));
    assert_eq!(engine.remove_space(&name).unwrap(), RESOURCES_PER_SPACE);
    tell(&format!("removed {name}"));
}

fn flush(engine: &Engine) {
    let newest = engine.log_range().newest;
    engine.flush().unwrap();
    tell(&format!("flushed {newest}"));
}

#[test]
fn child_that_commits_without_end() {
    let Some(folder) = folder() else { return };
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let (seed, first_step) = (number("SEED"), number("FIRST_STEP"));
    let durability = match number("SYNC") {
        0 => Durability::Interval(NEVER),
        _ => Durability::Sync,
    };
    tell("");
    let engine = Arc::new(open_as(&folder, durability));
    engine.put_space(settings("docs")).unwrap();
    for thread in 0..THREADS {
        let engine = Arc::clone(&engine);
        std::thread::spawn(move || change_resources(&engine, seed, first_step, thread));
    }
    for step in first_step.. {
        add_and_remove_a_space(&engine, step);
        flush(&engine);
    }
}

#[test]
fn child_with_a_short_life() {
    let Some(folder) = folder() else { return };
    tell("");
    let engine = open_as(&folder, Durability::Sync);
    engine.put_space(settings("docs")).unwrap();
    for step in 0..6 {
        commit(
            &engine,
            step,
            vec![put_of("docs", "docs://x/0/0", step), put_of("docs", "docs://x/0/1", step)],
        );
    }
    commit(&engine, 6, vec![Mutation::Delete { uri: "docs://x/0/1".into() }]);
    add_and_remove_a_space(&engine, 7);
    flush(&engine);
    commit(&engine, 8, vec![put_of("docs", "docs://x/0/1", 8)]);
    add_and_remove_a_space(&engine, 9);
}

// === the parent ===

/// What the child told of a change.
#[derive(Debug)]
struct Acknowledged {
    version: u64,
    kind: ChangeKind,
    step: u64,
    uri: String,
}

/// All that was told about one folder.
#[derive(Default)]
struct Told {
    /// By sequence number.
    changes: BTreeMap<u64, Acknowledged>,
    /// Spaces whose removal was begun; whether it was acknowledged.
    removals: BTreeMap<String, bool>,
    /// The last sequence number that was in tables.
    flushed: u64,
}

impl Told {
    /// Takes a line, if it is a whole one; true when it told of a change.
    fn take(&mut self, line: &str) -> bool {
        let Some(line) = line.strip_suffix('\n') else { return false };
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ack", sequence, version, outcome, step, uri] => {
                let kind = match outcome {
                    "Created" => ChangeKind::Created,
                    "Updated" => ChangeKind::Updated,
                    "Deleted" => ChangeKind::Deleted,
                    other => panic!("{other}"),
                };
                let (version, step) = (version.parse().unwrap(), step.parse().unwrap());
                let told = Acknowledged { version, kind, step, uri: uri.into() };
                assert!(self.changes.insert(sequence.parse().unwrap(), told).is_none(), "{line}");
                true
            }
            ["removing", name] => self.removals.insert(name.into(), false).is_some(),
            ["removed", name] => self.removals.insert(name.into(), true).is_none(),
            ["flushed", sequence] => {
                self.flushed = sequence.parse().unwrap();
                false
            }
            _ => false,
        }
    }

    /// Reads what a child tells until it was killed: after `ack_count` changes and `byte_count` bytes more.
    fn until_killed(&mut self, mut child: Child, ack_count: u64, byte_count: u64) {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut acks = 0;
        let mut line = String::new();
        while acks < ack_count {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "the child ended by itself");
            acks += u64::from(self.take(&line));
        }
        let mut rest = Vec::new();
        out.by_ref().take(byte_count).read_to_end(&mut rest).unwrap();
        child.kill().unwrap();
        out.read_to_end(&mut rest).unwrap();
        child.wait().unwrap();
        self.take_all(&rest);
    }

    fn take_all(&mut self, bytes: &[u8]) {
        for line in String::from_utf8_lossy(bytes).split_inclusive('\n') {
            self.take(line);
        }
    }

    /// Opens what is left and compares it with what was told; the number of changes compared.
    #[track_caller]
    fn check(&mut self, folder: &Path, place: &str) -> usize {
        let engine = open(folder);
        let report = engine.verify(&mut |_| ()).unwrap();
        assert!(report.is_clean(), "{place}: {:#?}", report.findings);
        let newest = engine.log_range().newest;
        let changes = engine.changes_after(0, usize::MAX).unwrap();
        assert_eq!(changes.len() as u64, newest, "{place}: the change log has a gap");
        let mut last = BTreeMap::new();
        for change in &changes {
            last.insert(change.uri.as_str(), (change.sequence, change.kind));
        }
        for (sequence, told) in &self.changes {
            let change = changes.get(usize::try_from(*sequence).unwrap() - 1);
            let change = change.unwrap_or_else(|| panic!("{place}: {sequence} is lost, {told:?}"));
            assert_eq!(
                (change.sequence, change.version, change.kind, &change.uri),
                (*sequence, told.version, told.kind, &told.uri),
                "{place}"
            );
        }
        for (uri, (sequence, kind)) in last {
            match (kind, self.changes.get(&sequence)) {
                (ChangeKind::Deleted, _) => check_not_found(&engine, uri),
                (_, Some(told)) => {
                    assert!(read_text(&engine, uri) == body(uri, told.step), "{place}: {uri}");
                }
                (_, None) => assert!(read_text(&engine, uri).starts_with(uri), "{place}: {uri}"),
            }
        }
        self.check_removals(&engine, place);
        if engine.spaces().by_name("docs").is_none() {
            engine.put_space(settings("docs")).unwrap();
        }
        let before = engine.log_range().newest;
        let applied = put(
            &engine,
            text("docs", "docs://x/after", &format!("docs://x/after {place}, {before}")),
        )
        .unwrap();
        assert_eq!(applied.sequence, Some(before + 1), "{place}");
        self.changes.len()
    }

    /// A space is there as a whole or gone as a whole, and its name is free again.
    #[track_caller]
    fn check_removals(&self, engine: &Engine, place: &str) {
        for (name, acknowledged) in &self.removals {
            match engine.spaces().by_name(name) {
                Some(space) => {
                    assert!(!acknowledged, "{place}: `{name}` came back");
                    assert_eq!(space.resource_count(), RESOURCES_PER_SPACE, "{place}: `{name}`");
                    engine.remove_space(name).unwrap();
                }
                None if !acknowledged => {
                    engine.put_space(settings(name)).unwrap();
                    assert_eq!(engine.remove_space(name).unwrap(), 0, "{place}: `{name}`");
                }
                None => {}
            }
        }
    }

    /// Forgets what came after `newest`.
    fn forget_after(&mut self, newest: u64) -> usize {
        self.changes.split_off(&(newest + 1)).len()
    }
}

fn endless_child(folder: &Path, seed: u64, round: u64, sync: bool) -> Command {
    let mut command = child("child_that_commits_without_end", folder);
    command
        .env("SEED", (seed + round).to_string())
        .env("FIRST_STEP", (round * 1_000_000).to_string())
        .env("SYNC", u8::from(sync).to_string())
        .stdout(Stdio::piped());
    command
}

/// Figures for whoever runs the test with `--nocapture`.
fn report(name: &str, began: Instant, kills: u64, checked: usize, lost: u64) {
    tell(&format!(
        "{name}: {kills} kills, {checked} acknowledged changes compared, {lost} bytes lost at the cuts, {:.1} s",
        began.elapsed().as_secs_f64()
    ));
}

fn rounds(name: &str, seed: u64, count: u64, disk: Option<&Disk>) {
    let began = Instant::now();
    let (mut checked, mut lost) = (0, 0);
    for first in (0..count).step_by(ROUNDS_PER_FOLDER) {
        let folder = tempfile::tempdir().unwrap();
        let mut told = Told::default();
        for round in first..count.min(first + ROUNDS_PER_FOLDER as u64) {
            let mut random = Random(seed ^ round);
            let mut command = endless_child(folder.path(), seed, round, true);
            if let Some(disk) = disk {
                disk.attach(&mut command, folder.path());
            }
            let (acks, bytes) = (1 + random.below(80), random.below(400));
            told.until_killed(command.spawn().unwrap(), acks, bytes);
            lost += disk.map_or(0, |disk| disk.cut_power(folder.path()));
            let all = told.check(folder.path(), &format!("{name}, seed {seed}, round {round}"));
            if round + 1 == count.min(first + ROUNDS_PER_FOLDER as u64) {
                checked += all;
            }
            disk.inspect(|disk| disk.all_is_synced(folder.path()));
        }
    }
    report(name, began, count, checked, lost);
    assert!(disk.is_none() || lost > 0, "the power cuts took nothing away");
}

#[test]
fn what_was_acknowledged_outlives_a_kill() {
    rounds("kill", 7_411, 100, None);
}

#[test]
fn what_was_acknowledged_outlives_a_power_cut() {
    rounds("power cut", 7_412, 100, Some(&Disk::new()));
}

#[test]
fn a_power_cut_before_any_sync_leaves_a_sound_store() {
    let began = Instant::now();
    let disk = Disk::new();
    let (mut checked, mut lost, mut interrupted) = (0, 0, 0);
    for kill_at in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let mut command = child("child_with_a_short_life", folder.path());
        disk.attach(&mut command, folder.path()).env("DISK_KILL_AT", kill_at.to_string());
        let output = command.output().unwrap();
        if output.status.success() {
            report("power cut before each sync", began, kill_at - 1, checked, lost);
            assert!(
                interrupted >= 4,
                "two removals of three batches each, but {interrupted} interrupted"
            );
            return;
        }
        assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
        let mut told = Told::default();
        told.take_all(&output.stdout);
        lost += disk.cut_power(folder.path());
        interrupted += told.removals.values().filter(|acknowledged| !**acknowledged).count();
        checked += told.check(folder.path(), &format!("before sync {kill_at}"));
    }
}

#[test]
fn with_an_interval_a_power_cut_takes_the_tail_only() {
    let began = Instant::now();
    let disk = Disk::new();
    let (mut checked, mut lost_bytes, mut lost_changes) = (0, 0, 0);
    let count = 20;
    for round in 0..count {
        let folder = tempfile::tempdir().unwrap();
        let mut told = Told::default();
        let mut random = Random(7_413 ^ round);
        let mut command = endless_child(folder.path(), 7_413, round, false);
        disk.attach(&mut command, folder.path());
        let (acks, bytes) = (40 + random.below(200), random.below(400));
        told.until_killed(command.spawn().unwrap(), acks, bytes);
        let place = format!("interval, round {round}");
        // What the operating system has outlives the process.
        if round % 4 != 0 {
            lost_bytes += disk.cut_power(folder.path());
            let newest = open(folder.path()).log_range().newest;
            assert!(newest >= told.flushed, "{place}: {newest} is before {}", told.flushed);
            lost_changes += told.forget_after(newest);
            // A removal in the tail that was lost is not known to be one.
            told.removals.clear();
        }
        checked += told.check(folder.path(), &place);
    }
    report("power cut with an interval", began, count, checked, lost_bytes);
    assert!(lost_changes > 0, "the power cuts took nothing away");
}
