//! RocksDB's settings, each with its reason.

use rocksdb::{BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType, Options};

use super::column_family::Cf;

/// Chunks live in blob files from this size on, so that compaction does not copy them.
const CHUNK_BLOB_BYTES_MIN: u64 = 32 * 1024;
/// Contents only from here on: a look-up that must not touch the disk cannot see into blob files, and a body that is
/// not chunked is smaller. What is larger has many parts.
const CONTENTS_BLOB_BYTES_MIN: u64 = 512 * 1024;
/// A memtable; two of each family may wait for their flush.
const MEMTABLE_BYTES: usize = 32 * 1024 * 1024;
/// All memtables together; only a bulk load comes near it.
const MEMTABLES_BYTES_MAX: usize = 512 * 1024 * 1024;
/// The part of a memtable that is a Bloom filter: a record that is new is looked for before it is written.
const MEMTABLE_FILTER_RATIO: f64 = 0.02;
/// A table in which this many of so many neighbouring entries are deletions is compacted without waiting for others, so
/// that what was deleted gives its space back.
const DELETIONS_OF_WINDOW: usize = 16 * 1024;
const DELETIONS_WINDOW: usize = 32 * 1024;
/// Not by the share of all entries: a small table with a few deletions is not worth a compaction.
const DELETIONS_RATIO: f64 = 0.0;
/// The write-ahead log is cut, by flushing what it still holds, from this size on; opening replays at most that.
const WAL_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The log of the store's own doings is kept this many files long.
const INFO_LOG_FILES: usize = 4;
const INFO_LOG_BYTES: usize = 4 * 1024 * 1024;

/// Settings of the store as a whole.
pub(super) fn database() -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_db_write_buffer_size(MEMTABLES_BYTES_MAX);
    // Small families fill their memtables slowly and would keep the log of all others alive.
    options.set_max_total_wal_size(WAL_BYTES_MAX);
    options.set_max_background_jobs(2);
    // More tables than this are opened when they are read.
    options.set_max_open_files(1024);
    options.set_keep_log_file_num(INFO_LOG_FILES);
    options.set_max_log_file_size(INFO_LOG_BYTES);
    // A torn last record of the WAL is one that was never acknowledged; anything else is corruption.
    options.set_wal_recovery_mode(rocksdb::DBRecoveryMode::TolerateCorruptedTailRecords);
    options.set_bytes_per_sync(1024 * 1024);
    options.set_wal_bytes_per_sync(1024 * 1024);
    options
}

/// The families that grow with every record.
pub(super) const BULK_FAMILIES: [Cf; 3] = [Cf::Contents, Cf::Descriptors, Cf::List];

/// What a bulk load changes in them: memtables are larger, and compaction waits for more of them, so that each record is
/// written anew fewer times. What reads pay for it, more tables to ask, ends with the load.
pub(super) const BULK: [(&str, &str); 5] = [
    ("write_buffer_size", "134217728"),
    ("level0_file_num_compaction_trigger", "16"),
    ("level0_slowdown_writes_trigger", "40"),
    ("level0_stop_writes_trigger", "64"),
    ("max_bytes_for_level_base", "1073741824"),
];

/// The same settings as they are otherwise: the memtable's is ours, the others are RocksDB's own.
pub(super) const SERVING: [(&str, &str); 5] = [
    ("write_buffer_size", "33554432"),
    ("level0_file_num_compaction_trigger", "4"),
    ("level0_slowdown_writes_trigger", "20"),
    ("level0_stop_writes_trigger", "36"),
    ("max_bytes_for_level_base", "268435456"),
];

/// Settings of one column family.
pub(super) fn column_family(cf: Cf, cache: &Cache) -> ColumnFamilyDescriptor {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_format_version(6);
    table.set_cache_index_and_filter_blocks(true);
    table.set_pin_l0_filter_and_index_blocks_in_cache(true);
    let mut options = Options::default();
    options.set_write_buffer_size(MEMTABLE_BYTES);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
    match cf {
        // Point look-ups decide these families: most asked keys are there, some are not.
        Cf::Contents | Cf::Descriptors | Cf::Aliases | Cf::Tombstones => {
            table.set_bloom_filter(10.0, false);
            options.set_memtable_whole_key_filtering(true);
            options.set_memtable_prefix_bloom_ratio(MEMTABLE_FILTER_RATIO);
            table.set_block_size(8 * 1024);
            // A hash index in data blocks spares the binary search of a point look-up.
            table.set_data_block_index_type(rocksdb::DataBlockIndexType::BinaryAndHash);
        }
        Cf::Chunks => table.set_block_size(64 * 1024),
        Cf::Meta
        | Cf::List
        | Cf::Spaces
        | Cf::Acls
        | Cf::Changes
        | Cf::Sources
        | Cf::Idempotency => table.set_block_size(16 * 1024),
    }
    options.add_compact_on_deletion_collector_factory(
        DELETIONS_WINDOW,
        DELETIONS_OF_WINDOW,
        DELETIONS_RATIO,
    );
    if matches!(cf, Cf::Contents | Cf::Chunks) {
        options.set_enable_blob_files(true);
        options.set_min_blob_size(if cf == Cf::Chunks {
            CHUNK_BLOB_BYTES_MIN
        } else {
            CONTENTS_BLOB_BYTES_MIN
        });
        options.set_blob_compression_type(DBCompressionType::Lz4);
        options.set_enable_blob_gc(true);
    }
    options.set_block_based_table_factory(&table);
    ColumnFamilyDescriptor::new(cf.name(), options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_bulk_load_sets_is_set_back() {
        assert_eq!(BULK.map(|(name, _)| name), SERVING.map(|(name, _)| name));
        let (_, memtable) = SERVING[0];
        assert_eq!(memtable, MEMTABLE_BYTES.to_string());
    }
}
