//! A template made ready for variable matching: normalised literals, and for each expression what its text may hold.

use std::borrow::Cow;

use super::encode::{
    CharSet, QUERY, RESERVED, TRIPLET_BYTES, UNRESERVED, push_keeping_triplets, triplet_at,
    triplet_char_at,
};
use super::literals::Literals;
use super::normal_form::{
    Purpose, UriFault, has_dot_segments, normal_form, push_normal, scheme_end,
};
use super::{
    Component, ExpandError, Expression, Modifier, Operator, TemplateError, UriTemplate, VarSpec,
};
use crate::resource::{Binding, Value};

/// The most variables that a template may have to be matched: with the URI's length this bounds the work.
pub const VARIABLES_MAX: usize = 64;

/// A template that can be matched against URIs.
#[derive(Debug, Clone)]
pub struct TemplateMatcher {
    template: UriTemplate,
    pub(super) elements: Vec<Element>,
    literal_prefix: String,
    root_folder_bytes: Option<usize>,
    pub(super) literal_characters: usize,
    pub(super) variable_count: usize,
    /// Whether some variable stands in more than one place.
    pub(super) repeats: bool,
    /// Whether one look ahead tells where each run ends, so that no search is needed.
    pub(super) separated: bool,
}

/// What is matched in turn.
#[derive(Debug, Clone)]
pub(super) enum Element {
    /// Normalised text.
    Literal(String),
    /// An expression, or several with names that follow each other.
    Run(Run),
}

/// The texts that one expression can expand to.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// What the text begins with unless it is empty; `None`: it begins with its first value.
    pub(super) lead: Option<CharSet>,
    /// What stands in a piece, beside triplets.
    pub(super) content: CharSet,
    pub(super) separator: u8,
    pub(super) pieces: PieceCount,
    pub(super) operator: Operator,
    pub(super) targets: Vec<Target>,
}

/// How many pieces a run may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceCount {
    AtMost(usize),
    Any,
}

/// A variable that a piece may be bound to.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) spec: VarSpec,
    /// Its name as it stands in a normalised URI.
    pub(super) name_in_uri: String,
}

impl TemplateMatcher {
    pub(super) fn new(template: UriTemplate) -> Result<Self, TemplateError> {
        check_variables(&template)?;
        check_neighbours(&template)?;
        let elements = elements(&template)?;
        let literal_prefix = match elements.first() {
            Some(Element::Literal(text)) => text.clone(),
            Some(Element::Run(_)) | None => String::new(),
        };
        let names: Vec<&str> = template.variables().map(|spec| spec.name.as_str()).collect();
        let repeats =
            names.iter().enumerate().any(|(at, name)| names.iter().take(at).any(|n| n == name));
        Ok(Self {
            root_folder_bytes: root_folder_bytes(&literal_prefix),
            literal_characters: elements.iter().map(literal_characters).sum(),
            variable_count: names.len(),
            repeats,
            separated: separated(&elements),
            literal_prefix,
            elements,
            template,
        })
    }

    /// The template that is matched.
    pub fn template(&self) -> &UriTemplate {
        &self.template
    }

    /// The normalised literal text before the first expression.
    pub fn literal_prefix(&self) -> &str {
        &self.literal_prefix
    }

    /// The literal prefix up to and including its last slash, when it has a non-empty authority.
    pub fn root_folder(&self) -> Option<&str> {
        self.literal_prefix.get(..self.root_folder_bytes?)
    }

