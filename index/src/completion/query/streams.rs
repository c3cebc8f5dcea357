//! The best candidates of all layers together, best first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::question::{Candidate, Question};
use super::within::Within;
use crate::completion::segment::{Dictionary, TopValue};
use crate::error::Result;

/// Entries that are looked at for one class before the answer is cut.
pub(super) const LOOKS_MAX: usize = 8_000;
/// Entries of several ranges that are put into one heap, rather than looked for in each range.
const ONE_HEAP_MAX: usize = 32_768;
/// Entries that are passed over together when they are of no interest: a block of the tallies.
const COUNTED_TOGETHER: usize = 4_096;

/// Entries of one layer, best first there.
pub(super) struct Stream<'a> {
    pub(super) layer: usize,
    pub(super) entries: Box<dyn Iterator<Item = Entry> + 'a>,
    /// Values that stand ready, before all others.
    ready: Box<dyn Iterator<Item = TopValue<'a>> + 'a>,
    /// The next entry with the value it leads to, which may turn out not to be one that may be offered.
    head: Option<(Entry, Candidate<'a>)>,
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

impl Entry {
    pub(super) fn rank(self) -> usize {
        match self {
            Entry::Value(rank) | Entry::Pair(_, rank) | Entry::ValueOnly(rank) => rank,
        }
    }
}

impl<'a> Stream<'a> {
    pub(super) fn new(layer: usize, entries: impl Iterator<Item = Entry> + 'a) -> Self {
        Stream {
            layer,
            entries: Box::new(entries),
            ready: Box::new(std::iter::empty()),
            head: None,
        }
    }

    /// All values of a range of ranks: those that stand ready first.
    fn of_values(layer: usize, dictionary: &'a Dictionary, ranks: Range<usize>) -> Self {
        let known = dictionary.tops.of(ranks.clone()).count();
        let ready = Box::new(dictionary.tops.of(ranks.clone()));
        let others = std::iter::once_with(move || dictionary.best_first_from(ranks, known));
        Stream { ready, ..Stream::new(layer, others.flatten().map(Entry::Value)) }
    }

    fn advance(&mut self, question: &Question<'a>) -> Result<()> {
        if let Some(TopValue { rank, weight, term }) = self.ready.next() {
            let candidate = Candidate { layer: self.layer, rank, weight, term };
            self.head = Some((Entry::Value(rank), candidate));
            return Ok(());
        }
        self.head = None;
        if let Some(entry) = self.entries.next()
            && let Some(segment) = question.segment(self.layer)
        {
            let (layer, rank) = (self.layer, entry.rank());
            let dictionary = segment.dictionary(question.variable)?;
            let (weight, term) = (dictionary.weight(rank), dictionary.texts.term(rank));
            self.head = Some((entry, Candidate { layer, rank, weight, term }));
        }
        Ok(())
    }
}

/// Several streams as one. Whether a value may be offered is looked at only when it is the best of all heads: most
/// values of a stream never are.
pub(super) struct Best<'q, 'a> {
    question: &'q Question<'a>,
    within: &'q Within<'a>,
    streams: Vec<Stream<'a>>,
    /// Entries looked at so far.
    looks: usize,
    looks_max: usize,
    /// The stream whose head was taken: it moves on when the next value is asked for, since that may never be.
    taken: Option<usize>,
}

impl<'q, 'a> Best<'q, 'a> {
    pub(super) fn new(
        question: &'q Question<'a>,
        within: &'q Within<'a>,
        mut streams: Vec<Stream<'a>>,
        looks_max: usize,
    ) -> Result<Self> {
        streams.iter_mut().try_for_each(|stream| stream.advance(question))?;
        Ok(Best { question, within, streams, looks: 0, looks_max, taken: None })
    }

    /// Whether entries were left out because too many had been looked at.
    pub(super) fn is_cut(&self) -> bool {
        self.looks > self.looks_max
    }

    pub(super) fn next(&mut self) -> Result<Option<Candidate<'a>>> {
        loop {
            if let Some(stream) = self.taken.take().and_then(|at| self.streams.get_mut(at)) {
                stream.advance(self.question)?;
            }
            let heads = self.streams.iter().enumerate();
            let best = heads
                .filter_map(|(at, stream)| stream.head.map(|head| (at, head)))
                .min_by(|(_, (_, a)), (_, (_, b))| a.order(b));
            let Some((at, (entry, candidate))) = best else { return Ok(None) };
            self.looks += 1;
            if self.looks > self.looks_max {
                return Ok(None);
            }
            self.taken = Some(at);
            let found = match (entry, self.within) {
                (Entry::Value(_), Within::Everything) => self.question.seen_value(candidate)?,
                _ => self.question.admitted(self.within, candidate.layer, entry)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
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

/// Entries of several ranges, best first.
fn of_ranges<'a, I: Iterator<Item = usize> + 'a>(
    ranges: Vec<Range<usize>>,
    best_of_range: impl Fn(Range<usize>) -> I,
    merit: impl Fn(usize) -> u32 + 'a,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let count: usize = ranges.iter().map(Range::len).sum();
    let place = move |at: usize| (merit(at), u32::try_from(at).unwrap_or(u32::MAX));
    if count <= ONE_HEAP_MAX {
        return Box::new(best_first(ranges.into_iter().flatten().map(place).collect()));
    }
    let mut streams: Vec<I> = ranges.into_iter().map(best_of_range).collect();
    let mut heads = BinaryHeap::new();
    for (at, stream) in streams.iter_mut().enumerate() {
        heads.extend(stream.next().map(|entry| (Reverse(place(entry)), at, entry)));
    }
    Box::new(std::iter::from_fn(move || {
        let (_, at, entry) = heads.pop()?;
        let next = streams.get_mut(at).and_then(Iterator::next);
        heads.extend(next.map(|next| (Reverse(place(next)), at, next)));
        Some(entry)
    }))
}

/// Streams over the values of these ranks, given for each layer.
pub(super) fn value_streams<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    ranks: &[Range<usize>],
) -> Result<Vec<Stream<'a>>> {
    let mut streams = Vec::new();
    for (layer, (dictionary, ranks)) in question.dictionaries()?.into_iter().zip(ranks).enumerate()
    {
        match within {
            Within::Everything => {
                streams.push(Stream::of_values(layer, dictionary, ranks.clone()));
            }
            Within::Group(groups) => {
                let Some((_, list, entries)) = groups.layers.get(layer) else { continue };
                let list = *list;
                let entries = list.within(entries, ranks);
                let pairs = list.best_first(entries, dictionary);
                let pairs = pairs.map(move |entry| Entry::Pair(entry, list.target(entry)));
                streams.push(Stream::new(layer, pairs));
                streams.extend(rewritten(question, layer, dictionary, std::slice::from_ref(ranks)));
            }
        }
    }
    Ok(streams)
}

/// Streams over the values of several ranges of ranks, given for each layer.
pub(super) fn range_streams<'a>(
    question: &Question<'a>,
    within: &Within<'a>,
    of_layers: Vec<Vec<Range<usize>>>,
) -> Result<Vec<Stream<'a>>> {
    let mut streams = Vec::new();
    let dictionaries = question.dictionaries()?.into_iter();
    for (layer, (dictionary, ranks)) in dictionaries.zip(of_layers).enumerate() {
        let values = |ranges: Vec<Range<usize>>| {
            of_ranges(ranges, |range| dictionary.best_first(range), |rank| dictionary.merit(rank))
        };
        match within {
            Within::Everything => {
                streams.push(Stream::new(layer, values(ranks).map(Entry::Value)));
            }
            Within::Group(groups) => {
                let Some((_, list, entries)) = groups.layers.get(layer) else { continue };
                let list = *list;
                let merit = move |at| dictionary.merit(list.target(at));
                let pairs = ranks.iter().map(|ranks| list.within(entries, ranks)).collect();
                let pairs = of_ranges(pairs, |range| list.best_first(range, dictionary), merit);
                let pairs = pairs.map(move |entry| Entry::Pair(entry, list.target(entry)));
                streams.push(Stream::new(layer, pairs));
                streams.extend(rewritten(question, layer, dictionary, &ranks));
            }
        }
    }
    Ok(streams)
}

