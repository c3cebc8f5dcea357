//! Who watches what: keys to subscribers, in shards, so that a change costs what its own subscribers cost.
//!
//! Locks are held for one look-up or one entry, never while a subscriber is told, and in one order: a subscriber's before a
//! shard's.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::Waker,
};

use parking_lot::Mutex;
use pressmark_index::{
    access::Access,
    catalog::Space,
    mutation::{Change, ChangeKind},
    resource_uri,
};
use tokio::time::Instant;

use super::{
    keys::{self, Look, WatchKey},
    subscriber::{Ended, Subscriber, Watch},
};
use crate::metrics::Metrics;

/// The most URIs of one listen or session.
pub const WATCHES_PER_SUBSCRIBER_MAX: usize = 1_024;
/// The most URIs of all subscribers.
pub const WATCHES_MAX: usize = 1_000_000;

/// Shards of the keys: two cores seldom meet in one, and a thousand idle ones cost nothing.
const SHARDS: usize = 64;
/// Subscribers by id; streams that were quiet are looked for in one part at a time.
pub(super) const PARTS: usize = 32;

/// All subscribers.
pub(super) struct Registry {
    shards: Vec<Mutex<HashMap<Arc<str>, Watchers>>>,
    hasher: RandomState,
    parts: Vec<Mutex<HashMap<u64, Arc<Subscriber>>>>,
    next_id: AtomicU64,
    watches: AtomicUsize,
    watched_bytes: AtomicUsize,
    watched_bytes_max: usize,
    metrics: Arc<Metrics>,
}

/// The watches under one key; most keys have one.
enum Watchers {
    One(u64, Watcher),
    Many(HashMap<u64, Watcher>),
}

#[derive(Clone)]
struct Watcher {
    subscriber: Arc<Subscriber>,
    /// As the client spelled it.
    uri: Arc<str>,
    folder: bool,
    /// The newest change when the watch began: the client's next read sees that.
    after: u64,
}

/// Why a URI is not watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotWatched {
    /// The subscriber watches [`WATCHES_PER_SUBSCRIBER_MAX`] already.
    TooMany,
    /// All together watch [`WATCHES_MAX`] already, or as many bytes as they may.
    Crowded,
    /// The subscriber has ended.
    Ended,
}

// === impl Registry ===

