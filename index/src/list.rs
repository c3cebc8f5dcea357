//! `resources/list` and `resources/templates/list`: pages in keyset order over one snapshot.

use std::sync::Arc;
use std::time::Duration;

use crate::access::Access;
use crate::catalog::{Space, SpaceCatalog};
use crate::contents_fragment::descriptor::Descriptor;
use crate::cursor::{self, List};
use crate::error::{Error, ErrorKind, Result};
use crate::folder;
use crate::shared::Shared;
use crate::space::{CacheScope, ListMode, SpaceId};
use crate::store::value::{AclId, decode_list_acl};
use crate::store::{Cf, Scan, View, key};

/// How much a page holds at most.
#[derive(Debug, Clone, Copy)]
pub struct PageBounds {
    /// Items.
    pub items_max: usize,
    /// Encoded bytes; a page holds at least one item.
    pub bytes_max: usize,
}

/// A page of `resources/list`.
#[derive(Debug)]
pub struct ListPage {
    /// The most valuable first within each space.
    pub items: Vec<Descriptor>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// The shortest of the spaces that the caller sees.
    pub ttl: Duration,
    /// The same for all pages of a caller.
    pub cache_scope: CacheScope,
}

/// A page of `resources/templates/list`.
#[derive(Debug)]
pub struct SpacePage {
    /// Oldest first.
    pub spaces: Vec<Arc<Space>>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// The shortest of the spaces that the caller sees.
    pub ttl: Duration,
    /// The same for all pages of a caller.
    pub cache_scope: CacheScope,
}

/// Freshness of a list without any space.
const EMPTY_TTL: Duration = Duration::from_secs(60);

impl Shared {
    pub(crate) fn list(
        &self,
        secret: &[u8; cursor::SECRET_BYTES],
        cursor: Option<&str>,
        access: &Access,
        bounds: PageBounds,
    ) -> Result<ListPage> {
        let after = match cursor {
            None => None,
            Some(cursor) => {
                Some(Position::decode(&cursor::decode(secret, List::Resources, cursor)?)?)
            }
        };
        let catalog = self.catalog();
        let store = self.store();
        let view = store.view();
        let (ttl, mut cache_scope) = freshness(&catalog, access);
        let mut page = Page::new(bounds);
        for space in listed(&catalog, access) {
            if after
                .as_ref()
                .is_some_and(|after| after.space() > key::list_of_space(space.id).as_slice())
            {
                continue;
            }
            self.list_space(&view, &catalog, space, access, after.as_ref(), &mut page)?;
            if page.full {
                break;
            }
        }
        // The counters that `freshness` goes by are published a moment after the batch that they belong to.
        if page.restricted {
            cache_scope = CacheScope::Private;
        }
        let next_cursor =
            page.full.then(|| cursor::encode(secret, List::Resources, &page.last.encode()));
        Ok(ListPage { items: page.items, next_cursor, ttl, cache_scope })
    }

    /// Adds what a space lists, from after the position on, until the page is full.
    fn list_space(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        space: &Arc<Space>,
        access: &Access,
        after: Option<&Position>,
        page: &mut Page,
    ) -> Result<()> {
        let first = key::list_of_space(space.id);
        let started = after.filter(|after| after.key.starts_with(&first));
        // A space that grows past the bound while a client pages through it is listed to the end as it began.
        let pinned_only =
            started.map_or_else(|| space.lists_pinned_only(access), |started| started.pinned_only);
        if pinned_only
            && started.is_none()
            && let Some(folder) = self.root_folder(view, catalog, space, access)?
            && !page.add(folder, pinned_only, &first)
        {
            return Ok(());
        }
        let from = started.map_or(first.as_slice(), |started| started.key.as_slice());
        let mut scan = view.scan(Cf::List, &first, from)?;
        let mut descriptors = Descriptors::of_view(view);
        while let Some((list_key, value)) = scan.item()? {
            let entry = key::decode_list(list_key)?;
            if pinned_only && !entry.pinned {
                break;
            }
            let seen_before = started.is_some_and(|started| started.key == list_key);
            if !seen_before {
                let acl = decode_list_acl(value)?;
                let visible = self.visible(catalog, space.id, acl, entry.uri, access)?.is_some();
                let room = if visible {
                    let descriptor = descriptors.of(entry.uri)?;
                    page.restricted |= acl != AclId::NONE;
                    page.add(descriptor, pinned_only, list_key)
                } else {
                    page.pass_over(pinned_only, list_key)
                };
                if !room {
                    return Ok(());
                }
            }
            scan.advance();
        }
        Ok(())
    }