/// A value whose weight changed in this layer may have its pair in a layer beneath.
fn rewritten<'a>(
    question: &Question<'a>,
    layer: usize,
    dictionary: &'a Dictionary,
    of: &[Range<usize>],
) -> Option<Stream<'a>> {
    let segment = question.segment(layer).filter(|_| layer > 0)?;
    let were_there = segment.visibility.were_there();
    let mut ranks = Vec::new();
    for range in of {
        for from in range.clone().step_by(COUNTED_TOGETHER) {
            let to = range.end.min(from + COUNTED_TOGETHER);
            // Mostly values are new, and a whole block has none.
            if dictionary.counts.change(&dictionary.states, &were_there, from, to) != 0 {
                let was_there = |rank: &usize| were_there.after(dictionary.states.at(*rank));
                ranks.extend(
                    (from..to).filter(was_there).filter_map(|rank| u32::try_from(rank).ok()),
                );
            }
        }
    }
    if ranks.is_empty() {
        return None;
    }
    let place = |rank: u32| (dictionary.merit(usize::try_from(rank).unwrap_or(usize::MAX)), rank);
    let values = best_first(ranks.into_iter().map(place).collect());
    Some(Stream::new(layer, values.map(Entry::ValueOnly)))
}

/// Values of a layer, the best first.
pub(super) fn of_ranks<'a>(layer: usize, dictionary: &'a Dictionary, ranks: &[u32]) -> Stream<'a> {
    let place =
        |rank: &u32| (dictionary.merit(usize::try_from(*rank).unwrap_or(usize::MAX)), *rank);
    Stream::new(layer, best_first(ranks.iter().map(place).collect()).map(Entry::Value))
}

/// Places by merit; only as many are put into order as are asked for.
fn best_first(places: Vec<(u32, u32)>) -> impl Iterator<Item = usize> {
    let mut heap: BinaryHeap<Reverse<(u32, u32)>> = places.into_iter().map(Reverse).collect();
    std::iter::from_fn(move || heap.pop()).filter_map(|Reverse((_, at))| usize::try_from(at).ok())
}
