//! Variable matching (RFC 6570 section 1.5): from a URI to the bindings that expand to it.
//!
//! Two passes, no backtracking. The first goes from the end of the URI to its beginning and notes, for each state of
//! the template and each position, whether the rest can match from there; the second goes forward and takes the longest
//! text that the notes allow. Both are bounded by states times positions. Where one look ahead tells where every
//! expression ends, as in most templates, the second pass alone is enough.

use std::ops::Range;

use super::expand::prefix;
use super::matcher::{Element, PieceCount, Run, Target, TemplateMatcher};
use super::normal_form::has_dot_segments;
use super::{Modifier, Operator, decode};
use crate::resource::{Binding, Value};

/// How much was done for one URI: what the bound on the work is tested with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepCount(pub(super) usize);

impl TemplateMatcher {
    /// The bindings that expand to this URI; `None` when the template does not match.
    ///
    /// The URI is in normal form. Each variable takes the longest text, left to right, that lets the rest match;
    /// variables that are left out are undefined and have no binding, so a match may have none at all.
    pub fn match_uri(&self, normalised_uri: &str) -> Option<Vec<Binding>> {
        self.match_counting(normalised_uri).0
    }

    pub(super) fn match_counting(&self, uri: &str) -> (Option<Vec<Binding>>, StepCount) {
        let mut steps = StepCount(0);
        let elements = match self.elements.split_first() {
            Some((Element::Literal(_), rest)) => rest,
            _ => &self.elements,
        };
        let found = uri.strip_prefix(self.literal_prefix()).and_then(|text| {
            let extents = if self.separated {
                extents_by_look_ahead(elements, text, &mut steps)?
            } else {
                extents_by_search(elements, text, &mut steps)?
            };
            let bindings = self.bind(elements, text, &extents)?;
            (!has_dot_segments(uri)).then_some(bindings)
        });
        (found, steps)
    }

    fn bind(
        &self,
        elements: &[Element],
        text: &str,
        extents: &[Range<usize>],
    ) -> Option<Vec<Binding>> {
        let mut found = Vec::with_capacity(self.variable_count);
        let runs = elements.iter().filter_map(|element| match element {
            Element::Literal(_) => None,
            Element::Run(run) => Some(run),
        });
        for (run, extent) in runs.zip(extents) {
            let text = text.get(extent.clone())?;
            if run.operator.named() {
                bind_named(run, text, &mut found)?;
            } else {
                bind_in_order(run, text, &mut found)?;
            }
        }
        if self.repeats {
            return unite(&found);
        }
        let binding = |(target, value): (&Target, Option<Value>)| {
            Some(Binding { name: target.spec.name.clone(), value: value? })
        };
        Some(found.into_iter().filter_map(binding).collect())
    }
}

/// Every target with what it was bound to; `None`: undefined.
type Found<'a> = Vec<(&'a Target, Option<Value>)>;

fn extents_by_look_ahead(
    elements: &[Element],
    text: &str,
    steps: &mut StepCount,
) -> Option<Vec<Range<usize>>> {
    let anywhere = |_: usize, _: usize| true;
    let mut extents = Vec::with_capacity(elements.len());
    let mut at = 0;
    for element in elements {
        match element {
            Element::Literal(literal) => {
                text.get(at..)?.strip_prefix(literal.as_str())?;
                steps.0 += literal.len();
                at += literal.len();
            }
            Element::Run(run) => {
                let end = run_end(run, text.as_bytes(), at, steps, anywhere);
                extents.push(at..end);
                at = end;
            }
        }
    }
    (at == text.len()).then_some(extents)
}

/// The longest text of a run that begins at `at`; `may(piece, position)` tells whether going on there is allowed.
fn run_end(
    run: &Run,
    bytes: &[u8],
    mut at: usize,
    steps: &mut StepCount,
    may: impl Fn(usize, usize) -> bool,
) -> usize {
    if let Some(lead) = run.lead {
        if !bytes.get(at).is_some_and(|&byte| lead.has(byte)) || !may(0, at + 1) {
            return at;
        }
        at += 1;
    }
    let mut piece = 0;
    loop {
        steps.0 += 1;
        if let Some(next) = run.step(bytes, at).filter(|&next| may(piece, next)) {
            at = next;
            continue;
        }
        match run.piece_after(piece) {
            Some(after) if bytes.get(at) == Some(&run.separator) && may(after, at + 1) => {
                at += 1;
                piece = after;
            }
            _ => return at,
        }
    }
}

