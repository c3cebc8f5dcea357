//! Brings completion indexes up to the store: from the change log where it reaches far enough back, else from all
//! resources.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::files;
use super::new_layer::{FactChange, new_layer};
use super::plan::Facts;
use super::segment::Facet;
use super::spaces::{Completions, SpaceIndex, Stack};
use super::upkeep::{note, unite_some};
use crate::catalog::{Space, SpaceCatalog};
use crate::change_log::Entry;
use crate::error::Result;
use crate::mutation::ChangeKind;
use crate::shared::Shared;
use crate::space::SpaceId;
use crate::store::codec::Reader;
use crate::store::key::{self, meta};
use crate::store::value::{Head, decode_list_acl};
use crate::store::{Cf, Scan, Store, View};

/// Changes that become one layer.
pub(super) const CHANGES_PER_LAYER: usize = 64 * 1_024;
/// While many changes are caught up with, this many times as many entries as else are kept in memory, so that each goes
/// to a file fewer times.
const BULK_FACTOR: usize = 16;
/// This many changes at the end are caught up with while the writer waits.
const LAST_CHANGES_MAX: u64 = 2_000;
/// When the engine opens, this many changes are caught up with before it answers.
const AT_OPEN_CHANGES_MAX: u64 = 50_000;
/// An index of this many resources is made anew before the engine answers.
const AT_OPEN_RESOURCES_MAX: u64 = 1_000;

/// Takes what is on the disk; what is missing there is caught up with now if it is little, else by upkeep.
pub(crate) fn open(shared: &Shared, catalog: &SpaceCatalog) {
    let completions = &shared.completions;
    delete_strangers(completions, catalog);
    for space in &catalog.spaces {
        let index = SpaceIndex::new(space);
        // Without files all that ever happened is missing.
        let mut covered = 0;
        if let Ok((loaded, up_to)) = files::load(&index, &completions.folder_of(space.id)) {
            *index.lock() = loaded;
            covered = up_to;
        }
        let index = Arc::new(index);
        completions.insert(Arc::clone(&index));
        let log = shared.log_range();
        // What came after it must all be in the log, and be little.
        let is_near = covered.saturating_add(1) >= log.oldest
            && covered <= log.newest
            && log.newest - covered <= AT_OPEN_CHANGES_MAX;
        let caught_up = if is_near {
            follow_log(shared, &index, space, covered, &[])
        } else if space.resource_count() <= AT_OPEN_RESOURCES_MAX {
            *index.lock() = Stack::default();
            rebuild(shared, &index, space)
        } else {
            continue;
        };
        if caught_up.is_err() {
            completions.distrust(&index);
        }
    }
    completions.wake();
}

/// Deletes folders of spaces that are no more.
fn delete_strangers(completions: &Completions, catalog: &SpaceCatalog) {
    let Ok(entries) = std::fs::read_dir(&completions.folder) else { return };
    for entry in entries.flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok()).map(SpaceId);
        if id.and_then(|id| catalog.get(id)).is_none() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Brings all indexes that are behind up to the store.
pub(super) fn catch_up_all(shared: &Shared) -> Result<()> {
    for index in shared.completions.all() {
        let (is_behind, is_new, covered) = {
            let stack = index.lock();
            let is_behind = !stack.is_live && !stack.is_removed;
            (is_behind, stack.layers.segments.is_empty(), stack.layers.sequence())
        };
        let catalog = shared.catalog();
        let Some(space) = catalog.get(index.id).filter(|_| is_behind) else { continue };
        let log = shared.log_range();
        let reaches_back = covered.saturating_add(1) >= log.oldest && covered <= log.newest;
        let result = if is_new || !reaches_back {
            rebuild(shared, &index, space)
        } else {
            follow_log(shared, &index, space, covered, &[])
        };
        if let Err(error) = result {
            shared.completions.distrust(&index);
            return Err(error);
        }
    }
    Ok(())
}

