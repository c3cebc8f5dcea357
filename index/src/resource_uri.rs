//! URIs of resources: their normal form, the spellings that hosts make of them, and paths inside them.
//!
//! # Aliases
//!
//! Hosts undo some escapes before they ask: `%2F`, `%25`, `%2B`, `%26`. The alias of a stored URI is its spelling with
//! all four undone, once, normalised and in Unicode's form NFC; [`alias_candidates`] says what to look up for what a
//! host asks. Whatever of the four a host has undone, one of the candidates is the alias (or the URI itself), with two
//! exceptions that no rule can mend, because the text no longer says what was undone:
//!
//! - a stored URI with an escaped escape (`%25` before two hexadecimal digits) asked by a host that undoes `%25` but
//!   leaves another of the four that occurs; all undone and none undone are found even then;
//! - a host's spelling that is no URI: `a%25E9` becomes `a%E9`, which is not UTF-8 and refused before any look-up.
//!
//! # Delimiters
//!
//! Hosts undo the escapes of delimiters as well (`%28` becomes `(`), and templates escape them only where a variable
//! stands. So another spelling is not stored but looked for, and only when nothing else was found: [`delimiter_spellings`]
//! says what. A URI that has some of them escaped and others not, in one variable, is found by its own spelling only.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::error::{Error, ErrorKind, Result};
use crate::uri_template::{
    PATH, Purpose, UriFault, decode, has_dot_segments, is_normal, normal_form, push_char,
    push_escaped, scheme_end, triplet_char_at,
};

/// A URI may not be longer. Bytes.
pub const URI_BYTES_MAX: usize = 8 * 1024;

/// What hosts undo, and what becomes of it.
const UNDONE_ESCAPES: [(&str, char); 4] = [("%2F", '/'), ("%25", '%'), ("%2B", '+'), ("%26", '&')];

/// Delimiters that hosts undo besides those that aliases are for (RFC 3986 section 2.2, and what a path may hold).
const DELIMITERS: &[u8] = b"!'()*,:;=@$";
/// Those of them with which templates separate and name values.
const SEPARATORS: &[u8] = b",;=";

/// The normal form (RFC 3986 section 6.2.2) of a URI that is asked for; borrowed when it is that already.
///
/// Lenient: what a URI cannot hold becomes UTF-8 triplets, a bare percent sign stays.
///
/// # Errors
///
/// [`ErrorKind::InvalidUri`] when escapes are not UTF-8 or a `file` URI names another machine,
/// [`ErrorKind::LimitExceeded`] above [`URI_BYTES_MAX`].
pub fn normalise(uri: &str) -> Result<Cow<'_, str>> {
    check_length(uri)?;
    if is_normal(uri) {
        return Ok(Cow::Borrowed(uri));
    }
    normal_form(uri, Purpose::Ask).map(Cow::Owned).map_err(|fault| invalid(uri, &fault))
}

/// The normal form of a URI that is to be stored.
///
/// # Errors
///
/// Besides those of [`normalise`]: a missing scheme, malformed escapes, and segments `.` and `..` in any spelling.
pub fn normalise_strict(uri: &str) -> Result<String> {
    check_length(uri)?;
    let normal = normal_form(uri, Purpose::Store).map_err(|fault| invalid(uri, &fault))?;
    check_length(&normal)?;
    Ok(normal)
}

/// Whether a URI has a scheme; no resource is stored under one that has none.
pub fn has_scheme(uri: &str) -> bool {
    scheme_end(uri).is_some()
}

/// The spelling of a stored URI that a host asks for after undoing escapes; `None` when it is the URI itself, or no URI.
pub fn alias_of(stored: &str) -> Option<String> {
    undone(stored).filter(|alias| alias != stored)
}

/// What to look up, in order, in the aliases and then in the resources, when a normalised URI is not found as it stands.
pub fn alias_candidates(asked_normalised: &str) -> Vec<String> {
    let mut candidates = vec![composed(asked_normalised)];
    candidates.extend(undone(asked_normalised).filter(|undone| candidates.first() != Some(undone)));
    candidates
}

