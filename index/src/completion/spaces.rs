//! The completion index of each space: its layers, and who may change them.
//!
//! The writer puts a small layer on top with each commit, before the commit is acknowledged, and unites the smallest
//! ones. A thread of its own (see `upkeep`) unites larger ones, brings them to the disk, and makes an index anew where
//! there is none. Readers take the layers as they are, without a lock.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::answers::Answers;
use super::layers::Layers;
use super::left::LeftChanges;
use super::new_layer::{FactChange, new_layer};
use super::plan::Plan;
use super::request::CompletionStats;
use super::segment::{Segment, merge};
use crate::catalog::{Space, SpaceCatalog};
use crate::error::{Error, Result};
use crate::space::SpaceId;

/// Layers up to this many entries together are united by the writer itself.
const UNITED_BY_WRITER_MAX: usize = 2_048;
/// From this many layers on, upkeep is due.
pub(super) const LAYERS_DUE: usize = 10;
/// When this many times as many entries are in memory as upkeep is due for, the writer waits for it.
const MEMORY_OVERRUN_MAX: usize = 4;

/// How long that is at most for one commit: upkeep may be unable to write, and commits go on.
const UPKEEP_WAIT: Duration = Duration::from_millis(100);
const UPKEEP_WAITS_MAX: usize = 10;

/// The changes of one commit, by space.
pub(crate) type SpaceChanges = HashMap<SpaceId, Vec<FactChange>>;

/// The completion indexes of all spaces.
pub(crate) struct Completions {
    /// `<data>/completion`.
    pub(super) folder: PathBuf,
    /// From this many entries in memory on, upkeep is due.
    pub(super) memory_entries: AtomicUsize,
    /// This many changes become one layer; those of a commit are never parted.
    pub(super) changes_per_layer: AtomicUsize,
    /// Whether so many do only until somebody asks.
    pub(super) until_asked: AtomicBool,
    spaces: ArcSwap<HashMap<SpaceId, Arc<SpaceIndex>>>,
    pub(super) answers: Answers,
    failure: Mutex<Option<String>>,
    pub(super) work: Mutex<Work>,
    pub(super) work_changed: Condvar,
}

/// What upkeep waits for.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) is_due: bool,
    pub(super) is_closing: bool,
}

/// The completion index of one space.
pub(crate) struct SpaceIndex {
    pub(super) id: SpaceId,
    pub(super) plan: Arc<Plan>,
    pub(super) template: String,
    /// What readers use; `None` while it is being made.
    layers: ArcSwap<Option<Layers>>,
    /// Whether changes have been left that are in no layer yet.
    pub(super) has_left: AtomicBool,
    pub(super) stack: Mutex<Stack>,
    pub(super) stack_changed: Condvar,
}

/// The layers as those who change them see them.
#[derive(Default)]
pub(super) struct Stack {
    pub(super) layers: Layers,
    pub(super) infos: Vec<LayerInfo>,
    /// Changes that are in no layer yet.
    pub(super) left: LeftChanges,
    /// How many times all was thrown away.
    pub(super) clears: u64,
    /// Layers at the bottom that upkeep is uniting.
    pub(super) frozen: usize,
    /// Whether all commits are in the layers; else the writer leaves them to upkeep.
    pub(super) is_live: bool,
    /// The index was taken away with its space.
    pub(super) is_removed: bool,
}

/// What is known of a layer beside what is in it.
#[derive(Debug, Clone)]
pub(super) struct LayerInfo {
    /// All changes up to this one are in the layers beneath.
    pub(super) begins_after: u64,
    /// Its file's number; `None`: it is in memory only.
    pub(super) file: Option<u64>,
}

impl SpaceIndex {
    pub(super) fn new(space: &Space) -> SpaceIndex {
        SpaceIndex {
            id: space.id,
            plan: Arc::clone(&space.completion),
            template: space.settings.uri_template.clone(),
            layers: ArcSwap::from_pointee(None),
            has_left: AtomicBool::new(false),
            stack: Mutex::default(),
            stack_changed: Condvar::new(),
        }
    }

