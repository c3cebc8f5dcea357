//! OpenDocument texts, sheets, presentations and drawings (ISO/IEC 26300).

use super::super::archive::Archive;
use super::super::text::TextBuilder;
use super::super::xml::{Node, walk};
use super::Document;

/// The text of the content, whatever kind of document it is.
pub(in crate::extraction::readers) fn open_document(
    mut archive: Archive<'_>,
    bytes_max: usize,
) -> Document {
    let mut text = TextBuilder::new(bytes_max);
    if let Some(xml) = archive.text("content.xml") {
        read(&xml, &mut text);
    }
    Document::with_properties(&mut archive, "meta.xml", text)
}

/// Notes within notes that are told apart.
const ASIDES_MAX: usize = 64;

fn read(xml: &str, text: &mut TextBuilder) {
    // Text stands in paragraphs and headings only, which may hold notes with paragraphs of their own.
    let mut paragraphs = 0_usize;
    // What was deleted while changes were recorded.
    let mut deletions = 0_usize;
    // Notes and remarks within a paragraph, each with how many paragraphs it is within.
    let mut asides: Vec<usize> = Vec::new();
    walk(xml, |node| {
        match node {
            Node::Start(element) => match element.name {
                "p" | "h" => {
                    paragraphs += 1;
                    text.line();
                }
                "deletion" => deletions += 1,
                "ruby-text" => text.begin_aside(),
                // What says who wrote a remark stands beside its paragraphs.
                "annotation" | "note" if asides.len() < ASIDES_MAX => {
                    asides.push(std::mem::take(&mut paragraphs));
                    text.begin_aside();
                }
                "s" | "tab" => text.space(),
                "line-break" => text.line(),
                "table" => {
                    if let Some(name) = element.attribute("name").filter(|_| paragraphs == 0) {
                        text.line();
                        text.push(&name);
                        text.line();
                    }
                }
                _ => {}
            },
            Node::End(name) => match name {
                "p" | "h" => {
                    paragraphs = paragraphs.saturating_sub(1);
                    text.line();
                }
                "deletion" => deletions = deletions.saturating_sub(1),
                "ruby-text" if asides.is_empty() => text.end_aside(),
                "annotation" | "note" => {
                    paragraphs = asides.pop().unwrap_or(paragraphs);
                    if asides.is_empty() {
                        text.end_aside();
                    }
                }
                _ => {}
            },
            Node::Text(piece) if paragraphs > 0 && deletions == 0 => text.push(&piece),
            Node::Text(_) => {}
        }
        !text.is_full()
    });
}
