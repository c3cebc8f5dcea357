//! Fragments of texts (RFC 5147): which lines or characters of a resource are asked for.

use crate::error::{Error, ErrorKind, Result};

/// A part of a text. Counts are zero-based and exclude the end; no end is the end of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRange {
    /// Whole lines: `line=99,200` is lines 100 to 200.
    Lines {
        /// The first line.
        start: u64,
        /// The line after the last.
        end: Option<u64>,
    },
    /// Unicode code points.
    Chars {
        /// The first code point.
        start: u64,
        /// The one after the last.
        end: Option<u64>,
    },
}

/// What every refusal teaches.
const FORMS: &str = "write `line=99,200` for lines 100 to 200, `char=0,4096` for the first 4096 characters, \
                     or leave one number out (RFC 5147)";

/// Splits a URI at its first `#`.
pub fn split(uri: &str) -> (&str, Option<&str>) {
    match uri.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (uri, None),
    }
}

/// Reads a fragment, without its `#`.
///
/// # Errors
///
/// [`ErrorKind::InvalidFragment`] for positions, integrity checks, an end before its start, and all other schemes.
pub fn parse(fragment: &str) -> Result<TextRange> {
    let fault = |what: &str| {
        Error::new(ErrorKind::InvalidFragment, format!("#{fragment}"), format!("{what}; {FORMS}"))
    };
    let (range, check) = match fragment.split_once(';') {
        Some((range, check)) => (range, Some(check)),
        None => (fragment, None),
    };
    let Some((scheme, range)) =
        range.split_once('=').filter(|(scheme, _)| matches!(*scheme, "line" | "char"))
    else {
        return Err(fault("this is no part of a text"));
    };
    if let Some(check) = check {
        return Err(fault(&format!("the integrity check `;{check}` is not understood")));
    }
    let Some((start, end)) = range.split_once(',') else {
        return Err(fault("this is a position, not a range"));
    };
    if start.is_empty() && end.is_empty() {
        return Err(fault("the range has no number"));
    }
    let number = |text: &str| -> Result<Option<u64>> {
        if text.is_empty() {
            return Ok(None);
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(fault(&format!("`{text}` is not a number")));
        }
        text.parse().map(Some).map_err(|_| fault(&format!("`{text}` is too large")))
    };
    let (start, end) = (number(start)?.unwrap_or(0), number(end)?);
    if end.is_some_and(|end| end < start) {
        return Err(fault("the range ends before it starts"));
    }
    Ok(if scheme == "line" {
        TextRange::Lines { start, end }
    } else {
        TextRange::Chars { start, end }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let check = |text, expected| assert_eq!(parse(text).unwrap(), expected, "{text}");
        check("line=99,200", TextRange::Lines { start: 99, end: Some(200) });
        check("char=0,4096", TextRange::Chars { start: 0, end: Some(4096) });
        check("line=10,", TextRange::Lines { start: 10, end: None });
        check("char=,7", TextRange::Chars { start: 0, end: Some(7) });
        check("line=5,5", TextRange::Lines { start: 5, end: Some(5) });
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_form_that_is() {
        let check = |text: &str, reason: &str| {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidFragment, "{text}");
            assert_eq!(error.subject(), format!("#{text}"));
            assert!(error.detail().starts_with(reason), "{text}: {error}");
            assert!(error.detail().contains("`line=99,200`"), "{error}");
        };
        check("line=10", "this is a position");
        check("line=9,3", "the range ends before it starts");
        check("line=,", "the range has no number");
        check("line=a,3", "`a` is not a number");
        check("line=+1,3", "`+1` is not a number");
        check("line=1,2,3", "`2,3` is not a number");
        check("char=0,99999999999999999999", "`99999999999999999999` is too large");
        check("line=0,5;length=9", "the integrity check `;length=9`");
        check("char=0,5;md5=d41d8cd98f00b204e9800998ecf8427e,UTF-8", "the integrity check `;md5=");
        check("Line=0,5", "this is no part of a text");
        check("section-2", "this is no part of a text");
        check("L10-L20", "this is no part of a text");
        check("", "this is no part of a text");
    }

    #[test]
    fn a_uri_is_split_at_its_first_mark() {
        let check = |uri, expected| assert_eq!(split(uri), expected);
        check("docs://a/b#line=1,2", ("docs://a/b", Some("line=1,2")));
        check("docs://a/b#", ("docs://a/b", Some("")));
        check("docs://a/b", ("docs://a/b", None));
        check("docs://a/b#x#y", ("docs://a/b", Some("x#y")));
    }
}
