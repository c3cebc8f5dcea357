//! One entry of `contents`: encoded from a [`Part`], stored, found again without decoding the body.
//!
//! An entry is stored from after its `uri`, so that a reply can echo the URI as it was asked:
//! `{"uri":"<asked>"` + `,"mimeType":"text/plain","text":"...` + `"}`.

use super::json_text::{self, TextLength};
use crate::error::Result;
use crate::resource::{Body, Part};
use crate::store::codec::{Reader, Writer};

/// Text longer than this is stored in chunks of at most this many raw bytes.
pub(crate) const TEXT_CHUNK_BYTES: usize = 64 * 1024;
/// The same for blobs: a multiple of three, so that base64 of the chunks is base64 of the whole.
pub(crate) const BLOB_CHUNK_BYTES: usize = 48 * 1024;

const OWN_URI: u8 = 1;
const META: u8 = 2;
const CHUNKED: u8 = 4;
const BLOB: u8 = 8;

/// A part ready to be stored.
#[derive(Debug)]
pub(crate) struct EncodedPart {
    flags: u8,
    own_uri: Option<Vec<u8>>,
    meta: Option<Vec<u8>>,
    raw_bytes: u64,
    length: TextLength,
    /// `,"mimeType":"…","text":"`.
    head: Vec<u8>,
    /// The body when it is small.
    inline: Vec<u8>,
    /// The body when it is large.
    pub(crate) chunks: Vec<EncodedChunk>,
}

/// A piece of a large body, escaped or base64.
#[derive(Debug)]
pub(crate) struct EncodedChunk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: TextLength,
}

impl EncodedPart {
    /// Encodes a part; `default_mime_type` stands in where it names none.
    pub(crate) fn new(part: &Part, default_mime_type: Option<&str>) -> EncodedPart {
        let own_uri = part.uri.as_deref().map(|uri| {
            let mut escaped = Vec::with_capacity(uri.len());
            json_text::escape_into(uri, &mut escaped);
            escaped
        });
        let meta = part.meta.as_ref().map(|meta| meta.0.clone().into_bytes());
        let mime_type = part.mime_type.as_deref().or(default_mime_type);
        let mut encoded = EncodedPart {
            flags: (if own_uri.is_some() { OWN_URI } else { 0 })
                | (if meta.is_some() { META } else { 0 }),
            own_uri,
            meta,
            raw_bytes: u64::try_from(part.body.len()).unwrap_or(u64::MAX),
            length: TextLength::default(),
            head: Vec::new(),
            inline: Vec::new(),
            chunks: Vec::new(),
        };
        match &part.body {
            Body::Text(text) => encoded.text(text, mime_type),
            Body::Blob(bytes) => encoded.blob(bytes, mime_type),
        }
        encoded
    }

    fn text(&mut self, text: &str, mime_type: Option<&str>) {
        self.head = head(mime_type, b"text");
        if text.len() <= TEXT_CHUNK_BYTES {
            self.length = json_text::measure(text);
            json_text::escape_into(text, &mut self.inline);
            return;
        }
        self.flags |= CHUNKED;
        let mut rest = text;
        while !rest.is_empty() {
            let (chunk, after) = split_text(rest, TEXT_CHUNK_BYTES);
            let mut bytes = Vec::with_capacity(chunk.len() + chunk.len() / 16);
            json_text::escape_into(chunk, &mut bytes);
            let length = json_text::measure(chunk);
            self.length.chars += length.chars;
            self.length.line_ends += length.line_ends;
            self.chunks.push(EncodedChunk { bytes, length });
            rest = after;
        }
    }

    fn blob(&mut self, bytes: &[u8], mime_type: Option<&str>) {
        // A blob always has a MIME type: clients cannot judge it by looking.
        self.head = head(mime_type.or(Some("application/octet-stream")), b"blob");
        self.flags |= BLOB;
        if bytes.len() <= BLOB_CHUNK_BYTES {
            base64_simd::STANDARD.encode_append(bytes, &mut self.inline);
            return;
        }
        self.flags |= CHUNKED;
        self.chunks.extend(bytes.chunks(BLOB_CHUNK_BYTES).map(|chunk| EncodedChunk {
            bytes: base64_simd::STANDARD.encode_type(chunk),
            length: TextLength::default(),
        }));
    }

