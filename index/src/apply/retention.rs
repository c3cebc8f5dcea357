//! What is not kept for ever: the change log, the tombstones that it explains, idempotency keys. A bounded number
//! goes with each batch.

use super::Transaction;
use crate::change_log::Entry;
use crate::error::Result;
use crate::mutation::ChangeKind;
use crate::store::codec::Reader;
use crate::store::key::meta;
use crate::store::{Cf, key};

/// The change log holds at most this many entries, however young they are.
pub const CHANGES_KEPT_MAX: u64 = 1_000_000;
/// Idempotency keys that are looked at in one go.
const IDEMPOTENCY_KEYS_PER_SWEEP: usize = 10_000;
/// How often the age of the oldest entry is looked at.
const RETENTION_CHECK_MS: i64 = 10_000;
/// Entries that one batch takes off the end of the log at most, beyond as many as it adds.
const CHANGES_DROPPED_PER_BATCH: usize = 10_000;

impl Transaction<'_, '_> {
    /// Takes what is beyond the retention off the end of the log, with the tombstones that it explains.
    pub(super) fn drop_old_changes(&mut self) -> Result<()> {
        let beyond_count =
            self.state.sequence.saturating_sub(self.state.oldest_change) >= CHANGES_KEPT_MAX;
        let due = self.now >= self.state.retention_check;
        if !beyond_count && !due {
            return Ok(());
        }
        if due {
            self.state.retention_check = self.now.saturating_add(RETENTION_CHECK_MS);
            self.drop_old_idempotency_keys()?;
        }
        let kept_from = self.state.sequence.saturating_sub(CHANGES_KEPT_MAX).saturating_add(1);
        let kept_since = self.now.saturating_sub(self.state.change_log_retention_ms);
        let view = self.store.view();
        let mut scan = view.scan(Cf::Changes, b"", &key::sequence(self.state.oldest_change))?;
        let mut oldest = self.state.oldest_change;
        // More than came, so that a log at its bound stays there however large the commits are.
        for _ in 0..CHANGES_DROPPED_PER_BATCH.saturating_add(self.heads.len()) {
            let Some((key, value)) = scan.item()? else { break };
            let sequence = key::decode_sequence(key)?;
            let entry = Entry::decode(value)?;
            if sequence >= kept_from && entry.committed >= kept_since {
                break;
            }
            if entry.kind == ChangeKind::Deleted {
                let tombstone = self.tombstone(&entry.uri)?;
                if tombstone.is_some_and(|tombstone| tombstone.sequence == sequence) {
                    self.batch.delete(Cf::Tombstones, entry.uri.as_bytes())?;
                }
            }
            oldest = sequence.saturating_add(1);
            scan.advance();
        }
        if oldest == self.state.oldest_change {
            return Ok(());
        }
        let from = key::sequence(self.state.oldest_change);
        self.batch.delete_range(Cf::Changes, &from, &key::sequence(oldest))?;
        self.state.oldest_change = oldest;
        self.batch.put(Cf::Meta, meta::OLDEST_CHANGE, &oldest.to_be_bytes())
    }

    /// Goes through the keys, a bounded number at a time and round and round, and drops those that are older than
    /// the change log.
    fn drop_old_idempotency_keys(&mut self) -> Result<()> {
        let kept_since = self.now.saturating_sub(self.state.change_log_retention_ms);
        let view = self.store.view();
        let mut scan = view.scan(Cf::Idempotency, b"", &self.state.idempotency_sweep)?;
        self.state.idempotency_sweep.clear();
        for looked_at in 0.. {
            let Some((key, value)) = scan.item()? else { break };
            if looked_at == IDEMPOTENCY_KEYS_PER_SWEEP {
                self.state.idempotency_sweep.extend_from_slice(key);
                break;
            }
            let mut reader = Reader::new(value, "idempotency key");
            reader.raw(16)?;
            if reader.i64()? < kept_since {
                self.batch.delete(Cf::Idempotency, key)?;
            }
            scan.advance();
        }
        Ok(())
    }
}
