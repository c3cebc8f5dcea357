//! A space: one template together with its settings and all resources behind it.

use std::time::Duration;

/// A space's number; never reused in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

/// What is configured of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceSettings {
    /// The name in commands and configuration: 1 to 64 of `[a-z0-9_-]`.
    pub name: String,
    /// An RFC 6570 template that can be matched.
    pub uri_template: String,
    /// For people.
    pub title: Option<String>,
    /// One line of what is in it, for people and models.
    pub description: Option<String>,
    /// The MIME type of its resources where a record has none.
    pub mime_type: Option<String>,
    /// What `resources/list` shows of it.
    pub list: ListMode,
    /// How long a client may take a reply as fresh.
    pub ttl: Duration,
    /// Whether replies may be shared between callers. Replies that touch an ACL are private all the same.
    pub cache_scope: CacheScope,
    /// What happens when two URIs would be one to a host that undoes escapes.
    pub alias_clash: AliasClash,
}

/// What `resources/list` shows of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListMode {
    /// All up to 1,000 resources, above that pinned ones and the root folder.
    Auto,
    /// Every resource.
    All,
    /// Pinned resources and the root folder.
    Pinned,
    /// Nothing.
    None,
}

/// `cacheScope` of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// Any cache may serve it to anyone.
    Public,
    /// Only for the same authorization.
    Private,
}

/// What to do when the undone spellings of two stored URIs meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasClash {
    /// Refuse the later record and name both.
    Refuse,
    /// Take it; the undone spelling then answers nothing, only the exact ones do.
    Warn,
}

impl SpaceSettings {
    /// The settings of a space of which only name and template are said.
    pub fn new(name: impl Into<String>, uri_template: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            uri_template: uri_template.into(),
            title: None,
            description: None,
            mime_type: None,
            list: ListMode::Auto,
            ttl: Duration::from_secs(60),
            cache_scope: CacheScope::Public,
            alias_clash: AliasClash::Refuse,
        }
    }
}
