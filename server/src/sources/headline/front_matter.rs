//! Front matter of Markdown: YAML between `---` lines, TOML between `+++` lines.
//!
//! Of YAML only what titles are written in is read: top-level keys with plain, quoted or block scalars. Anything else
//! is passed over, so a document with front matter that we cannot read is served all the same.

use super::toml_depth::is_shallow;

/// What front matter says.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
}

/// The front matter, if the text begins with it, and what comes after.
pub(super) fn split(text: &str) -> (Option<FrontMatter>, &str) {
    let parsed = block(text, "---", &["---", "..."]).map(|(inside, rest)| (yaml(inside), rest));
    let parsed = parsed.or_else(|| {
        block(text, "+++", &["+++"]).and_then(|(inside, rest)| Some((toml(inside)?, rest)))
    });
    match parsed {
        Some((front, rest)) => (Some(front), rest),
        None => (None, text),
    }
}

/// What stands between a first line `open` and the next line that is one of `close`.
pub(crate) fn block<'a>(text: &'a str, open: &str, close: &[&str]) -> Option<(&'a str, &'a str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != open {
        return None;
    }
    let start = first.len();
    let mut at = start;
    for line in lines {
        let end = at + line.len();
        if close.contains(&line.trim_end()) {
            return Some((text.get(start..at)?, text.get(end..)?));
        }
        at = end;
    }
    None
}

fn toml(inside: &str) -> Option<FrontMatter> {
    if !is_shallow(inside) {
        return None;
    }
    let table: toml::Table = inside.parse().ok()?;
    let string = |key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    Some(FrontMatter {
        title: string("title"),
        description: string("description").or_else(|| string("summary")),
    })
}

fn yaml(inside: &str) -> FrontMatter {
    let string = |key: &str| yaml_string(inside, key);
    FrontMatter {
        title: string("title"),
        description: string("description").or_else(|| string("summary")),
    }
}

/// The value of a top-level key.
fn yaml_string(inside: &str, key: &str) -> Option<String> {
    let mut lines = inside.lines();
    let value = lines.by_ref().find_map(|line| {
        let rest = yaml_key(line, key)?;
        (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
    })?;
    // The lines that belong to the value are indented.
    let more: Vec<&str> = lines
        .take_while(|line| line.is_empty() || line.starts_with([' ', '\t']))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let more = more.join(" ");
    let text = match value.chars().next() {
        Some('"') => double_quoted(&joined(value, &more))?,
        Some('\'') => single_quoted(&joined(value, &more))?,
        Some('|' | '>') | None => more,
        // Maps, lists, aliases and tags are no titles.
        Some('[' | '{' | '&' | '*' | '!') => return None,
        Some(_) => without_comment(&joined(value, &more)).to_owned(),
    };
    let is_null = matches!(text.as_str(), "" | "~" | "null");
    (!is_null).then_some(text)
}

/// What follows `key:`, `"key":` or `'key':` at the start of a line.
fn yaml_key<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = match line.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.strip_prefix(key)?.strip_prefix(['"', '\''])?,
        None => line.strip_prefix(key)?,
    };
    rest.trim_start().strip_prefix(':')
}

fn joined(value: &str, more: &str) -> String {
    if more.is_empty() { value.to_owned() } else { format!("{value} {more}") }
}

/// A comment begins with a number sign after white space.
fn without_comment(value: &str) -> &str {
    value.split_once(" #").map_or(value, |(before, _)| before.trim_end())
}

fn single_quoted(value: &str) -> Option<String> {
    let mut characters = value.strip_prefix('\'')?.chars().peekable();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        if character != '\'' {
            text.push(character);
        } else if characters.next_if_eq(&'\'').is_some() {
            text.push('\'');
        } else {
            return Some(text);
        }
    }
    None
}

fn double_quoted(value: &str) -> Option<String> {
    let mut characters = value.strip_prefix('"')?.chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some(text),
            '\\' => match characters.next()? {
                'n' | 't' | 'r' => text.push(' '),
                'x' => text.push(hex_character(&mut characters, 2)?),
                'u' => text.push(hex_character(&mut characters, 4)?),
                'U' => text.push(hex_character(&mut characters, 8)?),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    None
}

fn hex_character(characters: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let mut code = 0_u32;
    for _ in 0..digits {
        code = code.checked_mul(16)?.checked_add(characters.next()?.to_digit(16)?)?;
    }
    char::from_u32(code)
}
