//! What is shown of a hit is of one version of it, however far the index is.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::full_text::extract::{
    Extract, ExtractError, Extracted, ExtractedText, Source, SourceContent, Stop,
};
use pressmark_index::full_text::{FullTextOptions, SearchNote, SearchRequest};
use pressmark_index::space::SpaceSettings;

use crate::library::*;

/// Gives another text than the stored one, and holds the index up at a resource that says so.
#[derive(Debug, Default)]
struct Slow {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Slow {
    fn open(&self) {
        *self.is_open.lock() = true;
        self.opened.notify_all();
    }

    fn close(&self) {
        *self.is_open.lock() = false;
    }
}

struct OpensAtTheEnd(Arc<Slow>);

impl Drop for OpensAtTheEnd {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl Extract for Slow {
    fn extract(&self, source: &Source<'_>, _stop: &Stop) -> Result<Extracted, ExtractError> {
        let texts = source.parts.iter().filter_map(|part| match part.content {
            SourceContent::Text(text) => Some(text),
            SourceContent::Blob(_) => None,
        });
        let text: String = texts.collect();
        if text.contains("wait") {
            let mut is_open = self.is_open.lock();
            while !*is_open {
                self.opened.wait(&mut is_open);
            }
        }
        let text = ExtractedText::Other(format!("taken from {text}"));
        Ok(Extracted { text, ..Extracted::default() })
    }

    fn version(&self) -> u32 {
        1
    }
}

#[test]
fn no_text_of_an_older_version_stands_beside_a_new_title() {
    let folder = tempfile::tempdir().unwrap();
    let slow = Arc::new(Slow::default());
    let extract = Arc::clone(&slow);
    let full_text = Some(FullTextOptions { extract, ..full_text_options() });
    let options = EngineOptions { full_text, ..options() };
    let engine = Engine::open(folder.path(), &options).unwrap();
    engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
    // Before the engine, which waits for its indexer, whatever is found wrong.
    let _opens = OpensAtTheEnd(Arc::clone(&slow));
    let shown = |after_sequence| {
        let access = Access::anonymous();
        let request = SearchRequest { after_sequence, ..request(&engine, "needle", &access) };
        let hits = engine.search(&request).unwrap().hits.into_iter();
        hits.map(|hit| (hit.title, hit.snippet.text)).collect::<Vec<_>>()
    };
    let notes = |after_sequence| {
        let access = Access::anonymous();
        let request = SearchRequest { after_sequence, ..request(&engine, "needle", &access) };
        engine.search(&request).unwrap().notes
    };
    let hit = |title: &str, text: &str| vec![(title.to_owned(), text.to_owned())];
    let newest = || Some(engine.log_range().newest);
    put_all(&engine, [document("a", "First", "needle secret")]);
    assert_eq!(shown(newest()), hit("First", "taken from needle secret"));
    let indexed = newest();
    put_all(&engine, [document("a", "Second", "needle wait")]);
    assert_eq!(shown(None), hit("Second", ""));
    assert_eq!(notes(None), []);
    put_all(&engine, (0..2_000).map(|n| document(&format!("b{n}"), "", "other")));
    assert_eq!(notes(None), [SearchNote::IndexIncomplete { share: 1.0 / 2_001.0 }]);
    // Who waits for a change is told of that one alone.
    assert_eq!(notes(indexed), []);
    slow.open();
    assert_eq!(shown(newest()), hit("Second", "taken from needle wait"));
    // The same where the version is the same, and the space another one; the removal may be in the index already.
    slow.close();
    engine.remove_space("docs").unwrap();
    engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
    put_all(&engine, [document("a", "Anew", "needle wait")]);
    let found = shown(None);
    assert!(found.is_empty() || found == hit("Anew", ""), "{found:?}");
    slow.open();
    assert_eq!(shown(newest()), hit("Anew", "taken from needle wait"));
}
