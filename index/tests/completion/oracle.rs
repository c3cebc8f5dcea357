//! The right answer, by looking at every record. Nothing here is fast, everything is meant to be seen to be right.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pressmark_index::access::Access;
use pressmark_index::completion::{Completion, CompletionRequest, VALUES_MAX};
use pressmark_index::resource::{Binding, Value};
use pressmark_index::uri_template::UriTemplate;

use crate::distance;
use crate::entries::{Kind, entry, is_chosen, kind, readable};
use crate::fold::{fold, later_words};

/// Later words are looked for when there are fewer prefix matches than this.
const PREFIX_MATCHES_ENOUGH: usize = VALUES_MAX;
/// Typing errors are looked for when there are fewer matches than this.
const MATCHES_ENOUGH: usize = 10;
/// Beyond this many values of the later classes the total is not told.
const LATER_COUNTED_MAX: usize = 1_000;
/// From this many characters on, one edit is forgiven ...
const ONE_EDIT_CHARACTERS: usize = 4;
/// ... and from this many on, two.
const TWO_EDITS_CHARACTERS: usize = 8;
const PRIORITY_DEFAULT: f64 = 0.5;

/// A live resource.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) bindings: Vec<Binding>,
    pub(crate) priority: Option<f64>,
    pub(crate) acl: Option<Vec<String>>,
}

/// A space with what is in it, by URI.
#[derive(Debug, Clone)]
pub(crate) struct Oracle {
    pub(crate) space: String,
    pub(crate) template: UriTemplate,
    pub(crate) records: BTreeMap<String, Record>,
}

/// Classes, each offered after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Prefix,
    LaterWord,
    Typo,
}

/// What stands behind an entry, over all records whoever may see them.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    priority: u16,
    resources: usize,
}

impl Oracle {
    pub(crate) fn new(space: &str, template: &str) -> Oracle {
        let template = UriTemplate::parse(template).unwrap();
        Oracle { space: space.to_owned(), template, records: BTreeMap::new() }
    }

    /// The answer; `None` where the caller may not use the space, or the template has no such variable.
    pub(crate) fn complete(&self, request: &CompletionRequest<'_>) -> Option<Completion> {
        let classes = self.classes(request)?;
        let [prefix, later, typos] = &classes;
        let mut values = prefix.clone();
        let mut later_count = 0;
        if prefix.len() < PREFIX_MATCHES_ENOUGH {
            values.extend(later.iter().cloned());
            later_count += later.len();
        }
        if values.len() < MATCHES_ENOUGH {
            values.extend(typos.iter().cloned());
            later_count += typos.len();
        }
        let all = values.len();
        values.truncate(request.count_max.min(VALUES_MAX));
        if later_count > LATER_COUNTED_MAX {
            let values = values.iter().collect();
            return Some(Completion { values, total: None, has_more: true });
        }
        let has_more = all > values.len();
        let values = values.iter().collect();
        Some(Completion { values, total: Some(all as u64), has_more })
    }

    /// Everything that may be offered, of whatever class.
    pub(crate) fn candidates(&self, request: &CompletionRequest<'_>) -> Option<Vec<String>> {
        Some(self.classes(request)?.concat())
    }

    /// What the caller may be offered, by class, each in order.
    fn classes(&self, request: &CompletionRequest<'_>) -> Option<[Vec<String>; 3]> {
        if !request.access.sees_space(&self.space) {
            return None;
        }
        let kind = kind(&self.template, request.variable)?;
        let mut weights: BTreeMap<String, Weight> = BTreeMap::new();
        let mut offered: BTreeMap<String, Class> = BTreeMap::new();
        for record in self.records.values() {
            let Some(value) = record.value(request.variable) else { continue };
            let Some(entry) = entry(kind, value, request.typed) else { continue };
            let weight = weights.entry(entry.clone()).or_default();
            weight.priority = weight.priority.max(record.stored_priority());
            weight.resources += 1;
            if self.sees(record, request.access)
                && self.fits(record, request)
                && let Some(class) = class_of(kind, &entry, request.typed)
            {
                offered.insert(entry, class);
            }
        }
        let typed = request.typed;
        let folded = fold(&readable(kind, typed));
        let in_class = |class: Class| {
            let mut values: Vec<String> = offered
                .iter()
                .filter(|(_, of_value)| **of_value == class)
                .map(|(value, _)| value.clone())
                .collect();
            values.sort_by_key(|value| {
                let weight = weights[value];
                let byte_exact = value == typed;
                let folded_exact = fold(&readable(kind, value)) == folded;
                let is_whole = class == Class::Typo && is_whole(kind, value, typed);
                (
                    Reverse(is_whole),
                    Reverse(byte_exact),
                    Reverse(folded_exact),
                    Reverse(weight.priority),
                    Reverse(weight.resources),
                    fold(&readable(kind, value)).into_iter().collect::<String>().into_bytes(),
                    value.clone().into_bytes(),
                )
            });
            values
        };
        Some([Class::Prefix, Class::LaterWord, Class::Typo].map(in_class))
    }

