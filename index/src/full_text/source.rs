//! A resource as it is read from the store to be indexed, or to show a piece of it.

use super::extract::{Source, SourceContent, SourcePart};
use crate::contents_fragment::descriptor::Descriptor;
use crate::contents_fragment::json_text;
use crate::contents_fragment::part::{StoredBody, StoredPart};
use crate::error::{Error, ErrorKind, Result};
use crate::read::read_chunk;
use crate::store::codec::Reader;
use crate::store::value::Head;
use crate::store::{Cf, Pinned, View};

/// Bytes of text of one resource that can be found; what is behind them is not.
pub(super) const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A binary beyond this is found by its title and URI only.
const BLOB_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A resource with its parts decoded.
pub(super) struct Loaded {
    pub(super) uri: String,
    pub(super) head: Head,
    pub(super) descriptor: Descriptor,
    parts: Vec<LoadedPart>,
}

struct LoadedPart {
    mime_type: Option<String>,
    body: LoadedBody,
}

enum LoadedBody {
    Text(String),
    Blob(Vec<u8>),
}

/// A resource as it stands in the store, not decoded yet.
pub(super) struct Stored<'v> {
    contents: Result<Option<Pinned<'v>>>,
    descriptor: Result<Option<Pinned<'v>>>,
}

/// Reads several resources in one go, in the order of their URIs as they are given.
pub(super) fn read_many<'v>(view: &'v View<'_>, uris: &[&str]) -> Result<Vec<Stored<'v>>> {
    let keys: Vec<&[u8]> = uris.iter().map(|uri| uri.as_bytes()).collect();
    let contents = view.get_many(Cf::Contents, &keys)?;
    let descriptors = view.get_many(Cf::Descriptors, &keys)?;
    let both = contents.into_iter().zip(descriptors);
    Ok(both.map(|(contents, descriptor)| Stored { contents, descriptor }).collect())
}

/// A resource with up to `text_bytes_max` bytes of text; `None`: there is none.
pub(super) fn decode(
    view: &View<'_>,
    uri: &str,
    stored: Stored<'_>,
    text_bytes_max: usize,
) -> Result<Option<Loaded>> {
    let Some(value) = stored.contents? else { return Ok(None) };
    let mut reader = Reader::new(&value, "contents value");
    let head = Head::read(&mut reader)?;
    let descriptor = stored.descriptor?.ok_or_else(|| {
        Error::new(ErrorKind::Corrupt, uri, "its descriptor is missing; run `pressmark verify`")
    })?;
    let descriptor = Descriptor::from_stored(descriptor.to_vec())?;
    let mut text_left = text_bytes_max;
    let mut parts = Vec::new();
    for number in 0..reader.u16()? {
        let part = StoredPart::read(&mut reader)?;
        let place = Place { view, uri, version: head.version, number };
        let body = if part.blob {
            LoadedBody::Blob(blob(&place, &part)?)
        } else {
            let text = text(&place, &part, text_left)?;
            text_left -= text.len().min(text_left);
            LoadedBody::Text(text)
        };
        parts.push(LoadedPart { mime_type: part.mime_type(), body });
    }
    Ok(Some(Loaded { uri: uri.to_owned(), head, descriptor, parts }))
}

/// Where a part stands.
struct Place<'v> {
    view: &'v View<'v>,
    uri: &'v str,
    version: u64,
    number: u16,
}

impl Place<'_> {
    fn chunk(&self, chunk: usize) -> Result<Vec<u8>> {
        read_chunk(self.view, self.uri, self.version, self.number, chunk)
    }

    fn corrupt(&self) -> Error {
        Error::new(ErrorKind::Corrupt, self.uri, "a part of it does not decode")
    }
}

fn text(place: &Place<'_>, part: &StoredPart<'_>, bytes_max: usize) -> Result<String> {
    let mut text = match &part.body {
        StoredBody::Inline(escaped) => {
            json_text::unescape(escaped).ok_or_else(|| place.corrupt())?
        }
        StoredBody::Chunks(chunks) => {
            let mut whole = String::new();
            for number in 0..chunks.len() {
                if whole.len() >= bytes_max {
                    break;
                }
                let escaped = place.chunk(number)?;
                whole.push_str(&json_text::unescape(&escaped).ok_or_else(|| place.corrupt())?);
            }
            whole
        }
    };
    text.truncate(text.floor_char_boundary(bytes_max));
    Ok(text)
}

fn blob(place: &Place<'_>, part: &StoredPart<'_>) -> Result<Vec<u8>> {
    if part.raw_bytes > BLOB_BYTES_MAX {
        return Ok(Vec::new());
    }
    let decode = |base64: &[u8]| {
        base64_simd::STANDARD.decode_to_vec(base64).map_err(|source| {
            Error::new(ErrorKind::Corrupt, place.uri, "a part of it is not base64")
                .with_source(source)
        })
    };
    match &part.body {
        StoredBody::Inline(base64) => decode(base64),
        StoredBody::Chunks(chunks) => {
            let mut whole = Vec::new();
            for number in 0..chunks.len() {
                whole.extend_from_slice(&decode(&place.chunk(number)?)?);
            }
            Ok(whole)
        }
    }
}

impl Loaded {
    /// Title, or name.
    pub(super) fn title(&self) -> String {
        self.descriptor.title().or_else(|| self.descriptor.name()).unwrap_or_default()
    }

    /// Shows the resource to an extractor.
    pub(super) fn with_source<T>(&self, see: impl FnOnce(&Source<'_>) -> T) -> T {
        let parts: Vec<SourcePart<'_>> = self
            .parts
            .iter()
            .map(|part| SourcePart {
                mime_type: part.mime_type.as_deref(),
                content: match &part.body {
                    LoadedBody::Text(text) => SourceContent::Text(text),
                    LoadedBody::Blob(bytes) => SourceContent::Blob(bytes),
                },
            })
            .collect();
        let mime_type = self.descriptor.mime_type();
        see(&Source { uri: &self.uri, mime_type: mime_type.as_deref(), parts: &parts })
    }

    /// The texts of its parts, one after the other.
    pub(super) fn into_text(self) -> String {
        let mut texts = self.parts.into_iter().filter_map(|part| match part.body {
            LoadedBody::Text(text) => Some(text),
            LoadedBody::Blob(_) => None,
        });
        let mut whole = texts.next().unwrap_or_default();
        for text in texts {
            whole.push_str("\n\n");
            whole.push_str(&text);
        }
        whole
    }
}
