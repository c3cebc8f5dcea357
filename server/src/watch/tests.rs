//! What no ordinary folder brings about: lost reports, the limit of watches, disks that come and go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use notify::event::{Event, EventKind, Flag, ModifyKind, RenameMode};
use parking_lot::Mutex;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::writer::Durability;
use tempfile::TempDir;

use super::dirty::{Dirty, Job, paths_of};
use super::followed::Followed;
use super::inbox::Inbox;
use super::watches::{Watches, hear};
use super::{Keeper, Unsettled};
use crate::indexer::{Indexed, Plan};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::shutdown::Shutdown;
use crate::sources::{FolderSource, folder_settings};

fn write(root: &Path, file: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, file).unwrap();
}

/// What the inbox holds when it is due.
fn due(inbox: &Inbox) -> Option<Job> {
    inbox.wait(Instant::now() + Duration::from_secs(5));
    inbox.take_due(1).map(|(_, job)| job)
}

fn entries(job: Option<Job>) -> Vec<PathBuf> {
    match job {
        Some(Job::Entries(entries)) => paths_of(&entries).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reports_are_told_by_their_paths_and_lost_ones_mean_everything() {
    let (inbox, metrics, root) = (Inbox::new(1), Metrics::new(), Path::new("/docs"));
    let moved_to = EventKind::Modify(ModifyKind::Name(RenameMode::To));
    let event = Event::new(moved_to).add_path("/docs/a/b".into()).add_path("/docs-evil/c".into());
    hear(Ok(event), root, 0, &inbox, &metrics);
    assert_eq!(entries(due(&inbox)), [PathBuf::from("a/b")]);
    let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    hear(Ok(lost), root, 0, &inbox, &metrics);
    assert_eq!(due(&inbox), Some(Job::Whole));
    hear(Err(notify::Error::generic("the kernel is unwell")), root, 0, &inbox, &metrics);
    assert_eq!(due(&inbox), Some(Job::Whole));
    assert_eq!(metrics.source_event_overflows.get(), 2);
    inbox.close();
    assert_eq!(due(&inbox), None);
}

/// A store that keeps `docs` with at most so many watches.
fn with_keeper(
    watches_max: usize,
    files: &[&str],
    test: impl FnOnce(&Path, &Engine, &mut Keeper<'_>),
) {
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
    engine.put_space(folder_settings("x", None)).unwrap();
    let root = folder.path().join("docs");
    for file in files {
        write(&root, file);
    }
    let source = FolderSource { poll_interval: None, ..FolderSource::new("x", &root) };
    let plan = Plan { sources: vec![source], folders_said: true, ..Plan::default() };
    let (metrics, shutdown, readiness) =
        (Arc::new(Metrics::new()), Shutdown::new(), Readiness::new());
    let unsettled: Unsettled = Box::new(move || readiness.latch());
    let mut keeper =
        Keeper::with_watches_max(&engine, &plan, &metrics, &shutdown, unsettled, watches_max);
    keeper.first_pass();
    test(&root, &engine, &mut keeper);
}

#[test]
fn what_is_beyond_the_limit_of_watches_is_compared() {
    with_keeper(2, &["a/1", "b/2", "c/3"], |root, engine, keeper| {
        let metrics = Arc::clone(keeper.metrics);
        assert_eq!(metrics.source_folders_watched.get(), 2);
        assert_eq!(metrics.source_folders_polled.get(), 2);
        // In a folder that is not watched.
        write(root, "c/4");
        let newest = engine.log_range().newest;
        let source = &keeper.plan.sources[0];
        assert_eq!(keeper.followed[0].overdue(source), None, "it is not time yet");
        keeper.followed[0].poll_now();
        let job = keeper.followed[0].overdue(source).unwrap();
        assert_eq!(job, Job::Whole);
        keeper.look(0, job).unwrap();
        assert_eq!(engine.log_range().newest, newest + 1);
        // There is room again, once those that are gone have been found to be.
        fs::remove_dir_all(root.join("c")).unwrap();
        fs::remove_dir_all(root.join("a")).unwrap();
        keeper.look(0, Job::Whole).unwrap();
        keeper.look(0, Job::Whole).unwrap();
        assert_eq!(metrics.source_folders_watched.get(), 2);
        assert_eq!(metrics.source_folders_polled.get(), 0);
    });
}

/// The lines that a test's thread logs.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn during(act: impl FnOnce()) -> String {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_max_level(tracing::Level::WARN)
            .finish();
        tracing::subscriber::with_default(subscriber, act);
        let bytes = log.0.lock().clone();
        String::from_utf8(bytes).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_refusal_is_said_once_however_often_a_folder_is_compared() {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";
    with_keeper(0, &["a/1"], |root, engine, keeper| {
        let compare = |keeper: &mut Keeper<'_>| {
            let mut refused = 0;
            let said = Log::during(|| {
                let indexed = keeper.look(0, Job::Whole).unwrap();
                refused = indexed.refused + indexed.scan.refused;
            });
            (refused, said.matches("not served").count())
        };
        assert_eq!(compare(keeper), (0, 0));
        fs::write(root.join("a/key"), KEY).unwrap();
        assert_eq!(compare(keeper), (1, 1));
        assert_eq!(compare(keeper), (1, 0));
        fs::write(root.join("a/other"), KEY).unwrap();
        assert_eq!(compare(keeper), (2, 1));
        fs::write(root.join("a/key"), format!("{KEY}{KEY}")).unwrap();
        assert_eq!(compare(keeper), (2, 1), "it changed");
        fs::write(root.join("a/key"), "harmless").unwrap();
        fs::remove_file(root.join("a/other")).unwrap();
        let newest = engine.log_range().newest;
        assert_eq!(compare(keeper), (0, 0));
        assert_eq!(engine.log_range().newest, newest + 1, "one came, the other was never there");
        fs::write(root.join("a/other"), KEY).unwrap();
        assert_eq!(compare(keeper), (1, 1), "it is another one");
    });
}

#[test]
fn a_tree_that_is_moved_takes_its_watches_along() {
    with_keeper(usize::MAX, &["a/b/c/d", "e"], |root, _, keeper| {
        assert_eq!(keeper.metrics.source_folders_watched.get(), 4);
        fs::rename(root.join("a/b"), root.join("f")).unwrap();
        let (place, job) = loop {
            keeper.inbox.wait(Instant::now() + Duration::from_secs(5));
            if let Some(due) = keeper.inbox.take_due(1) {
                break due;
            }
        };
        keeper.follow(place, job);
        assert_eq!(keeper.metrics.source_folders_watched.get(), 4);
        fs::write(root.join("f/c/d"), "changed").unwrap();
        assert_eq!(entries(due(&keeper.inbox)), [PathBuf::from("f/c/d")]);
    });
}

#[test]
fn a_nested_disk_that_goes_away_keeps_its_documents() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("disk")).unwrap();
    write(&root, "other/a");
    let line = |number: u32, place: &str| {
        format!("{number} 1 0:{number} / {}/{place} rw - tmpfs tmpfs rw\n", root.display())
    };
    let with = |mounts: &[(u32, &str)]| {
        mounts.iter().map(|(number, place)| line(*number, place)).collect::<String>()
    };
    let source = FolderSource::new("x", &root);
    let both = with(&[(7, "disk"), (8, "other")]);
    let mut followed = Followed::new(&source, Watches::none(&root), both.as_bytes(), false);
    // The place of one is empty; somebody works in that of the other.
    assert_eq!(entries(followed.mounted(&source, b"")), [PathBuf::from("other")]);
    assert_eq!(followed.kept().into_iter().collect::<Vec<_>>(), ["disk"]);
    // It is back, and another one is new.
    let back = with(&[(9, "disk"), (10, "new")]);
    let job = followed.mounted(&source, back.as_bytes());
    assert_eq!(entries(job), [PathBuf::from("disk"), PathBuf::from("new")]);
    assert!(followed.kept().is_empty());
    // It goes, and files are put into its place.
    followed.mounted(&source, b"");
    assert_eq!(followed.kept().len(), 1);
    write(&root, "disk/b");
    followed.attempted = source.setting().ok();
    assert_eq!(entries(followed.overdue(&source)), [PathBuf::from("disk")]);
    assert!(followed.kept().is_empty());
}