impl Registry {
    pub(super) fn new(watched_bytes_max: usize, metrics: Arc<Metrics>) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
            next_id: AtomicU64::new(1),
            watches: AtomicUsize::new(0),
            watched_bytes: AtomicUsize::new(0),
            watched_bytes_max,
            metrics,
        }
    }

    pub(super) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// A new subscriber that watches nothing yet.
    pub(super) fn add(&self, listen_id: Option<Box<str>>, access: Arc<Access>) -> Arc<Subscriber> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let metrics = Arc::clone(&self.metrics);
        let subscriber = Arc::new(Subscriber::new(id, listen_id, access, metrics));
        if let Some(part) = self.part(id) {
            part.lock().insert(id, Arc::clone(&subscriber));
            self.metrics.subscribers.inc();
        }
        subscriber
    }

    /// Takes a subscriber out with all that it watches.
    pub(super) fn remove(&self, subscriber: &Subscriber, why: Ended) {
        subscriber.end(why);
        // Nothing is watched once it has ended, so that nothing can come after this.
        let watches = std::mem::take(&mut subscriber.lock().watches);
        for watch in watches {
            self.take_out(&watch);
        }
        let Some(part) = self.part(subscriber.id) else { return };
        let mut part = part.lock();
        if part.remove(&subscriber.id).is_some() {
            shrink(&mut part);
            self.metrics.subscribers.dec();
        }
    }

    /// Has a subscriber watch a URI for changes after the one with the number `after`, once however often it asks.
    pub(super) fn watch(
        &self,
        subscriber: &Arc<Subscriber>,
        uri: &str,
        keys: Vec<WatchKey>,
        after: u64,
    ) -> Result<(), NotWatched> {
        let mut state = subscriber.lock();
        if state.ended.is_some() {
            return Err(NotWatched::Ended);
        }
        if state.watches.iter().any(|watch| *watch.uri == *uri) {
            return Ok(());
        }
        if state.watches.len() >= WATCHES_PER_SUBSCRIBER_MAX {
            return Err(NotWatched::TooMany);
        }
        let bytes = bytes_of(uri, &keys);
        if !take(&self.watches, 1, WATCHES_MAX) {
            return Err(NotWatched::Crowded);
        }
        if !take(&self.watched_bytes, bytes, self.watched_bytes_max) {
            self.watches.fetch_sub(1, Ordering::Relaxed);
            return Err(NotWatched::Crowded);
        }
        self.metrics.watched_uris.inc();
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        // One allocation where the spelling is the key, as it mostly is.
        let same = keys.iter().find(|key| *key.key == *uri).map(|key| Arc::clone(&key.key));
        let uri = same.unwrap_or_else(|| uri.into());
        for key in &keys {
            let watcher = Watcher {
                subscriber: Arc::clone(subscriber),
                uri: Arc::clone(&uri),
                folder: key.folder,
                after,
            };
            if let Some(shard) = self.shard(&key.key) {
                let mut shard = shard.lock();
                match shard.get_mut(&key.key) {
                    Some(watchers) => watchers.insert(id, watcher),
                    None => {
                        shard.insert(Arc::clone(&key.key), Watchers::One(id, watcher));
                    }
                }
            }
        }
        state.watches.push(Watch { id, uri, keys: keys.into() });
        // What waits no longer stands for all that is watched.
        state.collapsed = false;
        Ok(())
    }

    /// Has a subscriber no longer watch a URI in that spelling.
    pub(super) fn unwatch(&self, subscriber: &Subscriber, uri: &str) {
        let mut state = subscriber.lock();
        if let Some(at) = state.watches.iter().position(|watch| *watch.uri == *uri) {
            let watch = state.watches.swap_remove(at);
            self.take_out(&watch);
            subscriber.forget_uri(&mut state, uri);
        }
    }

    fn take_out(&self, watch: &Watch) {
        for key in &watch.keys {
            let Some(shard) = self.shard(&key.key) else { continue };
            let mut shard = shard.lock();
            if shard.get_mut(&key.key).is_some_and(|watchers| watchers.remove(watch.id)) {
                shard.remove(&key.key);
                shrink(&mut shard);
            }
        }
        self.watches.fetch_sub(1, Ordering::Relaxed);
        self.watched_bytes.fetch_sub(bytes_of(&watch.uri, &watch.keys), Ordering::Relaxed);
        self.metrics.watched_uris.dec();
    }

    // === telling ===

    /// Tells everyone who watches the changed resource or a folder above it, and may see that it changed. `space` is the
    /// resource's; `since` is when the change was published. Their streams are to be woken then.
    pub(super) fn tell(
        &self,
        change: &Change,
        space: Option<&Space>,
        since: Instant,
        wake: &mut Vec<Waker>,
    ) {
        if self.watches.load(Ordering::Relaxed) == 0 {
            return;
        }
        let alias = resource_uri::alias_of(&change.uri);
        let comes_or_goes = change.kind != ChangeKind::Updated || change.old_acl != change.new_acl;
        let mut child = None;
        let mut found = Vec::new();
        for look in keys::of_change(&change.uri, alias.as_deref()) {
            self.find(look, &mut found);
            for Watcher { subscriber, uri, after, .. } in found.drain(..) {
                if change.sequence <= after || !sees(&subscriber.access, change, space) {
                    continue;
                }
                match look {
                    Look::Exact { .. } => wake.extend(subscriber.updated(&uri, since)),
                    Look::Above { .. } => {
                        let child = child.get_or_insert_with(|| Arc::from(change.uri.as_str()));
                        wake.extend(subscriber.updated(child, since));
                        // What a read of the folder lists has changed as well.
                        if comes_or_goes {
                            wake.extend(subscriber.updated(&uri, since));
                        }
                    }
                }
            }
        }
    }

    fn find(&self, look: Look<'_>, found: &mut Vec<Watcher>) {
        let (Look::Exact { key } | Look::Above { key }) = look;
        let Some(shard) = self.shard(key) else { return };
        let shard = shard.lock();
        let wanted = |watcher: &&Watcher| match look {
            Look::Exact { .. } => true,
            Look::Above { .. } => watcher.folder,
        };
        match shard.get(key) {
            None => {}
            Some(Watchers::One(_, watcher)) => {
                found.extend(Some(watcher).filter(wanted).cloned());
            }
            Some(Watchers::Many(watchers)) => {
                found.extend(watchers.values().filter(wanted).cloned());
            }
        }
    }

    /// Calls `visit` with every subscriber, without a lock.
    pub(super) fn each(&self, mut visit: impl FnMut(&Subscriber)) {
        for part in 0..PARTS {
            self.each_in(part, &mut visit);
        }
    }

    /// The same for one of the [`PARTS`].
    pub(super) fn each_in(&self, part: usize, mut visit: impl FnMut(&Subscriber)) {
        let Some(part) = self.parts.get(part) else { return };
        let subscribers: Vec<_> = part.lock().values().cloned().collect();
        for subscriber in subscribers {
            visit(&subscriber);
        }
    }

    /// Keys, watches and subscribers that there are.
    pub(super) fn size(&self) -> (usize, usize, usize) {
        let keys = self.shards.iter().map(|shard| shard.lock().len()).sum();
        let subscribers = self.parts.iter().map(|part| part.lock().len()).sum();
        (keys, self.watches.load(Ordering::Relaxed), subscribers)
    }

    fn shard(&self, key: &str) -> Option<&Mutex<HashMap<Arc<str>, Watchers>>> {
        self.shards.get(place(self.hasher.hash_one(key), SHARDS))
    }

    fn part(&self, id: u64) -> Option<&Mutex<HashMap<u64, Arc<Subscriber>>>> {
        self.parts.get(place(id, PARTS))
    }
}

