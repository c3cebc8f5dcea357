//! The spaces as they are served: settings, matcher, counters. Immutable; a change makes a new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::access::Access;
use crate::completion::{Facts, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::resource::{Binding, Value};
use crate::space::{AliasClash, CacheScope, ListMode, SpaceId, SpaceSettings};
use crate::store::codec::{Reader, Writer};
use crate::store::key::meta;
use crate::store::value::Counts;
use crate::store::{Cf, Store};
use crate::uri_template::{TemplateMatcher, TemplateSet, UriTemplate};

/// Up to this many resources, `ListMode::Auto` lists all of a space.
pub const AUTO_LIST_RESOURCES_MAX: u64 = 1_000;
/// How many spaces a store may hold.
pub const SPACE_COUNT_MAX: usize = 10_000;

/// A space as it is served.
#[derive(Debug)]
pub struct Space {
    /// Its number.
    pub id: SpaceId,
    /// What is configured of it.
    pub settings: SpaceSettings,
    /// Its template, ready to match.
    pub matcher: Arc<TemplateMatcher>,
    /// What completion keeps of it.
    pub(crate) completion: Arc<Plan>,
    /// Being removed: no longer served, its resources go step by step.
    pub(crate) removing: bool,
    counts: Arc<SpaceCounters>,
}

#[derive(Debug, Default)]
struct SpaceCounters {
    resources: AtomicU64,
    restricted: AtomicU64,
}

impl Space {
    /// A space from its settings; the template must be one that can be matched.
    pub(crate) fn new(id: SpaceId, settings: SpaceSettings, removing: bool) -> Result<Space> {
        let matcher = compile(&settings)?;
        let completion = Arc::new(Plan::new(matcher.template()));
        let matcher = Arc::new(matcher);
        Ok(Space { id, settings, matcher, completion, removing, counts: Arc::default() })
    }

    /// The same space with other settings; counters go on.
    pub(crate) fn with(&self, settings: SpaceSettings, removing: bool) -> Result<Space> {
        let space = Space::new(self.id, settings, removing)?;
        Ok(Space { counts: Arc::clone(&self.counts), ..space })
    }

    /// The values by which completion finds a resource of this space; `None` when the template does not match its URI.
    pub(crate) fn facts(&self, uri: &str) -> Option<Facts> {
        self.matcher.match_uri(uri).map(|bindings| self.completion.facts(&bindings))
    }

    /// How many resources are behind the template.
    pub fn resource_count(&self) -> u64 {
        self.counts.resources.load(Ordering::Relaxed)
    }

    /// How many of them have no ACL.
    pub fn open_count(&self) -> u64 {
        self.resource_count().saturating_sub(self.counts.restricted.load(Ordering::Relaxed))
    }

    /// Whether any of them has an ACL.
    pub fn has_restricted(&self) -> bool {
        self.counts.restricted.load(Ordering::Relaxed) > 0
    }

    /// `cacheScope` of replies about the space: private as soon as anything in it has an ACL.
    pub fn cache_scope(&self) -> CacheScope {
        if self.has_restricted() { CacheScope::Private } else { self.settings.cache_scope }
    }

    /// Whether `resources/list` shows only pinned resources and the root folder.
    ///
    /// Decided on what the caller may see, as far as the counters tell: hidden resources change nothing for a caller
    /// without groups.
    pub fn lists_pinned_only(&self, access: &Access) -> bool {
        let count = if access.has_groups() { self.resource_count() } else { self.open_count() };
        match self.settings.list {
            ListMode::Auto => count > AUTO_LIST_RESOURCES_MAX,
            ListMode::Pinned => true,
            ListMode::All | ListMode::None => false,
        }
    }

    /// Whether the caller may use the space and, where some of its variables must have certain values, this URI has them.
    /// ACLs are another matter.
    pub fn allows(&self, uri: &str, access: &Access) -> bool {
        let name = &self.settings.name;
        if !access.sees_space(name) {
            return false;
        }
        let mut required = access.required_in(name).peekable();
        if required.peek().is_none() {
            return true;
        }
        let Some(bindings) = self.matcher.match_uri(uri) else {
            return false;
        };
        required.all(|required| {
            bindings.iter().filter(|binding| binding.name == required.variable).any(|binding| {
                match &binding.value {
                    Value::String(value) => required.values.contains(value),
                    Value::List(_) | Value::Map(_) => false,
                }
            })
        })
    }

    pub(crate) fn set_counts(&self, counts: Counts) {
        self.counts.resources.store(counts.resources, Ordering::Relaxed);
        self.counts.restricted.store(counts.restricted, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            resources: self.resource_count(),
            restricted: self.counts.restricted.load(Ordering::Relaxed),
        }
    }
}

fn compile(settings: &SpaceSettings) -> Result<TemplateMatcher> {
    let name_fits = !settings.name.is_empty()
        && settings.name.len() <= 64
        && settings
            .name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b));
    if !name_fits {
        return Err(Error::new(
            ErrorKind::InvalidRecord,
            format!("space `{}`", settings.name),
            "a space's name is 1 to 64 of a-z, 0-9, `-` and `_`",
        ));
    }
    UriTemplate::parse(&settings.uri_template).and_then(|template| template.matcher()).map_err(
        |error| {
            Error::new(
                ErrorKind::InvalidTemplate,
                format!("space `{}`", settings.name),
                error.to_string(),
            )
        },
    )
}

