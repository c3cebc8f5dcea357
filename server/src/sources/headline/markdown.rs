//! The first heading and the first paragraph of Markdown (CommonMark's block structure, as far as they need it).

use super::Headline;
use super::inline::plain_inline;

pub(super) fn headline(text: &str) -> Headline {
    let mut blocks = Blocks::default();
    for line in text.lines() {
        blocks.line(line);
        if blocks.found.title.is_some() && blocks.found.description.is_some() {
            break;
        }
    }
    blocks.end_html_block();
    blocks.end_paragraph();
    blocks.found
}

/// Where in the block structure the last line left off.
#[derive(Default)]
struct Blocks {
    found: Headline,
    /// The lines of the paragraph that is open.
    paragraph: Vec<String>,
    /// The fence of the code block that is open: its character and length.
    fence: Option<(char, usize)>,
    /// What ends the HTML block that is open; its content is nothing for people.
    html_end: Option<&'static str>,
    /// The lines of an HTML block that an empty line ends (CommonMark section 4.6, kinds 6 and 7).
    html_block: Vec<String>,
}

impl Blocks {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some((character, length)) = self.fence {
            if closes_fence(line, character, length) {
                self.fence = None;
            }
            return;
        }
        if let Some(end) = self.html_end {
            if ends_html(trimmed, end) {
                self.html_end = None;
            }
            return;
        }
        if trimmed.is_empty() {
            self.end_html_block();
            return self.end_paragraph();
        }
        if !self.html_block.is_empty() {
            return self.html_block.push(trimmed.to_owned());
        }
        if indent(line) >= 4 {
            // Indented code, unless it continues a paragraph.
            if !self.paragraph.is_empty() {
                self.paragraph.push(trimmed.to_owned());
            }
            return;
        }
        if let Some(fence) = opens_fence(trimmed) {
            self.end_paragraph();
            self.fence = Some(fence);
        } else if let Some(end) = opens_html(trimmed) {
            self.end_paragraph();
            self.html_end = (!ends_html(trimmed, end)).then_some(end);
        } else if self.paragraph.is_empty() && opens_html_block(trimmed) {
            self.html_block.push(trimmed.to_owned());
        } else if let Some(heading) = atx_heading(trimmed) {
            self.end_paragraph();
            self.title(heading);
        } else if is_underline(trimmed) && !self.paragraph.is_empty() {
            let heading = std::mem::take(&mut self.paragraph).join(" ");
            self.title(&heading);
        } else if is_thematic_break(trimmed) || is_other_block(trimmed) {
            self.end_paragraph();
        } else {
            self.paragraph.push(trimmed.to_owned());
        }
    }

    fn title(&mut self, heading: &str) {
        let heading = plain_inline(heading);
        if self.found.title.is_none() && !heading.is_empty() {
            self.found.title = Some(heading);
        }
    }

    /// READMEs often centre their title in an HTML heading; other blocks are layout.
    fn end_html_block(&mut self) {
        let block = std::mem::take(&mut self.html_block).join(" ");
        if let Some(start) = block.find("<h1") {
            let heading = block.get(start..).unwrap_or_default();
            self.title(heading.split("</h1>").next().unwrap_or_default());
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = plain_inline(&std::mem::take(&mut self.paragraph).join(" "));
        // A paragraph of badges has no words once its images are gone.
        if self.found.description.is_none() && paragraph.chars().any(char::is_alphanumeric) {
            self.found.description = Some(paragraph);
        }
    }
}

fn indent(line: &str) -> usize {
    let mut columns = 0;
    for character in line.chars() {
        match character {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

fn run_length(text: &str, character: char) -> usize {
    text.chars().take_while(|found| *found == character).count()
}

fn opens_fence(trimmed: &str) -> Option<(char, usize)> {
    let character = trimmed.chars().next().filter(|character| matches!(character, '`' | '~'))?;
    let length = run_length(trimmed, character);
    let info = trimmed.get(length..).unwrap_or_default();
    (length >= 3 && !(character == '`' && info.contains('`'))).then_some((character, length))
}

fn closes_fence(line: &str, character: char, length: usize) -> bool {
    let trimmed = line.trim();
    indent(line) < 4
        && run_length(trimmed, character) >= length
        && trimmed.chars().all(|found| found == character)
}

/// Comments, processing instructions and the elements whose content is raw (CommonMark section 4.6, kinds 1 to 3).
fn opens_html(trimmed: &str) -> Option<&'static str> {
    let after = trimmed.strip_prefix('<')?;
    let lower = after.get(..after.floor_char_boundary(10)).unwrap_or(after).to_ascii_lowercase();
    if lower.starts_with("!--") {
        return Some("-->");
    }
    if lower.starts_with('?') {
        return Some("?>");
    }
    for (tag, end) in [("script", "</script>"), ("style", "</style>"), ("pre", "</pre>")] {
        if lower.starts_with(tag) {
            return Some(end);
        }
    }
    None
}

/// Whether the line begins with the tag of an element that is no inline one.
fn opens_html_block(trimmed: &str) -> bool {
    const INLINE: [&str; 13] =
        ["a", "abbr", "b", "code", "em", "i", "kbd", "mark", "s", "span", "strong", "sub", "sup"];
    let Some(inside) = trimmed.strip_prefix('<') else {
        return false;
    };
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let (name, rest) = inside.split_at_checked(end.unwrap_or(inside.len())).unwrap_or_default();
    // `<https://example.org>` is a link.
    let is_tag = rest.is_empty() || rest.starts_with([' ', '\t', '>', '/']);
    is_tag
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !INLINE.contains(&name.to_ascii_lowercase().as_str())
}

fn ends_html(line: &str, end: &str) -> bool {
    line.to_ascii_lowercase().contains(end)
}

fn atx_heading(trimmed: &str) -> Option<&str> {
    let level = run_length(trimmed, '#');
    let rest = trimmed.get(level..)?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim();
    // A closing sequence counts only after white space, or when nothing else is there.
    let without = rest.trim_end_matches('#');
    let closed = without.is_empty() || without.ends_with([' ', '\t']);
    Some(if closed { without.trim_end() } else { rest })
}

fn is_underline(trimmed: &str) -> bool {
    trimmed.chars().all(|character| character == '=')
        || trimmed.chars().all(|character| character == '-')
}

fn is_thematic_break(trimmed: &str) -> bool {
    ['-', '*', '_'].iter().any(|mark| {
        trimmed.chars().filter(|character| character == mark).count() >= 3
            && trimmed.chars().all(|character| character == *mark || character.is_whitespace())
    })
}

/// Lists, quotations, tables, directives and link definitions: no paragraphs that describe the document.
fn is_other_block(trimmed: &str) -> bool {
    let bullet = ["- ", "* ", "+ "].iter().any(|bullet| trimmed.starts_with(bullet));
    let after_digits = trimmed.trim_start_matches(|character: char| character.is_ascii_digit());
    let numbered = after_digits.len() < trimmed.len()
        && (after_digits.starts_with(". ") || after_digits.starts_with(") "));
    let definition = trimmed.starts_with('[') && trimmed.contains("]:");
    bullet
        || numbered
        || definition
        || trimmed.starts_with(['>', '|'])
        || trimmed.starts_with(":::")
}
