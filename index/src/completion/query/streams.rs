//! The best candidates of all layers together, best first.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::question::{Candidate, Question, Within};
use crate::completion::segment::Dictionary;
use crate::error::Result;

/// Entries that are looked at for one class before the answer is cut.
pub(super) const LOOKS_MAX: usize = 20_000;

/// Entries of one layer, best first there.
pub(super) struct Stream<'a> {
    pub(super) layer: usize,
    pub(super) entries: Box<dyn Iterator<Item = Entry> + 'a>,
    head: Option<Candidate<'a>>,
}

/// What a stream leads to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    /// A value, by rank.
    Value(usize),
    /// An entry of the layer's list, with the rank of its target.
    Pair(usize, usize),
    /// A value whose pair is not in the layer's own list.
    ValueOnly(usize),
}

impl<'a> Stream<'a> {
    pub(super) fn new(layer: usize, entries: impl Iterator<Item = Entry> + 'a) -> Self {
        Stream { layer, entries: Box::new(entries), head: None }
    }
}

/// Several streams as one.
pub(super) struct Best<'q, 'a> {
    question: &'q Question<'a>,
    within: &'q Within<'a>,
    streams: Vec<Stream<'a>>,
    /// Entries looked at so far.
    pub(super) looks: usize,
    looks_max: usize,
}

impl<'q, 'a> Best<'q, 'a> {
    pub(super) fn new(
        question: &'q Question<'a>,
        within: &'q Within<'a>,
        streams: Vec<Stream<'a>>,
        looks_max: usize,
    ) -> Result<Self> {
        let mut best = Best { question, within, streams, looks: 0, looks_max };
        for at in 0..best.streams.len() {
            best.fill(at)?;
        }
        Ok(best)
    }

    /// Whether entries were left out because too many had been looked at.
    pub(super) fn is_cut(&self) -> bool {
        self.looks > self.looks_max
    }

    fn fill(&mut self, at: usize) -> Result<()> {
        let Some(stream) = self.streams.get_mut(at) else { return Ok(()) };
        stream.head = None;
        for entry in &mut stream.entries {
            self.looks += 1;
            if self.looks > self.looks_max {
                break;
            }
            let (question, within, layer) = (self.question, self.within, stream.layer);
            let found = match entry {
                Entry::Value(rank) => question.candidate(within, layer, rank)?,
                Entry::Pair(entry, rank) => question.pair_candidate(within, layer, entry, rank)?,
                Entry::ValueOnly(rank) => {
                    if question.own_pair(within, layer, rank) {
                        None
                    } else {
                        question.candidate(within, layer, rank)?
                    }
                }
            };
            if found.is_some() {
                stream.head = found;
                break;
            }
        }
        Ok(())
    }

    pub(super) fn next(&mut self) -> Result<Option<Candidate<'a>>> {
        let heads = self.streams.iter().enumerate();
        let best = heads
            .filter_map(|(at, stream)| stream.head.map(|head| (at, head)))
            .min_by(|(_, a), (_, b)| a.order(b));
        match best {
            None => Ok(None),
            Some((at, candidate)) => {
                self.fill(at)?;
                Ok(Some(candidate))
            }
        }
    }
}

impl<'a> Question<'a> {
    /// Streams over the values of these ranks, given for each layer.
    pub(super) fn value_streams(
        &self,
        within: &Within<'a>,
        ranks: &[Range<usize>],
    ) -> Result<Vec<Stream<'a>>> {
        let mut streams = Vec::new();
        for (layer, (dictionary, ranks)) in self.dictionaries()?.into_iter().zip(ranks).enumerate()
        {
            match within {
                Within::Everything => {
                    let values = dictionary.best_first(ranks.clone()).map(Entry::Value);
                    streams.push(Stream::new(layer, values));
                }
                Within::Group(groups) => {
                    let Some((_, list, entries)) = groups.layers.get(layer) else { continue };
                    let list = *list;
                    let entries = list.within(entries, ranks);
                    let pairs = list.best_first(entries, dictionary);
                    let pairs = pairs.map(move |entry| Entry::Pair(entry, list.target(entry)));
                    streams.push(Stream::new(layer, pairs));
                    // A value whose weight changed in this layer may have its pair in a layer beneath.
                    if layer > 0 {
                        let values = dictionary.best_first(ranks.clone()).map(Entry::ValueOnly);
                        streams.push(Stream::new(layer, values));
                    }
                }
            }
        }
        Ok(streams)
    }

    /// The target of an entry in a layer's list, if this layer is the newest that knows the pair and the value.
    fn pair_candidate(
        &self,
        within: &Within<'_>,
        layer: usize,
        entry: usize,
        rank: usize,
    ) -> Result<Option<Candidate<'a>>> {
        let Within::Group(groups) = within else { return Ok(None) };
        let Some((_, list, _)) = groups.layers.get(layer) else { return Ok(None) };
        if !self.sees(layer, list.states.at(entry)) {
            return Ok(None);
        }
        let Some(segment) = self.segment(layer) else { return Ok(None) };
        let dictionary = segment.dictionary(self.variable)?;
        let term = dictionary.texts.term(rank);
        // A layer above that knows the pair knows the value, too.
        if self.layers.is_hidden(layer, self.variable, term)? {
            return Ok(None);
        }
        Ok(Some(Candidate { layer, rank, weight: dictionary.weight(rank), term }))
    }

    /// Whether the layer's own list has an entry for this target.
    fn own_pair(&self, within: &Within<'_>, layer: usize, rank: usize) -> bool {
        let Within::Group(groups) = within else { return false };
        let own = groups.layers.get(layer);
        own.is_some_and(|(_, list, entries)| list.find(entries, rank).is_some())
    }
}

/// The values behind later words, best first, each once.
pub(super) fn values_of_suffixes(
    dictionary: &Dictionary,
    range: Range<usize>,
) -> impl Iterator<Item = Entry> {
    let mut last = None;
    dictionary.best_suffix_first(range).filter_map(move |at| {
        let rank = usize::try_from(dictionary.suffixes.at(at).rank).ok()?;
        // Words of one value have the same merit, so they come one after the other.
        (last.replace(rank) != Some(rank)).then_some(Entry::Value(rank))
    })
}

/// The values of several ranges, best first.
pub(super) fn values_of_ranges(
    dictionary: &Dictionary,
    ranges: Vec<Range<usize>>,
) -> impl Iterator<Item = Entry> {
    let mut streams: Vec<_> =
        ranges.into_iter().map(|range| dictionary.best_first(range)).collect();
    let place = |rank: usize| std::cmp::Reverse((dictionary.merit(rank), rank));
    let mut heads: BinaryHeap<_> = BinaryHeap::new();
    for (at, stream) in streams.iter_mut().enumerate() {
        heads.extend(stream.next().map(|rank| (place(rank), at)));
    }
    std::iter::from_fn(move || {
        let (std::cmp::Reverse((_, rank)), at) = heads.pop()?;
        let next = streams.get_mut(at).and_then(Iterator::next);
        heads.extend(next.map(|rank| (place(rank), at)));
        Some(Entry::Value(rank))
    })
}
