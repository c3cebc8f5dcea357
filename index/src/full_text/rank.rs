//! The order of hits, and the best of them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::DocId;

use super::exact::Closeness;

/// Where a hit stands among all; greater is better. No two hits have the same unless their URIs' hashes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rank {
    pub(super) class: Class,
    /// The bits of a score that is not negative, which have its order.
    score_bits: u32,
    pub(super) modified: i64,
    pub(super) uri_hash: u64,
    /// `annotations.priority`.
    pub(super) priority: u16,
}

/// Up to so many words, how many of them are there goes before the score. Of more, only whether all are: a sentence has words
/// like `the` and `of`, and a document that has these is no better than one that has the word that matters.
pub(super) const FEW_WORDS_MAX: usize = 4;

/// Scores that differ in these bits only, by at most a thirtieth, count as equal: priority decides between them first.
const FINE_SCORE_BITS: u32 = 18;

/// What goes before the score: a name that is the whole query, then how many words there are, then how many of them
/// as they were typed, then a name that is spelled much like the query. Between resources that are called so, the priority
/// goes before the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Class {
    pub(super) named: Closeness,
    pub(super) words: u8,
    pub(super) typed_words: u8,
    pub(super) similarly_named: Closeness,
    /// 0 for resources that are called otherwise.
    pub(super) priority: u16,
}

impl Class {
    /// Of `asked` words a document has `there`, of which `typed` as they were typed.
    pub(super) fn of_words(asked: usize, there: usize, typed: usize) -> Class {
        let count = |count: usize| {
            if asked > FEW_WORDS_MAX && count < asked {
                return 0;
            }
            u8::try_from(count).unwrap_or(u8::MAX - 1)
        };
        Class { words: count(there), typed_words: count(typed), ..Class::default() }
    }
}

impl Rank {
    pub(super) fn new(class: Class, score: f32) -> Rank {
        let score_bits = score.max(0.0).to_bits();
        Rank { class, score_bits, modified: 0, uri_hash: 0, priority: 0 }
    }

    pub(super) fn score(&self) -> f32 {
        f32::from_bits(self.score_bits)
    }

    /// The least score that counts as equal to this one.
    fn coarse_score(&self) -> f32 {
        f32::from_bits(coarse(self.score_bits))
    }

    pub(super) const BYTES: usize = 28;

