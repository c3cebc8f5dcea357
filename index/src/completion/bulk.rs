//! How completion takes in very many changes: layers of many commits, so that each entry is copied fewer times.
//!
//! Whoever asks a question makes the layer of what was left until then, so that answers are as true as ever.

use std::sync::atomic::Ordering;

use super::spaces::Completions;

/// While a process does nothing but load, so many times as many entries are kept in memory: about 130 MB as a rule.
const LOADING_MEMORY_FACTOR: usize = 8;
/// And changes are left until they are this part of the usual number of entries: 65,536 as a rule, which are about 30 MB.
const LOADING_CHANGES_SHARE: usize = 8;
/// The same in a process that serves: 8,192 as a rule, which who asks first waits for some ten milliseconds.
const SERVING_CHANGES_SHARE: usize = 64;

impl Completions {
    /// How many changes become one layer.
    pub(super) fn changes_per_layer(&self) -> usize {
        self.changes_per_layer.load(Ordering::Relaxed)
    }

    /// Keeps more in memory from now on, and makes layers of many commits.
    pub(crate) fn tune_for_bulk_load(&self) {
        if !self.until_asked.load(Ordering::Relaxed) && self.changes_per_layer() > 1 {
            return;
        }
        self.until_asked.store(false, Ordering::Relaxed);
        let entries = self.memory_entries();
        self.changes_per_layer.store((entries / LOADING_CHANGES_SHARE).max(2), Ordering::Relaxed);
        self.memory_entries.store(entries.saturating_mul(LOADING_MEMORY_FACTOR), Ordering::Relaxed);
    }

    /// Makes layers of many commits until somebody asks, or [`Completions::end_bulk`].
    pub(crate) fn begin_bulk(&self) {
        if self.changes_per_layer() > 1 {
            return;
        }
        let changes = (self.memory_entries() / SERVING_CHANGES_SHARE).max(2);
        self.until_asked.store(true, Ordering::Relaxed);
        self.changes_per_layer.store(changes, Ordering::Relaxed);
    }

    /// Each commit is a layer again; upkeep makes one of what is left.
    pub(crate) fn end_bulk(&self) {
        if self.until_asked.swap(false, Ordering::Relaxed) {
            self.changes_per_layer.store(1, Ordering::Relaxed);
            self.wake();
        }
    }
}
