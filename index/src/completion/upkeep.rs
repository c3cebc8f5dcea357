//! The thread that keeps the completion indexes small, on the disk, and in step with the store.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::catch_up;
use super::files;
use super::segment::{Segment, merge};
use super::spaces::{Completions, LayerInfo, SpaceIndex, Stack};
use crate::background::stand_back;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;

/// Without commits for this long, layers that are left are united.
const QUIET: Duration = Duration::from_secs(2);
/// After a failure nothing is tried for this long.
const PAUSE: Duration = Duration::from_secs(5);
/// At rest, layers above the oldest may have this share of its entries.
const REST_SHARE: usize = 64;

/// The handle to the thread. Dropping it lets the thread end what it is at, then joins it.
pub(crate) struct Upkeep {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Upkeep {
    pub(crate) fn start(shared: &Arc<Shared>) -> Result<Upkeep> {
        let for_thread = Arc::clone(shared);
        let thread = std::thread::Builder::new()
            .name("pressmark-completion".to_owned())
            .spawn(move || {
                stand_back();
                run(&for_thread);
            })
            .map_err(|source| {
                Error::new(ErrorKind::Io, "completion", "the thread could not be started")
                    .with_source(source)
            })?;
        Ok(Upkeep { shared: Arc::clone(shared), thread: Some(thread) })
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.shared.completions.close();
        if let Some(thread) = self.thread.take() {
            // When it panicked there is nothing to save: the index is made anew.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared) {
    let mut is_checked = false;
    while let Some(is_quiet) = wait(&shared.completions) {
        let result = keep_all(shared, is_quiet);
        if !std::mem::replace(&mut is_checked, true) {
            distrust_damaged(shared);
        }
        match result {
            Ok(()) => shared.completions.note_success(),
            Err(error) => {
                shared.completions.note_failure(&error);
                let mut work = shared.completions.work.lock();
                if !work.is_closing {
                    shared.completions.work_changed.wait_for(&mut work, PAUSE);
                }
            }
        }
    }
    // What is left in memory is found in the change log otherwise, which takes longer at the next start.
    let _ = finish_all(shared);
}

/// Reads the files that were there when the engine opened, once, and throws away the index of one that is damaged. This
/// also brings what can be into memory before it is asked for.
fn distrust_damaged(shared: &Shared) {
    for index in shared.completions.all() {
        let segments = index.lock().layers.segments.clone();
        let go_on = || !shared.completions.is_closing();
        if !segments.iter().all(|segment| segment.is_whole(go_on)) {
            shared.completions.distrust(&index);
            shared.completions.wake();
        }
    }
}

/// Waits until something is due, or nothing happens for a while (true); `None`: the engine closes.
fn wait(completions: &Completions) -> Option<bool> {
    let mut work = completions.work.lock();
    if !work.is_due && !work.is_closing {
        completions.work_changed.wait_for(&mut work, QUIET);
    }
    if work.is_closing {
        return None;
    }
    Some(!std::mem::take(&mut work.is_due))
}

fn keep_all(shared: &Shared, is_quiet: bool) -> Result<()> {
    catch_up::catch_up_all(shared)?;
    for index in shared.completions.all() {
        let memory_entries = shared.completions.memory_entries();
        index.settle_aside(shared.completions.changes_per_layer())?;
        while unite_some(shared, &index, is_quiet, memory_entries)? {}
    }
    Ok(())
}

/// Unites one run of layers; false: there is nothing to do. From `memory_entries` entries in memory on it is due, and a
/// layer of so many is written to a file.
pub(super) fn unite_some(
    shared: &Shared,
    index: &SpaceIndex,
    is_quiet: bool,
    memory_entries: usize,
) -> Result<bool> {
    let mut stack = index.lock();
    if stack.is_removed {
        return Ok(false);
    }
    let Some(from) = first_to_unite(&stack, is_quiet, memory_entries) else {
        return Ok(false);
    };
    let run: Vec<Arc<Segment>> = stack.layers.segments.iter().skip(from).cloned().collect();
    let to = from + run.len();
    stack.frozen = to;
    drop(stack);
    // Merging would give damage a checksum that is right.
    if !run.iter().all(|segment| segment.is_whole(|| true)) {
        shared.completions.distrust(index);
        shared.completions.wake();
        return Ok(false);
    }
    let folder = shared.completions.folder_of(index.id);
    let united = unite(&folder, index, &run, (from == 0, memory_entries));
    let mut stack = index.lock();
    stack.frozen = 0;
    // Nobody else changes frozen layers, but all may have been thrown away.
    let is_same =
        run.iter().zip(stack.layers.segments.iter().skip(from)).all(|(a, b)| Arc::ptr_eq(a, b))
            && stack.layers.segments.len() >= to;
    if is_same && !stack.is_removed {
        let before: Vec<LayerInfo> = stack.infos.iter().take(to).skip(from).cloned().collect();
        stack.replace(from, to, Some(united?));
        index.publish(&stack);
        index.stack_changed.notify_all();
        if !stack.is_live {
            // The next manifest may be minutes away.
            let files = before.iter().filter_map(|info| info.file);
            files.for_each(|file| files::delete_without_manifest(&folder, file));
        }
        note(shared, index, &stack)?;
    }
    Ok(true)
}

/// The oldest layer that is to be united with all above it.
fn first_to_unite(stack: &Stack, is_quiet: bool, memory_entries: usize) -> Option<usize> {
    let sizes = stack.layers.sizes();
    let (&oldest, count) = (sizes.first()?, sizes.len());
    if is_quiet && count > 1 && above(&sizes, 0) > oldest / REST_SHARE {
        return Some(0);
    }
    if !stack.is_upkeep_due(memory_entries) {
        return None;
    }
    // Large layers in memory go to the disk even where there is nothing to unite them with.
    first_of_run(&sizes)
        .or_else(|| {
            let first = stack.infos.iter().position(|info| info.file.is_none());
            first.filter(|_| stack.memory_entries() >= memory_entries)
        })
        .or_else(|| count.checked_sub(2))
}

/// The oldest layer that is not larger than those above it together.
pub(super) fn first_of_run(sizes: &[usize]) -> Option<usize> {
    let is_small = |from: &usize| sizes.get(*from).is_some_and(|size| *size <= above(sizes, *from));
    (0..sizes.len().saturating_sub(1)).find(is_small)
}

fn above(sizes: &[usize], from: usize) -> usize {
    sizes.iter().skip(from + 1).sum()
}

/// One segment out of several; a large one is saved and mapped.
fn unite(
    folder: &Path,
    index: &SpaceIndex,
    run: &[Arc<Segment>],
    (is_oldest, memory_entries): (bool, usize),
) -> Result<(Segment, Option<u64>)> {
    let entries: usize = run.iter().map(|segment| segment.entry_count()).sum();
    let is_large = entries >= memory_entries;
    let file = if is_large { Some(files::next_file(folder)?) } else { None };
    let spill = is_large.then_some(folder);
    let united = unite_all(run, index, is_oldest, spill)?;
    match file {
        Some(file) => Ok((files::save(index, &united, folder, file)?, Some(file))),
        None => Ok((united, None)),
    }
}

fn unite_all(
    run: &[Arc<Segment>],
    index: &SpaceIndex,
    is_oldest: bool,
    spill: Option<&Path>,
) -> Result<Segment> {
    if let [only] = run {
        return Ok(Segment::clone(only));
    }
    let run: Vec<&Segment> = run.iter().map(|segment| &**segment).collect();
    merge(&run, &index.plan, is_oldest, spill)
}

/// Writes down which layers are on the disk.
pub(super) fn note(shared: &Shared, index: &SpaceIndex, stack: &Stack) -> Result<()> {
    if !stack.is_live {
        return Ok(());
    }
    // A manifest must not be ahead of the store when the power fails.
    let newest = stack.covered(shared.log_range().newest);
    shared.store().sync()?;
    files::write_manifest(index, stack, &shared.completions.folder_of(index.id), newest)
}

/// At the end: everything in memory goes to the disk.
fn finish_all(shared: &Shared) -> Result<()> {
    for index in shared.completions.all() {
        let mut stack = index.lock();
        if !stack.is_live || stack.is_removed {
            continue;
        }
        index.settle(&mut stack)?;
        let first = stack.infos.iter().position(|info| info.file.is_none());
        if let Some(from) = first {
            let run: Vec<_> = stack.layers.segments.iter().skip(from).cloned().collect();
            let folder = shared.completions.folder_of(index.id);
            let file = files::next_file(&folder)?;
            let united = unite_all(&run, &index, from == 0, None)?;
            let saved = files::save(&index, &united, &folder, file)?;
            stack.replace(from, from + run.len(), Some((saved, Some(file))));
        }
        note(shared, &index, &stack)?;
    }
    Ok(())
}