    /// The bindings with lists for all exploded variables: a string expands as a list of itself (RFC 6570 section 3.2.1).
    /// In a path (`{/path*}`) it is split at its slashes, because that is what people mean by one.
    pub fn spread<'a>(&self, bindings: &'a [Binding]) -> Cow<'a, [Binding]> {
        let exploded = |binding: &Binding| {
            let name = &binding.name;
            let mut specs = self.template.variables();
            let spec = specs.find(|s| s.name == *name && s.modifier == Modifier::Explode)?;
            Some(spec.operator).filter(|_| matches!(binding.value, Value::String(_)))
        };
        if !bindings.iter().any(|binding| exploded(binding).is_some()) {
            return Cow::Borrowed(bindings);
        }
        let spread = bindings.iter().map(|binding| match (exploded(binding), &binding.value) {
            (Some(operator), Value::String(text)) => {
                let items = match operator {
                    Operator::PathSegment => text.split('/').map(str::to_owned).collect(),
                    _ => vec![text.clone()],
                };
                Binding { name: binding.name.clone(), value: Value::List(items) }
            }
            _ => binding.clone(),
        });
        Cow::Owned(spread.collect())
    }

    /// Whether both templates match the same URIs, whatever their variables are called. Names that stand in the URI
    /// (`{?name}`) count, and so do modifiers.
    pub fn matches_the_same(&self, other: &Self) -> bool {
        self.shape() == other.shape()
    }

    /// The template with a number for each variable whose name does not stand in the URI.
    fn shape(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut shape = String::new();
        for element in &self.elements {
            match element {
                Element::Literal(text) => shape.push_str(text),
                Element::Run(run) => {
                    shape.push_str(&format!("{{{:?}", run.operator));
                    for Target { spec, name_in_uri } in &run.targets {
                        let number = names.iter().position(|name| *name == spec.name);
                        let number = number.unwrap_or_else(|| {
                            names.push(&spec.name);
                            names.len() - 1
                        });
                        let named = if run.operator.named() { name_in_uri.as_str() } else { "" };
                        shape.push_str(&format!(" {number}{named}{:?}", spec.modifier));
                    }
                    shape.push('}');
                }
            }
        }
        shape
    }

    /// Expands and normalises: the one spelling under which a resource with these bindings is stored.
    ///
    /// The template matches the URI, and the bindings that it finds expand canonically to the same URI.
    ///
    /// # Errors
    ///
    /// Besides those of [`UriTemplate::expand`], an expansion that may not be stored, and values that cannot be found
    /// again (the module says which).
    pub fn expand_canonical(&self, bindings: &[Binding]) -> Result<String, ExpandError> {
        let uri = self.expand_normal(bindings)?;
        let found = self.match_uri(&uri).map(|found| self.expand_normal(&found));
        if found.is_some_and(|again| again.is_ok_and(|again| again == uri)) {
            Ok(uri)
        } else {
            let template = self.template.as_str().to_owned();
            Err(ExpandError::NotMatchedBack { template, expansion: uri })
        }
    }

    fn expand_normal(&self, bindings: &[Binding]) -> Result<String, ExpandError> {
        let expansion = self.template.expand(bindings)?;
        normal_form(&expansion, Purpose::Store).map_err(|fault| ExpandError::NotStorable {
            template: self.template.as_str().to_owned(),
            reason: fault.to_string(),
            expansion,
        })
    }
}

fn expressions(template: &UriTemplate) -> impl Iterator<Item = &Expression> {
    template.components.iter().filter_map(|component| match component {
        Component::Literal { .. } => None,
        Component::Expression(expression) => Some(expression),
    })
}

fn check_variables(template: &UriTemplate) -> Result<(), TemplateError> {
    let count = template.variables().count();
    if count > VARIABLES_MAX {
        let reason = format!("{count} variables; at most {VARIABLES_MAX} can be matched");
        return Err(TemplateError::new(&template.text, 0, reason));
    }
    for expression in expressions(template) {
        for spec in &expression.variables {
            let fault =
                |reason| Err(TemplateError::new(&template.text, expression.position, reason));
            let name = &spec.name;
            let others = || template.variables().filter(|other| other.name == *name);
            if matches!(spec.modifier, Modifier::Prefix(_))
                && !others().any(|other| other.modifier == Modifier::None)
            {
                return fault(format!(
                    "the prefix of `{name}` alone does not tell its value (write `{{{name}}}` or add it elsewhere)"
                ));
            }
            let spelling = |spec: &VarSpec| {
                (spec.operator.keeps_reserved(), spec.modifier == Modifier::Explode)
            };
            if others().any(|other| spelling(other) != spelling(spec)) {
                return fault(format!(
                    "`{name}` stands in two places that spell its value differently (use two variables)"
                ));
            }
            let same_run = expression.variables.iter().filter(|other| other.name == *name).count();
            if same_run > 1 {
                return fault(format!("`{name}` stands twice in one expression"));
            }
        }
    }
    Ok(())
}

