//! Values with a later word that begins as typed.
//!
//! The words of a dictionary that begin so are a range, which has the ranks of their values without order. What costs is
//! looking at texts, so counting goes by ranks as far as that is possible.

use std::ops::Range;

use super::classes::{LATER_VALUES_MAX, Later};
use super::judged::has_later_word;
use super::question::{Candidate, Question, keep_first};
use super::streams::{Best, Entry, LOOKS_MAX, Stream, of_ranks, values_of_suffixes};
use super::within::{Within, of_entries};
use crate::completion::layers::Groups;
use crate::completion::request::VALUES_MAX;
use crate::completion::segment::{Dictionary, gallop};
use crate::error::Result;

/// Words of which the values are looked for among those that go with chosen ones.
const GROUP_WORDS_MAX: usize = 16_000;
/// Words whose values are first held against marks of those that go with chosen ones, which costs a hundredth.
const MARKED_WORDS_MAX: usize = 512 * 1_024;
/// Values that are marked.
const MARKED_VALUES_MAX: usize = 128 * 1_024;
/// Values that go with chosen ones whose texts are looked at for words.
const GROUP_VALUES_MAX: usize = 8_000;
/// Looking at a text for words costs about as much as looking for so many words' values.
const WORDS_PER_TEXT: usize = 4;
/// The same, where values are marked.
const MARKED_WORDS_PER_TEXT: usize = 128;
/// Words that are looked at to find some values that go with chosen ones, where there are too many to count.
const GROUP_LOOKS_MAX: usize = 1_000;

/// Class 2: values with a later word that begins so, and that do not begin so themselves.
pub(super) fn later_words<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    prefix_ranks: &[Range<usize>],
) -> Result<Later<'a>> {
    let dictionaries = question.dictionaries()?;
    let words: Vec<Range<usize>> = dictionaries
        .iter()
        .map(|dictionary| dictionary.suffixes_with(&question.typed.key))
        .collect();
    let word_count: usize = words.iter().map(Range::len).sum();
    if word_count == 0 {
        return Ok(Later { values: Vec::new(), total: 0, is_cut: false });
    }
    let layers: Vec<WordsOfLayer<'_>> = dictionaries
        .into_iter()
        .zip(words)
        .zip(prefix_ranks)
        .map(|((dictionary, words), beginning)| {
            let beginning = beginning.clone();
            WordsOfLayer { dictionary, words, beginning }
        })
        .collect();
    match within {
        Within::Everything if word_count <= LOOKS_MAX => of_all(question, within, &layers),
        Within::Everything => some(question, within, streams(&layers), usize::MAX),
        Within::Group(groups) => {
            let values = groups.entry_count();
            let in_oldest = layers.first().map_or(0, |layer| layer.words.len());
            let cost = WordsCost { in_oldest, above: word_count - in_oldest, values };
            if cost.is_bounded() {
                of_group_by_words(question, within, groups, &layers).map(all)
            } else if values <= GROUP_VALUES_MAX {
                of_group_by_texts(question, groups).map(all)
            } else {
                some(question, within, streams(&layers), GROUP_LOOKS_MAX)
            }
        }
    }
}

/// The words of one layer that begin as typed.
struct WordsOfLayer<'a> {
    dictionary: &'a Dictionary,
    /// Where they stand among the dictionary's later words.
    words: Range<usize>,
    /// Ranks of values that begin so themselves.
    beginning: Range<usize>,
}

impl WordsOfLayer<'_> {
    /// The ranks of their values, rising, each once.
    fn ranks(&self) -> Vec<u32> {
        self.ranks_where(|_| true)
    }

    /// The same without those that are surely not wanted.
    fn ranks_where(&self, may_be_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let ranks = self.words.clone().map(|at| self.dictionary.suffixes.at(at).rank);
        let is_later =
            |rank: &u32| usize::try_from(*rank).is_ok_and(|rank| !self.beginning.contains(&rank));
        let mut ranks: Vec<u32> =
            ranks.filter(|rank| may_be_wanted(*rank)).filter(is_later).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}

/// How much there is to look at when words lead to values that go with chosen ones.
struct WordsCost {
    /// Words in the oldest layer, which has nearly all; a value that is not in its list is in none of its pairs.
    in_oldest: usize,
    /// Words in the layers above.
    above: usize,
    /// Values that go with the chosen ones.
    values: usize,
}

impl WordsCost {
    fn is_bounded(&self) -> bool {
        let all = self.in_oldest + self.above;
        let is_few = all <= GROUP_WORDS_MAX && all <= self.values.saturating_mul(WORDS_PER_TEXT);
        is_few
            || (self.above <= GROUP_WORDS_MAX
                && self.in_oldest <= MARKED_WORDS_MAX
                && self.values <= MARKED_VALUES_MAX
                && all <= self.values.saturating_mul(MARKED_WORDS_PER_TEXT))
    }
}

/// Marks of ranks: what is not marked is not among them, what is marked mostly is.
struct Marks {
    bits: Vec<u64>,
    shift: u32,
}

impl Marks {
    /// So many bits for each rank: one in sixteen of the others is marked by chance.
    const BITS_PER_RANK: usize = 16;

