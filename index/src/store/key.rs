//! All keys of the store: builders and decoders, big-endian so that byte order is the order of the
//! numbers. The tests pin the sort order that iteration relies on.

use super::codec::{Reader, Writer};
use crate::error::Result;
use crate::space::SpaceId;

/// Separates a URI from what follows in a key; no normalised URI holds it.
const END_OF_URI: u8 = 0;

/// Keys in the `meta` column family.
pub(crate) mod meta {
    pub(crate) const FORMAT_VERSION: &[u8] = b"format_version";
    pub(crate) const CURSOR_SECRET: &[u8] = b"cursor_secret";
    pub(crate) const SEQUENCE: &[u8] = b"sequence";
    pub(crate) const OLDEST_CHANGE: &[u8] = b"oldest_change";
    pub(crate) const NEXT_SPACE: &[u8] = b"next_space";
    /// All prompts start with this; the name follows.
    pub(crate) const PROMPTS: &[u8] = b"prompts/";

    /// The counters of a space.
    pub(crate) fn counts(space: crate::space::SpaceId) -> Vec<u8> {
        [b"counts/".as_slice(), &space.0.to_be_bytes()].concat()
    }

    /// A prompt by name.
    pub(crate) fn prompt(name: &str) -> Vec<u8> {
        [PROMPTS, name.as_bytes()].concat()
    }
}

/// Where a resource stands in `resources/list` within its space: pinned ones first, then by falling
/// priority, then the latest modified, then by URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListOrder {
    pub(crate) pinned: bool,
    /// 65,535 is priority 1.0.
    pub(crate) priority: u16,
    /// Milliseconds since 1970; 0 where the record has no `lastModified`.
    pub(crate) modified: i64,
}

/// Byte order of two's complement: the sign bit flipped.
fn ordered(value: i64) -> u64 {
    value.cast_unsigned() ^ (1 << 63)
}

/// `space, class, priority, modified, URI`; the numbers inverted so that greater comes first.
pub(crate) fn list(space: SpaceId, order: ListOrder, uri: &str) -> Vec<u8> {
    let mut key = Writer::with_capacity(15 + uri.len());
    key.u32(space.0)
        .u8(u8::from(!order.pinned))
        .u16(!order.priority)
        .u64(!ordered(order.modified))
        .raw(uri.as_bytes());
    key.finish()
}

/// The first key of a space in the `list` column family; also the place of its root folder in a cursor.
pub(crate) fn list_of_space(space: SpaceId) -> [u8; 4] {
    space.0.to_be_bytes()
}

/// A decoded key of the `list` column family.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ListKey<'a> {
    pub(crate) space: SpaceId,
    pub(crate) pinned: bool,
    /// 65,535 is priority 1.0.
    pub(crate) priority: u16,
    pub(crate) uri: &'a str,
}

pub(crate) fn decode_list(key: &[u8]) -> Result<ListKey<'_>> {
    let mut reader = Reader::new(key, "list key");
    let space = SpaceId(reader.u32()?);
    let pinned = reader.u8()? == 0;
    let priority = !reader.u16()?;
    reader.u64()?;
    Ok(ListKey { space, pinned, priority, uri: reader.rest_str()? })
}

/// All chunks of one version of a resource start with this.
pub(crate) fn chunks_of(uri: &str, version: u64) -> Vec<u8> {
    let mut key = Writer::with_capacity(uri.len() + 15);
    key.raw(uri.as_bytes()).u8(END_OF_URI).u64(version);
    key.finish()
}

/// One chunk of one part.
pub(crate) fn chunk(uri: &str, version: u64, part: u16, chunk: u32) -> Vec<u8> {
    let mut key = chunks_of(uri, version);
    key.extend_from_slice(&part.to_be_bytes());
    key.extend_from_slice(&chunk.to_be_bytes());
    key
}

