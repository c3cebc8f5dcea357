//! Inline Markdown and HTML as plain words.

/// Bounds the nesting of brackets, which are read recursively, and the work for ones that are never closed.
const INLINE_BYTES_MAX: usize = 2048;

/// A longer tag is none: bounds the work for quotes that are never closed.
const TAG_BYTES_MAX: usize = 1024;

/// Elements that may stand within a word.
const WITHIN_WORDS: [&str; 32] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub",
    "sup", "tt", "u", "var", "wbr", "img",
];

/// Elements of `ruby`, whose readings stand apart from what they are readings of.
const RUBY: [&str; 6] = ["ruby", "rb", "rbc", "rt", "rtc", "rp"];

/// Whether what stands before and after a tag of this name is one word.
pub(crate) fn joins_words(name: &str) -> bool {
    WITHIN_WORDS.contains(&name) || RUBY.contains(&name)
}

/// Whether what follows a tag is the reading of a character, or a parenthesis around it.
pub(super) fn opens_reading(tag: &str) -> bool {
    matches!(tag_name(tag).as_str(), "rt" | "rp")
}

/// What stands in place of a tag between words; comments and inline elements join them.
pub(super) fn gap(tag: &str) -> &'static str {
    let name = tag_name(tag.strip_prefix("</").unwrap_or(tag));
    if tag.starts_with("<!") || tag.starts_with("<?") || joins_words(&name) { "" } else { " " }
}

/// The lower-case name of a start tag; of an end tag or comment, nothing that is a name.
pub(super) fn tag_name(tag: &str) -> String {
    let inside = tag.trim_start_matches('<');
    let end = inside
        .find(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/'))
        .unwrap_or(inside.len());
    inside.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// The words of inline Markdown: links become their text, images their alternative text in links only, and emphasis,
/// code marks, tags, escapes and entities are undone.
///
/// Reads the first `INLINE_BYTES_MAX` bytes.
pub(super) fn plain_inline(markdown: &str) -> String {
    let head = markdown.get(..markdown.floor_char_boundary(INLINE_BYTES_MAX)).unwrap_or(markdown);
    let plain = without_marks(head);
    let decoded = html_escape::decode_html_entities(&plain);
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn without_marks(markdown: &str) -> String {
    let mut plain = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(character) = rest.chars().next() {
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        rest = match character {
            '\\' => escaped(after, &mut plain),
            '`' => code(rest, &mut plain),
            '!' if after.starts_with('[') => match bracketed(after) {
                Some((_, after)) => after,
                None => keep('!', after, &mut plain),
            },
            '[' => match bracketed(rest) {
                Some((text, after)) => {
                    plain.push_str(&without_marks(text));
                    after
                }
                None => keep('[', after, &mut plain),
            },
            '<' => match tag_end(rest) {
                Some(end) => {
                    let tag = rest.get(..end).unwrap_or_default();
                    let link = autolink(tag);
                    plain.push_str(if link.is_empty() { gap(tag) } else { link });
                    let after = rest.get(end..).unwrap_or_default();
                    if opens_reading(tag) { after_reading(after) } else { after }
                }
                None => keep('<', after, &mut plain),
            },
            '*' => after,
            '~' if after.starts_with('~') => after.get(1..).unwrap_or_default(),
            // Within a word, as in `snake_case`, an underscore is itself.
            '_' if !(ends_in_word(&plain) && starts_with_word(after)) => after,
            other => keep(other, after, &mut plain),
        };
    }
    plain
}

/// What follows the reading of a character: the next tag.
pub(super) fn after_reading(after: &str) -> &str {
    after.find('<').and_then(|end| after.get(end..)).unwrap_or(after)
}

fn keep<'a>(character: char, after: &'a str, plain: &mut String) -> &'a str {
    plain.push(character);
    after
}

fn escaped<'a>(after: &'a str, plain: &mut String) -> &'a str {
    match after.chars().next() {
        Some(next) if next.is_ascii_punctuation() => {
            keep(next, after.get(1..).unwrap_or_default(), plain)
        }
        _ => keep('\\', after, plain),
    }
}

/// A code span's content as it stands; a run of backquotes without its like is dropped.
fn code<'a>(rest: &'a str, plain: &mut String) -> &'a str {
    let length = rest.chars().take_while(|character| *character == '`').count();
    let (mark, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
    match after.split_once(mark) {
        Some((content, after)) => {
            // Entities are undone for the whole line later; in code an ampersand is itself.
            plain.push_str(&content.trim().replace('&', "&amp;"));
            after
        }
        None => after,
    }
}

/// The text of `[text](target)`, `[text][label]` or `[text]`, and what follows it.
fn bracketed(rest: &str) -> Option<(&str, &str)> {
    let close = balanced(rest, '[', ']')?;
    let text = rest.get(1..close)?;
    let after = rest.get(close + 1..)?;
    let target_end = match after.chars().next() {
        Some('(') => balanced(after, '(', ')')?,
        Some('[') => balanced(after, '[', ']')?,
        // Brackets that lead nowhere are brackets, unless a definition elsewhere makes them a link.
        _ => return None,
    };
    Some((text, after.get(target_end + 1..)?))
}

/// The address in `<https://docs.example>`; of a tag, nothing.
fn autolink(tag: &str) -> &str {
    let inside = tag.trim_start_matches('<').trim_end_matches('>');
    let scheme_end = inside.find("://").unwrap_or(0);
    let scheme = inside.get(..scheme_end).unwrap_or_default();
    let is_link = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_link { inside } else { "" }
}

/// Where the bracket that opens `text` is closed.
fn balanced(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == open {
            depth += 1;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Where the tag or comment that begins `rest` ends; `None`: it is a plain less-than sign.
pub(super) fn tag_end(rest: &str) -> Option<usize> {
    if let Some(comment) = rest.strip_prefix("<!--") {
        let end = comment.find("-->").map(|end| end + "<!--".len() + "-->".len());
        // A comment that is not closed hides the rest.
        return Some(end.unwrap_or(rest.len()));
    }
    let next = rest.chars().nth(1)?;
    if !(next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')) {
        return None;
    }
    let mut quote = None;
    for (at, character) in rest.char_indices().take_while(|(at, _)| *at < TAG_BYTES_MAX) {
        match (quote, character) {
            (None, '>') => return Some(at + 1),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
    }
    None
}

fn ends_in_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(char::is_alphanumeric)
}

fn starts_with_word(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_alphanumeric)
}