    fn of(ranks: impl ExactSizeIterator<Item = u32>) -> Marks {
        let bits = ranks.len().saturating_mul(Self::BITS_PER_RANK).next_power_of_two();
        let bits = bits.clamp(64, 1 << 31);
        let mut marks = Marks { bits: vec![0; bits / 64], shift: 32 - bits.trailing_zeros() };
        for rank in ranks {
            let (word, bit) = marks.place(rank);
            if let Some(word) = marks.bits.get_mut(word) {
                *word |= bit;
            }
        }
        marks
    }

    fn has(&self, rank: u32) -> bool {
        let (word, bit) = self.place(rank);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Neighbours go far from each other (multiplicative hashing; Knuth, The Art of Computer Programming 3, 6.4).
    fn place(&self, rank: u32) -> (usize, u64) {
        let place = rank.wrapping_mul(0x9E37_79B1) >> self.shift;
        (usize::try_from(place / 64).unwrap_or(usize::MAX), 1 << (place % 64))
    }
}

/// All values that have such words, unless they are surely too many.
fn of_all<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    layers: &[WordsOfLayer<'a>],
) -> Result<Later<'a>> {
    let mut ranks: Vec<Vec<u32>> = layers.iter().map(WordsOfLayer::ranks).collect();
    // A value that a layer above hides has the same words there.
    let hidden: usize = ranks.iter().skip(1).map(Vec::len).sum();
    for (layer, (ranks, words)) in ranks.iter_mut().zip(layers).enumerate() {
        let is_seen = |rank: &u32| {
            let rank = usize::try_from(*rank).unwrap_or(usize::MAX);
            question.sees(layer, words.dictionary.states.at(rank))
        };
        ranks.retain(is_seen);
    }
    let seen: usize = ranks.iter().map(Vec::len).sum();
    if seen.saturating_sub(hidden) > LATER_VALUES_MAX {
        let streams = ranks.iter().zip(layers).enumerate();
        let streams =
            streams.map(|(layer, (ranks, words))| of_ranks(layer, words.dictionary, ranks));
        return some(question, within, streams.collect(), usize::MAX);
    }
    let mut values = Vec::new();
    for (layer, ranks) in ranks.into_iter().enumerate() {
        for rank in ranks {
            let rank = usize::try_from(rank).unwrap_or(usize::MAX);
            values.extend(question.candidate(within, layer, rank)?);
        }
    }
    Ok(all(values))
}

fn to_u32(rank: usize) -> u32 {
    u32::try_from(rank).unwrap_or(u32::MAX)
}

/// The values of the words, each looked for among those that go with the chosen ones.
fn of_group_by_words<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    groups: &Groups<'a>,
    layers: &[WordsOfLayer<'a>],
) -> Result<Vec<Candidate<'a>>> {
    let mut values = Vec::new();
    for (layer, (words, (segment, list, entries))) in layers.iter().zip(&groups.layers).enumerate()
    {
        let mut at = entries.start;
        let ranks = if layer == 0 && words.words.len() > entries.len() {
            let targets = entries.clone().map(|entry| to_u32(list.target(entry)));
            let marks = Marks::of(targets);
            words.ranks_where(|rank| marks.has(rank))
        } else {
            words.ranks()
        };
        for rank in ranks {
            let rank = usize::try_from(rank).unwrap_or(usize::MAX);
            at = gallop(at, entries.end, |entry| list.target(entry) < rank);
            if at < entries.end && list.target(at) == rank {
                values.extend(question.admitted(within, layer, Entry::Pair(at, rank))?);
            } else if layer > 0 && segment.visibility.was_there(words.dictionary.states.at(rank)) {
                values.extend(question.candidate(within, layer, rank)?);
            }
        }
    }
    Ok(values)
}

/// All values that go with the chosen ones, as far as their texts have such words.
fn of_group_by_texts<'a>(
    question: &Question<'a>,
    groups: &Groups<'a>,
) -> Result<Vec<Candidate<'a>>> {
    let entries: Vec<_> =
        groups.layers.iter().map(|(_, _, entries)| vec![entries.clone()]).collect();
    of_entries(question, groups, &entries, |term| has_later_word(question, term))
}

/// The best of all that there are.
fn all(mut values: Vec<Candidate<'_>>) -> Later<'_> {
    let is_cut = values.len() > LATER_VALUES_MAX;
    let total = u64::try_from(values.len()).unwrap_or(u64::MAX);
    keep_first(&mut values, VALUES_MAX, Candidate::order);
    Later { values, total, is_cut }
}

/// The best that are found within some looks, where there are too many to count.
fn some<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    streams: Vec<Stream<'a>>,
    looks_max: usize,
) -> Result<Later<'a>> {
    let mut best = Best::new(question, within, streams, looks_max.min(LOOKS_MAX))?;
    let mut values = Vec::new();
    while values.len() < VALUES_MAX {
        let Some(candidate) = best.next()? else { break };
        values.push(candidate);
    }
    let total = u64::try_from(values.len()).unwrap_or(u64::MAX);
    Ok(Later { values, total, is_cut: true })
}

fn streams<'a>(layers: &[WordsOfLayer<'a>]) -> Vec<Stream<'a>> {
    let of_layer = |(layer, words): (usize, &WordsOfLayer<'a>)| {
        let beginning = words.beginning.clone();
        let values = values_of_suffixes(words.dictionary, words.words.clone());
        Stream::new(layer, values.filter(move |entry| !beginning.contains(&entry.rank())))
    };
    layers.iter().enumerate().map(of_layer).collect()
}
