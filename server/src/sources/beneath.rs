//! Opening beneath a folder's handle, one name at a time, never through a symbolic link.
//!
//! Every step is an `openat` with `O_NOFOLLOW` on the handle of the folder above. That gives what `openat2` with
//! `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS` gives, on every Unix, and a folder that is swapped for a link while we walk
//! cannot lead us out.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use pressmark_index::resource::UnixMillis;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// `O_NONBLOCK`: opening a FIFO that took the file's place must not wait for a writer.
const FILE_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// The link through which Kubernetes changes all files of a folder at once.
const PROJECTION: &str = "..data";

/// An open folder.
pub(super) struct Folder(OwnedFd);

/// Which folder it is: the bytes of device and inode, whose widths are the system's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FolderIdentity(Vec<u8>);

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    File,
    /// A symbolic link, wherever it points.
    Link,
    /// FIFO, socket or device.
    Special,
}

/// What the file system says of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryStat {
    pub(super) kind: EntryKind,
    pub(super) bytes: u64,
    pub(super) modified: UnixMillis,
    /// Tells an unchanged file without reading it: size, modification and change time in nanoseconds, inode.
    ///
    /// Two writes of one size within the granularity of the file system's clock have the same times; the watcher hears
    /// of both, and a kernel with multigrain timestamps (Linux 6.13) tells them apart.
    pub(super) fingerprint: Vec<u8>,
}

impl Folder {
    /// Opens the root of a source. A link is followed here only: the operator named it.
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, FOLDER_FLAGS, Mode::empty())?))
    }

    /// Opens the sub-folder `name`; a link fails with `ELOOP` or `ENOTDIR`.
    pub(super) fn open_folder(&self, name: &OsStr) -> io::Result<Self> {
        let flags = FOLDER_FLAGS | OFlags::NOFOLLOW;
        Ok(Self(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Opens the entry `name` for reading without waiting. It may be of another kind than it was: check with
    /// [`stat_open`].
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        Ok(File::from(rustix::fs::openat(&self.0, name, FILE_FLAGS, Mode::empty())?))
    }

    /// What the entry `name` is, without opening it.
    pub(super) fn stat(&self, name: &OsStr) -> io::Result<EntryStat> {
        Ok(entry_stat(&rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Whether there is an entry `name`.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.stat(OsStr::new(name)).is_ok()
    }

    /// Where the link `name` points; `None`: it is not one.
    fn link_target(&self, name: &OsStr) -> Option<OsString> {
        let target = rustix::fs::readlinkat(&self.0, name, Vec::new()).ok()?;
        Some(OsStr::from_bytes(target.as_bytes()).to_os_string())
    }

    /// The folder beside `..data` that it points to: the files of a ConfigMap or Secret of Kubernetes, whose names in this
    /// folder are links through `..data`. To change all of them at once, `..data` is replaced by another link.
    pub(super) fn projection(&self) -> Option<Self> {
        let target = self.link_target(OsStr::new(PROJECTION))?;
        let is_beside = target.as_bytes().starts_with(b"..")
            && target.len() > 2
            && !target.as_bytes().contains(&b'/');
        self.open_folder(&target).ok().filter(|_| is_beside)
    }

    /// Whether the link `name` leads to the file or folder of that name in the projection.
    pub(super) fn is_projected(&self, name: &OsStr) -> bool {
        let wanted = [PROJECTION.as_bytes(), b"/", name.as_bytes()].concat();
        self.link_target(name).is_some_and(|target| target.as_bytes() == wanted)
    }

    /// Device and inode: what tells this folder from every other, whichever path led to it.
    pub(super) fn identity(&self) -> io::Result<FolderIdentity> {
        let stat = rustix::fs::fstat(&self.0)?;
        Ok(FolderIdentity([&stat.st_dev.to_be_bytes()[..], &stat.st_ino.to_be_bytes()].concat()))
    }

    /// The names of all entries, sorted by their bytes. A folder that was removed holds nothing.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = match entry {
                Ok(entry) => entry,
                Err(rustix::io::Errno::NOENT) => break,
                Err(error) => return Err(error.into()),
            };
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_os_string());
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// What an open file is.
pub(super) fn stat_open(file: &File) -> io::Result<EntryStat> {
    Ok(entry_stat(&rustix::fs::fstat(file)?))
}

fn entry_stat(stat: &Stat) -> EntryStat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => EntryKind::Folder,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => EntryKind::Special,
    };
    let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    let modified = stat.st_mtime.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000);
    let fingerprint = [
        &stat.st_size.to_be_bytes()[..],
        &stat.st_mtime.to_be_bytes(),
        &stat.st_mtime_nsec.to_be_bytes(),
        &stat.st_ctime.to_be_bytes(),
        &stat.st_ctime_nsec.to_be_bytes(),
        &stat.st_ino.to_be_bytes(),
    ]
    .concat();
    EntryStat { kind, bytes: u64::try_from(stat.st_size).unwrap_or(0), modified, fingerprint }
}
