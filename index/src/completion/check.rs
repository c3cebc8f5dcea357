//! Checks a completion index against the store: one is made anew from all resources and compared entry by entry.

use std::path::Path;
use std::sync::Arc;

use super::catch_up::{CHANGES_PER_LAYER, next_resources, read_log, scan_of};
use super::layers::Layers;
use super::new_layer::new_layer;
use super::plan::Plan;
use super::segment::{Segment, merge};
use super::spaces::{LAYERS_DUE, SpaceIndex};
use super::upkeep::first_of_run;
use crate::catalog::Space;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::store::View;

/// Faults that are named for one space.
const FAULTS_MAX: usize = 20;

/// Calls `fault` with what differs. Returns how many entries were compared.
pub(crate) fn check(shared: &Shared, fault: &mut dyn FnMut(String)) -> Result<u64> {
    let mut compared = 0;
    for index in shared.completions.all() {
        let catalog = shared.catalog();
        let Some(space) = catalog.get(index.id) else { continue };
        let folder = tempfile::tempdir().map_err(|source| {
            Error::new(ErrorKind::Io, "completion", "a temporary folder cannot be made")
                .with_source(source)
        })?;
        let store = shared.store();
        let Some((found, view)) = as_it_is(shared, &index, space, || store.view())? else {
            continue;
        };
        let wanted = make(&view, space, folder.path())?;
        let found = unite(&found, &index.plan, folder.path())?;
        let mut faults = 0;
        compared += compare(&index.plan, &wanted, &found, &mut |text| {
            faults += 1;
            if faults <= FAULTS_MAX {
                fault(format!("space `{}`: {text}", space.settings.name));
            }
        })?;
    }
    Ok(compared)
}

/// The layers and a view of the store in which they are to be right; `None` while the index is being made.
fn as_it_is<'v>(
    shared: &Shared,
    index: &SpaceIndex,
    space: &Space,
    view: impl FnOnce() -> View<'v>,
) -> Result<Option<(Layers, View<'v>)>> {
    // While it is locked no commit becomes visible, but one may be written already: the log tells what it changed.
    let mut stack = index.lock();
    if !stack.is_live || stack.is_removed {
        return Ok(None);
    }
    index.settle(&mut stack)?;
    let view = view();
    let covered = shared.log_range().newest.max(stack.layers.sequence());
    let (changes, up_to) = read_log(&view, space, covered, (usize::MAX, &[]))?;
    let mut layers = stack.layers.clone();
    if !changes.is_empty() {
        let layer = new_layer(&index.plan, &layers, &changes, up_to, None)?;
        layers = layers.with(Arc::new(layer));
    }
    Ok(Some((layers, view)))
}

/// What the index should be.
fn make(view: &View<'_>, space: &Space, folder: &Path) -> Result<Segment> {
    let plan = &space.completion;
    let mut scan = scan_of(view, space, space.matcher.literal_prefix().as_bytes())?;
    let mut layers = Layers::default();
    loop {
        let changes = next_resources(&mut scan, space, CHANGES_PER_LAYER)?;
        if changes.is_empty() && !layers.segments.is_empty() {
            return unite(&layers, plan, folder);
        }
        layers = layers.with(Arc::new(new_layer(plan, &layers, &changes, 0, None)?));
        if layers.segments.len() >= LAYERS_DUE {
            let from = first_of_run(&layers.sizes()).unwrap_or(0);
            let run: Vec<&Segment> =
                layers.segments.iter().skip(from).map(|segment| &**segment).collect();
            let united = merge(&run, plan, from == 0, Some(folder))?;
            layers.segments.truncate(from);
            layers.segments.push(Arc::new(united));
        }
    }
}

fn unite(layers: &Layers, plan: &Plan, folder: &Path) -> Result<Segment> {
    let run: Vec<&Segment> = layers.segments.iter().map(|segment| &**segment).collect();
    merge(&run, plan, true, Some(folder))
}

fn compare(
    plan: &Plan,
    wanted: &Segment,
    found: &Segment,
    fault: &mut dyn FnMut(String),
) -> Result<u64> {
    let mut compared = 0;
    for variable in 0..plan.variable_count() {
        let (right, mine) = (wanted.dictionary(variable)?, found.dictionary(variable)?);
        if right.len() != mine.len() {
            fault(format!(
                "variable {variable} has {} values, the index {}",
                right.len(),
                mine.len()
            ));
        }
        for rank in 0..right.len().min(mine.len()) {
            let state = |segment: &Segment, state: u32| {
                segment.visibility.set(segment.visibility.state(state).0).to_vec()
            };
            let same = right.texts.term(rank) == mine.texts.term(rank)
                && right.weight(rank) == mine.weight(rank)
                && state(wanted, right.states.at(rank)) == state(found, mine.states.at(rank));
            if !same {
                let value = String::from_utf8_lossy(right.texts.term(rank).raw).into_owned();
                fault(format!("the index is wrong about the value `{value}`"));
            }
            compared += 1;
        }
    }
    for number in 0..plan.lists().len() {
        let (right, mine) = (wanted.list(number)?, found.list(number)?);
        compared += u64::try_from(right.len()).unwrap_or(u64::MAX);
        if let Some(difference) = right.difference(mine, &wanted.visibility, &found.visibility) {
            fault(format!("list {number} differs at entry {difference}"));
        }
    }
    Ok(compared)
}
