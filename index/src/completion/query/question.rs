//! A question with all that answering needs: the layers, the typed text's key, and what the caller sees.

use std::cmp::Ordering;
use std::ops::Range;

use super::streams::Entry;
use super::within::Within;
use crate::completion::layers::{Groups, Layers};
use crate::completion::plan::{PATH_LEVELS_MAX, Plan, Spelling, depth_char};
use crate::completion::segment::{Dictionary, Seen, Segment, TermRef, Weight};
use crate::error::Result;

/// What is typed, in the form in which values are compared.
pub(super) struct TypedText<'a> {
    pub(super) raw: &'a str,
    /// With the depth in front, for a path.
    pub(super) key: String,
    /// The depth of a path's entries that are candidates.
    pub(super) depth: Option<char>,
}

impl<'a> TypedText<'a> {
    /// `None` where no value can be that deep.
    pub(super) fn new(raw: &'a str, is_path: bool, spelling: Spelling) -> Option<TypedText<'a>> {
        let folded = spelling.fold(raw, is_path);
        if !is_path {
            return Some(TypedText { raw, key: folded, depth: None });
        }
        let levels = raw.split('/').count();
        let depth = u32::try_from(levels - 1).ok().filter(|_| levels <= PATH_LEVELS_MAX)?;
        let depth = depth_char(depth);
        Some(TypedText { raw, key: format!("{depth}{folded}"), depth: Some(depth) })
    }

    /// Without the depth.
    pub(super) fn folded(&self) -> &str {
        self.key.get(self.depth.map_or(0, char::len_utf8)..).unwrap_or_default()
    }

    pub(super) fn term(&self) -> TermRef<'_> {
        TermRef { key: self.key.as_bytes(), raw: self.raw.as_bytes() }
    }
}

/// One question, put to all layers.
pub(super) struct Question<'a> {
    pub(super) plan: &'a Plan,
    pub(super) layers: &'a Layers,
    pub(super) variable: usize,
    pub(super) typed: TypedText<'a>,
    /// What the caller sees, by layer.
    pub(super) seen: Vec<Seen>,
    /// Up to this many entries of a list are looked at one by one.
    pub(super) few: usize,
}

/// A value that may be offered: its newest layer and its rank there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) layer: usize,
    pub(super) rank: usize,
    pub(super) weight: Weight,
    pub(super) term: TermRef<'a>,
}

impl Candidate<'_> {
    /// Better candidates come first: weight falling, folded bytes, raw bytes.
    pub(super) fn order(&self, other: &Candidate<'_>) -> Ordering {
        other.weight.cmp(&self.weight).then_with(|| self.term.cmp(&other.term))
    }
}

impl TypedText<'_> {
    /// The order of values that begin so: the same bytes, the same in another spelling, then all others.
    pub(super) fn order(&self, a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
        let place = |candidate: &Candidate<'_>| {
            (candidate.term != self.term(), candidate.term.key != self.key.as_bytes())
        };
        place(a).cmp(&place(b)).then_with(|| a.order(b))
    }
}

/// Leaves the first `count_max` in order.
pub(super) fn keep_first<'a>(
    values: &mut Vec<Candidate<'a>>,
    count_max: usize,
    order: impl Fn(&Candidate<'a>, &Candidate<'a>) -> Ordering,
) {
    if values.len() > count_max {
        values.select_nth_unstable_by(count_max, &order);
        values.truncate(count_max);
    }
    values.sort_unstable_by(order);
}

