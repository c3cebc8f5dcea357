//! From a Rust type to the schema that is listed, and from JSON to the type.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::ReplaceBoolSchemas};
use serde::de::DeserializeOwned;

use crate::json_rpc;

/// What a type takes (JSON Schema 2020-12).
///
/// Revisions before 2026-07-28 have an object as the schema of a property: `true`, for any value, becomes `{}`.
pub(super) fn input_schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    schema::<T>(settings)
}

/// What a type writes.
pub(super) fn output_schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    schema::<T>(settings)
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let mut objects = ReplaceBoolSchemas::default();
    objects.skip_additional_properties = true;
    let mut schema = settings.with_transform(objects).into_generator().into_root_schema_for::<T>();
    // What the type is called and said to be is for those who read the code.
    schema.remove("title");
    schema.remove("description");
    schema
}

/// Reads an object of arguments. Where the type refuses `null`, arguments that are `null` are as if not given: adapters
/// fill it in for whatever the model left out.
///
/// # Errors
/// A text that names the argument and lets a model correct itself.
pub(super) fn decode<T: DeserializeOwned>(arguments: &str) -> Result<T, String> {
    read(arguments).or_else(|error| match without_nulls(arguments) {
        Some(given) => read(&given),
        None => Err(error),
    })
}

/// The same object without its members that are `null`; `None` if there are none, or if it cannot be read.
fn without_nulls(arguments: &str) -> Option<String> {
    let mut members = json_rpc::members(arguments)?;
    let count = members.len();
    members.retain(|(_, value)| value.get() != "null");
    let given: BTreeMap<_, _> = members.into_iter().collect();
    if given.len() == count { None } else { serde_json::to_string(&given).ok() }
}

fn read<T: DeserializeOwned>(arguments: &str) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_str(arguments);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let said = error.inner().to_string();
        // The place in the line says nothing to who wrote an object.
        let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
        if path == "." { said.to_owned() } else { format!("`{path}`: {said}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its shape is looked at")]
    struct Order {
        /// What to order.
        name: String,
        count: Option<u8>,
        #[serde(default)]
        parts: Vec<Part>,
        anything: Option<serde_json::Value>,
    }

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its shape is looked at")]
    struct Part {
        weight: f64,
    }

    #[test]
    fn what_is_wrong_names_the_argument() {
        for (arguments, said) in [
            ("{}", "missing field `name`"),
            (r#"{"name":7}"#, "`name`: invalid type: integer `7`, expected a string"),
            (r#"{"name":"x","count":300}"#, "`count`: invalid value: integer `300`, expected u8"),
            (
                r#"{"name":"x","parts":[{"weight":1},{"weight":"heavy"}]}"#,
                r#"`parts[1].weight`: invalid type: string "heavy", expected f64"#,
            ),
            (r#"{"name":"x","parts":[{}]}"#, "`parts[0]`: missing field `weight`"),
            (
                r#"{"name":"x","colour":1}"#,
                "`colour`: unknown field `colour`, expected one of `name`, `count`, `parts`, `anything`",
            ),
            (r#"{"name":"x","name":"y"}"#, "duplicate field `name`"),
        ] {
            assert_eq!(decode::<Order>(arguments).unwrap_err(), said, "{arguments}");
        }
        assert!(decode::<Order>(r#"{"name":"x","count":3,"anything":[1]}"#).is_ok());
        let filled_in = r#"{"name":"x","count":null,"parts":null,"anything":null,"other":null}"#;
        assert!(decode::<Order>(filled_in).is_ok());
        assert_eq!(
            decode::<Order>(r#"{"name":null,"parts":null}"#).unwrap_err(),
            "missing field `name`"
        );
    }

    #[test]
    fn a_schema_says_what_the_type_takes() {
        let schema = input_schema::<Order>().to_value();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["title"], serde_json::Value::Null);
        assert_eq!(schema["required"], serde_json::json!(["name"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["name"]["description"], "What to order.");
        assert!(schema["properties"]["anything"].is_object());
    }
}
