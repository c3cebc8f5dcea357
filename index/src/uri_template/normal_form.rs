//! The normal form of a URI (RFC 3986 section 6.2.2): one spelling for all that are equivalent.
//!
//! Scheme and host in lower case, triplets in upper case, triplets of unreserved characters decoded, dot segments
//! removed; beyond the RFC, characters that a URI cannot hold become triplets, and `file://localhost/` is `file:///`.
//! The normal form of a normal form is itself.

use std::fmt;

use super::encode::{
    AUTHORITY, CharSet, PATH, QUERY, TRIPLET_BYTES, UNRESERVED, push_char, push_triplet,
    triplet_at, triplet_char_at,
};

/// Why a text has no normal form, or none that may be stored. Positions are bytes in the text as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UriFault {
    /// Triplets that are not UTF-8 once decoded.
    NotUtf8 { position: usize },
    /// A percent sign without two hexadecimal digits.
    BarePercent { position: usize },
    /// No scheme.
    NoScheme,
    /// A segment `.` or `..`, in any spelling.
    DotSegment,
}

impl fmt::Display for UriFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { position } => write!(
                f,
                "the escapes at byte {position} are not UTF-8 (a host that escapes in UTF-16 does it right in a template with `{{+v}}`)"
            ),
            Self::BarePercent { position } => {
                write!(
                    f,
                    "`%` without two hexadecimal digits at byte {position} (a percent sign itself is written `%25`)"
                )
            }
            Self::NoScheme => f.write_str("it has no scheme, such as `docs://`"),
            Self::DotSegment => {
                f.write_str("a path segment is `.` or `..` once its escapes are decoded")
            }
        }
    }
}

/// What a URI is normalised for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To look it up. A percent sign without digits stays, because hosts undo `%25` before they ask.
    Ask,
    /// To store it. Bare percent signs, dot segments and a missing scheme are faults.
    Store,
}

/// The first part of a URI's hierarchy, around its path.
struct Split<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

/// The normal form; `uri` may be any text.
pub(crate) fn normal_form(uri: &str, purpose: Purpose) -> Result<String, UriFault> {
    let split = split(uri);
    let mut out = String::with_capacity(uri.len() + 16);
    if let Some(scheme) = split.scheme {
        out.push_str(&scheme.to_ascii_lowercase());
        out.push(':');
    }
    if let Some(authority) = split.authority {
        out.push_str("//");
        let text = normal_authority(authority, offset_in(uri, authority), purpose)?;
        out.push_str(file_authority(&out, &text));
    }
    let mut path = String::with_capacity(split.path.len() + 16);
    // Without a scheme, a colon behind decoded letters would make one (RFC 3986 section 4.2).
    let raw = if split.scheme.is_some() { PATH } else { PATH.without(b':') };
    push_normal(&mut path, split.path, offset_in(uri, split.path), raw, purpose)?;
    match purpose {
        Purpose::Ask => push_without_dot_segments(&mut out, &path, split.authority.is_some()),
        Purpose::Store => out.push_str(&path),
    }
    for (mark, text) in [('?', split.query), ('#', split.fragment)] {
        if let Some(text) = text {
            out.push(mark);
            push_normal(&mut out, text, offset_in(uri, text), QUERY, purpose)?;
        }
    }
    if purpose == Purpose::Store && split.scheme.is_none() {
        return Err(UriFault::NoScheme);
    }
    if purpose == Purpose::Store && has_dot_segments(&out) {
        return Err(UriFault::DotSegment);
    }
    Ok(out)
}