impl Run {
    /// The state behind a separator; a run of any number of pieces stays in its one state.
    fn piece_after(&self, piece: usize) -> Option<usize> {
        match self.pieces {
            PieceCount::Any => Some(0),
            PieceCount::AtMost(count) => Some(piece + 1).filter(|&after| after < count),
        }
    }

    fn state_count(&self) -> usize {
        match self.pieces {
            PieceCount::Any => 1,
            PieceCount::AtMost(count) => count,
        }
    }
}

/// For one element, from which positions it and everything behind it can match.
struct Reach {
    entry: Vec<bool>,
    /// The same from inside each piece of a run.
    pieces: Vec<Vec<bool>>,
}

fn holds(row: &[bool], at: usize) -> bool {
    row.get(at).copied().unwrap_or(false)
}

fn extents_by_search(
    elements: &[Element],
    text: &str,
    steps: &mut StepCount,
) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut reaches: Vec<Reach> = Vec::with_capacity(elements.len());
    let mut after: Vec<bool> = (0..=bytes.len()).map(|at| at == bytes.len()).collect();
    for element in elements.iter().rev() {
        let reach = match element {
            Element::Literal(literal) => Reach {
                entry: literal_reach(literal.as_bytes(), bytes, &after, steps),
                pieces: Vec::new(),
            },
            Element::Run(run) => run_reach(run, bytes, &after, steps),
        };
        after.clone_from(&reach.entry);
        reaches.push(reach);
    }
    if !holds(&after, 0) {
        return None;
    }
    let mut extents = Vec::with_capacity(elements.len());
    let mut at = 0;
    for (element, reach) in elements.iter().zip(reaches.iter().rev()) {
        match element {
            Element::Literal(literal) => at += literal.len(),
            Element::Run(run) => {
                let may = |piece: usize, at: usize| {
                    reach.pieces.get(piece).is_some_and(|row| holds(row, at))
                };
                let end = run_end(run, bytes, at, steps, may);
                extents.push(at..end);
                at = end;
            }
        }
    }
    Some(extents)
}

fn literal_reach(literal: &[u8], bytes: &[u8], after: &[bool], steps: &mut StepCount) -> Vec<bool> {
    let mut row = vec![false; bytes.len() + 1];
    for (at, reached) in row.iter_mut().enumerate() {
        steps.0 += 1;
        *reached = holds(after, at + literal.len())
            && bytes.get(at..).is_some_and(|rest| rest.starts_with(literal));
    }
    row
}

fn run_reach(run: &Run, bytes: &[u8], after: &[bool], steps: &mut StepCount) -> Reach {
    let width = bytes.len() + 1;
    let mut pieces = vec![vec![false; width]; run.state_count()];
    for piece in (0..run.state_count()).rev() {
        for at in (0..width).rev() {
            steps.0 += 1;
            let in_state = |state: usize, at| pieces.get(state).is_some_and(|row| holds(row, at));
            let reached = holds(after, at)
                || run.step(bytes, at).is_some_and(|next| in_state(piece, next))
                || (bytes.get(at) == Some(&run.separator)
                    && run.piece_after(piece).is_some_and(|state| in_state(state, at + 1)));
            if let Some(cell) = pieces.get_mut(piece).and_then(|row| row.get_mut(at)) {
                *cell = reached;
            }
        }
    }
    let first = pieces.first().map_or(&[] as &[bool], Vec::as_slice);
    let entry = match run.lead {
        None => first.to_vec(),
        Some(lead) => (0..width)
            .map(|at| {
                holds(after, at)
                    || (bytes.get(at).is_some_and(|&byte| lead.has(byte)) && holds(first, at + 1))
            })
            .collect(),
    };
    Reach { entry, pieces }
}

