//! `<title>`, the description and the first paragraph of HTML.

use std::ops::ControlFlow;

use super::Headline;
use super::inline::{after_reading, gap, opens_reading, tag_end, tag_name};

const CONTENT_BYTES_MAX: usize = 4096;

pub(super) fn headline(text: &str) -> Headline {
    let mut found = Found::default();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')).map(|open| at + open) {
        let rest = text.get(open..).unwrap_or_default();
        let Some(end) = tag_end(rest) else {
            at = open + 1;
            continue;
        };
        let tag = rest.get(..end).unwrap_or_default();
        let after = rest.get(end..).unwrap_or_default();
        match found.element(tag, after) {
            ControlFlow::Break(()) => break,
            ControlFlow::Continue(skipped) => at = open + end + skipped,
        }
    }
    Headline {
        title: found.title.or(found.heading),
        description: found.description.or(found.paragraph),
    }
}

#[derive(Default)]
struct Found {
    title: Option<String>,
    heading: Option<String>,
    description: Option<String>,
    paragraph: Option<String>,
}

impl Found {
    /// Looks at one start tag; continues with the bytes after it that need no second look.
    fn element(&mut self, tag: &str, after: &str) -> ControlFlow<(), usize> {
        let name = tag_name(tag);
        match name.as_str() {
            // An icon drawn in the page has a title of its own.
            "script" | "style" | "svg" | "template" | "noscript" => {
                ControlFlow::Continue(find_close(after, &name))
            }
            "title" => {
                let inside = content(after, &name);
                self.title = self.title.take().or_else(|| words(inside));
                ControlFlow::Continue(inside.len())
            }
            "meta"
                if attribute(tag, "name")
                    .is_some_and(|name| name.eq_ignore_ascii_case("description")) =>
            {
                let text =
                    attribute(tag, "content").and_then(|text| words(&text.replace('<', "&lt;")));
                self.description = self.description.take().or(text);
                ControlFlow::Continue(0)
            }
            "h1" => {
                self.heading = self.heading.take().or_else(|| words(content(after, &name)));
                ControlFlow::Continue(0)
            }
            "p" => {
                self.paragraph = self.paragraph.take().or_else(|| words(content(after, &name)));
                // Titles stand before paragraphs.
                if self.paragraph.is_some() && (self.title.is_some() || self.heading.is_some()) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(0)
                }
            }
            _ => ControlFlow::Continue(0),
        }
    }
}

/// What stands before the end tag; without one, before the next tag.
///
/// Looks at the first `CONTENT_BYTES_MAX` bytes: end tags that are missing must not cost a look at the rest each.
fn content<'a>(after: &'a str, name: &str) -> &'a str {
    let after = after.get(..after.floor_char_boundary(CONTENT_BYTES_MAX)).unwrap_or(after);
    let end = find_close(after, name);
    let end = if end == after.len() { after.find('<').unwrap_or(end) } else { end };
    after.get(..end).unwrap_or(after)
}

/// Where `</name` begins, in any case; the end when it does not.
fn find_close(after: &str, name: &str) -> usize {
    after
        .match_indices("</")
        .map(|(at, _)| at)
        .find(|at| {
            let found = after.get(at + 2..at + 2 + name.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(name))
        })
        .unwrap_or(after.len())
}

/// The value of an attribute of a start tag, entities still in it.
fn attribute<'a>(tag: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = tag.get(tag_name(tag).len() + 1..)?;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let name_end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>'))?;
        let (name, after) = rest.split_at_checked(name_end)?;
        if name.is_empty() && !after.starts_with('=') {
            return None;
        }
        let Some(value) = after.trim_start().strip_prefix('=').map(str::trim_start) else {
            rest = after;
            continue;
        };
        let (value, after) = match value.chars().next()? {
            quote @ ('"' | '\'') => value.get(1..)?.split_once(quote)?,
            _ => value
                .split_at_checked(value.find(|c: char| c.is_ascii_whitespace() || c == '>')?)?,
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
}

/// The words of a piece of HTML: tags dropped, entities decoded, white space collapsed.
fn words(html: &str) -> Option<String> {
    let mut plain = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at_checked(open)?;
        plain.push_str(before);
        let Some(end) = tag_end(tag) else {
            plain.push('<');
            rest = tag.get(1..).unwrap_or_default();
            continue;
        };
        let (tag, after) = tag.split_at_checked(end)?;
        plain.push_str(gap(tag));
        rest = if opens_reading(tag) { after_reading(after) } else { after };
    }
    plain.push_str(rest);
    let decoded = html_escape::decode_html_entities(&plain);
    let words = decoded.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}
