//! What a subscriber has not been told yet: distinct URIs in the order of their first change.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

/// URIs that may wait for one subscriber.
pub const PENDING_URIS_MAX: usize = 4_096;
/// Bytes of those URIs.
pub const PENDING_BYTES_MAX: usize = 256 * 1024;

/// Up to so many, looking through all of them is quicker than a set and costs no memory.
const LOOKED_THROUGH_MAX: usize = 16;

/// A bounded set of URIs. An empty one owns no memory.
#[derive(Debug, Default)]
pub(super) struct Pending {
    queue: VecDeque<Arc<str>>,
    /// The same URIs, once there are more than [`LOOKED_THROUGH_MAX`].
    known: HashSet<Arc<str>>,
    bytes: usize,
}

/// What became of a URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    /// It waits from now on.
    New,
    /// It waits already: both changes become one notification.
    Coalesced,
    /// There is no room for it.
    Full,
}

// === impl Pending ===

impl Pending {
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Adds a URI within the bounds.
    pub(super) fn add(&mut self, uri: &Arc<str>) -> Added {
        if self.contains(uri) {
            return Added::Coalesced;
        }
        if self.queue.len() >= PENDING_URIS_MAX || self.bytes + uri.len() > PENDING_BYTES_MAX {
            return Added::Full;
        }
        self.push(uri);
        Added::New
    }

    /// Puts these in place of all that waits; they are bounded by what the subscriber watches.
    pub(super) fn replace<'a>(&mut self, uris: impl Iterator<Item = &'a Arc<str>>) {
        self.clear();
        for uri in uris {
            if !self.contains(uri) {
                self.push(uri);
            }
        }
    }

    /// Takes up to `count_max` of those that have waited longest.
    pub(super) fn take(&mut self, count_max: usize) -> Vec<Arc<str>> {
        let taken: Vec<_> = self.queue.drain(..self.queue.len().min(count_max)).collect();
        if self.queue.is_empty() {
            self.clear();
        } else {
            for uri in &taken {
                self.known.remove(uri);
                self.bytes -= uri.len();
            }
        }
        taken
    }

    /// Takes one out; false when it did not wait.
    pub(super) fn remove(&mut self, uri: &str) -> bool {
        let Some(at) = self.queue.iter().position(|waiting| **waiting == *uri) else {
            return false;
        };
        self.queue.remove(at);
        self.known.remove(uri);
        self.bytes -= uri.len();
        true
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn contains(&self, uri: &Arc<str>) -> bool {
        if self.known.is_empty() { self.queue.contains(uri) } else { self.known.contains(uri) }
    }

    fn push(&mut self, uri: &Arc<str>) {
        self.bytes += uri.len();
        self.queue.push_back(Arc::clone(uri));
        if !self.known.is_empty() {
            self.known.insert(Arc::clone(uri));
        } else if self.queue.len() > LOOKED_THROUGH_MAX {
            self.known.extend(self.queue.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(number: usize) -> Arc<str> {
        format!("note://shelf/{number:05}").into()
    }

    #[test]
    fn each_uri_waits_once_and_the_oldest_leaves_first() {
        let mut pending = Pending::default();
        for number in (0..40).chain(0..40) {
            let expected = if pending.len() <= number { Added::New } else { Added::Coalesced };
            assert_eq!(pending.add(&uri(number)), expected, "{number}");
        }
        assert_eq!(pending.take(2), [uri(0), uri(1)]);
        assert_eq!(pending.add(&uri(0)), Added::New, "a taken one may come again");
        assert_eq!(pending.take(100).len(), 39);
        assert_eq!((pending.len(), pending.bytes), (0, 0));
        assert_eq!(pending.add(&uri(5)), Added::New);
    }

    #[test]
    fn uris_and_their_bytes_are_bounded() {
        let mut pending = Pending::default();
        for number in 0..PENDING_URIS_MAX {
            assert_eq!(pending.add(&uri(number)), Added::New);
        }
        assert_eq!(pending.add(&uri(PENDING_URIS_MAX)), Added::Full);
        assert_eq!(pending.add(&uri(7)), Added::Coalesced);

        let mut pending = Pending::default();
        let long = |number| Arc::from(format!("{number}{}", "x".repeat(PENDING_BYTES_MAX / 2)));
        assert_eq!(pending.add(&long(1)), Added::New);
        assert_eq!(pending.add(&long(2)), Added::Full);
        pending.replace([uri(1), uri(2), uri(1), uri(3)].iter());
        assert!(pending.remove(&uri(3)) && !pending.remove(&uri(3)));
        assert_eq!(pending.take(10), [uri(1), uri(2)]);
    }
}
