//! Expansion (RFC 6570 section 3).

use super::encode::{
    CharSet, RESERVED, TRIPLET_BYTES, UNRESERVED, push_escaped, push_keeping_triplets, triplet_at,
    triplet_char_at,
};
use super::{Component, Expression, Modifier, Operator, UriTemplate, VarSpec};
use crate::resource::{Binding, Value};

/// Bindings that do not fit a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// A prefix modifier on a list or a map (section 2.4.1).
    #[error("{template}: the prefix of `{variable}` needs a string, its value is a list or a map")]
    PrefixOfComposite {
        /// The template.
        template: String,
        /// The variable.
        variable: String,
    },
    /// The expansion is no URI that may be stored.
    #[error("{template}: the expansion {expansion}: {reason}")]
    NotStorable {
        /// The template.
        template: String,
        /// What the bindings expand to.
        expansion: String,
        /// Why it is refused.
        reason: String,
    },
    /// The expansion is not matched by the template, or the bindings that it finds expand to another URI.
    #[error(
        "{template}: the values cannot be found again in the expansion {expansion} (module `uri_template` says which cannot)"
    )]
    NotMatchedBack {
        /// The template.
        template: String,
        /// What the bindings expand to, normalised.
        expansion: String,
    },
}

impl UriTemplate {
    /// Expands the template. A variable without binding, an empty list and an empty map are undefined.
    ///
    /// # Errors
    ///
    /// [`ExpandError::PrefixOfComposite`].
    pub fn expand(&self, bindings: &[Binding]) -> Result<String, ExpandError> {
        let mut out = String::with_capacity(self.text.len() * 2);
        for component in &self.components {
            match component {
                Component::Literal { text, .. } => {
                    push_keeping_triplets(&mut out, text, UNRESERVED.and(RESERVED));
                }
                Component::Expression(expression) => {
                    expand_expression(&mut out, expression, bindings).map_err(|spec| {
                        ExpandError::PrefixOfComposite {
                            template: self.text.clone(),
                            variable: spec.name.clone(),
                        }
                    })?;
                }
            }
        }
        Ok(out)
    }
}

/// The algorithm of section 3.2.1; the error is the variable whose prefix was asked of a composite value.
fn expand_expression<'a>(
    out: &mut String,
    expression: &'a Expression,
    bindings: &[Binding],
) -> Result<(), &'a VarSpec> {
    let mut pieces = Pieces { out, operator: expression.operator, empty: true };
    for spec in &expression.variables {
        let Some(binding) = bindings.iter().find(|binding| binding.name == spec.name) else {
            continue;
        };
        match (&binding.value, spec.modifier) {
            (Value::String(text), modifier) => {
                let text = match modifier {
                    Modifier::Prefix(length) => prefix(text, length, expression.operator),
                    Modifier::None | Modifier::Explode => text,
                };
                pieces.push_variable(spec, &[text], text.is_empty());
            }
            (Value::List(_) | Value::Map(_), Modifier::Prefix(_)) => return Err(spec),
            (Value::List(members), Modifier::Explode) => {
                for member in members {
                    pieces.push_variable(spec, &[member], member.is_empty());
                }
            }
            (Value::List(members), Modifier::None) => {
                if !members.is_empty() {
                    let texts: Vec<&str> = members.iter().map(String::as_str).collect();
                    pieces.push_variable(spec, &texts, texts == [""]);
                }
            }
            (Value::Map(members), Modifier::Explode) => {
                for (name, value) in members {
                    pieces.push_member(name, value);
                }
            }
            (Value::Map(members), Modifier::None) => {
                if !members.is_empty() {
                    let texts: Vec<&str> =
                        members.iter().flat_map(|(name, value)| [name.as_str(), value]).collect();
                    pieces.push_variable(spec, &texts, false);
                }
            }
        }
    }
    Ok(())
}

/// What one expression has appended so far.
struct Pieces<'a> {
    out: &'a mut String,
    operator: Operator,
    empty: bool,
}

impl Pieces<'_> {
    fn begin(&mut self) {
        let between =
            if self.empty { self.operator.lead() } else { Some(self.operator.separator()) };
        self.out.extend(between.map(char::from));
        self.empty = false;
    }

    fn push_variable(&mut self, spec: &VarSpec, texts: &[&str], empty: bool) {
        self.begin();
        if self.operator.named() {
            push_keeping_triplets(self.out, &spec.name, UNRESERVED.and(RESERVED));
            self.push_equals_sign(empty);
        }
        for (number, text) in texts.iter().enumerate() {
            if number > 0 {
                self.out.push(',');
            }
            self.push_text(text);
        }
    }

    /// A member of an exploded map.
    fn push_member(&mut self, name: &str, value: &str) {
        self.begin();
        self.push_text(name);
        self.push_equals_sign(value.is_empty());
        self.push_text(value);
    }

    /// Path-style parameters leave the sign out before an empty value.
    fn push_equals_sign(&mut self, empty: bool) {
        if !(empty && self.operator == Operator::PathParameter) {
            self.out.push('=');
        }
    }

    fn push_text(&mut self, text: &str) {
        const RAW: CharSet = UNRESERVED.and(RESERVED);
        if self.operator.keeps_reserved() {
            push_keeping_triplets(self.out, text, RAW);
        } else {
            push_escaped(self.out, text, UNRESERVED);
        }
    }
}

/// The first `length` characters; in a URI-spelled value the triplets of one character count as that one.
pub(super) fn prefix(text: &str, length: u16, operator: Operator) -> &str {
    let mut end = 0;
    for _ in 0..length {
        let Some(character) = text.get(end..).and_then(|rest| rest.chars().next()) else {
            break;
        };
        end = if !operator.keeps_reserved() || character != '%' {
            end + character.len_utf8()
        } else if let Some((_, after)) = triplet_char_at(text.as_bytes(), end) {
            after
        } else if triplet_at(text.as_bytes(), end).is_some() {
            end + TRIPLET_BYTES
        } else {
            end + 1
        };
    }
    text.get(..end).unwrap_or(text)
}
