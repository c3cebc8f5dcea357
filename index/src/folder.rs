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
use crate::store::{Cf, View, key};

/// A listing shows at most this many children; what is beyond is found by completion and search.
pub const FOLDER_ENTRIES_MAX: usize = 1_000;
/// How many records are looked at to find out whether a caller may see anything in a folder.
const VISIBILITY_PROBES_MAX: usize = 10_000;
/// The descriptive line of an entry is cut here, in characters.
const LINE_CHARS_MAX: usize = 240;

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
    let mut listing =
        Listing { entries: Vec::new(), bytes: 0, space: None, cache_scope: CacheScope::Public };
    let mut truncated = false;
    let mut scan = view.scan(Cf::Descriptors, prefix.as_bytes(), prefix.as_bytes())?;
    while let Some((found, value)) = scan.item()? {
        let child = std::str::from_utf8(found).unwrap_or_default();
        let rest = child.get(prefix.len()..).unwrap_or_default();
        if listing.entries.len() >= FOLDER_ENTRIES_MAX || listing.bytes > request.bytes_max {
            truncated = true;
            break;
        }
        match rest.split_once('/').filter(|(name, _)| !name.contains(['?', '#'])) {
            Some((name, _)) => {
                let folder = format!("{prefix}{name}/");
                let visible = first_visible(shared, view, catalog, &folder, request.access)?;
                listing.add(
                    visible,
                    FolderEntry {
                        uri: folder.clone(),
                        mime_type: Some(FOLDER_MIME_TYPE.to_owned()),
                        line: String::new(),
                    },
                );
                match key::after_prefix(folder.as_bytes()) {
                    Some(next) => scan.seek(&next),
                    None => break,
                }
            }
            None => {
                let descriptor = Descriptor::from_stored(value.to_vec())?;
                let (space, acl) = descriptor.visibility()?;
                let visible = shared.visible(catalog, space, acl, child, request.access)?;
                listing.add(
                    visible.map(|(space, scope)| (Arc::clone(space), scope)),
                    FolderEntry {
                        uri: child.to_owned(),
                        mime_type: descriptor.mime_type(),
                        line: descriptive_line(&descriptor),
                    },
                );
                scan.advance();
            }
        }
    }
    let Listing { entries, space, cache_scope, .. } = listing;
    Ok(space.map(|space| {
        // Whether a folder is there depends on the caller as soon as anything in the space is restricted.
        let cache_scope = if space.has_restricted() { CacheScope::Private } else { cache_scope };
        Contents { space, cache_scope, found: Found::Folder { entries, truncated }, chunk_reads: 0 }
    }))
}

struct Listing {
    entries: Vec<FolderEntry>,
    bytes: usize,
    space: Option<Arc<Space>>,
    cache_scope: CacheScope,
}

impl Listing {
    fn add(&mut self, visible: Option<(Arc<Space>, CacheScope)>, entry: FolderEntry) {
        let Some((space, cache_scope)) = visible else {
            return;
        };
        if cache_scope == CacheScope::Private {
            self.cache_scope = CacheScope::Private;
        }
        self.space.get_or_insert(space);
        self.bytes += entry.uri.len() + entry.line.len();
        self.entries.push(entry);
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

/// The space of the first resource beneath a prefix that the caller may see.
pub(crate) fn first_visible(
    shared: &Shared,
    view: &View<'_>,
    catalog: &SpaceCatalog,
    prefix: &str,
    access: &Access,
) -> Result<Option<(Arc<Space>, CacheScope)>> {
    let mut scan = view.scan(Cf::Descriptors, prefix.as_bytes(), prefix.as_bytes())?;
    for _ in 0..VISIBILITY_PROBES_MAX {
        let Some((found, value)) = scan.item()? else {
            break;
        };
        let uri = std::str::from_utf8(found).unwrap_or_default();
        let (space, acl) = crate::store::value::read_visibility(value)?;
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
