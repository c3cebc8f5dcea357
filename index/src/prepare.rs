//! From a resource to what will be stored of it, as far as that depends on nothing but the record and
//! its space. Runs on the caller's thread, so that many callers encode at once and the one writer
//! only decides and copies.

use std::sync::Arc;

use crate::acl::{ACL_GROUP_BYTES_MAX, ACL_GROUPS_MAX};
use crate::catalog::{Space, SpaceCatalog};
use crate::completion::Facts;
use crate::contents_fragment::descriptor::{self, Description, Descriptor};
use crate::contents_fragment::part::EncodedPart;
use crate::error::{Error, ErrorKind, Result};
use crate::resource::{Address, Binding, Resource, SourceMark, Value};
use crate::resource_uri;
use crate::space::SpaceSettings;
use crate::store::codec::Writer;
use crate::store::key::ListOrder;
use crate::store::value::AclId;
use crate::uri_template::Operator;

/// How many parts a resource may have.
pub const PART_COUNT_MAX: usize = 1_000;
/// How many raw bytes all parts of a resource may have.
pub const RESOURCE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How many bytes the descriptive fields may have together: they go into every list.
pub const DESCRIPTION_BYTES_MAX: usize = 64 * 1024;
/// The place in lists of a record without a priority.
const PRIORITY_DEFAULT: f64 = 0.5;

/// A resource ready for the writer.
#[derive(Debug)]
pub(crate) struct PreparedPut {
    pub(crate) space: Arc<Space>,
    pub(crate) uri: String,
    /// The undone spelling, where it is another.
    pub(crate) alias: Option<String>,
    /// Sorted, without doubles.
    pub(crate) acl: Option<Vec<String>>,
    pub(crate) order: ListOrder,
    /// By what completion finds it.
    pub(crate) facts: Arc<Facts>,
    pub(crate) source: Option<SourceMark>,
    pub(crate) hash: [u8; 16],
    /// Encoded with no ACL; the writer puts the number in.
    pub(crate) descriptor: Vec<u8>,
    /// The parts as they stand in the contents value.
    pub(crate) parts_value: Vec<u8>,
    /// For the `chunks` column family: the chunks of each part.
    pub(crate) parts: Vec<EncodedPart>,
}

/// Checks and encodes a record.
pub(crate) fn prepare(catalog: &SpaceCatalog, resource: &Resource) -> Result<PreparedPut> {
    let space = catalog.by_name(&resource.space).ok_or_else(|| {
        let detail = format!(
            "there is no space `{}`: add it first (`pressmark space add`, or [[space]] in pressmark.toml)",
            resource.space
        );
        Error::new(ErrorKind::NotFound, resource.address.uri().unwrap_or_default(), detail)
    })?;
    let uri = mint(space, &resource.address)?;
    check_fields(&uri, resource)?;
    let mime_type = resource.mime_type.as_deref().or(space.settings.mime_type.as_deref());
    let parts: Vec<EncodedPart> =
        resource.contents.iter().map(|part| EncodedPart::new(part, mime_type)).collect();
    let parts_value = write_parts(&parts);
    let name = resource.name.clone().unwrap_or_else(|| resource_uri::last_segment(&uri));
    let measured =
        resource.contents.first().map(|part| u64::try_from(part.body.len()).unwrap_or(u64::MAX));
    let description = Description {
        uri: &uri,
        name: &name,
        mime_type: resource
            .contents
            .first()
            .and_then(|part| part.mime_type.as_deref())
            .filter(|_| resource.mime_type.is_none())
            .or(mime_type),
        size: resource.size.or(measured),
        resource,
    };
    let descriptor = descriptor::encode(space.id, AclId::NONE, &description);
    let acl = resource.acl.as_ref().map(|groups| {
        let mut groups = groups.clone();
        groups.sort_unstable();
        groups.dedup();
        groups
    });
    let order = list_order(resource);
    let descriptor = Descriptor::from_stored(descriptor)?;
    let hash =
        content_hash(&descriptor, &parts_value, chunk_bytes(&parts), acl.as_deref(), order.pinned)?;
    Ok(PreparedPut {
        space: Arc::clone(space),
        facts: Arc::new(space.facts(&uri).unwrap_or_default()),
        alias: resource_uri::alias_of(&uri),
        uri,
        acl,
        order,
        source: resource.source.clone(),
        hash,
        descriptor: descriptor.into_bytes(),
        parts_value,
        parts,
    })
}

fn chunk_bytes(parts: &[EncodedPart]) -> impl Iterator<Item = &[u8]> {
    parts.iter().flat_map(|part| part.chunks.iter().map(|chunk| chunk.bytes.as_slice()))
}

fn write_parts(parts: &[EncodedPart]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.u16(u16::try_from(parts.len()).unwrap_or(u16::MAX));
    for part in parts {
        part.write(&mut writer);
    }
    writer.finish()
}

