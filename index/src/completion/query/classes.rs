//! The three classes of matches, each after the one before: the beginning of the value, the beginning of a later word,
//! and the beginning of the value with typos.

use std::ops::Range;

use super::Effort;
use super::judged;
use super::later_words::later_words;
use super::question::{Candidate, Question, keep_first};
use super::streams::{Best, LOOKS_MAX, range_streams, value_streams};
use super::typos::{Typed, near_ranks, whole_ranks};
use super::within::{Within, all_within, of_entries};
use crate::completion::request::{Completion, VALUES_MAX};
use crate::completion::values::CompletionValues;
use crate::error::Result;

/// Later words are looked for while fewer values than this begin with what is typed.
pub(super) const LATER_WORDS_BELOW: u64 = VALUES_MAX as u64;
/// Typos are forgiven while fewer values than this were found.
pub(super) const TYPOS_BELOW: u64 = 10;
/// Distinct values of the later classes that are counted.
pub(super) const LATER_VALUES_MAX: usize = 1_000;

/// The values of so many words can be looked for among those that go with chosen ones in some microseconds.
const LITTLE_WORDS_MAX: usize = 2_048;
/// From more near values than this in a layer on there are too many to be counted, without those that were found before
/// (`LATER_VALUES_MAX` and `TYPOS_BELOW`).
const NEAR_MAX: i64 = 1_010;

/// What was found so far.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) values: Vec<Candidate<'a>>,
    pub(super) total: u64,
    /// Whether `total` is not all.
    pub(super) is_cut: bool,
    /// Whether the store had a say, which may be newer than the layers.
    pub(super) asked_store: bool,
}

impl Found<'_> {
    pub(super) fn completion(&self, count_max: usize) -> Completion {
        // What was stored came from texts; damage to a file must not become a value.
        let texts = self.values.iter().take(count_max);
        let texts = texts.filter_map(|candidate| std::str::from_utf8(candidate.term.raw).ok());
        let values: CompletionValues = texts.collect();
        let shown = u64::try_from(values.len()).unwrap_or(u64::MAX);
        Completion {
            has_more: self.is_cut || self.total > shown,
            total: (!self.is_cut).then_some(self.total),
            values,
        }
    }
}

/// The best values with their total; `None` with little effort where it takes more.
pub(super) fn answer<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    effort: Effort,
) -> Result<Option<Found<'a>>> {
    let prefix_ranks = prefix_ranks(question)?;
    let total = question.count(within, &prefix_ranks)?;
    if effort == Effort::Little && !takes_little(question, within, &prefix_ranks, total)? {
        return Ok(None);
    }
    if total < LATER_WORDS_BELOW
        && let Within::Group(groups) = within
        && groups.entry_count() <= question.few
    {
        // Nearly all of them have to be looked at in any case, and looking for what is like the typed text among all values
        // of the variable takes longer.
        return judged::answer_known(question, all_within(question, within)?).map(Some);
    }
    answer_of(question, within, &prefix_ranks, total).map(Some)
}

fn answer_of<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    prefix_ranks: &[Range<usize>],
    total: u64,
) -> Result<Found<'a>> {
    let mut found = Found { total, ..Found::default() };
    beginnings(question, within, prefix_ranks, &mut found)?;
    if found.total < LATER_WORDS_BELOW {
        let later = later_words(question, within, prefix_ranks)?;
        let (beginning, known) = (found.total, later.values.clone());
        later.add_to(&mut found);
        if found.total < TYPOS_BELOW
            && !found.is_cut
            && let Some(typed) = Typed::new(question.typed.folded(), question.typed.depth.is_some())
        {
            let near = near(question, within, &typed, (beginning, &known))?;
            near.add_to(&mut found);
        }
    }
    Ok(found)
}

/// Whether the best values are found in some microseconds, when so many begin as typed.
fn takes_little(
    question: &Question<'_>,
    within: &Within<'_>,
    prefix_ranks: &[Range<usize>],
    total: u64,
) -> Result<bool> {
    let is_path = question.typed.depth.is_some();
    let forgives = || Typed::new(question.typed.folded(), is_path).is_some();
    let dictionaries = question.dictionaries()?;
    let words = || -> usize {
        let words =
            dictionaries.iter().map(|dictionary| dictionary.suffixes_with(&question.typed.key));
        words.map(|words| words.len()).sum()
    };
    if let Within::Group(groups) = within {
        let are_few = groups.entry_count() <= question.few;
        return Ok(match total {
            LATER_WORDS_BELOW.. => {
                let ranks: Vec<_> = prefix_ranks.iter().map(|ranks| vec![ranks.clone()]).collect();
                question.rewritten_count(&ranks)? <= question.few
            }
            TYPOS_BELOW.. => are_few || words() <= LITTLE_WORDS_MAX,
            _ => are_few || (words() <= LITTLE_WORDS_MAX && !forgives()),
        });
    }
    let values: usize = dictionaries.iter().map(|dictionary| dictionary.len()).sum();
    if total >= LATER_WORDS_BELOW || values <= question.few {
        return Ok(true);
    }
    Ok(words() <= question.few && !forgives())
}

fn prefix_ranks(question: &Question<'_>) -> Result<Vec<Range<usize>>> {
    let dictionaries = question.dictionaries()?.into_iter();
    let range = |dictionary: &crate::completion::segment::Dictionary| {
        dictionary.trie.prefix(&dictionary.texts, &question.typed.key)
    };
    Ok(dictionaries.map(range).collect())
}

