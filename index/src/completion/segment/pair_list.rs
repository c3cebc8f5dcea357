//! Which values of a variable lead to a resource together with chosen values of others.
//!
//! Groups of equal context, sorted; in each the ranks of the target's values, rising. So the values with a prefix are a
//! range of a group, as they are a range of the dictionary.

use std::cmp::Ordering;
use std::ops::Range;

use super::dictionary::{Dictionary, Weight, implied_facet};
use super::facets::{FacetSums, Facets, FacetsBuilder};
use super::min_tree::{BestFirst, MinTree};
use super::section::{ArchiveReader, ArchiveWriter, Bytes, Column, ColumnWriter};
use super::section::{SectionWriter, SpillFolder, to_u32, to_usize, u32_at};
use super::texts::partition;
use super::visibility::{StateCounts, StateId, Visibility};
use crate::completion::plan::ListShape;
use crate::error::Result;

/// The list of one context and one target.
#[derive(Clone)]
pub(crate) struct PairList {
    /// Numbers of a context.
    width: usize,
    /// The contexts of the groups: ranks in the dictionaries of the context's variables.
    contexts: Bytes,
    /// The first entry of each group; one more at the end.
    starts: Bytes,
    /// The target's rank of each entry.
    targets: Bytes,
    /// Resources behind each entry.
    resources: Column,
    pub(crate) states: Column,
    pub(crate) counts: StateCounts,
    facets: Facets,
    /// The merit of each entry's target, if some group is large enough to be searched by it.
    merits: Option<Column>,
    best: MinTree,
}

/// In groups of up to this many entries the best are found by looking at the targets.
const SEARCHED_ENTRIES_MIN: usize = 64;

impl PairList {
    pub(crate) fn len(&self) -> usize {
        self.targets.len() / 4
    }

    pub(crate) fn group_count(&self) -> usize {
        (self.starts.len() / 4).saturating_sub(1)
    }

    pub(crate) fn context_of(&self, group: usize) -> impl Iterator<Item = u32> {
        let from = group * self.width;
        (from..from + self.width).map(|at| u32_at(&self.contexts, at))
    }

    pub(crate) fn entries_of(&self, group: usize) -> Range<usize> {
        let start = to_usize(u32_at(&self.starts, group));
        start..to_usize(u32_at(&self.starts, group + 1)).clamp(start, self.len().max(start))
    }

    /// The entries of a context.
    pub(crate) fn group(&self, context: &[u32]) -> Range<usize> {
        let compare = |group: usize| self.context_of(group).cmp(context.iter().copied());
        let count = self.group_count();
        let group = partition(0, count, |group| compare(group) == Ordering::Less);
        if group < count && compare(group) == Ordering::Equal {
            self.entries_of(group)
        } else {
            0..0
        }
    }

    /// Those of `entries`, which are of one group, whose target is in `ranks`.
    pub(crate) fn within(&self, entries: &Range<usize>, ranks: &Range<usize>) -> Range<usize> {
        let first = partition(entries.start, entries.end, |at| self.target(at) < ranks.start);
        first..partition(first, entries.end, |at| self.target(at) < ranks.end)
    }

    /// The entry of a target among those of one group.
    pub(crate) fn find(&self, entries: &Range<usize>, rank: usize) -> Option<usize> {
        let at = partition(entries.start, entries.end, |at| self.target(at) < rank);
        (at < entries.end && self.target(at) == rank).then_some(at)
    }

    /// The target's rank of an entry.
    pub(crate) fn target(&self, entry: usize) -> usize {
        to_usize(u32_at(&self.targets, entry))
    }

    /// Resources behind an entry.
    pub(crate) fn resource_count(&self, entry: usize) -> u32 {
        self.resources.at(entry)
    }

    /// Adds what this segment adds and takes away of the resources behind an entry; their priority is 0.
    pub(crate) fn add_facets(&self, entry: usize, visibility: &Visibility, sums: &mut FacetSums) {
        if !self.facets.add_to(to_u32(entry), sums) {
            let weight = Weight { priority: 0, count: self.resource_count(entry) };
            implied_facet(visibility, self.states.at(entry), weight, sums);
        }
    }

    /// The facets of an entry where they are not implied.
    pub(super) fn own_facets(&self, entry: usize) -> Option<FacetSums> {
        let mut sums = FacetSums::new();
        self.facets.add_to(to_u32(entry), &mut sums).then_some(sums)
    }

