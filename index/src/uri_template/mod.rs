//! URI templates (RFC 6570, levels 1 to 4): parsing, expansion, variable matching, sets of templates.
//!
//! All of it is ours, expansion included. The crate `uritemplate-next` expands too, but it counts prefixes in bytes,
//! takes malformed templates, and fails 6 of the 53 extended public vectors; a template that it gets wrong cannot be
//! told from one that it gets right without knowing the right answer. Expansion is a hundred lines beside a parser that
//! is needed anyway, so the crate serves as the other side of a differential test, on the inputs on which it conforms.
//!
//! # What can be matched
//!
//! Variable matching (section 1.5) is the inverse of expansion only where something separates the values. A
//! [`TemplateMatcher`] is refused for two expressions with nothing between them that tells them apart, for a prefix
//! (`{x:3}`) whose variable does not also stand whole elsewhere, and for a variable that is spelled in two ways.
//! These values have no expansion that is matched back to them:
//!
//! - an empty string of `{x}`, `{+x}`: its expansion is that of an undefined variable, which is what is found;
//! - a list or a map without explode (`a,b` of `{x}`): its comma cannot be told from a value's, so it is not matched;
//! - a string of an exploded variable: found as a list of one; a map of `{;x*}`, `{?x*}` whose names are all the
//!   variable's own: found as a list;
//! - a comma in `{+x,y}`, `{+x*}` and a dot in `{.x,y}`, `{.x*}`: a separator there;
//! - a value of `{+x}` or `{#x}` that is not spelled as a normalised URI (`a b` is found as `a%20b`); one with `?` (or
//!   `#`) where the template has a `{?..}` (or `{#..}`) behind it;
//! - upper-case letters in a host name: a normalised host has none;
//! - a path segment that is `.` or `..` once decoded, in any spelling: not matched, and not expanded canonically.
//!
//! [`TemplateMatcher::expand_canonical`] gives a URI only when that URI is matched and expands to itself again.

mod encode;
mod expand;
mod literals;
mod match_uri;
mod matcher;
mod normal_form;
mod parse;
mod template_set;

pub(crate) use encode::{PATH, decode, push_char, push_escaped, triplet_char_at};
pub use expand::ExpandError;
pub use matcher::{TemplateMatcher, VARIABLES_MAX};
pub(crate) use normal_form::{
    Purpose, UriFault, has_dot_segments, is_normal, normal_form, scheme_end,
};
pub use parse::TEMPLATE_BYTES_MAX;
pub use template_set::TemplateSet;

use std::fmt;

/// An RFC 6570 template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    components: Vec<Component>,
}

/// A literal or an expression (section 2).
#[derive(Debug, Clone, PartialEq, Eq)]
enum Component {
    Literal { text: String, position: usize },
    Expression(Expression),
}

/// What stands between braces (section 2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expression {
    operator: Operator,
    variables: Vec<VarSpec>,
    /// Of the opening brace, in bytes.
    position: usize,
}

/// A variable with its modifier, as it stands in an expression (section 2.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VarSpec {
    /// The variable's name, as it is spelled in the template.
    pub name: String,
    /// How its value is cut or spread.
    pub modifier: Modifier,
    /// The operator of its expression.
    pub operator: Operator,
}

/// A modifier of level 4 (section 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modifier {
    /// The value as it is.
    None,
    /// `:n`, the first characters (Unicode code points).
    Prefix(u16),
    /// `*`, each member on its own.
    Explode,
}

/// The type of an expression (section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `{x}`
    Simple,
    /// `{+x}`
    Reserved,
    /// `{#x}`
    Fragment,
    /// `{.x}`
    Label,
    /// `{/x}`
    PathSegment,
    /// `{;x}`
    PathParameter,
    /// `{?x}`
    Query,
    /// `{&x}`
    QueryContinuation,
}

/// A template that the grammar does not allow, or that cannot be matched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{template}: at byte {position}: {reason}")]
pub struct TemplateError {
    /// The template.
    pub template: String,
    /// Where it is wrong, in bytes from its beginning.
    pub position: usize,
    /// What is wrong there.
    pub reason: String,
}

impl UriTemplate {
    /// Parses a template; the error says where it is wrong and why.
    pub fn parse(template: &str) -> Result<Self, TemplateError> {
        Ok(Self { components: parse::components(template)?, text: template.to_owned() })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The variables in the order of the template, one for each place where one stands.
    pub fn variables(&self) -> impl Iterator<Item = &VarSpec> {
        self.components.iter().flat_map(|component| match component {
            Component::Literal { .. } => [].as_slice(),
            Component::Expression(expression) => expression.variables.as_slice(),
        })
    }

    /// The names of its variables, each once, as errors show them; "no variable" where there is none.
    pub fn variable_names(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for variable in self.variables() {
            let name = format!("`{}`", variable.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() { "no variable".to_owned() } else { names.join(", ") }
    }

    /// Whether what it expands to can be URIs: those begin with a scheme (RFC 3986 section 3).
    ///
    /// # Errors
    /// The place where a scheme can no longer end.
    pub fn check_scheme(&self) -> Result<(), TemplateError> {
        let none = |position| {
            let reason = "no URI begins so: a template begins with a scheme, such as `docs://`";
            Err(TemplateError::new(&self.text, position, reason))
        };
        if self.text.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '{') {
            return none(0);
        }
        let ends_scheme = |c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c);
        for component in &self.components {
            match component {
                Component::Literal { text, position } => match text.find(ends_scheme) {
                    Some(at) if text.as_bytes().get(at) == Some(&b':') => return Ok(()),
                    Some(at) => return none(position + at),
                    None => {}
                },
                // Its values may hold the scheme's colon; those of others have it escaped.
                Component::Expression(expression) if expression.operator == Operator::Reserved => {
                    return Ok(());
                }
                Component::Expression(_) => {}
            }
        }
        none(self.text.len())
    }

    /// Makes the matcher of this template; the error says what cannot be matched, where and why.
    pub fn matcher(&self) -> Result<TemplateMatcher, TemplateError> {
        TemplateMatcher::new(self.clone())
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Operator {
    fn of(first: char) -> Self {
        match first {
            '+' => Self::Reserved,
            '#' => Self::Fragment,
            '.' => Self::Label,
            '/' => Self::PathSegment,
            ';' => Self::PathParameter,
            '?' => Self::Query,
            '&' => Self::QueryContinuation,
            _ => Self::Simple,
        }
    }

    /// What an expansion that is not empty begins with (the table of appendix A).
    fn lead(self) -> Option<u8> {
        match self {
            Self::Simple | Self::Reserved => None,
            Self::Fragment => Some(b'#'),
            Self::Label => Some(b'.'),
            Self::PathSegment => Some(b'/'),
            Self::PathParameter => Some(b';'),
            Self::Query => Some(b'?'),
            Self::QueryContinuation => Some(b'&'),
        }
    }

    fn separator(self) -> u8 {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => b',',
            Self::Label => b'.',
            Self::PathSegment => b'/',
            Self::PathParameter => b';',
            Self::Query | Self::QueryContinuation => b'&',
        }
    }

    /// Whether values are written as `name=value`.
    fn named(self) -> bool {
        matches!(self, Self::PathParameter | Self::Query | Self::QueryContinuation)
    }

    /// Whether values may hold reserved characters and triplets: they are URI-spelled.
    fn keeps_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

impl TemplateError {
    fn new(template: &str, position: usize, reason: impl Into<String>) -> Self {
        Self { template: template.to_owned(), position, reason: reason.into() }
    }
}