fn place(number: u64, places: usize) -> usize {
    usize::try_from(number % places as u64).unwrap_or(0)
}

/// Adds to a sum unless that would be more than it may be.
fn take(sum: &AtomicUsize, more: usize, most: usize) -> bool {
    let fits = sum.fetch_add(more, Ordering::Relaxed) + more <= most;
    if !fits {
        sum.fetch_sub(more, Ordering::Relaxed);
    }
    fits
}

fn bytes_of(uri: &str, keys: &[WatchKey]) -> usize {
    uri.len() + keys.iter().map(|key| key.key.len()).sum::<usize>()
}

/// Whether the change is one for this caller: they could see the resource before it, or can see it now.
fn sees(access: &Access, change: &Change, space: Option<&Space>) -> bool {
    // A space that came and went between two looks is nobody's any more.
    if !space.is_some_and(|space| space.allows(&change.uri, access)) {
        return false;
    }
    let passes =
        |acl: &Option<Arc<[String]>>| acl.as_ref().is_none_or(|groups| access.passes_acl(groups));
    match change.kind {
        ChangeKind::Created => passes(&change.new_acl),
        ChangeKind::Deleted => passes(&change.old_acl),
        ChangeKind::Updated => passes(&change.old_acl) || passes(&change.new_acl),
    }
}

/// Gives memory back when most of it is unused.
fn shrink<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>) {
    if map.capacity() > 4 * map.len().max(4) {
        map.shrink_to(2 * map.len());
    }
}

// === impl Watchers ===

impl Watchers {
    fn insert(&mut self, id: u64, watcher: Watcher) {
        match self {
            Watchers::One(first_id, first) => {
                *self = Watchers::Many(HashMap::from([(*first_id, first.clone()), (id, watcher)]));
            }
            Watchers::Many(watchers) => {
                watchers.insert(id, watcher);
            }
        }
    }

    /// Removes a watch; true when none is left.
    fn remove(&mut self, id: u64) -> bool {
        match self {
            Watchers::One(only, _) => *only == id,
            Watchers::Many(watchers) => {
                watchers.remove(&id);
                shrink(watchers);
                watchers.is_empty()
            }
        }
    }
}
