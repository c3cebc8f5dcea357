//! States of the index that are kept for a while, so that the pages of one search fit together while the index goes on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::snapshot::Snapshot;

/// States that are kept: each holds files that may have been merged meanwhile.
const KEPT_MAX: usize = 8;
/// How long after the last page.
const KEPT_FOR: Duration = Duration::from_secs(120);

/// The states that cursors lead to, the one that was used last at the end.
#[derive(Default)]
pub(super) struct Generations {
    kept: Mutex<VecDeque<(Arc<Snapshot>, Instant)>>,
}

impl Generations {
    /// Keeps a state for whoever has the cursor that was made of it.
    pub(super) fn keep(&self, snapshot: &Arc<Snapshot>) {
        let now = Instant::now();
        let number = snapshot.generation();
        let mut kept = self.kept.lock();
        kept.retain(|(other, used)| {
            other.generation() != number && now.duration_since(*used) < KEPT_FOR
        });
        kept.push_back((Arc::clone(snapshot), now));
        if kept.len() > KEPT_MAX {
            kept.pop_front();
        }
    }

    /// The state with a number, if it is kept.
    pub(super) fn get(&self, number: u64) -> Option<Arc<Snapshot>> {
        let kept = self.kept.lock();
        let found = kept.iter().find(|(snapshot, _)| snapshot.generation() == number);
        found.map(|(snapshot, _)| Arc::clone(snapshot))
    }

    /// Lets go what was not used for long.
    pub(super) fn drop_old(&self) {
        let now = Instant::now();
        self.kept.lock().retain(|(_, used)| now.duration_since(*used) < KEPT_FOR);
    }

    /// Lets all go: the index is made anew.
    pub(super) fn clear(&self) {
        self.kept.lock().clear();
    }

    pub(super) fn count(&self) -> usize {
        self.kept.lock().len()
    }
}
