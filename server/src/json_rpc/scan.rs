//! Checks of a whole message that the envelope's parser leaves out.
//!
//! The parser skips what it does not need without judging it: an unpaired surrogate escape or a
//! value of a million brackets would pass. Both scans cost nothing for an ordinary message.

use super::DEPTH_MAX;

/// Whether every `\u` escape of a surrogate has its partner (RFC 8259 section 8.2).
///
/// Only meaningful for text that is JSON otherwise: a backslash stands nowhere but in strings.
pub fn surrogates_paired(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let escape = rest.get(at..).unwrap_or_default();
        let taken = match code_unit(escape) {
            None => 2,
            Some(0xD800..=0xDBFF) => {
                let partner = escape.get(6..).and_then(code_unit);
                if !matches!(partner, Some(0xDC00..=0xDFFF)) {
                    return false;
                }
                12
            }
            Some(0xDC00..=0xDFFF) => return false,
            Some(_) => 6,
        };
        rest = escape.get(taken..).unwrap_or_default();
    }
    true
}

/// The code unit of an escape of the form `\uXXXX` at the start of `bytes`.
fn code_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Whether arrays and objects nest at most [`DEPTH_MAX`] deep.
pub fn depth_bounded(text: &str) -> bool {
    let bytes = text.as_bytes();
    let openings = memchr::memchr2_iter(b'{', b'[', bytes).take(DEPTH_MAX + 1).count();
    openings <= DEPTH_MAX || exact_depth_bounded(bytes)
}

fn exact_depth_bounded(bytes: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for &byte in bytes {
        if escaped {
            escaped = false;
        } else if in_string {
            match byte {
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => in_string = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth > DEPTH_MAX {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogate_escapes_need_their_partner() {
        for (text, paired) in [
            (r#""plain""#, true),
            (r#""\uD83D\uDE00""#, true),
            (r#""\ud83d\ude00 \n \u00e9""#, true),
            (r#""\\uD83D""#, true),
            (r#""\uD83D""#, false),
            (r#""\uD83Dx""#, false),
            (r#""\uD83D\n""#, false),
            (r#""\uDE00""#, false),
            (r#""\uD83D\uD83D""#, false),
        ] {
            assert_eq!(surrogates_paired(text), paired, "{text}");
        }
    }

    #[test]
    fn depth_counts_nesting_and_not_brackets() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(depth_bounded(&nested(DEPTH_MAX)));
        assert!(!depth_bounded(&nested(DEPTH_MAX + 1)));
        assert!(depth_bounded(&format!("[{}{{}}]", "{},".repeat(1000))));
        assert!(depth_bounded(&format!("\"{}\\\"{}\"", "[".repeat(300), "{".repeat(300))));
    }
}
