//! Copies of a store, made while it serves, and put back.
//!
//! A copy is made of links within the data directory first, which takes a moment and holds one state of the store. Then
//! each file goes to the target: as a link where that is on the same file system, else as a link to the copy in an
//! earlier backup that has it already, else byte by byte. Files that RocksDB and the indexes never change are the only
//! ones that are linked.

mod links;
mod manifest;
mod partial;
mod place;
mod transfer;

use std::io;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;

pub(crate) use links::delete_leftovers;
use links::{Links, link_derived};
use partial::Partial;
use place::{check_apart, check_free};
use transfer::{Transfer, files_beneath};

/// What is copied, and where it goes.
#[derive(Debug, Clone, Copy)]
pub struct BackupRequest<'a> {
    /// The folder of the copy; it is made, and may be there only if it is empty.
    pub folder: &'a Path,
    /// An earlier copy on the target's file system: what has not changed since is shared with it.
    pub previous: Option<&'a Path>,
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are in the copy.
    pub bytes_done: u64,
    /// Bytes that will be in it.
    pub bytes_total: u64,
}

/// What a copy came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// All changes up to this one are in it.
    pub sequence: u64,
    /// Bytes of files that are shared with the store or with an earlier copy.
    pub bytes_shared: u64,
    /// Bytes of files that were copied.
    pub bytes_copied: u64,
}

/// Folders of what is derived, with the file in each (or in each folder within) that names the others. Linked before
/// the store, so that the store's change log reaches back to them.
const DERIVED: [(&str, &str); 2] = [("completion", "manifest"), ("full_text", "meta.json")];

pub(crate) fn make(
    shared: &Shared,
    data_dir: &Path,
    request: &BackupRequest<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupReport> {
    check_free(request.folder)?;
    check_apart(request.folder, data_dir, "the data directory")?;
    let partial = Partial::new(request.folder)?;
    let links = Links::new(data_dir)?;
    for (name, names_others) in DERIVED {
        link_derived(&data_dir.join(name), &links.path.join(name), names_others)
            .map_err(failed(&links.path))?;
    }
    let sequence = shared.log_range().newest;
    shared.store().checkpoint(&links.path.join("store"))?;
    let mut transfer =
        Transfer::new(&links.path, &partial.path, sequence, progress).sharing(request.previous);
    let files = files_beneath(&links.path).map_err(failed(&links.path))?;
    let listed = transfer.list(&files)?;
    transfer.all(&files, &listed)?;
    let report = transfer.report;
    manifest::write(&partial.path, sequence, &listed).map_err(failed(&partial.path))?;
    partial.finish()?;
    Ok(report)
}

/// Puts a copy back into a folder that is not there or empty. The store is not opened: `verify` it then.
///
/// # Errors
/// `Corrupt` when the folder is not a copy, or not a complete one; `Conflict` when the target is not empty, is in the copy,
/// cannot be made or is written by another process; `LimitExceeded` when its name is too long; `Io`. Then nothing of it is
/// left.
pub fn restore(
    copy: &Path,
    data_dir: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupReport> {
    let (sequence, listed) = manifest::check_complete(copy)?;
    check_free(data_dir)?;
    check_apart(data_dir, copy, "the copy")?;
    let partial = Partial::new(data_dir)?;
    let mut transfer = Transfer::new(copy, &partial.path, sequence, progress);
    let mut files: Vec<_> = listed.iter().map(|file| (file.path.clone(), file.bytes)).collect();
    // What lies in the copy besides is not ours to put anywhere.
    for (name, _) in DERIVED {
        let derived = files_beneath(&copy.join(name)).map_err(failed(copy))?;
        files.extend(derived.into_iter().map(|(file, bytes)| (Path::new(name).join(file), bytes)));
    }
    transfer.all(&files, &listed)?;
    let report = transfer.report;
    partial.finish()?;
    Ok(report)
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| {
        let detail = "it cannot be read or written";
        Error::new(ErrorKind::Io, path.clone(), detail).with_source(source)
    }
}
