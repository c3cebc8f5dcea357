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
use crate::store::value::decode_list_acl;
use crate::store::{Cf, View, key};

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
        let after =
            cursor.map(|cursor| cursor::decode(secret, List::Resources, cursor)).transpose()?;
        let catalog = self.catalog();
        let store = self.store();
        let view = store.view();
        let (ttl, cache_scope) = freshness(&catalog, access);
        let mut page = Page { items: Vec::new(), bytes: 0, bounds, last: Vec::new(), full: false };
        for space in listed(&catalog, access) {
            let first = key::list_of_space(space.id);
            if after
                .as_ref()
                .is_some_and(|after| after.get(..4).is_some_and(|of| of > first.as_slice()))
            {
                continue;
            }
            self.list_space(&view, &catalog, space, access, after.as_deref(), &mut page)?;
            if page.full {
                break;
            }
        }
        let next_cursor = page.full.then(|| cursor::encode(secret, List::Resources, &page.last));
        Ok(ListPage { items: page.items, next_cursor, ttl, cache_scope })
    }

    /// Adds what a space lists, from after the position on, until the page is full.
    fn list_space(
        &self,
        view: &View<'_>,
        catalog: &SpaceCatalog,
        space: &Arc<Space>,
        access: &Access,
        after: Option<&[u8]>,
        page: &mut Page,
    ) -> Result<()> {
        let first = key::list_of_space(space.id);
        let started = after.filter(|after| after.starts_with(&first));
        let pinned_only = space.lists_pinned_only();
        if pinned_only
            && started.is_none()
            && let Some(folder) = self.root_folder(view, catalog, space, access)?
            && !page.add(folder, &first)
        {
            return Ok(());
        }
        let mut scan = view.scan(Cf::List, &first, started.unwrap_or(&first))?;
        while let Some((list_key, value)) = scan.item()? {
            let entry = key::decode_list(list_key)?;
            if pinned_only && !entry.pinned {
                break;
            }
            let acl = decode_list_acl(value)?;
            let skip = started == Some(list_key)
                || self.visible(catalog, space.id, acl, entry.uri, access)?.is_none();
            if !skip {
                let descriptor =
                    view.get(Cf::Descriptors, entry.uri.as_bytes())?.ok_or_else(|| {
                        Error::new(
                            ErrorKind::Corrupt,
                            entry.uri,
                            "its descriptor is missing; run `pressmark verify`",
                        )
                    })?;
                if !page.add(Descriptor::from_stored(descriptor.to_vec())?, list_key) {
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
        if folder::first_visible(self, view, catalog, uri, access)?.is_none() {
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

struct Page {
    items: Vec<Descriptor>,
    bytes: usize,
    bounds: PageBounds,
    /// Position of the last item.
    last: Vec<u8>,
    /// There is at least one more item.
    full: bool,
}

impl Page {
    /// Adds an item; false when the page had no room, so that it ends before this one.
    fn add(&mut self, item: Descriptor, position: &[u8]) -> bool {
        let bytes = self.bytes + item.encoded_bytes();
        let fits = self.items.len() < self.bounds.items_max && bytes <= self.bounds.bytes_max;
        if !fits && !self.items.is_empty() {
            self.full = true;
            return false;
        }
        self.bytes = bytes;
        self.last = position.to_vec();
        self.items.push(item);
        true
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