/// Binds pieces to variables in their order; an exploded one takes all that are left.
fn bind_in_order<'a>(run: &'a Run, text: &str, found: &mut Found<'a>) -> Option<()> {
    let body = text.get(usize::from(run.lead.is_some())..);
    let mut pieces: Vec<&str> = match body {
        Some(body) if !text.is_empty() && run.pieces == PieceCount::AtMost(1) => vec![body],
        Some(body) if !text.is_empty() => body.split(char::from(run.separator)).collect(),
        _ => Vec::new(),
    };
    pieces.reverse();
    for target in &run.targets {
        let value = if target.spec.modifier == Modifier::Explode && !pieces.is_empty() {
            let pieces = std::mem::take(&mut pieces);
            Some(exploded(run, pieces.into_iter().rev().collect())?)
        } else {
            match pieces.pop() {
                Some(piece) => Some(Value::String(value(run.operator, piece)?)),
                None => None,
            }
        };
        found.push((target, value));
    }
    pieces.is_empty().then_some(())
}

/// `name=value` in every piece is a map, in none a list; a mixture is a list where values may hold the sign.
fn exploded(run: &Run, pieces: Vec<&str>) -> Option<Value> {
    let pairs: Option<Vec<(&str, &str)>> =
        pieces.iter().map(|piece| piece.split_once('=')).collect();
    if let Some(pairs) = pairs {
        let pair = |(name, text)| Some((value(run.operator, name)?, value(run.operator, text)?));
        return pairs.into_iter().map(pair).collect::<Option<_>>().map(Value::Map);
    }
    pieces
        .into_iter()
        .map(|piece| value(run.operator, piece))
        .collect::<Option<_>>()
        .map(Value::List)
}

/// Binds pieces to variables by their names, in any order.
fn bind_named<'a>(run: &'a Run, text: &str, found: &mut Found<'a>) -> Option<()> {
    let mut slots: Vec<Vec<(&str, String)>> = vec![Vec::new(); run.targets.len()];
    if let Some(body) = text.get(1..) {
        for piece in body.split(char::from(run.separator)) {
            if piece.is_empty() && run.operator != Operator::PathParameter {
                return None;
            }
            let (name, text) = piece.split_once('=').unwrap_or((piece, ""));
            let explodes = |target: &Target| target.spec.modifier == Modifier::Explode;
            let target = run
                .targets
                .iter()
                .position(|target| target.name_in_uri == name)
                .or_else(|| run.targets.iter().position(explodes))?;
            slots.get_mut(target)?.push((name, value(run.operator, text)?));
        }
    }
    for (target, pairs) in run.targets.iter().zip(slots) {
        let value = match (target.spec.modifier, pairs.len()) {
            (_, 0) => None,
            (Modifier::Explode, _) => Some(exploded_by_name(target, pairs)?),
            (_, 1) => pairs.into_iter().next().map(|(_, text)| Value::String(text)),
            _ => return None,
        };
        found.push((target, value));
    }
    Some(())
}

/// Members under the variable's own name are a list, others a map.
fn exploded_by_name(target: &Target, pairs: Vec<(&str, String)>) -> Option<Value> {
    if pairs.iter().all(|(name, _)| *name == target.name_in_uri) {
        return Some(Value::List(pairs.into_iter().map(|(_, text)| text).collect()));
    }
    let pair = |(name, text): (&str, String)| Some((decode(name)?, text));
    pairs.into_iter().map(pair).collect::<Option<_>>().map(Value::Map)
}

/// The value that a piece spells: decoded once, or as it stands where values are URI-spelled.
fn value(operator: Operator, piece: &str) -> Option<String> {
    if operator.keeps_reserved() {
        return Some(piece.to_owned());
    }
    // The sign stands only between a name and a value; in either it is escaped.
    if piece.contains('=') { None } else { decode(piece) }
}

