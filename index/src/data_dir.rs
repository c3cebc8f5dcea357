//! The data directory: made for nobody but its owner, and never one that holds somebody else's files.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::lock;

/// Bits of a mode that give the group or others something.
const FOR_OTHERS: u32 = 0o077;
/// What we make in it.
const FOLDERS: [&str; 3] = ["store", "completion", "full_text"];
const FILES: [&str; 4] = [lock::FILE_NAME, "NEWEST", "ADMIN", "SOCKET"];

/// Makes a folder, and those above it, for nobody but their owner.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes the data directory, or looks whether one that is there may be used. What a store keeps in it is for its owner
/// only, whatever the mode of the directory itself.
///
/// # Errors
/// `Conflict` when it holds files that are not ours in places that a store needs; `Io` when it cannot be made, or others
/// could read what is in it.
pub(crate) fn prepare(data_dir: &Path) -> Result<()> {
    make_private(data_dir).map_err(|source| {
        let subject = data_dir.display().to_string();
        Error::new(ErrorKind::Io, subject, "the data directory cannot be made").with_source(source)
    })?;
    check_ours(data_dir)?;
    keep_from_others(data_dir)
}

/// A directory without a store must not have something else where a store keeps what it may delete or overwrite.
fn check_ours(data_dir: &Path) -> Result<()> {
    let is_store =
        data_dir.join("store/CURRENT").exists() || data_dir.join(lock::FILE_NAME).exists();
    if is_store {
        return Ok(());
    }
    let holds_something = |name: &&str| {
        let path = data_dir.join(name);
        fs::symlink_metadata(&path).is_ok_and(|found| {
            !found.is_dir() || fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some())
        })
    };
    let mut taken = FOLDERS.into_iter().chain(FILES).chain(["write-probe"]);
    match taken.find(holds_something) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::Conflict,
            data_dir.display().to_string(),
            format!(
                "it holds `{name}`, but no store: name an empty folder as data directory, or move `{name}` away"
            ),
        )),
    }
}

/// Takes from the group and from others what they may do with our files.
fn keep_from_others(data_dir: &Path) -> Result<()> {
    if is_private(data_dir) {
        return Ok(());
    }
    for name in FOLDERS.into_iter().chain(FILES) {
        let path = data_dir.join(name);
        if is_private(&path) {
            continue;
        }
        let Ok(found) = fs::metadata(&path) else { continue };
        let mode = if found.is_dir() { 0o700 } else { 0o600 };
        match fs::set_permissions(&path, Permissions::from_mode(mode)) {
            Ok(()) => {}
            // It can be read, and nothing else.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
            Err(source) => {
                let detail = format!(
                    "other users may use it, and its mode cannot be changed: `chmod go-rwx {}` as its owner, or name another folder",
                    data_dir.display()
                );
                let subject = path.display().to_string();
                return Err(Error::new(ErrorKind::Io, subject, detail).with_source(source));
            }
        }
    }
    Ok(())
}

/// Whether others may do nothing with it; so it is if there is no such thing.
fn is_private(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.permissions().mode() & FOR_OTHERS == 0)
}
