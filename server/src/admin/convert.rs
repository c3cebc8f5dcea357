//! Messages of the plane to what the engine takes, and back.

use std::time::Duration;

use pressmark_index::catalog::SpaceCatalog;
use pressmark_index::error::{TEXT_BYTES_MAX, quoted, shortened};
use pressmark_index::mutation::{Change, ChangeKind, Mutation};
use pressmark_index::resource::{
    Address, Annotations, Binding, Body, Part, RawJson, Resource, Role, UnixMillis, Value,
};
use pressmark_index::space::{AliasClash, CacheScope, ListMode, SpaceSettings};
use pressmark_index::stored::StoredResource;
use pressmark_proto::v1;
use prost_types::Timestamp;
use serde_json::value::RawValue;
use tonic::Status;

use super::ingest::index;
use crate::loading::fields::{self, RecordError};
use crate::loading::json_fields;

/// A mutation that cannot be handed to the engine.
pub(super) struct Wrong {
    uri: String,
    field: &'static str,
    reason: String,
}

impl Wrong {
    pub(super) fn refusal(self, place: usize) -> v1::Refusal {
        let reason = format!("{}: {}", self.field, self.reason);
        refusal(place, &self.uri, v1::RefusalKind::Invalid, &reason)
    }
}

/// The one way to a refusal: its texts are bounded, whatever was sent.
pub(super) fn refusal(place: usize, uri: &str, kind: v1::RefusalKind, reason: &str) -> v1::Refusal {
    v1::Refusal {
        index: index(place),
        uri: quoted(uri).into_owned(),
        kind: kind.into(),
        reason: shortened(reason, TEXT_BYTES_MAX).into_owned(),
    }
}

// === to the engine ===

pub(super) fn mutation(mutation: v1::Mutation) -> Result<Mutation, Wrong> {
    use v1::mutation::Change;
    let then = match mutation.change {
        Some(Change::Put(record)) => {
            let uri = record.uri.clone();
            resource(record)
                .map(|resource| Mutation::Put(Box::new(resource)))
                .map_err(|(field, reason)| Wrong { uri, field, reason })?
        }
        Some(Change::DeleteUri(uri)) => Mutation::Delete { uri },
        None => {
            let reason = "a mutation needs `put` or `delete_uri`".to_owned();
            return Err(Wrong { uri: String::new(), field: "change", reason });
        }
    };
    Ok(match mutation.expected_version {
        Some(expected) => Mutation::IfVersion { expected, then: Box::new(then) },
        None => then,
    })
}

