//! The values of one variable in a segment: texts, weights, states, and the ways to find them.

use std::collections::HashMap;
use std::ops::Range;

use super::facets::{Facet, FacetSums, Facets, FacetsBuilder};
use super::filter::Filter;
use super::min_tree::{BestFirst, MinTree};
use super::section::{ArchiveReader, ArchiveWriter, Bytes, Column, ColumnWriter};
use super::section::{SectionWriter, SpillFolder, to_u32, to_usize, u32_at};
use super::texts::{Joined, TermRef, Texts, TextsBuilder, partition};
use super::tops::Tops;
use super::trie::Trie;
use super::visibility::{NO_SET, StateCounts, StateId, Visibility};
use crate::completion::plan::last_segment_start;
use crate::error::Result;

/// What a value weighs, global to the space: the greater the better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Weight {
    /// The highest priority of the resources behind it.
    pub(crate) priority: u16,
    /// How many those are.
    pub(crate) count: u32,
}

/// The values of a variable, by rank: their place in the order of folded bytes, then raw bytes.
#[derive(Clone)]
pub(crate) struct Dictionary {
    pub(crate) is_path: bool,
    pub(crate) texts: Texts,
    pub(crate) trie: Trie,
    filter: Filter,
    /// The number of the weight of each value.
    classes: Column,
    weights: Vec<Weight>,
    /// The rank of each weight among the weights: 0 is the best.
    merits: Vec<u32>,
    pub(crate) states: Column,
    pub(crate) counts: StateCounts,
    facets: Facets,
    best: MinTree,
    pub(crate) tops: Tops,
    pub(crate) suffixes: Suffixes,
}

impl Dictionary {
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn weight(&self, rank: usize) -> Weight {
        self.weights.get(to_usize(self.classes.at(rank))).copied().unwrap_or_default()
    }

    /// 0 is the best in this dictionary.
    pub(crate) fn merit(&self, rank: usize) -> u32 {
        self.merits.get(to_usize(self.classes.at(rank))).copied().unwrap_or(u32::MAX)
    }

    pub(crate) fn find(&self, term: TermRef<'_>) -> Option<usize> {
        if !self.filter.may_have(term) {
            return None;
        }
        // The trie narrows it down in memory that is used often; the texts are looked at in the end only.
        let mut node = self.trie.root(&self.texts);
        let mut rest = term.key;
        while !self.trie.is_leaf(&node) {
            let Some((character, bytes)) = super::trie::first_char(rest) else { break };
            node = self.trie.descend(&node, character)?;
            rest = rest.get(bytes..).unwrap_or_default();
        }
        self.texts.find(term, node.ranks.start, node.ranks.end)
    }

    /// Ranks of a range, the best weight first.
    pub(crate) fn best_first(&self, ranks: Range<usize>) -> impl Iterator<Item = usize> {
        self.by_tree(ranks)
    }

    /// The same from the given place in that order on.
    pub(crate) fn best_first_from(
        &self,
        ranks: Range<usize>,
        from: usize,
    ) -> impl Iterator<Item = usize> {
        self.by_tree(ranks).skip(from)
    }

