//! States of the index that are kept for a while, so that the pages of one search fit together while the index goes on.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tantivy::Searcher;

/// States that are kept: each holds files that may have been merged meanwhile.
const KEPT_MAX: usize = 8;
/// How long after the last page.
const KEPT_FOR: Duration = Duration::from_secs(120);

/// The states that cursors lead to, the one that was used last at the end.
#[derive(Default)]
pub(super) struct Generations {
    kept: Mutex<VecDeque<(Searcher, Instant)>>,
}

impl Generations {
    /// Keeps a state for whoever has the cursor that was made of it.
    pub(super) fn keep(&self, searcher: &Searcher) {
        let now = Instant::now();
        let number = searcher.generation().generation_id();
        let mut kept = self.kept.lock();
        kept.retain(|(other, used)| {
            other.generation().generation_id() != number && now.duration_since(*used) < KEPT_FOR
        });
        kept.push_back((searcher.clone(), now));
        if kept.len() > KEPT_MAX {
            kept.pop_front();
        }
    }

    /// The state with a number, if it is kept.
    pub(super) fn get(&self, number: u64) -> Option<Searcher> {
        let kept = self.kept.lock();
        let found =
            kept.iter().find(|(searcher, _)| searcher.generation().generation_id() == number);
        found.map(|(searcher, _)| searcher.clone())
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
