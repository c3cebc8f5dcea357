//! From the files of one folder to a copy of them in another.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::{Listed, same_ends};
use super::{BackupReport, Progress, failed};
use crate::error::{Error, ErrorKind, Result};

/// Endings of files that are never changed once they are written: RocksDB's tables and blobs, segments of completion.
const NEVER_CHANGED: [&str; 3] = ["sst", "blob", "segment"];

/// Copies files and counts what it came to.
pub(super) struct Transfer<'a> {
    from: &'a Path,
    to: &'a Path,
    previous: Option<&'a Path>,
    pub(super) report: BackupReport,
    progress: &'a mut dyn FnMut(Progress),
}

impl<'a> Transfer<'a> {
    pub(super) fn new(
        from: &'a Path,
        to: &'a Path,
        sequence: u64,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Self {
        let report = BackupReport { sequence, ..BackupReport::default() };
        Self { from, to, previous: None, report, progress }
    }

    /// Shares with an earlier copy what has not changed since.
    pub(super) fn sharing(self, previous: Option<&'a Path>) -> Self {
        Self { previous, ..self }
    }

    /// Those of the files that belong to the store, as the source has them.
    pub(super) fn list(&self, files: &[(PathBuf, u64)]) -> Result<Vec<Listed>> {
        let of_store = files.iter().filter(|(file, _)| file.starts_with("store"));
        of_store
            .map(|(file, bytes)| Listed::of(self.from, file, *bytes))
            .collect::<io::Result<_>>()
            .map_err(failed(self.from))
    }

    /// Copies the files; then those `listed` must all be there as the source had them.
    pub(super) fn all(&mut self, files: &[(PathBuf, u64)], listed: &[Listed]) -> Result<()> {
        let bytes_total = files.iter().map(|(_, size)| size).sum();
        for (file, size) in files {
            self.one(file, *size).map_err(failed(&self.to.join(file)))?;
            (self.progress)(Progress {
                bytes_done: self.report.bytes_shared + self.report.bytes_copied,
                bytes_total,
            });
        }
        match listed.iter().find_map(|file| file.fault_in(self.to)) {
            None => Ok(()),
            Some(fault) => Err(Error::new(
                ErrorKind::Conflict,
                self.to.display().to_string(),
                format!(
                    "the copy is not complete: {fault}; something else has changed it: make it again"
                ),
            )),
        }
    }

    fn one(&mut self, file: &Path, size: u64) -> io::Result<()> {
        let (from, to) = (self.from.join(file), self.to.join(file));
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        let changes_never =
            file.extension().is_some_and(|ending| NEVER_CHANGED.iter().any(|one| ending == *one));
        if changes_never && self.share(file, &from, &to, size) {
            self.report.bytes_shared += size;
            return Ok(());
        }
        fs::copy(&from, &to)?;
        File::open(&to)?.sync_all()?;
        self.report.bytes_copied += size;
        Ok(())
    }

    /// Links the file itself, or the same one in an earlier copy. RocksDB never uses a file's number twice.
    fn share(&self, file: &Path, from: &Path, to: &Path, size: u64) -> bool {
        if fs::hard_link(from, to).is_ok() {
            return true;
        }
        let Some(earlier) = self.previous.map(|previous| previous.join(file)) else {
            return false;
        };
        let same = fs::metadata(&earlier).is_ok_and(|earlier| earlier.len() == size)
            && same_ends(&earlier, from).unwrap_or(false);
        same && fs::hard_link(&earlier, to).is_ok()
    }
}

/// All files beneath a folder with their sizes, by path; none where there is no such folder.
pub(super) fn files_beneath(folder: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    fn collect(folder: &Path, within: &Path, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = within.join(entry.file_name());
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                collect(&entry.path(), &path, files)?;
            } else if metadata.is_file() {
                files.push((path, metadata.len()));
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    match collect(folder, Path::new(""), &mut files) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {}
        collected => collected?,
    }
    files.sort();
    Ok(files)
}
