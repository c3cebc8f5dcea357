//! The arguments of tools: one table, from which both the input schema and the decoding follow.
//!
//! The schema gives each argument a single type, since some model providers reject unions of types. Decoding takes more than
//! the schema promises, because models and adapters send more: `null` and empty text for an argument that is not set, and
//! numbers and objects written as text.
//!
//! A JSON Schema validator in the server would check the same, at the price of some forty crates, and with texts that name a
//! place in the schema and no way out. The tests hold what is decoded here to what such a validator says of the schema.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::value::RawValue;

use crate::{
    error::quoted,
    json_rpc::{self, MEMBERS_MAX},
};

/// One argument of a tool.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// For the model.
    pub(super) description: &'static str,
}

/// What an argument may be.
pub(super) enum Kind {
    /// Text that must be given: `what` it is, for a caller that left it out, and whether empty text counts.
    Required { what: &'static str, empty: Empty },
    /// Text.
    Text,
    /// Text that one function checks and brings into its normal form; `None` is as if not given.
    Checked(fn(&str) -> Result<Option<String>, String>),
    /// An integer within bounds.
    Integer { least: u64, most: u64, default: u64 },
    /// One of some words; the first is the default.
    Choice(&'static [&'static str]),
    /// An object whose members are text.
    Texts,
}

/// What empty text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Empty {
    /// A value like any other.
    Value,
    /// An argument that was not given.
    NotGiven,
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
    let required = table.iter().filter(|argument| matches!(argument.kind, Kind::Required { .. }));
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
    let members = json_rpc::members(arguments).ok_or_else(|| no_object("arguments"))?;
    let mut values = [const { Value::Absent }; COUNT];
    for (name, raw) in &members {
        // Adapters fill in `null` for whatever the model left out.
        if raw.get() == "null" {
            continue;
        }
        let known = table.iter().zip(&mut values).find(|(argument, _)| argument.name == name);
        let (argument, value) = known.ok_or_else(|| unknown(tool, table, name))?;
        *value = argument.decode(raw)?;
    }
    for (argument, value) in table.iter().zip(&values) {
        if matches!((&argument.kind, value), (Kind::Required { .. }, Value::Absent)) {
            return Err(argument.fault());
        }
    }
    Ok(values)
}

/// The text for a model that sent something else than an object with distinct members.
pub(super) fn no_object(name: &str) -> String {
    format!("`{name}` must be an object with at most {MEMBERS_MAX} members, each given once")
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
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
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

/// The text of a string; of a number or a truth value its spelling.
fn scalar(raw: &RawValue) -> Option<Cow<'_, str>> {
    match raw.get().as_bytes().first()? {
        b'"' => json_rpc::string(raw),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(raw.get())),
    }
}

/// Pairs of an object, or of the JSON text of one. Pairs without a value are not given.
fn texts(raw: &RawValue) -> Option<Vec<(String, String)>> {
    let written = json_rpc::string(raw);
    let object = written.as_deref().map_or(raw.get(), str::trim);
    if object == "null" {
        return Some(Vec::new());
    }
    let members = json_rpc::members(object)?.into_iter();
    let given = members.filter(|(_, value)| !matches!(value.get(), "null" | "\"\""));
    given.map(|(name, value)| Some((name.into_owned(), scalar(value)?.into_owned()))).collect()
}

// === impl Argument ===

impl Argument {
    fn decode(&self, raw: &RawValue) -> Result<Value, String> {
        let text = scalar(raw);
        let is_blank = text.as_ref().is_some_and(|text| text.trim().is_empty());
        if is_blank && !matches!(self.kind, Kind::Required { empty: Empty::Value, .. }) {
            return Ok(Value::Absent);
        }
        let value = match &self.kind {
            Kind::Required { .. } | Kind::Text => text.map(Cow::into_owned).map(Value::Text),
            Kind::Checked(check) => match text {
                Some(text) => return Ok(check(&text)?.map_or(Value::Absent, Value::Text)),
                None => None,
            },
            Kind::Integer { least, most, .. } => text
                .and_then(|text| integer(text.trim()))
                .filter(|number| (*least..=*most).contains(number))
                .map(Value::Integer),
            Kind::Choice(choices) => text.and_then(|text| {
                let chosen = choices.iter().find(|word| word.eq_ignore_ascii_case(text.trim()));
                chosen.map(|word| Value::Text((*word).to_owned()))
            }),
            Kind::Texts => texts(raw).map(Value::Texts),
        };
        value.ok_or_else(|| self.fault())
    }

    fn fault(&self) -> String {
        let name = self.name;
        match &self.kind {
            Kind::Required { what, .. } => format!("`{name}` is required: a string, {what}"),
            Kind::Text | Kind::Checked(_) => format!("`{name}` must be a string"),
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
            Self::Required { .. } | Self::Text | Self::Checked(_) => {
                r#""type":"string""#.to_owned()
            }
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
mod tests;