    /// The entry from which a host can walk down a space that lists only part of itself.
    fn root_folder(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        space: &Arc<Space>,
        access: &Access,
    ) -> Result<Option<Descriptor>> {
        let Some(uri) = space.matcher.root_folder() else {
            return Ok(None);
        };
        // Without an ACL in the way, a space that has open resources shows them; else look for one.
        let open =
            space.open_count() > 0 && access.required_in(&space.settings.name).next().is_none();
        let mut budget = folder::visibility_budget();
        if !open && folder::first_visible(self, view, catalog, uri, access, &mut budget)?.is_none()
        {
            return Ok(None);
        }
        let settings = &space.settings;
        Ok(Some(Descriptor::of_folder(
            uri,
            &settings.name,
            settings.title.as_deref(),
            settings.description.as_deref(),
        )))
    }

    pub(crate) fn list_templates(
        &self,
        secret: &[u8; cursor::SECRET_BYTES],
        cursor: Option<&str>,
        access: &Access,
        bounds: PageBounds,
    ) -> Result<SpacePage> {
        let after = match cursor {
            None => None,
            Some(cursor) => {
                let position = cursor::decode(secret, List::Templates, cursor)?;
                Some(SpaceId(crate::store::codec::Reader::new(&position, "cursor").u32()?))
            }
        };
        let catalog = self.catalog();
        let (ttl, cache_scope) = freshness(&catalog, access);
        let mut rest = catalog.spaces.iter().filter(|space| {
            access.sees_space(&space.settings.name) && after.is_none_or(|after| space.id > after)
        });
        let spaces: Vec<_> = rest.by_ref().take(bounds.items_max.max(1)).cloned().collect();
        let next_cursor = match (rest.next(), spaces.last()) {
            (Some(_), Some(last)) => {
                Some(cursor::encode(secret, List::Templates, &last.id.0.to_be_bytes()))
            }
            _ => None,
        };
        Ok(SpacePage { spaces, next_cursor, ttl, cache_scope })
    }
}

/// Places that a page looks for beyond those that follow the one before.
const SEEKS_PER_PAGE: usize = 2;

/// Descriptors by URI. Most resources have the same priority and time, so that they are listed in the order of their
/// URIs, in which their descriptors stand side by side: the next one costs a step there, and not a look-up.
struct Descriptors<'v> {
    view: &'v View<'v>,
    scan: Option<Scan<'v>>,
    seeks_left: usize,
}

impl<'v> Descriptors<'v> {
    fn of_view(view: &'v View<'v>) -> Self {
        Descriptors { view, scan: None, seeks_left: SEEKS_PER_PAGE }
    }

    fn of(&mut self, uri: &str) -> Result<Descriptor> {
        if let Some(scan) = &mut self.scan {
            scan.advance();
            if let Some(descriptor) = at(scan, uri)? {
                // A run pays for finding the next one.
                self.seeks_left = SEEKS_PER_PAGE;
                return Ok(descriptor);
            }
        }
        let found = if self.seeks_left > 0 {
            self.seeks_left -= 1;
            self.seek(uri)?
        } else {
            self.scan = None;
            let value = self.view.get(Cf::Descriptors, uri.as_bytes())?;
            value.map(|value| Descriptor::from_stored(value.to_vec())).transpose()?
        };
        found.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, uri, "its descriptor is missing; run `pressmark verify`")
        })
    }

    fn seek(&mut self, uri: &str) -> Result<Option<Descriptor>> {
        match &mut self.scan {
            Some(scan) => {
                scan.seek(uri.as_bytes());
                at(scan, uri)
            }
            None => {
                let scan = self.view.scan(Cf::Descriptors, b"", uri.as_bytes())?;
                at(self.scan.insert(scan), uri)
            }
        }
    }
}

