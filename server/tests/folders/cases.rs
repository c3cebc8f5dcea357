//! Cases from the field, one by one.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use pressmark::sources::FolderSource;
use rustix::fs::{CWD, Mode, mkfifoat};

use super::library::{Library, wait_for};

#[track_caller]
fn check(library: &mut Library, wanted: &[&str]) {
    assert_eq!(library.settle().changes, wanted);
}

#[test]
fn a_file_in_folders_that_are_made_with_it_is_found() {
    let mut library = Library::new(&[]);
    library.write("docs/x/y/z/new.md", "hi");
    check(&mut library, &["created x/y/z/new.md"]);
    // Each of them is watched by now.
    library.write("docs/x/y/z/new.md", "there");
    library.write("docs/x/y/other.md", "");
    check(&mut library, &["created x/y/other.md", "updated x/y/z/new.md"]);
}

#[test]
fn a_tree_that_is_moved_about_is_followed_to_where_it_is() {
    let mut library = Library::new(&["docs/a/b/c.md", "docs/z.md"]);
    library.rename("docs/a", "docs/d");
    check(&mut library, &["created d/b/c.md", "deleted a/b/c.md"]);
    library.write("docs/d/b/c.md", "under its new name");
    check(&mut library, &["updated d/b/c.md"]);
    // Another one takes the old name, and then the place of the first.
    library.write("outside/a/b/c.md", "the other");
    library.rename("outside/a", "docs/a");
    check(&mut library, &["created a/b/c.md"]);
    library.rename("docs/d", "outside/d");
    library.rename("docs/a", "docs/d");
    check(&mut library, &["deleted a/b/c.md", "updated d/b/c.md"]);
    library.write("docs/d/b/c.md", "changed");
    library.write("outside/d/b/c.md", "not served");
    check(&mut library, &["updated d/b/c.md"]);
    assert_eq!(library.text("d/b/c.md").as_deref(), Some("changed"));
}

#[test]
fn a_folder_that_is_removed_and_made_anew_is_watched_again() {
    let mut library = Library::new(&["docs/a/b/c.md"]);
    for round in 0..20 {
        library.remove("docs/a");
        library.write("docs/a/b/c.md", &format!("round {round}"));
        library.write(&format!("docs/a/b/{round}.md"), "");
        let previous = round - 1;
        let mut wanted = vec![format!("created a/b/{round}.md"), "updated a/b/c.md".to_owned()];
        wanted.extend((round > 0).then(|| format!("deleted a/b/{previous}.md")));
        wanted.sort();
        assert_eq!(library.settle().changes, wanted);
    }
}

#[test]
fn the_same_bytes_again_notify_nobody() {
    let mut library = Library::new(&["docs/a.md"]);
    library.write("docs/a.md", "docs/a.md");
    library.write("docs/a.md.tmp", "docs/a.md");
    library.rename("docs/a.md.tmp", "docs/a.md");
    check(&mut library, &[]);
}

#[test]
fn a_changed_ignore_file_decides_anew() {
    let mut library = Library::new(&["docs/s/a.md", "docs/s/b.md", "docs/s/t/a.md", "docs/a.md"]);
    library.write("docs/s/.gitignore", "a.md\n.gitignore\n");
    check(&mut library, &["deleted s/a.md", "deleted s/t/a.md"]);
    library.write("docs/s/.gitignore", "/t/\n.gitignore\n");
    check(&mut library, &["created s/a.md"]);
    library.remove("docs/s/.gitignore");
    check(&mut library, &["created s/t/a.md"]);
    // What tells that a folder is full of what is installed or built.
    library.write("docs/target/x.md", "");
    check(&mut library, &["created target/x.md"]);
    library.write("docs/Cargo.toml", "");
    check(&mut library, &["created Cargo.toml", "deleted target/x.md"]);
}

#[test]
fn an_ignore_file_above_the_folder_counts_within_a_tick() {
    let library = Library::with_sources(&["repo/docs/a.md", "repo/docs/b.md"], |at| {
        fs::create_dir(at.join("repo/.git")).unwrap();
        vec![FolderSource::new("x", at.join("repo/docs"))]
    });
    library.write("repo/.gitignore", "a.md");
    wait_for(|| library.text("a.md").is_none());
    assert!(library.text("b.md").is_some());
}