/// All spaces, oldest first, with the index that finds the ones a URI may belong to.
pub struct SpaceCatalog {
    /// The spaces that are served, oldest first.
    pub spaces: Vec<Arc<Space>>,
    removing: Vec<Arc<Space>>,
    templates: TemplateSet,
}

impl SpaceCatalog {
    pub(crate) fn new(all: impl IntoIterator<Item = Arc<Space>>) -> SpaceCatalog {
        let (mut removing, mut spaces): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|space| space.removing);
        spaces.sort_by_key(|space| space.id);
        removing.sort_by_key(|space| space.id);
        let templates =
            TemplateSet::new(spaces.iter().map(|space| (space.id, Arc::clone(&space.matcher))));
        SpaceCatalog { spaces, removing, templates }
    }

    /// The spaces of a store, with their counters.
    pub(crate) fn load(store: &Store) -> Result<SpaceCatalog> {
        let view = store.view();
        let mut scan = view.scan(Cf::Spaces, b"", b"")?;
        let mut spaces = Vec::new();
        while let Some((space_key, value)) = scan.item()? {
            let id = SpaceId(Reader::new(space_key, "space key").u32()?);
            let (settings, removing) = decode_settings(value)?;
            let space = Space::new(id, settings, removing)?;
            if let Some(counts) = view.get(Cf::Meta, &meta::counts(id))? {
                space.set_counts(Counts::decode(&counts)?);
            }
            spaces.push(Arc::new(space));
            scan.advance();
        }
        Ok(SpaceCatalog::new(spaces))
    }

    /// A space by number.
    pub fn get(&self, id: SpaceId) -> Option<&Arc<Space>> {
        let at = self.spaces.binary_search_by_key(&id, |space| space.id).ok()?;
        self.spaces.get(at)
    }

    /// A space by name.
    pub fn by_name(&self, name: &str) -> Option<&Arc<Space>> {
        self.spaces.iter().find(|space| space.settings.name == name)
    }

    /// The same, where there must be one.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn named(&self, name: &str) -> Result<&Arc<Space>> {
        self.by_name(name).ok_or_else(|| {
            let detail = "there is no such space; `pressmark space list` shows them";
            Error::new(ErrorKind::NotFound, format!("space `{name}`"), detail)
        })
    }

    /// The spaces whose template matches, the most specific first.
    pub fn matches<'a>(
        &'a self,
        uri: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<Space>, Vec<Binding>)> + 'a {
        self.templates.matches(uri).filter_map(|(id, bindings)| Some((self.get(id)?, bindings)))
    }

    /// Other spellings of a normalised URI that hosts take for the same, see
    /// [`delimiter_spellings`](crate::resource_uri::delimiter_spellings): literal text of templates stands as it is.
    pub fn delimiter_spellings(&self, uri: &str) -> Vec<String> {
        let mut spellings = Vec::new();
        for literal_bytes in self.templates.prefix_bytes(uri) {
            for spelling in crate::resource_uri::delimiter_spellings(uri, literal_bytes) {
                if !spellings.contains(&spelling) {
                    spellings.push(spelling);
                }
            }
        }
        spellings
    }

    /// The spaces that are no longer served and whose resources are still being removed.
    pub fn removing(&self) -> &[Arc<Space>] {
        &self.removing
    }

    pub(crate) fn everything(&self) -> impl Iterator<Item = &Arc<Space>> {
        self.spaces.iter().chain(&self.removing)
    }
}