    /// Entries of one group, the best target first.
    pub(crate) fn best_first<'a>(
        &'a self,
        entries: Range<usize>,
        targets: &'a Dictionary,
    ) -> BestFirst<'a, impl Fn(usize) -> u64 + 'a> {
        if targets.all_weigh_the_same() {
            return BestFirst::InOrder(entries);
        }
        let merit = |at| match &self.merits {
            Some(merits) => u64::from(merits.at(at)),
            None => u64::from(targets.merit(self.target(at))),
        };
        BestFirst::new(&self.best, merit, entries)
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.number(u64::try_from(self.width).unwrap_or(u64::MAX));
        archive.section(&self.contexts)?;
        archive.section(&self.starts)?;
        archive.section(&self.targets)?;
        self.resources.save(archive)?;
        self.states.save(archive)?;
        self.counts.save(archive)?;
        self.facets.save(archive)?;
        archive.number(u64::from(self.merits.is_some()));
        self.merits.iter().try_for_each(|merits| merits.save(archive))?;
        self.best.save(archive)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<PairList> {
        let list = PairList {
            width: archive.size()?,
            contexts: archive.section()?,
            starts: archive.section()?,
            targets: archive.section()?,
            resources: Column::load(archive)?,
            states: Column::load(archive)?,
            counts: StateCounts::load(archive)?,
            facets: Facets::load(archive)?,
            merits: match archive.number()? {
                0 => None,
                _ => Some(Column::load(archive)?),
            },
            best: MinTree::load(archive)?,
        };
        if list.width == 0
            || list.contexts.len() / 4 != list.group_count().saturating_mul(list.width)
        {
            return Err(archive.damaged());
        }
        Ok(list)
    }
}

/// A list in the making; entries are pushed in order.
pub(super) struct PairListBuilder<'a> {
    folder: SpillFolder<'a>,
    width: usize,
    contexts: SectionWriter<'a>,
    starts: SectionWriter<'a>,
    targets: SectionWriter<'a>,
    resources: ColumnWriter<'a>,
    states: ColumnWriter<'a>,
    facets: FacetsBuilder<'a>,
    last: Vec<u32>,
    count: u32,
}

impl<'a> PairListBuilder<'a> {
    pub(super) fn new(shape: &ListShape, folder: SpillFolder<'a>) -> Self {
        PairListBuilder {
            folder,
            width: shape.context.len(),
            contexts: SectionWriter::new(folder),
            starts: SectionWriter::new(folder),
            targets: SectionWriter::new(folder),
            resources: ColumnWriter::new(folder),
            states: ColumnWriter::new(folder),
            facets: FacetsBuilder::new(folder),
            last: Vec::new(),
            count: 0,
        }
    }

    /// Adds an entry: how many resources are behind it, and its facets in this segment where they are not implied.
    pub(super) fn push(
        &mut self,
        (context, target): (&[u32], u32),
        resources: u32,
        state: StateId,
        own: Option<&FacetSums>,
    ) -> Result<()> {
        if self.count == 0 || self.last != context {
            self.last.clear();
            self.last.extend_from_slice(context);
            self.starts.put_u32(self.count)?;
            context.iter().try_for_each(|rank| self.contexts.put_u32(*rank))?;
        }
        self.targets.put_u32(target)?;
        self.resources.push(resources)?;
        self.states.push(state)?;
        if let Some(own) = own {
            self.facets.push(self.count, own)?;
        }
        self.count += 1;
        Ok(())
    }

    pub(super) fn finish(mut self, targets: &Dictionary) -> Result<PairList> {
        self.starts.put_u32(self.count)?;
        let states = self.states.finish()?;
        let mut list = PairList {
            width: self.width,
            contexts: self.contexts.finish()?,
            starts: self.starts.finish()?,
            targets: self.targets.finish()?,
            resources: self.resources.finish()?,
            counts: StateCounts::default(),
            states,
            facets: self.facets.finish()?,
            merits: None,
            best: MinTree::default(),
        };
        list.counts = StateCounts::build(&list.states, list.len(), self.folder)?;
        let is_searched = (0..list.group_count())
            .any(|group| list.entries_of(group).len() > SEARCHED_ENTRIES_MIN);
        if is_searched && !targets.all_weigh_the_same() {
            let mut merits = ColumnWriter::new(self.folder);
            for entry in 0..list.len() {
                merits.push(targets.merit(list.target(entry)))?;
            }
            let merits = merits.finish()?;
            list.best = MinTree::build(list.len(), |at| u64::from(merits.at(at)), self.folder)?;
            list.merits = Some(merits);
        }
        Ok(list)
    }
}
