//! Whether so much comes in that the store had better be set for it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use pressmark_index::bulk::BulkIngest;
use pressmark_index::engine::Engine;
use tokio::time::Instant;

/// So many mutations without a pause are a bulk ingest.
const BULK_MUTATIONS_MIN: usize = 20_000;
/// Nothing for this long is a pause.
const PAUSE: Duration = Duration::from_secs(2);

/// What comes in, over all streams of a plane.
#[derive(Default)]
pub(super) struct Pace {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Since the last pause.
    mutations: usize,
    last: Option<Instant>,
    bulk: Option<BulkIngest>,
}

// === impl Pace ===

impl Pace {
    /// Counts a batch that is about to be written, where blocking is allowed. Whoever is told so looks for the pause with
    /// [`Pace::until_pause`].
    pub(super) fn count(&self, engine: &Engine, mutations: usize) -> bool {
        let mut state = self.state.lock();
        if state.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            state.mutations = 0;
        }
        state.last = Some(Instant::now());
        state.mutations = state.mutations.saturating_add(mutations);
        if state.bulk.is_some() || state.mutations < BULK_MUTATIONS_MIN {
            return false;
        }
        state.bulk = Some(engine.bulk_ingest());
        true
    }

    /// Waits for a pause, then hands out what is to be dropped where blocking is allowed.
    pub(super) async fn until_pause(self: Arc<Self>) -> Option<BulkIngest> {
        loop {
            let resumes = self.state.lock().last.map(|last| last + PAUSE);
            match resumes.filter(|resumes| *resumes > Instant::now()) {
                Some(resumes) => tokio::time::sleep_until(resumes).await,
                None => return self.state.lock().bulk.take(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pressmark_index::engine::EngineOptions;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bulk_ingest_begins_once_and_ends_with_a_pause() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), &EngineOptions::new("a test")).unwrap();
        let pace = Arc::new(Pace::default());
        for _ in 0..2 {
            assert!(!pace.count(&engine, BULK_MUTATIONS_MIN - 1));
            assert!(pace.count(&engine, 1));
            assert!(!pace.count(&engine, BULK_MUTATIONS_MIN), "it has begun already");
            assert!(Arc::clone(&pace).until_pause().await.is_some());
        }
        // What comes now and then is none, however much it comes to.
        for _ in 0..3 {
            assert!(!pace.count(&engine, BULK_MUTATIONS_MIN - 1));
            tokio::time::sleep(PAUSE).await;
        }
        assert!(pace.until_pause().await.is_none());
    }
}