/// Two expressions with nothing between them must be told apart by what the second begins with.
fn check_neighbours(template: &UriTemplate) -> Result<(), TemplateError> {
    for pair in template.components.windows(2) {
        let [Component::Expression(first), Component::Expression(second)] = pair else {
            continue;
        };
        if joins(first.operator, second.operator) {
            continue;
        }
        let run = run(first, template);
        let reason = match second.operator.lead() {
            None => "two expressions with nothing between them cannot be told apart (put a literal between them)".to_owned(),
            Some(lead) if run.content.has(lead) || (lead == run.separator && run.pieces == PieceCount::Any) => {
                let lead = char::from(lead);
                format!("the values before it may hold `{lead}` too, so nothing tells where it begins (put a literal between them)")
            }
            Some(b'?') if first.operator == Operator::Query => {
                "two query expressions in a row (write their variables into one)".to_owned()
            }
            Some(_) => continue,
        };
        return Err(TemplateError::new(&template.text, second.position, reason));
    }
    Ok(())
}

/// Whether two neighbours are read as one expression, because names tell their variables apart.
fn joins(first: Operator, second: Operator) -> bool {
    use Operator::{PathParameter, Query, QueryContinuation};
    matches!(
        (first, second),
        (Query | QueryContinuation, QueryContinuation) | (PathParameter, PathParameter)
    )
}

fn elements(template: &UriTemplate) -> Result<Vec<Element>, TemplateError> {
    let mut elements: Vec<Element> = Vec::new();
    let mut literals = Literals::new();
    // The template with a letter for each value, to see the segments that the literals make.
    let mut outline = String::new();
    let mut components = template.components.iter().peekable();
    while let Some(component) = components.next() {
        match component {
            Component::Literal { text, position } => {
                let next = components.peek().and_then(|next| match next {
                    Component::Expression(expression) => Some(expression.operator),
                    Component::Literal { .. } => None,
                });
                let text = literals.normalise(text, next).map_err(|fault| {
                    TemplateError::new(&template.text, *position, fault.to_string())
                })?;
                outline.push_str(&text);
                elements.push(Element::Literal(text));
            }
            Component::Expression(expression) => {
                literals.pass(expression.operator);
                outline.extend(expression.operator.lead().map(char::from));
                outline.push('x');
                let run = run(expression, template);
                match elements.last_mut() {
                    Some(Element::Run(before)) if joins(before.operator, run.operator) => {
                        before.join(run);
                    }
                    _ => elements.push(Element::Run(run)),
                }
            }
        }
    }
    if !begins_with_scheme(&outline, elements.first()) {
        let reason = "it begins with no scheme, such as `docs://`";
        return Err(TemplateError::new(&template.text, 0, reason));
    }
    if has_dot_segments(&outline) {
        return Err(TemplateError::new(&template.text, 0, UriFault::DotSegment.to_string()));
    }
    Ok(elements)
}

/// A scheme may also come from an expression.
fn begins_with_scheme(outline: &str, first: Option<&Element>) -> bool {
    matches!(first, Some(Element::Run(_))) || scheme_end(outline).is_some()
}

