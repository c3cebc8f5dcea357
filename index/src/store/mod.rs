//! The only module that names RocksDB: point look-ups, scans over one snapshot, atomic batches.

pub(crate) mod codec;
pub(crate) mod column_family;
pub(crate) mod key;
mod newest;
mod options;
pub(crate) mod value;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rocksdb::{
    ColumnFamily, DB, DBPinnableSlice, DBRawIterator, ReadOptions, WriteBatch, WriteOptions,
};

pub(crate) use column_family::Cf;
use newest::Newest;

use crate::error::{Error, ErrorKind, Result};

/// What a pass over a whole family reads from the disk at a time.
const PASS_READ_AHEAD_BYTES: usize = 2 * 1024 * 1024;

/// An open RocksDB with our column families.
pub(crate) struct Store {
    // Dropped in this order: the database is closed before others may delete its files.
    db: DB,
    held: OnceLock<FilesHeld>,
    path: PathBuf,
    memory_only: ReadOptions,
    cache: rocksdb::Cache,
    written: Written,
    newest: Arc<Newest>,
}

/// Which families were ever written to. The others hold nothing, and looking for a key there is spared: most
/// stores have no aliases and no tombstones, which each record that is put would be looked for in.
struct Written([AtomicBool; Cf::ALL.len()]);

impl Written {
    fn of(db: &DB) -> std::result::Result<Written, rocksdb::Error> {
        let mut written = Cf::ALL.map(|_| AtomicBool::new(true));
        for (cf, written) in Cf::ALL.into_iter().zip(&mut written) {
            let Some(family) = db.cf_handle(cf.name()) else { continue };
            let mut entries = 0_u64;
            for property in [
                "rocksdb.total-sst-files-size",
                "rocksdb.num-entries-active-mem-table",
                "rocksdb.num-entries-imm-mem-tables",
            ] {
                // What is not known counts as written.
                let found = db.property_int_value_cf(family, property)?.unwrap_or(1);
                entries = entries.saturating_add(found);
            }
            *written.get_mut() = entries > 0;
        }
        Ok(Written(written))
    }

    fn flag(&self, cf: Cf) -> Option<&AtomicBool> {
        Cf::ALL.iter().zip(&self.0).find(|(known, _)| **known == cf).map(|(_, flag)| flag)
    }

    fn is(&self, cf: Cf) -> bool {
        self.flag(cf).is_none_or(|flag| flag.load(Ordering::Acquire))
    }

    /// Before the write, so that nobody who can see it misses it.
    fn set(&self, cf: Cf) {
        if let Some(flag) = self.flag(cf).filter(|flag| !flag.load(Ordering::Relaxed)) {
            flag.store(true, Ordering::Release);
        }
    }
}

/// As long as this is there, the store deletes no file that another one on the same folder may be reading.
struct FilesHeld(Arc<Store>);

impl Drop for FilesHeld {
    fn drop(&mut self) {
        // When this fails the files go at the next opening.
        let _ = self.0.db.enable_file_deletions();
    }
}

/// What a look-up that must not touch the disk found.
pub(crate) enum InMemory<'s> {
    Found(DBPinnableSlice<'s>),
    /// Not there, or not known without the disk.
    Unknown,
}

impl Store {
    /// Opens or creates the store in `path`. One that is there and cannot be written, since its disk is full or fails,
    /// is opened to be read.
    pub(crate) fn open(path: &Path, block_cache_bytes: usize) -> Result<Opened> {
        // HyperClockCache has no lock on a hit; entries here are data blocks of about 8 KiB.
        let cache = rocksdb::Cache::new_hyper_clock_cache(block_cache_bytes, 8 * 1024);
        let newest = || Arc::new(Newest::open(path));
        let source = match Store::open_with(path, cache.clone(), Mode::Writable, newest) {
            Ok(store) => return store.with_all_writes().map(Opened::Writable),
            Err(source) => source,
        };
        let fault = cannot_open(path, &source);
        if !is_fault_of_writing(&source) {
            return Err(fault);
        }
        match Store::open_with(path, cache, Mode::ReadOnly, newest) {
            Ok(store) => store.with_all_writes().map(|store| Opened::ReadOnly(store, fault)),
            // A store that is not there yet, or one that cannot be read either.
            Err(_) => Err(fault),
        }
    }

