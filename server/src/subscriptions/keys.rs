//! Under which keys a subscription stands, and which keys a change looks at.
//!
//! A subscription and a read find the same resource: what a read would answer under another spelling (query variables in
//! another order, escapes that the host has undone, a part `#line=`) is watched under the spelling that changes carry.
//! Resources may come later, so a subscription is resolved by rules and not by what is stored now.

use std::sync::Arc;

use pressmark_index::{
    catalog::SpaceCatalog,
    error::{Error, ErrorKind, Result},
    fragment, resource_uri,
};

/// One key of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchKey {
    /// The URI without the slash at its end: a folder is one folder with and without it.
    pub(super) key: Arc<str>,
    /// Whether changes beneath the URI are heard as well.
    pub(super) folder: bool,
}

/// The keys of a subscribed URI.
///
/// # Errors
/// What makes it no URI of any resource.
pub(super) fn of_subscription(catalog: &SpaceCatalog, uri: &str) -> Result<Vec<WatchKey>> {
    let normal = resource_uri::normalise(uri)?;
    if !resource_uri::has_scheme(&normal) {
        let detail = "it has no scheme, such as `docs://`, so that no resource can have it";
        return Err(Error::new(ErrorKind::InvalidUri, uri, detail));
    }
    let mut keys = Vec::with_capacity(1);
    add_spellings(catalog, &normal, true, &mut keys);
    if let (base, Some(part)) = fragment::split(&normal)
        && fragment::parse(part).is_ok()
    {
        add_spellings(catalog, base, false, &mut keys);
    }
    Ok(keys)
}

fn add_spellings(catalog: &SpaceCatalog, normal: &str, folder: bool, keys: &mut Vec<WatchKey>) {
    add(normal, folder, keys);
    for (space, bindings) in catalog.matches(normal) {
        if let Ok(canonical) = space.matcher.expand_canonical(&bindings) {
            add(&canonical, folder, keys);
        }
    }
    for candidate in resource_uri::alias_candidates(normal) {
        add(&candidate, folder, keys);
    }
    for spelling in catalog.delimiter_spellings(normal) {
        add(&spelling, folder, keys);
    }
}

fn add(uri: &str, folder: bool, keys: &mut Vec<WatchKey>) {
    let key = without_slash(uri);
    if !keys.iter().any(|known| *known.key == *key) {
        keys.push(WatchKey { key: key.into(), folder });
    }
}

/// A key that a change looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look<'a> {
    /// Subscriptions to the changed resource itself, with or without the slash that hosts add or strip.
    Exact { key: &'a str },
    /// Subscriptions to a folder above it.
    Above { key: &'a str },
}

/// The keys that a change of `uri` looks at, `alias` being the spelling that hosts make of it.
pub(super) fn of_change<'a>(
    uri: &'a str,
    alias: Option<&'a str>,
) -> impl Iterator<Item = Look<'a>> {
    std::iter::once(uri).chain(alias).map(exact).chain(folders_above(uri))
}

fn exact(uri: &str) -> Look<'_> {
    Look::Exact { key: without_slash(uri) }
}

/// The folders that a listing shows the resource in, or beneath: as the engine sees folders, they have an authority and
/// end before a query.
fn folders_above(uri: &str) -> impl Iterator<Item = Look<'_>> {
    let path_end = uri.find(['?', '#']).unwrap_or(uri.len());
    let path = uri.get(..path_end).unwrap_or(uri);
    let authority_at = path.find("://").map_or(path.len(), |at| at + 3);
    path.match_indices('/')
        .map(|(at, _)| at)
        .filter(move |at| *at > authority_at && at + 1 < uri.len())
        .map(move |at| Look::Above { key: without_slash(uri.get(..=at).unwrap_or(uri)) })
}

