//! The number of the newest write that is on the disk, kept beside the store.
//!
//! RocksDB takes the end of its WAL for the end of what was written: when the file was shortened or deleted, acknowledged
//! records are missing and nothing shows it. So after each sync the number of the last write goes into a small file as
//! well, in place and without a sync of its own: it never says more than what is on the disk, and after a power cut it
//! may say less. A store that ends before it has lost something.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::error::{Error, ErrorKind, Result};

/// The file's name, beside the folder of the store.
const FILE_NAME: &str = "NEWEST";
const MAGIC: [u8; 4] = *b"PmN1";
/// Magic, CRC-32 of the store's identity, number, CRC-32 of all before: within one sector, so that it is not torn.
const BYTES: usize = 4 + 4 + 8 + 4;

/// The file, as long as the store is open.
pub(super) struct Newest {
    path: PathBuf,
    /// `None`: there is none, and none can be made.
    file: Option<File>,
    identity: u32,
    written: Mutex<u64>,
}

// === impl Newest ===

impl Newest {
    /// For the store in the folder `store`, which is open.
    pub(super) fn open(store: &Path) -> Newest {
        let path = store.with_file_name(FILE_NAME);
        // Without an identity of its own a store is as good as any.
        let identity = std::fs::read(store.join("IDENTITY")).unwrap_or_default();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        // What cannot be written may still be read: on a read-only file system for one.
        let file = options.open(&path).or_else(|_| File::open(&path)).ok();
        let newest =
            Newest { path, file, identity: crc32fast::hash(&identity), written: Mutex::new(0) };
        *newest.written.lock() = newest.read().unwrap_or(0);
        newest
    }

    /// Whether a store whose newest write is `found` has all that was on the disk.
    ///
    /// # Errors
    /// `Corrupt` with the ways out.
    pub(super) fn check(&self, store: &Path, found: u64) -> Result<()> {
        let wanted = *self.written.lock();
        if found >= wanted {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Corrupt,
            store.display().to_string(),
            format!(
                "the store ends at write {found}, but write {wanted} was on the disk: a file in it (most likely a write-ahead log, *.log) \
                 was shortened or deleted. Use another data directory and restore a backup into it, or go on without what is missing: delete {}",
                self.path.display()
            ),
        ))
    }

    /// Notes that the write of this number is on the disk.
    pub(super) fn note(&self, sequence: u64) {
        let mut written = self.written.lock();
        if sequence <= *written {
            return;
        }
        *written = sequence;
        if let Some(file) = &self.file {
            // An older number that stays protects less, and nothing else.
            let _ = file.write_all_at(&self.encode(sequence), 0);
        }
    }

    fn encode(&self, sequence: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.identity.to_be_bytes());
        bytes.extend_from_slice(&sequence.to_be_bytes());
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_be_bytes());
        bytes
    }

    /// The number in the file, if it is one of this store.
    fn read(&self) -> Option<u64> {
        let mut bytes = [0; BYTES];
        match self.file.as_ref()?.read_exact_at(&mut bytes, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return None,
            read => read.ok()?,
        }
        let (_, sequence) = bytes.split_first_chunk::<8>()?;
        let sequence = u64::from_be_bytes(*sequence.first_chunk()?);
        (self.encode(sequence) == bytes).then_some(sequence)
    }
}

impl Drop for Newest {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.sync_all();
        }
    }
}