/// The URI and version of a chunk's key.
pub(crate) fn decode_chunk(key: &[u8]) -> Result<(&str, u64)> {
    let mut reader = Reader::new(key, "chunk key");
    let uri_bytes =
        memchr::memchr(END_OF_URI, key).ok_or_else(|| reader.corrupt("no end of the URI in it"))?;
    let uri = reader.raw(uri_bytes)?;
    reader.u8()?;
    let version = reader.u64()?;
    reader.u16()?;
    reader.u32()?;
    reader.finish()?;
    let uri = std::str::from_utf8(uri).map_err(|_| reader.corrupt("its URI is not UTF-8"))?;
    Ok((uri, version))
}

/// A space, an ACL or a change by its number.
pub(crate) fn number32(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

pub(crate) fn sequence(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

pub(crate) fn decode_sequence(key: &[u8]) -> Result<u64> {
    let mut reader = Reader::new(key, "change log key");
    let number = reader.u64()?;
    reader.finish()?;
    Ok(number)
}

/// All resources of a source start with its id.
pub(crate) fn source(source_id: u64, uri: &str) -> Vec<u8> {
    [source_id.to_be_bytes().as_slice(), uri.as_bytes()].concat()
}

pub(crate) fn decode_source(key: &[u8]) -> Result<(u64, &str)> {
    let mut reader = Reader::new(key, "source key");
    Ok((reader.u64()?, reader.rest_str()?))
}

/// The smallest key that is greater than every key with this prefix; `None`: there is none.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(pinned: bool, priority: u16, modified: i64) -> ListOrder {
        ListOrder { pinned, priority, modified }
    }

    #[test]
    fn lists_sort_by_value_then_uri() {
        let space = SpaceId(7);
        let wanted = [
            list(space, order(true, 10, 0), "z:1"),
            list(space, order(false, 65_535, 5), "b:1"),
            list(space, order(false, 300, 9), "c:1"),
            list(space, order(false, 300, 8), "a:1"),
            list(space, order(false, 300, 8), "a:2"),
            list(space, order(false, 300, -1), "a:0"),
            list(space, order(false, 0, i64::MIN), "a:0"),
            list(SpaceId(8), order(true, 65_535, i64::MAX), "a:0"),
        ];
        assert!(wanted.is_sorted());
        assert!(list_of_space(space).as_slice() < wanted[0].as_slice());
    }

    #[test]
    fn a_list_key_comes_back() {
        let key = list(SpaceId(3), order(true, 1, -5), "a://b/c");
        assert_eq!(
            decode_list(&key).unwrap(),
            ListKey { space: SpaceId(3), pinned: true, priority: 1, uri: "a://b/c" }
        );
        assert!(decode_list(&key[..14]).is_err());
        assert!(decode_list(&[0xff; 20]).is_err());
    }

    #[test]
    fn chunks_sort_by_uri_version_part_and_number() {
        let wanted = [
            chunk("a://b", 1, 0, 0),
            chunk("a://b", 1, 0, 1),
            chunk("a://b", 1, 1, 0),
            chunk("a://b", 256, 0, 0),
            chunk("a://b!", 1, 0, 0),
        ];
        assert!(wanted.is_sorted());
        assert_eq!(decode_chunk(&wanted[3]).unwrap(), ("a://b", 256));
        assert!(decode_chunk(&wanted[3][..8]).is_err());
        assert!(decode_chunk(b"a://b").is_err());
    }

    #[test]
    fn numbers_sort_as_numbers() {
        assert!(sequence(255) < sequence(256));
        assert!(number32(255) < number32(256));
        assert_eq!(decode_sequence(&sequence(77)).unwrap(), 77);
        assert!(decode_sequence(b"short").is_err());
        assert!(source(255, "b") < source(256, "a"));
        assert_eq!(decode_source(&source(9, "a://b")).unwrap(), (9, "a://b"));
    }

    #[test]
    fn the_end_of_a_prefix_is_greater_than_all_in_it() {
        assert_eq!(after_prefix(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(after_prefix(b"a\xff"), Some(b"b".to_vec()));
        assert_eq!(after_prefix(b"\xff\xff"), None);
    }
}
