//! The `Resource` of lists, encoded once as segments, so that each revision gets the fields it knows.

use super::{WireFields, json_text, role};
use crate::error::Result;
use crate::moment::rfc_3339;
use crate::resource::{Annotations, RawJson, Resource, Role};
use crate::space::SpaceId;
use crate::store::codec::{Reader, Writer};
use crate::store::value::AclId;

const LAYOUT: u8 = 1;

/// A field of the descriptor, in the order in which it goes on the wire.
mod segment {
    pub(super) const URI: u8 = 1;
    pub(super) const NAME: u8 = 2;
    pub(super) const TITLE: u8 = 3;
    pub(super) const DESCRIPTION: u8 = 4;
    pub(super) const MIME_TYPE: u8 = 5;
    pub(super) const SIZE: u8 = 6;
    /// Annotations for revisions without `lastModified`.
    pub(super) const ANNOTATIONS: u8 = 7;
    pub(super) const TIMED_ANNOTATIONS: u8 = 8;
    pub(super) const ICONS: u8 = 9;
    pub(super) const META: u8 = 10;
}

/// What is said of a resource beside its contents, after defaults are filled in.
pub(crate) struct Description<'a> {
    pub(crate) uri: &'a str,
    pub(crate) name: &'a str,
    pub(crate) mime_type: Option<&'a str>,
    pub(crate) size: Option<u64>,
    pub(crate) resource: &'a Resource,
}

/// Encodes a descriptor with what decides who may see it.
pub(crate) fn encode(space: SpaceId, acl: AclId, description: &Description<'_>) -> Vec<u8> {
    let resource = description.resource;
    let mut writer = Writer::with_capacity(256);
    writer.u8(LAYOUT).u32(space.0).u32(acl.0);
    let mut string = |id, before: &str, text: Option<&str>| {
        if let Some(text) = text {
            let mut json = before.as_bytes().to_vec();
            json_text::string_into(text, &mut json);
            writer.u8(id).bytes(&json);
        }
    };
    string(segment::URI, "{\"uri\":", Some(description.uri));
    string(segment::NAME, ",\"name\":", Some(description.name));
    string(segment::TITLE, ",\"title\":", resource.title.as_deref());
    string(segment::DESCRIPTION, ",\"description\":", resource.description.as_deref());
    string(segment::MIME_TYPE, ",\"mimeType\":", description.mime_type);
    if let Some(size) = description.size {
        writer.u8(segment::SIZE).bytes(format!(",\"size\":{size}").as_bytes());
    }
    for (id, timed) in [(segment::ANNOTATIONS, false), (segment::TIMED_ANNOTATIONS, true)] {
        if let Some(json) = annotations(&resource.annotations, timed) {
            writer.u8(id).bytes(&json);
        }
    }
    if let Some(icons) = &resource.icons {
        writer.u8(segment::ICONS).bytes(format!(",\"icons\":{}", icons.0).as_bytes());
    }
    if let Some(meta) = &resource.meta {
        writer.u8(segment::META).bytes(format!(",\"_meta\":{}", meta.0).as_bytes());
    }
    writer.finish()
}

/// Puts the ACL into an encoded descriptor: its number is known only when it is written.
pub(crate) fn set_acl(descriptor: &mut [u8], acl: AclId) {
    if let Some(place) = descriptor.get_mut(5..9) {
        place.copy_from_slice(&acl.0.to_be_bytes());
    }
}

fn annotations(annotations: &Annotations, timed: bool) -> Option<Vec<u8>> {
    let mut json = Vec::new();
    if !annotations.audience.is_empty() {
        let roles: Vec<&[u8]> = annotations.audience.iter().map(|who| role(*who)).collect();
        json.extend_from_slice(b",\"audience\":[");
        json.extend_from_slice(&roles.join(&b','));
        json.push(b']');
    }
    if let Some(priority) = annotations.priority {
        json.extend_from_slice(format!(",\"priority\":{priority}").as_bytes());
    }
    if let Some(modified) = annotations.last_modified.filter(|_| timed).and_then(rfc_3339) {
        json.extend_from_slice(format!(",\"lastModified\":\"{modified}\"").as_bytes());
    }
    let fields = json.get(1..)?;
    Some([b",\"annotations\":{", fields, b"}"].concat())
}

/// A descriptor as it is stored.
#[derive(Debug, Clone)]
pub struct Descriptor {
    bytes: Vec<u8>,
}

