//! Resource records as people and programs write them: one JSON object a line (NDJSON).
//!
//! The fields are those of the `Resource` of the schema plus the contents, the place (`uri`, or
//! `space` and `variables`), `pinned` and `acl`. A record that is wrong is refused with its field and reason.

use pressmark_index::resource::{Annotations, Binding, Body, Part, Resource, Value};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::fields::{self, RecordError, wrong};
use super::json_fields;
use super::unique_names::UniqueNames;

/// A record as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawRecord<'a> {
    uri: Option<String>,
    space: Option<String>,
    variables: Option<UniqueNames<RawVariable>>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
    #[serde(borrow)]
    contents: Option<Vec<RawPart<'a>>>,
    #[serde(default)]
    annotations: RawAnnotations,
    size: Option<u64>,
    #[serde(borrow)]
    icons: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(default)]
    pinned: bool,
    acl: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a variable is a string, a list of strings, or an object of strings whose names differ"
)]
enum RawVariable {
    String(String),
    List(Vec<String>),
    Map(UniqueNames<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawPart<'a> {
    uri: Option<String>,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawAnnotations {
    #[serde(default)]
    audience: Vec<String>,
    priority: Option<f64>,
    last_modified: Option<String>,
}

/// Reads one line of NDJSON; `default_space` is the space of records that name none.
///
/// # Errors
/// What is wrong, with the field.
pub fn parse(line: &[u8], default_space: &str) -> Result<Resource, RecordError> {
    let text = fields::utf8("", line)?;
    if let Some(kind) = other_kind(text.trim_ascii_start()) {
        return wrong(
            "",
            format!(
                "not a resource record: {kind} where an object must stand; write one object a line"
            ),
        );
    }
    let raw: RawRecord<'_> = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => return wrong("", not_a_record(&error)),
    };
    let space = raw.space.unwrap_or_else(|| default_space.to_owned());
    if space != default_space {
        return wrong(
            "space",
            format!("the record is of the space `{space}`, and `{default_space}` is loaded"),
        );
    }
    let variables = raw.variables.map(|all| all.0.into_iter().map(binding).collect());
    let address = fields::address(raw.uri, variables)?;
    let contents = match (raw.contents, raw.text, raw.blob) {
        (Some(parts), None, None) => parts.into_iter().map(part).collect::<Result<_, _>>()?,
        (None, text, blob) => {
            vec![Part { uri: None, mime_type: None, meta: None, body: body(text, blob)? }]
        }
        (Some(_), _, _) => {
            return wrong("contents", "a record has `contents`, or one of `text` and `blob`");
        }
    };
    Ok(Resource {
        space,
        address,
        name: raw.name,
        title: raw.title,
        description: raw.description,
        mime_type: raw.mime_type,
        contents,
        annotations: annotations(raw.annotations)?,
        size: raw.size,
        icons: raw.icons.map(json_fields::icons).transpose()?,
        meta: raw.meta.map(|meta| json_fields::meta(meta, "_meta")).transpose()?,
        pinned: raw.pinned,
        acl: raw.acl,
        source: None,
    })
}

/// Why a file is no NDJSON, by its first line that is not empty and the first byte behind it: JSON over several lines has no
/// line that is a record, and would be refused line by line.
pub(super) fn not_ndjson(first_line: &[u8], next: Option<u8>) -> Option<&'static str> {
    let begins = first_line.trim_ascii_start().first().copied();
    let is_cut = serde_json::from_slice::<IgnoredAny>(first_line)
        .is_err_and(|error| error.is_eof() || begins == Some(b'['));
    match (begins, next) {
        (Some(b'['), None) => Some(ARRAY),
        (Some(b'['), Some(_)) if is_cut => Some(ARRAY),
        // A record that was cut off stands before another one.
        (Some(b'{'), _) if first_line.trim_ascii() == b"{" => Some(PRETTY_PRINTED),
        (Some(b'{'), Some(next)) if is_cut && next != b'{' => Some(PRETTY_PRINTED),
        _ => None,
    }
}

const ARRAY: &str = "it is a JSON array, and NDJSON has one object a line without an array around them: convert it, e.g. with `jq -c '.[]'`; nothing of it was loaded";
const PRETTY_PRINTED: &str = "it is JSON with objects over several lines, and NDJSON has one object a line: convert it, e.g. with `jq -c .`; nothing of it was loaded";

