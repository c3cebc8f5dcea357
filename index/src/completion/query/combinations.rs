//! Chosen values that no list has together, and callers who must have one of several values: candidates are collected
//! and judged one by one, within bounds.

use std::collections::{HashMap, HashSet};

use super::classes::Found;
use super::conditions::{self, Chosen};
use super::judged::{self, Candidates};
use super::question::{Candidate, Question};
use super::within::{Within, all_within, within};
use super::witness::Witnesses;
use crate::completion::plan::Term;
use crate::error::Result;

/// Values with this combination of chosen ones, which no list has.
pub(super) fn of_combination<'a>(
    question: &Question<'a>,
    chosen: &Chosen,
    witnesses: &Witnesses<'_>,
) -> Result<Found<'a>> {
    let candidates = candidates_near(question, chosen)?;
    judged::answer(question, candidates, |candidate| {
        let term = term_of(candidate);
        witnesses.any(question, &together(chosen, question.variable, &term))
    })
}

/// Candidates for a combination that no list has: what goes with one of its values, the rarest.
pub(super) fn candidates_near<'a>(
    question: &Question<'a>,
    chosen: &Chosen,
) -> Result<Candidates<'a>> {
    let mut least: Option<(u64, Within<'a>)> = None;
    for (variable, term) in chosen {
        let alone = Chosen::from([(*variable, term.clone())]);
        let Some(one) = within(question, &alone)? else { continue };
        let ranks: Vec<_> = question.dictionaries()?.iter().map(|values| 0..values.len()).collect();
        let count = question.count(&one, &ranks)?;
        if least.as_ref().is_none_or(|(fewest, _)| count < *fewest) {
            least = Some((count, one));
        }
    }
    match least {
        Some((_, within)) => all_within(question, &within),
        None => Ok(Candidates { all: Vec::new(), is_cut: false }),
    }
}

fn term_of(candidate: &Candidate<'_>) -> Term {
    Term::from_stored(candidate.term)
}

fn together<'t>(chosen: &'t Chosen, variable: usize, term: &'t Term) -> Vec<(usize, &'t Term)> {
    let chosen = chosen.iter().map(|(variable, term)| (*variable, term));
    chosen.chain([(variable, term)]).collect()
}

/// The caller may have one of several values of other variables.
pub(super) fn one_of<'a>(
    question: &Question<'a>,
    alternatives: &[Chosen],
    witnesses: &Witnesses<'_>,
) -> Result<Found<'a>> {
    let mut together_all =
        Candidates { all: Vec::new(), is_cut: conditions::are_cut(alternatives) };
    let mut known = HashSet::new();
    let mut exact = true;
    for chosen in alternatives {
        let candidates = match within(question, chosen)? {
            Some(within) => all_within(question, &within)?,
            None => {
                exact = false;
                candidates_near(question, chosen)?
            }
        };
        together_all.is_cut |= candidates.is_cut;
        let new = candidates.all.into_iter();
        together_all.all.extend(new.filter(|one| known.insert((one.layer, one.rank))));
    }
    if exact {
        return judged::answer_known(question, together_all);
    }
    judged::answer(question, together_all, |candidate| {
        let term = term_of(candidate);
        for chosen in alternatives {
            match witnesses.any(question, &together(chosen, question.variable, &term))? {
                Some(false) => {}
                found => return Ok(found),
            }
        }
        Ok(Some(false))
    })
}

/// The caller may have one of several values of the variable itself.
pub(super) fn of_allowed<'a>(
    question: &Question<'a>,
    allowed: &[String],
    chosen: &Chosen,
    witnesses: &Witnesses<'_>,
) -> Result<Found<'a>> {
    let (plan, variable) = (question.plan, question.variable);
    let mut all = Vec::new();
    let mut known = HashSet::new();
    let mut leaves: HashMap<(usize, usize), Vec<Term>> = HashMap::new();
    for value in allowed {
        let entry = plan.entry_at(variable, value, question.typed.depth);
        let (Some(entry), Some(leaf)) = (entry, plan.leaf(variable, value)) else { continue };
        let Some((layer, rank)) = question.layers.newest_of(variable, entry.as_ref())? else {
            continue;
        };
        leaves.entry((layer, rank)).or_default().push(leaf);
        if known.insert((layer, rank)) {
            let Some(segment) = question.segment(layer) else { continue };
            let dictionary = segment.dictionary(variable)?;
            let (weight, term) = (dictionary.weight(rank), dictionary.texts.term(rank));
            all.push(Candidate { layer, rank, weight, term });
        }
    }
    judged::answer(question, Candidates { all, is_cut: false }, |candidate| {
        for leaf in leaves.get(&(candidate.layer, candidate.rank)).into_iter().flatten() {
            match witnesses.any(question, &together(chosen, variable, leaf))? {
                Some(false) => {}
                found => return Ok(found),
            }
        }
        Ok(Some(false))
    })
}