/// Adds what the log says after `covered`, until the index is live. What the slices hold is left out.
fn follow_log(
    shared: &Shared,
    index: &SpaceIndex,
    space: &Space,
    mut covered: u64,
    slices: &[Slice],
) -> Result<()> {
    let memory_entries = shared.completions.memory_entries().saturating_mul(BULK_FACTOR);
    loop {
        let behind = shared.log_range().newest.saturating_sub(covered);
        let mut stack = index.lock();
        if stack.is_removed || shared.completions.is_closing() {
            return Ok(());
        }
        // While the stack is locked the writer cannot add to it, so that nothing falls between.
        let is_last = behind <= LAST_CHANGES_MAX;
        let store = shared.store();
        if !are_of(slices, &store) {
            stack.clear();
            return Ok(());
        }
        let count_max = if is_last { usize::MAX } else { CHANGES_PER_LAYER };
        let (changes, up_to) = read_log(&store.view(), space, covered, (count_max, slices))?;
        if !changes.is_empty() || stack.layers.segments.is_empty() {
            let layer = new_layer(&index.plan, &stack.layers, &changes, up_to, None)?;
            index.push(&mut stack, layer, covered);
        }
        covered = up_to;
        if is_last {
            stack.is_live = true;
            index.publish(&stack);
            return Ok(());
        }
        drop(stack);
        while unite_some(shared, index, false, memory_entries)? {}
    }
}

/// Changes of a space after a sequence number, with the last number that was looked at.
pub(super) fn read_log(
    view: &View<'_>,
    space: &Space,
    after: u64,
    (count_max, slices): (usize, &[Slice]),
) -> Result<(Vec<FactChange>, u64)> {
    let mut scan = view.scan(Cf::Changes, b"", &key::sequence(after.saturating_add(1)))?;
    let mut changes = Vec::new();
    let mut up_to = after;
    let mut looked_at = 0;
    while let Some((log_key, value)) = scan.item()? {
        if looked_at >= count_max {
            break;
        }
        looked_at += 1;
        up_to = key::decode_sequence(log_key)?;
        let entry = Entry::decode(value)?;
        if entry.space == space.id && !has(slices, &entry.uri, up_to) {
            changes.extend(fact_change(space, &entry)?);
        }
        scan.advance();
    }
    Ok((changes, up_to))
}

/// What a change means to completion; nothing where it changes neither ACL nor priority.
fn fact_change(space: &Space, entry: &Entry) -> Result<Option<FactChange>> {
    let (old_priority, new_priority) = entry.priorities()?;
    let old = Facet { acl: entry.old_acl.0, priority: old_priority };
    let new = Facet { acl: entry.new_acl.0, priority: new_priority };
    let (removed, added) = match entry.kind {
        ChangeKind::Created => (None, Some(new)),
        ChangeKind::Updated => (Some(old), Some(new)),
        ChangeKind::Deleted => (Some(old), None),
    };
    if removed == added {
        return Ok(None);
    }
    let facts = space.facts(&entry.uri);
    Ok(facts.map(|facts| FactChange { facts: Arc::new(facts), removed, added }))
}

/// Resources that were read in one view of the store.
pub(super) struct Slice {
    /// The first URI; the slice ends where the next one begins.
    begins: Vec<u8>,
    /// The last change that is in the view.
    sequence: u64,
    store: Weak<Store>,
}

/// Whether the slices are of this opening of the store: the next one may be without the last changes.
fn are_of(slices: &[Slice], store: &Arc<Store>) -> bool {
    slices.last().is_none_or(|slice| std::ptr::eq(Weak::as_ptr(&slice.store), Arc::as_ptr(store)))
}

/// Whether a change of this resource is in the slices.
fn has(slices: &[Slice], uri: &str, sequence: u64) -> bool {
    let behind = slices.partition_point(|slice| slice.begins.as_slice() <= uri.as_bytes());
    let slice = behind.checked_sub(1).and_then(|at| slices.get(at));
    slice.is_some_and(|slice| sequence <= slice.sequence)
}