    fn by_tree(&self, ranks: Range<usize>) -> BestFirst<'_, impl Fn(usize) -> u64> {
        if self.classes.constant().is_some() {
            return BestFirst::InOrder(ranks);
        }
        BestFirst::new(&self.best, |rank| u64::from(self.merit(rank)), ranks)
    }

    pub(crate) fn all_weigh_the_same(&self) -> bool {
        self.classes.constant().is_some()
    }

    /// Adds what this segment adds and takes away of the resources behind a value.
    pub(crate) fn add_facets(&self, rank: usize, visibility: &Visibility, sums: &mut FacetSums) {
        if !self.facets.add_to(to_u32(rank), sums) {
            let weight = self.weight(rank);
            implied_facet(visibility, self.states.at(rank), weight, sums);
        }
    }

    /// The facets of a value where they are not implied.
    pub(super) fn own_facets(&self, rank: usize) -> Option<FacetSums> {
        let mut sums = FacetSums::new();
        self.facets.add_to(to_u32(rank), &mut sums).then_some(sums)
    }

    pub(crate) fn suffix_text(&self, suffix: Suffix) -> Joined<'_> {
        suffix_text(self.texts.key(to_usize(suffix.rank)), suffix.offset, self.is_path)
    }

    /// The suffixes that start with `prefix`.
    pub(crate) fn suffixes_with(&self, prefix: &str) -> Range<usize> {
        let prefix = prefix.as_bytes();
        let wanted = Joined { head: &[], tail: prefix };
        let text = |at: usize| self.suffix_text(self.suffixes.at(at));
        let end = self.suffixes.len();
        let first = partition(0, end, |at| text(at).compare(&wanted).is_lt());
        let last = partition(first, end, |at| text(at).starts_with(prefix));
        first..last
    }

    /// Positions of suffixes, the best value first.
    pub(crate) fn best_suffix_first(
        &self,
        range: Range<usize>,
    ) -> BestFirst<'_, impl Fn(usize) -> u64> {
        BestFirst::new(&self.suffixes.best, |at| self.suffix_merit(at), range)
    }

    /// Suffixes are not in the order of their values, so the tie-break is part of the merit.
    fn suffix_merit(&self, at: usize) -> u64 {
        let rank = self.suffixes.at(at).rank;
        u64::from(self.merit(to_usize(rank))) << 32 | u64::from(rank)
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.number(u64::from(self.is_path));
        self.texts.save(archive)?;
        self.trie.save(archive)?;
        self.filter.save(archive)?;
        self.classes.save(archive)?;
        archive.number(u64::try_from(self.weights.len()).unwrap_or(u64::MAX));
        for weight in &self.weights {
            archive.number(u64::from(weight.priority));
            archive.number(u64::from(weight.count));
        }
        self.states.save(archive)?;
        self.counts.save(archive)?;
        self.facets.save(archive)?;
        self.best.save(archive)?;
        self.tops.save(archive)?;
        archive.section(&self.suffixes.entries)?;
        self.suffixes.best.save(archive)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Dictionary> {
        let is_path = archive.number()? != 0;
        let (texts, trie) = (Texts::load(archive)?, Trie::load(archive)?);
        let filter = Filter::load(archive)?;
        let classes = Column::load(archive)?;
        let mut weights = Vec::new();
        for _ in 0..archive.count()? {
            let priority = u16::try_from(archive.number()?).map_err(|_| archive.damaged())?;
            weights.push(Weight { priority, count: archive.number32()? });
        }
        Ok(Dictionary {
            is_path,
            texts,
            trie,
            filter,
            classes,
            merits: merits(&weights),
            weights,
            states: Column::load(archive)?,
            counts: StateCounts::load(archive)?,
            facets: Facets::load(archive)?,
            best: MinTree::load(archive)?,
            tops: Tops::load(archive)?,
            suffixes: Suffixes { entries: archive.section()?, best: MinTree::load(archive)? },
        })
    }
}

/// The facets of an entry that has none of its own: it is new here, and all behind it is of one kind.
pub(super) fn implied_facet(
    visibility: &Visibility,
    state: StateId,
    weight: Weight,
    sums: &mut FacetSums,
) {
    let (after, before) = visibility.state(state);
    if let [acl] = visibility.set(after)
        && before == NO_SET
    {
        let facet = Facet { acl: *acl, priority: weight.priority };
        sums.add(facet, i64::from(weight.count));
    }
}

/// Whether [`implied_facet`] says the same as these.
pub(super) fn is_implied(
    visibility: &Visibility,
    state: StateId,
    weight: Weight,
    sums: &FacetSums,
) -> bool {
    let (after, before) = visibility.state(state);
    let mut sums = sums.iter();
    match visibility.set(after) {
        [acl] if before == NO_SET => {
            let facet = Facet { acl: *acl, priority: weight.priority };
            sums.next() == Some((facet, i64::from(weight.count))) && sums.next().is_none()
        }
        _ => sums.next().is_none(),
    }
}

fn merits(weights: &[Weight]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(weights.get(class).copied()));
    let mut merits = vec![0; weights.len()];
    for (merit, class) in (0..).zip(order) {
        if let Some(place) = merits.get_mut(class) {
            *place = merit;
        }
    }
    merits
}

/// A later word of a value: from this byte of its key on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Suffix {
    pub(crate) rank: u32,
    pub(crate) offset: u16,
}

/// The later words of all values, sorted by what they begin.
#[derive(Clone, Default)]
pub(crate) struct Suffixes {
    entries: Bytes,
    best: MinTree,
}

const SUFFIX_BYTES: usize = 6;

impl Suffixes {
    pub(crate) fn len(&self) -> usize {
        self.entries.len() / SUFFIX_BYTES
    }

    pub(crate) fn at(&self, index: usize) -> Suffix {
        let bytes = self.entries.get(index * SUFFIX_BYTES..).unwrap_or_default();
        match bytes.split_at_checked(4) {
            Some((rank, &[low, high, ..])) => {
                Suffix { rank: u32_at(rank, 0), offset: u16::from_le_bytes([low, high]) }
            }
            _ => Suffix { rank: u32::MAX, offset: 0 },
        }
    }
}