/// What begins like no object; serde would take an array for a struct as well.
fn other_kind(text: &str) -> Option<&'static str> {
    match text.bytes().next()? {
        b'[' => Some("an array"),
        b'"' => Some("a string"),
        b'0'..=b'9' | b'-' => Some("a number"),
        b't' | b'f' | b'n' if matches!(text.trim_ascii_end(), "true" | "false" | "null") => {
            Some("a literal")
        }
        _ => None,
    }
}

/// The parser counts lines within the record, which is always the first: only the column helps.
fn not_a_record(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&place).unwrap_or(&text);
    format!("not a resource record: {what} (column {})", error.column())
}

fn binding((name, value): (String, RawVariable)) -> Binding {
    let value = match value {
        RawVariable::String(text) => Value::String(text),
        RawVariable::List(items) => Value::List(items),
        RawVariable::Map(pairs) => Value::Map(pairs.0.into_iter().collect()),
    };
    Binding { name, value }
}

fn part(raw: RawPart<'_>) -> Result<Part, RecordError> {
    Ok(Part {
        uri: raw.uri,
        mime_type: raw.mime_type,
        meta: raw.meta.map(|meta| json_fields::meta(meta, "contents._meta")).transpose()?,
        body: body(raw.text, raw.blob)?,
    })
}

fn body(text: Option<String>, blob: Option<String>) -> Result<Body, RecordError> {
    match (text, blob) {
        (Some(text), None) => Ok(Body::Text(text)),
        (None, Some(blob)) => fields::blob("blob", &blob).map(Body::Blob),
        (Some(_), Some(_)) => wrong("blob", "a record has `text` or `blob`, not both"),
        (None, None) => wrong("text", "a record needs `text`, `blob` or `contents`"),
    }
}

fn annotations(raw: RawAnnotations) -> Result<Annotations, RecordError> {
    let audience = raw
        .audience
        .iter()
        .map(|who| fields::role("annotations.audience", who))
        .collect::<Result<_, _>>()?;
    let last_modified = raw
        .last_modified
        .as_deref()
        .map(|time| fields::timestamp("annotations.lastModified", time))
        .transpose()?;
    Ok(Annotations { audience, priority: raw.priority, last_modified })
}

#[cfg(test)]
mod tests {
    use pressmark_index::resource::{Address, RawJson};

    use super::*;
    use expect_test::{Expect, expect};

    fn check(line: &str, wanted: &Expect) {
        match parse(line.as_bytes(), "s") {
            Ok(resource) => wanted.assert_debug_eq(&resource),
            Err(error) => wanted.assert_eq(&error.to_string()),
        }
    }

