//! Excel workbooks (ECMA-376 part 1, SpreadsheetML).
//!
//! Cells are read one after the other, so that two cells far apart cost no table between them.

use super::super::archive::Archive;
use super::super::text::TextBuilder;
use super::super::xml::{Node, walk, walk_office};
use super::Document;

/// The sheets' names, then their cells row by row, then comments.
pub(in crate::extraction::readers) fn sheets(
    mut archive: Archive<'_>,
    bytes_max: usize,
) -> Document {
    let mut text = TextBuilder::new(bytes_max);
    if let Some(workbook) = archive.text("xl/workbook.xml") {
        names(&workbook, &mut text);
    }
    let shared = archive.text("xl/sharedStrings.xml").map(|xml| Strings::read(&xml, bytes_max));
    let shared = shared.unwrap_or_default();
    for name in archive.names("xl/worksheets/", ".xml") {
        if let Some(xml) = archive.text(&name) {
            cells(&xml, &shared, &mut text);
        }
    }
    for name in archive.names("xl/comments", ".xml") {
        if let Some(xml) = archive.text(&name) {
            let comments = Strings::read(&xml, bytes_max);
            for at in 0..comments.len() {
                comments.push(at, &mut text);
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

/// The texts of `si` or `comment` elements, in order, with the readings of Chinese characters (`rPh`) apart.
///
/// All are in one text, so that a string that is empty costs a few bytes and not an allocation.
#[derive(Default)]
struct Strings {
    text: String,
    /// For each string where it ends, and where its reading does.
    ends: Vec<(u32, u32)>,
}

impl Strings {
    /// Reads strings until they take `bytes_max`.
    fn read(xml: &str, bytes_max: usize) -> Self {
        let mut strings = Self::default();
        let mut reading = String::new();
        let (mut in_text, mut in_reading) = (false, false);
        walk_office(xml, |node| {
            match node {
                Node::Start(element) => match element.name {
                    "t" => in_text = true,
                    "rPh" => in_reading = true,
                    "si" | "comment" => {
                        strings.text.truncate(strings.end());
                        reading.clear();
                    }
                    _ => {}
                },
                Node::End(name) => match name {
                    "t" => in_text = false,
                    "rPh" => in_reading = false,
                    "si" | "comment" => strings.close(&mut reading),
                    _ => {}
                },
                Node::Text(piece) if in_text && in_reading => reading.push_str(&piece),
                Node::Text(piece) if in_text => strings.text.push_str(&piece),
                Node::Text(_) => {}
            }
            strings.bytes() + reading.len() < bytes_max
        });
        strings
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<(u32, u32)>()
    }

    /// Where the last string that is whole ends, with its reading.
    fn end(&self) -> usize {
        self.ends.last().map_or(0, |(_, end)| *end as usize)
    }

    fn close(&mut self, reading: &mut String) {
        let end = self.text.len();
        self.text.push_str(reading);
        reading.clear();
        if let (Ok(end), Ok(reading_end)) = (u32::try_from(end), u32::try_from(self.text.len())) {
            self.ends.push((end, reading_end));
        }
    }

    /// Adds the string of this number to a text.
    fn push(&self, at: usize, text: &mut TextBuilder) {
        let Some((end, reading_end)) = self.ends.get(at) else { return };
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.map_or(0, |(_, end)| *end as usize);
        let (end, reading_end) = (*end as usize, *reading_end as usize);
        text.push(self.text.get(start..end).unwrap_or_default());
        if end < reading_end {
            text.begin_aside();
            text.push(self.text.get(end..reading_end).unwrap_or_default());
            text.end_aside();
        }
    }
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

fn cells(xml: &str, shared: &Strings, text: &mut TextBuilder) {
    let mut kind = Kind::Literal;
    let mut value: Option<String> = None;
    walk_office(xml, |node| {
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
                "rPh" => text.begin_aside(),
                _ => {}
            },
            Node::End(name) => match name {
                "v" | "t" => {
                    let value = value.take().unwrap_or_default();
                    match kind {
                        Kind::Shared => {
                            if let Ok(at) = value.trim().parse() {
                                shared.push(at, text);
                            }
                        }
                        Kind::Literal => text.push(&value),
                        Kind::Other => {}
                    }
                }
                "rPh" => text.end_aside(),
                "c" => {
                    text.end_aside();
                    text.space();
                }
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
    text.end_aside();
    text.line();
}
