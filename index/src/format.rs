//! The format of a store: what this program writes, what it migrates, what it refuses.

use std::path::Path;

use crate::cursor::SECRET_BYTES;
use crate::error::{Error, ErrorKind, Result};
use crate::store::codec::Reader;
use crate::store::key::meta;
use crate::store::{Cf, Store};

/// The format that this program writes; see `docs/storage-format.md`.
pub const FORMAT_VERSION: u32 = 3;
/// The oldest format that is migrated when the store is opened. Version 2 added priorities to the change log; entries
/// of version 1 stay as they are. Version 3 added prompts, of which an older store has none.
const FORMAT_VERSION_MIGRATED: u32 = 1;

/// Checks the format of a store, or stamps a new one; returns the secret of its cursors.
pub(crate) fn check_or_stamp(store: &Store, data_dir: &Path) -> Result<[u8; SECRET_BYTES]> {
    if let Some(value) = store.get(Cf::Meta, meta::FORMAT_VERSION)? {
        let version = Reader::new(&value, "format version").u32()?;
        if !(FORMAT_VERSION_MIGRATED..=FORMAT_VERSION).contains(&version) {
            return Err(Error::new(
                ErrorKind::UnknownFormat,
                data_dir.display().to_string(),
                format!(
                    "the store has format {version}, this program knows format {FORMAT_VERSION}: use the program that wrote it, or a newer one"
                ),
            ));
        }
        let secret = store.get(Cf::Meta, meta::CURSOR_SECRET)?.ok_or_else(|| {
            Error::new(
                ErrorKind::Corrupt,
                data_dir.display().to_string(),
                "the secret of its cursors is missing",
            )
        })?;
        let secret = Reader::new(&secret, "cursor secret").fixed()?;
        if version < FORMAT_VERSION {
            let mut batch = store.batch();
            batch.put(Cf::Meta, meta::FORMAT_VERSION, &FORMAT_VERSION.to_be_bytes())?;
            store.write(batch, true)?;
        }
        return Ok(secret);
    }
    let mut secret = [0; SECRET_BYTES];
    getrandom::fill(&mut secret).map_err(|source| {
        Error::new(
            ErrorKind::Io,
            "cursor secret",
            format!("the system gives no random bytes: {source}"),
        )
    })?;
    let mut batch = store.batch();
    batch.put(Cf::Meta, meta::FORMAT_VERSION, &FORMAT_VERSION.to_be_bytes())?;
    batch.put(Cf::Meta, meta::CURSOR_SECRET, &secret)?;
    store.write(batch, true)?;
    Ok(secret)
}
