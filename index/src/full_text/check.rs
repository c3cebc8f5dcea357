//! Checks the index against the store: every resource with its version, and nothing else.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::reconcile::{each_indexed, next_slice};
use crate::error::Result;
use crate::shared::Shared;
use crate::store::value::Tombstone;
use crate::store::{Cf, View};

/// How long the index may take to catch up before it is checked.
const CATCH_UP_MAX: Duration = Duration::from_secs(10);
/// Faults that are named.
const FAULTS_MAX: usize = 20;

/// Calls `fault` with what differs. Returns how many documents were compared; none while the index is being made or does
/// not catch up.
pub(crate) fn check(shared: &Shared, fault: &mut dyn FnMut(String)) -> Result<u64> {
    let Some(full_text) = &shared.full_text else { return Ok(0) };
    let newest = shared.log_range().newest;
    if !full_text.state.wait_through(newest, Instant::now() + CATCH_UP_MAX) {
        return Ok(0);
    }
    let Some(snapshot) = full_text.newest.load_full() else { return Ok(0) };
    let store = shared.store();
    let view = store.view();
    let (mut compared, mut faults) = (0, 0);
    let mut fault = |text: String| {
        faults += 1;
        if faults <= FAULTS_MAX {
            fault(text);
        }
    };
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
                fault(format!("{uri}: the store has {stored:?}, the index versions {versions:?}"));
            }
        }
        for (uri, versions) in found {
            if !is_gone_since(&view, &uri, newest)? {
                let uri = String::from_utf8_lossy(&uri);
                fault(format!("{uri}: the index has versions {versions:?}, the store has none"));
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
