//! One process owns a data directory. The lock is the kernel's (`flock`), so it ends with its owner,
//! however that ends; the file's text only tells who that is.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as ErrorKindOfSystem, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};

/// Name of the lock file in a data directory.
pub(crate) const FILE_NAME: &str = "LOCK";
/// More of the owner's text than this is not read.
const OWNER_BYTES_MAX: u64 = 4096;

/// Held as long as the engine is open.
#[derive(Debug)]
pub(crate) struct DataDirLock {
    _file: Option<File>,
}

impl DataDirLock {
    /// Takes the lock; `owner` is what another process is told, e.g. `pressmark serve (pid 4711)`.
    pub(crate) fn acquire(data_dir: &Path, owner: &str) -> Result<DataDirLock> {
        let path = data_dir.join(FILE_NAME);
        let subject = data_dir.display().to_string();
        let io = |source: std::io::Error| {
            Error::new(ErrorKind::Io, path.display().to_string(), "the lock file cannot be used")
                .with_source(source)
        };
        let mut file = match open(&path).map_err(io)? {
            Some(file) => file,
            // Nobody can write there, so that there is nothing to keep apart.
            None => return Ok(DataDirLock { _file: None }),
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let who = named_in(&file);
                return Err(Error::new(
                    ErrorKind::Locked,
                    subject,
                    format!("it is owned by {who}: stop that one, or use another --data folder"),
                ));
            }
            Err(source) => return Err(io(source.into())),
        }
        // The text only helps who is refused; a full disk, which may not take it, keeps nobody from reading.
        let _ =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{owner}"));
        Ok(DataDirLock { _file: Some(file) })
    }
}

/// The lock file; on a read-only file system, the one that is there, if any.
fn open(path: &Path) -> std::io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKindOfSystem::ReadOnlyFilesystem => {
            match File::open(path) {
                Err(error) if error.kind() == ErrorKindOfSystem::NotFound => Ok(None),
                opened => opened.map(Some),
            }
        }
        opened => opened.map(Some),
    }
}

impl Engine {
    /// Who has the store of a data directory open now, as a refusal to open it names them; `None`: nobody, or nobody can
    /// tell.
    pub fn owner_of(data_dir: &Path) -> Option<String> {
        let file = File::open(data_dir.join(FILE_NAME)).ok()?;
        // Held for a moment only: it ends with `file`.
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Err(rustix::io::Errno::WOULDBLOCK) => Some(named_in(&file)),
            Ok(()) | Err(_) => None,
        }
    }
}

/// The owner, as its lock file names it.
fn named_in(file: &File) -> String {
    let mut text = String::new();
    let _ = file.take(OWNER_BYTES_MAX).read_to_string(&mut text);
    if text.is_empty() { "another process".to_owned() } else { text.trim().to_owned() }
}
