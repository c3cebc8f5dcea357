//! Folders that go away, come back, overlap and are dropped, through the public interface.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::fetch_text::TextRequest;
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Resource};
use pressmark_index::space::SpaceSettings;
use pressmark_index::writer::Durability;
use tempfile::TempDir;

use super::pass::Pass;
use super::{Claims, Look, Plan, Refusals, Summary, remove_dropped_spaces};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::shutdown::Shutdown;
use crate::sources::{FolderSource, ScanReport, Scanned, Scope, folder_settings};
use crate::watch::Keeper;

fn first_pass(engine: &Engine, plan: &Plan) -> Summary {
    let (metrics, shutdown, readiness) =
        (Arc::new(Metrics::new()), Shutdown::new(), Readiness::new());
    let unsettled = Box::new(move || readiness.latch());
    Keeper::new(engine, plan, &metrics, &shutdown, unsettled).first_pass()
}

struct Library {
    folder: TempDir,
    engine: Engine,
}

impl Library {
    fn new(files: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let options = EngineOptions {
            block_cache_bytes: 1 << 20,
            hot_cache_bytes: 0,
            completion_memory_entries: 128 * 1_024,
            completion_cache_bytes: 1 << 20,
            full_text: None,
            durability: Durability::Sync,
            change_log_retention: Duration::from_secs(60),
            owner: "the tests".to_owned(),
        };
        let engine = Engine::open(&folder.path().join("data"), &options).unwrap();
        let library = Self { folder, engine };
        for file in files {
            library.write(file);
        }
        library
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn write(&self, file: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }

    /// Indexes `space=folder` pairs as a start of the server does.
    fn start(&self, sources: &[&str]) -> Summary {
        let mut plan = Plan { folders_said: true, ..Plan::default() };
        for source in sources {
            let (space, folder) = source.split_once('=').unwrap();
            let source =
                FolderSource { watch: false, ..FolderSource::new(space, self.path(folder)) };
            plan.sources.push(source);
            plan.spaces.insert(space.to_owned());
        }
        remove_dropped_spaces(&self.engine, &plan).unwrap();
        for space in &plan.spaces {
            let settings = folder_settings(space, None);
            let known = self.engine.spaces();
            if known.by_name(space).is_none_or(|space| space.settings != settings) {
                self.engine.put_space(settings).unwrap();
            }
        }
        first_pass(&self.engine, &plan)
    }

    /// What is served: URIs with their texts and versions, a space a line.
    fn served(&self) -> String {
        let mut spaces: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for space in &self.engine.spaces().spaces {
            spaces.insert(space.settings.name.clone(), Vec::new());
        }
        let changes = self.engine.changes_after(0, 1_000).unwrap();
        let uris: BTreeSet<_> = changes.iter().map(|change| change.uri.as_str()).collect();
        for uri in uris {
            let request = TextRequest { uri, access: &Access::operator(), offset: 0, limit: 100 };
            if let Ok(fetched) = self.engine.fetch_text(&request) {
                let space = uri.split('/').nth(2).unwrap().to_owned();
                let version = changes.iter().filter(|change| change.uri == uri).count();
                let line = format!("{uri} ({}, v{version})", fetched.text);
                spaces.entry(space).or_default().push(line);
            }
        }
        let lines = spaces.into_iter().map(|(name, lines)| format!("{name}: {}", lines.join(" ")));
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[track_caller]
fn check(library: &Library, sources: &[&str], failed: usize, wanted: &Expect) {
    assert_eq!(library.start(sources), Summary { sources_failed: failed, unreadable: 0 });
    wanted.assert_eq(&library.served());
}

#[test]
fn a_folder_whose_disk_is_away_keeps_its_documents() {
    let library = Library::new(&["disk/docs/a", "other/b"]);
    symlink("disk/docs", library.path("link")).unwrap();
    let sources = ["x=link", "y=other"];
    let all = expect![[r#"
        x: docs://x/a (disk/docs/a, v1)
        y: docs://y/b (other/b, v1)"#]];
    check(&library, &sources, 0, &all);
    // The target of the link goes away; the other folder goes on.
    fs::rename(library.path("disk"), library.path("away")).unwrap();
    fs::remove_file(library.path("other/b")).unwrap();
    library.write("other/c");
    check(
        &library,
        &sources,
        1,
        &expect![[r#"
        x: docs://x/a (disk/docs/a, v1)
        y: docs://y/c (other/c, v1)"#]],
    );
    // An empty place is left behind, as by a disk that is not mounted.
    fs::create_dir_all(library.path("disk/docs")).unwrap();
    check(
        &library,
        &sources,
        1,
        &expect![[r#"
        x: docs://x/a (disk/docs/a, v1)
        y: docs://y/c (other/c, v1)"#]],
    );
    // It comes back with one document less, and that one goes.
    fs::remove_dir_all(library.path("disk")).unwrap();
    fs::rename(library.path("away"), library.path("disk")).unwrap();
    fs::remove_file(library.path("disk/docs/a")).unwrap();
    library.write("disk/docs/d");
    check(
        &library,
        &sources,
        0,
        &expect![[r#"
        x: docs://x/d (disk/docs/d, v1)
        y: docs://y/c (other/c, v1)"#]],
    );
}

#[test]
fn an_empty_folder_from_which_nothing_came_is_no_failure() {
    let library = Library::new(&[]);
    fs::create_dir(library.path("empty")).unwrap();
    check(&library, &["x=empty"], 0, &expect!["x: "]);
}

#[test]
fn nothing_is_forgotten_while_a_folder_is_away() {
    let library = Library::new(&["old/a", "kept/b"]);
    check(
        &library,
        &["x=old", "x=kept"],
        0,
        &expect!["x: docs://x/a (old/a, v1) docs://x/b (kept/b, v1)"],
    );
    // The folder was renamed, and its disk is away.
    check(
        &library,
        &["x=new", "x=kept"],
        1,
        &expect!["x: docs://x/a (old/a, v1) docs://x/b (kept/b, v1)"],
    );
    fs::rename(library.path("old"), library.path("new")).unwrap();
    check(
        &library,
        &["x=new", "x=kept"],
        0,
        &expect!["x: docs://x/a (old/a, v1) docs://x/b (kept/b, v1)"],
    );
}

/// What the indexer makes of a scan that says this and nothing else, of the files `a`, `b/c`, `b/d/e` and `bc`.
#[track_caller]
fn check_scan(said: Vec<Scanned>, wanted: &Expect) {
    let library = Library::new(&["docs/a", "docs/b/c", "docs/b/d/e", "docs/bc"]);
    library.start(&["x=docs"]);
    let source = FolderSource::new("x", library.path("docs"));
    let space = Arc::clone(library.engine.spaces().by_name("x").unwrap());
    let (metrics, nothing) = (Metrics::new(), BTreeSet::new());
    let look = Look {
        scope: Scope::Whole,
        setting: None,
        kept: &nothing,
        complained: &nothing,
        refused: &Refusals::default(),
    };
    let claims = Claims { engine: &library.engine, space: &space, source: &source, earlier: &[] };
    let mut pass = Pass::new(&library.engine, Arc::clone(&space), claims, &look, &metrics);
    for scanned in said {
        pass.take(scanned);
    }
    let outcome = match pass.finish(ScanReport::default(), None, false) {
        Ok(indexed) => format!("{} deleted", indexed.deleted),
        Err(error) => error.to_string(),
    };
    let text = format!("{outcome}\n{}", library.served());
    wanted.assert_eq(&text.replace(library.folder.path().to_str().unwrap(), "FOLDER"));
}

#[test]
fn what_cannot_be_read_now_stays_with_all_beneath_it() {
    let unreadable = |path: &str| Scanned::Unreadable {
        path: path.to_owned(),
        reason: "too many open files".to_owned(),
    };
    let refused = |path: &str| Scanned::Refused {
        path: path.to_owned(),
        fingerprint: None,
        reason: "too large".to_owned(),
    };
    check_scan(
        vec![unreadable("a"), refused("bc")],
        &expect![[r#"
        3 deleted
        x: docs://x/a (docs/a, v1)"#]],
    );
    check_scan(
        vec![unreadable("b")],
        &expect![[r#"
        2 deleted
        x: docs://x/b/c (docs/b/c, v1) docs://x/b/d/e (docs/b/d/e, v1)"#]],
    );
    check_scan(
        vec![unreadable("b/d")],
        &expect![[r#"
        3 deleted
        x: docs://x/b/d/e (docs/b/d/e, v1)"#]],
    );
    check_scan(
        vec![unreadable("")],
        &expect![[r#"
        FOLDER/docs: too many open files; its documents stay as they were
        x: docs://x/a (docs/a, v1) docs://x/b/c (docs/b/c, v1) docs://x/b/d/e (docs/b/d/e, v1) docs://x/bc (docs/bc, v1)"#]],
    );
    check_scan(
        vec![refused("a"), refused("b/")],
        &expect![[r#"
        4 deleted
        x: "#]],
    );
}

#[test]
fn spaces_whose_folders_are_no_longer_given_are_removed() {
    let library = Library::new(&["pa/a", "pb/b"]);
    library.engine.put_space(SpaceSettings::new("loaded", "docs://loaded/{+path}")).unwrap();
    let uri = |space: &str| Address::Uri(format!("docs://{space}/record"));
    let record = |space: &str| Resource::text(space, uri(space), "text/plain", "loaded");
    library.engine.commit(vec![Mutation::Put(Box::new(record("loaded")))]).unwrap();
    check(
        &library,
        &["pa=pa", "pb=pb"],
        0,
        &expect![[r#"
        loaded: docs://loaded/record (loaded, v1)
        pa: docs://pa/a (pa/a, v1)
        pb: docs://pb/b (pb/b, v1)"#]],
    );
    check(
        &library,
        &["pa=pa"],
        0,
        &expect![[r#"
        loaded: docs://loaded/record (loaded, v1)
        pa: docs://pa/a (pa/a, v1)"#]],
    );
    // A record that was loaded keeps its space; the documents of the folder go.
    library.engine.commit(vec![Mutation::Put(Box::new(record("pa")))]).unwrap();
    check(
        &library,
        &["pb=pb"],
        0,
        &expect![[r#"
        loaded: docs://loaded/record (loaded, v1)
        pa: docs://pa/record (loaded, v1)
        pb: docs://pb/b (pb/b, v3)"#]],
    );
}

#[test]
fn a_store_without_folders_said_is_served_as_it_is() {
    let library = Library::new(&["pa/a"]);
    library.start(&["pa=pa"]);
    remove_dropped_spaces(&library.engine, &Plan::default()).unwrap();
    first_pass(&library.engine, &Plan::default());
    expect!["pa: docs://pa/a (pa/a, v1)"].assert_eq(&library.served());
}

#[test]
fn the_first_source_with_a_path_serves_it_at_every_start() {
    let library = Library::new(&["one/same", "two/same", "two/own"]);
    let sources = ["x=one", "x=two"];
    check(
        &library,
        &sources,
        0,
        &expect!["x: docs://x/own (two/own, v1) docs://x/same (one/same, v1)"],
    );
    check(
        &library,
        &sources,
        0,
        &expect!["x: docs://x/own (two/own, v1) docs://x/same (one/same, v1)"],
    );
    // In the other order the other one wins, once.
    check(
        &library,
        &["x=two", "x=one"],
        0,
        &expect!["x: docs://x/own (two/own, v1) docs://x/same (two/same, v2)"],
    );
    check(
        &library,
        &["x=two", "x=one"],
        0,
        &expect!["x: docs://x/own (two/own, v1) docs://x/same (two/same, v2)"],
    );
    fs::remove_file(library.path("two/same")).unwrap();
    check(
        &library,
        &["x=two", "x=one"],
        0,
        &expect!["x: docs://x/own (two/own, v1) docs://x/same (one/same, v3)"],
    );
}
