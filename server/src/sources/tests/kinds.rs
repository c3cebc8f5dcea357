//! Links, FIFOs, and what changes while it is looked at.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::Path;

use expect_test::expect;
use rustix::fs::{CWD, Mode, mkfifoat};

use super::{put, refusals, scan_all, scan_one, served, source, tree};
use crate::sources::beneath::Folder;
use crate::sources::read_file::{ReadOutcome, read_settled};
use crate::sources::{FolderSource, Remembered, Scanned, Scope, SourceError};

#[test]
fn links_are_not_followed() {
    let outer = tree(&[("project/a.md", "a"), ("project-evil/secret.md", "s"), ("secret.md", "s")]);
    let root = outer.path().join("project");
    symlink("../secret.md", root.join("out.md")).unwrap();
    symlink("../project-evil", root.join("out")).unwrap();
    symlink("/", root.join("slash")).unwrap();
    symlink(".", root.join("loop")).unwrap();
    symlink("a.md", root.join("same.md")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    let asked = ["out.md", "out/secret.md", "slash/etc/hostname", "loop/a.md", "same.md", "a.md"];
    let asked: Vec<(&str, &str)> = asked.iter().map(|path| (*path, "")).collect();
    assert_eq!(served(&source(&root), &asked), "a.md");
    assert_eq!(scan_all(&source(&root)).1.left_out, 6);
}

#[test]
fn paths_that_lead_out_are_refused() {
    let outer = tree(&[("project/a.md", ""), ("project-evil/b.md", ""), ("c.md", "")]);
    let source = source(&outer.path().join("project"));
    let absolute = outer.path().join("c.md");
    for path in
        [Path::new("../c.md"), Path::new("x/../../c.md"), &absolute, Path::new(""), Path::new("..")]
    {
        assert_eq!(scan_one(&source, path), [], "{path:?}");
    }
    assert_eq!(scan_one(&source, Path::new("../project-evil/b.md")), []);
}

#[test]
fn the_root_itself_may_be_a_link() {
    let outer = tree(&[("real/a.md", "")]);
    symlink("real", outer.path().join("link")).unwrap();
    assert_eq!(served(&source(&outer.path().join("link")), &[]), "a.md");
}

#[test]
fn a_source_keeps_its_id_when_its_folder_goes_away() {
    let outer = tree(&[("mounted/a.md", "")]);
    let link = outer.path().join("link");
    symlink("mounted", &link).unwrap();
    let before = source(&link).source_id();
    fs::remove_dir_all(outer.path().join("mounted")).unwrap();
    assert_eq!(source(&link).source_id(), before);
    fs::remove_file(&link).unwrap();
    assert_eq!(source(&link).source_id(), before);
    assert_eq!(source(&outer.path().join("x/.././link/")).source_id(), before);
    assert_ne!(source(outer.path()).source_id(), before);
    assert_ne!(FolderSource::new("other", &link).source_id(), before, "one id for each space");
}

#[test]
fn special_files_are_passed_by_without_waiting() {
    let folder = tree(&[("a.md", "")]);
    mkfifoat(CWD, folder.path().join("fifo.md"), Mode::RUSR | Mode::WUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    assert_eq!(served(&source(folder.path()), &[("fifo.md", ""), ("socket", "")]), "a.md");
    assert_eq!(scan_all(&source(folder.path())).1.left_out, 2);
    // Opened all the same, as when it takes a file's place, it is found out without waiting for a writer.
    let open = Folder::open_root(folder.path()).unwrap();
    let outcome = read_settled(&open, "fifo.md".as_ref(), 100, &mut || ());
    assert!(matches!(outcome, ReadOutcome::Gone), "{outcome:?}");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let folder = tree(&[("a.log", "one\n")]);
    let open = Folder::open_root(folder.path()).unwrap();
    let path = folder.path().join("a.log");
    let mut reads = 0;
    let outcome = read_settled(&open, "a.log".as_ref(), 1000, &mut || {
        reads += 1;
        if reads < 3 {
            fs::write(&path, "one\ntwo\n".repeat(reads)).unwrap();
        }
    });
    let ReadOutcome::Read(file) = outcome else { panic!("{outcome:?}") };
    assert_eq!((reads, file.bytes.as_slice()), (3, "one\ntwo\n".repeat(2).as_bytes()));
}

#[test]
fn a_file_that_never_rests_is_refused() {
    let folder = tree(&[("a.log", "one\n")]);
    let open = Folder::open_root(folder.path()).unwrap();
    let path = folder.path().join("a.log");
    let mut reads = 0;
    let outcome = read_settled(&open, "a.log".as_ref(), 1000, &mut || {
        reads += 1;
        fs::write(&path, "x".repeat(reads + 10)).unwrap();
    });
    let ReadOutcome::Unreadable(reason) = outcome else { panic!("{outcome:?}") };
    expect!["changed each of the 3 times it was read; it is read again when it has come to rest"]
        .assert_eq(&reason);
}

/// Root may read every file whatever its mode; this one gives an error to anybody.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_is_refused_with_the_reason() {
    let process = Folder::open_root(Path::new("/proc/self")).unwrap();
    let outcome = read_settled(&process, "mem".as_ref(), 1000, &mut || ());
    let ReadOutcome::Unreadable(reason) = outcome else { panic!("{outcome:?}") };
    assert!(reason.starts_with("cannot be read: "), "{reason}");
}

#[test]
fn a_file_that_is_replaced_by_a_link_is_gone() {
    let folder = tree(&[("secret", "s")]);
    symlink("secret", folder.path().join("a.md")).unwrap();
    let open = Folder::open_root(folder.path()).unwrap();
    let outcome = read_settled(&open, "a.md".as_ref(), 1000, &mut || ());
    assert!(matches!(outcome, ReadOutcome::Gone), "{outcome:?}");
}

#[test]
fn a_file_over_the_bound_is_refused_and_one_at_it_is_served() {
    let folder = tree(&[("at", "12345"), ("over", "123456")]);
    let mut source = source(folder.path());
    source.file_bytes_max = 5;
    assert_eq!(served(&source, &[("at", ""), ("over", "")]), "at");
    expect![[r#"
        {
            "over": "has 6 bytes, more than file_bytes_max = 5; raise the bound to serve it",
        }
    "#]]
    .assert_debug_eq(&refusals(&source));
}

#[test]
fn what_vanishes_during_the_walk_is_passed_by() {
    let folder = tree(&[("a", ""), ("b/c", ""), ("d", ""), ("e/f/g", ""), ("h", "")]);
    let mut seen = Vec::new();
    let report = source(folder.path())
        .scan(Scope::Whole, &Remembered::NOTHING, &mut |scanned| {
            let Scanned::Changed(resource) = &scanned else {
                return ControlFlow::Continue(());
            };
            seen.push(super::path_of(resource));
            if seen.len() == 1 {
                fs::remove_dir_all(folder.path().join("b")).unwrap();
                fs::remove_file(folder.path().join("d")).unwrap();
                fs::rename(folder.path().join("e/f"), folder.path().join("f")).unwrap();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((seen.as_slice(), report.refused), (["a".to_owned(), "h".to_owned()].as_slice(), 0));
}

#[test]
fn folders_that_are_too_deep_are_refused_and_the_rest_goes_on() {
    let folder = tree(&[("z", "")]);
    let deep = "d/".repeat(130);
    put(folder.path(), &format!("{deep}too-deep"), b"");
    put(folder.path(), &format!("{}deep-enough", "d/".repeat(128)), b"");
    let refused = refusals(&source(folder.path()));
    assert_eq!(refused.keys().collect::<Vec<_>>(), [&"d/".repeat(129)]);
    assert_eq!(served(&source(folder.path()), &[]), format!("{}deep-enough\nz", "d/".repeat(128)));
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_not_an_empty_folder() {
    let folder = tree(&[]);
    let missing = source(&folder.path().join("missing"));
    let result =
        missing.scan(Scope::Whole, &Remembered::NOTHING, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(result, Err(SourceError::Open { .. })), "{result:?}");
    assert!(matches!(missing.setting(), Err(SourceError::Open { .. })));
}
