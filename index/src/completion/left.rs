//! Changes of a space that are in no layer yet: while very many come in (`bulk`), many commits become one layer.
//!
//! Upkeep makes it, while the writer goes on; whoever asks a question meanwhile waits for it, and makes a layer of the
//! rest, so that every answer is of all commits before it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::MutexGuard;

use super::new_layer::{FactChange, new_layer};
use super::spaces::{SpaceIndex, Stack};
use crate::error::Result;

/// When so many times the changes of a layer are left, the writer waits for upkeep.
const OVERRUN_MAX: usize = 3;
/// How long it waits, in steps; then it makes the layer itself.
const WAIT: Duration = Duration::from_millis(100);
const WAITS_MAX: usize = 10;

/// Changes that wait until they are enough for a layer, or somebody asks.
#[derive(Default)]
pub(super) struct LeftChanges {
    changes: Vec<FactChange>,
    /// All changes up to this one are in the layers.
    begins_after: u64,
    /// The last one that was left.
    sequence: u64,
    /// Changes before these are being made a layer of, all of which come after this one.
    in_making: Option<u64>,
}

impl LeftChanges {
    /// The last change that was left.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// All changes up to this one are in the layers; `None`: nothing is left.
    pub(super) fn begins_after(&self) -> Option<u64> {
        self.in_making.or_else(|| (!self.changes.is_empty()).then_some(self.begins_after))
    }

    /// Throws away what is left; a layer that is being made of it will find itself forgotten.
    pub(super) fn clear(&mut self) {
        *self = LeftChanges::default();
    }

    fn add(&mut self, changes: &[FactChange], before: u64, sequence: u64) {
        if self.changes.is_empty() {
            self.begins_after = before;
        }
        self.changes.extend_from_slice(changes);
        self.sequence = sequence;
    }
}

impl SpaceIndex {
    /// Waits while too much is left; what is left after that is made a layer of here.
    pub(super) fn wait_for_left(
        &self,
        stack: &mut MutexGuard<'_, Stack>,
        changes_per_layer: usize,
    ) -> Result<()> {
        let most = changes_per_layer.saturating_mul(OVERRUN_MAX);
        // Upkeep was woken when they were enough for a layer.
        for _ in 0..WAITS_MAX {
            if stack.left.changes.len() <= most {
                return Ok(());
            }
            self.stack_changed.wait_for(stack, WAIT);
        }
        self.settle(stack)
    }

    /// Leaves a commit's changes for later. Returns whether they are enough for a layer.
    pub(super) fn leave(
        &self,
        stack: &mut Stack,
        changes: &[FactChange],
        (before, sequence): (u64, u64),
        changes_per_layer: usize,
    ) -> bool {
        stack.left.add(changes, before, sequence);
        self.has_left.store(true, Ordering::Release);
        stack.left.changes.len() >= changes_per_layer
    }

    /// Makes a layer of what is left, if that is enough for one, while the writer goes on. For upkeep, which is the only one
    /// that changes layers beneath the newest.
    pub(super) fn settle_aside(&self, changes_per_layer: usize) -> Result<()> {
        let mut stack = self.lock();
        let is_enough = stack.left.changes.len() >= changes_per_layer;
        if !is_enough || stack.left.in_making.is_some() || !stack.is_live {
            return Ok(());
        }
        let (begins_after, sequence) = (stack.left.begins_after, stack.left.sequence);
        let changes = std::mem::take(&mut stack.left.changes);
        stack.left.in_making = Some(begins_after);
        let (layers, clears) = (stack.layers.clone(), stack.clears);
        drop(stack);
        let mut making = Making { index: self, is_done: false };
        let layer = new_layer(&self.plan, &layers, &changes, sequence, None)?;
        drop(changes);
        let mut stack = self.lock();
        // All may have been thrown away meanwhile, with what was left.
        if stack.clears == clears {
            self.push(&mut stack, layer, begins_after);
            self.unite_small(&mut stack)?;
            self.publish(&stack);
        }
        making.is_done = true;
        Ok(())
    }

    /// Makes a layer of all that is left, now.
    pub(super) fn settle(&self, stack: &mut MutexGuard<'_, Stack>) -> Result<()> {
        while stack.left.in_making.is_some() {
            self.stack_changed.wait(stack);
        }
        let (begins_after, sequence) = (stack.left.begins_after, stack.left.sequence);
        let changes = std::mem::take(&mut stack.left.changes);
        if !changes.is_empty() {
            let layer = new_layer(&self.plan, &stack.layers, &changes, sequence, None)?;
            self.push(stack, layer, begins_after);
            self.unite_small(stack)?;
            self.publish(stack);
        }
        // Last: whoever sees that nothing is left takes the layers without the lock.
        self.has_left.store(false, Ordering::Release);
        Ok(())
    }
}

/// A layer is being made without the lock.
struct Making<'i> {
    index: &'i SpaceIndex,
    is_done: bool,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let mut stack = self.index.lock();
        stack.left.in_making = None;
        if !self.is_done {
            // What was taken is in no layer.
            self.index.distrust(&mut stack);
        }
        self.index.has_left.store(!stack.left.changes.is_empty(), Ordering::Release);
        drop(stack);
        self.index.stack_changed.notify_all();
    }
}