/// Whether the text is its own normal form for certain; `false` also where finding out would take longer.
pub(crate) fn is_normal(uri: &str) -> bool {
    let bytes = uri.as_bytes();
    let colon = run_end(bytes, 0, &PLAIN_SCHEME);
    if bytes.get(colon) != Some(&b':') || !bytes.first().is_some_and(u8::is_ascii_lowercase) {
        return false;
    }
    let begin = colon + 1;
    let Some(authority) = bytes.get(begin..).and_then(|rest| rest.strip_prefix(b"//")) else {
        return is_normal_after_authority(bytes, begin);
    };
    let length = run_end(authority, 0, &PLAIN_AUTHORITY);
    let ends = matches!(authority.get(length), None | Some(b'/' | b'?' | b'#'));
    let file_host = length > 0 && bytes.get(..colon) == Some(b"file");
    ends && !file_host && is_normal_after_authority(bytes, begin + "//".len() + length)
}

const UPPER: CharSet = CharSet::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");
static PLAIN_SCHEME: [bool; 256] = CharSet::of(b"abcdefghijklmnopqrstuvwxyz0123456789+-.").table();
/// What [`is_normal`] takes in an authority without a closer look.
static PLAIN_AUTHORITY: [bool; 256] = AUTHORITY.minus(UPPER).minus(CharSet::of(b"@[]")).table();
static PLAIN_PATH: [bool; 256] = PATH.without(b'/').table();
static PLAIN_QUERY: [bool; 256] = QUERY.table();

/// Where the characters of the table end.
fn run_end(bytes: &[u8], begin: usize, table: &[bool; 256]) -> usize {
    let other = |&byte: &u8| !table.get(usize::from(byte)).copied().unwrap_or(false);
    let rest = bytes.get(begin..).unwrap_or_default();
    rest.iter().position(other).map_or(bytes.len(), |length| begin + length)
}

fn is_normal_after_authority(bytes: &[u8], mut at: usize) -> bool {
    let mut plain = &PLAIN_PATH;
    let mut fragment = false;
    loop {
        at = run_end(bytes, at, plain);
        match bytes.get(at) {
            None => return true,
            Some(b'/') => {
                if begins_with_dot_segment(bytes.get(at + 1..).unwrap_or_default()) {
                    return false;
                }
                at += 1;
            }
            Some(b'?') => {
                plain = &PLAIN_QUERY;
                at += 1;
            }
            Some(b'#') if !fragment => {
                plain = &PLAIN_QUERY;
                fragment = true;
                at += 1;
            }
            Some(b'%') => {
                let Some(end) = normal_triplets_end(bytes, at) else {
                    return false;
                };
                at = end;
            }
            Some(_) => return false,
        }
    }
}

/// Where the character ends whose normal triplets begin at `at`.
fn normal_triplets_end(bytes: &[u8], at: usize) -> Option<usize> {
    let byte = triplet_at(bytes, at)?;
    let end = match byte {
        0..=127 => Some(at + TRIPLET_BYTES).filter(|_| !UNRESERVED.has(byte))?,
        128.. => triplet_char_at(bytes, at)?.1,
    };
    bytes.get(at..end)?.iter().all(|byte| !byte.is_ascii_lowercase()).then_some(end)
}

fn begins_with_dot_segment(path: &[u8]) -> bool {
    let ends = |at: usize| matches!(path.get(at), None | Some(b'/' | b'?' | b'#'));
    match path {
        [b'.', b'.', ..] => ends(2),
        [b'.', ..] => ends(1),
        _ => false,
    }
}

/// Whether a segment of a normalised URI is `.` or `..` once it is decoded; `%2F` ends a segment.
pub(crate) fn has_dot_segments(uri: &str) -> bool {
    let bytes = uri.as_bytes();
    let end = memchr::memchr2(b'?', b'#', bytes).unwrap_or(bytes.len());
    let path = bytes.get(..end).unwrap_or(bytes);
    let ends =
        |at: usize| matches!(path.get(at), None | Some(b'/')) || triplet_at(path, at) == Some(b'/');
    let begins = |at: usize| {
        let before = path.get(..at).unwrap_or_default();
        let after_triplet = at.checked_sub(TRIPLET_BYTES).and_then(|at| triplet_at(path, at));
        match before.last() {
            None | Some(b'/') => true,
            Some(b':') => scheme_end(uri) == Some(at - 1),
            Some(_) => after_triplet == Some(b'/'),
        }
    };
    let is_dots = |at: usize| ends(at + 1) || (path.get(at + 1) == Some(&b'.') && ends(at + 2));
    memchr::memchr_iter(b'.', path).any(|at| is_dots(at) && begins(at))
}

