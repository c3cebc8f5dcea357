//! What resources come to, by the place of the index's entry at which they are found.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::segment::{Facet, Weight};

/// Where an entry stands: its layer, and its number there.
pub(super) type Place = (usize, usize);

/// Sorted ACL numbers.
type Acls = SmallVec<[u32; 4]>;

#[derive(Debug, Clone, Copy, Default)]
struct Tallied {
    count: u32,
    /// Which of the sets.
    acls: u32,
    priority: u16,
}

/// Counts of resources, their highest priority and their ACLs, for each entry of each layer.
#[derive(Debug)]
pub(super) struct Tally {
    layers: Vec<Vec<Tallied>>,
    /// Interned, since there are few; the first one is empty.
    sets: Vec<Acls>,
    /// The number of a set with one more ACL.
    grown: HashMap<(u32, u32), u32>,
    /// The last answer: neighbours are mostly alike.
    last: ((u32, u32), u32),
}

impl Tally {
    /// Nothing yet, for layers of that many entries.
    pub(super) fn new(entry_counts: impl Iterator<Item = usize>) -> Tally {
        Tally {
            layers: entry_counts.map(|count| vec![Tallied::default(); count]).collect(),
            sets: vec![Acls::new()],
            grown: HashMap::new(),
            last: ((u32::MAX, u32::MAX), 0),
        }
    }

    /// One resource more at an entry.
    pub(super) fn add(&mut self, (layer, entry): Place, facet: Facet) {
        let Some(before) = self.layers.get(layer).and_then(|layer| layer.get(entry)) else {
            return;
        };
        let acls = self.grown(before.acls, facet.acl);
        if let Some(tallied) = self.layers.get_mut(layer).and_then(|layer| layer.get_mut(entry)) {
            tallied.count = tallied.count.saturating_add(1);
            tallied.acls = acls;
            tallied.priority = tallied.priority.max(facet.priority);
        }
    }

    /// What an entry should weigh, and the ACLs of the resources behind it.
    pub(super) fn at(&self, (layer, entry): Place) -> (Weight, &[u32]) {
        let tallied = self.layers.get(layer).and_then(|layer| layer.get(entry));
        let Tallied { count, acls, priority } = tallied.copied().unwrap_or_default();
        let acls = usize::try_from(acls).ok().and_then(|set| self.sets.get(set));
        (Weight { priority, count }, acls.map_or(&[], |set| set))
    }

    fn grown(&mut self, set: u32, acl: u32) -> u32 {
        if self.last.0 == (set, acl) {
            return self.last.1;
        }
        let grown = match self.grown.get(&(set, acl)) {
            Some(grown) => *grown,
            None => {
                let grown = self.intern(set, acl);
                self.grown.insert((set, acl), grown);
                grown
            }
        };
        self.last = ((set, acl), grown);
        grown
    }

    fn intern(&mut self, set: u32, acl: u32) -> u32 {
        let old = usize::try_from(set).ok().and_then(|set| self.sets.get(set));
        let mut acls = old.cloned().unwrap_or_default();
        if let Err(at) = acls.binary_search(&acl) {
            acls.insert(at, acl);
        }
        let known = self.sets.iter().position(|known| *known == acls);
        let number = known.unwrap_or_else(|| {
            self.sets.push(acls);
            self.sets.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_count_their_resources_and_gather_acls() {
        let mut tally = Tally::new([1, 2].into_iter());
        for (place, acl, priority) in
            [((1, 0), 7, 10), ((1, 1), 3, 5), ((1, 0), 3, 20), ((1, 0), 7, 1), ((5, 0), 1, 1)]
        {
            tally.add(place, Facet { acl, priority });
        }
        let of = |priority, count| Weight { priority, count };
        assert_eq!(tally.at((1, 0)), (of(20, 3), &[3, 7][..]));
        assert_eq!(tally.at((1, 1)), (of(5, 1), &[3][..]));
        assert_eq!(tally.at((0, 0)), (of(0, 0), &[][..]));
        assert_eq!(tally.at((9, 9)), (of(0, 0), &[][..]));
    }
}
