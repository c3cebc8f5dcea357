//! Candidates that are judged one by one, where no list answers the question.

use super::classes::{Found, LATER_VALUES_MAX, LATER_WORDS_BELOW, TYPOS_BELOW};
use super::question::{Candidate, Question};
use super::typos::Typed;
use crate::completion::plan::{Term, last_segment_start};
use crate::completion::request::VALUES_MAX;
use crate::error::Result;

/// Candidates that are checked against the store for one question.
const CHECKS_MAX: usize = 300;

/// Candidates, each once, with whether some were left out.
#[derive(Default)]
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
    candidates: Candidates<'a>,
    mut check: impl FnMut(&Candidate<'a>) -> Result<Option<bool>>,
    checks_max: usize,
) -> Result<Found<'a>> {
    let near = Typed::new(question.typed.folded(), question.typed.depth.is_some());
    let mut found = Found { is_cut: candidates.is_cut, ..Found::default() };
    let (mut checks, mut later) = (0, 0_u64);
    for class in 1..=3 {
        let is_needed = match class {
            1 => true,
            2 => found.total < LATER_WORDS_BELOW,
            _ => found.total < TYPOS_BELOW,
        };
        if !is_needed {
            break;
        }
        for candidate in of_class(question, &candidates, class, near.as_ref()) {
            checks += 1;
            match if checks > checks_max { None } else { check(candidate)? } {
                Some(true) => {
                    found.total += 1;
                    later += u64::from(class > 1);
                    if found.values.len() < VALUES_MAX {
                        found.values.push(*candidate);
                    }
                }
                Some(false) => {}
                None => found.is_cut = true,
            }
        }
        found.is_cut |= later > u64::try_from(LATER_VALUES_MAX).unwrap_or(u64::MAX);
    }
    Ok(found)
}

/// The candidates of one class, the best first.
fn of_class<'c, 'a>(
    question: &Question<'a>,
    candidates: &'c Candidates<'a>,
    class: u8,
    near: Option<&Typed>,
) -> Vec<&'c Candidate<'a>> {
    let typed = &question.typed;
    let is_of_class = |candidate: &&Candidate<'_>| {
        // Only as much is compared as this class needs.
        let near = near.filter(|_| class == 3);
        class_of(question, candidate, near) == Some(class)
    };
    let mut all: Vec<&Candidate<'_>> = candidates.all.iter().filter(is_of_class).collect();
    all.sort_by(|a, b| typed.order(a, b));
    all
}

/// 1: begins so; 2: a later word does; 3: begins so but for typos.
pub(super) fn class_of(
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
    let is_path = typed.depth.is_some();
    let head = key.get(..last_segment_start(key.as_bytes(), is_path)).unwrap_or_default();
    let word = typed.key.strip_prefix(head);
    if word.is_some_and(|word| begins_word(question, candidate, key, word)) {
        return Some(2);
    }
    let folded = key.get(typed.depth.map_or(0, char::len_utf8)..).unwrap_or_default();
    near.is_some_and(|near| near.matches(folded)).then_some(3)
}

/// Whether a later word of the last segment begins with `word`.
fn begins_word(question: &Question<'_>, candidate: &Candidate<'_>, key: &str, word: &str) -> bool {
    // Most keys do not have it anywhere; only for the others it is worked out where words begin.
    if memchr::memmem::find(key.as_bytes(), word.as_bytes()).is_none() {
        return false;
    }
    let Ok(raw) = std::str::from_utf8(candidate.term.raw) else { return false };
    let words = match question.typed.depth {
        None => Term::whole(raw, question.plan.spelling(question.variable)).words,
        Some(_) => question.plan.words_of_entry(question.variable, raw, key),
    };
    words.iter().any(|at| key.get(usize::from(*at)..).is_some_and(|rest| rest.starts_with(word)))
}
