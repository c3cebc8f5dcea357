//! Indexes that differ from the store, as faults of older programs left them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tantivy::{IndexWriter, TantivyDocument};

use super::commit::{self, FEEDER_VERSION, Payload};
use super::extract::AsStored;
use super::schema::Fields;
use super::{FOLDER, FullTextOptions};
use crate::engine::{Engine, EngineOptions};
use crate::mutation::Mutation;
use crate::resource::{Address, Resource};
use crate::space::SpaceSettings;

const RESOURCES: usize = 30;
const PATIENCE: Duration = Duration::from_secs(60);

fn full_text() -> FullTextOptions {
    FullTextOptions {
        memory_bytes: 16 << 20,
        hit_cache_bytes: 0,
        threads: 1,
        commit_interval: Duration::from_millis(10),
        extract: Arc::new(AsStored),
    }
}

fn open(folder: &Path) -> Engine {
    let full_text = Some(full_text());
    Engine::open(folder, &EngineOptions { full_text, ..EngineOptions::new("a test") }).unwrap()
}

fn uri(number: usize) -> String {
    format!("docs://library/n{number:02}")
}

fn fill(folder: &Path) {
    let engine = open(folder);
    engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
    let put = |number| {
        let resource = Resource::text("docs", Address::Uri(uri(number)), "text/plain", "word");
        Mutation::Put(Box::new(resource))
    };
    for result in engine.commit((0..RESOURCES).map(put).collect()).unwrap() {
        result.unwrap();
    }
    wait(&engine);
}

fn wait(engine: &Engine) {
    let deadline = Instant::now() + PATIENCE;
    while engine.full_text_progress().unwrap().indexed_through < engine.log_range().newest {
        assert!(Instant::now() < deadline, "{:?}", engine.full_text_progress());
        std::thread::yield_now();
    }
}

/// Adds documents a second time, takes others away, and adds some that no resource belongs to.
fn spoil(folder: &Path, (doubled, missing, strange): (usize, usize, usize), feeder: u32) {
    let (fields, options) = (Fields::new(), full_text());
    let versions = commit::versions(&options);
    let opened = commit::open(&folder.join(FOLDER), &fields, &versions, &Arc::default());
    let opened = opened.unwrap_or_else(|_| panic!("the index cannot be opened"));
    let payload = opened.payload.unwrap();
    let mut writer: IndexWriter = commit::writer(&opened.index, &options).unwrap();
    let add = |uri: &str| {
        let mut document = TantivyDocument::new();
        document.add_text(fields.uri, uri);
        document.add_u64(fields.version, 1);
        writer.add_document(document).unwrap();
    };
    (0..doubled).for_each(|number| add(&uri(number)));
    (RESOURCES..RESOURCES + strange).for_each(|number| add(&uri(number)));
    for number in doubled..doubled + missing {
        writer.delete_term(fields.uri_term(&uri(number)));
    }
    let mut prepared = writer.prepare_commit().unwrap();
    let payload = Payload { feeder, ..payload }.encode();
    prepared.set_payload(&payload.replace(" feeder=0", ""));
    prepared.commit().unwrap();
}

#[track_caller]
fn check_mended(spoiled: (usize, usize, usize), feeder: u32) {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    spoil(folder.path(), spoiled, feeder);
    let engine = open(folder.path());
    let report = engine.verify(&mut |_| {}).unwrap();
    let (doubled, missing, strange) = spoiled;
    let count = doubled + missing + strange;
    assert_eq!(report.fault_count, u64::try_from(count).unwrap(), "{:?}", report.findings);
    assert_eq!(report.findings.len(), count.min(20), "{:?}", report.findings);
    assert!(report.findings.iter().all(|finding| finding.starts_with("full text: docs://")));
    let deadline = Instant::now() + PATIENCE;
    while !engine.verify(&mut |_| {}).unwrap().is_clean() {
        assert!(Instant::now() < deadline, "{spoiled:?}");
        std::thread::yield_now();
    }
    assert_eq!(engine.full_text_progress().unwrap().documents, RESOURCES as u64);
    drop(engine);
    assert!(open(folder.path()).verify(&mut |_| {}).unwrap().is_clean(), "{spoiled:?}");
}

#[test]
fn an_index_of_an_older_program_is_compared_with_the_store_and_mended() {
    for spoiled in [(10, 10, 10), (5, 5, 0), (1, 0, 0)] {
        check_mended(spoiled, 0);
    }
}

#[test]
fn an_index_with_another_number_of_documents_is_mended() {
    for spoiled in [(30, 0, 0), (0, 1, 0), (0, 0, 25)] {
        check_mended(spoiled, FEEDER_VERSION);
    }
}

#[test]
fn what_a_check_finds_is_mended() {
    check_mended((5, 5, 0), FEEDER_VERSION);
}

/// Nobody verifies: the mending does not wait for it.
#[test]
fn an_index_is_mended_without_being_asked() {
    for (spoiled, feeder) in [((5, 5, 0), 0), ((3, 0, 0), FEEDER_VERSION)] {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        spoil(folder.path(), spoiled, feeder);
        let engine = open(folder.path());
        let deadline = Instant::now() + PATIENCE;
        let mended = || engine.shared.full_text.as_ref().unwrap().state.take_mended().count;
        let mut count = 0;
        while count < (spoiled.0 + spoiled.1) as u64 {
            assert!(Instant::now() < deadline, "{spoiled:?}: {count}");
            std::thread::yield_now();
            count += mended();
        }
        assert!(engine.verify(&mut |_| {}).unwrap().is_clean(), "{spoiled:?}");
    }
}
