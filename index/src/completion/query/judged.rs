//! Candidates that are judged one by one, where no list answers the question.

use super::classes::{Found, LATER_VALUES_MAX, LATER_WORDS_BELOW, TYPOS_BELOW};
use super::question::{Candidate, Question, keep_first};
use super::typos::Typed;
use crate::completion::fold;
use crate::completion::plan::{Term, last_segment_start};
use crate::completion::request::VALUES_MAX;
use crate::completion::segment::TermRef;
use crate::error::Result;

/// Candidates that are checked against the store for one question.
const CHECKS_MAX: usize = 300;

/// Candidates, each once, with whether some were left out.
#[derive(Default)]
pub(super) struct Candidates<'a> {
    pub(super) all: Vec<Candidate<'a>>,
    pub(super) is_cut: bool,
}

/// Puts the candidates into their classes; `check` says whether one may be offered.
pub(super) fn answer<'a>(
    question: &Question<'a>,
    candidates: Candidates<'a>,
    mut check: impl FnMut(&Candidate<'a>) -> Result<Option<bool>>,
) -> Result<Found<'a>> {
    let mut checks = 0;
    in_classes(question, candidates, true, |found, of_class, near| {
        let of_class = in_order(question, near, of_class, usize::MAX);
        let mut count = 0;
        for candidate in of_class {
            checks += 1;
            match if checks > CHECKS_MAX { None } else { check(&candidate)? } {
                Some(true) => {
                    count += 1;
                    if found.values.len() < VALUES_MAX {
                        found.values.push(candidate);
                    }
                }
                Some(false) => {}
                None => found.is_cut = true,
            }
        }
        Ok(count)
    })
}

/// The same for candidates that may all be offered.
pub(super) fn answer_known<'a>(
    question: &Question<'a>,
    candidates: Candidates<'a>,
) -> Result<Found<'a>> {
    in_classes(question, candidates, false, |found, of_class, near| {
        let count = u64::try_from(of_class.len()).unwrap_or(u64::MAX);
        let room = VALUES_MAX.saturating_sub(found.values.len());
        found.values.extend(in_order(question, near, of_class, room));
        Ok(count)
    })
}

/// Hands the candidates to `offer`, class by class, as far as they are needed; it says how many of them may be offered.
fn in_classes<'a>(
    question: &Question<'a>,
    candidates: Candidates<'a>,
    asks_store: bool,
    mut offer: impl FnMut(&mut Found<'a>, Vec<Candidate<'a>>, Option<&Typed>) -> Result<u64>,
) -> Result<Found<'a>> {
    let mut found =
        Found { is_cut: candidates.is_cut, asked_store: asks_store, ..Found::default() };
    let mut rest = candidates.all;
    let mut later = 0;
    for class in [Class::Beginning, Class::LaterWord, Class::Typos] {
        let is_needed = match class {
            Class::Beginning => true,
            Class::LaterWord => found.total < LATER_WORDS_BELOW,
            Class::Typos => found.total < TYPOS_BELOW,
        };
        if !is_needed {
            break;
        }
        let near = match class {
            Class::Typos => Typed::new(question.typed.folded(), question.typed.depth.is_some()),
            Class::Beginning | Class::LaterWord => None,
        };
        let of_class;
        (of_class, rest) = rest
            .into_iter()
            .partition(|candidate| is_of_class(question, candidate.term, class, near.as_ref()));
        let count = offer(&mut found, of_class, near.as_ref())?;
        found.total += count;
        if class != Class::Beginning {
            later += count;
        }
        found.is_cut |= later > u64::try_from(LATER_VALUES_MAX).unwrap_or(u64::MAX);
    }
    Ok(found)
}

/// The first `count_max` candidates of a class in order; `near` is there for the class of typos.
fn in_order<'a>(
    question: &Question<'_>,
    near: Option<&Typed>,
    mut values: Vec<Candidate<'a>>,
    count_max: usize,
) -> Vec<Candidate<'a>> {
    if let Some(near) = near {
        return whole_first(question, near, values, count_max);
    }
    keep_first(&mut values, count_max, |a, b| question.typed.order(a, b));
    values
}

