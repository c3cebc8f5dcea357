//! XML, read in passing and leniently: what comes after a fault is not read, what came before it counts.
//!
//! Entities that a document declares are not expanded, so that none can grow.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::text::TextBuilder;

/// What is met in a document, with names that have lost their prefixes.
pub(super) enum Node<'a> {
    Start(Element<'a>),
    End(&'a str),
    Text(Cow<'a, str>),
}

/// A start tag.
pub(super) struct Element<'a> {
    pub(super) name: &'a str,
    tag: &'a BytesStart<'a>,
}

/// Hands over the nodes of a document until `each` says that it has seen enough.
pub(super) fn walk(xml: &str, mut each: impl FnMut(Node<'_>) -> bool) {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    while let Ok(event) = reader.read_event() {
        let goes_on = match event {
            Event::Start(tag) => {
                each(Node::Start(Element { name: local(tag.name().0), tag: &tag }))
            }
            Event::Empty(tag) => {
                let name = tag.name();
                each(Node::Start(Element { name: local(name.0), tag: &tag }))
                    && each(Node::End(local(name.0)))
            }
            Event::End(tag) => each(Node::End(local(tag.name().0))),
            Event::Text(text) => each(Node::Text(text.into_inner())),
            Event::CData(text) => each(Node::Text(text.into_inner())),
            Event::GeneralRef(reference) => each(Node::Text(resolved(&reference))),
            Event::Eof => return,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => true,
        };
        if !goes_on {
            return;
        }
    }
}

/// Like [`walk`], for Office Open XML: of what a document holds in several spellings (`mc:AlternateContent`), the first.
pub(super) fn walk_office(xml: &str, mut each: impl FnMut(Node<'_>) -> bool) {
    // For each content with alternatives that is open: whether one was seen.
    let mut seen: Vec<bool> = Vec::new();
    // How deep in an alternative that is left out.
    let mut left_out = 0_usize;
    walk(xml, |node| {
        match &node {
            Node::Start(element) => match element.name {
                "Choice" | "Fallback" if left_out > 0 => left_out += 1,
                "Choice" | "Fallback" => match seen.last_mut() {
                    Some(seen) if *seen => left_out = 1,
                    Some(seen) => *seen = true,
                    None => {}
                },
                "AlternateContent" if left_out == 0 => seen.push(false),
                _ => {}
            },
            Node::End("Choice" | "Fallback") if left_out > 0 => {
                left_out -= 1;
                return true;
            }
            Node::End("AlternateContent") if left_out == 0 => {
                seen.pop();
            }
            Node::End(_) | Node::Text(_) => {}
        }
        left_out > 0 || each(node)
    });
}

/// The words of all elements, each on a line of its own.
pub(super) fn words(xml: &str, bytes_max: usize) -> String {
    let mut text = TextBuilder::new(bytes_max);
    let mut in_style = false;
    walk(xml, |node| {
        match node {
            Node::Start(element) => in_style = matches!(element.name, "style" | "script"),
            Node::End(_) => in_style = false,
            Node::Text(piece) if !in_style => {
                text.push(&piece);
                return !text.is_full();
            }
            Node::Text(_) => return true,
        }
        text.line();
        true
    });
    text.finish()
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// What a reference stands for: a character by number, or one of the five that XML knows, or of those that HTML knows.
fn resolved(reference: &BytesRef<'_>) -> Cow<'static, str> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => Cow::Owned(character.to_string()),
        Ok(None) | Err(_) => {
            let name = format!("&{};", &**reference);
            Cow::Owned(html_escape::decode_html_entities(&name).into_owned())
        }
    }
}

// === impl Element ===

impl Element<'_> {
    /// The value of an attribute, by its name without prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let found = self
            .tag
            .attributes()
            .with_checks(false)
            .flatten()
            .find(|attribute| local(attribute.key.0) == name)?;
        Some(html_escape::decode_html_entities(&found.value).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_and_faults_end_it() {
        for (xml, expected) in [
            (
                "<svg><title>A &amp; B</title><text>c&#233;&eacute;&own;</text><path d='M0'/></svg>",
                "A & B\ncéé&own;",
            ),
            ("<a><![CDATA[x < y]]></a>", "x < y"),
            ("<svg><style>.a{}</style><text>t</text></svg>", "t"),
            ("<a>one</b>two</a></a>three", "one\ntwo\nthree"),
            ("<a>one<b two", "one"),
            ("<!DOCTYPE a [<!ENTITY e 'eeee'>]><a>&e;</a>", "&e;"),
            ("", ""),
        ] {
            assert_eq!(words(xml, 1000), expected, "{xml}");
        }
    }

    #[test]
    fn attributes_are_read_without_prefixes() {
        let mut found = None;
        walk("<x:a y:b=\"1 &lt; 2\" c='d'/>", |node| {
            if let Node::Start(element) = node {
                found = element.attribute("b");
            }
            true
        });
        assert_eq!(found.as_deref(), Some("1 < 2"));
    }
}