/// One binding for each variable of a template in which some stand in several places, which must agree.
fn unite(found: &Found<'_>) -> Option<Vec<Binding>> {
    let mut bindings: Vec<Binding> = Vec::with_capacity(found.len());
    let is_prefix = |target: &Target| matches!(target.spec.modifier, Modifier::Prefix(_));
    for (number, (target, value)) in
        found.iter().enumerate().filter(|(_, (target, _))| !is_prefix(target))
    {
        let name = &target.spec.name;
        let mut others = found.iter().filter(|(other, _)| other.spec.name == *name);
        if !others.all(|(other, seen)| agree(other, seen.as_ref(), value.as_ref())) {
            return None;
        }
        let first =
            found.iter().position(|(other, _)| other.spec.name == *name && !is_prefix(other));
        if let (Some(value), true) = (value, first == Some(number)) {
            bindings.push(Binding { name: name.clone(), value: value.clone() });
        }
    }
    Some(bindings)
}

fn agree(target: &Target, seen: Option<&Value>, whole: Option<&Value>) -> bool {
    match (target.spec.modifier, seen, whole) {
        (Modifier::Prefix(length), Some(Value::String(seen)), Some(Value::String(whole))) => {
            seen == prefix(whole, length, target.spec.operator)
        }
        _ => seen == whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uri_template::UriTemplate;
    use proptest::prelude::*;

    fn matcher(template: &str) -> TemplateMatcher {
        UriTemplate::parse(template).unwrap().matcher().unwrap()
    }

    /// The work for one URI stays below a count that grows with its length only.
    fn check_linear(template: &str, uri_of: impl Fn(usize) -> String) {
        const STEPS_PER_STATE_AND_BYTE: usize = 3;
        let matcher = matcher(template);
        let state_count = matcher.elements.len() + matcher.variable_count;
        for repeats in [1, 10, 100, 1_000] {
            let uri = uri_of(repeats);
            let StepCount(steps) = matcher.match_counting(&uri).1;
            let allowed = STEPS_PER_STATE_AND_BYTE * state_count * (uri.len() + 1);
            assert!(
                steps <= allowed,
                "{template}: {steps} steps for {} bytes, at most {allowed}",
                uri.len()
            );
        }
    }

    #[test]
    fn matching_takes_time_linear_in_the_length() {
        check_linear("d://a/users{/id*}", |n| {
            format!("d://a/users/{}userX/", "user1,user2,user3,".repeat(n))
        });
        check_linear("d://a/{+a}x{+b}x{+c}", |n| format!("d://a/{}", "x".repeat(n)));
        check_linear("d://a/{+a}x{+b}x{+c}!", |n| format!("d://a/{}", "x".repeat(n)));
        check_linear("d://a/{+a*}xy{+b*}xy{+c*}z", |n| format!("d://a/{}", "xy,".repeat(n)));
        check_linear("d://a{/a,b,c}/x{/d,e,f}/x", |n| format!("d://a{}", "/x".repeat(n)));
        check_linear("d://a{?a,b*}&z{&c*}", |n| format!("d://a?{}", "q=1&z&".repeat(n)));
    }

    proptest! {
        /// Where one look ahead is taken to be enough, the search finds the same.
        #[test]
        fn look_ahead_finds_what_the_search_finds(
            components in prop::collection::vec(
                prop::sample::select(vec![
                    "/", "b", ".", "x/y", "?", "{v}", "{v,w}", "{v*}", "{+v}", "{+v*}", "{/v}", "{/v,w}", "{/v*}",
                    "{.v}", "{.v*}", "{;v}", "{;v,w*}", "{?v}", "{?v,w*}", "{&v}", "{#v}", "{#v*}",
                ]),
                0..5,
            ),
            rest in "([ab=/.,;?&#]|%2F){0,10}",
        ) {
            let mut template = String::from("d://a/");
            for (number, component) in components.iter().enumerate() {
                template.push_str(&component.replace('v', &format!("v{number}")).replace('w', &format!("w{number}")));
            }
            if let Ok(mut matcher) = UriTemplate::parse(&template).unwrap().matcher() {
                let uri = format!("d://a/{rest}");
                let by_look_ahead = matcher.separated.then(|| matcher.match_uri(&uri));
                matcher.separated = false;
                if let Some(by_look_ahead) = by_look_ahead {
                    prop_assert_eq!(matcher.match_uri(&uri), by_look_ahead, "{} {}", template, uri);
                }
            }
        }
    }
}