impl Descriptor {
    /// Takes a stored value after checking that it can be written out.
    pub(crate) fn from_stored(bytes: Vec<u8>) -> Result<Descriptor> {
        let descriptor = Descriptor { bytes };
        let mut segments = descriptor.segments()?;
        while segments.next()?.is_some() {}
        Ok(descriptor)
    }

    /// The value as it is stored.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A descriptor of a folder-like URI, which no record stands behind.
    pub(crate) fn of_folder(
        uri: &str,
        name: &str,
        title: Option<&str>,
        description: Option<&str>,
    ) -> Descriptor {
        let resource = Resource {
            space: String::new(),
            address: crate::resource::Address::Uri(uri.to_owned()),
            name: None,
            title: title.map(str::to_owned),
            description: description.map(str::to_owned),
            mime_type: None,
            contents: Vec::new(),
            annotations: Annotations::default(),
            size: None,
            icons: None,
            meta: None,
            pinned: false,
            acl: None,
            source: None,
        };
        let description = Description {
            uri,
            name,
            mime_type: Some(FOLDER_MIME_TYPE),
            size: None,
            resource: &resource,
        };
        Descriptor { bytes: encode(SpaceId(0), AclId::NONE, &description) }
    }

    fn segments(&self) -> Result<Segments<'_>> {
        let mut reader = Reader::new(&self.bytes, "descriptor");
        match reader.u8()? {
            LAYOUT => {}
            other => return Err(reader.corrupt(&format!("layout {other} is not known"))),
        }
        reader.raw(8)?;
        Ok(Segments { reader })
    }

    /// Appends the `Resource` with the fields that the reader knows.
    pub fn write(&self, fields: WireFields, out: &mut Vec<u8>) {
        self.write_segments(fields, |_| true, out);
        out.push(b'}');
    }

    /// Appends all members but `uri`, each behind a comma: for an object that points to the resource.
    pub fn write_after_uri(&self, fields: WireFields, out: &mut Vec<u8>) {
        self.write_segments(fields, |id| id != segment::URI, out);
    }

    fn write_segments(&self, fields: WireFields, is_asked: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
        let Ok(mut segments) = self.segments() else {
            return;
        };
        while let Ok(Some((id, json))) = segments.next() {
            let wanted = match id {
                segment::TITLE => fields.title,
                segment::ICONS => fields.icons,
                segment::META => fields.meta,
                segment::ANNOTATIONS => !fields.last_modified,
                segment::TIMED_ANNOTATIONS => fields.last_modified,
                _ => true,
            };
            if wanted && is_asked(id) {
                out.extend_from_slice(json);
            }
        }
    }

    /// How many bytes `write` appends at most.
    pub fn encoded_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn text(&self, wanted: u8) -> Option<String> {
        let mut segments = self.segments().ok()?;
        while let Ok(Some((id, json))) = segments.next() {
            if id == wanted {
                let start = memchr::memchr(b':', json)? + 2;
                return json_text::unescape(json.get(start..json.len().checked_sub(1)?)?);
            }
        }
        None
    }

    pub(crate) fn name(&self) -> Option<String> {
        self.text(segment::NAME)
    }

    pub(crate) fn title(&self) -> Option<String> {
        self.text(segment::TITLE)
    }

    pub(crate) fn description(&self) -> Option<String> {
        self.text(segment::DESCRIPTION)
    }

    pub(crate) fn mime_type(&self) -> Option<String> {
        self.text(segment::MIME_TYPE)
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.json(segment::SIZE)?.parse().ok()
    }

    pub(crate) fn icons(&self) -> Option<RawJson> {
        self.json(segment::ICONS).map(|json| RawJson(json.to_owned()))
    }

    pub(crate) fn meta(&self) -> Option<RawJson> {
        self.json(segment::META).map(|json| RawJson(json.to_owned()))
    }

    /// Annotations without `lastModified`, which the head has.
    pub(crate) fn annotations(&self) -> Annotations {
        let json = self.json(segment::ANNOTATIONS).unwrap_or_default();
        // Written by `annotations` alone: roles are the only strings in it, and `priority` the only number.
        let audience = [(Role::User, "\"user\""), (Role::Assistant, "\"assistant\"")];
        let mut audience: Vec<(usize, Role)> = audience
            .into_iter()
            .filter_map(|(who, spelled)| json.find(spelled).map(|at| (at, who)))
            .collect();
        audience.sort_by_key(|(at, _)| *at);
        let priority = json.split_once("\"priority\":").and_then(|(_, rest)| {
            rest.trim_end_matches('}').split(',').next().and_then(|number| number.parse().ok())
        });
        Annotations {
            audience: audience.into_iter().map(|(_, who)| who).collect(),
            priority,
            last_modified: None,
        }
    }

    /// The value of a field, as it goes on the wire.
    fn json(&self, wanted: u8) -> Option<&str> {
        let mut segments = self.segments().ok()?;
        while let Ok(Some((id, json))) = segments.next() {
            if id == wanted {
                let start = memchr::memchr(b':', json)? + 1;
                return std::str::from_utf8(json.get(start..)?).ok();
            }
        }
        None
    }

    /// The bytes that a change of `lastModified` alone leaves as they are, for the content hash.
    pub(crate) fn hash_into(&self, hasher: &mut blake3::Hasher) -> Result<()> {
        let mut segments = self.segments()?;
        while let Some((id, json)) = segments.next()? {
            if id != segment::TIMED_ANNOTATIONS {
                hasher.update(&[id]).update(json);
            }
        }
        Ok(())
    }

    /// Space and ACL: who may see it.
    pub(crate) fn visibility(&self) -> Result<(SpaceId, AclId)> {
        let mut reader = Reader::new(&self.bytes, "descriptor");
        reader.u8()?;
        Ok((SpaceId(reader.u32()?), AclId(reader.u32()?)))
    }
}

