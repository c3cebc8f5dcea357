//! A folder that is being written, beside the one that it becomes.
//!
//! It is called `<target>.partial` and holds a mark, a file that is created exclusively and stays locked while somebody
//! writes. A second writer is refused; the rest of a writer that was interrupted is cleared; a folder without a mark is
//! somebody else's and stays as it is.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::failed;
use super::place::{check_free, not_made};
use crate::error::{Error, ErrorKind, Result};

/// What is not complete yet ends so.
const PARTIAL_SUFFIX: &str = ".partial";
/// The file that makes a partial folder ours.
pub(super) const MARK: &str = "PRESSMARK-PARTIAL";
const MARK_TEXT: &[u8] =
    b"Pressmark writes a copy here; a folder that nobody writes any more may be deleted.\n";
/// A writer may finish, and another one begin, between two looks.
const ATTEMPTS_MAX: usize = 16;

/// A folder in the making; what was written is deleted when it is dropped unfinished.
pub(super) struct Partial {
    pub(super) path: PathBuf,
    target: PathBuf,
    /// Locked as long as we write.
    mark: File,
}

/// What was found where the partial folder belongs.
enum Found {
    Taken(File),
    /// It went away, or another folder took its place.
    Changed,
}

impl Partial {
    pub(super) fn new(target: &Path) -> Result<Partial> {
        let path = partial_of(target);
        let mark = take(&path, target)?;
        let partial = Partial { path, target: target.to_owned(), mark };
        // Another writer may have finished since this was checked.
        check_free(target)?;
        Ok(partial)
    }

    /// Gives the folder its name.
    pub(super) fn finish(self) -> Result<()> {
        let finish = || {
            sync_folders(&self.path)?;
            fs::rename(&self.path, &self.target)?;
            // A mark that stays means nothing beside a manifest.
            let _ = fs::remove_file(self.target.join(MARK));
            File::open(&self.target)?.sync_all()?;
            match self.target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Some(parent) => File::open(parent)?.sync_all(),
                None => File::open(".")?.sync_all(),
            }
        };
        finish().map_err(failed(&self.target))
    }

    fn is_in_place(&self) -> bool {
        is_at(&self.mark, &self.path.join(MARK)).unwrap_or(false)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename the path is free, or another writer's.
        if self.is_in_place() && clear(&self.path).is_ok() {
            let _ = fs::remove_file(self.path.join(MARK));
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Makes the partial folder, or takes over the rest of a writer that was interrupted.
fn take(path: &Path, target: &Path) -> Result<File> {
    let mut private = DirBuilder::new();
    private.mode(0o700);
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(not_made(target))?;
    }
    for _ in 0..ATTEMPTS_MAX {
        let found = match private.create(path) {
            Ok(()) => make_mark(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                take_existing(path)?.map_or_else(|| make_mark(path), Ok)
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(Found::Taken(mark)) => {
                clear(path).map_err(failed(path))?;
                return Ok(mark);
            }
            Ok(Found::Changed) => {}
            Err(error) => return Err(not_made(target)(error)),
        }
    }
    Err(written_by_another(path))
}

/// A new mark in a folder that has none.
fn make_mark(folder: &Path) -> io::Result<Found> {
    let path = folder.join(MARK);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let mut mark = match made {
        Ok(mark) => mark,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) =>
        {
            return Ok(Found::Changed);
        }
        Err(error) => return Err(error),
    };
    let locked = rustix::fs::flock(&mark, FlockOperation::NonBlockingLockExclusive);
    // Where a file system has no locks, the exclusive creation has to do.
    if locked == Err(rustix::io::Errno::WOULDBLOCK) {
        // Another writer saw the mark before it was locked.
        return Ok(Found::Changed);
    }
    if !is_at(&mark, &path)? {
        return Ok(Found::Changed);
    }
    mark.write_all(MARK_TEXT)?;
    mark.sync_all()?;
    Ok(Found::Taken(mark))
}

/// What is there already; `None`: an empty folder without a mark.
///
/// # Errors
/// `Conflict` when it is not ours, or another writer uses it.
fn take_existing(folder: &Path) -> Result<Option<Found>> {
    let is_folder = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Found::Changed)),
        found => found.map_err(failed(folder))?.is_dir(),
    };
    if !is_folder {
        return Err(not_ours(folder));
    }
    let path = folder.join(MARK);
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mark = match OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path) {
        Ok(mark) => mark,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match fs::read_dir(folder).and_then(|mut entries| entries.next().transpose()) {
                Ok(None) => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(Found::Changed)),
                // Its writer may be between making the folder and marking it, or moving it away.
                Ok(Some(entry)) if entry.file_name() == MARK => Ok(Some(Found::Changed)),
                Ok(Some(_)) => Err(not_ours(folder)),
                Err(error) => Err(failed(folder)(error)),
            };
        }
        Err(_) => return Err(not_ours(folder)),
    };
    match rustix::fs::flock(&mark, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Err(written_by_another(folder)),
        Err(error) => return Err(failed(folder)(error.into())),
    }
    if !is_at(&mark, &path).map_err(failed(folder))? {
        return Ok(Some(Found::Changed));
    }
    Ok(Some(Found::Taken(mark)))
}

/// Deletes what is in the folder, but for the mark.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == MARK {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether the open file is the one at this path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn not_ours(folder: &Path) -> Error {
    Error::new(
        ErrorKind::Conflict,
        folder.display().to_string(),
        format!(
            "it is there already and holds no {MARK}, so it is not the rest of an interrupted copy: move it away, or name another folder for the copy"
        ),
    )
}

fn written_by_another(folder: &Path) -> Error {
    Error::new(
        ErrorKind::Conflict,
        folder.display().to_string(),
        "another backup or restore is writing there: wait for its end, or name another folder",
    )
}

/// The folder in the making beside the one that it becomes.
pub(super) fn partial_of(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(PARTIAL_SUFFIX);
    target.with_file_name(name)
}

fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}
