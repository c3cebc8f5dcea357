//! Folder-like URIs: what stands directly beneath one, found by skipping through the descriptors. No
//! structure of its own is kept for folders.

use std::sync::Arc;

use crate::access::Access;
use crate::catalog::{Space, SpaceCatalog};
use crate::contents::{Contents, FolderEntry, Found};
use crate::contents_fragment::descriptor::{Descriptor, FOLDER_MIME_TYPE};
use crate::error::Result;
use crate::read::ReadRequest;
use crate::shared::Shared;
use crate::space::CacheScope;
use crate::store::value::read_visibility;
use crate::store::{Cf, View, key};

/// A listing shows at most this many children; what is beyond is found by completion and search.
pub const FOLDER_ENTRIES_MAX: usize = 1_000;
/// One listing looks at this many records at most, whatever the caller may see of them.
const LOOKED_AT_MAX: usize = 20_000;
/// The descriptive line of an entry is cut here, in characters.
const LINE_CHARS_MAX: usize = 240;

/// What may be looked at to find out whether a space shows anything at all.
pub(crate) fn visibility_budget() -> usize {
    LOOKED_AT_MAX
}

/// The children of the asked URI; `None` when the caller may see nothing beneath it.
pub(crate) fn read(
    shared: &Shared,
    view: &View<'_>,
    catalog: &SpaceCatalog,
    uri: &str,
    request: &ReadRequest<'_>,
) -> Result<Option<Contents>> {
    let Some(prefix) = folder_prefix(uri) else {
        return Ok(None);
    };
    let mut listing = Listing { entries: Vec::new(), bytes: 0, spaces: Vec::new(), private: false };
    let mut budget = LOOKED_AT_MAX;
    let mut truncated = false;
    let mut scan = view.scan(Cf::Descriptors, prefix.as_bytes(), prefix.as_bytes())?;
    while let Some((found, value)) = scan.item()? {
        if listing.entries.len() >= FOLDER_ENTRIES_MAX
            || listing.bytes > request.bytes_max
            || budget == 0
        {
            truncated = true;
            break;
        }
        let child = std::str::from_utf8(found).unwrap_or_default();
        let rest = child.get(prefix.len()..).unwrap_or_default();
        if let Some((name, _)) = rest.split_once('/').filter(|(name, _)| !name.contains(['?', '#']))
        {
            let folder = format!("{prefix}{name}/");
            let visible =
                first_visible(shared, view, catalog, &folder, request.access, &mut budget)?;
            if let Some((space, scope)) = visible {
                listing.add(&space, scope, folder_entry(&folder));
            }
            match key::after_prefix(folder.as_bytes()) {
                Some(next) => scan.seek(&next),
                None => break,
            }
        } else {
            budget -= 1;
            let (space, acl) = read_visibility(value)?;
            if let Some((space, scope)) =
                shared.visible(catalog, space, acl, child, request.access)?
            {
                let descriptor = Descriptor::from_stored(value.to_vec())?;
                let entry = FolderEntry {
                    uri: child.to_owned(),
                    mime_type: descriptor.mime_type(),
                    line: descriptive_line(&descriptor),
                };
                listing.add(space, scope, entry);
            }
            scan.advance();
        }
    }
    // The last folder may have used up what may be looked at: then nobody knows whether it has something to show.
    Ok(listing.contents(truncated || budget == 0))
}

/// What lists say of a folder-like URI; `None` when the caller may see nothing beneath it.
pub(crate) fn describe(
    shared: &Shared,
    view: &View<'_>,
    catalog: &SpaceCatalog,
    uri: &str,
    access: &Access,
) -> Result<Option<Descriptor>> {
    let Some(prefix) = folder_prefix(uri) else {
        return Ok(None);
    };
    let mut budget = LOOKED_AT_MAX;
    let visible = first_visible(shared, view, catalog, &prefix, access, &mut budget)?;
    let name = prefix.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    Ok(visible.map(|_| Descriptor::of_folder(&prefix, name, None, None)))
}

fn folder_entry(uri: &str) -> FolderEntry {
    FolderEntry {
        uri: uri.to_owned(),
        mime_type: Some(FOLDER_MIME_TYPE.to_owned()),
        line: String::new(),
    }
}

struct Listing {
    entries: Vec<FolderEntry>,
    bytes: usize,
    /// The spaces that the entries belong to.
    spaces: Vec<Arc<Space>>,
    private: bool,
}

impl Listing {
    fn add(&mut self, space: &Arc<Space>, scope: CacheScope, entry: FolderEntry) {
        // Whether a folder is there depends on the caller as soon as anything in the space is restricted.
        self.private |= scope == CacheScope::Private || space.has_restricted();
        if !self.spaces.iter().any(|known| known.id == space.id) {
            self.spaces.push(Arc::clone(space));
        }
        // The URI stands in the entry and in its text.
        self.bytes += 2 * entry.uri.len() + entry.line.len();
        self.entries.push(entry);
    }

    /// The listing, fresh as long as the least fresh of its spaces; `None` without an entry.
    fn contents(self, truncated: bool) -> Option<Contents> {
        let space = self.spaces.into_iter().min_by_key(|space| space.settings.ttl)?;
        let cache_scope = if self.private { CacheScope::Private } else { CacheScope::Public };
        let found = Found::Folder { entries: self.entries, truncated };
        Some(Contents { space, cache_scope, found, chunk_reads: 0 })
    }
}

/// `docs://handbook/a` and `docs://handbook/a/` are the same folder; without an authority there is none.
fn folder_prefix(uri: &str) -> Option<String> {
    let (_, rest) = uri.split_once("://")?;
    if rest.is_empty() || rest.starts_with('/') && rest.len() == 1 || uri.contains(['?', '#']) {
        return None;
    }
    Some(if uri.ends_with('/') { uri.to_owned() } else { format!("{uri}/") })
}

/// The space of the first resource beneath a prefix that the caller may see; looks at `budget` records at most and
/// takes off what it looked at.
pub(crate) fn first_visible(
    shared: &Shared,
    view: &View<'_>,
    catalog: &SpaceCatalog,
    prefix: &str,
    access: &Access,
    budget: &mut usize,
) -> Result<Option<(Arc<Space>, CacheScope)>> {
    let mut scan = view.scan(Cf::Descriptors, prefix.as_bytes(), prefix.as_bytes())?;
    while *budget > 0 {
        *budget -= 1;
        let Some((found, value)) = scan.item()? else {
            break;
        };
        let uri = std::str::from_utf8(found).unwrap_or_default();
        let (space, acl) = read_visibility(value)?;
        if let Some((space, cache_scope)) = shared.visible(catalog, space, acl, uri, access)? {
            return Ok(Some((Arc::clone(space), cache_scope)));
        }
        scan.advance();
    }
    Ok(None)
}

/// Title (or name) and description of a child, on one line.
fn descriptive_line(descriptor: &Descriptor) -> String {
    let title = descriptor.title().or_else(|| descriptor.name()).unwrap_or_default();
    let line = match descriptor.description() {
        Some(description) => format!("{title}: {description}"),
        None => title,
    };
    line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LINE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_an_authority() {
        assert_eq!(folder_prefix("docs://h"), Some("docs://h/".into()));
        assert_eq!(folder_prefix("docs://h/a/"), Some("docs://h/a/".into()));
        assert_eq!(folder_prefix("file:///a"), Some("file:///a/".into()));
        for none in ["docs://", "docs:///", "doc:id", "docs://h/a?b=c", "docs://h/a#b"] {
            assert_eq!(folder_prefix(none), None, "{none}");
        }
    }
}
