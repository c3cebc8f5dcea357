//! The documents that ended a process, so that none ends another one.

use std::collections::HashSet;

use parking_lot::Mutex;

/// So many are kept. When there are more, all are forgotten: each costs another child then, and no more.
const DOCUMENTS_MAX: usize = 4096;

/// Contents that are not read again while this process runs.
#[derive(Debug, Default)]
pub(super) struct PassedOver(Mutex<HashSet<[u8; 32]>>);

// === impl PassedOver ===

impl PassedOver {
    pub(super) fn contains(&self, contents: &[u8]) -> bool {
        let known = self.0.lock();
        // Nearly always there are none, and nothing is hashed.
        !known.is_empty() && known.contains(blake3::hash(contents).as_bytes())
    }

    pub(super) fn add(&self, contents: &[u8]) {
        let mut known = self.0.lock();
        if known.len() >= DOCUMENTS_MAX {
            known.clear();
        }
        known.insert(*blake3::hash(contents).as_bytes());
    }
}