#[test]
fn what_cannot_be_read_is_tried_again_together() {
    let folder = TempDir::new().unwrap();
    let source = FolderSource::new("x", folder.path());
    let mut followed = Followed::new(&source, Watches::none(folder.path()), b"", false);
    followed.attempted = source.setting().ok();
    let unreadable = |paths: &[&str]| Indexed {
        unreadable_paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..Indexed::default()
    };
    let job = |path: &str| {
        let mut dirty = Dirty::default();
        dirty.add(Path::new(path));
        dirty.into_job().unwrap()
    };
    let no_time = Duration::ZERO;
    followed.succeeded(&Job::Whole, &mut unreadable(&["a", "b%20c/d"]), no_time);
    followed.succeeded(&job("e"), &mut unreadable(&["e"]), no_time);
    assert_eq!(followed.overdue(&source), None, "not at once");
    followed.retry_now();
    let wanted = ["a", "e", "b c/d"].map(PathBuf::from);
    assert_eq!(entries(followed.overdue(&source)), wanted);
    // One of them can be read, another one is no longer there.
    followed.succeeded(&job("b c"), &mut unreadable(&[]), no_time);
    followed.succeeded(&job("e"), &mut unreadable(&[]), no_time);
    followed.retry_now();
    assert_eq!(entries(followed.overdue(&source)), [PathBuf::from("a")]);
    followed.succeeded(&job("a"), &mut unreadable(&[]), no_time);
    followed.retry_now();
    assert_eq!(followed.overdue(&source), None);
}
