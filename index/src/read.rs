//! `resources/read`: normalise the URI, one point look-up, copy. What needs more (another spelling, a
//! fragment, a large body, a folder) goes on in one snapshot.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::access::Access;
use crate::catalog::{Space, SpaceCatalog};
use crate::contents::{Contents, Found, FoundResource, StoredValue};
use crate::contents_fragment::json_text::TextLength;
use crate::contents_fragment::part::{StoredBody, StoredPart};
use crate::error::{Error, ErrorKind, Result};
use crate::fragment;
use crate::hot_values::HotValue;
use crate::resource_uri;
use crate::shared::Shared;
use crate::space::{CacheScope, SpaceId};
use crate::store::codec::Reader;
use crate::store::value::{AclId, Head, decode_alias, read_visibility, skip_head};
use crate::store::{Cf, InMemory, View, key};
use crate::{folder, slice};

/// Which storage a read may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Only what is in memory: never waits for the disk.
    Memory,
    /// The disk too: run it where blocking is allowed.
    Disk,
}

/// One read, as asked.
#[derive(Debug, Clone, Copy)]
pub struct ReadRequest<'a> {
    /// As the client sent it, fragment included.
    pub uri: &'a str,
    /// What the caller may see.
    pub access: &'a Access,
    /// Bound of the encoded contents in bytes.
    pub bytes_max: usize,
    /// Which storage may be touched.
    pub tier: Tier,
}

/// What a read came to.
#[derive(Debug)]
pub enum ReadOutcome {
    /// The contents.
    Contents(Contents),
    /// With [`Tier::Memory`]: ask again with [`Tier::Disk`] where blocking is allowed.
    NotInMemory,
}

/// A resource that was found and may be seen.
pub(crate) struct Hit {
    pub(crate) found: FoundResource,
    pub(crate) space: Arc<Space>,
    pub(crate) cache_scope: CacheScope,
}

impl Shared {
    pub(crate) fn read(&self, request: &ReadRequest<'_>) -> Result<ReadOutcome> {
        let uri = resource_uri::normalise(request.uri)?;
        match request.tier {
            Tier::Memory => self.read_in_memory(&uri, request),
            Tier::Disk => self.read_in_snapshot(&uri, request).map(ReadOutcome::Contents),
        }
    }

    /// The hot path: a resource that is asked by its own URI and whose value is cached.
    fn read_in_memory(&self, uri: &str, request: &ReadRequest<'_>) -> Result<ReadOutcome> {
        let Some((value, parts_at, space, acl)) = self.value_in_memory(uri)? else {
            return Ok(ReadOutcome::NotInMemory);
        };
        let catalog = self.catalog_guard();
        let Some((space, cache_scope)) = self.visible(&catalog, space, acl, uri, request.access)?
        else {
            return Ok(ReadOutcome::NotInMemory);
        };
        let found =
            FoundResource { stored_uri: uri.to_owned(), parts_at, value, large_bodies: Vec::new() };
        if found.has_large_bodies()? || found.value.len() > request.bytes_max {
            return Ok(ReadOutcome::NotInMemory);
        }
        let space = Arc::clone(space);
        Ok(ReadOutcome::Contents(Contents {
            space,
            cache_scope,
            found: Found::Resource(found),
            chunk_reads: 0,
        }))
    }

    /// A contents value with the place of its parts, its space and ACL, if memory holds it.
    fn value_in_memory(&self, uri: &str) -> Result<Option<(StoredValue, usize, SpaceId, AclId)>> {
        if let Some(hot) = self.hot.get(uri) {
            let (parts_at, space, acl) = (hot.parts_at, hot.space, hot.acl);
            return Ok(Some((StoredValue::Hot(hot), parts_at, space, acl)));
        }
        let noted = self.newest().load(Ordering::Acquire);
        let store = self.store_guard();
        let InMemory::Found(value) = store.get_in_memory(Cf::Contents, uri.as_bytes())? else {
            return Ok(None);
        };
        let (space, acl) = read_visibility(&value)?;
        let parts_at = parts_at(&value)?;
        if self.hot.wants(value.len()) {
            let hot = HotValue { space, acl, parts_at, bytes: value.as_ref().into() };
            self.hot.offer(uri, hot, noted, self.newest());
        }
        Ok(Some((StoredValue::Owned(value.to_vec()), parts_at, space, acl)))
    }

    fn read_in_snapshot(&self, uri: &str, request: &ReadRequest<'_>) -> Result<Contents> {
        let noted = self.newest().load(Ordering::Acquire);
        let store = self.store();
        let view = store.view();
        let catalog = self.catalog();
        if let Some(hit) = self.look_up(&view, &catalog, uri, request.access)? {
            self.offer_hit(&hit.found, noted)?;
            return whole(&view, hit, request);
        }
        if let (base, Some(fragment)) = fragment::split(uri) {
            if let Some(hit) = self.look_up(&view, &catalog, base, request.access)? {
                let range = fragment::parse(fragment)?;
                return slice::read(&view, hit, &range, request);
            }
            if folder::read(self, &view, &catalog, base, request)?.is_some() {
                return Err(slice::not_a_text(request));
            }
        }
        if let Some(hit) = self.look_up_with_slash(&view, &catalog, uri, request.access)? {
            return whole(&view, hit, request);
        }
        if let Some(listing) = folder::read(self, &view, &catalog, uri, request)? {
            return Ok(listing);
        }
        match self.look_up_without_slash(&view, &catalog, uri, request.access)? {
            Some(hit) => whole(&view, hit, request),
            None => Err(not_found(request.uri)),
        }
    }

