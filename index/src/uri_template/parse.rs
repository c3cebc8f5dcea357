//! The grammar of RFC 6570 section 2.

use super::encode::{CharSet, TRIPLET_BYTES, triplet_at};
use super::{Component, Expression, Modifier, Operator, TemplateError, VarSpec};

/// A template longer than this cannot be the template of any URI that is stored. Bytes.
pub const TEMPLATE_BYTES_MAX: usize = 8 * 1024;
/// The largest prefix length that the grammar can spell (RFC 6570 section 2.4.1). Characters.
const PREFIX_CHARACTERS_MAX: u16 = 9_999;

/// ASCII that a literal may not hold (section 2.1). The space and the apostrophe are let through: people write
/// them, and they have only one meaning.
const NOT_LITERAL: CharSet = CharSet::of(b"\"<>\\^`|");
/// `varchar` (section 2.3), without the triplets.
const VARCHAR: CharSet =
    CharSet::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

/// Splits a template into literals and expressions.
pub(super) fn components(template: &str) -> Result<Vec<Component>, TemplateError> {
    if template.len() > TEMPLATE_BYTES_MAX {
        let reason = format!("the template is longer than {TEMPLATE_BYTES_MAX} bytes");
        return Err(TemplateError::new(template, TEMPLATE_BYTES_MAX, reason));
    }
    let mut components = Vec::new();
    let mut at = 0;
    while let Some(rest) = template.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(inside) = rest.strip_prefix('{') {
            let Some(length) = inside.find('}') else {
                return Err(TemplateError::new(
                    template,
                    at,
                    "the expression is not closed with `}`",
                ));
            };
            let body = inside.get(..length).unwrap_or_default();
            components.push(Component::Expression(expression(template, body, at + 1)?));
            at += length + 2;
        } else {
            let text = rest.find('{').and_then(|length| rest.get(..length)).unwrap_or(rest);
            check_literal(template, text, at)?;
            components.push(Component::Literal { text: text.to_owned(), position: at });
            at += text.len();
        }
    }
    Ok(components)
}

fn check_literal(template: &str, text: &str, position: usize) -> Result<(), TemplateError> {
    for (offset, character) in text.char_indices() {
        let reason = match character {
            '}' => "`}` without the `{` that opens an expression".to_owned(),
            '%' if triplet_at(text.as_bytes(), offset).is_none() => {
                "`%` without two hexadecimal digits (a percent sign itself is written `%25`)"
                    .to_owned()
            }
            _ if character.is_control() => {
                format!(
                    "the control character U+{:04X} cannot stand in a template",
                    u32::from(character)
                )
            }
            _ if u8::try_from(character).is_ok_and(|byte| NOT_LITERAL.has(byte)) => {
                format!(
                    "`{character}` cannot stand in a template (escape it as a percent-encoded triplet)"
                )
            }
            _ => continue,
        };
        return Err(TemplateError::new(template, position + offset, reason));
    }
    Ok(())
}

/// `body` is what stands between the braces, `position` where it begins.
fn expression(template: &str, body: &str, position: usize) -> Result<Expression, TemplateError> {
    let Some(first) = body.chars().next() else {
        return Err(TemplateError::new(
            template,
            position.saturating_sub(1),
            "the expression is empty",
        ));
    };
    if "=,!@|".contains(first) {
        let reason =
            format!("the operator `{first}` is reserved for later use (RFC 6570 section 2.2)");
        return Err(TemplateError::new(template, position, reason));
    }
    let operator = Operator::of(first);
    let mut at = position + usize::from(operator != Operator::Simple);
    let list = template.get(at..position + body.len()).unwrap_or_default();
    let mut variables = Vec::new();
    for spec in list.split(',') {
        variables.push(var_spec(template, spec, at, operator)?);
        at += spec.len() + 1;
    }
    Ok(Expression { operator, variables, position: position.saturating_sub(1) })
}

fn var_spec(
    template: &str,
    spec: &str,
    position: usize,
    operator: Operator,
) -> Result<VarSpec, TemplateError> {
    let length = name_length(template, spec, position)?;
    let (name, modifier) = spec.split_at_checked(length).unwrap_or((spec, ""));
    let modifier = match modifier.as_bytes() {
        [] => Modifier::None,
        [b'*'] => Modifier::Explode,
        [b':', digits @ ..] => {
            Modifier::Prefix(prefix_length(template, digits, position + length + 1)?)
        }
        _ => {
            let found = modifier.chars().next().unwrap_or_default();
            let reason = format!("`{found}` cannot follow the variable `{name}`");
            return Err(TemplateError::new(template, position + length, reason));
        }
    };
    Ok(VarSpec { name: name.to_owned(), modifier, operator })
}

/// `varname = varchar *( ["."] varchar )`.
fn name_length(template: &str, spec: &str, position: usize) -> Result<usize, TemplateError> {
    let bytes = spec.as_bytes();
    let mut at = 0;
    loop {
        let begin = at;
        loop {
            if bytes.get(at).is_some_and(|&byte| VARCHAR.has(byte)) {
                at += 1;
            } else if triplet_at(bytes, at).is_some() {
                at += TRIPLET_BYTES;
            } else {
                break;
            }
        }
        if at == begin {
            let reason = match spec.get(at..).and_then(|rest| rest.chars().next()) {
                None => "a variable name is missing".to_owned(),
                Some(found) => format!(
                    "`{found}` cannot stand in a variable name (letters, digits, `_`, `.` between them, triplets)"
                ),
            };
            return Err(TemplateError::new(template, position + at, reason));
        }
        if bytes.get(at) != Some(&b'.') {
            return Ok(at);
        }
        at += 1;
    }
}

/// `max-length = %x31-39 0*3DIGIT`.
fn prefix_length(template: &str, digits: &[u8], position: usize) -> Result<u16, TemplateError> {
    let plain = !digits.starts_with(b"0") && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits)
        .ok()
        .filter(|_| plain)
        .and_then(|text| text.parse().ok())
        .filter(|length| (1..=PREFIX_CHARACTERS_MAX).contains(length))
        .ok_or_else(|| {
            let reason = format!("a prefix length is a number from 1 to {PREFIX_CHARACTERS_MAX} without leading zeros");
            TemplateError::new(template, position, reason)
        })
}
