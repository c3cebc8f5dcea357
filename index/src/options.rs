//! How the engine is opened: memory for each part, durability, retention.

use std::time::Duration;

use crate::full_text::FullTextOptions;
use crate::writer::Durability;

/// How the engine is opened.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Memory for cached blocks, in bytes.
    pub block_cache_bytes: usize,
    /// Memory for values that are read often, in bytes; 0: none.
    pub hot_cache_bytes: usize,
    /// How many entries of the completion indexes are kept in memory, for each space, before they go to files; about
    /// 32 bytes each. What is in memory is found in the change log after a crash.
    pub completion_memory_entries: usize,
    /// Memory for answers of completion that are asked often, in bytes; 0: none.
    pub completion_cache_bytes: usize,
    /// How full text is kept; `None`: nothing can be searched, as in tools that only load or look.
    pub full_text: Option<FullTextOptions>,
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// How long entries of the change log, and tombstones, are kept; a consumer that was away longer starts from a
    /// snapshot.
    pub change_log_retention: Duration,
    /// What another process is told that wants the same data directory, e.g. `pressmark serve (pid 4711)`.
    pub owner: String,
}

impl EngineOptions {
    /// What suits a small program: some hundred MiB of memory, nothing that was acknowledged is lost, nothing can be searched.
    /// `owner` is what another process is told that wants the same data directory.
    pub fn new(owner: impl Into<String>) -> Self {
        Self {
            block_cache_bytes: 64 << 20,
            hot_cache_bytes: 64 << 20,
            completion_memory_entries: 512 * 1_024,
            completion_cache_bytes: 8 << 20,
            full_text: None,
            durability: Durability::Sync,
            change_log_retention: Duration::from_secs(7 * 24 * 3600),
            owner: owner.into(),
        }
    }
}
