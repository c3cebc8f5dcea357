//! Markdown as text: words and code without the marks, targets of links and HTML around them.
//!
//! Markdown reads well as it is, and a second text costs disk. It is taken apart all the same, because what it says is not
//! all it holds: a page's badges, targets of links and layout in HTML would be found, counted as the text's length, and
//! shown first in snippets.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::html;
use super::text::TextBuilder;

/// The text of a Markdown document. Its front matter comes last: its words are found, and no snippet begins with it.
pub(super) fn text(markdown: &str, bytes_max: usize) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let markdown = markdown.strip_prefix('\u{feff}').unwrap_or(markdown);
    let mut reader = Reader {
        text: TextBuilder::new(bytes_max),
        html: String::new(),
        front_matter: String::new(),
        place: Place::Prose,
    };
    for event in Parser::new_ext(markdown, options) {
        reader.event(event);
        if reader.text.is_full() {
            break;
        }
    }
    reader.text.line();
    let front_matter = std::mem::take(&mut reader.front_matter);
    front_matter.lines().for_each(|line| {
        reader.text.line();
        reader.text.push(line);
    });
    reader.text.finish()
}

/// What the text of an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Prose,
    Code,
    FrontMatter,
}

struct Reader {
    text: TextBuilder,
    /// The block of HTML that is being read.
    html: String,
    front_matter: String,
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
                Place::FrontMatter => self.front_matter.push_str(&text),
            },
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.text.push(&code);
            }
            Event::Html(html) => self.html.push_str(&html),
            // A tag within a line parts words only where it breaks the line.
            Event::InlineHtml(tag) => {
                if tag.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("<br")) {
                    self.text.line();
                }
            }
            Event::FootnoteReference(name) => self.text.push(&name),
            Event::SoftBreak => self.text.space(),
            Event::HardBreak | Event::Rule => self.text.line(),
            Event::TaskListMarker(_) => {}
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
            Tag::MetadataBlock(_) => self.place = Place::FrontMatter,
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
            TagEnd::CodeBlock | TagEnd::MetadataBlock(_) => {
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
            ("", ""),
        ] {
            assert_eq!(text(markdown, 1 << 20), expected, "{markdown}");
        }
    }
}
