//! The arguments of tools: one table, from which both the input schema and the decoding follow.
//!
//! A JSON Schema validator in the server would check the same, at the price of some forty crates, and with texts that name a
//! place in the schema and no way out. The tests hold what is decoded here to what such a validator says of the schema.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::value::RawValue;

use crate::{error::quoted, json_rpc};

/// One argument of a tool.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// For the model.
    pub(super) description: &'static str,
}

/// What an argument may be.
pub(super) enum Kind {
    /// Text that must be there; what it is, for the one who left it out.
    Required(&'static str),
    /// Text.
    Text,
    /// An integer within bounds.
    Integer { least: u64, most: u64, default: u64 },
    /// One of some words; the first is the default.
    Choice(&'static [&'static str]),
    /// An object whose members are text.
    Texts,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Absent,
    Text(String),
    Integer(u64),
    Texts(Vec<(String, String)>),
}

/// The input schema of a tool with these arguments (JSON Schema 2020-12).
pub(super) fn schema(table: &[Argument]) -> String {
    let mut out = String::from(r#"{"type":"object","properties":{"#);
    for (at, argument) in table.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{}:{{{}", json(argument.name), argument.kind.schema());
        let _ = write!(out, ",\"description\":{}}}", json(argument.description));
    }
    out.push('}');
    let required = table.iter().filter(|argument| matches!(argument.kind, Kind::Required(_)));
    let names: Vec<String> = required.map(|argument| json(argument.name)).collect();
    let _ = write!(out, ",\"required\":[{}],\"additionalProperties\":false}}", names.join(","));
    out
}

/// Decodes an object of arguments: a value for each argument of the table, in its order.
///
/// # Errors
/// A text that lets a model correct itself.
pub(super) fn decode<const COUNT: usize>(
    tool: &str,
    table: &[Argument; COUNT],
    arguments: &str,
) -> Result<[Value; COUNT], String> {
    let members = json_rpc::members(arguments)
        .ok_or("`arguments` must be an object that has each member once")?;
    let mut values = [const { Value::Absent }; COUNT];
    for (name, raw) in &members {
        let known = table.iter().zip(&mut values).find(|(argument, _)| argument.name == name);
        let (argument, value) = known.ok_or_else(|| unknown(tool, table, name))?;
        *value = argument.kind.decode(raw).ok_or_else(|| argument.fault())?;
    }
    for (argument, value) in table.iter().zip(&values) {
        if matches!((&argument.kind, value), (Kind::Required(_), Value::Absent)) {
            return Err(argument.fault());
        }
    }
    Ok(values)
}

fn unknown(tool: &str, table: &[Argument], name: &str) -> String {
    let names: Vec<String> = table.iter().map(|argument| format!("`{}`", argument.name)).collect();
    let listed = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.join(""),
    };
    format!("unknown argument `{}`: `{tool}` takes {listed}", quoted(name))
}

/// Zeros that may stand behind the digits of an integer: one with more is beyond all bounds.
const ZEROS_MAX: usize = 20;

/// An integer as JSON Schema sees it: `10`, `10.0`, `1e1` and `100E-1` are the same number.
fn integer(number: &str) -> Option<u64> {
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    // Where the point stands, counted from the first digit; what is not zero must stand before it.
    let point = i64::try_from(whole.len()).ok()?.checked_add(i64::from(exponent))?;
    let zeros = usize::try_from(point).ok()?.checked_sub(digits.len())?;
    let zeros = Some(zeros).filter(|zeros| *zeros <= ZEROS_MAX)?;
    format!("{digits}{:0<zeros$}", "").parse().ok()
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

// === impl Argument ===

impl Argument {
    fn fault(&self) -> String {
        let name = self.name;
        match &self.kind {
            Kind::Required(what) => format!("`{name}` is required: a string, {what}"),
            Kind::Text => format!("`{name}` must be a string"),
            Kind::Integer { least, most, .. } => {
                format!("`{name}` must be an integer from {least} to {most}")
            }
            Kind::Choice(choices) => {
                let choices: Vec<String> = choices.iter().map(|word| format!("`{word}`")).collect();
                format!("`{name}` must be {}", choices.join(" or "))
            }
            Kind::Texts => format!(
                "`{name}` must be an object whose members are strings, such as {{\"name\": \"value\"}}"
            ),
        }
    }
}

// === impl Kind ===

impl Kind {
    fn schema(&self) -> String {
        match self {
            Self::Required(_) | Self::Text => r#""type":"string""#.to_owned(),
            Self::Integer { least, most, default } => format!(
                r#""type":"integer","minimum":{least},"maximum":{most},"default":{default}"#
            ),
            Self::Choice(choices) => {
                let words: Vec<String> = choices.iter().map(|word| json(word)).collect();
                let default = words.first().map_or("null", String::as_str);
                format!(r#""type":"string","enum":[{}],"default":{default}"#, words.join(","))
            }
            Self::Texts => r#""type":"object","additionalProperties":{"type":"string"}"#.to_owned(),
        }
    }

    fn decode(&self, raw: &RawValue) -> Option<Value> {
        match self {
            Self::Required(_) | Self::Text => {
                json_rpc::string(raw).map(Cow::into_owned).map(Value::Text)
            }
            Self::Integer { least, most, .. } => {
                let number = integer(raw.get()).filter(|number| (*least..=*most).contains(number));
                number.map(Value::Integer)
            }
            Self::Choice(choices) => {
                let text = json_rpc::string(raw).filter(|text| choices.contains(&&**text));
                text.map(Cow::into_owned).map(Value::Text)
            }
            Self::Texts => {
                let members = json_rpc::members(raw.get())?.into_iter();
                let pairs: Option<Vec<(String, String)>> = members
                    .map(|(name, value)| {
                        Some((name.into_owned(), json_rpc::string(value)?.into_owned()))
                    })
                    .collect();
                pairs.map(Value::Texts)
            }
        }
    }
}

// === impl Value ===

impl Value {
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Integer(_) | Self::Texts(_) => None,
        }
    }

    /// The integer, or the default of the argument.
    pub(super) fn integer_or(&self, default: u64) -> u64 {
        match self {
            Self::Integer(number) => *number,
            Self::Absent | Self::Text(_) | Self::Texts(_) => default,
        }
    }

    pub(super) fn texts(self) -> Vec<(String, String)> {
        match self {
            Self::Texts(pairs) => pairs,
            Self::Absent | Self::Text(_) | Self::Integer(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [Argument; 5] = [
        Argument { name: "query", kind: Kind::Required("what to find"), description: "Q" },
        Argument { name: "space", kind: Kind::Text, description: "S \"quoted\"" },
        Argument {
            name: "limit",
            kind: Kind::Integer { least: 1, most: 50, default: 10 },
            description: "L",
        },
        Argument { name: "sort", kind: Kind::Choice(&["relevance", "recent"]), description: "O" },
        Argument { name: "variables", kind: Kind::Texts, description: "V" },
    ];

    /// What is decoded is what a validator accepts, duplicate members apart, of which it sees one.
    #[test]
    fn decoding_and_schema_agree() {
        let schema: serde_json::Value = serde_json::from_str(&schema(&TABLE)).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let values = [
            "null",
            "true",
            "\"\"",
            "\"recent\"",
            "\"x\"",
            "0",
            "1",
            "50",
            "51",
            "50.0",
            "5.5",
            "-1",
            "1e1",
            "5E0",
            "10E-1",
            "0.5e1",
            "0.05e1",
            "1e-1",
            "1.50e+1",
            "[]",
            "{}",
            "{\"a\":\"b\"}",
            "{\"a\":1}",
            "{\"a\":null}",
        ];
        let names = TABLE.iter().map(|argument| argument.name).chain(["other"]);
        let mut accepted = 0;
        for name in names {
            for value in values {
                for query in [r#""query":"q","#, ""] {
                    let text = format!("{{{query}\"{name}\":{value}}}");
                    if name == "query" && !query.is_empty() {
                        continue;
                    }
                    let instance: serde_json::Value = serde_json::from_str(&text).unwrap();
                    let decoded = decode("search", &TABLE, &text);
                    assert_eq!(
                        decoded.is_ok(),
                        validator.is_valid(&instance),
                        "{text} {decoded:?}"
                    );
                    accepted += usize::from(decoded.is_ok());
                }
            }
        }
        assert!(accepted > 10, "{accepted}");
    }

    #[test]
    fn an_integer_is_one_in_every_spelling() {
        for number in ["50", "50.0", "50.000", "5e1", "5E+1", "500e-1", "0.5e2", "0.0005E5"] {
            assert_eq!(integer(number), Some(50), "{number}");
        }
        for number in ["0", "0.0", "0e9", "-0"] {
            assert!(integer(number).is_none_or(|number| number == 0), "{number}");
        }
        assert_eq!(integer("18446744073709551615"), Some(u64::MAX));
        for number in
            ["18446744073709551616", "1e20", "1e400", "1e99999999999", "-5", "0.5", "5e-1"]
        {
            assert_eq!(integer(number), None, "{number}");
        }
    }

    #[test]
    fn faults_tell_the_way_out() {
        for (arguments, fault) in [
            ("{}", "`query` is required: a string, what to find"),
            (r#"{"query":7}"#, "`query` is required: a string, what to find"),
            (
                r#"{"query":"q","query":"r"}"#,
                "`arguments` must be an object that has each member once",
            ),
            (r#"{"query":"q","space":[]}"#, "`space` must be a string"),
            (r#"{"query":"q","limit":51}"#, "`limit` must be an integer from 1 to 50"),
            (r#"{"query":"q","sort":"date"}"#, "`sort` must be `relevance` or `recent`"),
            (
                r#"{"query":"q","variables":{"a":1}}"#,
                "`variables` must be an object whose members are strings, such as {\"name\": \"value\"}",
            ),
            (
                r#"{"query":"q","top":1}"#,
                "unknown argument `top`: `search` takes `query`, `space`, `limit`, `sort` and `variables`",
            ),
        ] {
            assert_eq!(decode("search", &TABLE, arguments), Err(fault.to_owned()), "{arguments}");
        }
    }
}
