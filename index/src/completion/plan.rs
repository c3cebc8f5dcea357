//! What completion keeps for a template: a dictionary of values for each variable, and lists of which values lead to
//! a resource together.
//!
//! A list is kept for each pair of a context and a target: every single other variable as context, and every leading
//! run of the template's variables. These are the contexts for which counts are exact.

use std::borrow::Cow;

use super::fold::{begins_word, fold, fold_char, fold_char_of_segment, fold_segment, is_dropped};
use crate::resource::{Binding, Value};
use crate::uri_template::{Modifier, Operator, UriTemplate, decode};

/// Folders above a value of a path variable that can be completed; what lies deeper is not offered.
pub(crate) const PATH_LEVELS_MAX: usize = 64;
/// Folded bytes of a value that are compared; far more than a URI has room for.
const KEY_BYTES_MAX: usize = 60_000;

/// How the values of a variable are completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As a whole.
    Whole,
    /// One segment at a time: `{+x}`, `{/x*}`.
    Path,
}

/// A variable of the template; its number is its place among the names.
#[derive(Debug)]
struct Variable {
    name: String,
    shape: Shape,
    explodes: bool,
    spelling: Spelling,
    /// `{x}`.
    is_simple: bool,
}

/// How a variable's values are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As text.
    Plain,
    /// As in a URI: `{+x}`, `{#x}`. People type the text that the escapes stand for.
    Escaped,
}

impl Spelling {
    /// What a person reads in a value, or in a segment of one. An escaped slash stays as it is: it separates nothing.
    fn readable(self, text: &str) -> Cow<'_, str> {
        match self {
            Spelling::Escaped if text.contains('%') => match decode(text) {
                Some(decoded) if !decoded.contains('/') => Cow::Owned(decoded),
                _ => Cow::Borrowed(text),
            },
            _ => Cow::Borrowed(text),
        }
    }

    /// The folded form of typed text; of a path, of its segments.
    pub(crate) fn fold(self, typed: &str, is_path: bool) -> String {
        if !is_path {
            return fold(&self.readable(typed));
        }
        let segments = typed.split('/').map(|segment| fold_segment(&self.readable(segment)));
        segments.collect::<Vec<_>>().join("/")
    }
}

/// Which values of one variable lead to a resource together with chosen values of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListShape {
    /// The variables that are chosen, in template order; never empty.
    pub(crate) context: Vec<usize>,
    /// The variable that is completed.
    pub(crate) target: usize,
}

/// The variables and lists of a template.
#[derive(Debug)]
pub(crate) struct Plan {
    variables: Vec<Variable>,
    lists: Vec<ListShape>,
}

/// A value as it is kept: folded key, the text itself, and where later words begin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    /// For a path variable the depth, as a character; then the folded text. Values sort by it, then by `raw`.
    pub(crate) key: Box<str>,
    pub(crate) raw: Box<str>,
    /// Byte offsets in `key`.
    pub(crate) words: Box<[u16]>,
}

/// The values by which one resource is found: for each variable its terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) terms: Vec<Vec<Term>>,
}

impl Plan {
    pub(crate) fn new(template: &UriTemplate) -> Plan {
        let mut variables: Vec<Variable> = Vec::new();
        for spec in template.variables() {
            if variables.iter().all(|variable| variable.name != spec.name) {
                let shape = match (spec.operator, spec.modifier) {
                    (Operator::Reserved, Modifier::None)
                    | (Operator::PathSegment, Modifier::Explode) => Shape::Path,
                    _ => Shape::Whole,
                };
                let explodes = spec.modifier == Modifier::Explode;
                let spelling = match spec.operator {
                    Operator::Reserved | Operator::Fragment => Spelling::Escaped,
                    _ => Spelling::Plain,
                };
                let is_simple = spec.operator == Operator::Simple && !explodes;
                variables.push(Variable {
                    name: spec.name.clone(),
                    shape,
                    explodes,
                    spelling,
                    is_simple,
                });
            }
        }
        let lists = lists(variables.len());
        Plan { variables, lists }
    }

    pub(crate) fn variable_count(&self) -> usize {
        self.variables.len()
    }

    pub(crate) fn lists(&self) -> &[ListShape] {
        &self.lists
    }