/// The folder of a path with a later word of its last segment and all behind it.
pub(super) fn suffix_text(key: &[u8], offset: u16, is_path: bool) -> Joined<'_> {
    let head = last_segment_start(key, is_path);
    Joined {
        head: key.get(..head).unwrap_or_default(),
        tail: key.get(usize::from(offset)..).unwrap_or_default(),
    }
}

/// A dictionary in the making; values are pushed in order.
pub(super) struct DictionaryBuilder<'a> {
    is_path: bool,
    folder: SpillFolder<'a>,
    texts: TextsBuilder<'a>,
    classes: ColumnWriter<'a>,
    weights: Vec<Weight>,
    class_of: HashMap<Weight, u32>,
    last_class: u32,
    states: ColumnWriter<'a>,
    facets: FacetsBuilder<'a>,
    count: u32,
}

impl<'a> DictionaryBuilder<'a> {
    pub(super) fn new(is_path: bool, folder: SpillFolder<'a>) -> Self {
        DictionaryBuilder {
            is_path,
            folder,
            texts: TextsBuilder::new(folder),
            classes: ColumnWriter::new(folder),
            weights: Vec::new(),
            class_of: HashMap::new(),
            last_class: 0,
            states: ColumnWriter::new(folder),
            facets: FacetsBuilder::new(folder),
            count: 0,
        }
    }

    /// The rank that the next value gets.
    pub(super) fn next_rank(&self) -> u32 {
        self.count
    }

    /// Adds a value; `own` are its facets in this segment where they are not implied.
    pub(super) fn push(
        &mut self,
        term: TermRef<'_>,
        weight: Weight,
        state: StateId,
        own: Option<&FacetSums>,
    ) -> Result<()> {
        self.texts.push(term)?;
        let class = self.class(weight);
        self.classes.push(class)?;
        self.states.push(state)?;
        if let Some(own) = own {
            self.facets.push(self.count, own)?;
        }
        self.count += 1;
        Ok(())
    }

    /// The number of a weight; that of the value before it is tried first, since neighbours are mostly alike.
    fn class(&mut self, weight: Weight) -> u32 {
        if self.weights.get(to_usize(self.last_class)) == Some(&weight) {
            return self.last_class;
        }
        let next = to_u32(self.weights.len());
        let class = *self.class_of.entry(weight).or_insert(next);
        if class == next {
            self.weights.push(weight);
        }
        self.last_class = class;
        class
    }

    /// Ends with the later words, sorted by their text.
    pub(super) fn finish(self, suffixes: impl Iterator<Item = Suffix>) -> Result<Dictionary> {
        let texts = self.texts.finish()?;
        let classes = self.classes.finish()?;
        let states = self.states.finish()?;
        let mut entries = SectionWriter::new(self.folder);
        for suffix in suffixes {
            entries.put_u32(suffix.rank)?;
            entries.put(&suffix.offset.to_le_bytes())?;
        }
        let mut dictionary = Dictionary {
            is_path: self.is_path,
            trie: Trie::default(),
            filter: Filter::default(),
            counts: StateCounts::default(),
            texts,
            classes,
            merits: merits(&self.weights),
            weights: self.weights,
            states,
            facets: self.facets.finish()?,
            best: MinTree::default(),
            tops: Tops::default(),
            suffixes: Suffixes { entries: entries.finish()?, best: MinTree::default() },
        };
        dictionary.trie = Trie::build(&dictionary.texts, self.folder)?;
        let terms = (0..dictionary.len()).map(|rank| dictionary.texts.term(rank));
        dictionary.filter = Filter::build(dictionary.len(), terms, self.folder)?;
        dictionary.counts = StateCounts::build(&dictionary.states, dictionary.len(), self.folder)?;
        if !dictionary.all_weigh_the_same() {
            let merit = |rank| u64::from(dictionary.merit(rank));
            dictionary.best = MinTree::build(dictionary.len(), merit, self.folder)?;
        }
        let best_first = |ranks| dictionary.by_tree(ranks);
        let parts = (&dictionary.trie, &dictionary.texts);
        let weight = |rank| dictionary.weight(rank);
        dictionary.tops = Tops::build(parts, weight, best_first, self.folder)?;
        let merit = |at| dictionary.suffix_merit(at);
        dictionary.suffixes.best = MinTree::build(dictionary.suffixes.len(), merit, self.folder)?;
        Ok(dictionary)
    }
}
