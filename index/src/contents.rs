//! What a read found, ready to be spliced into a reply.

use std::sync::Arc;

use crate::catalog::Space;
use crate::contents_fragment::WireFields;
use crate::contents_fragment::json_text;
use crate::contents_fragment::part::{StoredBody, StoredPart};
use crate::error::Result;
use crate::hot_values::HotValue;
use crate::space::CacheScope;
use crate::store::codec::Reader;

/// The key in `_meta` under which the stored URI stands when it was asked in another spelling.
const STORED_URI: &str = "io.pressmark/storedUri";

/// `_meta` of the last entry of a folder's listing that was cut at its bound.
const TRUNCATED: &[u8] = b",\"_meta\":{\"io.pressmark/truncated\":true}";
/// The same in the entry's text, for people and models, and for revisions without `_meta`.
const CUT: &str = "(the listing is cut here: search or completion finds what is not shown)";

/// What a read found.
#[derive(Debug)]
pub struct Contents {
    /// The space it belongs to.
    pub space: Arc<Space>,
    /// Whether the reply may be shared: never when an ACL could decide.
    pub cache_scope: CacheScope,
    pub(crate) found: Found,
    /// Pieces of large bodies that were read from the store.
    pub chunk_reads: usize,
}

#[derive(Debug)]
pub(crate) enum Found {
    /// All parts of a resource.
    Resource(FoundResource),
    /// A part of a text.
    Slice { stored_uri: String, head: Vec<u8>, escaped: Vec<u8> },
    /// The children of a folder-like URI.
    Folder { entries: Vec<FolderEntry>, truncated: bool },
}

#[derive(Debug)]
pub(crate) struct FoundResource {
    pub(crate) stored_uri: String,
    /// The contents value.
    pub(crate) value: StoredValue,
    /// Where the parts begin in it.
    pub(crate) parts_at: usize,
    /// Bodies of the parts that are stored in chunks, joined, in the order of the parts.
    pub(crate) large_bodies: Vec<Vec<u8>>,
}

/// A contents value: its own copy, or the one of the cache.
#[derive(Debug)]
pub(crate) enum StoredValue {
    Owned(Vec<u8>),
    Hot(Arc<HotValue>),
}

impl std::ops::Deref for StoredValue {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            StoredValue::Owned(bytes) => bytes,
            StoredValue::Hot(value) => &value.bytes,
        }
    }
}

/// A child of a folder-like URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderEntry {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    /// One descriptive line; empty for folders.
    pub(crate) line: String,
}

/// Everything of an entry beside what is counted: `{"uri":"","_meta":{"io.pressmark/storedUri":""}` and the like.
const ENTRY_OVERHEAD_BYTES: usize = 96;

impl Contents {
    /// How many bytes `write_array` appends at most, as a rule: the right capacity for one allocation.
    pub fn encoded_bytes(&self, asked_uri: &str) -> usize {
        let body = match &self.found {
            Found::Resource(found) => {
                found.value.len()
                    + found.large_bodies.iter().map(Vec::len).sum::<usize>()
                    + found.stored_uri.len()
            }
            Found::Slice { stored_uri, head, escaped } => {
                stored_uri.len() + head.len() + escaped.len()
            }
            Found::Folder { entries, .. } => entries
                .iter()
                .map(|entry| 2 * entry.uri.len() + entry.line.len() + ENTRY_OVERHEAD_BYTES)
                .sum(),
        };
        asked_uri.len() + body + ENTRY_OVERHEAD_BYTES
    }

    /// Whether it is the listing of a folder-like URI.
    pub fn is_folder(&self) -> bool {
        matches!(self.found, Found::Folder { .. })
    }

    /// Whether the listing of a folder was cut at its bound.
    pub fn truncated(&self) -> bool {
        matches!(self.found, Found::Folder { truncated: true, .. })
    }

    /// Appends the JSON array of `contents`. The part that is the asked resource echoes `asked_uri`; where
    /// the reader knows `_meta`, it says there under which URI the resource is stored if that is another.
    ///
    /// # Errors
    /// `Corrupt` when the stored parts are not what was written.
    pub fn write_array(
        &self,
        asked_uri: &str,
        fields: WireFields,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.push(b'[');
        self.write_joined(asked_uri, fields, b",", out)?;
        out.push(b']');
        Ok(())
    }