    pub(crate) fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|variable| variable.name == name)
    }

    pub(crate) fn is_path(&self, variable: usize) -> bool {
        self.variables.get(variable).is_some_and(|variable| variable.shape == Shape::Path)
    }

    /// Whether every resource has exactly one term of it: `{x}`, whose values are completed as a whole.
    pub(crate) fn always_has_one_value(&self, variable: usize) -> bool {
        self.variables.get(variable).is_some_and(|variable| variable.is_simple)
    }

    /// How its values are spelled.
    pub(crate) fn spelling(&self, variable: usize) -> Spelling {
        self.variables.get(variable).map_or(Spelling::Plain, |variable| variable.spelling)
    }

    /// Whether its values are lists.
    pub(crate) fn explodes(&self, variable: usize) -> bool {
        self.variables.get(variable).is_some_and(|variable| variable.explodes)
    }

    /// What a value, as completion gives it, may stand for: a folder of a path first, then a resource's own value.
    pub(crate) fn terms_of_text(&self, variable: usize, text: &str) -> Vec<Term> {
        if !self.is_path(variable) {
            return vec![Term::whole(text, self.spelling(variable))];
        }
        let folder = text
            .strip_suffix('/')
            .map(|path| folder_terms(path.split('/'), self.spelling(variable)));
        let folder = folder.and_then(|mut terms| terms.pop()).filter(|term| *term.raw == *text);
        folder.into_iter().chain(self.leaf(variable, text)).collect()
    }

    /// The term of a resource's own value.
    pub(crate) fn leaf(&self, variable: usize, text: &str) -> Option<Term> {
        if !self.is_path(variable) {
            return Some(Term::whole(text, self.spelling(variable)));
        }
        path_terms(text.split('/'), self.spelling(variable)).pop().filter(|term| *term.raw == *text)
    }

    /// The entry of a resource's own value at the depth that is completed; of a variable that is no path, itself.
    pub(crate) fn entry_at(
        &self,
        variable: usize,
        text: &str,
        depth: Option<char>,
    ) -> Option<Term> {
        match depth {
            None => Some(Term::whole(text, self.spelling(variable))),
            Some(depth) => path_terms(text.split('/'), self.spelling(variable))
                .into_iter()
                .find(|term| term.key.starts_with(depth)),
        }
        .filter(|_| variable < self.variables.len())
    }

    /// Whether a chosen term is this leaf or a folder above it.
    pub(crate) fn leads_to(&self, variable: usize, chosen: &Term, leaf: &Term) -> bool {
        chosen.is_same(leaf)
            || (self.is_path(variable)
                && path_terms(leaf.raw.split('/'), self.spelling(variable))
                    .iter()
                    .any(|term| term.is_same(chosen)))
    }

    /// Where later words begin in the key of a path's entry.
    pub(crate) fn words_of_entry(&self, variable: usize, raw: &str, key: &str) -> Box<[u16]> {
        let terms = self.terms_of_text(variable, raw).into_iter();
        terms.filter(|term| *term.key == *key).map(|term| term.words).next().unwrap_or_default()
    }

    /// A term's value as a binding from which the template is expanded; a folder gets `below` behind it.
    pub(crate) fn binding(&self, variable: usize, term: &Term, below: &str) -> Option<Binding> {
        let variable = self.variables.get(variable)?;
        let mut text = term.raw.to_string();
        if variable.shape == Shape::Path && term.is_folder() {
            text.push_str(below);
        }
        let value = if variable.explodes {
            Value::List(text.split('/').map(str::to_owned).collect())
        } else {
            Value::String(text)
        };
        Some(Binding { name: variable.name.clone(), value })
    }

    /// A binding for a variable that is not chosen.
    pub(crate) fn any_binding(&self, variable: usize, text: &str) -> Option<Binding> {
        self.binding(variable, &Term::whole(text, Spelling::Plain), "")
    }

    /// The list for a context, which is in template order; `None`: there is none.
    pub(crate) fn list_for(&self, context: &[usize], target: usize) -> Option<usize> {
        self.lists.iter().position(|list| list.target == target && list.context == context)
    }

    /// The terms of a resource with these bindings.
    pub(crate) fn facts(&self, bindings: &[Binding]) -> Facts {
        let terms = self.variables.iter().map(|variable| {
            let binding = bindings.iter().find(|binding| binding.name == variable.name);
            binding.map(|binding| terms_of(&binding.value, variable)).unwrap_or_default()
        });
        Facts { terms: terms.collect() }
    }
}