    /// The store, if no write is missing that was on the disk.
    fn with_all_writes(self) -> Result<Store> {
        self.newest.check(&self.path, self.db.latest_sequence_number())?;
        Ok(self)
    }

    /// Opens the same folder again, with the same cache. [`Mode::Writable`] needs that nobody else has it open so.
    pub(crate) fn reopen(&self, mode: Mode) -> Result<Store> {
        Store::open_with(&self.path, self.cache.clone(), mode, || Arc::clone(&self.newest))
            .map_err(|source| cannot_open(&self.path, &source))?
            .with_all_writes()
    }

    fn open_with(
        path: &Path,
        cache: rocksdb::Cache,
        mode: Mode,
        newest: impl FnOnce() -> Arc<Newest>,
    ) -> std::result::Result<Store, rocksdb::Error> {
        let families = Cf::ALL.map(|cf| options::column_family(cf, &cache));
        let mut database = options::database();
        let db = match mode {
            Mode::Writable => DB::open_cf_descriptors(&database, path, families),
            Mode::ReadOnly => {
                // Tables are opened now: the next writable store may delete their files soon.
                database.set_max_open_files(-1);
                DB::open_cf_descriptors_read_only(&database, path, families, false)
            }
        }?;
        let mut memory_only = ReadOptions::default();
        memory_only.set_read_tier(rocksdb::ReadTier::BlockCache);
        let (written, held) = (Written::of(&db)?, OnceLock::new());
        let newest = newest();
        Ok(Store { db, held, path: path.to_owned(), memory_only, cache, written, newest })
    }

    /// Trades what reads cost against what writing very many records costs, until the store is closed.
    pub(crate) fn tune_for_bulk_load(&self) {
        self.tune(&options::BULK);
    }

    /// Takes that back.
    pub(crate) fn tune_for_serving(&self) {
        self.tune(&options::SERVING);
    }

    fn tune(&self, settings: &[(&str, &str)]) {
        for cf in options::BULK_FAMILIES {
            // Settings are noted in a file, for which there may be no room. What is not tuned is slower, and no worse.
            let _ = self.family(cf).map(|family| self.db.set_options_cf(family, settings));
        }
    }

    /// Ends flushes, compactions and RocksDB's own attempts to recover; reads go on, writes fail from now on.
    pub(crate) fn stop_background_work(&self) {
        self.db.cancel_all_background_work(true);
    }

    /// Lets `successor`, on the same folder, delete no file until this store is closed: its readers may need them.
    pub(crate) fn keep_files_of(&self, successor: &Arc<Store>) {
        // Without it a read that goes on for long could miss a file, and fail.
        if successor.db.disable_file_deletions().is_ok() {
            let _ = self.held.set(FilesHeld(Arc::clone(successor)));
        }
    }