/// The first `count_max` of near values in order: those that are near as a whole, then those that only begin so.
pub(super) fn whole_first<'a>(
    question: &Question<'_>,
    near: &Typed,
    values: Vec<Candidate<'a>>,
    count_max: usize,
) -> Vec<Candidate<'a>> {
    let (mut whole, mut others): (Vec<_>, Vec<_>) =
        values.into_iter().partition(|value| is_whole(question, near, value.term));
    keep_first(&mut whole, count_max, Candidate::order);
    keep_first(&mut others, count_max - whole.len(), Candidate::order);
    whole.append(&mut others);
    whole
}

/// Whether all of a value is as typed but for some typos.
pub(super) fn is_whole(question: &Question<'_>, near: &Typed, term: TermRef<'_>) -> bool {
    let Ok(key) = std::str::from_utf8(term.key) else { return false };
    match question.typed.depth {
        None => near.is_whole(key),
        Some(depth) => key.strip_prefix(depth).is_some_and(|key| near.is_whole(key)),
    }
}

/// How a value matches what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Beginning,
    LaterWord,
    Typos,
}

/// Whether a value that is in no class before this one is in it.
fn is_of_class(
    question: &Question<'_>,
    term: TermRef<'_>,
    class: Class,
    near: Option<&Typed>,
) -> bool {
    let typed = &question.typed;
    let Ok(key) = std::str::from_utf8(term.key) else { return false };
    if class == Class::Beginning {
        return key.starts_with(&typed.key);
    }
    if typed.depth.is_some_and(|depth| !key.starts_with(depth)) {
        return false;
    }
    if class == Class::LaterWord {
        let is_path = typed.depth.is_some();
        let head = key.get(..last_segment_start(key.as_bytes(), is_path)).unwrap_or_default();
        let word = typed.key.strip_prefix(head);
        return word.is_some_and(|word| begins_word(question, term, key, word));
    }
    near.is_some_and(|near| is_near(question, near, term))
}

/// Whether a value begins as typed but for some typos, at the depth of a path that is completed.
pub(super) fn is_near(question: &Question<'_>, near: &Typed, term: TermRef<'_>) -> bool {
    let Ok(key) = std::str::from_utf8(term.key) else { return false };
    match question.typed.depth {
        None => near.matches(key),
        Some(depth) => key.strip_prefix(depth).is_some_and(|key| near.matches(key)),
    }
}

/// Whether a value has a later word that begins as typed, and does not begin so itself.
pub(super) fn has_later_word(question: &Question<'_>, term: TermRef<'_>) -> bool {
    !is_of_class(question, term, Class::Beginning, None)
        && is_of_class(question, term, Class::LaterWord, None)
}

/// Whether a later word of the last segment begins with `word`.
fn begins_word(question: &Question<'_>, term: TermRef<'_>, key: &str, word: &str) -> bool {
    // Most keys do not have it anywhere; only for the others it is worked out where words begin.
    if memchr::memmem::find(key.as_bytes(), word.as_bytes()).is_none() {
        return false;
    }
    let Ok(raw) = std::str::from_utf8(term.raw) else { return false };
    if question.typed.depth.is_none()
        && raw.len() == key.len()
        && raw.is_ascii()
        && !raw.contains('%')
    {
        // Its characters stand where those of the key do.
        let character = |at: usize| raw.as_bytes().get(at).map(|byte| char::from(*byte));
        return (1..raw.len()).any(|at| {
            key.get(at..).is_some_and(|rest| rest.starts_with(word))
                && character(at - 1).zip(character(at)).is_some_and(|(before, here)| {
                    fold::begins_word(before, here, character(at + 1))
                })
        });
    }
    let words = match question.typed.depth {
        None => Term::whole(raw, question.plan.spelling(question.variable)).words,
        Some(_) => question.plan.words_of_entry(question.variable, raw, key),
    };
    words.iter().any(|at| key.get(usize::from(*at)..).is_some_and(|rest| rest.starts_with(word)))
}
