//! Checks the index: its files against their checksums, and what is in it against the store, which is every resource with its
//! version, and nothing else.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::FullText;
use super::checksums::{Checksums, Step};
use super::reconcile::{differs, each_indexed, next_slice};
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::faults::Faults;
use crate::shared::Shared;
use crate::stop::Stop;
use crate::store::value::Tombstone;
use crate::store::{Cf, View};

/// How long the index may take to catch up before it is checked.
const CATCH_UP_MAX: Duration = Duration::from_secs(10);

/// What to do about a damaged file.
fn way_out(full_text: &FullText) -> String {
    let folder = full_text.folder.display();
    format!(
        "have the index made anew with `Reindex` of the admin plane, or stop the server and delete {folder}"
    )
}

/// What is damaged, what differs, and what was mended since this was asked last. Calls `tick` from time to time. Returns
/// how many documents were compared beside it; none while the index is being made or does not catch up, or if one of its
/// files is damaged.
///
/// # Errors
/// `Closed` when `stop` is asked; what keeps the store or the index from being read.
pub(crate) fn check(shared: &Shared, stop: &Stop, tick: &mut dyn FnMut()) -> Result<(u64, Faults)> {
    let Some(full_text) = &shared.full_text else { return Ok((0, Faults::default())) };
    let newest = shared.log_range().newest;
    let deadline = Instant::now() + CATCH_UP_MAX;
    let is_there = full_text.state.wait_through(newest, deadline, stop);
    full_text.state.wait_mended(deadline, stop);
    let discarded = full_text.discarded.load(Ordering::Relaxed);
    // Before the state of the index that is compared: what was mended in it is not found there once more.
    let mut faults = full_text.state.take_mended();
    let (mut compared, mut is_damaged) = (0, false);
    if let Some(snapshot) = full_text.newest.load_full().filter(|_| is_there) {
        let damaged = damaged_files(full_text, &snapshot, stop, tick)?;
        is_damaged = !damaged.is_empty();
        faults.append(damaged);
        // What is read from damaged files may be anything.
        if !is_damaged {
            let (count, differing) = compare(shared, (full_text, &snapshot), newest, stop)?;
            compared = count;
            if !differing.is_empty() {
                full_text.state.ask_mend();
            }
            faults.append(differing);
        }
    }
    // The feeder may have found damage as well, before or meanwhile, and then the files that were looked at are gone.
    let found = full_text.state.tell_damage(is_damaged);
    if found.is_some() || full_text.discarded.load(Ordering::Relaxed) != discarded {
        faults = Faults::default();
        compared = 0;
    }
    let found = found.map(|found| format!("{found}; the index is made anew"));
    let failure = full_text.progress(newest).failure.filter(|_| !is_there && found.is_none());
    let failure = failure.map(|failure| format!("the index stands still: {failure}"));
    let mut all = Faults::default();
    found.into_iter().chain(failure).for_each(|fault| all.add(|| fault));
    all.append(faults);
    Ok((compared, all))
}

/// Compares all files with their checksums.
fn damaged_files(
    full_text: &FullText,
    snapshot: &Snapshot,
    stop: &Stop,
    tick: &mut dyn FnMut(),
) -> Result<Faults> {
    let mut faults = Faults::default();
    let mut checksums = Checksums::new(&full_text.folder, snapshot.searcher.index())?;
    loop {
        stop.check()?;
        match checksums.step() {
            Step::More => tick(),
            Step::Damaged(file) => faults.add(|| format!("{file}: {}", way_out(full_text))),
            Step::Done => return Ok(faults),
        }
    }
}

/// Compares the index with the store, both ways. Returns how many documents there were, and what differs.
fn compare(
    shared: &Shared,
    (full_text, snapshot): (&FullText, &Snapshot),
    newest: u64,
    stop: &Stop,
) -> Result<(u64, Faults)> {
    let store = shared.store();
    let view = store.view();
    let mut faults = Faults::default();
    let mut compared = 0;
    let mut after = Vec::new();
    loop {
        stop.check()?;
        let slice = next_slice(&view, &after)?;
        let mut found: HashMap<Vec<u8>, Vec<u64>> = HashMap::new();
        let fields = &full_text.fields;
        each_indexed(&snapshot.searcher, fields, &after, &slice, &mut |uri, version| {
            found.entry(uri.to_vec()).or_default().push(version);
            compared += 1;
            true
        })?;
        for uri in &slice.uris {
            let versions = found.remove(uri).unwrap_or_default();
            // What was committed since then may be in it or not.
            let stored = slice.resources.get(uri).filter(|stored| stored.sequence <= newest);
            if let Some(stored) = stored
                && versions != [stored.version]
            {
                let uri = String::from_utf8_lossy(uri);
                faults.add(|| differs(&uri, Some(*stored), &versions));
            }
        }
        for (uri, versions) in found {
            if !is_gone_since(&view, &uri, newest)? {
                faults.add(|| differs(&String::from_utf8_lossy(&uri), None, &versions));
            }
        }
        match slice.last {
            Some(last) => after = last,
            None => return Ok((compared, faults)),
        }
    }
}

/// Whether a resource was deleted after a change.
pub(super) fn is_gone_since(view: &View<'_>, uri: &[u8], sequence: u64) -> Result<bool> {
    let tombstone = view.get(Cf::Tombstones, uri)?;
    let tombstone = tombstone.map(|value| Tombstone::decode(&value)).transpose()?;
    Ok(tombstone.is_some_and(|tombstone| tombstone.sequence > sequence))
}
