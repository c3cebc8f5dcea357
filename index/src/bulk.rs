//! Writing very many records: what is set otherwise meanwhile, and who stands back for whom.

use std::path::Path;
use std::sync::Arc;

use crate::background::stand_back;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::store::{Opened, Store};

/// While it is held, writing very many records is cheaper: tables are merged later, and in larger pieces, and completion
/// takes many commits at a time until somebody asks it. Reads that find nothing in memory ask more tables meanwhile.
pub struct BulkIngest {
    shared: Arc<Shared>,
}

impl Engine {
    /// Makes writing very many records cheaper and reading dearer, until the engine is dropped or has to recover. Where
    /// that cannot be, on a full disk for one, all works as it does otherwise.
    ///
    /// For a process that does nothing else; see [`Engine::bulk_ingest`] for one that serves.
    pub fn tune_for_bulk_load(&self) {
        self.shared.hold_bulk();
        self.shared.completions.tune_for_bulk_load();
    }

    /// Makes writing very many records cheaper until all of what this returns is dropped. Where that cannot be, on a full
    /// disk for one, all works as it does otherwise. Waits for the disk, and so does the drop.
    pub fn bulk_ingest(&self) -> BulkIngest {
        self.shared.hold_bulk();
        self.shared.completions.begin_bulk();
        BulkIngest { shared: Arc::clone(&self.shared) }
    }
}

impl Drop for BulkIngest {
    fn drop(&mut self) {
        self.shared.release_bulk();
    }
}

impl Shared {
    fn hold_bulk(&self) {
        let mut holders = self.bulk_holders.lock();
        *holders += 1;
        if *holders == 1 && self.refusal().is_none() {
            self.store().tune_for_bulk_load();
        }
    }

    fn release_bulk(&self) {
        let mut holders = self.bulk_holders.lock();
        *holders = holders.saturating_sub(1);
        if *holders == 0 {
            self.completions.end_bulk();
            self.store().tune_for_serving();
        }
    }
}

/// Opens the store on a thread that stands back: the threads that write and merge its tables are as nice as the one that
/// starts them.
pub(crate) fn open_store(folder: &Path, block_cache_bytes: usize) -> Result<Opened> {
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| {
            stand_back();
            Store::open(folder, block_cache_bytes)
        });
        opening.join().unwrap_or_else(|_| {
            Err(Error::new(
                ErrorKind::Io,
                folder.display().to_string(),
                "opening it ended in a panic",
            ))
        })
    })
}
