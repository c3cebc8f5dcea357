//! Checks the index: its files against their checksums, and what is in it against the store, which is every resource with its
//! version, and nothing else.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::FullText;
use super::checksums::{Checksums, Step};
use super::reconcile::{each_indexed, next_slice};
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::shared::Shared;
use crate::store::value::Tombstone;
use crate::store::{Cf, View};

/// How long the index may take to catch up before it is checked.
const CATCH_UP_MAX: Duration = Duration::from_secs(10);
/// Faults that are named.
const FAULTS_MAX: usize = 20;

/// What to do about a damaged file.
fn way_out(full_text: &FullText) -> String {
    let folder = full_text.folder.display();
    format!(
        "have the index made anew with `Reindex` of the admin plane, or stop the server and delete {folder}"
    )
}

/// Calls `fault` with what is damaged and what differs, and `tick` from time to time. Returns how many documents were
/// compared; none while the index is being made or does not catch up, or if one of its files is damaged.
pub(crate) fn check(
    shared: &Shared,
    tick: &mut dyn FnMut(),
    fault: &mut dyn FnMut(String),
) -> Result<u64> {
    let Some(full_text) = &shared.full_text else { return Ok(0) };
    let newest = shared.log_range().newest;
    let is_there = full_text.state.wait_through(newest, Instant::now() + CATCH_UP_MAX);
    let discarded = full_text.discarded.load(Ordering::Relaxed);
    let mut faults = Faults::default();
    let (mut compared, mut is_damaged) = (0, false);
    if let Some(snapshot) = full_text.newest.load_full().filter(|_| is_there) {
        damaged_files(full_text, &snapshot, tick, &mut faults)?;
        is_damaged = faults.count > 0;
        // What is read from damaged files may be anything.
        if !is_damaged {
            compared = compare(shared, (full_text, &snapshot), newest, &mut faults)?;
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
    found.into_iter().chain(failure).chain(faults.named).for_each(fault);
    Ok(compared)
}

/// Faults, of which the first are named.
#[derive(Default)]
struct Faults {
    count: usize,
    named: Vec<String>,
}

impl Faults {
    fn add(&mut self, fault: String) {
        self.count += 1;
        if self.count <= FAULTS_MAX {
            self.named.push(fault);
        }
    }
}

/// Compares all files with their checksums.
fn damaged_files(
    full_text: &FullText,
    snapshot: &Snapshot,
    tick: &mut dyn FnMut(),
    faults: &mut Faults,
) -> Result<()> {
    let mut checksums = Checksums::new(&full_text.folder, snapshot.searcher.index())?;
    loop {
        match checksums.step() {
            Step::More => tick(),
            Step::Damaged(file) => faults.add(format!("{file}: {}", way_out(full_text))),
            Step::Done => return Ok(()),
        }
    }
}

/// Compares the index with the store, both ways. Returns how many documents there were.
fn compare(
    shared: &Shared,
    (full_text, snapshot): (&FullText, &Snapshot),
    newest: u64,
    faults: &mut Faults,
) -> Result<u64> {
    let store = shared.store();
    let view = store.view();
    let mut compared = 0;
    let mut after = Vec::new();
    loop {
        let slice = next_slice(&view, &after)?;
        let mut found: HashMap<Vec<u8>, Vec<u64>> = HashMap::new();
        each_indexed(
            &snapshot.searcher,
            &full_text.fields,
            &after,
            &slice,
            &mut |uri, version| {
                found.entry(uri.to_vec()).or_default().push(version);
                compared += 1;
                true
            },
        )?;
        for uri in &slice.uris {
            let versions = found.remove(uri).unwrap_or_default();
            let stored = slice.resources.get(uri);
            // What was committed since then may be in it or not.
            let is_old = stored.is_some_and(|stored| stored.sequence <= newest);
            if is_old && versions != stored.map(|stored| stored.version).as_slice() {
                let uri = String::from_utf8_lossy(uri);
                faults.add(format!(
                    "{uri}: the store has {stored:?}, the index versions {versions:?}"
                ));
            }
        }
        for (uri, versions) in found {
            if !is_gone_since(&view, &uri, newest)? {
                let uri = String::from_utf8_lossy(&uri);
                faults
                    .add(format!("{uri}: the index has versions {versions:?}, the store has none"));
            }
        }
        match slice.last {
            Some(last) => after = last,
            None => return Ok(compared),
        }
    }
}

/// Whether a resource was deleted after a change.
fn is_gone_since(view: &View<'_>, uri: &[u8], sequence: u64) -> Result<bool> {
    let tombstone = view.get(Cf::Tombstones, uri)?;
    let tombstone = tombstone.map(|value| Tombstone::decode(&value)).transpose()?;
    Ok(tombstone.is_some_and(|tombstone| tombstone.sequence > sequence))
}