/// Only one slash, and none of those that follow a scheme.
fn without_slash(uri: &str) -> &str {
    match uri.strip_suffix('/') {
        Some(rest) if !rest.ends_with('/') && !uri.contains(['?', '#']) => rest,
        Some(_) | None => uri,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> (tempfile::TempDir, Arc<SpaceCatalog>) {
        use pressmark_index::{engine, space::SpaceSettings, writer::Durability};
        let dir = tempfile::tempdir().unwrap();
        let options = engine::EngineOptions {
            block_cache_bytes: 1 << 20,
            hot_cache_bytes: 0,
            completion_memory_entries: 128 * 1_024,
            completion_cache_bytes: 1 << 20,
            full_text: None,
            durability: Durability::Sync,
            change_log_retention: std::time::Duration::from_secs(60),
            owner: "a test".into(),
        };
        let engine = engine::Engine::open(dir.path(), &options).unwrap();
        engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
        engine.put_space(SpaceSettings::new("query", "query://h/x{?a,b}")).unwrap();
        let spaces = engine.spaces();
        (dir, spaces)
    }

    /// Whether a change of `changed` reaches a subscription to `subscribed`, and as what.
    fn reaches(catalog: &SpaceCatalog, subscribed: &str, changed: &str) -> &'static str {
        let keys = of_subscription(catalog, subscribed).unwrap();
        let alias = resource_uri::alias_of(changed);
        let mut reached = "not";
        for look in of_change(changed, alias.as_deref()) {
            for known in &keys {
                match look {
                    Look::Exact { key } if *known.key == *key => return "exact",
                    Look::Above { key } if *known.key == *key && known.folder => reached = "above",
                    Look::Exact { .. } | Look::Above { .. } => {}
                }
            }
        }
        reached
    }

    #[test]
    fn a_change_reaches_what_a_read_would_answer() {
        let (_dir, catalog) = catalog();
        for (subscribed, changed, expected) in [
            ("docs://h/a.md", "docs://h/a.md", "exact"),
            ("DOCS://H/a.md", "docs://h/a.md", "exact"),
            ("docs://h/a.md#line=0,10", "docs://h/a.md", "exact"),
            ("docs://h/a.md#other", "docs://h/a.md", "not"),
            ("docs://h/a.md", "docs://h/a.md2", "not"),
            ("docs://h/a", "docs://h/a/b.md", "above"),
            ("docs://h/a/", "docs://h/a/b/c/d.md", "above"),
            ("docs://h", "docs://h/a/b.md", "above"),
            ("docs://h/", "docs://h/a", "above"),
            ("docs://h/a", "docs://h/ab/c", "not"),
            ("docs://h/a/", "docs://h/a", "exact"),
            ("docs://h/a", "docs://h/a/", "exact"),
            ("docs://h/a/b.md", "docs://h/a", "not"),
            ("docs://h/a#line=0,10", "docs://h/a/b.md", "not"),
            ("docs://h/a/b.md", "docs://h/a%2Fb.md", "exact"),
            ("docs://h/50%.md", "docs://h/50%25.md", "exact"),
            ("docs://h/a(1).md", "docs://h/a%281%29.md", "exact"),
            ("docs://h/a%281%29.md", "docs://h/a(1).md", "exact"),
            ("docs://h/a+(1).md", "docs://h/a%2B%281%29.md", "exact"),
            ("docs://h/a(1).md", "docs://h/a(2).md", "not"),
            ("query://h/x?b=1&a=2", "query://h/x?a=2&b=1", "exact"),
            ("query://h", "query://h/x?a=2/3", "above"),
            ("query://h/x", "query://h/x?a=2/3", "not"),
            ("file:///a", "file:///a/b", "above"),
            ("file:///", "file:///a/b", "not"),
            ("docs://", "docs://h/a", "not"),
        ] {
            assert_eq!(reaches(&catalog, subscribed, changed), expected, "{subscribed} {changed}");
        }
    }

    #[test]
    fn most_subscriptions_have_one_key() {
        let (_dir, catalog) = catalog();
        assert_eq!(of_subscription(&catalog, "docs://h/a/b.md").unwrap().len(), 1);
    }

    #[test]
    fn what_can_be_no_resource_is_refused() {
        let (_dir, catalog) = catalog();
        for (uri, refused) in [
            ("", true),
            ("%%%", true),
            ("notes/today.md", true),
            ("//h/a", true),
            ("#line=0,10", true),
            ("1docs://h/a", true),
            ("do cs://h/a", true),
            ("docs://h/%E9", true),
            ("docs:", false),
            ("docs:a", false),
            ("other://nobody/has", false),
            ("docs://h/100%", false),
        ] {
            assert_eq!(of_subscription(&catalog, uri).is_err(), refused, "{uri:?}");
        }
    }
}