type Fault = (&'static str, String);

fn resource(record: v1::Resource) -> Result<Resource, Fault> {
    let uri = Some(record.uri).filter(|uri| !uri.is_empty());
    let variables: Vec<_> = record.variables.into_iter().map(binding).collect::<Result<_, _>>()?;
    let address = fields::address(uri, Some(variables).filter(|variables| !variables.is_empty()))
        .map_err(|error| ("uri", error.reason))?;
    let audience = record.audience.into_iter().map(role).collect::<Result<_, _>>()?;
    let last_modified = record.last_modified.as_ref().map(millis).transpose()?;
    Ok(Resource {
        space: record.space,
        address,
        name: record.name,
        title: record.title,
        description: record.description,
        mime_type: record.mime_type,
        contents: record.contents.into_iter().map(part).collect::<Result<_, _>>()?,
        annotations: Annotations { audience, priority: record.priority, last_modified },
        size: record.size,
        icons: record
            .icons_json
            .map(|json| checked("icons_json", json, json_fields::icons))
            .transpose()?,
        meta: record.meta_json.map(|json| checked("meta_json", json, meta)).transpose()?,
        pinned: record.pinned,
        acl: record.acl.map(|acl| acl.groups),
        source: None,
    })
}

fn meta(raw: &RawValue) -> Result<RawJson, RecordError> {
    json_fields::meta(raw, "meta_json")
}

/// JSON that goes on the wire is checked as `pressmark load` checks it.
fn checked(
    field: &'static str,
    json: String,
    check: fn(&RawValue) -> Result<RawJson, RecordError>,
) -> Result<RawJson, Fault> {
    let raw = RawValue::from_string(json).map_err(|error| (field, error.to_string()))?;
    check(&raw).map_err(|error| (field, error.reason))
}

fn binding(binding: v1::Binding) -> Result<Binding, Fault> {
    use v1::binding::Value as Sent;
    let value = match binding.value {
        Some(Sent::Text(text)) => Value::String(text),
        Some(Sent::List(list)) => Value::List(list.items),
        Some(Sent::Map(map)) => {
            Value::Map(map.pairs.into_iter().map(|pair| (pair.name, pair.value)).collect())
        }
        None => return Err(("variables", format!("`{}` has no value", binding.name))),
    };
    Ok(Binding { name: binding.name, value })
}

fn part(part: v1::Part) -> Result<Part, Fault> {
    use v1::part::Body as Sent;
    let body = match part.body {
        Some(Sent::Text(text)) => Body::Text(text),
        Some(Sent::Blob(bytes)) => Body::Blob(bytes.into()),
        None => return Err(("contents", "a part needs `text` or `blob`".to_owned())),
    };
    let meta = part.meta_json.map(|json| checked("contents", json, meta)).transpose()?;
    Ok(Part { uri: part.uri, mime_type: part.mime_type, meta, body })
}

fn role(role: i32) -> Result<Role, Fault> {
    match v1::Role::try_from(role) {
        Ok(v1::Role::User) => Ok(Role::User),
        Ok(v1::Role::Assistant) => Ok(Role::Assistant),
        Ok(v1::Role::Unspecified) | Err(_) => {
            Err(("audience", format!("{role} is no role: ROLE_USER or ROLE_ASSISTANT")))
        }
    }
}

fn millis(time: &Timestamp) -> Result<UnixMillis, Fault> {
    let whole = time.seconds.checked_mul(1_000);
    let millis = whole.and_then(|whole| whole.checked_add(i64::from(time.nanos / 1_000_000)));
    millis
        .filter(|_| (0..1_000_000_000).contains(&time.nanos))
        .ok_or_else(|| ("last_modified", "it is no point in time".to_owned()))
}

pub(super) fn settings(space: v1::Space) -> Result<SpaceSettings, Status> {
    let unknown = |field: &str, number: i32| {
        Status::invalid_argument(format!("space.{field}: {number} is none that this server knows"))
    };
    let mut settings = SpaceSettings::new(space.name, space.uri_template);
    settings.title = space.title;
    settings.description = space.description;
    settings.mime_type = space.mime_type;
    let list = v1::ListMode::try_from(space.list).map_err(|_| unknown("list", space.list))?;
    settings.list = match list {
        v1::ListMode::Unspecified => ListMode::Auto,
        v1::ListMode::All => ListMode::All,
        v1::ListMode::Pinned => ListMode::Pinned,
        v1::ListMode::None => ListMode::None,
    };
    let cache_scope = v1::CacheScope::try_from(space.cache_scope)
        .map_err(|_| unknown("cache_scope", space.cache_scope))?;
    settings.cache_scope = match cache_scope {
        v1::CacheScope::Unspecified | v1::CacheScope::Public => CacheScope::Public,
        v1::CacheScope::Private => CacheScope::Private,
    };
    let alias_clash = v1::AliasClash::try_from(space.alias_clash)
        .map_err(|_| unknown("alias_clash", space.alias_clash))?;
    settings.alias_clash = match alias_clash {
        v1::AliasClash::Unspecified | v1::AliasClash::Refuse => AliasClash::Refuse,
        v1::AliasClash::Warn => AliasClash::Warn,
    };
    if let Some(ttl) = space.ttl {
        settings.ttl = duration(&ttl).ok_or_else(|| {
            Status::invalid_argument(
                "space.ttl: it needs seconds from 0 and nanos from 0 to 999,999,999",
            )
        })?;
    }
    Ok(settings)
}

/// A time span to the millisecond, as it is stored.
fn duration(sent: &prost_types::Duration) -> Option<Duration> {
    let seconds = Duration::from_secs(u64::try_from(sent.seconds).ok()?);
    let nanos = u32::try_from(sent.nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    seconds.checked_add(Duration::from_millis(u64::from(nanos / 1_000_000)))
}

// === from the engine ===

pub(super) fn space(settings: &SpaceSettings) -> v1::Space {
    let list = match settings.list {
        ListMode::Auto => v1::ListMode::Unspecified,
        ListMode::All => v1::ListMode::All,
        ListMode::Pinned => v1::ListMode::Pinned,
        ListMode::None => v1::ListMode::None,
    };
    let cache_scope = match settings.cache_scope {
        CacheScope::Public => v1::CacheScope::Public,
        CacheScope::Private => v1::CacheScope::Private,
    };
    let alias_clash = match settings.alias_clash {
        AliasClash::Refuse => v1::AliasClash::Refuse,
        AliasClash::Warn => v1::AliasClash::Warn,
    };
    v1::Space {
        name: settings.name.clone(),
        uri_template: settings.uri_template.clone(),
        title: settings.title.clone(),
        description: settings.description.clone(),
        mime_type: settings.mime_type.clone(),
        list: list.into(),
        ttl: prost_types::Duration::try_from(settings.ttl).ok(),
        cache_scope: cache_scope.into(),
        alias_clash: alias_clash.into(),
    }
}

pub(super) fn stored(stored: StoredResource, spaces: &SpaceCatalog) -> v1::StoredResource {
    let resource = stored.resource;
    let bindings = match &resource.address {
        Address::Uri(uri) => {
            let space = spaces.by_name(&resource.space);
            space.and_then(|space| space.matcher.match_uri(uri)).unwrap_or_default()
        }
        Address::Variables(variables) | Address::Both { variables, .. } => variables.clone(),
    };
    v1::StoredResource {
        version: stored.version,
        sequence: stored.sequence,
        committed: Some(time(stored.committed)),
        resource: Some(sent_resource(resource, bindings)),
    }
}

/// A put, as the server that takes it reads it.
pub(super) fn sent_put(resource: Resource) -> v1::Mutation {
    let put = sent_resource(resource, Vec::new());
    v1::Mutation { expected_version: None, change: Some(v1::mutation::Change::Put(put)) }
}

/// A resource with the values that its URI has for the template's variables, if those are to be sent too.
fn sent_resource(resource: Resource, bindings: Vec<Binding>) -> v1::Resource {
    let (uri, bindings) = match resource.address {
        Address::Uri(uri) => (uri, bindings),
        Address::Variables(bindings) => (String::new(), bindings),
        Address::Both { uri, variables } => (uri, variables),
    };
    v1::Resource {
        space: resource.space,
        uri,
        variables: bindings.into_iter().map(sent_binding).collect(),
        name: resource.name,
        title: resource.title,
        description: resource.description,
        mime_type: resource.mime_type,
        contents: resource.contents.into_iter().map(sent_part).collect(),
        audience: resource.annotations.audience.into_iter().map(sent_role).collect(),
        priority: resource.annotations.priority,
        last_modified: resource.annotations.last_modified.map(time),
        size: resource.size,
        icons_json: resource.icons.map(|json| json.0),
        meta_json: resource.meta.map(|json| json.0),
        pinned: resource.pinned,
        acl: resource.acl.map(|groups| v1::AccessList { groups }),
    }
}

fn sent_binding(binding: Binding) -> v1::Binding {
    use v1::binding::Value as Sent;
    let value = match binding.value {
        Value::String(text) => Sent::Text(text),
        Value::List(items) => Sent::List(v1::TextList { items }),
        Value::Map(pairs) => {
            let pairs = pairs.into_iter().map(|(name, value)| v1::TextPair { name, value });
            Sent::Map(v1::TextMap { pairs: pairs.collect() })
        }
    };
    v1::Binding { name: binding.name, value: Some(value) }
}

fn sent_part(part: Part) -> v1::Part {
    use v1::part::Body as Sent;
    let body = match part.body {
        Body::Text(text) => Sent::Text(text),
        Body::Blob(bytes) => Sent::Blob(bytes.into()),
    };
    v1::Part {
        uri: part.uri,
        mime_type: part.mime_type,
        meta_json: part.meta.map(|json| json.0),
        body: Some(body),
    }
}

fn sent_role(role: Role) -> i32 {
    match role {
        Role::User => v1::Role::User.into(),
        Role::Assistant => v1::Role::Assistant.into(),
    }
}

pub(super) fn change(change: Change, spaces: &SpaceCatalog) -> v1::Change {
    let kind = match change.kind {
        ChangeKind::Created => v1::ChangeKind::Created,
        ChangeKind::Updated => v1::ChangeKind::Updated,
        ChangeKind::Deleted => v1::ChangeKind::Deleted,
    };
    let space = spaces.get(change.space).map(|space| space.settings.name.clone());
    let acl = |groups: Option<std::sync::Arc<[String]>>| {
        groups.map(|groups| v1::AccessList { groups: groups.to_vec() })
    };
    v1::Change {
        sequence: change.sequence,
        kind: kind.into(),
        uri: change.uri,
        space: space.unwrap_or_default(),
        version: change.version,
        committed: Some(time(change.committed)),
        old_acl: acl(change.old_acl),
        new_acl: acl(change.new_acl),
    }
}

pub(super) fn time(millis: UnixMillis) -> Timestamp {
    let nanos = millis.rem_euclid(1_000) * 1_000_000;
    Timestamp { seconds: millis.div_euclid(1_000), nanos: i32::try_from(nanos).unwrap_or(0) }
}