/// Of all that a reader sees but `lastModified`: two records with the same hash are the same version.
pub(crate) fn content_hash<'a>(
    descriptor: &Descriptor,
    parts_value: &[u8],
    chunks: impl Iterator<Item = &'a [u8]>,
    acl: Option<&[String]>,
    pinned: bool,
) -> Result<[u8; 16]> {
    let mut hasher = blake3::Hasher::new();
    descriptor.hash_into(&mut hasher)?;
    hasher.update(parts_value);
    for chunk in chunks {
        hasher.update(chunk);
    }
    hasher.update(&[u8::from(pinned), u8::from(acl.is_some())]);
    for group in acl.unwrap_or_default() {
        hasher.update(group.as_bytes()).update(&[0]);
    }
    let mut hash = [0; 16];
    hasher.finalize_xof().fill(&mut hash);
    Ok(hash)
}

/// The one URI under which the record is stored; its bindings must come back from it. Errors are about the URI, as far as
/// there is one.
fn mint(space: &Space, address: &Address) -> Result<String> {
    match address {
        Address::Uri(uri) => minted_uri(space, uri),
        Address::Variables(bindings) => minted_variables(space, bindings, ""),
        Address::Both { uri, variables } => {
            let stored = minted_uri(space, uri)?;
            let expanded = minted_variables(space, variables, uri)?;
            if expanded == stored {
                return Ok(stored);
            }
            let detail = format!(
                "its variables are those of another URI, `{expanded}`: leave out one of the two"
            );
            Err(Error::new(ErrorKind::InvalidRecord, uri, detail))
        }
    }
}

fn minted_uri(space: &Space, uri: &str) -> Result<String> {
    let refuse = |detail: String| Error::new(ErrorKind::InvalidRecord, uri, detail);
    let stored = resource_uri::normalise_strict(uri)?;
    let SpaceSettings { name, uri_template, .. } = &space.settings;
    let bindings = space.matcher.match_uri(&stored).ok_or_else(|| {
        refuse(format!("the template `{uri_template}` of the space `{name}` does not match it"))
    })?;
    let expanded = expand(space, &bindings, uri)?;
    if expanded == stored {
        return Ok(stored);
    }
    Err(refuse(format!("its variables expand to another URI, `{expanded}`: write that one")))
}

fn minted_variables(space: &Space, bindings: &[Binding], uri: &str) -> Result<String> {
    let is_twice = |(at, binding): &(usize, &Binding)| {
        bindings.iter().take(*at).any(|before| before.name == binding.name)
    };
    if let Some((_, twice)) = bindings.iter().enumerate().find(is_twice) {
        let detail = format!("the variable `{}` stands twice", twice.name);
        return Err(Error::new(ErrorKind::InvalidRecord, uri, detail));
    }
    let template = space.matcher.template();
    let is_known = |binding: &&Binding| template.variables().any(|v| v.name == binding.name);
    if let Some(unknown) = bindings.iter().find(|binding| !is_known(binding)) {
        let (name, known) = (&unknown.name, template.variable_names());
        let detail = format!(
            "the template `{}` has no variable `{name}`; it has {known}",
            template.as_str()
        );
        return Err(Error::new(ErrorKind::InvalidRecord, uri, detail));
    }
    let bindings = &*space.matcher.spread(bindings);
    let uri = resource_uri::normalise_strict(&expand(space, bindings, uri)?)?;
    let back = space.matcher.match_uri(&uri).unwrap_or_default();
    match lost_binding(space, bindings, &back) {
        None => Ok(uri),
        Some(name) => {
            let detail = format!(
                "the variable `{name}` does not come back from the URI: given {}, read back {}",
                show(value_of(bindings, &name)),
                show(value_of(&back, &name))
            );
            Err(Error::new(ErrorKind::InvalidRecord, uri, detail))
        }
    }
}

fn expand(space: &Space, bindings: &[Binding], uri: &str) -> Result<String> {
    space
        .matcher
        .expand_canonical(bindings)
        .map_err(|error| Error::new(ErrorKind::InvalidRecord, uri, error.to_string()))
}

/// The first variable of the template whose value differs. Values of `{+x}` are compared by what they
/// expand to, since their spelling is normalised.
fn lost_binding(space: &Space, given: &[Binding], back: &[Binding]) -> Option<String> {
    let template = space.matcher.template();
    template
        .variables()
        .map(|variable| &variable.name)
        .find(|name| {
            let (given, back) = (value_of(given, name), value_of(back, name));
            given != back && !same_spelling(space, name, given, back)
        })
        .cloned()
}

fn same_spelling(space: &Space, name: &str, given: Option<&Value>, back: Option<&Value>) -> bool {
    let variable = space.matcher.template().variables().find(|variable| variable.name == name);
    let keeps_spelling = variable.is_some_and(|variable| {
        matches!(variable.operator, Operator::Reserved | Operator::Fragment)
    });
    let (Some(Value::String(given)), Some(Value::String(back))) = (given, back) else {
        return false;
    };
    let normal = |value: &str| {
        resource_uri::normalise(&format!("x://x/{value}")).map(|uri| uri.into_owned()).ok()
    };
    keeps_spelling && normal(given).is_some() && normal(given) == normal(back)
}

