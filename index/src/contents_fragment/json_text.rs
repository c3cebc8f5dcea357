//! JSON strings: escaping by SIMD when a resource is written, and cutting text that is already
//! escaped when a part of it is read.
//!
//! What we write holds `\"`, `\\`, `\b \t \n \f \r`, `\u00XX` for other controls and
//! `\u2028`/`\u2029` (line readers on stdio split on those two); one escape is one code point.

use value_trait::generator::{BaseGenerator, WriterGenerator};

/// U+2028 and U+2029 in UTF-8 begin with these two bytes.
const SEPARATOR_LEAD: &[u8] = b"\xe2\x80";

/// Appends the content of a JSON string, without quotes.
pub(crate) fn escape_into(text: &str, out: &mut Vec<u8>) {
    let mut written = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), SEPARATOR_LEAD) {
        let escape = match text.as_bytes().get(at + 2) {
            Some(0xa8) => b"\\u2028",
            Some(0xa9) => b"\\u2029",
            _ => continue,
        };
        escape_run(text.get(written..at).unwrap_or_default(), out);
        out.extend_from_slice(escape);
        written = at + 3;
    }
    escape_run(text.get(written..).unwrap_or_default(), out);
}

fn escape_run(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len());
    // Writing to a `Vec` cannot fail.
    let _ = WriterGenerator::new(out).write_string_content(text);
}

/// Appends `"text"`.
pub(crate) fn string_into(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    escape_into(text, out);
    out.push(b'"');
}

/// Text back from what [`escape_into`] wrote; `None` for anything else.
pub(crate) fn unescape(escaped: &[u8]) -> Option<String> {
    let mut text = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.extend_from_slice(rest.get(..at)?);
        let (character, length) = match rest.get(at + 1)? {
            b'b' => ('\u{8}', 2),
            b't' => ('\t', 2),
            b'n' => ('\n', 2),
            b'f' => ('\u{c}', 2),
            b'r' => ('\r', 2),
            b'u' => {
                let digits = std::str::from_utf8(rest.get(at + 2..at + 6)?).ok()?;
                (char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, 6)
            }
            plain => (char::from(*plain), 2),
        };
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = rest.get(at + length..)?;
    }
    text.extend_from_slice(rest);
    String::from_utf8(text).ok()
}

/// How many code points and line ends a text holds. A line ends with CR LF, LF or CR (RFC 5147 section 2.1.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextLength {
    pub(crate) chars: u64,
    pub(crate) line_ends: u64,
}

/// Counts a raw text.
pub(crate) fn measure(text: &str) -> TextLength {
    let bytes = text.as_bytes();
    let continuation = bytes.iter().filter(|byte| (**byte & 0xc0) == 0x80).count();
    let line_ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
        .filter(|at| !ends_with_line_feed(bytes, *at))
        .count();
    TextLength {
        chars: u64::try_from(bytes.len() - continuation).unwrap_or(u64::MAX),
        line_ends: u64::try_from(line_ends).unwrap_or(u64::MAX),
    }
}

/// Whether the CR at `at` is followed by the LF that ends the line.
fn ends_with_line_feed(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n')
}

/// Where the code point number `chars` begins in an escaped text; its end when it is shorter.
pub(crate) fn char_offset(escaped: &[u8], chars: u64) -> usize {
    let mut left = usize::try_from(chars).unwrap_or(usize::MAX);
    let mut at = 0;
    while left > 0 {
        let rest = escaped.get(at..).unwrap_or_default();
        let plain = rest.get(..memchr::memchr(b'\\', rest).unwrap_or(rest.len())).unwrap_or(rest);
        let count = count_chars(plain);
        if count > left {
            return at + plain_offset(plain, left);
        }
        at += plain.len();
        left -= count;
        if at >= escaped.len() {
            return escaped.len();
        }
        if left > 0 {
            at += escape_length(escaped, at);
            left -= 1;
        }
    }
    at.min(escaped.len())
}

