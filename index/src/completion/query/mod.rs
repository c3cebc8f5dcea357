//! Answers: from a request to the best values.
//!
//! Where a list has the context (none, one chosen value, a leading run), the answer is a range of it: its count is a
//! sum over states, its best come from a tree of minima. Other contexts, and required values of which a caller has
//! several, are answered from candidates that are judged one by one, within bounds.

mod classes;
mod conditions;
mod judged;
mod question;
mod streams;
mod typos;
mod witness;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use self::classes::Found;
use self::conditions::{Chosen, Conditions};
use self::judged::Candidates;
use self::question::{Candidate, Question, TypedText, Within};
use self::streams::Entry;
use self::witness::{SCANS_MAX, Witnesses};
use super::layers::{Groups, Layers};
use super::plan::Term;
use super::request::{Completion, CompletionRequest, TYPED_BYTES_MAX, VALUES_MAX};
use crate::catalog::Space;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::store::value::AclId;

/// Groups of up to this many values are looked at as a whole.
const SMALL_GROUP_MAX: usize = 1_500;
/// Values that are looked at to be judged.
const JUDGED_LOOKS_MAX: usize = 20_000;

impl Shared {
    pub(crate) fn complete(&self, request: &CompletionRequest<'_>) -> Result<Completion> {
        let catalog = self.catalog();
        let space = catalog.by_name(request.space);
        let Some(space) = space.filter(|_| request.access.sees_space(request.space)) else {
            let subject = format!("space `{}`", request.space);
            return Err(Error::new(ErrorKind::NotFound, subject, "there is no such space"));
        };
        let plan = &space.completion;
        let variable = plan.variable(request.variable).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("variable `{}`", request.variable),
                format!("the template `{}` has no such variable", space.settings.uri_template),
            )
        })?;
        if request.typed.len() > TYPED_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("variable `{}`", request.variable),
                format!("{} bytes are typed; at most {TYPED_BYTES_MAX}", request.typed.len()),
            ));
        }
        let Some(layers) = self.completions.layers(space.id) else {
            // They are being made anew: there may be more, and how many is not known.
            return Ok(Completion { has_more: true, ..Completion::default() });
        };
        let Some(typed) =
            TypedText::new(request.typed, plan.is_path(variable), plan.spelling(variable))
        else {
            return Ok(Completion { total: Some(0), ..Completion::default() });
        };
        let seen = self.seen(&layers, request)?;
        let question = Question { plan, layers: &layers, variable, typed, seen };
        let found = self.answer(&question, space, request)?;
        Ok(found.into_completion(request.count_max.min(VALUES_MAX)))
    }

    /// With little memory for new entries the bound is low, too: so tests reach both ways with few values.
    fn small_group_max(&self) -> usize {
        (self.completions.memory_entries() / 8).min(SMALL_GROUP_MAX)
    }

    /// What the caller sees, by layer; each ACL is looked at once.
    fn seen(
        &self,
        layers: &Layers,
        request: &CompletionRequest<'_>,
    ) -> Result<Vec<super::segment::Seen>> {
        let mut known: HashMap<u32, bool> = HashMap::new();
        let mut passes = |acl: u32| -> Result<bool> {
            if let Some(passes) = known.get(&acl) {
                return Ok(*passes);
            }
            let passes = self.acls.passes(AclId(acl), request.access)?;
            known.insert(acl, passes);
            Ok(passes)
        };
        layers.segments.iter().map(|segment| segment.visibility.seen(&mut passes)).collect()
    }

    fn answer<'a>(
        &self,
        question: &Question<'a>,
        space: &Space,
        request: &CompletionRequest<'_>,
    ) -> Result<Found<'a>> {
        let conditions = conditions::conditions(
            question.plan,
            question.layers,
            question.variable,
            request.context,
            (request.space, request.access),
        )?;
        let store = self.store();
        let witnesses = Witnesses {
            shared: self,
            view: store.view(),
            space,
            access: request.access,
            scans_left: Cell::new(SCANS_MAX),
        };
        match conditions {
            Conditions::Nothing => Ok(Found::default()),
            Conditions::All(chosen) if chosen.is_empty() => {
                classes::answer(question, &Within::Everything)
            }
            Conditions::All(chosen) => match within(question, &chosen)? {
                Some(within)
                    if is_small(question, &within, self.small_group_max())?
                        && !classes::begin_enough(question, &within)? =>
                {
                    judged::answer_known(question, all_within(question, &within)?)
                }
                Some(within) => classes::answer(question, &within),
                None => {
                    let candidates = candidates_near(question, &chosen)?;
                    judged::answer(question, candidates, |candidate| {
                        witnesses.any(
                            question,
                            &together(&chosen, question.variable, &term_of(candidate)),
                        )
                    })
                }
            },
            Conditions::OneOf(alternatives) => one_of(question, &alternatives, &witnesses),
            Conditions::Target(allowed, chosen) => {
                of_allowed(question, &allowed, &chosen, &witnesses)
            }
        }
    }
}

/// The list's entries for these chosen values, if there is such a list.
fn within<'a>(question: &Question<'a>, chosen: &Chosen) -> Result<Option<Within<'a>>> {
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

/// Whether looking at all values within is quicker than looking for the best.
fn is_small(question: &Question<'_>, within: &Within<'_>, values_max: usize) -> Result<bool> {
    let Within::Group(groups) = within else { return Ok(false) };
    let entries: usize = groups.layers.iter().map(|(_, _, entries)| entries.len()).sum();
    let above: usize = question.dictionaries()?.iter().skip(1).map(|values| values.len()).sum();
    Ok(entries + above <= values_max)
}

/// All values within, up to a bound.
fn all_within<'a>(question: &Question<'a>, within: &Within<'a>) -> Result<Candidates<'a>> {
    let mut candidates = Candidates { all: Vec::new(), is_cut: false };
    let Within::Group(groups) = within else { return Ok(candidates) };
    let mut looks = 0;
    for (layer, dictionary) in question.dictionaries()?.into_iter().enumerate() {
        let Some((_, list, entries)) = groups.layers.get(layer) else { continue };
        let pairs = entries.clone().map(|entry| Entry::Pair(entry, list.target(entry)));
        // A value whose weight changed in this layer may have its pair in a layer beneath.
        let beneath = if layer > 0 { dictionary.len() } else { 0 };
        for entry in pairs.chain((0..beneath).map(Entry::ValueOnly)) {
            looks += 1;
            if looks > JUDGED_LOOKS_MAX {
                candidates.is_cut = true;
                return Ok(candidates);
            }
            candidates.all.extend(question.admitted(within, layer, entry)?);
        }
    }
    Ok(candidates)
}

/// Candidates for a combination that no list has: what goes with one of its values, the rarest.
fn candidates_near<'a>(question: &Question<'a>, chosen: &Chosen) -> Result<Candidates<'a>> {
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
fn one_of<'a>(
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
fn of_allowed<'a>(
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
