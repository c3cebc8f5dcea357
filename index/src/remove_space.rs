//! Removing a space: out of service at once, then its resources in bounded batches, then its settings. What a crash
//! or a failed write interrupts is taken up again when the store is opened.

use std::sync::Arc;

use crate::apply::{Transaction, WriterState};
use crate::error::{Error, ErrorKind, Result};
use crate::mutation::Outcome;
use crate::shared::Shared;
use crate::space::SpaceId;
use crate::store::{Cf, Store, key};
use crate::writer::{now, roll_back};

/// Resources of a removed space that go in one batch.
const REMOVED_PER_BATCH: usize = 10_000;

/// Removes a space and returns how many resources went with it.
pub(crate) fn remove_space(
    shared: &Shared,
    state: &mut WriterState,
    name: &str,
    sync: bool,
) -> Result<u64> {
    let store = shared.store();
    let space =
        state.catalog.everything().find(|space| space.settings.name == name).cloned().ok_or_else(
            || {
                Error::new(
                    ErrorKind::NotFound,
                    format!("space `{name}`"),
                    "there is no such space; `pressmark space list` shows them",
                )
            },
        )?;
    let mut transaction = Transaction::new(&store, state, now());
    transaction.put_space(Arc::new(space.with(space.settings.clone(), true)?))?;
    let finished = transaction.finish()?;
    shared.write_and_publish(&store, finished, state, sync)?;
    let mut removed = 0_u64;
    let mut from = key::list_of_space(space.id).to_vec();
    loop {
        let uris = next_uris(&store, space.id, &mut from)?;
        let mut transaction = Transaction::new(&store, state, now());
        for uri in &uris {
            let applied = transaction.delete(uri)?;
            removed += u64::from(applied.outcome == Outcome::Deleted);
        }
        if uris.is_empty() {
            transaction.forget_space(space.id)?;
        }
        let finished = transaction.finish()?;
        shared.write_and_publish(&store, finished, state, sync)?;
        if uris.is_empty() {
            return Ok(removed);
        }
    }
}

/// Ends the removals that were interrupted. One that cannot be ended keeps nobody from the rest of the store: its
/// space stays out of service, and removing it again tells what is wrong.
pub(crate) fn finish_removals(shared: &Shared, state: &mut WriterState) {
    let interrupted: Vec<String> =
        state.catalog.removing().iter().map(|space| space.settings.name.clone()).collect();
    for name in interrupted {
        if shared.refusal().is_some() {
            return;
        }
        if remove_space(shared, state, &name, true).is_err() {
            roll_back(shared, state);
        }
    }
}

/// The next resources of a space in the order of its list, from the key `from` on, which moves on behind them. What is
/// before it has been deleted: to begin there again would be to pass all that was deleted so far, each time.
fn next_uris(store: &Store, space: SpaceId, from: &mut Vec<u8>) -> Result<Vec<String>> {
    let view = store.view();
    let mut scan = view.scan(Cf::List, &key::list_of_space(space), from)?;
    let mut uris = Vec::new();
    while uris.len() < REMOVED_PER_BATCH {
        let Some((list_key, _)) = scan.item()? else {
            break;
        };
        uris.push(key::decode_list(list_key)?.uri.to_owned());
        from.clear();
        from.extend_from_slice(list_key);
        // The least key that comes after this one.
        from.push(0);
        scan.advance();
    }
    Ok(uris)
}