/// Where the colon stands behind the scheme (RFC 3986 section 3.1).
pub(crate) fn scheme_end(uri: &str) -> Option<usize> {
    let colon = uri.find(':')?;
    let scheme = uri.get(..colon)?.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    (scheme.first().is_some_and(u8::is_ascii_alphabetic) && scheme.iter().all(plain))
        .then_some(colon)
}

fn split(uri: &str) -> Split<'_> {
    let (scheme, rest) = match scheme_end(uri).and_then(|colon| uri.split_at_checked(colon)) {
        Some((scheme, rest)) => (Some(scheme), rest.strip_prefix(':').unwrap_or(rest)),
        None => (None, uri),
    };
    let (rest, fragment) = split_off(rest, '#');
    let (rest, query) = split_off(rest, '?');
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            rest.split_at_checked(end)
                .map_or((None, rest), |(authority, path)| (Some(authority), path))
        }
        None => (None, rest),
    };
    Split { scheme, authority, path, query, fragment }
}

fn split_off(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset_in(whole: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}

/// User information keeps its case, the host loses it.
pub(super) fn normal_authority(
    authority: &str,
    position: usize,
    purpose: Purpose,
) -> Result<String, UriFault> {
    let mut out = String::with_capacity(authority.len());
    push_normal(&mut out, authority, position, AUTHORITY, purpose)?;
    let host = out.rfind('@').map_or(0, |at| at + 1);
    let mut lower = out.get(..host).unwrap_or_default().to_owned();
    let mut rest = out.get(host..).unwrap_or_default();
    while let Some(first) = rest.chars().next() {
        let length =
            if triplet_at(rest.as_bytes(), 0).is_some() { TRIPLET_BYTES } else { first.len_utf8() };
        let (head, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if length == TRIPLET_BYTES {
            lower.push_str(head);
        } else {
            lower.push(first.to_ascii_lowercase());
        }
        rest = tail;
    }
    Ok(lower)
}

/// In a `file` URI, `localhost` is the empty name (RFC 8089 section 2). Other hosts stay: a URI names a resource of
/// the store, and no file is opened for it.
pub(super) fn file_authority<'a>(before: &str, authority: &'a str) -> &'a str {
    if before == "file://" && authority == "localhost" { "" } else { authority }
}

/// Appends one part of a URI in its normal form; `position` is where it stands in the whole.
pub(super) fn push_normal(
    out: &mut String,
    text: &str,
    position: usize,
    raw: CharSet,
    purpose: Purpose,
) -> Result<(), UriFault> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut last_bare = None;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if character != '%' {
            push_char(out, character, raw);
            at += character.len_utf8();
            continue;
        }
        match triplet_at(bytes, at) {
            None if purpose == Purpose::Store => {
                return Err(UriFault::BarePercent { position: position + at });
            }
            None => {
                last_bare = Some(out.len());
                out.push('%');
                at += 1;
            }
            Some(128..) => {
                let Some((character, end)) = triplet_char_at(bytes, at) else {
                    return Err(UriFault::NotUtf8 { position: position + at });
                };
                push_char(out, character, raw);
                at = end;
            }
            Some(byte) => {
                // Decoding a digit behind a bare percent sign would make a triplet that was not there.
                let makes_triplet = byte.is_ascii_hexdigit()
                    && last_bare.is_some_and(|bare: usize| out.len() < bare + TRIPLET_BYTES);
                if UNRESERVED.has(byte) && !makes_triplet {
                    out.push(char::from(byte));
                } else {
                    push_triplet(out, byte);
                }
                at += TRIPLET_BYTES;
            }
        }
    }
    Ok(())
}