/// Every single variable as context of every other one, and the leading runs of two and more.
fn lists(variables: usize) -> Vec<ListShape> {
    let mut lists = Vec::new();
    for target in 0..variables {
        let others = (0..variables).filter(|&other| other != target);
        lists.extend(others.map(|other| ListShape { context: vec![other], target }));
        let runs = (2..variables).filter(|&length| target >= length);
        lists.extend(runs.map(|length| ListShape { context: (0..length).collect(), target }));
    }
    lists
}

/// A list is offered as a path; elsewhere one text cannot stand for it. A map is never offered.
fn terms_of(value: &Value, variable: &Variable) -> Vec<Term> {
    let spelling = variable.spelling;
    match (value, variable.shape) {
        (Value::String(text), Shape::Whole) => vec![Term::whole(text, spelling)],
        (Value::String(text), Shape::Path) => path_terms(text.split('/'), spelling),
        (Value::List(items), Shape::Path) => {
            // A segment that is empty or holds a slash could not be told from two.
            let readable = items.iter().position(|item| item.is_empty() || item.contains('/'));
            match readable {
                None => path_terms(items.iter().map(String::as_str), spelling),
                Some(end) => folder_terms(items.iter().take(end).map(String::as_str), spelling),
            }
        }
        (Value::List(items), Shape::Whole) => match items.as_slice() {
            [only] => vec![Term::whole(only, spelling)],
            _ => Vec::new(),
        },
        (Value::Map(_), _) => Vec::new(),
    }
}

/// The folders of a path, then the path itself.
fn path_terms<'a>(segments: impl Iterator<Item = &'a str>, spelling: Spelling) -> Vec<Term> {
    let mut segments = segments.peekable();
    let mut terms = Vec::new();
    let mut path = PathText::new(spelling);
    while let Some(segment) = segments.next() {
        if terms.len() >= PATH_LEVELS_MAX {
            break;
        }
        let is_folder = segments.peek().is_some();
        terms.push(path.descend(segment, is_folder));
    }
    terms
}

fn folder_terms<'a>(segments: impl Iterator<Item = &'a str>, spelling: Spelling) -> Vec<Term> {
    let mut path = PathText::new(spelling);
    segments.take(PATH_LEVELS_MAX).map(|segment| path.descend(segment, true)).collect()
}

/// A path that grows segment by segment.
struct PathText {
    spelling: Spelling,
    raw: String,
    folded: String,
    depth: u32,
}

impl PathText {
    fn new(spelling: Spelling) -> Self {
        PathText { spelling, raw: String::new(), folded: String::new(), depth: 0 }
    }

    fn descend(&mut self, segment: &str, is_folder: bool) -> Term {
        let mut key = String::with_capacity(1 + self.folded.len() + segment.len() + 1);
        key.push(depth_char(self.depth));
        key.push_str(&self.folded);
        let segment_text = self.spelling.readable(segment);
        let words = fold_with_words(&segment_text, fold_char_of_segment, &mut key);
        self.raw.push_str(segment);
        if is_folder {
            self.raw.push('/');
            key.push('/');
        }
        self.folded.clear();
        self.folded.push_str(key.get(depth_char(self.depth).len_utf8()..).unwrap_or_default());
        self.depth += 1;
        Term::new(key, self.raw.clone(), words)
    }
}

/// The depth of a path's entry as the first character of its key, so that one level sorts together.
pub(crate) fn depth_char(depth: u32) -> char {
    char::from_u32(depth.saturating_add(1)).unwrap_or(char::MAX)
}

impl Term {
    pub(crate) fn whole(text: &str, spelling: Spelling) -> Term {
        let mut key = String::with_capacity(text.len());
        let words = fold_with_words(&spelling.readable(text), fold_char, &mut key);
        Term::new(key, text.to_owned(), words)
    }

    /// A term as a dictionary has it; later words are not known.
    pub(crate) fn from_stored(term: super::segment::TermRef<'_>) -> Term {
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap_or_default().into();
        Term { key: text(term.key), raw: text(term.raw), words: Box::default() }
    }

    /// Whether it is the same value.
    pub(crate) fn is_same(&self, other: &Term) -> bool {
        self.key == other.key && self.raw == other.raw
    }

    /// Of a path: whether resources lie beneath it.
    fn is_folder(&self) -> bool {
        let depth = self.key.chars().next().map_or(0, u32::from);
        let slashes = self.raw.bytes().filter(|byte| *byte == b'/').count();
        self.raw.ends_with('/') && u32::try_from(slashes).is_ok_and(|slashes| slashes == depth)
    }