fn value_of<'a>(bindings: &'a [Binding], name: &str) -> Option<&'a Value> {
    bindings.iter().find(|binding| binding.name == name).map(|binding| &binding.value)
}

fn show(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(Value::List(items)) => format!("{items:?}"),
        Some(Value::Map(pairs)) => format!("{pairs:?}"),
    }
}

fn check_fields(uri: &str, resource: &Resource) -> Result<()> {
    let refuse = |kind, detail: String| Err(Error::new(kind, uri, detail));
    if resource.contents.is_empty() {
        return refuse(
            ErrorKind::InvalidRecord,
            "it has no contents: give `text`, `blob` or `contents`".into(),
        );
    }
    if resource.contents.len() > PART_COUNT_MAX {
        return refuse(
            ErrorKind::LimitExceeded,
            format!("{} parts; at most {PART_COUNT_MAX}", resource.contents.len()),
        );
    }
    let body_bytes: usize = resource.contents.iter().map(|part| part.body.len()).sum();
    if body_bytes > RESOURCE_BYTES_MAX {
        return refuse(
            ErrorKind::LimitExceeded,
            format!("{body_bytes} bytes; at most {RESOURCE_BYTES_MAX}"),
        );
    }
    let texts = [
        resource.name.as_deref(),
        resource.title.as_deref(),
        resource.description.as_deref(),
        resource.mime_type.as_deref(),
        resource.icons.as_ref().map(|json| json.0.as_str()),
        resource.meta.as_ref().map(|json| json.0.as_str()),
    ];
    let parts = resource.contents.iter().flat_map(|part| {
        [
            part.uri.as_deref(),
            part.mime_type.as_deref(),
            part.meta.as_ref().map(|json| json.0.as_str()),
        ]
    });
    let description_bytes: usize = texts.into_iter().chain(parts).flatten().map(str::len).sum();
    if description_bytes > DESCRIPTION_BYTES_MAX {
        return refuse(
            ErrorKind::LimitExceeded,
            format!(
                "{description_bytes} bytes in name, title, description, MIME types, icons, _meta and URIs of parts; at most {DESCRIPTION_BYTES_MAX}"
            ),
        );
    }
    let mime_types = resource.contents.iter().map(|part| part.mime_type.as_deref());
    if let Some(bad) =
        mime_types.chain([resource.mime_type.as_deref()]).flatten().find(|text| !is_mime_type(text))
    {
        return refuse(
            ErrorKind::InvalidRecord,
            format!("mimeType is `{bad}`; it has the form `type/subtype`"),
        );
    }
    for part_uri in resource.contents.iter().filter_map(|part| part.uri.as_deref()) {
        if part_uri.split_once(':').is_none_or(|(scheme, _)| !is_scheme(scheme)) {
            return refuse(
                ErrorKind::InvalidRecord,
                format!("a part's uri is `{part_uri}`, which is no URI"),
            );
        }
        if let Err(fault) = resource_uri::normalise(part_uri) {
            return refuse(
                fault.kind(),
                format!("a part's uri is `{part_uri}`: {}", fault.detail()),
            );
        }
    }
    if let Some(priority) = resource.annotations.priority.filter(|p| !(0.0..=1.0).contains(p)) {
        return refuse(
            ErrorKind::InvalidRecord,
            format!("priority is {priority}; it goes from 0.0 to 1.0"),
        );
    }
    if resource.acl.as_ref().is_some_and(|groups| groups.len() > ACL_GROUPS_MAX) {
        return refuse(
            ErrorKind::LimitExceeded,
            format!("its acl names more than {ACL_GROUPS_MAX} groups"),
        );
    }
    let group_fits = |group: &String| (1..=ACL_GROUP_BYTES_MAX).contains(&group.len());
    if let Some(group) = resource.acl.iter().flatten().find(|group| !group_fits(group)) {
        let detail = format!(
            "its acl names the group `{group}`; a name has 1 to {ACL_GROUP_BYTES_MAX} bytes"
        );
        return refuse(ErrorKind::InvalidRecord, detail);
    }
    Ok(())
}

/// `type/subtype`, with parameters or without (RFC 9110 section 8.3.1): printable ASCII on both sides of a slash.
pub(crate) fn is_mime_type(text: &str) -> bool {
    let is_token =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && essence
            .split_once('/')
            .is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// RFC 3986 section 3.1.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn list_order(resource: &Resource) -> ListOrder {
    let priority = resource.annotations.priority.unwrap_or(PRIORITY_DEFAULT);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be 0.0 to 1.0, so the product fits"
    )]
    let priority = (priority * f64::from(u16::MAX)).round() as u16;
    ListOrder {
        pinned: resource.pinned,
        priority,
        modified: resource.annotations.last_modified.unwrap_or(0),
    }
}