    /// Appends the entries of `contents` with `between` between two of them.
    ///
    /// # Errors
    /// As [`Contents::write_array`].
    pub fn write_joined(
        &self,
        asked_uri: &str,
        fields: WireFields,
        between: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match &self.found {
            Found::Resource(found) => found.write(asked_uri, fields, between, out)?,
            Found::Slice { stored_uri, head, escaped } => {
                write_uri(asked_uri, out);
                if fields.meta {
                    write_meta(Some(stored_uri), None, out);
                }
                out.extend_from_slice(head);
                out.extend_from_slice(escaped);
                out.extend_from_slice(b"\"}");
            }
            Found::Folder { entries, truncated } => {
                let cut = if *truncated { CUT } else { "" };
                write_folder(entries, cut, fields.meta, between, out);
            }
        }
        Ok(())
    }
}

impl FoundResource {
    fn write(
        &self,
        asked_uri: &str,
        fields: WireFields,
        between: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let renamed = (asked_uri != self.stored_uri).then_some(self.stored_uri.as_str());
        let mut large_bodies = self.large_bodies.iter();
        let mut first = true;
        self.each_part(|part| {
            if !std::mem::take(&mut first) {
                out.extend_from_slice(between);
            }
            match part.own_uri {
                None => write_uri(asked_uri, out),
                Some(escaped) => {
                    out.extend_from_slice(b"{\"uri\":\"");
                    out.extend_from_slice(escaped);
                    out.push(b'"');
                }
            }
            if fields.meta {
                write_meta(renamed.filter(|_| part.own_uri.is_none()), part.meta, out);
            }
            out.extend_from_slice(part.head);
            match part.body {
                StoredBody::Inline(bytes) => out.extend_from_slice(bytes),
                StoredBody::Chunks(_) => {
                    out.extend_from_slice(
                        large_bodies.next().map(Vec::as_slice).unwrap_or_default(),
                    );
                }
            }
            out.extend_from_slice(b"\"}");
            Ok(())
        })
    }

    /// Goes through the parts in their order.
    pub(crate) fn each_part<'a>(
        &'a self,
        mut visit: impl FnMut(StoredPart<'a>) -> Result<()>,
    ) -> Result<()> {
        let mut reader =
            Reader::new(self.value.get(self.parts_at..).unwrap_or_default(), "contents value");
        let count = reader.u16()?;
        for _ in 0..count {
            visit(StoredPart::read(&mut reader)?)?;
        }
        reader.finish()
    }
}

// === impl FolderEntry ===

impl FolderEntry {
    /// The entry on one line. It names the URI, since many hosts hand on nothing but texts.
    pub(crate) fn text(&self) -> String {
        if self.line.is_empty() {
            self.uri.clone()
        } else {
            format!("{} ({})", self.uri, self.line)
        }
    }
}

fn write_uri(uri: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"uri\":");
    json_text::string_into(uri, out);
}

fn write_meta(stored_uri: Option<&str>, meta: Option<&[u8]>, out: &mut Vec<u8>) {
    if stored_uri.is_none() && meta.is_none() {
        return;
    }
    out.extend_from_slice(b",\"_meta\":{");
    // The record's own object without its opening brace; `}` alone when it is empty.
    let own = meta.and_then(|meta| meta.get(1..)).unwrap_or(b"}");
    if let Some(uri) = stored_uri {
        json_text::string_into(STORED_URI, out);
        out.push(b':');
        json_text::string_into(uri, out);
        if own.len() > 1 {
            out.push(b',');
        }
    }
    out.extend_from_slice(own);
}

/// Writes the entries; the last one says `cut` behind its line, where there is something to say.
fn write_folder(
    entries: &[FolderEntry],
    cut: &str,
    with_meta: bool,
    between: &[u8],
    out: &mut Vec<u8>,
) {
    for (number, entry) in entries.iter().enumerate() {
        if number > 0 {
            out.extend_from_slice(between);
        }
        write_uri(&entry.uri, out);
        let cut = if number + 1 == entries.len() { cut } else { "" };
        if with_meta && !cut.is_empty() {
            out.extend_from_slice(TRUNCATED);
        }
        if let Some(mime_type) = &entry.mime_type {
            out.extend_from_slice(b",\"mimeType\":");
            json_text::string_into(mime_type, out);
        }
        out.extend_from_slice(b",\"text\":");
        let mut text = entry.text();
        if !cut.is_empty() {
            text.push(' ');
            text.push_str(cut);
        }
        json_text::string_into(&text, out);
        out.push(b'}');
    }
}