    #[test]
    fn all_fields_are_read() {
        let line = r#"{"uri":"a://b/c","name":"n","title":"t","description":"d","mimeType":"text/x","contents":[{"text":"x"},{"uri":"a://b/c#1","mimeType":"image/png","blob":"AP8=","_meta":{ "k" : 1 }}],"annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2025-01-12T17:00:58+02:00"},"size":3,"icons":[ ],"_meta":{"m":true},"pinned":true,"acl":["g"]}"#;
        let resource = parse(line.as_bytes(), "s").unwrap();
        assert_eq!(resource.annotations.last_modified, Some(1_736_694_058_000));
        assert_eq!(resource.contents.len(), 2);
        assert_eq!(resource.contents[1].meta, Some(RawJson(r#"{"k":1}"#.into())));
        assert_eq!(resource.contents[1].body, Body::Blob(vec![0, 255]));
        assert_eq!(resource.acl, Some(vec!["g".to_owned()]));
        assert!(resource.pinned);
    }

    #[test]
    fn variables_are_strings_lists_or_maps() {
        let line = r#"{"variables":{"a":"x","b":["y","z"],"c":{"k":"v"}},"text":""}"#;
        let Address::Variables(bindings) = parse(line.as_bytes(), "s").unwrap().address else {
            panic!()
        };
        assert_eq!(bindings[1].value, Value::List(vec!["y".into(), "z".into()]));
        assert_eq!(bindings[2].value, Value::Map(vec![("k".into(), "v".into())]));
    }

    #[test]
    fn what_says_its_place_twice_is_for_the_engine_to_compare() {
        let line = r#"{"uri":"a://x","variables":{"a":"x"},"text":""}"#;
        let address = parse(line.as_bytes(), "s").unwrap().address;
        assert!(
            matches!(&address, Address::Both { uri, variables } if uri == "a://x" && variables.len() == 1)
        );
    }

    #[test]
    fn wrong_records_name_the_field_and_the_reason() {
        check("", &expect!["not a resource record: EOF while parsing a value (column 0)"]);
        check(
            r#" "text""#,
            &expect![
                "not a resource record: a string where an object must stand; write one object a line"
            ],
        );
        check(
            "[]",
            &expect![
                "not a resource record: an array where an object must stand; write one object a line"
            ],
        );
        check(
            r#"{"uri":"a://b","text":"","variables":{"a":1}}"#,
            &expect![
                "not a resource record: a variable is a string, a list of strings, or an object of strings whose names differ (column 44)"
            ],
        );
        check(
            r#"{"uri":"a://b","txt":""}"#,
            &expect![
                "not a resource record: unknown field `txt`, expected one of `uri`, `space`, `variables`, `name`, `title`, `description`, `mimeType`, `text`, `blob`, `contents`, `annotations`, `size`, `icons`, `_meta`, `pinned`, `acl` (column 20)"
            ],
        );
        check(
            r#"{"uri":"a://b","uri":"a://c","text":""}"#,
            &expect!["not a resource record: duplicate field `uri` (column 20)"],
        );
        check(
            r#"{"variables":{"a":"x","a":"y"},"text":""}"#,
            &expect!["not a resource record: `a` stands twice (column 30)"],
        );
        check(
            r#"{"variables":{"a":{"k":"x","k":"y"}},"text":""}"#,
            &expect![
                "not a resource record: a variable is a string, a list of strings, or an object of strings whose names differ (column 36)"
            ],
        );
        check(
            r#"{"text":""}"#,
            &expect!["uri: a record needs `uri`, or `variables` of the space's template"],
        );
        check(r#"{"uri":"a://b"}"#, &expect!["text: a record needs `text`, `blob` or `contents`"]);
        check(
            r#"{"uri":"a://b","blob":"AP8"}"#,
            &expect!["blob: not base64 of the standard alphabet with padding"],
        );
        check(
            r#"{"uri":"a://b","text":"","annotations":{"lastModified":"yesterday"}}"#,
            &expect![
                "annotations.lastModified: `yesterday` is no time like `2025-01-12T15:00:58Z`"
            ],
        );
        check(
            r#"{"uri":"a://b","text":"","icons":{}}"#,
            &expect![
                "icons: not an array of icons ({\"src\": ...}): invalid type: map, expected a sequence"
            ],
        );
        check(
            r#"{"uri":"a://b","text":"","size":-1}"#,
            &expect![
                "not a resource record: invalid value: integer `-1`, expected u64 (column 34)"
            ],
        );
        check(
            r#"{"uri":"a://b","text":"","space":"other"}"#,
            &expect!["space: the record is of the space `other`, and `s` is loaded"],
        );
    }
    #[test]
    fn json_over_several_lines_is_told_from_ndjson() {
        for (first, next, wanted) in [
            ("[", Some(b'{'), Some(ARRAY)),
            ("[", None, Some(ARRAY)),
            ("[{\"uri\":\"a://b\"},", Some(b'{'), Some(ARRAY)),
            ("[{\"uri\":\"a://b\"}]", None, Some(ARRAY)),
            ("[1]", Some(b'{'), None),
            ("{", Some(b'"'), Some(PRETTY_PRINTED)),
            ("{\"uri\":", Some(b'"'), Some(PRETTY_PRINTED)),
            ("{\"uri\": \"a://b\",", Some(b'"'), Some(PRETTY_PRINTED)),
            ("{}", Some(b'}'), None),
            ("{\"uri\": \"a", Some(b'{'), None),
            ("{\"uri\": \"a", None, None),
            ("{\"uri\": x", Some(b'"'), None),
            ("text", Some(b'"'), None),
        ] {
            assert_eq!(not_ndjson(first.as_bytes(), next), wanted, "{first}");
        }
    }
}
