//! A space: one template together with its settings and all resources behind it.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::prepare::{DESCRIPTION_BYTES_MAX, is_mime_type};
use crate::uri_template::UriTemplate;

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

/// The longest time for which a client may take a reply as fresh.
pub const TTL_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl SpaceSettings {
    /// What is asked of a space that is put, beside a name and a template that are such. Spaces that a store has already
    /// are taken as they are.
    pub(crate) fn check(&self) -> Result<()> {
        let subject = || format!("space `{}`", self.name);
        let template = UriTemplate::parse(&self.uri_template);
        template.and_then(|template| template.check_scheme()).map_err(|error| {
            Error::new(ErrorKind::InvalidTemplate, subject(), error.to_string())
        })?;
        let refuse = |kind, detail| Err(Error::new(kind, subject(), detail));
        if let Some(bad) = self.mime_type.as_deref().filter(|text| !is_mime_type(text)) {
            let detail = format!("its MIME type is `{bad}`; it has the form `type/subtype`");
            return refuse(ErrorKind::InvalidRecord, detail);
        }
        if self.ttl > TTL_MAX {
            let seconds = (self.ttl.as_secs(), TTL_MAX.as_secs());
            let detail = format!("its ttl is {} seconds; at most {}, a year", seconds.0, seconds.1);
            return refuse(ErrorKind::LimitExceeded, detail);
        }
        let texts = [&self.title, &self.description, &self.mime_type];
        let bytes: usize = texts.into_iter().flatten().map(String::len).sum();
        if bytes > DESCRIPTION_BYTES_MAX {
            let detail = format!(
                "{bytes} bytes in title, description and MIME type; at most {DESCRIPTION_BYTES_MAX}"
            );
            return refuse(ErrorKind::LimitExceeded, detail);
        }
        Ok(())
    }

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
