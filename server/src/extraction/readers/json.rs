//! JSON as text: keys and values, with the escapes in strings undone.
//!
//! Nothing is parsed, so that lines of JSON, JSON with comments and what is broken are read as well, at any depth.

use std::borrow::Cow;

/// The text with what is escaped in its strings; itself where nothing is.
pub(super) fn text(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, after)) = rest.split_once('"') {
        out.push_str(before);
        out.push('"');
        let end = string_end(after);
        let (inside, after) = after.split_at_checked(end).unwrap_or((after, ""));
        unescape(inside, &mut out);
        rest = match after.strip_prefix('"') {
            Some(after) => {
                out.push('"');
                after
            }
            None => after,
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where a string's quotation mark or line ends: strings hold no line ends, so that a missing mark spoils one line.
fn string_end(text: &str) -> usize {
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n')))
    {
        at += found;
        match bytes.get(at) {
            // The backslash and what it escapes, which may be the first byte of a longer character.
            Some(b'\\') => at += 2,
            _ => return at,
        }
    }
    bytes.len()
}

fn unescape(inside: &str, out: &mut String) {
    let mut rest = inside;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        rest = one_escape(escape, out);
    }
    out.push_str(rest);
}

/// Undoes the escape after a backslash (RFC 8259 section 7); what is none stays as it is.
fn one_escape<'a>(escape: &'a str, out: &mut String) -> &'a str {
    let Some(character) = escape.chars().next() else {
        return escape;
    };
    let after = escape.get(character.len_utf8()..).unwrap_or_default();
    match character {
        'n' | 'r' => out.push('\n'),
        't' | 'b' | 'f' => out.push(' '),
        'u' => match code_units(after) {
            Some((character, taken)) => {
                out.push(character);
                return after.get(taken..).unwrap_or_default();
            }
            None => out.push(' '),
        },
        other => out.push(other),
    }
    after
}

/// The character of `XXXX` or `XXXX\uXXXX`, and how long that is.
fn code_units(text: &str) -> Option<(char, usize)> {
    let first = unit(text)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, 4));
    }
    let second = unit(text.get(4..)?.strip_prefix("\\u")?)?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 10))
}

fn unit(text: &str) -> Option<u16> {
    let digits = text.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_in_strings() {
        for (json, expected) in [
            (r#"{"a": [1, true, "b"]}"#, r#"{"a": [1, true, "b"]}"#),
            (r#"{"a": "x\ny", "b\t": "\"q\" \\ \/"}"#, "{\"a\": \"x\ny\", \"b \": \"\"q\" \\ /\"}"),
            (r#"["caf\u00e9 \u65E5 \ud83d\ude00"]"#, "[\"café 日 😀\"]"),
            (r#"["\ud83d x", "\uZZZZ", "\"#, "[\" d83d x\", \" ZZZZ\", \""),
            ("{\"a\": \"never\n\"b\\u0041\": 1}", "{\"a\": \"never\n\"bA\": 1}"),
            ("// a \\n comment\n{}", "// a \\n comment\n{}"),
            ("", ""),
        ] {
            assert_eq!(text(json), expected, "{json}");
        }
        assert!(matches!(text("{\"plain\": 1}"), Cow::Borrowed(_)));
    }
}
