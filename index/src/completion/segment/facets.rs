//! What of the resources behind an entry a segment adds and takes away: how many of which ACL and priority.
//!
//! The sums over all layers tell what is left when a resource goes: which ACLs, and which highest priority. An entry
//! that is new in its segment, with one kind of resource, needs no facets: its count and set say the same.

use smallvec::SmallVec;

use super::section::{ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder};
use super::section::{to_u32, to_usize, u32_at};
use crate::error::Result;

/// ACL number and priority of a resource; the priority is 0 in lists, where it does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Facet {
    pub(crate) acl: u32,
    pub(crate) priority: u16,
}

/// How many resources more or less of each facet; mostly there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct FacetSums(SmallVec<[(Facet, i64); 1]>);

impl FacetSums {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn add(&mut self, facet: Facet, count: i64) {
        match self.0.binary_search_by_key(&facet, |(other, _)| *other) {
            Ok(at) => {
                if let Some((_, sum)) = self.0.get_mut(at) {
                    *sum = sum.saturating_add(count);
                }
            }
            Err(at) => self.0.insert(at, (facet, count)),
        }
    }

    /// The sums that are not zero, by facet.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Facet, i64)> + Clone {
        self.0.iter().copied().filter(|(_, count)| *count != 0)
    }

    /// Whether resources went.
    pub(crate) fn takes_away(&self) -> bool {
        self.iter().any(|(_, count)| count < 0)
    }

    /// How many resources more or less.
    pub(crate) fn total(&self) -> i64 {
        self.iter().map(|(_, count)| count).sum()
    }
}

/// ACL, priority, count, each 4 bytes.
const FACET_NUMBERS: usize = 3;

/// The facets of those entries that need them.
#[derive(Clone, Default)]
pub(crate) struct Facets {
    /// Entries with facets, rising.
    entries: Bytes,
    /// Where the facets of each begin; one more at the end.
    starts: Bytes,
    facets: Bytes,
}

impl Facets {
    /// Adds an entry's facets to `sums`; false when it has none of its own.
    pub(super) fn add_to(&self, entry: u32, sums: &mut FacetSums) -> bool {
        let count = self.entries.len() / 4;
        let (mut from, mut to) = (0, count);
        while from < to {
            let middle = from + (to - from) / 2;
            if u32_at(&self.entries, middle) < entry { from = middle + 1 } else { to = middle }
        }
        if from == count || u32_at(&self.entries, from) != entry {
            return false;
        }
        let range = u32_at(&self.starts, from)..u32_at(&self.starts, from + 1);
        for at in range {
            let at = to_usize(at) * FACET_NUMBERS;
            let priority = u16::try_from(u32_at(&self.facets, at + 1)).unwrap_or_default();
            let facet = Facet { acl: u32_at(&self.facets, at), priority };
            let count = u32_at(&self.facets, at + 2).cast_signed();
            sums.add(facet, i64::from(count));
        }
        true
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.section(&self.entries)?;
        archive.section(&self.starts)?;
        archive.section(&self.facets)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Facets> {
        Ok(Facets {
            entries: archive.section()?,
            starts: archive.section()?,
            facets: archive.section()?,
        })
    }
}

/// Facets in the making.
pub(super) struct FacetsBuilder<'a> {
    entries: SectionWriter<'a>,
    starts: SectionWriter<'a>,
    facets: SectionWriter<'a>,
    count: usize,
}

impl<'a> FacetsBuilder<'a> {
    pub(super) fn new(folder: SpillFolder<'a>) -> Self {
        FacetsBuilder {
            entries: SectionWriter::new(folder),
            starts: SectionWriter::new(folder),
            facets: SectionWriter::new(folder),
            count: 0,
        }
    }

    /// The facets of an entry behind all that were pushed before.
    pub(super) fn push(&mut self, entry: u32, sums: &FacetSums) -> Result<()> {
        self.entries.put_u32(entry)?;
        self.starts.put_u32(to_u32(self.count))?;
        for (facet, count) in sums.iter() {
            let count = i32::try_from(count).unwrap_or(i32::MAX);
            self.facets.put_u32(facet.acl)?;
            self.facets.put_u32(u32::from(facet.priority))?;
            self.facets.put_u32(count.cast_unsigned())?;
            self.count += 1;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Facets> {
        self.starts.put_u32(to_u32(self.count))?;
        Ok(Facets {
            entries: self.entries.finish()?,
            starts: self.starts.finish()?,
            facets: self.facets.finish()?,
        })
    }
}