/// Other spellings of a normalised URI with regard to its delimiters, behind the literal text that takes `literal_bytes`:
/// all escaped, all but those that separate values, none escaped.
pub fn delimiter_spellings(uri: &str, literal_bytes: usize) -> Vec<String> {
    let authority_end = uri.find("://").map(|at| at + "://".len()).and_then(|begin| {
        Some(begin + uri.get(begin..)?.find(['/', '?', '#']).unwrap_or(uri.len() - begin))
    });
    let path = authority_end.or_else(|| scheme_end(uri).map(|colon| colon + 1)).unwrap_or(0);
    let Some((literal, rest)) = uri.split_at_checked(path.max(literal_bytes)) else {
        return Vec::new();
    };
    let mut spellings: Vec<String> = Vec::new();
    for respelled in [
        escape_delimiters(rest, |_| true),
        escape_delimiters(rest, |byte| !SEPARATORS.contains(&byte)),
        undo_delimiters(rest),
    ] {
        let spelling = format!("{literal}{respelled}");
        if spelling != uri && spelling.len() <= URI_BYTES_MAX && !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    spellings
}

fn escape_delimiters(text: &str, wanted: impl Fn(u8) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(character) {
            Ok(byte) if DELIMITERS.contains(&byte) && wanted(byte) => {
                escaped.push_str(&format!("%{byte:02X}"));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

fn undo_delimiters(text: &str) -> String {
    let mut undone = text.to_owned();
    for byte in DELIMITERS {
        undone = undone.replace(&format!("%{byte:02X}"), &char::from(*byte).to_string());
    }
    undone
}

/// A path as it stands in a URI, `/` between its segments: how sources make the value of `{+path}` from a file's path.
pub fn escape_path(decoded_path: &str) -> String {
    let mut escaped = String::with_capacity(decoded_path.len() + 16);
    push_escaped(&mut escaped, decoded_path, PATH);
    escaped
}

/// The path that [`escape_path`] escaped; `None` for a bare percent sign or escapes that are not UTF-8.
pub fn decode_path(escaped: &str) -> Option<String> {
    decode(escaped)
}

/// The last segment that is not empty, with its query, decoded where it can be: a name for people.
pub fn last_segment(uri: &str) -> String {
    let uri = crate::fragment::split(uri).0;
    let after_scheme = scheme_end(uri).and_then(|colon| uri.get(colon + 1..)).unwrap_or(uri);
    let query_at = after_scheme.find('?').unwrap_or(after_scheme.len());
    let path = after_scheme.get(..query_at).unwrap_or(after_scheme).trim_end_matches('/');
    let begin = path.rfind('/').map_or(0, |slash| slash + 1);
    let segment = path.get(begin..).unwrap_or(path);
    let query = after_scheme.get(query_at..).unwrap_or_default();
    let text = format!("{segment}{query}");
    decode(&text).filter(|name| !name.is_empty()).unwrap_or(text)
}

fn check_length(uri: &str) -> Result<()> {
    if uri.len() <= URI_BYTES_MAX {
        return Ok(());
    }
    let begin: String = uri.chars().take(64).collect();
    let detail = format!("the URI is longer than {URI_BYTES_MAX} bytes");
    Err(Error::new(ErrorKind::LimitExceeded, format!("{begin}..."), detail))
}

fn invalid(uri: &str, fault: &UriFault) -> Error {
    Error::new(ErrorKind::InvalidUri, uri, fault.to_string())
}

/// The four escapes undone, once, then the normal form, then NFC.
///
/// Where that is no URI because an undone `%25` spells what is not UTF-8, `%25` stays: hosts that undo it are refused
/// with what they ask, the others still find the resource.
fn undone(uri: &str) -> Option<String> {
    // Undoing must not make a way up: no stored URI has dot segments, in any spelling, and one that had
    // them resolved would be another resource's or a folder's.
    let normal = |text: String| {
        Some(text)
            .filter(|text| !has_dot_segments(&text.replace("%2e", ".").replace("%2E", ".")))
            .and_then(|text| normal_form(&text, Purpose::Ask).ok())
    };
    let with_percent = normal(undo(uri, |_| true)?);
    let normal = with_percent.or_else(|| normal(undo(uri, |raw| raw != '%')?))?;
    Some(composed(&normal))
}

/// Undoes those of the four escapes that stand for a character that is `wanted`.
fn undo(uri: &str, wanted: impl Fn(char) -> bool) -> Option<String> {
    let mut text = String::with_capacity(uri.len());
    let mut rest = uri;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at_checked(at)?;
        text.push_str(before);
        let undone = UNDONE_ESCAPES
            .iter()
            .filter(|(_, raw)| wanted(*raw))
            .find_map(|(triplet, raw)| Some((*raw, escape.strip_prefix(triplet)?)));
        let (raw, after) = undone.or_else(|| Some(('%', escape.strip_prefix('%')?)))?;
        text.push(raw);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

/// The same with its text beyond ASCII in NFC: file systems store names decomposed that people type composed.
fn composed(normalised: &str) -> String {
    let bytes = normalised.as_bytes();
    let mut text = String::with_capacity(normalised.len());
    let mut at = 0;
    while let Some(character) = normalised.get(at..).and_then(|rest| rest.chars().next()) {
        if let Some((beyond_ascii, end)) = triplet_char_at(bytes, at) {
            text.push(beyond_ascii);
            at = end;
        } else {
            text.push(character);
            at += character.len_utf8();
        }
    }
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return normalised.to_owned();
    }
    let mut out = String::with_capacity(normalised.len());
    for character in text.nfc() {
        if character.is_ascii() {
            out.push(character);
        } else {
            push_char(&mut out, character, PATH);
        }
    }
    out
}