impl std::fmt::Debug for SpaceCatalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceCatalog").field("spaces", &self.spaces.len()).finish_non_exhaustive()
    }
}

const LAYOUT: u8 = 1;

/// The value of a space in the store.
pub(crate) fn encode_settings(settings: &SpaceSettings, removing: bool) -> Vec<u8> {
    let mut writer = Writer::default();
    writer
        .u8(LAYOUT)
        .u8(u8::from(removing))
        .bytes(settings.name.as_bytes())
        .bytes(settings.uri_template.as_bytes())
        .optional(settings.title.as_deref().map(str::as_bytes))
        .optional(settings.description.as_deref().map(str::as_bytes))
        .optional(settings.mime_type.as_deref().map(str::as_bytes))
        .u8(match settings.list {
            ListMode::Auto => 0,
            ListMode::All => 1,
            ListMode::Pinned => 2,
            ListMode::None => 3,
        })
        .u64(u64::try_from(settings.ttl.as_millis()).unwrap_or(u64::MAX))
        .u8(match settings.cache_scope {
            CacheScope::Public => 0,
            CacheScope::Private => 1,
        })
        .u8(match settings.alias_clash {
            AliasClash::Refuse => 0,
            AliasClash::Warn => 1,
        });
    writer.finish()
}

/// Settings and whether the space is being removed.
pub(crate) fn decode_settings(value: &[u8]) -> Result<(SpaceSettings, bool)> {
    let mut reader = Reader::new(value, "space");
    if reader.u8()? != LAYOUT {
        return Err(reader.corrupt("its layout is not known"));
    }
    let removing = reader.u8()? != 0;
    let mut settings = SpaceSettings::new(reader.str()?, reader.str()?);
    settings.title = reader.optional_str()?.map(str::to_owned);
    settings.description = reader.optional_str()?.map(str::to_owned);
    settings.mime_type = reader.optional_str()?.map(str::to_owned);
    settings.list = match reader.u8()? {
        0 => ListMode::Auto,
        1 => ListMode::All,
        2 => ListMode::Pinned,
        3 => ListMode::None,
        other => return Err(reader.corrupt(&format!("list mode {other}"))),
    };
    settings.ttl = Duration::from_millis(reader.u64()?);
    settings.cache_scope = match reader.u8()? {
        0 => CacheScope::Public,
        1 => CacheScope::Private,
        other => return Err(reader.corrupt(&format!("cache scope {other}"))),
    };
    settings.alias_clash = match reader.u8()? {
        0 => AliasClash::Refuse,
        1 => AliasClash::Warn,
        other => return Err(reader.corrupt(&format!("alias clash {other}"))),
    };
    reader.finish()?;
    Ok((settings, removing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn settings_come_back() {
        let mut settings = SpaceSettings::new("pypi", "pypi://packages/{name}");
        settings.title = Some("Packages".into());
        settings.list = ListMode::Pinned;
        settings.cache_scope = CacheScope::Private;
        settings.alias_clash = AliasClash::Warn;
        assert_eq!(decode_settings(&encode_settings(&settings, true)).unwrap(), (settings, true));
    }

    #[test]
    fn names_are_checked() {
        for name in ["", "A", "a b", "a/b", &"x".repeat(65)] {
            let error =
                Space::new(SpaceId(1), SpaceSettings::new(name, "a://b/{c}"), false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidRecord, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_settings_or_an_error(bytes: Vec<u8>) {
            let _ = decode_settings(&bytes);
        }
    }
}
