//! Copies of a store, made while it serves, and put back.
//!
//! A copy is made of links within the data directory first, which takes a moment and holds one state of the store. Then
//! each file goes to the target: as a link where that is on the same file system, else as a link to the copy in an
//! earlier backup that has it already, else byte by byte. Files that RocksDB and the indexes never change are the only
//! ones that are linked.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;

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

/// Names the files of a complete copy, with their sizes. It is written last.
const MANIFEST: &str = "BACKUP";
const MANIFEST_HEAD: &str = "pressmark backup 1";
/// Folders of links in the data directory end so.
const LINKS_SUFFIX: &str = ".backup-links";
/// What is not complete yet ends so.
const PARTIAL_SUFFIX: &str = ".partial";
/// Endings of files that are never changed once they are written: RocksDB's tables and blobs, segments of completion.
const NEVER_CHANGED: [&str; 3] = ["sst", "blob", "segment"];
/// An index that changes while it is linked is tried again so often; then it is left out, and made anew after `restore`.
const LINK_TRIES: usize = 5;

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
    let links = Links::new(data_dir)?;
    for (name, names_others) in DERIVED {
        link_derived(&data_dir.join(name), &links.path.join(name), names_others)
            .map_err(failed(&links.path))?;
    }
    let sequence = shared.log_range().newest;
    shared.store().checkpoint(&links.path.join("store"))?;
    let partial = Partial::new(request.folder)?;
    let mut transfer = Transfer {
        from: &links.path,
        to: &partial.path,
        previous: request.previous,
        report: BackupReport { sequence, ..BackupReport::default() },
        total: 0,
        progress,
    };
    transfer.all()?;
    let report = transfer.report;
    write_manifest(&partial.path, sequence).map_err(failed(&partial.path))?;
    partial.finish()?;
    Ok(report)
}

