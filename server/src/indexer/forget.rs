//! What came from folders that are no longer given.
//!
//! A space that exists only for folders is told by its resources: every one of them bears the mark of a source. Records
//! that were loaded bear none, so a space with a single such record stays, and so does an empty one.

use std::collections::{HashMap, HashSet};

use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::space::SpaceId;

use super::{Deletion, Plan};
use crate::sources::FolderSource;

/// Removes the spaces that are not declared any more and hold nothing but documents of folders that are not given.
///
/// Comes before the declared spaces are put in, so that a space may be renamed, and before anything is served: what the
/// operator took away is not shown again.
///
/// # Errors
/// `Corrupt`, `Poisoned`, `Io`.
pub fn remove_dropped_spaces(engine: &Engine, plan: &Plan) -> Result<(), Error> {
    let mut from_folders: HashMap<SpaceId, u64> = HashMap::new();
    for source_id in other_sources(engine, plan)? {
        engine.each_of_source(source_id, |uri| {
            if let Some(space) = engine.space_of(uri)? {
                *from_folders.entry(space).or_default() += 1;
            }
            Ok(())
        })?;
    }
    for space in &engine.spaces().spaces {
        let name = &space.settings.name;
        let only_folders = from_folders.get(&space.id) == Some(&space.resource_count());
        if from_folders.contains_key(&space.id) && plan.spaces.contains(name) {
            say_taken_over(engine, plan, name)?;
        }
        if only_folders && !plan.spaces.contains(name) {
            let removed = engine.remove_space(name)?;
            tracing::info!(
                "removed the space `{name}` and its documents ({removed}): its folder is no longer given"
            );
        }
    }
    Ok(())
}

/// Says that another folder takes over a space: from the same URIs other documents are read, which nobody may have meant.
fn say_taken_over(engine: &Engine, plan: &Plan, space: &str) -> Result<(), Error> {
    let known = engine.source_ids()?;
    let sources: Vec<_> = plan.sources.iter().filter(|source| source.space == space).collect();
    if let Some(source) = sources.first()
        && !sources.iter().any(|source| known.contains(&source.source_id()))
    {
        tracing::warn!(
            "the space `{space}` held documents of another folder, which is no longer given; its URIs now lead into {} \
             (name another --data DIR to keep both)",
            source.root.display()
        );
    }
    Ok(())
}

/// Deletes what came from folders that are no longer given in spaces that stay.
pub(crate) fn forget_other_sources(engine: &Engine, plan: &Plan) -> Result<(), Error> {
    for source_id in other_sources(engine, plan)? {
        let mut deletion = Deletion::new(engine, None);
        engine.each_of_source(source_id, |uri| deletion.add(uri))?;
        let (deleted, _) = deletion.finish()?;
        if deleted > 0 {
            tracing::info!(deleted, "deleted what came from a folder that is no longer given");
        }
    }
    Ok(())
}

fn other_sources(engine: &Engine, plan: &Plan) -> Result<Vec<u64>, Error> {
    if !plan.folders_said {
        return Ok(Vec::new());
    }
    let given: HashSet<_> = plan.sources.iter().map(FolderSource::source_id).collect();
    Ok(engine.source_ids()?.into_iter().filter(|id| !given.contains(id)).collect())
}
