//! The values of the store, encoded and decoded. Each starts with the version of its layout.

use super::codec::{Reader, Writer};
use super::key::ListOrder;
use crate::error::Result;
use crate::resource::{SourceMark, UnixMillis};
use crate::space::SpaceId;

/// Number of an interned ACL; 0 is "no ACL".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AclId(pub(crate) u32);

impl AclId {
    pub(crate) const NONE: AclId = AclId(0);
}

/// The layout that this program writes.
const LAYOUT: u8 = 1;

fn check_layout(reader: &mut Reader<'_>) -> Result<()> {
    match reader.u8()? {
        LAYOUT => Ok(()),
        other => Err(reader.corrupt(&format!("layout {other} is not known"))),
    }
}

/// What stands before the parts of a contents value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) space: SpaceId,
    pub(crate) acl: AclId,
    /// 1 at first, one more at each change; goes on after a deletion.
    pub(crate) version: u64,
    /// Sequence number of the change that made this version.
    pub(crate) sequence: u64,
    /// When that was committed.
    pub(crate) committed: UnixMillis,
    /// Of everything that readers see but `lastModified`.
    pub(crate) hash: [u8; 16],
    pub(crate) order: ListOrder,
    /// Whether a part has its body in the `chunks` column family.
    pub(crate) chunked: bool,
    pub(crate) source: Option<SourceMark>,
}

const PINNED: u8 = 1;
const CHUNKED: u8 = 2;

impl Head {
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer
            .u8(LAYOUT)
            .u32(self.space.0)
            .u32(self.acl.0)
            .u64(self.version)
            .u64(self.sequence)
            .i64(self.committed)
            .raw(&self.hash)
            .u8((if self.order.pinned { PINNED } else { 0 })
                | (if self.chunked { CHUNKED } else { 0 }))
            .u16(self.order.priority)
            .i64(self.order.modified);
        match &self.source {
            None => writer.u8(0),
            Some(mark) => writer.u8(1).u64(mark.source_id).bytes(&mark.fingerprint),
        };
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Head> {
        check_layout(reader)?;
        let (space, acl) = (SpaceId(reader.u32()?), AclId(reader.u32()?));
        let (version, sequence, committed) = (reader.u64()?, reader.u64()?, reader.i64()?);
        let hash = reader.fixed()?;
        let flags = reader.u8()?;
        Ok(Head {
            space,
            acl,
            version,
            sequence,
            committed,
            hash,
            order: ListOrder {
                pinned: flags & PINNED != 0,
                priority: reader.u16()?,
                modified: reader.i64()?,
            },
            chunked: flags & CHUNKED != 0,
            source: match reader.u8()? {
                0 => None,
                1 => Some(SourceMark {
                    source_id: reader.u64()?,
                    fingerprint: reader.bytes()?.to_vec(),
                }),
                other => return Err(reader.corrupt(&format!("source flag {other}"))),
            },
        })
    }
}

/// Space and ACL only: all that a read must know before it may answer.
pub(crate) fn read_visibility(value: &[u8]) -> Result<(SpaceId, AclId)> {
    let mut reader = Reader::new(value, "contents value");
    check_layout(&mut reader)?;
    Ok((SpaceId(reader.u32()?), AclId(reader.u32()?)))
}

/// Skips the head without building it: the hot path of a read.
pub(crate) fn skip_head(reader: &mut Reader<'_>) -> Result<()> {
    check_layout(reader)?;
    reader.raw(4 + 4 + 8 + 8 + 8 + 16 + 1 + 2 + 8)?;
    if reader.u8()? != 0 {
        reader.u64()?;
        reader.bytes()?;
    }
    Ok(())
}

/// Where a deleted resource ended, so that its version goes on when it comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tombstone {
    pub(crate) space: SpaceId,
    pub(crate) acl: AclId,
    pub(crate) version: u64,
    pub(crate) sequence: u64,
    pub(crate) deleted: UnixMillis,
}