/// Class 1: the value as typed, values that are the same folded, then all that begin so.
fn beginnings<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    prefix_ranks: &[Range<usize>],
    found: &mut Found<'a>,
) -> Result<()> {
    let of_layers: Vec<_> = prefix_ranks.iter().map(|ranks| vec![ranks.clone()]).collect();
    if let Some(mut values) = few_within(question, within, &of_layers)? {
        keep_first(&mut values, VALUES_MAX, |a, b| question.typed.order(a, b));
        found.values = values;
        return Ok(());
    }
    let key_bytes = question.typed.key.len();
    let mut same_ranks = Vec::new();
    let mut longer_ranks = Vec::new();
    let mut exact = None;
    for (layer, dictionary) in question.dictionaries()?.into_iter().enumerate() {
        let Some(ranks) = prefix_ranks.get(layer) else { continue };
        let is_same = |term: crate::completion::segment::TermRef<'_>| term.key.len() <= key_bytes;
        let split = dictionary.texts.partition(ranks.start, ranks.end, is_same);
        if let Some(rank) = dictionary.texts.find(question.typed.term(), ranks.start, split) {
            exact = question.candidate(within, layer, rank)?.or(exact);
        }
        same_ranks.push(ranks.start..split);
        longer_ranks.push(split..ranks.end);
    }
    found.values.extend(exact);
    for ranks in [same_ranks, longer_ranks] {
        let streams = value_streams(question, within, &ranks)?;
        let mut best = Best::new(question, within, streams, usize::MAX)?;
        while found.values.len() < VALUES_MAX {
            let Some(candidate) = best.next()? else { break };
            if candidate.term != question.typed.term() {
                found.values.push(candidate);
            }
        }
    }
    Ok(())
}

/// The values within these ranks, given for each layer, where they are so few that each is looked at.
fn few_within<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    of_layers: &[Vec<Range<usize>>],
) -> Result<Option<Vec<Candidate<'a>>>> {
    let Within::Group(groups) = within else { return Ok(None) };
    let layers = groups.layers.iter().zip(of_layers);
    let entries = layers.map(|((_, list, entries), ranks)| {
        ranks.iter().map(|ranks| list.within(entries, ranks)).collect::<Vec<_>>()
    });
    let entries: Vec<_> = entries.collect();
    let count: usize = entries.iter().flatten().map(Range::len).sum();
    if count > question.few.max(question.rewritten_count(of_layers)?) {
        return Ok(None);
    }
    of_entries(question, groups, &entries, |_| true).map(Some)
}

/// What a later class found.
pub(super) struct Later<'a> {
    /// Best first; all of them, or as many as fit into a reply.
    pub(super) values: Vec<Candidate<'a>>,
    /// How many there are, unless cut.
    pub(super) total: u64,
    pub(super) is_cut: bool,
}

impl<'a> Later<'a> {
    fn add_to(self, found: &mut Found<'a>) {
        found.total += self.total;
        found.is_cut |= self.is_cut;
        let room = VALUES_MAX.saturating_sub(found.values.len());
        found.values.extend(self.values.into_iter().take(room));
    }
}

/// Class 3: values that begin so but for one or two typos.
///
/// Which values are near depends on their keys only, so their number is a sum over layers as that of a prefix is. Those
/// that begin as typed are among them. Values that are near as a whole come first: `flsk` is `flask` rather than
/// `flask-admin`.
fn near<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    typed: &Typed,
    (beginning, later): (u64, &[Candidate<'a>]),
) -> Result<Later<'a>> {
    let mut is_cut = false;
    let mut near_total = 0;
    let mut of_layers = Vec::new();
    let mut whole = Vec::new();
    for (layer, dictionary) in question.dictionaries()?.into_iter().enumerate() {
        for rank in whole_ranks(typed, dictionary, question.typed.depth) {
            whole.extend(question.candidate(within, layer, rank)?);
        }
        let count = |ranks: &Range<usize>| question.change(within, layer, ranks);
        let near = near_ranks(typed, dictionary, question.typed.depth, NEAR_MAX, count)?;
        is_cut |= !near.is_complete;
        near_total += near.total;
        of_layers.push(near.ranks);
    }
    let is_known = |candidate: &Candidate<'_>| {
        candidate.term.key.starts_with(question.typed.key.as_bytes())
            || later.iter().any(|other| other.term == candidate.term)
    };
    let counted_before =
        later.iter().filter(|candidate| judged::is_near(question, typed, candidate.term)).count();
    let counted_before = beginning.saturating_add(u64::try_from(counted_before).unwrap_or(0));
    let total = u64::try_from(near_total).unwrap_or(0).saturating_sub(counted_before);
    let mut values;
    if let Some(few) = few_within(question, within, &of_layers)? {
        values = few;
        values.retain(|candidate| !is_known(candidate));
        values = judged::whole_first(question, typed, values, VALUES_MAX);
    } else {
        let streams = range_streams(question, within, of_layers)?;
        let mut best = Best::new(question, within, streams, LOOKS_MAX)?;
        whole.retain(|candidate| !is_known(candidate));
        values = judged::whole_first(question, typed, whole, VALUES_MAX);
        while values.len() < VALUES_MAX {
            let Some(candidate) = best.next()? else { break };
            if !is_known(&candidate) && !judged::is_whole(question, typed, candidate.term) {
                values.push(candidate);
            }
        }
        is_cut |= best.is_cut();
    }
    is_cut |= usize::try_from(total).unwrap_or(usize::MAX) + later.len() > LATER_VALUES_MAX;
    Ok(Later { values, total, is_cut })
}
