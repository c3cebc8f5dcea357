//! Excel workbooks (ECMA-376 part 1, SpreadsheetML).
//!
//! Cells are read one after the other, so that two cells far apart cost no table between them.

use super::super::archive::Archive;
use super::super::text::TextBuilder;
use super::super::xml::{Node, walk};
use super::Document;

/// The sheets' names, then their cells row by row, then comments.
pub(in crate::extraction) fn sheets(mut archive: Archive<'_>, bytes_max: usize) -> Document {
    let mut text = TextBuilder::new(bytes_max);
    if let Some(workbook) = archive.text("xl/workbook.xml") {
        names(&workbook, &mut text);
    }
    let shared = archive.text("xl/sharedStrings.xml").map(|xml| shared_strings(&xml, bytes_max));
    let shared = shared.unwrap_or_default();
    for name in archive.names("xl/worksheets/", ".xml") {
        if let Some(xml) = archive.text(&name) {
            cells(&xml, &shared, &mut text);
        }
    }
    for name in archive.names("xl/comments", ".xml") {
        if let Some(xml) = archive.text(&name) {
            for comment in shared_strings(&xml, bytes_max) {
                text.push(&comment);
                text.line();
            }
        }
    }
    Document::with_properties(&mut archive, "docProps/core.xml", text)
}

fn names(workbook: &str, text: &mut TextBuilder) {
    walk(workbook, |node| {
        if let Node::Start(element) = node
            && element.name == "sheet"
            && let Some(name) = element.attribute("name")
        {
            text.push(&name);
            text.line();
        }
        !text.is_full()
    });
}

/// The texts of `si` or `comment` elements, in order. Readings of Chinese characters (`rPh`) are not part of them.
fn shared_strings(xml: &str, bytes_max: usize) -> Vec<String> {
    let mut strings = Vec::new();
    let mut bytes = 0;
    let mut text = String::new();
    let (mut in_text, mut in_reading) = (false, false);
    walk(xml, |node| {
        match node {
            Node::Start(element) => match element.name {
                "t" => in_text = true,
                "rPh" => in_reading = true,
                "si" | "comment" => text.clear(),
                _ => {}
            },
            Node::End(name) => match name {
                "t" => in_text = false,
                "rPh" => in_reading = false,
                "si" | "comment" => {
                    bytes += text.len();
                    strings.push(std::mem::take(&mut text));
                }
                _ => {}
            },
            Node::Text(piece) if in_text && !in_reading => text.push_str(&piece),
            Node::Text(_) => {}
        }
        bytes + text.len() < bytes_max
    });
    strings
}

/// What the value of a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The number of a shared string.
    Shared,
    /// Text or a number, as it stands.
    Literal,
    /// `TRUE`, or an error.
    Other,
}

fn cells(xml: &str, shared: &[String], text: &mut TextBuilder) {
    let mut kind = Kind::Literal;
    let mut value: Option<String> = None;
    walk(xml, |node| {
        match node {
            Node::Start(element) => match element.name {
                "c" => {
                    kind = match element.attribute("t").as_deref() {
                        Some("s") => Kind::Shared,
                        Some("b" | "e") => Kind::Other,
                        _ => Kind::Literal,
                    }
                }
                "v" | "t" => value = Some(String::new()),
                _ => {}
            },
            Node::End(name) => match name {
                "v" | "t" => {
                    let value = value.take().unwrap_or_default();
                    match kind {
                        Kind::Shared => {
                            let found = value.trim().parse().ok();
                            let found = found.and_then(|at: usize| shared.get(at));
                            text.push(found.map_or("", String::as_str));
                        }
                        Kind::Literal => text.push(&value),
                        Kind::Other => {}
                    }
                }
                "c" => text.space(),
                "row" => text.line(),
                _ => {}
            },
            Node::Text(piece) => {
                if let Some(value) = &mut value {
                    value.push_str(&piece);
                }
            }
        }
        !text.is_full()
    });
    text.line();
}
