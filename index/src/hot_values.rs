//! What is read often, ready to be copied: a bounded cache in front of RocksDB's.
//!
//! A hit here costs a hash and a copy; a hit in RocksDB's block cache walks memtables, filters, an index and a block.
//! `quick_cache` admits by S3-FIFO: what is read once leaves before what is read again.
//!
//! A value must never be kept that a commit has replaced. The writer publishes the new sequence number, then
//! forgets what changed; a reader keeps what it read only if no commit was published since before it read. Both
//! do so under the stripe's lock, so whichever comes second sees the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::space::SpaceId;
use crate::store::value::AclId;

/// A contents value with what a read must know of it.
#[derive(Debug)]
pub(crate) struct HotValue {
    pub(crate) space: SpaceId,
    pub(crate) acl: AclId,
    /// Where the parts begin.
    pub(crate) parts_at: usize,
    pub(crate) bytes: Box<[u8]>,
}

/// What can be kept.
pub(crate) trait Hot {
    /// Its bytes beside the value itself.
    fn heap_bytes(&self) -> usize;
}

impl Hot for HotValue {
    fn heap_bytes(&self) -> usize {
        self.bytes.len()
    }
}

#[derive(Clone)]
struct ByBytes;

/// What an entry takes beside its key and value: the table's slot and two allocations.
const ENTRY_BYTES: u64 = 160;

impl<V: Hot> Weighter<Box<str>, Arc<V>> for ByBytes {
    fn weight(&self, uri: &Box<str>, value: &Arc<V>) -> u64 {
        let bytes = uri.len().saturating_add(value.heap_bytes());
        ENTRY_BYTES.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// Locks over which URIs are spread.
const STRIPES: usize = 64;
/// A value larger than this is not kept: copying it costs more than finding it.
pub(crate) const HOT_VALUE_BYTES_MAX: usize = 16 * 1024;
/// Once the cache is full, one in so many misses is offered to it: what is read often comes in all the same, and what
/// is read once rarely costs the copy.
const OFFERED_ONE_IN: u64 = 4;
/// The weight is summed up over the cache's locks, so that only one in so many insertions looks whether it is full.
const WEIGHED_ONE_IN: u64 = 64;

/// The cache.
pub(crate) struct HotValues<V = HotValue> {
    cache: Cache<Box<str>, Arc<V>, ByBytes>,
    stripes: Box<[Mutex<()>]>,
    bytes_max: u64,
    misses: AtomicU64,
    insertions: AtomicU64,
    /// Seven eighths were once full: its shards do not fill evenly.
    full: AtomicBool,
}

impl<V: Hot> HotValues<V> {
    /// A cache of at most `bytes_max`; of none when that is 0.
    pub(crate) fn new(bytes_max: usize) -> Self {
        let entries = (bytes_max / 1024).max(1);
        let bytes_max = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        Self {
            cache: Cache::with_weighter(entries, bytes_max, ByBytes),
            stripes: (0..STRIPES).map(|_| Mutex::new(())).collect(),
            bytes_max,
            misses: AtomicU64::new(0),
            insertions: AtomicU64::new(0),
            full: AtomicBool::new(false),
        }
    }

    pub(crate) fn get(&self, uri: &str) -> Option<Arc<V>> {
        self.cache.get(uri)
    }

    /// Whether the miss at hand is one to offer.
    pub(crate) fn wants(&self, value_bytes: usize) -> bool {
        value_bytes <= HOT_VALUE_BYTES_MAX
            && self.bytes_max > 0
            && (self.misses.fetch_add(1, Ordering::Relaxed).is_multiple_of(OFFERED_ONE_IN)
                || !self.full.load(Ordering::Relaxed))
    }

    /// Keeps a value unless a commit was published since `noted`, which was read before the value was.
    pub(crate) fn offer(
        &self,
        uri: &str,
        value: impl Into<Arc<V>>,
        noted: u64,
        newest: &AtomicU64,
    ) {
        let _held = self.stripe(uri).lock();
        if newest.load(Ordering::Acquire) == noted {
            self.cache.insert(uri.into(), value.into());
            if self.insertions.fetch_add(1, Ordering::Relaxed).is_multiple_of(WEIGHED_ONE_IN) {
                let full = self.cache.weight() >= self.bytes_max / 8 * 7;
                self.full.fetch_or(full, Ordering::Relaxed);
            }
        }
    }

    /// Forgets what a published commit has changed.
    pub(crate) fn forget<'a>(&self, uris: impl IntoIterator<Item = &'a String>) {
        for uri in uris {
            let _held = self.stripe(uri).lock();
            self.cache.remove(uri.as_str());
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.cache.clear();
        self.full.store(false, Ordering::Relaxed);
    }

    /// Bytes and entries that are kept.
    pub(crate) fn size(&self) -> (u64, usize) {
        (self.cache.weight(), self.cache.len())
    }

    fn stripe(&self, uri: &str) -> &Mutex<()> {
        let at = self.cache.shard_index(uri) % STRIPES;
        // Rust cannot see that the index is in bounds; the first stripe is as good as any.
        self.stripes.get(at).unwrap_or_else(|| unreachable_stripe())
    }
}

fn unreachable_stripe() -> &'static Mutex<()> {
    static STRIPE: Mutex<()> = Mutex::new(());
    &STRIPE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(byte: u8) -> HotValue {
        HotValue { space: SpaceId(1), acl: AclId::NONE, parts_at: 0, bytes: [byte; 100].into() }
    }

    #[test]
    fn a_value_read_before_a_commit_is_not_kept_after_it() {
        let hot = HotValues::new(1 << 20);
        let newest = AtomicU64::new(7);
        hot.offer("a", value(1), 7, &newest);
        assert!(hot.get("a").is_some());
        newest.store(8, Ordering::Release);
        hot.forget([&"a".to_owned()]);
        hot.offer("a", value(1), 7, &newest);
        assert!(hot.get("a").is_none());
        hot.offer("a", value(2), 8, &newest);
        assert_eq!(hot.get("a").unwrap().bytes[0], 2);
    }

    #[test]
    fn it_stays_within_its_bound_and_can_be_off() {
        let hot = HotValues::new(64 * 1024);
        let newest = AtomicU64::new(0);
        for n in 0..10_000 {
            hot.offer(&format!("uri {n}"), value(0), 0, &newest);
        }
        assert!(hot.size().0 <= 64 * 1024, "{:?}", hot.size());
        let off = HotValues::<HotValue>::new(0);
        assert!(!off.wants(10));
    }
}
