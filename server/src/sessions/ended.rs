//! Ids of sessions that their clients ended: each is refused from then on.

use std::collections::{HashSet, VecDeque};

use super::SessionId;

/// Ids that are kept. An older one would be served again as one of which only the id is left, which is no harm: an id
/// lets nobody see more.
const ENDED_MAX: usize = 16_384;

/// The last ids that were ended.
#[derive(Default)]
pub(super) struct EndedIds {
    ids: HashSet<SessionId>,
    order: VecDeque<SessionId>,
}

// === impl EndedIds ===

impl EndedIds {
    pub(super) fn contains(&self, id: &SessionId) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn add(&mut self, id: SessionId) {
        if !self.ids.insert(id) {
            return;
        }
        self.order.push_back(id);
        if self.order.len() > ENDED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::{mcp::protocol::Revision, sessions::SessionKey};

    #[test]
    fn the_last_ids_are_kept_and_no_more() {
        let key = SessionKey::new([1; 32]);
        let id = || key.sign(Revision::V2025_11_25, SystemTime::now()).unwrap();
        let (mut ended, first) = (EndedIds::default(), id());
        ended.add(first);
        for _ in 1..ENDED_MAX {
            ended.add(id());
            ended.add(first);
        }
        assert!(ended.contains(&first));
        ended.add(id());
        assert!(!ended.contains(&first));
        assert_eq!((ended.ids.len(), ended.order.len()), (ENDED_MAX, ENDED_MAX));
    }
}