    fn family(&self, cf: Cf) -> Result<&ColumnFamily> {
        self.db.cf_handle(cf.name()).ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, cf.name(), "the column family is missing in the store")
        })
    }

    /// One value, from memory or the disk.
    pub(crate) fn get(&self, cf: Cf, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>> {
        if !self.written.is(cf) {
            return Ok(None);
        }
        self.db.get_pinned_cf(self.family(cf)?, key).map_err(|source| failed("read", cf, source))
    }

    /// One value if it can be had without the disk.
    pub(crate) fn get_in_memory(&self, cf: Cf, key: &[u8]) -> Result<InMemory<'_>> {
        match self.db.get_pinned_cf_opt(self.family(cf)?, key, &self.memory_only) {
            Ok(Some(value)) => Ok(InMemory::Found(value)),
            Ok(None) => Ok(InMemory::Unknown),
            Err(source) if source.kind() == rocksdb::ErrorKind::Incomplete => Ok(InMemory::Unknown),
            Err(source) => Err(failed("read", cf, source)),
        }
    }

    /// A view in which nothing changes.
    pub(crate) fn view(&self) -> View<'_> {
        View { store: self, snapshot: self.db.snapshot() }
    }

    /// An empty batch.
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch { store: self, batch: WriteBatch::default() }
    }

    /// Writes all of a batch or nothing; with `sync` it is on the disk before this returns.
    pub(crate) fn write(&self, batch: Batch<'_>, sync: bool) -> Result<()> {
        let mut options = WriteOptions::default();
        options.set_sync(sync);
        self.db.write_opt(batch.batch, &options).map_err(|source| {
            Error::new(
                ErrorKind::Io,
                "store",
                "a write failed; whether it was kept shows when writing works again: send it again then",
            )
            .with_source(source)
        })?;
        if sync {
            self.newest.note(self.db.latest_sequence_number());
        }
        Ok(())
    }

    /// Brings everything that is written to the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        // What is written meanwhile may not be on the disk.
        let sequence = self.db.latest_sequence_number();
        self.db.flush_wal(true).map_err(|source| {
            Error::new(ErrorKind::Io, "store", "the WAL was not synced").with_source(source)
        })?;
        self.newest.note(sequence);
        Ok(())
    }

    /// Moves all memtables into tables, e.g. before measuring sizes.
    pub(crate) fn flush(&self) -> Result<()> {
        Cf::ALL.iter().try_for_each(|cf| {
            self.db.flush_cf(self.family(*cf)?).map_err(|source| failed("flush", *cf, source))
        })
    }

    /// Makes a folder with links to all files as they are now; it must be on the same file system and not there yet.
    /// What is in memory is written to files before.
    pub(crate) fn checkpoint(&self, folder: &Path) -> Result<()> {
        let failed = |source| {
            let subject = folder.display().to_string();
            Error::new(ErrorKind::Io, subject, "no checkpoint can be made there")
                .with_source(source)
        };
        let checkpoint = rocksdb::checkpoint::Checkpoint::new(&self.db).map_err(failed)?;
        checkpoint.create_checkpoint(folder).map_err(failed)
    }

    /// Rewrites all tables, so that what was deleted takes no room. Reads and writes go on meanwhile.
    pub(crate) fn compact(&self) -> Result<()> {
        for cf in Cf::ALL {
            self.db.compact_range_cf(self.family(cf)?, None::<&[u8]>, None::<&[u8]>);
        }
        Ok(())
    }

    /// Bytes in tables and blob files of one family.
    pub(crate) fn disk_bytes(&self, cf: Cf) -> Result<u64> {
        let family = self.family(cf)?;
        ["rocksdb.total-sst-files-size", "rocksdb.total-blob-file-size"].iter().try_fold(
            0,
            |sum: u64, property| {
                self.db
                    .property_int_value_cf(family, *property)
                    .map(|bytes| sum.saturating_add(bytes.unwrap_or(0)))
                    .map_err(|source| failed("measure", cf, source))
            },
        )
    }

    /// Bytes in the block cache.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.cache.get_usage()
    }
}

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By the one that writes.
    Writable,
    /// Beside it: shows what was there when it was opened, and writes nothing.
    ReadOnly,
}

/// What an opening came to.
pub(crate) enum Opened {
    Writable(Store),
    /// It can only be read; the error says why.
    ReadOnly(Store, Error),
}

/// Whether the disk takes nothing, which need not keep anyone from reading. RocksDB gives the system's error as text
/// only.
fn is_fault_of_writing(source: &rocksdb::Error) -> bool {
    let text = source.to_string();
    [
        "No space left",
        "Disk quota exceeded",
        "Input/output error",
        "File too large",
        "Read-only file system",
    ]
    .iter()
    .any(|cause| text.contains(cause))
}

fn cannot_open(path: &Path, source: &rocksdb::Error) -> Error {
    let kind = match source.kind() {
        rocksdb::ErrorKind::Corruption => ErrorKind::Corrupt,
        _ => ErrorKind::Io,
    };
    let text = source.to_string();
    // RocksDB gives the system's error as text only.
    let way_out = [
        ("Too many open files", ": raise the limit of open files (`ulimit -n`)"),
        ("No space left", ": free space on its file system"),
        ("File too large", ": raise the limit on the size of files (`ulimit -f`)"),
        ("Read-only file system", ": mount its file system for writing"),
        ("Permission denied", ": give this user the right to read and write it"),
    ];
    let way_out = way_out.iter().find(|(cause, _)| text.contains(cause)).map_or("", |(_, way)| way);
    Error::new(
        kind,
        path.display().to_string(),
        format!("the store cannot be opened ({text}){way_out}"),
    )
}

fn failed(what: &str, cf: Cf, source: rocksdb::Error) -> Error {
    let kind = match source.kind() {
        rocksdb::ErrorKind::Corruption => ErrorKind::Corrupt,
        _ => ErrorKind::Io,
    };
    Error::new(kind, cf.name(), format!("the store could not {what} this column family"))
        .with_source(source)
}

