//! The folder of the index, to which nothing is written any more once its session ends: tantivy cannot break off a merge
//! that runs, and one of millions of documents takes minutes.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// A folder whose files are mapped.
#[derive(Debug, Clone)]
pub(super) struct IndexDirectory {
    files: MmapDirectory,
    is_stopped: Arc<AtomicBool>,
}

impl IndexDirectory {
    pub(super) fn open(
        folder: &Path,
        is_stopped: &Arc<AtomicBool>,
    ) -> tantivy::Result<IndexDirectory> {
        let files = MmapDirectory::open(folder)?;
        Ok(IndexDirectory { files, is_stopped: Arc::clone(is_stopped) })
    }
}

fn check(is_stopped: &AtomicBool) -> io::Result<()> {
    if is_stopped.load(Ordering::Relaxed) {
        return Err(io::Error::other("the index is being closed"));
    }
    Ok(())
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        check(&self.is_stopped).map_err(|source| OpenWriteError::IoError {
            io_error: Arc::new(source),
            filepath: path.to_owned(),
        })?;
        let file =
            GuardedFile { file: self.files.open_write(path)?, is_stopped: self.is_stopped.clone() };
        Ok(BufWriter::new(Box::new(file)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        check(&self.is_stopped)?;
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
    is_stopped: Arc<AtomicBool>,
}

impl Write for GuardedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(&self.is_stopped)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TerminatingWrite for GuardedFile {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        check(&self.is_stopped)?;
        self.file.terminate_ref(token)
    }
}
