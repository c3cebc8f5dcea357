//! The folder of the index, to which nothing is written any more once its session ends: tantivy cannot break off a merge
//! that runs, and one of millions of documents takes minutes.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// Whether a session may still write to the folder.
#[derive(Debug, Default)]
pub(super) struct Gate {
    is_closed: AtomicBool,
    /// Held while the list of segments is replaced.
    replacing: Mutex<()>,
}

impl Gate {
    /// From the return on, this session changes nothing in the folder that another one could read.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        drop(self.replacing.lock());
    }

    fn check(&self) -> io::Result<()> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(io::Error::other("the index is being closed"));
        }
        Ok(())
    }
}

/// A folder whose files are mapped.
#[derive(Debug, Clone)]
pub(super) struct IndexDirectory {
    files: MmapDirectory,
    gate: Arc<Gate>,
}

impl IndexDirectory {
    pub(super) fn open(folder: &Path, gate: &Arc<Gate>) -> tantivy::Result<IndexDirectory> {
        let files = MmapDirectory::open(folder)?;
        Ok(IndexDirectory { files, gate: Arc::clone(gate) })
    }
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        // A file of this name may be another session's by now.
        self.gate.check().map_err(|source| DeleteError::IoError {
            io_error: Arc::new(source),
            filepath: path.to_owned(),
        })?;
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.gate.check().map_err(|source| OpenWriteError::IoError {
            io_error: Arc::new(source),
            filepath: path.to_owned(),
        })?;
        let file = GuardedFile { file: self.files.open_write(path)?, gate: Arc::clone(&self.gate) };
        Ok(BufWriter::new(Box::new(file)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let _replacing = self.gate.replacing.lock();
        self.gate.check()?;
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.files.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}

/// A file that takes nothing more once its session ends.
struct GuardedFile {
    file: WritePtr,
    gate: Arc<Gate>,
}

impl Write for GuardedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gate.check()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TerminatingWrite for GuardedFile {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        self.gate.check()?;
        self.file.terminate_ref(token)
    }
}