#[test]
fn what_is_no_regular_file_beneath_the_folder_is_passed_by() {
    let mut library = Library::new(&["docs/a.md", "outside/secret.md"]);
    symlink("../outside/secret.md", library.path("docs/link.md")).unwrap();
    symlink("../outside", library.path("docs/folder")).unwrap();
    mkfifoat(CWD, library.path("docs/fifo.md"), Mode::RUSR | Mode::WUSR).unwrap();
    check(&mut library, &[]);
    // A link takes a file's place, then a folder's.
    symlink("../outside/secret.md", library.path("docs/new")).unwrap();
    library.rename("docs/new", "docs/a.md");
    library.write("docs/d/e.md", "");
    check(&mut library, &["created d/e.md", "deleted a.md"]);
    library.rename("docs/d", "outside/d");
    symlink("../outside/d", library.path("docs/d")).unwrap();
    library.write("outside/d/f.md", "");
    check(&mut library, &["deleted d/e.md"]);
}

#[test]
fn secrets_and_excluded_files_are_left_out_as_at_the_start() {
    let mut library = Library::with_sources(&[], |at| {
        let exclude = vec!["drafts/".to_owned()];
        vec![FolderSource { exclude, ..FolderSource::new("x", at.join("docs")) }]
    });
    for file in ["drafts/a.md", ".env", "id_rsa", ".git/config", ".a.md.swp", "a.md"] {
        library.write(&format!("docs/{file}"), "");
    }
    library.write("docs/key.md", "-----BEGIN PRIVATE KEY-----\nx");
    check(&mut library, &["created a.md"]);
    library.write("docs/a.md", "-----BEGIN PRIVATE KEY-----\nx");
    check(&mut library, &["deleted a.md"]);
}

#[test]
fn a_root_that_goes_away_keeps_its_documents_and_is_followed_when_it_is_back() {
    let mut library = Library::new(&["docs/a.md", "docs/b/c.md"]);
    library.rename("docs", "away");
    wait_for(|| library.metric("source_rescans_total") > 0);
    library.write("away/b/c.md", "changed meanwhile");
    library.remove("away/a.md");
    library.rename("away", "docs");
    wait_for(|| library.index() == library.disk());
    check(&mut library, &["deleted a.md", "updated b/c.md"]);
    // Another folder comes in its place. An empty one counts as the place of a disk that is away.
    library.rename("docs", "away");
    fs::create_dir(library.path("docs")).unwrap();
    let rescans = library.metric("source_rescans_total");
    wait_for(|| library.metric("source_rescans_total") > rescans + 1);
    assert_eq!(library.changes(), [""; 0]);
    library.write("docs/d.md", "");
    check(&mut library, &["created d.md", "deleted b/c.md"]);
}

#[test]
fn a_folder_that_is_emptied_while_it_is_watched_is_empty() {
    let library = Library::new(&["docs/a.md", "docs/b/c.md"]);
    library.remove("docs/a.md");
    library.remove("docs/b");
    wait_for(|| library.index().is_empty());
}

#[test]
fn a_file_that_cannot_be_read_stays_until_it_can() {
    let mut library = Library::new(&["docs/a.md", "docs/b/c.md"]);
    let path = library.path("docs/a.md");
    fs::write(&path, "secret for now").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    let settled = library.settle().changes;
    // Who may read everything, as root may, reads this as well.
    if fs::read(&path).is_err() {
        assert_eq!(settled, [""; 0]);
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        check(&mut library, &["updated a.md"]);
    }
}

#[test]
fn a_file_that_grows_all_the_time_is_whole_in_the_end() {
    let library = Library::new(&["docs/log.txt"]);
    let mut text = String::new();
    let path = library.path("docs/log.txt");
    let rescans = library.metric("source_rescans_total");
    // Until it was read some times while it grew.
    wait_for(|| {
        use std::io::Write;
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        writeln!(file, "another line").unwrap();
        library.metric("source_rescans_total") > rescans + 2
    });
    text.push_str(&fs::read_to_string(&path).unwrap());
    wait_for(|| library.text("log.txt").as_ref() == Some(&text));
}

#[test]
fn what_happened_while_nobody_watched_is_found_at_the_start() {
    let mut library = Library::new(&["docs/a.md", "docs/b.md", "docs/c/d.md", "docs/same.md"]);
    library.stop();
    library.write("docs/a.md", "another text of it");
    library.write("docs/b.md", "docs/B.md");
    library.write("docs/same.md", "docs/same.md");
    library.rename("docs/c", "docs/e");
    let before = library.engine.log_range().newest;
    library.start(vec![FolderSource::new("x", library.path("docs"))]);
    let changes = library.engine.changes_after(before, 100).unwrap();
    let uris: Vec<_> = changes.iter().map(|change| change.uri.as_str()).collect();
    assert_eq!(uris, ["docs://x/a.md", "docs://x/b.md", "docs://x/e/d.md", "docs://x/c/d.md"]);
}