/// Code points of UTF-8: bytes that continue none.
fn count_chars(text: &[u8]) -> usize {
    text.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

/// Where the code point number `chars` begins in text without escapes: block by block, then byte by byte.
fn plain_offset(plain: &[u8], chars: usize) -> usize {
    const BLOCK: usize = 256;
    let mut left = chars;
    let mut at = 0;
    while let Some(block) = plain.get(at..at + BLOCK) {
        let count = count_chars(block);
        if count > left {
            break;
        }
        left -= count;
        at += BLOCK;
    }
    let rest = plain.get(at..).unwrap_or_default();
    let begins = rest.iter().enumerate().filter(|(_, byte)| (**byte & 0xc0) != 0x80);
    at + begins.map(|(within, _)| within).nth(left).unwrap_or(rest.len())
}

/// Where the line number `lines` begins in an escaped text; its end when it has fewer.
pub(crate) fn line_offset(escaped: &[u8], lines: u64) -> usize {
    let mut at = 0;
    let mut seen = 0;
    while seen < lines {
        let Some(found) = escaped.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) else {
            return escaped.len();
        };
        at += found;
        let line_end = match escaped.get(at + 1) {
            Some(b'n') => true,
            Some(b'r') => escaped.get(at + 2..at + 4) != Some(b"\\n"),
            _ => false,
        };
        at += escape_length(escaped, at);
        seen += u64::from(line_end);
    }
    at.min(escaped.len())
}

fn escape_length(escaped: &[u8], at: usize) -> usize {
    if escaped.get(at + 1) == Some(&b'u') { 6 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escape(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        escape_into(text, &mut out);
        out
    }

    #[test]
    fn separators_are_escaped_and_their_neighbours_are_not() {
        assert_eq!(
            escape("a\u{2028}b\u{2029}\u{2030}\u{202a}"),
            "a\\u2028b\\u2029\u{2030}\u{202a}".as_bytes()
        );
        assert_eq!(escape("\u{2028}"), b"\\u2028");
        assert_eq!(escape(""), b"");
    }

    #[test]
    fn lines_are_found_whatever_ends_them() {
        let text = "a\r\nb\rc\nd\\n\n\u{2028}e";
        assert_eq!(measure(text), TextLength { chars: 13, line_ends: 4 });
        let escaped = escape(text);
        let line =
            |n| unescape(&escaped[line_offset(&escaped, n)..line_offset(&escaped, n + 1)]).unwrap();
        assert_eq!(line(0), "a\r\n");
        assert_eq!(line(1), "b\r");
        assert_eq!(line(2), "c\n");
        assert_eq!(line(3), "d\\n\n");
        assert_eq!(line(4), "\u{2028}e");
        assert_eq!(line(5), "");
    }

    proptest! {
        #[test]
        fn what_we_escape_is_json_and_comes_back(text in "(?s)(\\PC|[\u{0}-\u{1f}\u{2028}\u{2029}\"\\\\]){0,200}") {
            let mut json = Vec::new();
            string_into(&text, &mut json);
            let parsed: String = serde_json::from_slice(&json).unwrap();
            prop_assert_eq!(&parsed, &text);
            prop_assert_eq!(unescape(&json[1..json.len() - 1]).unwrap(), text);
            let json = String::from_utf8(json).unwrap();
            let separators = json.matches(['\u{2028}', '\u{2029}']).count();
            prop_assert_eq!(separators, 0);
        }

        #[test]
        fn cutting_escaped_text_is_cutting_text(text in "(?s)(\\PC|[\u{0}-\u{1f}\r\n\u{2028}\"\\\\]){0,100}", from in 0_usize..120, count in 0_usize..120) {
            let escaped = escape(&text);
            let start = char_offset(&escaped, from as u64);
            let end = char_offset(&escaped, (from + count) as u64);
            let wanted: String = text.chars().skip(from).take(count).collect();
            prop_assert_eq!(unescape(&escaped[start..end]).unwrap(), wanted);
            prop_assert_eq!(measure(&text).chars, text.chars().count() as u64);
        }
    }
}