fn run(expression: &Expression, template: &UriTemplate) -> Run {
    let operator = expression.operator;
    let explodes = expression.variables.iter().any(|spec| spec.modifier == Modifier::Explode);
    let one = expression.variables.len() == 1 && !explodes;
    let mut content = UNRESERVED;
    if operator.keeps_reserved() {
        content = content.and(RESERVED);
        // A query or a fragment of its own expression is not part of the value before it.
        for later in expressions(template).filter(|later| later.position > expression.position) {
            match later.operator {
                Operator::Query => content = content.without(b'?'),
                Operator::Fragment => content = content.without(b'#'),
                _ => {}
            }
        }
    } else if explodes || operator.named() {
        content = content.and(CharSet::of(b"="));
    }
    if !one {
        content = content.without(operator.separator());
    }
    Run {
        lead: operator.lead().map(|lead| CharSet::of(&[lead])),
        content,
        separator: operator.separator(),
        pieces: match expression.variables.len() {
            _ if explodes || operator.named() => PieceCount::Any,
            count => PieceCount::AtMost(count),
        },
        operator,
        targets: expression.variables.iter().map(Target::new).collect(),
    }
}

impl Run {
    /// Takes the variables of a neighbour in; either may be the first that is defined.
    fn join(&mut self, other: Self) {
        self.lead = self.lead.zip(other.lead).map(|(first, second)| first.and(second));
        self.targets.extend(other.targets);
    }

    /// Where the character of a piece ends that begins at `at`.
    pub(super) fn step(&self, bytes: &[u8], at: usize) -> Option<usize> {
        match bytes.get(at)? {
            b'%' => triplet_at(bytes, at).map(|_| at + TRIPLET_BYTES),
            &byte => self.content.has(byte).then_some(at + 1),
        }
    }
}

impl Target {
    fn new(spec: &VarSpec) -> Self {
        let mut name_in_uri = String::new();
        if push_normal(&mut name_in_uri, &spec.name, 0, QUERY, Purpose::Store).is_err() {
            // Triplets in a name that are not UTF-8 stand in no normalised URI: the name is never found.
            name_in_uri.clear();
            push_keeping_triplets(&mut name_in_uri, &spec.name, QUERY);
        }
        Self { spec: spec.clone(), name_in_uri }
    }
}

fn root_folder_bytes(prefix: &str) -> Option<usize> {
    let before_query = prefix.find(['?', '#']).and_then(|end| prefix.get(..end)).unwrap_or(prefix);
    let authority = scheme_end(before_query)? + "://".len();
    let after = before_query.get(authority..)?;
    let begins = prefix.get(..authority)?.ends_with("://") && !after.starts_with('/');
    Some(authority + after.rfind('/')? + 1).filter(|_| begins)
}

/// Characters as a person counts them: the triplets of one character are one.
fn literal_characters(element: &Element) -> usize {
    let Element::Literal(text) = element else {
        return 0;
    };
    let bytes = text.as_bytes();
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        at = match triplet_char_at(bytes, at) {
            Some((_, end)) => end,
            None if triplet_at(bytes, at).is_some() => at + TRIPLET_BYTES,
            None => at + 1,
        };
        count += 1;
    }
    count
}

/// Whether no run may hold, or begin with, what may stand behind it.
fn separated(elements: &[Element]) -> bool {
    elements.iter().enumerate().all(|(number, element)| {
        let Element::Run(run) = element else {
            return true;
        };
        let mut own = run.content.and(CharSet::of(b"%")).and(run.lead.unwrap_or(CharSet::of(b"")));
        if run.pieces != PieceCount::AtMost(1) {
            own = own.and(CharSet::of(&[run.separator]));
        }
        for next in elements.iter().skip(number + 1) {
            match next {
                Element::Literal(text) => {
                    return text.bytes().next().is_none_or(|first| !own.has(first));
                }
                Element::Run(next) => {
                    let first = next.lead.unwrap_or(next.content.and(CharSet::of(b"%")));
                    if own.meets(first) {
                        return false;
                    }
                }
            }
        }
        true
    })
}
