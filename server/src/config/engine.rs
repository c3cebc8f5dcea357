//! From the configuration to how the engine is opened.

use std::path::PathBuf;
use std::sync::Arc;

use pressmark_index::engine::EngineOptions;
use pressmark_index::full_text::FullTextOptions;
use pressmark_index::writer;

use super::{Config, Durability, FullTextConfig};
use crate::extraction::Extractor;

/// What an entry of a completion index takes in memory.
const COMPLETION_ENTRY_BYTES: u64 = 32;

// === impl Config ===

impl Config {
    /// How the engine is opened. `owner` is what another process is told that wants the same data
    /// directory; `reader` is the program `pressmark`, which reads formats as a child: without it this process does, and reads
    /// no PDF files.
    pub fn engine_options(&self, owner: String, reader: Option<PathBuf>) -> EngineOptions {
        let storage = &self.storage;
        EngineOptions {
            block_cache_bytes: size(storage.block_cache_bytes),
            hot_cache_bytes: size(storage.hot_cache_bytes),
            completion_memory_entries: size(
                storage.completion_memory_bytes / COMPLETION_ENTRY_BYTES,
            ),
            completion_cache_bytes: size(storage.completion_cache_bytes),
            full_text: self.full_text_options(reader),
            durability: match storage.durability {
                Durability::Sync => writer::Durability::Sync,
                Durability::Interval(interval) => writer::Durability::Interval(interval),
            },
            change_log_retention: storage.change_log_retention,
            owner,
        }
    }

    fn full_text_options(&self, reader: Option<PathBuf>) -> Option<FullTextOptions> {
        let FullTextConfig {
            enabled, memory_bytes, hit_cache_bytes, threads, commit_interval, ..
        } = self.full_text;
        enabled.then(|| FullTextOptions {
            memory_bytes: size(memory_bytes),
            hit_cache_bytes: size(hit_cache_bytes),
            threads,
            commit_interval,
            extract: Arc::new(Extractor::new(self.extract.clone(), reader)),
        })
    }
}

/// Sizes fit the address space, or mean "no bound" there.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