    /// Appends the part to a contents value.
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.u8(self.flags);
        if let Some(uri) = &self.own_uri {
            writer.bytes(uri);
        }
        if let Some(meta) = &self.meta {
            writer.bytes(meta);
        }
        writer
            .u64(self.raw_bytes)
            .u64(self.length.chars)
            .u64(self.length.line_ends)
            .u32(u32::try_from(self.head.len()).unwrap_or(u32::MAX));
        if self.chunks.is_empty() {
            writer
                .u32(u32::try_from(self.head.len() + self.inline.len()).unwrap_or(u32::MAX))
                .raw(&self.head)
                .raw(&self.inline);
            return;
        }
        writer.bytes(&self.head).u32(u32::try_from(self.chunks.len()).unwrap_or(u32::MAX));
        for chunk in &self.chunks {
            writer
                .u32(u32::try_from(chunk.bytes.len()).unwrap_or(u32::MAX))
                .u32(u32::try_from(chunk.length.chars).unwrap_or(u32::MAX))
                .u32(u32::try_from(chunk.length.line_ends).unwrap_or(u32::MAX));
        }
    }
}

fn head(mime_type: Option<&str>, field: &[u8]) -> Vec<u8> {
    let mut head = Vec::with_capacity(48);
    if let Some(mime_type) = mime_type {
        head.extend_from_slice(b",\"mimeType\":");
        json_text::string_into(mime_type, &mut head);
    }
    head.extend_from_slice(b",\"");
    head.extend_from_slice(field);
    head.extend_from_slice(b"\":\"");
    head
}

/// Cuts at most `bytes_max` off the front, never inside a code point or between CR and LF.
fn split_text(text: &str, bytes_max: usize) -> (&str, &str) {
    if text.len() <= bytes_max {
        return (text, "");
    }
    let mut at = bytes_max;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let bytes = text.as_bytes();
    if at > 1 && bytes.get(at - 1) == Some(&b'\r') && bytes.get(at) == Some(&b'\n') {
        at -= 1;
    }
    text.split_at(at)
}

/// A stored part, found again.
#[derive(Debug)]
pub(crate) struct StoredPart<'a> {
    /// Escaped, without quotes; `None`: the part is the asked resource.
    pub(crate) own_uri: Option<&'a [u8]>,
    pub(crate) meta: Option<&'a [u8]>,
    pub(crate) blob: bool,
    pub(crate) raw_bytes: u64,
    pub(crate) length: TextLength,
    /// `,"mimeType":"…","text":"`.
    pub(crate) head: &'a [u8],
    pub(crate) body: StoredBody<'a>,
}

/// Where a part's body is.
#[derive(Debug)]
pub(crate) enum StoredBody<'a> {
    /// Right behind the head.
    Inline(&'a [u8]),
    /// In the `chunks` column family.
    Chunks(Vec<StoredChunk>),
}

/// What the value knows of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredChunk {
    pub(crate) bytes: usize,
    pub(crate) length: TextLength,
}

