//! Resources given back as they were put: for the operator, whoever may see them.

use crate::access::Access;
use crate::catalog::SpaceCatalog;
use crate::contents_fragment::descriptor::Descriptor;
use crate::contents_fragment::json_text;
use crate::contents_fragment::part::{StoredBody, StoredPart};
use crate::error::{Error, ErrorKind, Result};
use crate::read::{not_found, read_chunk};
use crate::resource::{Address, Body, Part, RawJson, Resource, UnixMillis};
use crate::resource_uri;
use crate::shared::Shared;
use crate::store::codec::Reader;
use crate::store::value::Head;
use crate::store::{Cf, View};

/// A resource as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredResource {
    /// As it was put, with the stored URI and with what was filled in for it: name, MIME type, size.
    pub resource: Resource,
    /// 1 for the first at this URI, one more at each change.
    pub version: u64,
    /// Number of the change that made this version.
    pub sequence: u64,
    /// When that was committed.
    pub committed: UnixMillis,
}

/// Which resources a page of a scan holds.
#[derive(Debug, Clone, Copy)]
pub struct ScanRequest<'a> {
    /// Only of this space, by name.
    pub space: Option<&'a str>,
    /// Only stored URIs that begin so.
    pub uri_prefix: &'a str,
    /// Only stored URIs after this one.
    pub after_uri: Option<&'a str>,
    /// Leaves the bodies of the parts out.
    pub without_bodies: bool,
    /// Resources on the page.
    pub count_max: usize,
    /// The page ends with the resource whose bodies bring it to so many bytes.
    pub bytes_max: usize,
}

/// A page of a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanPage {
    /// In the byte order of their URIs.
    pub resources: Vec<StoredResource>,
    /// Where the next page begins, as its `after_uri`; `None`: this was the last.
    pub after_uri: Option<String>,
}

/// A page looks at this many resources of other spaces at most.
const SKIPPED_MAX: usize = 100_000;

impl Shared {
    pub(crate) fn stored(&self, uri: &str) -> Result<StoredResource> {
        let asked = resource_uri::normalise(uri)?;
        let store = self.store();
        let view = store.view();
        let catalog = self.catalog();
        let hit = self.look_up(&view, &catalog, &asked, &Access::operator())?;
        let found = hit.ok_or_else(|| not_found(uri))?.found;
        self.decode(&view, &catalog, &found.stored_uri, &found.value, false)
    }

    pub(crate) fn scan(&self, request: &ScanRequest<'_>) -> Result<ScanPage> {
        let store = self.store();
        let view = store.view();
        let catalog = self.catalog();
        let space = request.space.map(|name| catalog.named(name)).transpose()?;
        let literal = space.map_or("", |space| space.matcher.literal_prefix());
        let Some(prefix) = narrower(literal, request.uri_prefix) else {
            return Ok(ScanPage { resources: Vec::new(), after_uri: None });
        };
        // The key after a URI is that URI with a zero byte behind it.
        let after = request.after_uri.map(|uri| [uri.as_bytes(), &[0]].concat());
        let start = after.as_deref().unwrap_or_default().max(prefix.as_bytes());
        let mut scan = view.scan(Cf::Contents, prefix.as_bytes(), start)?;
        let mut page = ScanPage { resources: Vec::new(), after_uri: None };
        let (mut bytes, mut skipped) = (0_usize, 0_usize);
        while let Some((uri, value)) = scan.item()? {
            let uri = std::str::from_utf8(uri).map_err(|_| {
                Error::new(
                    ErrorKind::Corrupt,
                    "contents",
                    "a key is not UTF-8; run `pressmark verify`",
                )
            })?;
            let head = Head::read(&mut Reader::new(value, "contents value"))?;
            if space.is_none_or(|space| space.id == head.space) {
                let stored = self.decode(&view, &catalog, uri, value, request.without_bodies)?;
                bytes = bytes.saturating_add(value.len()).saturating_add(body_bytes(&stored));
                page.resources.push(stored);
            } else {
                skipped += 1;
            }
            let is_full = page.resources.len() >= request.count_max
                || bytes >= request.bytes_max
                || skipped >= SKIPPED_MAX;
            if is_full {
                page.after_uri = Some(uri.to_owned());
                break;
            }
            scan.advance();
        }
        Ok(page)
    }

