//! Word documents (ECMA-376 part 1, WordprocessingML).

use super::super::archive::Archive;
use super::super::text::TextBuilder;
use super::super::xml::{Node, walk};
use super::Document;

/// The text of the body, then of notes and comments, then of headers and footers.
pub(in crate::extraction) fn word(mut archive: Archive<'_>, bytes_max: usize) -> Document {
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
    // What is there twice, for programs that do not know the first spelling.
    let mut fallbacks = 0_usize;
    walk(xml, |node| {
        match node {
            Node::Start(element) => match element.name {
                "t" => in_text = true,
                "Fallback" => fallbacks += 1,
                "tab" | "ptab" => text.space(),
                "br" | "cr" => text.line(),
                "noBreakHyphen" if fallbacks == 0 => text.push("-"),
                _ => {}
            },
            Node::End(name) => match name {
                "t" => in_text = false,
                "Fallback" => fallbacks = fallbacks.saturating_sub(1),
                "p" | "tr" => text.line(),
                "tc" => text.space(),
                _ => {}
            },
            Node::Text(piece) if in_text && fallbacks == 0 => text.push(&piece),
            Node::Text(_) => {}
        }
        !text.is_full()
    });
    text.line();
}