/// Makes an index from all resources of its space, then follows the log.
///
/// They are read in slices, each in a view of its own: a view that is held for minutes keeps the store from being
/// opened anew after a failure. The log tells what changed in a slice after it was read.
fn rebuild(shared: &Shared, index: &SpaceIndex, space: &Space) -> Result<()> {
    index.lock().clear();
    files::forget(&shared.completions.folder_of(index.id));
    let memory_entries = shared.completions.memory_entries().saturating_mul(BULK_FACTOR);
    // With little memory the slices are small, too: so tests have several.
    let slice_max = shared.completions.memory_entries().min(CHANGES_PER_LAYER);
    let mut slices: Vec<Slice> = Vec::new();
    let mut begins = Some(space.matcher.literal_prefix().as_bytes().to_vec());
    while let Some(from) = begins.take() {
        let store = shared.store();
        if !are_of(&slices, &store) {
            // Upkeep was woken to begin again.
            index.lock().clear();
            return Ok(());
        }
        let view = store.view();
        let sequence = match view.get(Cf::Meta, meta::SEQUENCE)? {
            Some(value) => Reader::new(&value, "sequence number").u64()?,
            None => 0,
        };
        let mut scan = scan_of(&view, space, &from)?;
        let changes = next_resources(&mut scan, space, slice_max)?;
        begins = scan.item()?.map(|(uri, _)| uri.to_vec());
        drop(scan);
        drop(view);
        slices.push(Slice { begins: from, sequence, store: Arc::downgrade(&store) });
        drop(store);
        let mut stack = index.lock();
        if stack.is_removed || shared.completions.is_closing() {
            return Ok(());
        }
        let covered = slices.first().map_or(sequence, |first| first.sequence);
        let layer = new_layer(&index.plan, &stack.layers, &changes, covered, None)?;
        index.push(&mut stack, layer, 0);
        drop(stack);
        while unite_some(shared, index, false, memory_entries)? {}
    }
    let covered = slices.first().map_or(0, |first| first.sequence);
    follow_log(shared, index, space, covered, &slices)?;
    let stack = index.lock();
    if stack.infos.iter().any(|info| info.file.is_some()) {
        // So that what took long need not be done again after a crash.
        note(shared, index, &stack)?;
    }
    Ok(())
}

/// All resources from `from` on that may belong to the space: their URIs begin with the template's literal.
pub(super) fn scan_of<'v>(
    view: &'v View<'_>,
    space: &Space,
    from: &[u8],
) -> Result<crate::store::Scan<'v>> {
    view.scan(Cf::Contents, space.matcher.literal_prefix().as_bytes(), from)
}

pub(super) fn next_resources(
    scan: &mut crate::store::Scan<'_>,
    space: &Space,
    count_max: usize,
) -> Result<Vec<FactChange>> {
    let mut changes = Vec::new();
    while changes.len() < count_max {
        let Some((uri, value)) = scan.item()? else { break };
        let head = Head::read(&mut Reader::new(value, "contents value"))?;
        if head.space == space.id
            && let Ok(uri) = std::str::from_utf8(uri)
            && let Some(facts) = space.facts(uri)
        {
            let facet = Facet { acl: head.acl.0, priority: head.order.priority };
            changes.push(FactChange { facts: Arc::new(facts), removed: None, added: Some(facet) });
        }
        scan.advance();
    }
    Ok(changes)
}

/// The resources of a space with what completion knows of them.
///
/// They are read from the list, which every batch keeps in step with the contents and which is a hundredth of them.
pub(super) struct Listed<'v> {
    scan: Scan<'v>,
}

impl<'v> Listed<'v> {
    pub(super) fn of(view: &'v View<'_>, space: &Space) -> Result<Listed<'v>> {
        let first = key::list_of_space(space.id);
        Ok(Listed { scan: view.pass(Cf::List, &first, &first)? })
    }

    /// The next one that the template matches; `None` at the end.
    pub(super) fn next(&mut self, space: &Space) -> Result<Option<(Facts, Facet)>> {
        while let Some((list_key, value)) = self.scan.item()? {
            let entry = key::decode_list(list_key)?;
            let facet = Facet { acl: decode_list_acl(value)?.0, priority: entry.priority };
            let facts = space.facts(entry.uri);
            self.scan.advance();
            if let Some(facts) = facts {
                return Ok(Some((facts, facet)));
            }
        }
        Ok(None)
    }
}

/// Changes by space, as a transaction collects them.
pub(crate) fn add_change(
    changes: &mut HashMap<SpaceId, Vec<FactChange>>,
    space: SpaceId,
    change: FactChange,
) {
    changes.entry(space).or_default().push(change);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_the_changes_before_it_was_read() {
        let slice = |begins: &str, sequence| Slice {
            begins: begins.as_bytes().to_vec(),
            sequence,
            store: Weak::new(),
        };
        let slices = [slice("a://", 5), slice("a://m", 9)];
        for (uri, sequence, wanted) in [
            ("a://b", 5, true),
            ("a://b", 6, false),
            ("a://m", 6, true),
            ("a://z", 9, true),
            ("a://z", 10, false),
        ] {
            assert_eq!(has(&slices, uri, sequence), wanted, "{uri} at {sequence}");
        }
        assert!(!has(&[], "a://b", 1));
    }
}
