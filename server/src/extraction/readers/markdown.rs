//! Markdown as text: words and code without the marks, targets of links and HTML around them.
//!
//! Markdown reads well as it is, and a second text costs disk. It is taken apart all the same, because what it says is not
//! all it holds: a page's badges, targets of links and layout in HTML would be found, counted as the text's length, and
//! shown first in snippets.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::html;
use super::text::TextBuilder;
use crate::sources::headline::front_matter_block;

/// The parser takes up to a hundred times the memory of what it is given, and is given no more than this at once.
const PIECE_BYTES_MAX: usize = 512 * 1024;

/// The text of a Markdown document. Its front matter comes last: its words are found, and no snippet begins with it.
pub(super) fn text(markdown: &str, bytes_max: usize) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let markdown = markdown.strip_prefix('\u{feff}').unwrap_or(markdown);
    let (front_matter, markdown) = front_matter(markdown);
    let mut reader =
        Reader { text: TextBuilder::new(bytes_max), html: String::new(), place: Place::Prose };
    let mut rest = markdown;
    while !rest.is_empty() && !reader.text.is_full() {
        let (piece, after) = rest.split_at_checked(piece_end(rest)).unwrap_or((rest, ""));
        for event in Parser::new_ext(piece, options) {
            reader.event(event);
            if reader.text.is_full() {
                break;
            }
        }
        reader.place = Place::Prose;
        reader.text.end_aside();
        rest = after;
    }
    reader.text.line();
    front_matter.lines().for_each(|line| {
        reader.text.line();
        reader.text.push(line);
    });
    reader.text.finish()
}

/// The front matter, and what comes after it.
fn front_matter(markdown: &str) -> (&str, &str) {
    let found = [("---", ["---", "..."]), ("+++", ["+++", "+++"])]
        .iter()
        .find_map(|(open, close)| front_matter_block(markdown, open, close));
    found.unwrap_or(("", markdown))
}

/// Where a piece of Markdown that is parsed at once ends: at an empty line, if there is one.
fn piece_end(markdown: &str) -> usize {
    if markdown.len() <= PIECE_BYTES_MAX {
        return markdown.len();
    }
    let most = markdown.floor_char_boundary(PIECE_BYTES_MAX);
    let piece = markdown.get(..most).unwrap_or_default();
    let end = piece.rfind("\n\n").or_else(|| piece.rfind('\n')).map(|end| end + 1);
    end.unwrap_or(most)
}

/// What the text of an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Prose,
    Code,
}

struct Reader {
    text: TextBuilder,
    /// The block of HTML that is being read.
    html: String,
    place: Place,
}

// === impl Reader ===

impl Reader {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match self.place {
                Place::Prose => self.text.push(&text),
                Place::Code => self.text.push_verbatim(&text),
            },
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.text.push(&code);
            }
            Event::Html(html) => self.html.push_str(&html),
            Event::InlineHtml(tag) => self.inline_tag(&tag),
            Event::FootnoteReference(name) => self.text.push(&name),
            Event::SoftBreak => self.text.space(),
            Event::HardBreak | Event::Rule => self.text.line(),
            Event::TaskListMarker(_) => {}
        }
    }

    /// Tags within a line part words only where they break the line, and set readings apart.
    fn inline_tag(&mut self, tag: &str) {
        let inside = tag.trim_start_matches('<').trim_start_matches('/');
        let end = inside.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inside.len());
        let name = inside.get(..end).unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "rt" if !tag.starts_with("</") => self.text.begin_aside(),
            "rt" | "ruby" | "rb" | "rp" => self.text.end_aside(),
            "br" | "hr" | "p" | "div" | "li" | "tr" => {
                self.text.end_aside();
                self.text.line();
            }
            "td" | "th" => self.text.space(),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::CodeBlock(kind) => {
                self.text.line();
                self.place = Place::Code;
                // The language of a block is something that people look for: "json example".
                if let CodeBlockKind::Fenced(language) = kind {
                    self.text.push(language);
                    self.text.line();
                }
            }
            Tag::HtmlBlock => self.html.clear(),
            Tag::TableCell => self.text.space(),
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. } => {}
            _ => self.text.line(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::CodeBlock => {
                self.place = Place::Prose;
                self.text.line();
            }
            TagEnd::HtmlBlock => {
                let html = std::mem::take(&mut self.html);
                let text = std::mem::replace(&mut self.text, TextBuilder::new(0));
                self.text = html::append(&html, text);
                self.text.line();
            }
            TagEnd::TableCell => self.text.space(),
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image => {}
            _ => self.text.line(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_code_stay_and_marks_go() {
        for (markdown, expected) in [
            (
                "# Title\n\nOne *two*three [four](http://x/y) five.\n",
                "Title\nOne twothree four five.",
            ),
            ("a\nb  \nc\n\n---\nd", "a b\nc\nd"),
            ("- [ ] task\n- x\n  1. y\n", "task\nx\ny"),
            ("Use `foo_bar()` and snake\\_case.", "Use foo_bar() and snake_case."),
            ("```json\n{\"a\": 1}\n  b\n```\nafter", "json\n{\"a\": 1}\n  b\nafter"),
            ("    indented\n\nafter", "indented\nafter"),
            ("| a | b |\n|---|---|\n| c | d |\n", "a b\nc d"),
            ("[![build](https://ci/x.svg)](https://ci/) text", "build text"),
            ("<https://x.example/> [r]\n\n[r]: http://target", "https://x.example/ r"),
            (
                "<p align=\"center\">\n<b>Words</b><br>more\n</p>\n\n<!-- no -->\nyes<br/>x",
                "Words\nmore\nyes\nx",
            ),
            (
                "---\ntitle: T\ntags: [search, x]\n---\n# T\n\nText",
                "T\nText\ntitle: T\ntags: [search, x]",
            ),
            ("+++\ntags = ['q']\n+++\nText", "Text\ntags = ['q']"),
            ("\u{feff}# 手册 &amp; more", "手册 & more"),
            ("> quote\n> more\n\n![alt *text*](i.png)", "quote more\nalt text"),
            ("one<br>two <wbr>x<BR/>y a<wbr>b", "one\ntwo x\ny ab"),
            ("<ruby>東<rt>とう</rt></ruby>京 x", "東京 x とう"),
            ("", ""),
        ] {
            assert_eq!(text(markdown, 1 << 20), expected, "{markdown}");
        }
    }

    #[test]
    fn pieces_end_between_paragraphs() {
        let paragraph = format!("*{}*\n\n", "word ".repeat(2000));
        let markdown = paragraph.repeat(2 * PIECE_BYTES_MAX / paragraph.len());
        let found = text(&markdown, 1 << 24);
        assert_eq!(found.lines().count(), 2 * PIECE_BYTES_MAX / paragraph.len());
        // Nothing is lost where no line ends.
        let solid = "字".repeat(PIECE_BYTES_MAX);
        assert_eq!(text(&solid, 1 << 24).replace('\n', ""), solid);
    }
}