    pub(super) fn to_bytes(self) -> [u8; Rank::BYTES] {
        let mut bytes = [0; Rank::BYTES];
        let Class { named, words, typed_words, similarly_named, priority } = self.class;
        let fields = [
            &[named, words, typed_words, similarly_named][..],
            &priority.to_be_bytes(),
            &self.score_bits.to_be_bytes(),
            &self.priority.to_be_bytes(),
            &self.modified.to_be_bytes(),
            &self.uri_hash.to_be_bytes(),
        ];
        for (place, byte) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *place = *byte;
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Rank::BYTES]) -> Rank {
        let mut rest = &bytes[..];
        let [named, words, typed_words, similarly_named] = taken(&mut rest);
        let priority = u16::from_be_bytes(taken(&mut rest));
        Rank {
            class: Class { named, words, typed_words, similarly_named, priority },
            score_bits: u32::from_be_bytes(taken(&mut rest)),
            priority: u16::from_be_bytes(taken(&mut rest)),
            modified: i64::from_be_bytes(taken(&mut rest)),
            uri_hash: u64::from_be_bytes(taken(&mut rest)),
        }
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        let place = |rank: &Rank| {
            let coarse = coarse(rank.score_bits);
            (rank.class, coarse, rank.priority, rank.score_bits, rank.modified, rank.uri_hash)
        };
        place(self).cmp(&place(other))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first bytes, which are taken off; zeros where there are not as many.
fn taken<const COUNT: usize>(bytes: &mut &[u8]) -> [u8; COUNT] {
    let Some((first, rest)) = bytes.split_first_chunk::<COUNT>() else { return [0; COUNT] };
    *bytes = rest;
    *first
}

/// The bits of a score without those in which equal ones may differ.
fn coarse(score_bits: u32) -> u32 {
    score_bits >> FINE_SCORE_BITS << FINE_SCORE_BITS
}

/// A hit in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ranked {
    pub(super) rank: Rank,
    pub(super) segment: u32,
    pub(super) doc: DocId,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        // Two URIs with one hash have an order all the same.
        self.rank.cmp(&other.rank).then((other.segment, other.doc).cmp(&(self.segment, self.doc)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best hits behind a place.
pub(super) struct Top {
    count_max: usize,
    after: Option<Rank>,
    hits: BinaryHeap<Reverse<Ranked>>,
}

impl Top {
    pub(super) fn new(count_max: usize, after: Option<Rank>) -> Top {
        Top { count_max, after, hits: BinaryHeap::with_capacity(count_max + 1) }
    }

    /// Whether a hit of this class and score may be one of them: the rest of its rank is dearer to have.
    #[inline]
    pub(super) fn may_take(&self, class: Class, score: f32) -> bool {
        let begin = |rank: &Rank| (rank.class, coarse(rank.score_bits));
        let offered = (class, coarse(score.max(0.0).to_bits()));
        self.after.is_none_or(|after| offered <= begin(&after))
            && (self.hits.len() < self.count_max
                || self.hits.peek().is_some_and(|Reverse(worst)| offered >= begin(&worst.rank)))
    }

    /// The least score with which a hit of this class may be one of them.
    #[inline]
    pub(super) fn least_score(&self, class: Class) -> f32 {
        let Some(Reverse(worst)) = self.hits.peek().filter(|_| self.hits.len() >= self.count_max)
        else {
            return 0.0;
        };
        match class.cmp(&worst.rank.class) {
            Ordering::Greater => 0.0,
            Ordering::Equal => worst.rank.coarse_score(),
            Ordering::Less => f32::INFINITY,
        }
    }

    pub(super) fn offer(&mut self, hit: Ranked) {
        if self.after.is_some_and(|after| hit.rank >= after) {
            return;
        }
        self.hits.push(Reverse(hit));
        if self.hits.len() > self.count_max {
            self.hits.pop();
        }
    }

    /// The best first.
    pub(super) fn into_hits(self) -> Vec<Ranked> {
        self.hits.into_sorted_vec().into_iter().map(|Reverse(hit)| hit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rank() -> impl Strategy<Value = Rank> {
        let class = (0..3_u8, 0..3_u8, 0..3_u8, 0..3_u8, 0..3_u16);
        let class = class.prop_map(|(named, words, typed_words, similarly_named, priority)| {
            Class { named, words, typed_words, similarly_named, priority }
        });
        (class, 0.0_f32..3.0, 0..3_u16, -2..2_i64, any::<u64>()).prop_map(
            |(class, score, priority, modified, uri_hash)| Rank {
                priority,
                modified,
                uri_hash,
                ..Rank::new(class, score)
            },
        )
    }

    #[test]
    fn priority_decides_between_equal_scores() {
        let of = |score, priority| Rank { priority, ..Rank::new(Class::default(), score) };
        assert!(of(2.0, 7) > of(2.01, 3));
        assert!(of(2.0, 7) < of(2.2, 3));
        assert!(of(2.0, 7) < of(2.01, 7));
    }

    proptest! {
        #[test]
        fn ranks_come_back(rank in rank()) {
            prop_assert_eq!(Rank::from_bytes(&rank.to_bytes()), rank);
        }

        #[test]
        fn pages_are_all_hits_in_order(ranks in prop::collection::vec(rank(), 0..60), size in 1_usize..9) {
            let hits: Vec<Ranked> =
                (0..).zip(ranks).map(|(doc, rank)| Ranked { rank, segment: 0, doc }).collect();
            let mut wanted = hits.clone();
            wanted.sort_by(|a, b| b.cmp(a));
            wanted.dedup_by_key(|hit| hit.rank);
            let mut paged = Vec::new();
            loop {
                let mut top = Top::new(size, paged.last().map(|hit: &Ranked| hit.rank));
                for hit in &hits {
                    let may_be = hit.rank.score() >= top.least_score(hit.rank.class);
                    prop_assert!(may_be || !top.may_take(hit.rank.class, hit.rank.score()));
                    if top.may_take(hit.rank.class, hit.rank.score()) {
                        top.offer(*hit);
                    }
                }
                let page = top.into_hits();
                if page.is_empty() {
                    break;
                }
                paged.extend(page);
            }
            paged.dedup_by_key(|hit| hit.rank);
            prop_assert_eq!(paged, wanted);
        }
    }
}