    fn new(mut key: String, raw: String, words: Vec<u16>) -> Term {
        if key.len() > KEY_BYTES_MAX {
            let mut end = KEY_BYTES_MAX;
            while !key.is_char_boundary(end) {
                end -= 1;
            }
            key.truncate(end);
        }
        Term { key: key.into(), raw: raw.into(), words: words.into() }
    }
}

/// Appends the folded text to `key`; where later words begin in it.
fn fold_with_words(
    text: &str,
    fold_char: impl Fn(char, &mut String),
    key: &mut String,
) -> Vec<u16> {
    let mut words = Vec::new();
    let mut chars = text.chars().filter(|character| !is_dropped(*character)).peekable();
    let mut before = None;
    while let Some(here) = chars.next() {
        if let Some(before) = before
            && begins_word(before, here, chars.peek().copied())
            && let Ok(offset) = u16::try_from(key.len())
            && key.len() < KEY_BYTES_MAX
        {
            words.push(offset);
        }
        fold_char(here, key);
        before = Some(here);
    }
    words
}

/// Where the part of a key that words are looked for in begins: the last segment of a path, or all of it.
pub(crate) fn last_segment_start(key: &[u8], is_path: bool) -> usize {
    if !is_path {
        return 0;
    }
    let trimmed = key.strip_suffix(b"/").unwrap_or(key);
    // Without a slash it begins behind the depth, which is one byte for as many levels as are kept.
    memchr::memrchr(b'/', trimmed).map_or(key.len().min(1), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(template: &str) -> Plan {
        Plan::new(&UriTemplate::parse(template).unwrap())
    }

    fn binding(name: &str, value: Value) -> Binding {
        Binding { name: name.into(), value }
    }

    #[test]
    fn lists_cover_single_values_and_leading_runs() {
        assert!(plan("a://b/{c}").lists().is_empty());
        let three = plan("a://b/{x}/{y}/{z}");
        assert_eq!(three.lists().len(), 7);
        assert!(three.list_for(&[0, 1], 2).is_some());
        assert!(three.list_for(&[2], 0).is_some());
        assert!(three.list_for(&[1, 2], 0).is_none());
    }

    #[test]
    fn a_path_has_a_term_for_each_level() {
        let facts = plan("f://d/{+path}")
            .facts(&[binding("path", Value::String("Docs/My Api/read-Me.md".into()))]);
        let shown: Vec<_> = facts.terms[0]
            .iter()
            .map(|term| (&*term.key, &*term.raw, term.words.to_vec()))
            .collect();
        assert_eq!(
            shown,
            [
                ("\u{1}docs/", "Docs/", vec![]),
                ("\u{2}docs/my api/", "Docs/My Api/", vec![9]),
                ("\u{3}docs/my api/read-me.md", "Docs/My Api/read-Me.md", vec![18, 21]),
            ]
        );
        assert_eq!(last_segment_start(b"\x02docs/my api/", true), 6);
        assert_eq!(last_segment_start(b"\x01docs/", true), 1);
    }

    #[test]
    fn escapes_are_typed_as_what_they_stand_for() {
        let facts = plan("f://d/{+path}")
            .facts(&[binding("path", Value::String("%E6%97%A5/My%20Notes%2Fb.md".into()))]);
        let keys: Vec<_> = facts.terms[0].iter().map(|term| &*term.key).collect();
        assert_eq!(keys, ["\u{1}日/", "\u{2}日/my%20notes%2fb.md"]);
        assert_eq!(&*facts.terms[0][0].raw, "%E6%97%A5/");
        assert_eq!(Spelling::Escaped.fold("%E6%97%A5/My%20", true), "日/my ");
    }

    #[test]
    fn what_one_text_cannot_say_is_not_offered() {
        let path = plan("f://d{/path*}");
        let list =
            |items: &[&str]| Value::List(items.iter().map(|item| (*item).to_owned()).collect());
        let terms = |value| path.facts(&[binding("path", value)]).terms[0].len();
        assert_eq!(terms(list(&["a", "b", "c"])), 3);
        assert_eq!(terms(list(&["a", "b/c", "d"])), 1);
        assert_eq!(terms(list(&["a", "", "d"])), 1);
        let facts = plan("f://d{?q*}").facts(&[binding("q", Value::Map(Vec::new()))]);
        assert!(facts.terms[0].is_empty());
    }
}
