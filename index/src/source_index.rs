//! What came from which source: how the indexer finds what has changed.

use crate::engine::Engine;
use crate::error::Result;
use crate::store::{Cf, key};

impl Engine {
    /// What the source's original looked like when the resource was written; `None`: it is not from there.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub fn source_fingerprint(&self, source_id: u64, uri: &str) -> Result<Option<Vec<u8>>> {
        Ok(self
            .shared
            .store()
            .get(Cf::Sources, &key::source(source_id, uri))?
            .map(|value| value.to_vec()))
    }

    /// Calls `visit` with each URI that came from a source, in byte order.
    ///
    /// # Errors
    /// `Corrupt`, `Io`, and what `visit` returns.
    pub fn each_of_source(
        &self,
        source_id: u64,
        visit: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        self.each_of_source_beneath(source_id, "", visit)
    }

    /// The same for the URIs that begin with `uri_prefix`.
    ///
    /// # Errors
    /// As [`Engine::each_of_source`].
    pub fn each_of_source_beneath(
        &self,
        source_id: u64,
        uri_prefix: &str,
        mut visit: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let store = self.shared.store();
        let view = store.view();
        let prefix = key::source(source_id, uri_prefix);
        let mut scan = view.scan(Cf::Sources, &prefix, &prefix)?;
        while let Some((source_key, _)) = scan.item()? {
            visit(key::decode_source(source_key)?.1)?;
            scan.advance();
        }
        Ok(())
    }

    /// The ids of all sources that resources came from.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub fn source_ids(&self) -> Result<Vec<u64>> {
        let store = self.shared.store();
        let view = store.view();
        let mut scan = view.scan(Cf::Sources, b"", b"")?;
        let mut ids = Vec::new();
        while let Some((source_key, _)) = scan.item()? {
            let (id, _) = key::decode_source(source_key)?;
            ids.push(id);
            match key::after_prefix(&key::source(id, "")) {
                Some(next) => scan.seek(&next),
                None => break,
            }
        }
        Ok(ids)
    }
}