/// A value as the store's cache holds it, without a copy.
pub(crate) type Pinned<'v> = DBPinnableSlice<'v>;

/// One consistent state of the store.
pub(crate) struct View<'s> {
    store: &'s Store,
    snapshot: rocksdb::Snapshot<'s>,
}

impl<'s> View<'s> {
    pub(crate) fn get(&self, cf: Cf, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>> {
        if !self.store.written.is(cf) {
            return Ok(None);
        }
        self.snapshot
            .get_pinned_cf(self.store.family(cf)?, key)
            .map_err(|source| failed("read", cf, source))
    }

    /// Several values in one go, in the order of their keys as they are given: each with what went wrong with it.
    pub(crate) fn get_many(
        &self,
        cf: Cf,
        keys: &[&[u8]],
    ) -> Result<Vec<Result<Option<Pinned<'_>>>>> {
        if !self.store.written.is(cf) {
            return Ok(keys.iter().map(|_| Ok(None)).collect());
        }
        let family = self.store.family(cf)?;
        let mut options = ReadOptions::default();
        options.set_snapshot(&self.snapshot);
        let keys = keys.iter().copied();
        let found = self.store.db.batched_multi_get_cf_opt(family, keys, false, &options);
        Ok(found
            .into_iter()
            .map(|value| value.map_err(|source| failed("read", cf, source)))
            .collect())
    }

    /// Whether the key is there.
    pub(crate) fn has(&self, cf: Cf, key: &[u8]) -> Result<bool> {
        self.get(cf, key).map(|value| value.is_some())
    }

    /// From `from` on, while keys start with `prefix`.
    pub(crate) fn scan(&self, cf: Cf, prefix: &[u8], from: &[u8]) -> Result<Scan<'_>> {
        self.scan_with(ReadOptions::default(), cf, prefix, from)
    }

    /// The same for a pass over very many keys: it reads ahead, and leaves the block cache to those who come back.
    pub(crate) fn pass(&self, cf: Cf, prefix: &[u8], from: &[u8]) -> Result<Scan<'_>> {
        let mut options = ReadOptions::default();
        options.set_readahead_size(PASS_READ_AHEAD_BYTES);
        options.fill_cache(false);
        self.scan_with(options, cf, prefix, from)
    }

    fn scan_with(
        &self,
        mut options: ReadOptions,
        cf: Cf,
        prefix: &[u8],
        from: &[u8],
    ) -> Result<Scan<'_>> {
        if let Some(end) = key::after_prefix(prefix) {
            options.set_iterate_upper_bound(end);
        }
        let mut cursor = self.snapshot.raw_iterator_cf_opt(self.store.family(cf)?, options);
        cursor.seek(from);
        Ok(Scan { cursor, cf })
    }
}

/// Keys with their values in byte order.
pub(crate) struct Scan<'v> {
    cursor: DBRawIterator<'v>,
    cf: Cf,
}

impl Scan<'_> {
    /// The entry at hand; `None` at the end.
    pub(crate) fn item(&self) -> Result<Option<(&[u8], &[u8])>> {
        match self.cursor.item() {
            Some(item) => Ok(Some(item)),
            None => self
                .cursor
                .status()
                .map(|()| None)
                .map_err(|source| failed("scan", self.cf, source)),
        }
    }

    pub(crate) fn advance(&mut self) {
        if self.cursor.valid() {
            self.cursor.next();
        }
    }

    pub(crate) fn seek(&mut self, key: &[u8]) {
        self.cursor.seek(key);
    }
}

/// Changes that are written together or not at all.
pub(crate) struct Batch<'s> {
    store: &'s Store,
    batch: WriteBatch,
}

impl Batch<'_> {
    pub(crate) fn put(&mut self, cf: Cf, key: &[u8], value: &[u8]) -> Result<()> {
        self.store.written.set(cf);
        self.batch.put_cf(self.store.family(cf)?, key, value);
        Ok(())
    }

    pub(crate) fn delete(&mut self, cf: Cf, key: &[u8]) -> Result<()> {
        self.batch.delete_cf(self.store.family(cf)?, key);
        Ok(())
    }

    pub(crate) fn delete_range(&mut self, cf: Cf, from: &[u8], to: &[u8]) -> Result<()> {
        self.batch.delete_range_cf(self.store.family(cf)?, from, to);
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.batch.size_in_bytes()
    }
}
