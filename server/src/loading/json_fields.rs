//! Fields of a record that go on the wire as JSON: checked here, because a client refuses a whole page for one of
//! them that its schema does not allow.

use pressmark_index::resource::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::{RecordError, wrong};

/// `Icon` of the schema.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Icon {
    src: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theme: Option<Theme>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Theme {
    Light,
    Dark,
}

/// Schemes that clients must accept of an icon; they must refuse all others.
const ICON_SCHEMES: [&str; 3] = ["https:", "http:", "data:"];

/// `icons`, in the form of the schema.
pub(crate) fn icons(raw: &RawValue) -> Result<RawJson, RecordError> {
    let icons: Vec<Icon> = match serde_json::from_str(raw.get()) {
        Ok(icons) => icons,
        Err(error) => {
            return wrong(
                "icons",
                format!("not an array of icons ({{\"src\": ...}}): {}", text(&error)),
            );
        }
    };
    let scheme_fits = |icon: &&Icon| ICON_SCHEMES.iter().any(|scheme| icon.src.starts_with(scheme));
    if let Some(icon) = icons.iter().find(|icon| !scheme_fits(icon)) {
        return wrong("icons", format!("`{}` is no https, http or data URI", icon.src));
    }
    serde_json::to_string(&icons).map(RawJson).or_else(|error| wrong("icons", error.to_string()))
}

/// `_meta`: an object whose keys are of the form that the specification wants (basic, general fields), and neither
/// its own nor ours.
pub(crate) fn meta(raw: &RawValue, field: &str) -> Result<RawJson, RecordError> {
    let value: Value = match serde_json::from_str(raw.get()) {
        Ok(value) => value,
        Err(error) => return wrong(field, text(&error)),
    };
    let Value::Object(object) = &value else { return wrong(field, "must be an object") };
    for key in object.keys() {
        if let Err(reason) = check_key(key) {
            return wrong(field, format!("the key `{key}` {reason}"));
        }
    }
    Ok(RawJson(value.to_string()))
}

fn check_key(key: &str) -> Result<(), &'static str> {
    let (prefix, name) =
        key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let ends_fit = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    let name_fits = name.is_empty()
        || ends_fit(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if !name_fits {
        return Err(
            "has a name that does not consist of letters and digits with `-`, `_` or `.` between them",
        );
    }
    let Some(prefix) = prefix else { return Ok(()) };
    let label_fits = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic())
            && ends_fit(label)
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if !prefix.split('.').all(label_fits) {
        return Err("has a prefix that is no labels with dots between them");
    }
    match prefix.split('.').nth(1) {
        Some("modelcontextprotocol" | "mcp") => Err("is reserved by the protocol"),
        _ if prefix == "io.pressmark" => Err("is reserved by Pressmark"),
        _ => Ok(()),
    }
}

/// The parser's text without its place, which counts within the field.
fn text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn icons_are_those_of_the_schema() {
        let good = r#"[{"src":"https://e.example/x.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]"#;
        assert_eq!(icons(&raw(good)).unwrap().0, good);
        assert_eq!(icons(&raw("[ ]")).unwrap().0, "[]");
        for (bad, says) in [
            ("{}", "not an array of icons"),
            ("[{}]", "missing field `src`"),
            (r#"[{"src":"https://e","sizes":"48x48"}]"#, "expected a sequence"),
            (r#"[{"src":"javascript:alert(1)"}]"#, "no https, http or data URI"),
            (r#"[{"src":"data:,","color":"red"}]"#, "unknown field `color`"),
            (r#"[{"src":"data:,","theme":"grey"}]"#, "unknown variant `grey`"),
        ] {
            let error = icons(&raw(bad)).unwrap_err();
            assert!(error.field == "icons" && error.reason.contains(says), "{bad}: {error}");
        }
    }

    #[test]
    fn meta_keys_are_of_the_form_that_is_wanted() {
        for good in [
            "{}",
            r#"{"a":1}"#,
            r#"{"com.example/a.b-c":{"x":[]}}"#,
            r#"{"example/":0}"#,
            r#"{"":1}"#,
        ] {
            assert!(meta(&raw(good), "_meta").is_ok(), "{good}");
        }
        for (bad, says) in [
            ("[]", "must be an object"),
            (r#"{"bad key!":1}"#, "letters and digits"),
            (r#"{"io.modelcontextprotocol/x":1}"#, "reserved by the protocol"),
            (r#"{"dev.mcp/x":1}"#, "reserved by the protocol"),
            (r#"{"io.pressmark/storedUri":"x"}"#, "reserved by Pressmark"),
            (r#"{"1bad/x":1}"#, "prefix"),
        ] {
            let error = meta(&raw(bad), "_meta").unwrap_err();
            assert!(error.reason.contains(says), "{bad}: {error}");
        }
    }
}