    /// Offers what was read from the disk: its block may be gone from memory when it is asked for again.
    fn offer_hit(&self, found: &FoundResource, noted: u64) -> Result<()> {
        if self.hot.wants(found.value.len()) {
            let (space, acl) = read_visibility(&found.value)?;
            let bytes = (*found.value).into();
            let hot = HotValue { space, acl, parts_at: found.parts_at, bytes };
            self.hot.offer(&found.stored_uri, hot, noted, self.newest());
        }
        Ok(())
    }

    /// The look-up order: the normalised URI as it stands; what its variables expand to; what hosts
    /// make of a stored URI, escapes first, then delimiters. What may not be seen is treated as absent.
    pub(crate) fn look_up(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        uri: &str,
        access: &Access,
    ) -> Result<Option<Hit>> {
        if let Some(hit) = self.hit(view, catalog, uri, access)? {
            return Ok(Some(hit));
        }
        for (space, bindings) in catalog.matches(uri) {
            let Ok(canonical) = space.matcher.expand_canonical(&bindings) else {
                continue;
            };
            if canonical != uri
                && let Some(hit) = self.hit(view, catalog, &canonical, access)?
            {
                return Ok(Some(hit));
            }
        }
        for spelling in resource_uri::alias_candidates(uri) {
            let stored = match view.get(Cf::Aliases, spelling.as_bytes())? {
                Some(value) => decode_alias(&value)?,
                None => vec![spelling],
            };
            // Two stored URIs with one undone spelling: only their exact spellings answer. One that the
            // caller may not see does not count.
            let mut hits = Vec::new();
            for uri in &stored {
                hits.extend(self.hit(view, catalog, uri, access)?);
            }
            if hits.len() == 1 {
                return Ok(hits.pop());
            }
        }
        self.look_up_delimiters(view, catalog, uri, access)
    }

    /// The resource whose URI ends with a slash that a host has stripped. It answers before the folder of that name does,
    /// as it does at its own URI.
    pub(crate) fn look_up_with_slash(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        uri: &str,
        access: &Access,
    ) -> Result<Option<Hit>> {
        if uri.ends_with('/') || uri.contains(['?', '#']) {
            return Ok(None);
        }
        self.look_up(view, catalog, &format!("{uri}/"), access)
    }

    /// The resource to whose URI a host has added a slash. A URI with a slash at its end is a folder's first.
    pub(crate) fn look_up_without_slash(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        uri: &str,
        access: &Access,
    ) -> Result<Option<Hit>> {
        match uri.strip_suffix('/') {
            Some(stripped) if !uri.contains(['?', '#']) => {
                self.look_up(view, catalog, stripped, access)
            }
            _ => Ok(None),
        }
    }

    /// The one resource whose URI differs in how its delimiters are spelled, and perhaps in what aliases are for.
    fn look_up_delimiters(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        uri: &str,
        access: &Access,
    ) -> Result<Option<Hit>> {
        let mut hits: Vec<Hit> = Vec::new();
        for spelling in catalog.delimiter_spellings(uri) {
            let mut stored = match view.get(Cf::Aliases, spelling.as_bytes())? {
                Some(value) => decode_alias(&value)?,
                None => Vec::new(),
            };
            stored.push(spelling);
            for uri in &stored {
                let hit = self.hit(view, catalog, uri, access)?;
                let known = hits.iter().any(|known| known.found.stored_uri == *uri);
                hits.extend(hit.filter(|_| !known));
            }
        }
        Ok(if hits.len() == 1 { hits.pop() } else { None })
    }

    fn hit(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        uri: &str,
        access: &Access,
    ) -> Result<Option<Hit>> {
        let Some(value) = view.get(Cf::Contents, uri.as_bytes())? else {
            return Ok(None);
        };
        let (space, acl) = read_visibility(&value)?;
        let Some((space, cache_scope)) = self.visible(catalog, space, acl, uri, access)? else {
            return Ok(None);
        };
        let found = FoundResource {
            stored_uri: uri.to_owned(),
            parts_at: parts_at(&value)?,
            value: StoredValue::Owned(value.to_vec()),
            large_bodies: Vec::new(),
        };
        Ok(Some(Hit { found, space: Arc::clone(space), cache_scope }))
    }