impl Tombstone {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::with_capacity(33);
        writer
            .u8(LAYOUT)
            .u32(self.space.0)
            .u32(self.acl.0)
            .u64(self.version)
            .u64(self.sequence)
            .i64(self.deleted);
        writer.finish()
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Tombstone> {
        let mut reader = Reader::new(value, "tombstone");
        check_layout(&mut reader)?;
        let tombstone = Tombstone {
            space: SpaceId(reader.u32()?),
            acl: AclId(reader.u32()?),
            version: reader.u64()?,
            sequence: reader.u64()?,
            deleted: reader.i64()?,
        };
        reader.finish()?;
        Ok(tombstone)
    }
}

/// The counters of a space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) resources: u64,
    /// Of them with an ACL.
    pub(crate) restricted: u64,
}

impl Counts {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut writer = Writer::with_capacity(17);
        writer.u8(LAYOUT).u64(self.resources).u64(self.restricted);
        writer.finish()
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Counts> {
        let mut reader = Reader::new(value, "space counters");
        check_layout(&mut reader)?;
        let counts = Counts { resources: reader.u64()?, restricted: reader.u64()? };
        reader.finish()?;
        Ok(counts)
    }
}

/// The stored URIs behind an undone spelling, sorted. More than one: the spelling answers nothing.
pub(crate) fn encode_alias(uris: &[String]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.u8(LAYOUT);
    for uri in uris {
        writer.bytes(uri.as_bytes());
    }
    writer.finish()
}

pub(crate) fn decode_alias(value: &[u8]) -> Result<Vec<String>> {
    let mut reader = Reader::new(value, "alias");
    check_layout(&mut reader)?;
    let mut uris = Vec::new();
    while !reader.is_at_end() {
        uris.push(reader.str()?.to_owned());
    }
    Ok(uris)
}

/// The group names of an ACL, sorted and without doubles.
pub(crate) fn encode_acl(groups: &[String]) -> Vec<u8> {
    encode_alias(groups)
}

pub(crate) fn decode_acl(value: &[u8]) -> Result<Vec<String>> {
    decode_alias(value)
}

/// The ACL id in a `list` value.
pub(crate) fn decode_list_acl(value: &[u8]) -> Result<AclId> {
    let mut reader = Reader::new(value, "list value");
    let acl = AclId(reader.u32()?);
    reader.finish()?;
    Ok(acl)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(source: Option<SourceMark>) -> Head {
        Head {
            space: SpaceId(3),
            acl: AclId(9),
            version: 12,
            sequence: 1 << 40,
            committed: -5,
            hash: [7; 16],
            order: ListOrder { pinned: true, priority: 500, modified: 77 },
            chunked: true,
            source,
        }
    }

    #[test]
    fn a_head_comes_back_and_can_be_skipped() {
        for source in [None, Some(SourceMark { source_id: 4, fingerprint: vec![1, 2, 3] })] {
            let head = head(source);
            let mut writer = Writer::default();
            head.write(&mut writer);
            writer.u8(0xee);
            let bytes = writer.finish();
            let mut reader = Reader::new(&bytes, "test");
            assert_eq!(Head::read(&mut reader).unwrap(), head);
            assert_eq!(reader.u8().unwrap(), 0xee);
            let mut reader = Reader::new(&bytes, "test");
            skip_head(&mut reader).unwrap();
            assert_eq!(reader.u8().unwrap(), 0xee);
            assert_eq!(read_visibility(&bytes).unwrap(), (SpaceId(3), AclId(9)));
        }
    }

    #[test]
    fn small_values_come_back() {
        let tombstone =
            Tombstone { space: SpaceId(1), acl: AclId::NONE, version: 4, sequence: 5, deleted: 6 };
        assert_eq!(Tombstone::decode(&tombstone.encode()).unwrap(), tombstone);
        let counts = Counts { resources: 10, restricted: 2 };
        assert_eq!(Counts::decode(&counts.encode()).unwrap(), counts);
        let uris = vec!["a://b".to_owned(), "c://d".to_owned()];
        assert_eq!(decode_alias(&encode_alias(&uris)).unwrap(), uris);
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_value_or_an_error(bytes: Vec<u8>) {
            let _ = Head::read(&mut Reader::new(&bytes, "test"));
            let _ = Tombstone::decode(&bytes);
            let _ = Counts::decode(&bytes);
            let _ = decode_alias(&bytes);
            let _ = decode_list_acl(&bytes);
            let _ = read_visibility(&bytes);
        }
    }
}
