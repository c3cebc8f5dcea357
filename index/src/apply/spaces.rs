//! Spaces come, change and go.

use std::sync::Arc;

use super::Transaction;
use crate::catalog::{Space, SpaceCatalog, encode_settings};
use crate::error::Result;
use crate::space::SpaceId;
use crate::store::key::meta;
use crate::store::{Cf, key};

impl Transaction<'_, '_> {
    /// Stores a space in place of the one with its number.
    pub(crate) fn put_space(&mut self, space: Arc<Space>) -> Result<()> {
        let value = encode_settings(&space.settings, space.removing);
        self.batch.put(Cf::Spaces, &key::number32(space.id.0), &value)?;
        if space.id.0 >= self.state.next_space {
            self.state.next_space = space.id.0.saturating_add(1);
            let next = u64::from(self.state.next_space).to_be_bytes();
            self.batch.put(Cf::Meta, meta::NEXT_SPACE, &next)?;
        }
        self.touched.insert(space.id);
        self.state.counts.entry(space.id).or_default();
        let mut all: Vec<_> = self.other_spaces(space.id).collect();
        all.push(space);
        self.state.catalog = Arc::new(SpaceCatalog::new(all));
        Ok(())
    }

    fn other_spaces(&self, id: SpaceId) -> impl Iterator<Item = Arc<Space>> {
        self.state.catalog.everything().filter(move |other| other.id != id).cloned()
    }

    /// Forgets an empty space that is being removed.
    pub(crate) fn forget_space(&mut self, id: SpaceId) -> Result<()> {
        self.batch.delete(Cf::Spaces, &key::number32(id.0))?;
        self.batch.delete(Cf::Meta, &meta::counts(id))?;
        self.state.counts.remove(&id);
        self.touched.remove(&id);
        let others: Vec<_> = self.other_spaces(id).collect();
        self.state.catalog = Arc::new(SpaceCatalog::new(others));
        Ok(())
    }
}
