//! Files that another source of the space has where this one has none any more: a file that is moved from one folder to
//! another keeps its URI, so that this is one change of one resource, and none if the bytes are the same.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use pressmark_index::catalog::Space;
use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::mutation::{Mutation, Outcome};
use pressmark_index::resource::Resource;
use pressmark_index::resource_uri::decode_path;

use super::BATCH_BYTES_MAX;
use super::pass::path_of_uri;
use crate::sources::{Entries, FolderSource, Remembered, Scanned, Scope};

/// The other sources of a space, in the order in which they have its paths.
pub(super) struct Heirs<'a> {
    engine: &'a Engine,
    space: Arc<Space>,
    sources: Vec<&'a FolderSource>,
    batch: Vec<Mutation>,
    uris: Vec<String>,
    batch_bytes: usize,
    changed: u64,
}

impl<'a> Heirs<'a> {
    /// `None` for a space with one source.
    pub(super) fn of(
        engine: &'a Engine,
        space: &Arc<Space>,
        sources: &'a [FolderSource],
        giving: &FolderSource,
    ) -> Option<Self> {
        let is_other = |source: &&FolderSource| source.space == giving.space && *source != giving;
        let sources: Vec<_> = sources.iter().filter(is_other).collect();
        if sources.is_empty() {
            return None;
        }
        let space = Arc::clone(space);
        let (batch, uris) = (Vec::new(), Vec::new());
        Some(Self { engine, space, sources, batch, uris, batch_bytes: 0, changed: 0 })
    }

    /// Hands over what others have of these resources, and returns the rest, which is gone.
    pub(super) fn take(&mut self, uris: Vec<String>) -> Result<Vec<String>, Error> {
        let mut gone = Vec::new();
        for uri in uris {
            let Some(resource) = self.find(&uri) else {
                gone.push(uri);
                continue;
            };
            self.batch_bytes += resource.contents.iter().map(|part| part.body.len()).sum::<usize>();
            self.batch.push(Mutation::Put(Box::new(resource)));
            self.uris.push(uri);
            if self.batch_bytes >= BATCH_BYTES_MAX {
                self.flush(&mut gone)?;
            }
        }
        self.flush(&mut gone)?;
        Ok(gone)
    }

    /// Resources that are new or changed by what was handed over.
    pub(super) fn changed(&self) -> u64 {
        self.changed
    }

    /// What the first of the others that has a file for the URI makes of it.
    fn find(&self, uri: &str) -> Option<Resource> {
        let path = PathBuf::from(decode_path(&path_of_uri(&self.space, uri)?)?);
        let (folder, name) = (path.parent()?, path.file_name()?);
        let entries =
            Entries::from([(folder.to_path_buf(), BTreeSet::from([name.to_os_string()]))]);
        self.sources.iter().find_map(|source| {
            let mut found = None;
            let scanned =
                source.scan(Scope::Entries(&entries), &Remembered::NOTHING, &mut |scanned| {
                    match scanned {
                        Scanned::Changed(resource) => {
                            found = Some(resource);
                            ControlFlow::Break(())
                        }
                        // A folder of that name is no file.
                        Scanned::Folder { .. } => ControlFlow::Break(()),
                        Scanned::Unchanged { .. }
                        | Scanned::Refused { .. }
                        | Scanned::Unreadable { .. } => ControlFlow::Continue(()),
                    }
                });
            // A source that is away now says what it has when it is back.
            scanned.ok().and(found)
        })
    }

    /// What the store refuses is gone as well.
    fn flush(&mut self, gone: &mut Vec<String>) -> Result<(), Error> {
        self.batch_bytes = 0;
        let (batch, uris) = (std::mem::take(&mut self.batch), std::mem::take(&mut self.uris));
        if batch.is_empty() {
            return Ok(());
        }
        for (result, uri) in self.engine.commit(batch)?.into_iter().zip(uris) {
            match result {
                Ok(applied) => self.changed += u64::from(applied.outcome != Outcome::Unchanged),
                Err(_) => gone.push(uri),
            }
        }
        Ok(())
    }
}
