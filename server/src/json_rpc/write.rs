//! JSON text appended to a reply's buffer.

use std::{fmt::Display, io::Write};

/// Appends `text` as a JSON string.
pub fn string(text: &str, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(out, text);
    debug_assert!(written.is_ok(), "a string always encodes and a vector always takes it");
}

/// Appends `number` in decimal.
pub fn number(number: impl Display, out: &mut Vec<u8>) {
    let written = write!(out, "{number}");
    debug_assert!(written.is_ok(), "a vector always takes it");
}

/// The reply with U+2028 and U+2029 escaped, for readers that take them for ends of lines.
///
/// They can stand only inside strings, where their escapes mean the same.
pub fn escape_line_separators(reply: Vec<u8>) -> Vec<u8> {
    const COMMON: &[u8] = b"\xE2\x80";
    let mut found = memchr::memmem::find_iter(&reply, COMMON).peekable();
    if found.peek().is_none() {
        return reply;
    }
    let mut escaped = Vec::with_capacity(reply.len() + 64);
    let mut copied = 0;
    for at in found {
        let escape: &[u8] = match reply.get(at + COMMON.len()) {
            Some(0xA8) => b"\\u2028",
            Some(0xA9) => b"\\u2029",
            _ => continue,
        };
        escaped.extend_from_slice(reply.get(copied..at).unwrap_or_default());
        escaped.extend_from_slice(escape);
        copied = at + COMMON.len() + 1;
    }
    escaped.extend_from_slice(reply.get(copied..).unwrap_or_default());
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_separators_become_escapes_and_their_neighbours_stay() {
        for (raw, escaped) in [
            ("plain", "plain"),
            ("a\u{2028}b", "a\\u2028b"),
            ("\u{2029}", "\\u2029"),
            ("\u{2027}\u{2028}\u{2029}\u{202A}", "\u{2027}\\u2028\\u2029\u{202A}"),
            ("\u{2014}", "\u{2014}"),
        ] {
            assert_eq!(
                escape_line_separators(raw.as_bytes().to_vec()),
                escaped.as_bytes(),
                "{raw}"
            );
        }
    }
}
