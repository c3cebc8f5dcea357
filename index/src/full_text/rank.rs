//! The order of hits, and the best of them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::DocId;

/// Where a hit stands among all; greater is better. No two hits have the same unless their URIs' hashes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) class: Class,
    /// The bits of a score that is not negative, which have its order.
    score_bits: u32,
    pub(super) modified: i64,
    pub(super) uri_hash: u64,
}

/// Up to so many words, how many of them are there goes before the score. Of more, only whether all are: a sentence has words
/// like `the` and `of`, and a document that has these is no better than one that has the word that matters.
pub(super) const FEW_WORDS_MAX: usize = 4;

/// What goes before the score: a title that is the whole query, then how many words there are, then how many of them
/// as they were typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Class {
    pub(super) is_exact_title: bool,
    pub(super) words: u8,
    pub(super) typed_words: u8,
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
        Class { is_exact_title: false, words: count(there), typed_words: count(typed) }
    }
}

impl Rank {
    pub(super) fn new(class: Class, score: f32, modified: i64, uri_hash: u64) -> Rank {
        Rank { class, score_bits: score.max(0.0).to_bits(), modified, uri_hash }
    }

    pub(super) fn score(&self) -> f32 {
        f32::from_bits(self.score_bits)
    }

    pub(super) const BYTES: usize = 23;

    pub(super) fn to_bytes(self) -> [u8; Rank::BYTES] {
        let mut bytes = [0; Rank::BYTES];
        let fields = [
            &[u8::from(self.class.is_exact_title), self.class.words, self.class.typed_words][..],
            &self.score_bits.to_be_bytes(),
            &self.modified.to_be_bytes(),
            &self.uri_hash.to_be_bytes(),
        ];
        for (place, byte) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *place = *byte;
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Rank::BYTES]) -> Rank {
        let [
            exact,
            words,
            typed_words,
            s0,
            s1,
            s2,
            s3,
            m0,
            m1,
            m2,
            m3,
            m4,
            m5,
            m6,
            m7,
            h0,
            h1,
            h2,
            h3,
            h4,
            h5,
            h6,
            h7,
        ] = *bytes;
        Rank {
            class: Class { is_exact_title: exact != 0, words, typed_words },
            score_bits: u32::from_be_bytes([s0, s1, s2, s3]),
            modified: i64::from_be_bytes([m0, m1, m2, m3, m4, m5, m6, m7]),
            uri_hash: u64::from_be_bytes([h0, h1, h2, h3, h4, h5, h6, h7]),
        }
    }
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
        let begin = |rank: &Rank| (rank.class, rank.score_bits);
        let offered = (class, score.max(0.0).to_bits());
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
            Ordering::Equal => worst.rank.score(),
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
        (any::<bool>(), 0..3_u8, 0..3_u8, 0.0_f32..3.0, -2..2_i64, any::<u64>()).prop_map(
            |(is_exact_title, words, typed_words, score, modified, hash)| {
                let class = Class { is_exact_title, words, typed_words };
                Rank::new(class, score, modified, hash)
            },
        )
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
