//! What of a resource's value is offered: the value, or the entry of a path at the depth that is typed.

use pressmark_index::resource::Value;
use pressmark_index::uri_template::{Modifier, Operator, UriTemplate};

/// How values of a variable are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole: `{x}`, `{?x}` and the like.
    Plain,
    /// One segment at a time: `{/x*}`.
    Path,
    /// One segment at a time, URI-spelled: `{+x}`. What the escapes stand for is typed.
    EscapedPath,
}

pub(crate) fn kind(template: &UriTemplate, variable: &str) -> Option<Kind> {
    let spec = template.variables().find(|spec| spec.name == variable)?;
    let path = match spec.modifier {
        Modifier::None => spec.operator == Operator::Reserved,
        Modifier::Explode => spec.operator == Operator::PathSegment,
        Modifier::Prefix(_) => false,
    };
    let escaped = spec.operator == Operator::Reserved;
    Some(match (path, escaped) {
        (true, true) => Kind::EscapedPath,
        (true, false) => Kind::Path,
        (false, _) => Kind::Plain,
    })
}

/// A URI-spelled path as a person reads it: escapes undone in each segment, unless that makes another slash.
pub(crate) fn readable(kind: Kind, text: &str) -> String {
    if kind != Kind::EscapedPath {
        return text.to_owned();
    }
    let segments = text.split('/').map(|segment| match undone(segment) {
        Some(undone) if !undone.contains('/') => undone,
        _ => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

fn undone(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut pieces = text.split('%');
    bytes.extend_from_slice(pieces.next()?.as_bytes());
    for piece in pieces {
        let (hex, rest) = piece.split_at_checked(2)?;
        let is_hex = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(hex, 16).ok().filter(|_| is_hex)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// The entry that this value has for what is typed so far; none where it ends before, or cannot be typed.
pub(crate) fn entry(kind: Kind, value: &Value, typed: &str) -> Option<String> {
    let segments: Vec<&str> = match (kind, value) {
        (Kind::Plain, Value::String(text)) => return Some(text.clone()),
        (Kind::Path | Kind::EscapedPath, Value::String(text)) => text.split('/').collect(),
        (Kind::Path, Value::List(items)) => items.iter().map(String::as_str).collect(),
        _ => return None,
    };
    let depth = typed.matches('/').count();
    if depth >= segments.len() {
        return None;
    }
    let upto = &segments[..=depth];
    let ambiguous = |segment: &&str| segment.is_empty() || segment.contains('/');
    if matches!(value, Value::List(_)) && upto.iter().any(ambiguous) {
        return None;
    }
    let is_folder = depth + 1 < segments.len();
    Some(upto.join("/") + if is_folder { "/" } else { "" })
}

/// Whether a chosen value is this one, or a folder above it.
pub(crate) fn is_chosen(kind: Kind, value: &Value, chosen: &str) -> bool {
    let whole = match value {
        Value::String(text) => text.clone(),
        Value::List(items) => items.join("/"),
        Value::Map(_) => return false,
    };
    let below_folder = kind != Kind::Plain
        && chosen.ends_with('/')
        && entry(kind, value, &chosen[..chosen.len() - 1]).as_deref() == Some(chosen);
    let offered = entry(kind, value, &whole).as_deref() == Some(&whole);
    below_folder || (offered && whole == chosen)
}

#[test]
fn entries() {
    let text = |text: &str| Value::String(text.to_owned());
    let list = |items: &[&str]| Value::List(items.iter().map(|item| (*item).to_owned()).collect());
    for (kind, value, typed, wanted) in [
        (Kind::Plain, text("a/b"), "x", Some("a/b")),
        (Kind::Path, text("a/b/c.md"), "", Some("a/")),
        (Kind::Path, text("a/b/c.md"), "zz", Some("a/")),
        (Kind::Path, text("a/b/c.md"), "a/", Some("a/b/")),
        (Kind::Path, text("a/b/c.md"), "a/b/", Some("a/b/c.md")),
        (Kind::Path, text("a/b/c.md"), "a/b/c/", None),
        (Kind::Path, text("top.md"), "", Some("top.md")),
        (Kind::Path, list(&["a", "b"]), "", Some("a/")),
        (Kind::Path, list(&["a", "b"]), "a/", Some("a/b")),
        (Kind::Path, list(&["a", "x/y", "b"]), "", Some("a/")),
        (Kind::Path, list(&["a", "x/y", "b"]), "a/", None),
        (Kind::Path, list(&["a", "x/y", "b"]), "a/x/", None),
    ] {
        assert_eq!(entry(kind, &value, typed).as_deref(), wanted, "{value:?} {typed}");
    }
    for (kind, value, chosen, wanted) in [
        (Kind::Plain, text("a"), "a", true),
        (Kind::Plain, text("a"), "A", false),
        (Kind::Plain, text("a/b"), "a/", false),
        (Kind::Path, text("a/b/c.md"), "a/", true),
        (Kind::Path, text("a/b/c.md"), "a/b/", true),
        (Kind::Path, text("a/b/c.md"), "a/b", false),
        (Kind::Path, text("a/b/c.md"), "a/b/c.md", true),
        (Kind::Path, list(&["a", "b"]), "a/b", true),
        (Kind::Path, list(&["a", "b"]), "a/", true),
        (Kind::Path, list(&["a", "b/c"]), "a/b/c", false),
    ] {
        assert_eq!(is_chosen(kind, &value, chosen), wanted, "{value:?} {chosen}");
    }
}