    /// Shows readers the layers as they are now.
    pub(super) fn publish(&self, stack: &Stack) {
        let shown = (stack.is_live && !stack.is_removed).then(|| stack.layers.shown());
        self.layers.store(Arc::new(shown));
    }

    /// Puts a layer on top.
    pub(super) fn push(&self, stack: &mut Stack, segment: Segment, begins_after: u64) {
        stack.layers = stack.layers.with(Arc::new(segment));
        stack.infos.push(LayerInfo { begins_after, file: None });
    }

    /// Adds a commit's changes. Returns whether upkeep is due.
    fn apply(
        &self,
        changes: &[FactChange],
        (before, sequence): (u64, u64),
        (memory_entries, changes_per_layer): (usize, usize),
    ) -> Result<bool> {
        let mut stack = self.stack.lock();
        for _ in 0..UPKEEP_WAITS_MAX {
            if stack.memory_entries() <= memory_entries.saturating_mul(MEMORY_OVERRUN_MAX)
                || stack.is_removed
            {
                break;
            }
            self.stack_changed.wait_for(&mut stack, UPKEEP_WAIT);
        }
        if changes_per_layer > 1 {
            self.wait_for_left(&mut stack, changes_per_layer)?;
        } else {
            self.settle(&mut stack)?;
        }
        if !stack.is_live || sequence <= stack.sequence() {
            return Ok(false);
        }
        if changes_per_layer > 1 {
            let is_enough = self.leave(&mut stack, changes, (before, sequence), changes_per_layer);
            return Ok(is_enough || stack.is_upkeep_due(memory_entries));
        }
        let segment = new_layer(&self.plan, &stack.layers, changes, sequence, None)?;
        self.push(&mut stack, segment, before);
        self.unite_small(&mut stack)?;
        self.publish(&stack);
        Ok(stack.is_upkeep_due(memory_entries))
    }

    /// Unites the newest layers while they are small and about the same size.
    pub(super) fn unite_small(&self, stack: &mut Stack) -> Result<()> {
        while let [.., older, newer] = stack.layers.segments.as_slice() {
            let at = stack.layers.segments.len() - 2;
            let (old_size, new_size) = (older.entry_count(), newer.entry_count());
            let in_memory = stack.infos.get(at).is_some_and(|info| info.file.is_none());
            if at < stack.frozen
                || !in_memory
                || new_size * 2 < old_size
                || old_size + new_size > UNITED_BY_WRITER_MAX
            {
                break;
            }
            let united = merge(&[older, newer], &self.plan, at == 0, None)?;
            stack.replace(at, at + 2, Some((united, None)));
        }
        Ok(())
    }

    /// Throws the layers away.
    pub(super) fn distrust(&self, stack: &mut Stack) {
        stack.clear();
        stack.is_live = false;
        self.publish(stack);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Stack> {
        self.stack.lock()
    }
}

impl Stack {
    /// The last change that is in the layers, or was left.
    fn sequence(&self) -> u64 {
        self.layers.sequence().max(self.left.sequence())
    }

    /// Up to where all changes are in the layers, when `newest` is the last one of the store.
    pub(super) fn covered(&self, newest: u64) -> u64 {
        self.left.begins_after().unwrap_or_else(|| newest.max(self.layers.sequence()))
    }

    /// Throws all of it away.
    pub(super) fn clear(&mut self) {
        self.layers = Layers::default();
        self.infos.clear();
        self.left.clear();
        self.clears += 1;
        self.frozen = 0;
    }

    pub(super) fn memory_entries(&self) -> usize {
        let layers = self.layers.segments.iter().zip(&self.infos);
        layers
            .filter(|(_, info)| info.file.is_none())
            .map(|(segment, _)| segment.entry_count())
            .sum()
    }

