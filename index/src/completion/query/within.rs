//! Among which values is searched: all of a variable, or those that a list has for chosen values.

use std::ops::Range;

use super::conditions::Chosen;
use super::judged::Candidates;
use super::question::{Candidate, Question};
use crate::completion::layers::Groups;
use crate::completion::segment::TermRef;
use crate::error::Result;

/// Values of a group that are looked at to be judged.
const JUDGED_LOOKS_MAX: usize = 20_000;

/// Among which values is searched.
pub(super) enum Within<'a> {
    /// All of the variable.
    Everything,
    /// Those that go with chosen values.
    Group(Groups<'a>),
}

/// The list's entries for these chosen values, if there is such a list.
pub(super) fn within<'a>(question: &Question<'a>, chosen: &Chosen) -> Result<Option<Within<'a>>> {
    let context: Vec<usize> = chosen.keys().copied().collect();
    let Some(list) = question.plan.list_for(&context, question.variable) else { return Ok(None) };
    let mut of_layers = vec![Vec::new(); question.layers.segments.len()];
    for (variable, term) in chosen {
        let ranks = question.layers.ranks(*variable, term.as_ref())?;
        for (of_layer, rank) in of_layers.iter_mut().zip(ranks) {
            of_layer.push(rank);
        }
    }
    Groups::find(question.layers, list, &of_layers).map(|groups| Some(Within::Group(groups)))
}

/// All values within, up to a bound.
pub(super) fn all_within<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
) -> Result<Candidates<'a>> {
    let Within::Group(groups) = within else { return Ok(Candidates::default()) };
    let mut left = JUDGED_LOOKS_MAX;
    let mut is_cut = false;
    let entries = groups.layers.iter().map(|(_, _, entries)| {
        let end = entries.end.min(entries.start.saturating_add(left));
        left = left.saturating_sub(entries.len());
        is_cut |= end < entries.end;
        let looked_at = entries.start..end;
        vec![looked_at]
    });
    let entries: Vec<_> = entries.collect();
    Ok(Candidates { all: of_entries(question, groups, &entries, |_| true)?, is_cut })
}

/// The values of these entries of the group, given for each layer, as far as the caller sees them and they are wanted;
/// each once, without order.
///
/// What a pair has come to says the newest layer that has it, and what its value weighs the newest that has the value.
pub(super) fn of_entries<'a>(
    question: &Question<'a>,
    groups: &Groups<'a>,
    entries: &[Vec<Range<usize>>],
    is_wanted: impl Fn(TermRef<'a>) -> bool,
) -> Result<Vec<Candidate<'a>>> {
    let dictionaries = question.dictionaries()?;
    let mut found = Vec::new();
    for (layer, (_, list, _)) in groups.layers.iter().enumerate() {
        let Some(dictionary) = dictionaries.get(layer) else { continue };
        for entry in entries.get(layer).into_iter().flatten().cloned().flatten() {
            if !question.sees(layer, list.states.at(entry)) {
                continue;
            }
            let own = list.target(entry);
            let term = dictionary.texts.term(own);
            if !is_wanted(term) {
                continue;
            }
            let mut newest = (layer, own);
            let mut is_outdated = false;
            for (above, dictionary) in dictionaries.iter().enumerate().skip(layer + 1) {
                let Some(rank) = dictionary.find(term) else { continue };
                newest = (above, rank);
                let group = groups.layers.get(above);
                is_outdated =
                    group.is_some_and(|(_, list, entries)| list.find(entries, rank).is_some());
                if is_outdated {
                    break;
                }
            }
            let (layer, rank) = newest;
            if let Some(dictionary) = dictionaries.get(layer).filter(|_| !is_outdated) {
                found.push(Candidate { layer, rank, weight: dictionary.weight(rank), term });
            }
        }
    }
    Ok(found)
}
