//! The change log: what every commit changed, in the order of its sequence numbers. Notifications,
//! full text and replicas follow it, each from its own checkpoint.

use crate::acl::AclTable;
use crate::error::{Error, ErrorKind, Result};
use crate::mutation::{Change, ChangeKind};
use crate::resource::UnixMillis;
use crate::space::SpaceId;
use crate::store::codec::{Reader, Writer};
use crate::store::value::AclId;
use crate::store::{Cf, Store, key};

/// The layout of format version 1, which did not know priorities.
const LAYOUT_WITHOUT_PRIORITIES: u8 = 1;
const LAYOUT: u8 = 2;
/// Added to the kind of a change that the lists of pinned resources show.
const PINNED_LIST: u8 = 0x80;

/// An entry as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: ChangeKind,
    /// See [`Change::pinned_list`].
    pub(crate) pinned_list: bool,
    pub(crate) space: SpaceId,
    pub(crate) version: u64,
    pub(crate) old_acl: AclId,
    pub(crate) new_acl: AclId,
    pub(crate) committed: UnixMillis,
    /// Before and after, as in the list's order; `None` in entries of format version 1.
    pub(crate) priorities: Option<(u16, u16)>,
    pub(crate) uri: String,
}

impl Entry {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::with_capacity(40 + self.uri.len());
        let kind = match self.kind {
            ChangeKind::Created => 1,
            ChangeKind::Updated => 2,
            ChangeKind::Deleted => 3,
        };
        writer
            .u8(if self.priorities.is_some() { LAYOUT } else { LAYOUT_WITHOUT_PRIORITIES })
            .u8(kind | if self.pinned_list { PINNED_LIST } else { 0 })
            .u32(self.space.0)
            .u64(self.version)
            .u32(self.old_acl.0)
            .u32(self.new_acl.0)
            .i64(self.committed);
        if let Some((before, after)) = self.priorities {
            writer.u16(before).u16(after);
        }
        writer.raw(self.uri.as_bytes());
        writer.finish()
    }

    /// The priorities before and after.
    ///
    /// # Errors
    /// `Corrupt` for an entry of format version 1, which has none.
    pub(crate) fn priorities(&self) -> Result<(u16, u16)> {
        self.priorities.ok_or_else(|| {
            let text = "an entry of format version 1 has no priorities";
            Error::new(ErrorKind::Corrupt, "change log", text)
        })
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Entry> {
        let mut reader = Reader::new(value, "change log entry");
        let layout = reader.u8()?;
        if !matches!(layout, LAYOUT | LAYOUT_WITHOUT_PRIORITIES) {
            return Err(reader.corrupt("its layout is not known"));
        }
        let kind = reader.u8()?;
        Ok(Entry {
            pinned_list: kind & PINNED_LIST != 0,
            kind: match kind & !PINNED_LIST {
                1 => ChangeKind::Created,
                2 => ChangeKind::Updated,
                3 => ChangeKind::Deleted,
                other => return Err(reader.corrupt(&format!("change kind {other}"))),
            },
            space: SpaceId(reader.u32()?),
            version: reader.u64()?,
            old_acl: AclId(reader.u32()?),
            new_acl: AclId(reader.u32()?),
            committed: reader.i64()?,
            priorities: match layout {
                LAYOUT => Some((reader.u16()?, reader.u16()?)),
                _ => None,
            },
            uri: reader.rest_str()?.to_owned(),
        })
    }
}

/// What is kept of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRange {
    /// The oldest entry kept; one more than `newest` when the log is empty.
    pub oldest: u64,
    /// The last entry; 0 before the first commit.
    pub newest: u64,
}

/// Up to `count_max` entries after `sequence`.
///
/// # Errors
/// `LimitExceeded` when entries after `sequence` are no longer kept: the consumer must start from a snapshot.
pub(crate) fn read_after(
    store: &Store,
    acls: &AclTable,
    range: LogRange,
    sequence: u64,
    count_max: usize,
) -> Result<Vec<Change>> {
    if sequence.saturating_add(1) < range.oldest {
        return Err(Error::new(
            ErrorKind::LimitExceeded,
            format!("change {sequence}"),
            format!("the oldest change kept is {}: start again from a snapshot", range.oldest),
        ));
    }
    let view = store.view();
    let mut scan = view.scan(Cf::Changes, b"", &key::sequence(sequence.saturating_add(1)))?;
    let mut changes = Vec::new();
    while changes.len() < count_max {
        let Some((key, value)) = scan.item()? else {
            break;
        };
        let entry = Entry::decode(value)?;
        changes.push(Change {
            sequence: key::decode_sequence(key)?,
            kind: entry.kind,
            pinned_list: entry.pinned_list,
            space: entry.space,
            version: entry.version,
            committed: entry.committed,
            old_acl: acls.groups(entry.old_acl)?,
            new_acl: acls.groups(entry.new_acl)?,
            uri: entry.uri,
        });
        scan.advance();
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_comes_back() {
        let entry = Entry {
            kind: ChangeKind::Updated,
            pinned_list: true,
            space: SpaceId(4),
            version: 5,
            old_acl: AclId(1),
            new_acl: AclId::NONE,
            committed: 1_736_694_058_000,
            priorities: Some((32_768, 65_535)),
            uri: "a://b/c".into(),
        };
        assert_eq!(Entry::decode(&entry.encode()).unwrap(), entry);
        let old = Entry { priorities: None, ..entry };
        assert_eq!(Entry::decode(&old.encode()).unwrap(), old);
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_entry_or_an_error(bytes: Vec<u8>) {
            let _ = Entry::decode(&bytes);
        }
    }
}