    fn sees(&self, record: &Record, access: &Access) -> bool {
        let passes = record.acl.as_ref().is_none_or(|acl| access.passes_acl(acl));
        let has_required = access.required_in(&self.space).all(|required| {
            matches!(
                record.value(&required.variable),
                Some(Value::String(value)) if required.values.contains(value)
            )
        });
        passes && has_required
    }

    fn fits(&self, record: &Record, request: &CompletionRequest<'_>) -> bool {
        request.context.iter().all(|(name, chosen)| match kind(&self.template, name) {
            Some(_) if *name == request.variable => true,
            Some(kind) => record.value(name).is_some_and(|value| is_chosen(kind, value, chosen)),
            None => true,
        })
    }

    /// Whether the issue leaves it open how exact the answer is: several chosen values that are no leading run of the
    /// template's variables.
    pub(crate) fn leaves_open(&self, request: &CompletionRequest<'_>) -> bool {
        let chosen: Vec<&str> = self
            .template
            .variables()
            .map(|spec| spec.name.as_str())
            .filter(|name| *name != request.variable)
            .filter(|name| request.context.iter().any(|(chosen, _)| chosen == name))
            .collect();
        let leading = self.template.variables().map(|spec| spec.name.as_str());
        chosen.len() > 1 && !leading.take(chosen.len()).eq(chosen.iter().copied())
    }
}

/// The first class that an entry belongs to.
fn class_of(kind: Kind, entry: &str, typed: &str) -> Option<Class> {
    let (entry, typed) = (&readable(kind, entry), &readable(kind, typed));
    let (whole, wanted) = (fold(entry), fold(typed));
    if whole.starts_with(&wanted) {
        return Some(Class::Prefix);
    }
    // Of a path only the last segment has later words; what stands before it must be what is typed before.
    let (folder, name) =
        if kind != Kind::Plain { last_segment(entry) } else { ("", entry.as_str()) };
    let (typed_folder, begun) =
        if kind != Kind::Plain { last_typed(typed) } else { ("", typed.as_str()) };
    if fold(folder) == fold(typed_folder) {
        let begun = fold(begun);
        if later_words(name).into_iter().any(|place| fold(&name[place..]).starts_with(&begun)) {
            return Some(Class::LaterWord);
        }
    }
    let forgiven = forgiven(&wanted)?;
    let slashes = |text: &[char]| text.iter().filter(|character| **character == '/').count();
    let edits = distance::to_a_prefix(&wanted, &whole, |prefix| {
        kind == Kind::Plain || slashes(prefix) == slashes(&wanted)
    });
    edits.is_some_and(|edits| edits <= forgiven).then_some(Class::Typo)
}

/// How many edits are forgiven, if any.
fn forgiven(wanted: &[char]) -> Option<usize> {
    match wanted.len() {
        characters if characters < ONE_EDIT_CHARACTERS => None,
        characters if characters < TWO_EDITS_CHARACTERS => Some(1),
        _ => Some(2),
    }
}

/// Whether an entry is all of what is typed but for the edits that are forgiven; a folder without its slash, too.
fn is_whole(kind: Kind, entry: &str, typed: &str) -> bool {
    let (whole, wanted) = (fold(&readable(kind, entry)), fold(&readable(kind, typed)));
    let Some(forgiven) = forgiven(&wanted) else { return false };
    let slashes = |text: &[char]| text.iter().filter(|character| **character == '/').count();
    let without_slash = whole.strip_suffix(&['/']).filter(|_| kind != Kind::Plain);
    [Some(&whole[..]), without_slash].into_iter().flatten().any(|value| {
        (kind == Kind::Plain || slashes(value) == slashes(&wanted))
            && distance::to_a_prefix(&wanted, value, |prefix| prefix.len() == value.len())
                .is_some_and(|edits| edits <= forgiven)
    })
}

/// An entry's folders, and its last segment with the slash that a folder ends in.
fn last_segment(entry: &str) -> (&str, &str) {
    let name_ends = entry.strip_suffix('/').unwrap_or(entry);
    entry.split_at(name_ends.rfind('/').map_or(0, |slash| slash + 1))
}

fn last_typed(typed: &str) -> (&str, &str) {
    typed.split_at(typed.rfind('/').map_or(0, |slash| slash + 1))
}

impl Record {
    fn value(&self, variable: &str) -> Option<&Value> {
        let binding = self.bindings.iter().find(|binding| binding.name == variable)?;
        Some(&binding.value)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a priority is 0.0 to 1.0, so the product fits"
    )]
    fn stored_priority(&self) -> u16 {
        (self.priority.unwrap_or(PRIORITY_DEFAULT) * 65_535.0).round() as u16
    }
}
