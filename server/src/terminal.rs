//! What may reach a terminal: text that cannot act on it, and colours and moving lines where they are welcome.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// When output has colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    /// Also in a file or a pipe.
    Always,
    /// Nowhere.
    Never,
}

/// What stands for a character that may not be shown.
const MARK: &str = "\u{fffd}";

// === impl Colour ===

impl Colour {
    /// Whether output to this stream has colours.
    pub fn shows_on(self, stream: &impl IsTerminal) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => stream.is_terminal() && !is_set("NO_COLOR") && !is_dumb(),
        }
    }
}

/// Whether a line can be written over on this stream.
pub(crate) fn can_redraw(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && !is_dumb()
}

/// A variable that is set to nothing is not set (no-color.org).
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Text with every character escaped that acts on a terminal instead of being shown: `\u{1b}`. Line breaks and tabs stay.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    escaped_where(text, |character| acts(character) && !matches!(character, '\n' | '\t'))
}

/// A label on one line, for whatever shows it: control characters and those that reorder text are escaped. Marks that
/// only give a direction to their place (U+200E, U+200F, U+061C) stay, since right-to-left scripts need them.
pub(crate) fn escaped_label(text: &str) -> Cow<'_, str> {
    escaped_where(text, misleads)
}

fn escaped_where(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_escaped(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// JSON with the same characters as JSON escapes them: to whoever parses it, it is the same document.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    let acts = |character: char| acts(character) && character != '\n';
    if !json.contains(acts) {
        return json.into();
    }
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if acts(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // A `String` takes everything.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// The text on one line, with a mark for every character that acts on a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace(acts, MARK)
}

/// Control characters, and those that change the direction of what follows or break a line.
pub(crate) fn acts(character: char) -> bool {
    misleads(character) || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

fn misleads(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_passes() {
        for (text, shown, json, line) in [
            ("plain äöü 漢字 🦀", "plain äöü 漢字 🦀", "plain äöü 漢字 🦀", "plain äöü 漢字 🦀"),
            ("a\u{202e}fdp.md", r"a\u{202e}fdp.md", r"a\u202efdp.md", "a\u{fffd}fdp.md"),
            ("\u{2066}x\u{2069}", r"\u{2066}x\u{2069}", r"\u2066x\u2069", "\u{fffd}x\u{fffd}"),
            ("\u{1b}[2J\u{7}", r"\u{1b}[2J\u{7}", r"\u001b[2J\u0007", "\u{fffd}[2J\u{fffd}"),
            ("\u{9b}31m\u{7f}", r"\u{9b}31m\u{7f}", r"\u009b31m\u007f", "\u{fffd}31m\u{fffd}"),
            ("a\tb\nc", "a\tb\nc", "a\\u0009b\nc", "a b c"),
        ] {
            assert_eq!(escaped(text), shown);
            assert_eq!(escaped_json(text), json);
            assert_eq!(one_line(text), line);
        }
    }

    #[test]
    fn a_label_neither_acts_nor_reorders_and_keeps_marks_of_direction() {
        for (text, shown) in [
            ("Guide 漢字.md", "Guide 漢字.md"),
            ("a\u{202e}fdp.md", r"a\u{202e}fdp.md"),
            ("\u{2066}x\u{2069}", r"\u{2066}x\u{2069}"),
            ("\u{1b}[2J\u{7}", r"\u{1b}[2J\u{7}"),
            ("a\tb\nc", r"a\u{9}b\u{a}c"),
            ("\u{5e9}\u{200f}!", "\u{5e9}\u{200f}!"),
        ] {
            assert_eq!(escaped_label(text), shown);
        }
    }

    #[test]
    fn colours_are_shown_where_they_are_asked_for() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(Colour::Always.shows_on(&file));
        assert!(!Colour::Auto.shows_on(&file), "it is no terminal");
        assert!(!Colour::Never.shows_on(&file));
    }
}