/// The descriptor at hand, if it is the one of that URI.
fn at(scan: &Scan<'_>, uri: &str) -> Result<Option<Descriptor>> {
    scan.item()?
        .filter(|(key, _)| *key == uri.as_bytes())
        .map(|(_, value)| Descriptor::from_stored(value.to_vec()))
        .transpose()
}

/// Where a page ends: the last key that was looked at, and how its space was being listed.
#[derive(Debug, Default)]
struct Position {
    pinned_only: bool,
    key: Vec<u8>,
}

impl Position {
    fn encode(&self) -> Vec<u8> {
        [&[u8::from(self.pinned_only)], self.key.as_slice()].concat()
    }

    fn decode(bytes: &[u8]) -> Result<Position> {
        match bytes.split_first() {
            Some((pinned_only, key)) => {
                Ok(Position { pinned_only: *pinned_only != 0, key: key.to_vec() })
            }
            None => Err(Error::new(ErrorKind::InvalidCursor, "cursor", "it holds no position")),
        }
    }

    /// The part of the key that is the space.
    fn space(&self) -> &[u8] {
        self.key.get(..4).unwrap_or(&self.key)
    }
}

/// A page ends after this many entries that the caller may not see: its work is bounded whatever is hidden.
const PASSED_OVER_MAX: usize = 10_000;

struct Page {
    items: Vec<Descriptor>,
    bytes: usize,
    bounds: PageBounds,
    passed_over: usize,
    last: Position,
    /// There may be more.
    full: bool,
    /// An item has an ACL.
    restricted: bool,
}

impl Page {
    fn new(bounds: PageBounds) -> Page {
        Page {
            items: Vec::new(),
            bytes: 0,
            bounds,
            passed_over: 0,
            last: Position::default(),
            full: false,
            restricted: false,
        }
    }

    /// Adds an item; false when the page had no room, so that it ends before this one.
    fn add(&mut self, item: Descriptor, pinned_only: bool, key: &[u8]) -> bool {
        let bytes = self.bytes + item.encoded_bytes();
        let fits = self.items.len() < self.bounds.items_max && bytes <= self.bounds.bytes_max;
        if !fits && !self.items.is_empty() {
            self.full = true;
            return false;
        }
        self.bytes = bytes;
        self.last = Position { pinned_only, key: key.to_vec() };
        self.items.push(item);
        true
    }

    /// Counts an entry that the caller may not see; false when the page has looked at enough and ends behind it.
    fn pass_over(&mut self, pinned_only: bool, key: &[u8]) -> bool {
        self.passed_over += 1;
        if self.passed_over < PASSED_OVER_MAX {
            return true;
        }
        self.last = Position { pinned_only, key: key.to_vec() };
        self.full = true;
        false
    }
}

fn listed<'c>(
    catalog: &'c SpaceCatalog,
    access: &'c Access,
) -> impl Iterator<Item = &'c Arc<Space>> {
    catalog.spaces.iter().filter(|space| {
        space.settings.list != ListMode::None && access.sees_space(&space.settings.name)
    })
}

/// Freshness of lists is a matter of the spaces, not of the page: all pages of a caller say the same.
fn freshness(catalog: &SpaceCatalog, access: &Access) -> (Duration, CacheScope) {
    let mut ttl = None;
    let mut scope = CacheScope::Public;
    for space in catalog.spaces.iter().filter(|space| access.sees_space(&space.settings.name)) {
        ttl = Some(ttl.map_or(space.settings.ttl, |ttl: Duration| ttl.min(space.settings.ttl)));
        if space.cache_scope() == CacheScope::Private {
            scope = CacheScope::Private;
        }
    }
    (ttl.unwrap_or(EMPTY_TTL), scope)
}