impl<'a> StoredPart<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<StoredPart<'a>> {
        let flags = reader.u8()?;
        let own_uri = (flags & OWN_URI != 0).then(|| reader.bytes()).transpose()?;
        let meta = (flags & META != 0).then(|| reader.bytes()).transpose()?;
        let raw_bytes = reader.u64()?;
        let length = TextLength { chars: reader.u64()?, line_ends: reader.u64()? };
        let head_bytes = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        let fragment = reader.bytes()?;
        let (head, inline) = fragment
            .split_at_checked(head_bytes)
            .ok_or_else(|| reader.corrupt("a part's head is longer than its fragment"))?;
        let body = if flags & CHUNKED == 0 {
            StoredBody::Inline(inline)
        } else {
            StoredBody::Chunks(read_chunks(reader)?)
        };
        Ok(StoredPart { own_uri, meta, blob: flags & BLOB != 0, raw_bytes, length, head, body })
    }

    /// What the entry takes on the wire beside its URI.
    pub(crate) fn encoded_bytes(&self) -> usize {
        let own = self.own_uri.map_or(0, <[u8]>::len) + self.meta.map_or(0, <[u8]>::len);
        own.saturating_add(self.head.len()).saturating_add(self.body_bytes())
    }

    /// The `mimeType`, decoded.
    pub(crate) fn mime_type(&self) -> Option<String> {
        let rest = self.head.strip_prefix(b",\"mimeType\":\"")?;
        let end = memchr::memmem::find(rest, b"\",\"")?;
        json_text::unescape(rest.get(..end)?)
    }

    /// Encoded bytes of the body.
    pub(crate) fn body_bytes(&self) -> usize {
        match &self.body {
            StoredBody::Inline(bytes) => bytes.len(),
            StoredBody::Chunks(chunks) => chunks.iter().map(|chunk| chunk.bytes).sum(),
        }
    }
}

fn read_chunks(reader: &mut Reader<'_>) -> Result<Vec<StoredChunk>> {
    let count = reader.u32()?;
    let mut chunks = Vec::new();
    for _ in 0..count {
        chunks.push(StoredChunk {
            bytes: usize::try_from(reader.u32()?).unwrap_or(usize::MAX),
            length: TextLength {
                chars: u64::from(reader.u32()?),
                line_ends: u64::from(reader.u32()?),
            },
        });
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stored(part: &Part) -> Vec<u8> {
        let mut writer = Writer::default();
        EncodedPart::new(part, None).write(&mut writer);
        writer.finish()
    }

    fn part(body: Body) -> Part {
        Part { uri: None, mime_type: Some("text/x-\"odd".into()), meta: None, body }
    }

    #[test]
    fn a_small_part_is_one_run_of_bytes() {
        let bytes = stored(&part(Body::Text("a\n\"b\"".into())));
        let part = StoredPart::read(&mut Reader::new(&bytes, "test")).unwrap();
        assert_eq!(part.head, br#","mimeType":"text/x-\"odd","text":""#);
        assert!(matches!(part.body, StoredBody::Inline(br#"a\n\"b\""#)));
        assert_eq!(part.length, TextLength { chars: 5, line_ends: 1 });
    }

    #[test]
    fn a_blob_without_a_type_gets_one() {
        let blob = Part { uri: None, mime_type: None, meta: None, body: Body::Blob(vec![0xff; 4]) };
        let bytes = stored(&blob);
        let part = StoredPart::read(&mut Reader::new(&bytes, "test")).unwrap();
        assert!(part.blob);
        assert_eq!(part.head, br#","mimeType":"application/octet-stream","blob":""#);
        assert!(matches!(part.body, StoredBody::Inline(b"/////w==")));
    }

    #[test]
    fn chunks_of_a_blob_join_to_one_base64() {
        let raw: Vec<u8> = (0..u32::try_from(BLOB_CHUNK_BYTES * 2 + 5).unwrap())
            .map(|n| u8::try_from(n % 256).unwrap())
            .collect();
        let encoded = EncodedPart::new(&part(Body::Blob(raw.clone())), None);
        let joined: Vec<u8> = encoded.chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect();
        assert_eq!(base64_simd::STANDARD.decode_to_vec(joined).unwrap(), raw);
    }

    #[test]
    fn text_is_never_cut_inside_a_line_end_or_a_character() {
        assert_eq!(split_text("ab\r\ncd", 3), ("ab", "\r\ncd"));
        assert_eq!(split_text("aé", 2), ("a", "é"));
        assert_eq!(split_text("abc", 3), ("abc", ""));
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_part_or_an_error(bytes: Vec<u8>) {
            if let Ok(part) = StoredPart::read(&mut Reader::new(&bytes, "test")) {
                let _ = part.body_bytes();
            }
        }
    }
}