/// `remove_dot_segments` (RFC 3986 section 5.2.4) of a path with a root; another path has no segments to remove.
fn push_without_dot_segments(out: &mut String, path: &str, has_authority: bool) {
    let Some(relative) = path.strip_prefix('/') else {
        out.push_str(path);
        return;
    };
    let mut segments: Vec<&str> = Vec::new();
    let mut ends_in_folder = false;
    for segment in relative.split('/') {
        ends_in_folder = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    if ends_in_folder {
        segments.push("");
    }
    if !has_authority && segments.len() > 1 && segments.first() == Some(&"") {
        // Without this the path would be read as an authority.
        out.push_str("/.");
    }
    for segment in &segments {
        out.push('/');
        out.push_str(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lenient(uri: &str) -> Result<String, UriFault> {
        normal_form(uri, Purpose::Ask)
    }

    #[test]
    fn equivalent_spellings_have_one_normal_form() {
        let check = |uri: &str, expected: &str| {
            assert_eq!(lenient(uri).as_deref(), Ok(expected), "{uri}");
            assert_eq!(lenient(expected).as_deref(), Ok(expected), "{expected} again");
        };
        check("HTTP://User@EXAMPLE.Com/A%7eb%2fc", "http://User@example.com/A~b%2Fc");
        check("http://ex%41mple%2F/", "http://example%2F/");
        check("docs://a/b/../c/./d", "docs://a/c/d");
        check("docs://a/%2e%2E/x", "docs://a/x");
        check("docs://a/b/..", "docs://a/");
        check("docs://a/../../b", "docs://a/b");
        check("docs://a//b", "docs://a//b");
        check("docs:/.//b", "docs:/.//b");
        check("docs:/x/..//b", "docs:/.//b");
        check("urn:a/../b", "urn:a/../b");
        check("docs://a/日 本?ü#[x]#", "docs://a/%E6%97%A5%20%E6%9C%AC?%C3%BC#%5Bx%5D%23");
        check("http://[::1]:80/[x]", "http://[::1]:80/%5Bx%5D");
        check("docs://a/100%_done%", "docs://a/100%_done%");
        check("docs://a/%%341", "docs://a/%%341");
        check("docs://a/%4%31", "docs://a/%4%31");
        check("file://LOCALHOST/x", "file:///x");
        check("file:///x", "file:///x");
        check("docs://a?x=../y", "docs://a?x=../y");
        check("no scheme", "no%20scheme");
        check("x%41:", "xA%3A");
        check("", "");
    }

    #[test]
    fn what_is_not_utf8_is_refused_where_it_stands() {
        let check = |uri, fault| assert_eq!(lenient(uri), Err(fault), "{uri}");
        check("x://a/caf%E9", UriFault::NotUtf8 { position: 9 });
        check("x://a/%C3é%A9", UriFault::NotUtf8 { position: 6 });
        check("x://a/?q=%D83D%DE00", UriFault::NotUtf8 { position: 9 });
    }

    #[test]
    fn dot_segments_are_seen_once_decoded() {
        let check = |uri, expected| assert_eq!(has_dot_segments(uri), expected, "{uri}");
        check("file://docs/..%2F..%2Fetc", true);
        check("file://docs/a/..", true);
        check("file://docs/.", true);
        check("doc:..", true);
        check("file://docs/...", false);
        check("file://docs/a..b/.c/d.", false);
        check("file://docs/a?x=/../", false);
        check("file:///", false);
    }

    proptest! {
        #[test]
        fn normalising_twice_is_normalising_once(uri in "(x|File|X)?:?/{0,3}([a-cA-C/.?#%@:\\[é ]|%25|%2e|%41|%3[0-9]|%c3%a9|%2f){0,24}") {
            if let Ok(once) = lenient(&uri) {
                prop_assert_eq!(lenient(&once), Ok(once.clone()));
                if is_normal(&uri) {
                    prop_assert_eq!(&once, &uri);
                }
            }
        }
    }
}