/// MIME type of folder-like entries (XDG shared MIME info).
pub(crate) const FOLDER_MIME_TYPE: &str = "inode/directory";

struct Segments<'a> {
    reader: Reader<'a>,
}

impl<'a> Segments<'a> {
    fn next(&mut self) -> Result<Option<(u8, &'a [u8])>> {
        if self.reader.is_at_end() {
            return Ok(None);
        }
        Ok(Some((self.reader.u8()?, self.reader.bytes()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(fields: WireFields, wanted: &Expect) {
        let mut resource = Resource {
            space: "s".into(),
            address: crate::resource::Address::Uri("a://b/c".into()),
            name: None,
            title: Some("A \"title\"".into()),
            description: Some("line".into()),
            mime_type: None,
            contents: Vec::new(),
            annotations: Annotations {
                audience: vec![crate::resource::Role::User, crate::resource::Role::Assistant],
                priority: Some(0.8),
                last_modified: Some(1_736_694_058_000),
            },
            size: None,
            icons: Some(crate::resource::RawJson("[]".into())),
            meta: Some(crate::resource::RawJson("{\"a\":1}".into())),
            pinned: false,
            acl: None,
            source: None,
        };
        resource.name = Some("c".into());
        let description = Description {
            uri: "a://b/c",
            name: "c",
            mime_type: Some("text/plain"),
            size: Some(12),
            resource: &resource,
        };
        let stored = encode(SpaceId(1), AclId::NONE, &description);
        let descriptor = Descriptor::from_stored(stored).unwrap();
        let mut out = Vec::new();
        descriptor.write(fields, &mut out);
        serde_json::from_slice::<serde_json::Value>(&out).unwrap();
        wanted.assert_eq(std::str::from_utf8(&out).unwrap());
        assert_eq!(descriptor.title().unwrap(), "A \"title\"");
        assert_eq!(descriptor.size(), Some(12));
        assert_eq!(descriptor.mime_type().unwrap(), "text/plain");
    }

    #[test]
    fn each_revision_gets_the_fields_it_knows() {
        check(
            WireFields { title: false, icons: false, meta: false, last_modified: false },
            &expect![[
                r#"{"uri":"a://b/c","name":"c","description":"line","mimeType":"text/plain","size":12,"annotations":{"audience":["user","assistant"],"priority":0.8}}"#
            ]],
        );
        check(
            WireFields { title: true, icons: true, meta: true, last_modified: true },
            &expect![[
                r#"{"uri":"a://b/c","name":"c","title":"A \"title\"","description":"line","mimeType":"text/plain","size":12,"annotations":{"audience":["user","assistant"],"priority":0.8,"lastModified":"2025-01-12T15:00:58Z"},"icons":[],"_meta":{"a":1}}"#
            ]],
        );
    }
}
