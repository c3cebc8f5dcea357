//! PowerPoint presentations (ECMA-376 part 1, PresentationML).

use super::super::archive::Archive;
use super::super::text::TextBuilder;
use super::super::xml::{Node, walk_office};
use super::Document;

/// The text of the slides in order, then of the notes.
pub(in crate::extraction::readers) fn slides(
    mut archive: Archive<'_>,
    bytes_max: usize,
) -> Document {
    let mut text = TextBuilder::new(bytes_max);
    for part in ["ppt/slides/slide", "ppt/notesSlides/notesSlide", "ppt/diagrams/data"] {
        for name in archive.names(part, ".xml") {
            if let Some(xml) = archive.text(&name) {
                read(&xml, &mut text);
            }
        }
    }
    Document::with_properties(&mut archive, "docProps/core.xml", text)
}

fn read(xml: &str, text: &mut TextBuilder) {
    let mut in_text = false;
    walk_office(xml, |node| {
        match node {
            Node::Start(element) => match element.name {
                "t" => in_text = true,
                "br" => text.line(),
                _ => {}
            },
            Node::End(name) => match name {
                "t" => in_text = false,
                "p" => text.line(),
                "tc" => text.space(),
                _ => {}
            },
            Node::Text(piece) if in_text => text.push(&piece),
            Node::Text(_) => {}
        }
        !text.is_full()
    });
    text.line();
}
