//! One state of the store, as links within the data directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::failed;
use crate::error::Result;

/// Folders of links in the data directory are named `<pid>-<number>` and end so.
const LINKS_SUFFIX: &str = ".backup-links";
/// An index that changes while it is linked is tried again so often; then it is left out, and rebuilt after `restore`.
const LINK_TRIES: usize = 5;

/// A folder of links within the data directory; gone when it is dropped.
pub(super) struct Links {
    pub(super) path: PathBuf,
}

impl Links {
    pub(super) fn new(data_dir: &Path) -> Result<Links> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = data_dir.join(format!("{}-{number}{LINKS_SUFFIX}", std::process::id()));
        fs::create_dir(&path).map_err(failed(&path))?;
        Ok(Links { path })
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Links a derived index, whole, or leaves it out.
pub(super) fn link_derived(from: &Path, to: &Path, names_others: &str) -> io::Result<()> {
    if from.join(names_others).exists() {
        return link_consistent(from, to, names_others);
    }
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            link_derived(&entry.path(), &to.join(entry.file_name()), names_others)?;
        }
    }
    Ok(())
}

fn link_consistent(from: &Path, to: &Path, names_others: &str) -> io::Result<()> {
    for _ in 0..LINK_TRIES {
        fs::create_dir_all(to)?;
        let before = fs::read(from.join(names_others))?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            if entry.file_type()?.is_file() && entry.file_name() != names_others {
                // One that is gone by now was not needed, or the file that names it has changed.
                match fs::hard_link(entry.path(), to.join(entry.file_name())) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    linked => linked?,
                }
            }
        }
        if fs::read(from.join(names_others)).is_ok_and(|after| after == before) {
            return fs::write(to.join(names_others), before);
        }
        fs::remove_dir_all(to)?;
    }
    Ok(())
}

/// Deletes links that a process left behind which ended while it made a copy.
pub(crate) fn delete_leftovers(data_dir: &Path) {
    for entry in fs::read_dir(data_dir).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_name_of_links(&entry.file_name().to_string_lossy()) {
            // What stays takes room until the next start, and nothing else.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_name_of_links(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_suffix(LINKS_SUFFIX)
        .and_then(|stem| stem.split_once('-'))
        .is_some_and(|(pid, number)| is_number(pid) && is_number(number))
}
