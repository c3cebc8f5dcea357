//! The resources that the suite reads, lists and watches.

use std::time::Duration;

use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Body, Resource};
use pressmark_index::space::{ListMode, SpaceSettings};

/// A picture of one red pixel.
pub(crate) const PNG: &[u8] = &[
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xDE, 0x00, 0x00, 0x00, 0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0xF8, 0xCF, 0xC0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0xF7, 0x03, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E,
    0x44, 0xAE, 0x42, 0x60, 0x82,
];

pub(crate) fn spaces() -> [SpaceSettings; 2] {
    [
        SpaceSettings {
            title: Some("Fixed resources".to_owned()),
            list: ListMode::All,
            ttl: Duration::from_secs(60),
            ..SpaceSettings::new("static", "test://{name}")
        },
        SpaceSettings {
            title: Some("Resources behind a template".to_owned()),
            mime_type: Some("application/json".to_owned()),
            list: ListMode::All,
            ..SpaceSettings::new("template", "test://template/{id}/data")
        },
    ]
}

pub(crate) fn all() -> Vec<Mutation> {
    let mut binary = text("static-binary", "image/png", "");
    for part in &mut binary.contents {
        part.body = Body::Blob(PNG.to_vec());
    }
    let data = r#"{"id": "123", "templateTest": true, "data": "Data for ID: 123"}"#;
    let templated = Address::Uri("test://template/123/data".to_owned());
    [
        text("static-text", "text/plain", "This is the content of the static text resource."),
        binary,
        text("watched-resource", "text/plain", "watched"),
        text("example-resource", "text/plain", "Embedded resource content for testing."),
        text("embedded-resource", "text/plain", "This is an embedded resource content."),
        Resource::text("template", templated, "application/json", data),
    ]
    .map(|resource| Mutation::Put(Box::new(resource)))
    .into()
}

fn text(name: &str, mime_type: &str, text: &str) -> Resource {
    let address = Address::Uri(format!("test://{name}"));
    Resource { name: Some(name.to_owned()), ..Resource::text("static", address, mime_type, text) }
}
