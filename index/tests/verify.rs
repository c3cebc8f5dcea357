//! `verify` finds what is wrong with everything that is derived, whichever side of it is.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::path::Path;

use pressmark_index::mutation::Mutation;
use pressmark_index::resource::Resource;

use pressmark_index::space::SpaceSettings;

use common::{check_clean, delete, open, options, text};

const RESOURCES: usize = 60;

fn uri(number: usize) -> String {
    format!("docs://team-{}/name-{number:02}", number % 5)
}

/// Resources of two variables, some with an ACL or a priority; one was deleted, and some were written twice.
fn fill(folder: &Path) {
    let engine = open(folder);
    engine.put_space(SpaceSettings::new("docs", "docs://{team}/{name}")).unwrap();
    let put = |number: usize, body: &str| {
        let mut resource = text("docs", &uri(number), &format!("{body} {number}"));
        resource.acl = number.is_multiple_of(7).then(|| vec!["staff".to_owned()]);
        resource.annotations.priority = number.is_multiple_of(11).then_some(0.9);
        Mutation::Put(Box::new(resource))
    };
    let all = (0..RESOURCES).map(|number| put(number, "text")).collect();
    engine.commit(all).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    let some = (10..20).map(|number| put(number, "another")).collect();
    engine.commit(some).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    engine.commit(vec![Mutation::Put(Box::new(gone()))]).unwrap().remove(0).unwrap();
    delete(&engine, "docs://team-0/gone");
    check_clean(&engine);
}

fn gone() -> Resource {
    text("docs", "docs://team-0/gone", "soon gone")
}

/// The store behind the engine's back.
struct Raw {
    db: rocksdb::DB,
}

impl Raw {
    fn open(folder: &Path) -> Raw {
        let store = folder.join("store");
        let families = rocksdb::DB::list_cf(&rocksdb::Options::default(), &store).unwrap();
        let db = rocksdb::DB::open_cf(&rocksdb::Options::default(), &store, families).unwrap();
        Raw { db }
    }

    /// The entry of a family whose key ends with `end`.
    fn entry(&self, family: &str, end: &str) -> (Vec<u8>, Vec<u8>) {
        let cf = self.db.cf_handle(family).unwrap();
        let mut entries = self.db.iterator_cf(cf, rocksdb::IteratorMode::Start);
        let found = entries.find_map(|entry| {
            let (key, value) = entry.unwrap();
            key.ends_with(end.as_bytes()).then(|| (key.to_vec(), value.to_vec()))
        });
        found.unwrap()
    }

    fn put(&self, family: &str, key: &[u8], value: &[u8]) {
        self.db.put_cf(self.db.cf_handle(family).unwrap(), key, value).unwrap();
    }

    fn delete(&self, family: &str, end: &str) {
        let (key, _) = self.entry(family, end);
        self.db.delete_cf(self.db.cf_handle(family).unwrap(), key).unwrap();
    }
}

/// What is wrong, done to a store that was right, and beginnings of what `verify` says of it.
#[track_caller]
fn check(harm: impl FnOnce(&Raw), expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    harm(&Raw::open(folder.path()));
    let engine = pressmark_index::engine::Engine::open(folder.path(), &options()).unwrap();
    let report = engine.verify(&mut |_| ()).unwrap();
    for expected in expected {
        assert!(
            report.findings.iter().any(|finding| finding.contains(expected)),
            "{expected}: {:#?}",
            report.findings
        );
    }
    assert!(report.fault_count <= 12, "one harm is not many faults: {:#?}", report.findings);
}

#[test]
fn descriptors_are_compared_with_their_resources() {
    check(
        |raw| raw.delete("descriptors", &uri(33)),
        &[
            "docs://team-3/name-33: no descriptor",
            "59 descriptors are stored, 60 belong to resources",
        ],
    );
    check(
        |raw| {
            let (key, _) = raw.entry("descriptors", &uri(12));
            raw.put("descriptors", &key, &raw.entry("descriptors", &uri(13)).1);
        },
        &["docs://team-2/name-12: the content hash is another one"],
    );
    check(
        |raw| raw.put("descriptors", b"docs://team-1/zzz", &raw.entry("descriptors", &uri(13)).1),
        &["61 descriptors are stored, 60 belong to resources"],
    );
}

#[test]
fn contents_are_compared_with_their_hash() {
    check(
        |raw| {
            let (key, mut value) = raw.entry("contents", &uri(21));
            let last = value.len() - 1;
            value[last] ^= 1;
            raw.put("contents", &key, &value);
        },
        &["docs://team-1/name-21: the content hash is another one"],
    );
}

#[test]
fn the_list_is_compared_with_resources_and_completion_with_the_list() {
    check(
        |raw| raw.delete("list", &uri(33)),
        &[
            "docs://team-3/name-33: not in the list",
            "the index is wrong about the value `name-33`",
            "the index is wrong about the value `team-3`",
            "is wrong about the value `name-33`",
        ],
    );
    check(
        |raw| {
            let (key, value) = raw.entry("list", &uri(33));
            let ghost = [&key[..15], b"docs://team-3/ghost"].concat();
            raw.put("list", &ghost, &value);
        },
        &["61 list entries are stored, 60", "the index lacks the value `ghost`", "lacks a pair"],
    );
    check(
        |raw| {
            let (key, _) = raw.entry("list", &uri(33));
            raw.put("list", &key, &raw.entry("list", &uri(7)).1);
        },
        &["docs://team-3/name-33: the list has another ACL", "wrong about the value `name-33`"],
    );
}

#[test]
fn tombstones_and_changes_are_compared_with_what_is_there() {
    check(
        |raw| raw.put("tombstones", uri(9).as_bytes(), &raw.entry("tombstones", "gone").1),
        &["docs://team-4/name-09: stands there and has a tombstone"],
    );
    check(
        |raw| {
            let cf = raw.db.cf_handle("changes").unwrap();
            raw.db.delete_cf(cf, 30_u64.to_be_bytes()).unwrap();
        },
        &["change 31 follows a gap"],
    );
}