impl<'a> Question<'a> {
    /// The same question about another variable, with nothing typed.
    pub(super) fn about(&self, variable: usize) -> Question<'a> {
        let typed = TypedText { raw: "", key: String::new(), depth: None };
        let (plan, layers, seen, few) = (self.plan, self.layers, self.seen.clone(), self.few);
        Question { plan, layers, variable, typed, seen, few }
    }

    pub(super) fn segment(&self, layer: usize) -> Option<&'a Segment> {
        self.layers.segments.get(layer).map(|segment| &**segment)
    }

    /// The variable's dictionaries, oldest layer first.
    pub(super) fn dictionaries(&self) -> Result<Vec<&'a Dictionary>> {
        self.layers.segments.iter().map(|segment| segment.dictionary(self.variable)).collect()
    }

    /// Whether the caller sees an entry in this state of a layer.
    pub(super) fn sees(&self, layer: usize, state: u32) -> bool {
        self.seen.get(layer).is_some_and(|seen| seen.after(state))
    }

    /// The value at a rank of a layer, if that layer is the newest that knows it, and it may be offered.
    pub(super) fn candidate(
        &self,
        within: &Within<'_>,
        layer: usize,
        rank: usize,
    ) -> Result<Option<Candidate<'a>>> {
        let Some(segment) = self.segment(layer) else { return Ok(None) };
        let dictionary = segment.dictionary(self.variable)?;
        let state = dictionary.states.at(rank);
        // What is cheap to know comes first, texts last.
        let may_be_seen = match within {
            Within::Everything => self.sees(layer, state),
            Within::Group(groups) => {
                segment.visibility.is_alive(state) && self.may_be_in(groups, layer, rank)
            }
        };
        if !may_be_seen {
            return Ok(None);
        }
        let term = dictionary.texts.term(rank);
        if self.layers.is_hidden(layer, self.variable, term)? {
            return Ok(None);
        }
        if let Within::Group(groups) = within
            && !self.is_in(groups, layer, rank, term)?
        {
            return Ok(None);
        }
        Ok(Some(Candidate { layer, rank, weight: dictionary.weight(rank), term }))
    }

    /// A value among all of the variable, if its layer is the newest that knows it, and the caller sees it.
    pub(super) fn seen_value(&self, candidate: Candidate<'a>) -> Result<Option<Candidate<'a>>> {
        let (layer, rank) = (candidate.layer, candidate.rank);
        let Some(segment) = self.segment(layer) else { return Ok(None) };
        let state = segment.dictionary(self.variable)?.states.at(rank);
        let is_offered = self.sees(layer, state)
            && !self.layers.is_hidden(layer, self.variable, candidate.term)?;
        Ok(is_offered.then_some(candidate))
    }

    /// False where the layer's own list says no and no layer beneath has a say.
    fn may_be_in(&self, groups: &Groups<'_>, layer: usize, rank: usize) -> bool {
        let own = groups.layers.get(layer);
        let entry = own.and_then(|(_, list, entries)| {
            list.find(entries, rank).map(|entry| list.states.at(entry))
        });
        match entry {
            Some(state) => self.sees(layer, state),
            None => groups.layers.iter().take(layer).any(|(_, _, entries)| !entries.is_empty()),
        }
    }

    /// Whether a value goes with the chosen ones, as far as the caller sees.
    fn is_in(
        &self,
        groups: &Groups<'_>,
        layer: usize,
        rank: usize,
        term: TermRef<'_>,
    ) -> Result<bool> {
        // Layers above do not know the value, so they know no pair with it.
        for (below, (_, list, entries)) in groups.layers.iter().enumerate().take(layer + 1).rev() {
            if entries.is_empty() {
                continue;
            }
            let rank = if below == layer {
                Some(rank)
            } else {
                self.segment(below)
                    .map(|segment| segment.dictionary(self.variable))
                    .transpose()?
                    .and_then(|dictionary| dictionary.find(term))
            };
            if let Some(entry) = rank.and_then(|rank| list.find(entries, rank)) {
                return Ok(self.sees(below, list.states.at(entry)));
            }
        }
        Ok(false)
    }

    /// The value of an entry, if it may be offered.
    pub(super) fn admitted(
        &self,
        within: &Within<'_>,
        layer: usize,
        entry: Entry,
    ) -> Result<Option<Candidate<'a>>> {
        match entry {
            Entry::Value(rank) => self.candidate(within, layer, rank),
            Entry::Pair(entry, rank) => self.pair_candidate(within, layer, entry, rank),
            Entry::ValueOnly(rank) if self.own_pair(within, layer, rank) => Ok(None),
            Entry::ValueOnly(rank) => self.candidate(within, layer, rank),
        }
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

    /// How many values of these ranks, given for each layer, the caller sees.
    pub(super) fn count(&self, within: &Within<'_>, ranks: &[Range<usize>]) -> Result<u64> {
        let mut total = 0;
        for (layer, ranks) in ranks.iter().enumerate() {
            total += self.change(within, layer, ranks)?;
        }
        Ok(u64::try_from(total).unwrap_or(0))
    }

    /// What ranks of one layer add to what the caller sees; a part of what is counted may take away more than it adds.
    pub(super) fn change(
        &self,
        within: &Within<'_>,
        layer: usize,
        ranks: &Range<usize>,
    ) -> Result<i64> {
        let (Some(segment), Some(seen)) = (self.segment(layer), self.seen.get(layer)) else {
            return Ok(0);
        };
        Ok(match within {
            Within::Everything => {
                let dictionary = segment.dictionary(self.variable)?;
                dictionary.counts.change(&dictionary.states, seen, ranks.start, ranks.end)
            }
            Within::Group(groups) => {
                let Some((_, list, entries)) = groups.layers.get(layer) else { return Ok(0) };
                let entries = list.within(entries, ranks);
                list.counts.change(&list.states, seen, entries.start, entries.end)
            }
        })
    }

    /// How many values of these ranks, given for each layer, may have pairs in a layer beneath only: those whose weight
    /// changed above the oldest layer.
    pub(super) fn rewritten_count(&self, of_layers: &[Vec<Range<usize>>]) -> Result<usize> {
        let mut total = 0;
        for (segment, ranks) in self.layers.segments.iter().zip(of_layers).skip(1) {
            let dictionary = segment.dictionary(self.variable)?;
            let were_there = segment.visibility.were_there();
            for ranks in ranks {
                let (from, to) = (ranks.start, ranks.end);
                total += dictionary.counts.change(&dictionary.states, &were_there, from, to);
            }
        }
        Ok(usize::try_from(total).unwrap_or(0))
    }
}
