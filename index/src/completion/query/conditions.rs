//! What the chosen values and the caller's required values come to: one list that answers exactly, or candidates that
//! must be judged one by one.

use std::collections::BTreeMap;

use crate::access::Access;
use crate::completion::layers::Layers;
use crate::completion::plan::{Plan, Term};
use crate::error::Result;

/// Combinations of required values that are looked at.
const ALTERNATIVES_MAX: usize = 1_000;

/// Values that certain variables must have.
pub(super) type Chosen = BTreeMap<usize, Term>;

/// Under which conditions a value may be offered.
pub(super) enum Conditions {
    /// None can be.
    Nothing,
    /// All of these values together.
    All(Chosen),
    /// One of these combinations.
    OneOf(Vec<Chosen>),
    /// The variable itself must have one of these values, beside what is chosen.
    Target(Vec<String>, Chosen),
}

pub(super) fn conditions(
    plan: &Plan,
    layers: &Layers,
    target: usize,
    context: &[(&str, &str)],
    (space, access): (&str, &Access),
) -> Result<Conditions> {
    let mut chosen = Chosen::new();
    for (name, value) in context {
        let Some(variable) = plan.variable(name).filter(|variable| *variable != target) else {
            continue;
        };
        let Some(term) = known_term(plan, layers, variable, value)? else {
            return Ok(Conditions::Nothing);
        };
        chosen.insert(variable, term);
    }
    let mut alternatives: Vec<(usize, Vec<Term>)> = Vec::new();
    let mut of_target = None;
    for required in access.required_in(space) {
        let Some(variable) = plan.variable(&required.variable) else {
            return Ok(Conditions::Nothing);
        };
        if plan.explodes(variable) {
            return Ok(Conditions::Nothing);
        }
        if variable == target {
            let allowed = of_target.get_or_insert_with(|| required.values.clone());
            allowed.retain(|value| required.values.contains(value));
            continue;
        }
        let leaves = required.values.iter().filter_map(|value| plan.leaf(variable, value));
        let leaves: Vec<Term> = match chosen.remove(&variable) {
            None => leaves.collect(),
            Some(term) => leaves.filter(|leaf| plan.leads_to(variable, &term, leaf)).collect(),
        };
        alternatives.push((variable, leaves));
    }
    if let Some(allowed) = of_target {
        return Ok(Conditions::Target(allowed.into_iter().collect(), chosen));
    }
    Ok(combine(chosen, alternatives))
}

/// Every choice of one required value for each variable, with what is chosen.
fn combine(chosen: Chosen, alternatives: Vec<(usize, Vec<Term>)>) -> Conditions {
    let mut all = vec![chosen];
    for (variable, terms) in alternatives {
        let mut next = Vec::new();
        for chosen in &all {
            for term in &terms {
                // Two conditions on one variable hold together only where they are the same.
                if chosen.get(&variable).is_none_or(|other| other.is_same(term)) {
                    let mut chosen = chosen.clone();
                    chosen.insert(variable, term.clone());
                    next.push(chosen);
                }
            }
        }
        next.truncate(ALTERNATIVES_MAX + 1);
        all = next;
    }
    match all.len() {
        0 => Conditions::Nothing,
        1 => all.pop().map_or(Conditions::Nothing, Conditions::All),
        _ => Conditions::OneOf(all),
    }
}

/// Whether combinations were left out.
pub(super) fn are_cut(alternatives: &[Chosen]) -> bool {
    alternatives.len() > ALTERNATIVES_MAX
}

/// The term of a chosen value: a folder of a path before a resource of the same spelling, since it stands for more.
fn known_term(plan: &Plan, layers: &Layers, variable: usize, value: &str) -> Result<Option<Term>> {
    for term in plan.terms_of_text(variable, value) {
        if layers.newest_of(variable, term.as_ref())?.is_some() {
            return Ok(Some(term));
        }
    }
    Ok(None)
}