    pub(super) fn is_upkeep_due(&self, memory_entries: usize) -> bool {
        self.memory_entries() >= memory_entries || self.layers.segments.len() >= LAYERS_DUE
    }

    /// Puts one layer, or none, in the place of those from `from` to `to`.
    pub(super) fn replace(
        &mut self,
        from: usize,
        to: usize,
        layer: Option<(Segment, Option<u64>)>,
    ) {
        let begins_after = self.infos.get(from).map_or(0, |info| info.begins_after);
        let (segment, info) = match layer {
            None => (None, None),
            Some((segment, file)) => {
                (Some(Arc::new(segment)), Some(LayerInfo { begins_after, file }))
            }
        };
        let mut segments = self.layers.segments.clone();
        let to = to.min(segments.len());
        segments.splice(from.min(to)..to, segment);
        self.infos.splice(from.min(to)..to, info);
        self.layers = Layers::of(segments);
    }
}

impl Completions {
    pub(crate) fn new(data_dir: &Path, memory_entries: usize, cache_bytes: usize) -> Completions {
        Completions {
            folder: data_dir.join("completion"),
            memory_entries: AtomicUsize::new(memory_entries.max(1)),
            changes_per_layer: AtomicUsize::new(1),
            until_asked: AtomicBool::new(false),
            spaces: ArcSwap::default(),
            answers: Answers::new(cache_bytes),
            failure: Mutex::default(),
            work: Mutex::default(),
            work_changed: Condvar::new(),
        }
    }

    /// From this many entries in memory on, upkeep is due.
    pub(crate) fn memory_entries(&self) -> usize {
        self.memory_entries.load(Ordering::Relaxed)
    }

    /// The layers of a space; `None` while they are being made.
    pub(crate) fn layers(&self, space: SpaceId) -> Option<Layers> {
        let spaces = self.spaces.load();
        let index = spaces.get(&space)?;
        if index.has_left.load(Ordering::Acquire) {
            // Who asks will ask again, and should not have to wait each time.
            self.end_bulk();
            let mut stack = index.lock();
            if index.settle(&mut stack).is_err() {
                drop(stack);
                self.distrust(index);
                self.wake();
            }
        }
        let layers = index.layers.load();
        Layers::clone(Option::as_ref(&layers)?).into()
    }

    pub(super) fn all(&self) -> Vec<Arc<SpaceIndex>> {
        self.spaces.load().values().cloned().collect()
    }

    pub(super) fn insert(&self, index: Arc<SpaceIndex>) {
        let mut spaces = HashMap::clone(&self.spaces.load());
        spaces.insert(index.id, index);
        self.spaces.store(Arc::new(spaces));
    }

    /// Brings the indexes in line with the spaces: new ones begin empty, those of spaces that went go.
    ///
    /// Called by the writer when spaces have changed.
    pub(crate) fn follow(&self, catalog: &SpaceCatalog, sequence: u64) {
        let spaces = self.spaces.load_full();
        for index in spaces.values() {
            let space = catalog.get(index.id);
            if space.is_none_or(|space| space.settings.uri_template != index.template) {
                self.remove(index);
            }
        }
        for space in &catalog.spaces {
            if !self.spaces.load().contains_key(&space.id) {
                self.insert(Arc::new(SpaceIndex::empty(space, sequence)));
            }
        }
    }

    fn remove(&self, index: &Arc<SpaceIndex>) {
        let mut stack = index.lock();
        stack.is_removed = true;
        index.publish(&stack);
        drop(stack);
        index.stack_changed.notify_all();
        let mut spaces = HashMap::clone(&self.spaces.load());
        spaces.remove(&index.id);
        self.spaces.store(Arc::new(spaces));
        // When this fails, the folder is recognised as that of another space when the engine is opened.
        let _ = std::fs::remove_dir_all(self.folder_of(index.id));
    }

    pub(super) fn folder_of(&self, space: SpaceId) -> PathBuf {
        self.folder.join(space.0.to_string())
    }