    fn decode(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        uri: &str,
        value: &[u8],
        without_bodies: bool,
    ) -> Result<StoredResource> {
        let mut reader = Reader::new(value, "contents value");
        let head = Head::read(&mut reader)?;
        let descriptor = view.get(Cf::Descriptors, uri.as_bytes())?.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, uri, "its descriptor is missing; run `pressmark verify`")
        })?;
        let descriptor = Descriptor::from_stored(descriptor.to_vec())?;
        let count = reader.u16()?;
        let mut contents = Vec::with_capacity(usize::from(count));
        for number in 0..count {
            let part = StoredPart::read(&mut reader)?;
            contents.push(decode_part(view, uri, &head, number, &part, without_bodies)?);
        }
        let acl = self.acls.groups(head.acl)?.map(|groups| groups.to_vec());
        let mut annotations = descriptor.annotations();
        annotations.last_modified = Some(head.order.modified).filter(|modified| *modified != 0);
        let space = catalog.get(head.space).map(|space| space.settings.name.clone());
        Ok(StoredResource {
            version: head.version,
            sequence: head.sequence,
            committed: head.committed,
            resource: Resource {
                space: space.unwrap_or_default(),
                address: Address::Uri(uri.to_owned()),
                name: descriptor.name(),
                title: descriptor.title(),
                description: descriptor.description(),
                mime_type: descriptor.mime_type(),
                contents,
                annotations,
                size: descriptor.size(),
                icons: descriptor.icons(),
                meta: descriptor.meta(),
                pinned: head.order.pinned,
                acl,
                source: head.source,
            },
        })
    }
}

/// The prefix that begins with both; `None`: nothing does.
fn narrower<'a>(one: &'a str, other: &'a str) -> Option<&'a str> {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    long.starts_with(short).then_some(long)
}

fn body_bytes(stored: &StoredResource) -> usize {
    stored.resource.contents.iter().map(|part| part.body.len()).sum()
}

fn decode_part(
    view: &View<'_>,
    uri: &str,
    head: &Head,
    number: u16,
    part: &StoredPart<'_>,
    without_body: bool,
) -> Result<Part> {
    let corrupt = |what: &str| {
        let detail = format!("{what} of part {number} cannot be decoded; run `pressmark verify`");
        Error::new(ErrorKind::Corrupt, uri, detail)
    };
    let own_uri = match part.own_uri {
        Some(escaped) => Some(json_text::unescape(escaped).ok_or_else(|| corrupt("the URI"))?),
        None => None,
    };
    let meta = match part.meta {
        Some(json) => {
            let json = std::str::from_utf8(json).map_err(|_| corrupt("`_meta`"))?;
            Some(RawJson(json.to_owned()))
        }
        None => None,
    };
    let encoded = match &part.body {
        _ if without_body => Vec::new(),
        StoredBody::Inline(bytes) => bytes.to_vec(),
        StoredBody::Chunks(chunks) => {
            let mut joined = Vec::with_capacity(part.body_bytes());
            for chunk in 0..chunks.len() {
                joined.extend_from_slice(&read_chunk(view, uri, head.version, number, chunk)?);
            }
            joined
        }
    };
    let body = if part.blob {
        let bytes = base64_simd::STANDARD.decode_to_vec(encoded);
        Body::Blob(bytes.map_err(|_| corrupt("the body"))?)
    } else {
        Body::Text(json_text::unescape(&encoded).ok_or_else(|| corrupt("the body"))?)
    };
    Ok(Part { uri: own_uri, mime_type: part.mime_type(), meta, body })
}