/// Puts a copy back into a folder that is not there or empty. The store is not opened: `verify` it then.
///
/// # Errors
/// `Corrupt` when the copy is none, or is not complete; `Conflict` when the folder is not empty, is in the copy or cannot be
/// made, `LimitExceeded` when its name is too long, `Io`. Then nothing of it is left.
pub fn restore(
    copy: &Path,
    data_dir: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupReport> {
    let sequence = check_complete(copy)?;
    check_free(data_dir)?;
    check_apart(data_dir, copy, "the copy")?;
    let partial = Partial::new(data_dir)?;
    let mut transfer = Transfer {
        from: copy,
        to: &partial.path,
        previous: None,
        report: BackupReport { sequence, ..BackupReport::default() },
        total: 0,
        progress,
    };
    transfer.all()?;
    let report = transfer.report;
    partial.finish()?;
    Ok(report)
}

/// Deletes links that a process left which ended while it made a copy.
pub(crate) fn delete_leftovers(data_dir: &Path) {
    for entry in fs::read_dir(data_dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().ends_with(LINKS_SUFFIX) {
            // What stays takes room until the next start, and nothing else.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

// === one state of the store, as links ===

/// A folder of links within the data directory; gone when it is dropped.
struct Links {
    path: PathBuf,
}

impl Links {
    fn new(data_dir: &Path) -> Result<Links> {
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
fn link_derived(from: &Path, to: &Path, names_others: &str) -> io::Result<()> {
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

// === the transfer ===

/// A folder in the making beside the one that it becomes; gone when it is dropped before.
struct Partial {
    path: PathBuf,
    target: PathBuf,
}

impl Partial {
    fn new(target: &Path) -> Result<Partial> {
        let path = partial_of(target);
        let make = || {
            if path.exists() {
                // Of one that was interrupted.
                fs::remove_dir_all(&path)?;
            }
            let mut private = fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
            private.recursive(true).create(&path)
        };
        make().map_err(not_made(target))?;
        Ok(Partial { path, target: target.to_owned() })
    }

    fn finish(self) -> Result<()> {
        let finish = || {
            sync_folders(&self.path)?;
            fs::rename(&self.path, &self.target)?;
            match self.target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Some(parent) => File::open(parent)?.sync_all(),
                None => File::open(".")?.sync_all(),
            }
        };
        finish().map_err(failed(&self.target))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing any more.
        let _ = fs::remove_dir_all(&self.path);
    }
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

struct Transfer<'a> {
    from: &'a Path,
    to: &'a Path,
    previous: Option<&'a Path>,
    report: BackupReport,
    total: u64,
    progress: &'a mut dyn FnMut(Progress),
}

impl Transfer<'_> {
    fn all(&mut self) -> Result<()> {
        let files = files_beneath(self.from).map_err(failed(self.from))?;
        self.total = files.iter().map(|(_, size)| size).sum();
        for (file, size) in files.iter().filter(|(file, _)| file != Path::new(MANIFEST)) {
            self.one(file, *size).map_err(failed(&self.to.join(file)))?;
            (self.progress)(Progress {
                bytes_done: self.report.bytes_shared + self.report.bytes_copied,
                bytes_total: self.total,
            });
        }
        Ok(())
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

/// Bytes at the end of a file that are compared: a table's properties and checksums are there, with the store's own id.
const END_BYTES: u64 = 4 * 1024;

fn same_ends(one: &Path, other: &Path) -> io::Result<bool> {
    let end = |path: &Path| -> io::Result<Vec<u8>> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(END_BYTES);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(end(one)? == end(other)?)
}

/// All files beneath a folder with their sizes, by path.
fn files_beneath(folder: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
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
    collect(folder, Path::new(""), &mut files)?;
    files.sort();
    Ok(files)
}

// === the manifest ===

fn write_manifest(folder: &Path, sequence: u64) -> io::Result<()> {
    let mut text = format!("{MANIFEST_HEAD}\nsequence {sequence}\n");
    for (file, size) in files_beneath(&folder.join("store"))? {
        text.push_str(&format!("{size} {}\n", file.display()));
    }
    let mut file = File::create(folder.join(MANIFEST))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Whether all files of the store are there with their sizes; returns the sequence number. What is derived is not looked
/// at: it is made anew where it is damaged.
fn check_complete(copy: &Path) -> Result<u64> {
    let path = copy.join(MANIFEST);
    let corrupt =
        |detail: String| Error::new(ErrorKind::Corrupt, copy.display().to_string(), detail);
    let text = fs::read_to_string(&path).map_err(|source| {
        corrupt(format!("it is no complete backup: its file {MANIFEST} cannot be read"))
            .with_source(source)
    })?;
    let mut lines = text.lines();
    if lines.next() != Some(MANIFEST_HEAD) {
        return Err(corrupt(format!("its file {MANIFEST} is of another program or version")));
    }
    let sequence = lines
        .next()
        .and_then(|line| line.strip_prefix("sequence ")?.parse().ok())
        .ok_or_else(|| corrupt(format!("its file {MANIFEST} is damaged")))?;
    for line in lines {
        let (size, name) = line
            .split_once(' ')
            .and_then(|(size, name)| Some((size.parse::<u64>().ok()?, name)))
            .ok_or_else(|| corrupt(format!("its file {MANIFEST} is damaged")))?;
        let found = fs::metadata(copy.join("store").join(name)).map(|metadata| metadata.len());
        match found {
            Ok(found) if found == size => {}
            Ok(found) => {
                let detail = format!("store/{name} has {found} bytes instead of {size}");
                return Err(corrupt(detail));
            }
            Err(source) => {
                return Err(corrupt(format!("store/{name} is missing")).with_source(source));
            }
        }
    }
    Ok(sequence)
}

fn check_free(folder: &Path) -> Result<()> {
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

/// The folder in the making beside the one that it becomes.
fn partial_of(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(PARTIAL_SUFFIX);
    target.with_file_name(name)
}

/// What is read and what is written must not be within one another, nor what is taken away for it.
fn check_apart(target: &Path, source: &Path, what: &str) -> Result<()> {
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
fn not_made(folder: &Path) -> impl Fn(io::Error) -> Error {
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

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| {
        let detail = "it cannot be read or written";
        Error::new(ErrorKind::Io, path.clone(), detail).with_source(source)
    }
}
