//! Title and language of a document: the Dublin Core terms that all formats use.

use super::super::xml::{Node, walk};

#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) title: Option<String>,
    pub(super) language: Option<String>,
}

/// A title longer than this is none.
const VALUE_BYTES_MAX: usize = 1024;

/// The first title and the first language of an XML document.
pub(super) fn read(xml: &str) -> Properties {
    let mut properties = Properties::default();
    let mut value: Option<(bool, String)> = None;
    walk(xml, |node| {
        match node {
            Node::Start(element) => {
                value = match element.name {
                    "title" => Some((true, String::new())),
                    "language" => Some((false, String::new())),
                    _ => None,
                }
            }
            Node::Text(piece) => {
                if let Some((_, text)) =
                    value.as_mut().filter(|(_, text)| text.len() < VALUE_BYTES_MAX)
                {
                    text.push_str(&piece);
                }
            }
            Node::End(_) => {
                if let Some((is_title, text)) = value.take() {
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    let place =
                        if is_title { &mut properties.title } else { &mut properties.language };
                    if !text.is_empty() && place.is_none() {
                        *place = Some(text);
                    }
                }
            }
        }
        true
    });
    properties
}
