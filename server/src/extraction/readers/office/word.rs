//! Word documents (ECMA-376 part 1, WordprocessingML).

use super::super::archive::Archive;
use super::super::text::TextBuilder;
use super::super::xml::{Node, walk_office};
use super::Document;

/// The text of the body, then of notes and comments, then of headers and footers.
pub(in crate::extraction::readers) fn word(mut archive: Archive<'_>, bytes_max: usize) -> Document {
    let mut text = TextBuilder::new(bytes_max);
    for part in ["document", "footnotes", "endnotes", "comments", "header", "footer"] {
        for name in archive.names(&format!("word/{part}"), ".xml") {
            if let Some(xml) = archive.text(&name) {
                read(&xml, &mut text);
            }
        }
    }
    Document::with_properties(&mut archive, "docProps/core.xml", text)
}

fn read(xml: &str, text: &mut TextBuilder) {
    let mut in_text = false;
    // What stands somewhere else now; what was deleted is in elements of another name.
    let mut moved = 0_usize;
    walk_office(xml, |node| {
        match node {
            Node::Start(element) => match element.name {
                "t" => in_text = true,
                "moveFrom" => moved += 1,
                "rt" => text.begin_aside(),
                "tab" | "ptab" if moved == 0 => text.space(),
                "br" | "cr" if moved == 0 => text.line(),
                "noBreakHyphen" if moved == 0 => text.push("-"),
                _ => {}
            },
            Node::End(name) => match name {
                "t" => in_text = false,
                "moveFrom" => moved = moved.saturating_sub(1),
                "rt" => text.end_aside(),
                "p" | "tr" => {
                    text.end_aside();
                    text.line();
                }
                "tc" => text.space(),
                _ => {}
            },
            Node::Text(piece) if in_text && moved == 0 => text.push(&piece),
            Node::Text(_) => {}
        }
        !text.is_full()
    });
    text.end_aside();
    text.line();
}