    /// The space of a resource, with the scope of replies that show it, if the caller may see it.
    pub(crate) fn visible<'c>(
        &self,
        catalog: &'c SpaceCatalog,
        space: SpaceId,
        acl: AclId,
        uri: &str,
        access: &Access,
    ) -> Result<Option<(&'c Arc<Space>, CacheScope)>> {
        let Some(space) = catalog.get(space) else {
            return Ok(None);
        };
        if !space.allows(uri, access) || !self.acls.passes(acl, access)? {
            return Ok(None);
        }
        let cache_scope =
            if acl == AclId::NONE { space.cache_scope() } else { CacheScope::Private };
        Ok(Some((space, cache_scope)))
    }
}

/// The same answer for what does not exist and for what may not be seen.
pub(crate) fn not_found(uri: &str) -> Error {
    Error::new(ErrorKind::NotFound, uri, "resource not found")
}

fn parts_at(value: &[u8]) -> Result<usize> {
    let mut reader = Reader::new(value, "contents value");
    skip_head(&mut reader)?;
    Ok(value.len() - reader.left())
}

impl FoundResource {
    fn has_large_bodies(&self) -> Result<bool> {
        let mut large = false;
        self.each_part(|part| {
            large |= matches!(part.body, StoredBody::Chunks(_));
            Ok(())
        })?;
        Ok(large)
    }
}

impl FoundResource {
    /// Whether all there is is one text, the resource itself.
    pub(crate) fn is_one_text(&self) -> Result<bool> {
        let (mut count, mut text) = (0_usize, true);
        self.each_part(|part| {
            count += 1;
            text &= !part.blob && part.own_uri.is_none();
            Ok(())
        })?;
        Ok(count == 1 && text)
    }
}

impl Hit {
    pub(crate) fn head(&self) -> Result<Head> {
        Head::read(&mut Reader::new(&self.found.value, "contents value"))
    }
}

/// All parts of a resource, if they fit the bound.
fn whole(view: &View<'_>, mut hit: Hit, request: &ReadRequest<'_>) -> Result<Contents> {
    hit.found.large_bodies = large_bodies(view, &hit, request)?;
    let chunk_reads = hit.found.large_bodies.len();
    let Hit { found, space, cache_scope } = hit;
    Ok(Contents { space, cache_scope, found: Found::Resource(found), chunk_reads })
}

/// The bodies that are stored in chunks, joined, in the order of the parts, if all parts fit the bound.
pub(crate) fn large_bodies(
    view: &View<'_>,
    hit: &Hit,
    request: &ReadRequest<'_>,
) -> Result<Vec<Vec<u8>>> {
    let mut bytes = 0_usize;
    let mut large = Vec::new();
    let mut number = 0_u16;
    hit.found.each_part(|part| {
        bytes = bytes.saturating_add(part.encoded_bytes());
        if bytes > request.bytes_max {
            return Err(too_large(request, &part));
        }
        if let StoredBody::Chunks(chunks) = &part.body {
            large.push((number, chunks.len(), part.body_bytes()));
        }
        number = number.saturating_add(1);
        Ok(())
    })?;
    if large.is_empty() {
        return Ok(Vec::new());
    }
    let version = hit.head()?.version;
    let mut bodies = Vec::with_capacity(large.len());
    for (part, count, bytes) in large {
        let mut body = Vec::with_capacity(bytes);
        for chunk in 0..count {
            body.extend_from_slice(&read_chunk(view, &hit.found.stored_uri, version, part, chunk)?);
        }
        bodies.push(body);
    }
    Ok(bodies)
}

/// One piece of a large body.
pub(crate) fn read_chunk(
    view: &View<'_>,
    uri: &str,
    version: u64,
    part: u16,
    chunk: usize,
) -> Result<Vec<u8>> {
    let number = u32::try_from(chunk).unwrap_or(u32::MAX);
    match view.get(Cf::Chunks, &key::chunk(uri, version, part, number))? {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(Error::new(
            ErrorKind::Corrupt,
            uri,
            format!("chunk {chunk} of part {part} is missing; run `pressmark verify`"),
        )),
    }
}

/// Lines that are longer on average are not offered as a way to cut a text.
const EXAMPLE_LINE_CHARS_MAX: u64 = 1_000;

/// The way out of a reply that is too large: parts of a text.
pub(crate) fn too_large(request: &ReadRequest<'_>, part: &StoredPart<'_>) -> Error {
    let bound = request.bytes_max;
    let (base, _) = fragment::split(request.uri);
    let TextLength { chars, line_ends } = part.length;
    // Where lines are long, a count of lines is no bound.
    let example = if line_ends > 0 && chars / line_ends <= EXAMPLE_LINE_CHARS_MAX {
        format!("`{base}#line=0,200` or `{base}#char=0,20000`")
    } else {
        format!("`{base}#char=0,20000`")
    };
    let detail = if part.blob {
        format!(
            "the reply would be larger than {bound} bytes, and a binary cannot be read in parts"
        )
    } else {
        let lines = line_ends.max(1);
        format!(
            "the reply would be larger than {bound} bytes: the text has {chars} characters in {lines} lines; read a part of it, e.g. {example}"
        )
    };
    Error::new(ErrorKind::LimitExceeded, request.uri, detail)
}
