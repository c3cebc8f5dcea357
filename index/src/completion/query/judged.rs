//! Candidates that are judged one by one, where no list answers the question.

use super::classes::{Found, LATER_VALUES_MAX, LATER_WORDS_BELOW, TYPOS_BELOW};
use super::question::{Candidate, Question};
use super::typos::Typed;
use crate::completion::plan::{Term, last_segment_start};
use crate::completion::request::VALUES_MAX;
use crate::error::Result;

/// Candidates that are checked against the store for one question.
const CHECKS_MAX: usize = 300;

/// Candidates, each once, with whether they are all.
pub(super) struct Candidates<'a> {
    pub(super) all: Vec<Candidate<'a>>,
    pub(super) is_cut: bool,
}

/// Puts the candidates into their classes; `check` says whether one may be offered, where that is not known yet.
pub(super) fn answer<'a>(
    question: &Question<'a>,
    candidates: Candidates<'a>,
    check: impl FnMut(&Candidate<'a>) -> Result<Option<bool>>,
) -> Result<Found<'a>> {
    in_classes(question, candidates, check, CHECKS_MAX)
}

/// The same for candidates that may all be offered.
pub(super) fn answer_known<'a>(
    question: &Question<'a>,
    candidates: Candidates<'a>,
) -> Result<Found<'a>> {
    in_classes(question, candidates, |_| Ok(Some(true)), usize::MAX)
}

fn in_classes<'a>(
    question: &Question<'a>,
    mut candidates: Candidates<'a>,
    mut check: impl FnMut(&Candidate<'a>) -> Result<Option<bool>>,
    checks_max: usize,
) -> Result<Found<'a>> {
    let typed = &question.typed;
    candidates.all.sort_by(|a, b| {
        let rank = |candidate: &Candidate<'_>| {
            let exact = candidate.term != typed.term();
            (exact, candidate.term.key != typed.key.as_bytes())
        };
        rank(a).cmp(&rank(b)).then_with(|| a.order(b))
    });
    let near = Typed::new(typed.folded(), typed.depth.is_some());
    let mut found = Found { is_cut: candidates.is_cut, ..Found::default() };
    let mut checks = 0;
    for class in 1..=3 {
        let is_needed = match class {
            1 => true,
            2 => found.total < LATER_WORDS_BELOW,
            _ => found.total < TYPOS_BELOW,
        };
        if !is_needed {
            break;
        }
        for candidate in &candidates.all {
            if class_of(question, candidate, near.as_ref()) != Some(class) {
                continue;
            }
            checks += 1;
            match if checks > checks_max { None } else { check(candidate)? } {
                Some(true) => {
                    found.total += 1;
                    if found.values.len() < VALUES_MAX {
                        found.values.push(*candidate);
                    }
                }
                Some(false) => {}
                None => found.is_cut = true,
            }
        }
        let later = found.total.saturating_sub(LATER_WORDS_BELOW);
        found.is_cut |= class > 1 && later > u64::try_from(LATER_VALUES_MAX).unwrap_or(u64::MAX);
    }
    Ok(found)
}

/// 1: begins so; 2: a later word does; 3: begins so but for typos.
fn class_of(
    question: &Question<'_>,
    candidate: &Candidate<'_>,
    near: Option<&Typed>,
) -> Option<u8> {
    let typed = &question.typed;
    let key = std::str::from_utf8(candidate.term.key).ok()?;
    if key.starts_with(&typed.key) {
        return Some(1);
    }
    if let Some(depth) = typed.depth
        && !key.starts_with(depth)
    {
        return None;
    }
    let raw = std::str::from_utf8(candidate.term.raw).ok()?;
    let is_path = typed.depth.is_some();
    let words = match typed.depth {
        None => Term::whole(raw, question.plan.spelling(question.variable)).words,
        Some(_) => question.plan.words_of_entry(question.variable, raw, key),
    };
    let head = key.get(..last_segment_start(key.as_bytes(), is_path)).unwrap_or_default();
    let begins_word = typed.key.strip_prefix(head).is_some_and(|typed| {
        words
            .iter()
            .any(|word| key.get(usize::from(*word)..).is_some_and(|rest| rest.starts_with(typed)))
    });
    if begins_word {
        return Some(2);
    }
    let folded = key.get(typed.depth.map_or(0, char::len_utf8)..).unwrap_or_default();
    near.is_some_and(|near| near.matches(folded)).then_some(3)
}