#[test]
fn a_folder_that_is_not_watched_is_compared_at_the_start_only() {
    let mut library = Library::with_sources(&["docs/a.md", "still/b.md"], |at| {
        let still = FolderSource { watch: false, ..FolderSource::new("y", at.join("still")) };
        vec![FolderSource::new("x", at.join("docs")), still]
    });
    library.write("still/c.md", "");
    library.write("docs/c.md", "");
    check(&mut library, &["created c.md"]);
    assert_eq!(library.metric("source_folders_watched"), 1);
    assert_eq!(library.metric("source_folders_polled"), 0);
}

#[test]
fn a_folder_with_an_interval_is_compared_besides() {
    let library = Library::with_sources(&["docs/a.md"], |at| {
        let poll_interval = Some(Duration::from_millis(10));
        vec![FolderSource { poll_interval, ..FolderSource::new("x", at.join("docs")) }]
    });
    wait_for(|| library.metric("source_rescans_total") > 1);
    assert_eq!(library.metric("source_folders_polled"), 1);
    assert!(library.readiness.ready(), "the clock alone makes nothing stale");
}

#[test]
fn what_the_first_folder_no_longer_has_is_served_from_the_second() {
    let mut library = Library::with_sources(&["docs/same.md", "other/same.md"], |at| {
        ["docs", "other"].map(|place| FolderSource::new("x", at.join(place))).to_vec()
    });
    assert_eq!(library.text("same.md").as_deref(), Some("docs/same.md"));
    library.remove("docs/same.md");
    wait_for(|| library.text("same.md").as_deref() == Some("other/same.md"));
    library.write("docs/same.md", "first again");
    library.write("other/same.md", "second");
    library.settle();
    assert_eq!(library.text("same.md").as_deref(), Some("first again"));
}

/// A file keeps its URI when it moves from one folder of a space to another: the resource has not gone meanwhile.
#[test]
fn what_moves_between_folders_of_a_space_changes_once_or_not_at_all() {
    let files = ["docs/a.md", "docs/tree/b.md", "docs/tree/c/d.md", "docs/e.md", "other/f.md"];
    let mut library = Library::with_sources(&files, |at| {
        ["docs", "other"].map(|place| FolderSource::new("x", at.join(place))).to_vec()
    });
    let mut round = 0;
    let mut check = |library: &mut Library, wanted: &[&str]| {
        round += 1;
        let text = format!("{round}");
        library.write("other/last.txt", &text);
        wait_for(|| library.text("last.txt").as_ref() == Some(&text));
        let mut changes = library.settle().changes;
        changes.retain(|change| !change.ends_with("last.txt"));
        assert_eq!(changes, wanted);
    };
    library.rename("docs/a.md", "other/a.md");
    library.rename("docs/tree", "other/tree");
    check(&mut library, &[]);
    assert_eq!(library.text("tree/c/d.md").as_deref(), Some("docs/tree/c/d.md"));
    library.rename("other/a.md", "docs/a.md");
    library.rename("other/tree", "docs/tree");
    library.rename("other/f.md", "docs/f.md");
    check(&mut library, &[]);
    // With other bytes it is one change, and what nobody has any more is gone.
    library.write("other/a.md", "changed");
    library.remove("docs/a.md");
    library.remove("docs/e.md");
    check(&mut library, &["deleted e.md", "updated a.md"]);
    library.write("docs/a.md", "changed again");
    library.remove("other/a.md");
    check(&mut library, &["updated a.md"]);
    // A folder is no file, and neither is what a rule keeps out.
    library.write("other/a.md/x.md", "x");
    library.write("other/f.md", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n");
    library.remove("docs/a.md");
    library.remove("docs/f.md");
    check(&mut library, &["created a.md/x.md", "deleted a.md", "deleted f.md"]);
}

#[test]
fn names_with_signs_are_found_and_lost() {
    let mut library = Library::new(&[]);
    let names = ["bug#42 &v=2+rev?.md", "100%_done.txt", "ü/%2F.md", "中文.md"];
    for name in names {
        library.write(&format!("docs/{name}"), name);
    }
    let settled = library.settle_at_the_disk();
    assert_eq!(settled.changes.len(), names.len(), "{settled:?}");
    library.remove("docs/ü");
    library.remove("docs/100%_done.txt");
    assert_eq!(library.settle_at_the_disk().changes.len(), 2);
}

/// One folder's name is the beginning of the other's.
#[test]
fn a_neighbour_with_a_longer_name_stays() {
    let mut library = Library::new(&["docs/a/x.md", "docs/ab/x.md", "docs/a.md", "docs/A/x.md"]);
    library.remove("docs/a");
    check(&mut library, &["deleted a/x.md"]);
}
