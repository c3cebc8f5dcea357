//! An engine that closes while documents are read: afterwards the index has each document once, and nothing waits for the
//! document that is being read.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::error::ErrorKind;
use pressmark_index::full_text::FullTextOptions;
use pressmark_index::full_text::extract::{Extract, ExtractError, Extracted, Source, Stop};
use pressmark_index::mutation::Mutation;
use pressmark_index::space::SpaceSettings;

use crate::common::check_clean;
use crate::library::*;

/// Reads no document before it is let go, and none from the `slow_from`th on until it is stopped.
#[derive(Debug, Default)]
struct Reader {
    is_let_go: AtomicBool,
    slow_from: usize,
    read: AtomicUsize,
}

impl Reader {
    fn wait(&self, stop: &Stop, until: impl Fn() -> bool) -> Result<(), ExtractError> {
        while !until() {
            if stop.is_asked() {
                return Err(ExtractError::Stopped);
            }
            std::thread::yield_now();
        }
        Ok(())
    }
}

impl Extract for Reader {
    fn extract(&self, _source: &Source<'_>, stop: &Stop) -> Result<Extracted, ExtractError> {
        self.wait(stop, || self.is_let_go.load(Ordering::SeqCst))?;
        if self.read.fetch_add(1, Ordering::SeqCst) >= self.slow_from {
            self.wait(stop, || false)?;
        }
        Ok(Extracted::default())
    }

    fn version(&self) -> u32 {
        // As of the one that takes texts as they are stored.
        0
    }
}

fn open_with(folder: &Path, extract: Arc<dyn Extract>) -> Engine {
    let full_text = Some(FullTextOptions { extract, ..full_text_options() });
    Engine::open(folder, &EngineOptions { full_text, ..options() }).unwrap()
}

/// Lets documents be read until they get slow, and closes the engine then.
fn stop_in_the_middle(engine: Engine, reader: &Reader) {
    reader.is_let_go.store(true, Ordering::SeqCst);
    while reader.read.load(Ordering::SeqCst) <= reader.slow_from {
        std::thread::yield_now();
    }
    drop(engine);
}

#[track_caller]
fn check_each_once(folder: &Path, count: u64) {
    let engine = open(folder);
    wait_until_made(&engine);
    check_clean(&engine);
    assert_eq!(search(&engine, "word").total, count);
}

/// How many documents are read before the stop: in the first piece of a batch, at its end, in the next one.
const READ_BEFORE: [usize; 6] = [0, 1, 63, 64, 100, 399];

#[test]
fn a_stop_while_changes_are_fed_leaves_each_document_once() {
    for slow_from in READ_BEFORE {
        let folder = tempfile::tempdir().unwrap();
        let reader = Arc::new(Reader { slow_from, ..Reader::default() });
        let engine = open_with(folder.path(), reader.clone());
        engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
        put_all(&engine, (0..400).map(|n| document(&format!("n{n}"), "", "word")));
        stop_in_the_middle(engine, &reader);
        check_each_once(folder.path(), 400);
    }
}

/// What changes again behind the place where a batch is cut is in the index once, too.
#[test]
fn a_stop_among_changes_of_the_same_documents_leaves_each_once() {
    for slow_from in [0, 1, 20, 39, 45, 70] {
        let folder = tempfile::tempdir().unwrap();
        let reader = Arc::new(Reader { slow_from, ..Reader::default() });
        let engine = open_with(folder.path(), reader.clone());
        engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
        let name = |n: usize| format!("n{n}");
        put_all(&engine, (0..80).map(|n| document(&name(n), "", "word")));
        // Every third is deleted and made again, every second one changes, every fifth goes.
        let deleted = (0..80).step_by(3).chain((0..80).step_by(5));
        let uri = |n: usize| format!("docs://library/{}", name(n));
        engine.commit(deleted.map(|n| Mutation::Delete { uri: uri(n) }).collect()).unwrap();
        let again = (0..80).step_by(3).filter(|n| n % 5 != 0);
        put_all(&engine, again.map(|n| document(&name(n), "", "word again")));
        let changed = (0..80).step_by(2).filter(|n| n % 5 != 0);
        put_all(&engine, changed.map(|n| document(&name(n), "", "another word")));
        stop_in_the_middle(engine, &reader);
        check_each_once(folder.path(), 80 - 16);
    }
}

#[test]
fn a_stop_while_all_resources_are_looked_at_leaves_each_document_once() {
    for slow_from in READ_BEFORE {
        let folder = tempfile::tempdir().unwrap();
        let engine = library(folder.path(), &[]);
        put_all(&engine, (0..400).map(|n| document(&format!("n{n}"), "", "word")));
        drop(engine);
        std::fs::remove_dir_all(folder.path().join("full_text")).unwrap();
        let reader = Arc::new(Reader { slow_from, ..Reader::default() });
        stop_in_the_middle(open_with(folder.path(), reader.clone()), &reader);
        check_each_once(folder.path(), 400);
    }
}

/// Goes on with a document until it is let go, whoever asks it to stop.
#[derive(Debug, Default)]
struct Deaf {
    is_let_go: AtomicBool,
    has_begun: AtomicBool,
}

impl Extract for Deaf {
    fn extract(&self, _source: &Source<'_>, _stop: &Stop) -> Result<Extracted, ExtractError> {
        self.has_begun.store(true, Ordering::SeqCst);
        while !self.is_let_go.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Ok(Extracted::default())
    }

    fn version(&self) -> u32 {
        0
    }
}

#[test]
fn an_extractor_that_does_not_stop_does_not_hold_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let deaf = Arc::new(Deaf::default());
    let engine = open_with(folder.path(), deaf.clone());
    engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
    put_all(&engine, (0..10).map(|n| document(&format!("n{n}"), "", "word")));
    while !deaf.has_begun.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    drop(engine);
    // What was left behind uses the store still.
    let refused = Engine::open(folder.path(), &options()).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    deaf.is_let_go.store(true, Ordering::SeqCst);
    while Engine::owner_of(folder.path()).is_some() {
        std::thread::yield_now();
    }
    check_each_once(folder.path(), 10);
}
