//! Where a copy may be written.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::failed;
use super::partial::partial_of;
use crate::error::{Error, ErrorKind, Result};

pub(super) fn check_free(folder: &Path) -> Result<()> {
    let subject = folder.display().to_string();
    if folder.file_name().is_none() {
        let detail = "name the folder itself, not one relative to it";
        return Err(Error::new(ErrorKind::Conflict, subject, detail));
    }
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => {
                let detail = "the folder is not empty: name one that is not there yet";
                Err(Error::new(ErrorKind::Conflict, subject, detail))
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(not_made(folder)(error)),
    }
}

/// What is read and what is written must not be within one another, nor what is taken away for it.
pub(super) fn check_apart(target: &Path, source: &Path, what: &str) -> Result<()> {
    let from = real(source).map_err(failed(source))?;
    for path in [target.to_owned(), partial_of(target)] {
        let to = real(&path).map_err(not_made(target))?;
        if to.starts_with(&from) || from.starts_with(&to) {
            let detail = format!(
                "it would be written into {what} ({}): name a folder elsewhere",
                from.display()
            );
            return Err(Error::new(ErrorKind::Conflict, path.display().to_string(), detail));
        }
    }
    Ok(())
}

/// Where a path leads to that need not be there: without links, `.` and `..`.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut real = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::ParentDir => drop(real.pop()),
            component => real.push(component),
        }
        match real.canonicalize() {
            Ok(canonical) => real = canonical,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(real)
}

/// Why a folder that is named cannot be made: more often its name than the disk.
pub(super) fn not_made(folder: &Path) -> impl Fn(io::Error) -> Error {
    let folder = folder.display().to_string();
    move |source| {
        let (kind, detail) = match source.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => (
                ErrorKind::Conflict,
                "it is a file, or beneath one: name a folder that is not there yet",
            ),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                (ErrorKind::Conflict, "this process may not write there: name another folder")
            }
            io::ErrorKind::InvalidFilename => {
                (ErrorKind::LimitExceeded, "its name is too long for the file system")
            }
            io::ErrorKind::InvalidInput => (ErrorKind::InvalidRecord, "no path is written so"),
            _ => (ErrorKind::Io, "it cannot be made"),
        };
        Error::new(kind, folder.clone(), detail).with_source(source)
    }
}