    /// Adds a commit's changes to the indexes of its spaces, before the commit is acknowledged. `before` is the last
    /// sequence number before it.
    pub(crate) fn apply(&self, changes: &SpaceChanges, before: u64, sequence: u64) {
        let mut is_due = false;
        for (space, changes) in changes {
            let index = self.spaces.load().get(space).cloned();
            let Some(index) = index else { continue };
            let bounds = (self.memory_entries(), self.changes_per_layer());
            match index.apply(changes, (before, sequence), bounds) {
                Ok(due) => is_due |= due,
                // It is derived: it is made anew from the store.
                Err(_) => {
                    self.distrust(&index);
                    is_due = true;
                }
            }
        }
        if is_due {
            self.wake();
        }
    }

    /// Throws the layers away; upkeep makes them anew.
    pub(super) fn distrust(&self, index: &SpaceIndex) {
        index.distrust(&mut index.lock());
    }

    /// Has the index of one space, or all of them, made anew; returns how many.
    pub(crate) fn remake(&self, space: Option<SpaceId>) -> usize {
        let wanted = self.all().into_iter().filter(|index| space.is_none_or(|id| id == index.id));
        let count = wanted.map(|index| self.distrust(&index)).count();
        self.wake();
        count
    }

    /// The store was opened anew: what it holds beyond the layers, or no longer holds, is found in the change log.
    pub(crate) fn store_was_replaced(&self, newest: u64) {
        for index in self.all() {
            let mut stack = index.lock();
            if stack.layers.sequence() > newest {
                stack.clear();
            }
            stack.left.clear();
            stack.clears += 1;
            stack.is_live = false;
            index.publish(&stack);
        }
        self.wake();
    }

    /// Upkeep failed; commits and answers go on with what is in memory.
    pub(super) fn note_failure(&self, error: &Error) {
        *self.failure.lock() = Some(error.with_cause());
    }

    pub(super) fn note_success(&self) {
        *self.failure.lock() = None;
    }

    /// Spaces whose index is being made.
    pub(crate) fn spaces_behind(&self) -> usize {
        let is_behind = |index: &&Arc<SpaceIndex>| index.layers.load().is_none();
        self.spaces.load().values().filter(is_behind).count()
    }

    /// Figures for the operator.
    pub(crate) fn stats(&self) -> CompletionStats {
        let mut stats =
            CompletionStats { failure: self.failure.lock().clone(), ..Default::default() };
        for index in self.all() {
            let stack = index.lock();
            stats.spaces_behind += usize::from(!stack.is_live);
            stats.layers += stack.layers.segments.len();
            stats.entries +=
                stack.layers.segments.iter().map(|layer| layer.entry_count()).sum::<usize>();
            stats.entries_in_memory += stack.memory_entries();
            stats.disk_bytes += super::files::disk_bytes(&self.folder_of(index.id));
        }
        stats
    }

    pub(super) fn wake(&self) {
        self.work.lock().is_due = true;
        self.work_changed.notify_all();
    }

    /// Whether the engine closes: what takes long is given up and done after the next start.
    pub(super) fn is_closing(&self) -> bool {
        self.work.lock().is_closing
    }

    /// Tells upkeep to end.
    pub(crate) fn close(&self) {
        self.work.lock().is_closing = true;
        self.work_changed.notify_all();
        for index in self.all() {
            index.stack_changed.notify_all();
        }
    }
}

impl SpaceIndex {
    /// The index of a space without resources.
    fn empty(space: &Space, sequence: u64) -> SpaceIndex {
        let index = SpaceIndex::new(space);
        let mut stack = index.lock();
        stack.is_live = true;
        if let Ok(nothing) = new_layer(&index.plan, &Layers::default(), &[], sequence, None) {
            index.push(&mut stack, nothing, sequence);
        }
        index.publish(&stack);
        drop(stack);
        index
    }
}
