//! One word alone: its lists are gone through window by window, each at one go, instead of document by document in step.

use tantivy::{DocId, DocSet, TERMINATED};

use super::postings::{Clock, Unit, blend};
use super::schema::Place;

/// Documents of a window: its scores stay in the processor's nearest cache.
const DOCS: u32 = 1_024;
const WORDS: usize = 16;
/// Documents of a word of bits.
const TOGETHER: usize = 64;

/// A range of documents with the scores of those that were found. It takes memory once something is.
#[derive(Default)]
pub(super) struct Window {
    base: DocId,
    /// A bit for each document that was found and not handed out yet.
    found: [u64; WORDS],
    /// Where in `found` the next one is looked for.
    at: usize,
    scores: [Vec<f32>; Place::ALL.len()],
}

/// The scores of one place, while they are filled in.
struct OnePlace<'w> {
    base: DocId,
    found: &'w mut [u64; WORDS],
    scores: &'w mut [f32],
}

impl OnePlace<'_> {
    #[inline]
    fn add(&mut self, doc: DocId, score: f32) {
        let at = usize::try_from(doc.wrapping_sub(self.base)).unwrap_or(usize::MAX);
        if let (Some(word), Some(best)) = (self.found.get_mut(at / 64), self.scores.get_mut(at)) {
            *word |= 1 << (at % 64);
            *best = best.max(score);
        }
    }
}

impl Window {
    /// Finds the documents of a unit from `target` on, up to the end of the window that the first one begins; false:
    /// there are none. The unit must have no runs.
    pub(super) fn fill(&mut self, unit: &mut Unit, target: DocId, clock: &mut Clock) -> bool {
        let mut base = TERMINATED;
        unit.lists.retain_mut(|list| {
            if list.postings.doc() < target {
                list.postings.seek(target);
            }
            base = base.min(list.postings.doc());
            list.postings.doc() != TERMINATED
        });
        for set in &unit.sets {
            base = base.min(set.docs.seek(target));
        }
        if base == TERMINATED {
            return false;
        }
        (self.base, self.at) = (base, 0);
        for scores in &mut self.scores {
            // Those that were handed out are zero again.
            scores.resize(usize::try_from(DOCS).unwrap_or(0), 0.0);
        }
        let end = base.saturating_add(DOCS);
        for list in &mut unit.lists {
            let mut place = self.place(list.place);
            let mut doc = list.postings.doc();
            while doc < end && clock.step() {
                place.add(doc, list.score(doc));
                doc = list.postings.advance();
            }
        }
        for set in &unit.sets {
            let mut place = self.place(set.place);
            for doc in set.docs.range(base, end) {
                place.add(doc, set.score);
            }
        }
        true
    }

    fn place(&mut self, place: Place) -> OnePlace<'_> {
        let scores = self.scores.get_mut(place as usize).map_or(&mut [][..], Vec::as_mut_slice);
        OnePlace { base: self.base, found: &mut self.found, scores }
    }

    /// How many documents it has that were not handed out.
    pub(super) fn count(&self) -> u32 {
        self.found.iter().map(|word| word.count_ones()).sum()
    }

    /// Hands out, with their scores, the documents that have at least `least`, and perhaps others; all are gone then.
    /// `least` is asked again after each, and may rise.
    ///
    /// Most documents of a frequent word are not among the best, which is seen of many at a time.
    pub(super) fn drain_best<S>(
        &mut self,
        state: &mut S,
        least: impl Fn(&S) -> f32,
        mut take: impl FnMut(&mut S, DocId, f32),
    ) {
        let [one, two, three] = &mut self.scores;
        let places = one.chunks_exact_mut(TOGETHER).zip(two.chunks_exact_mut(TOGETHER));
        let places = places.zip(three.chunks_exact_mut(TOGETHER));
        let bases = (self.base..).step_by(TOGETHER);
        for ((found, base), ((one, two), three)) in self.found.iter_mut().zip(bases).zip(places) {
            let mut left = std::mem::take(found);
            if left == 0 {
                continue;
            }
            let mut scores = [0.0; TOGETHER];
            let of_places = one.iter().zip(&*two).zip(&*three);
            for (score, ((one, two), three)) in scores.iter_mut().zip(of_places) {
                *score = blend([*one, *two, *three].into_iter());
            }
            one.fill(0.0);
            two.fill(0.0);
            three.fill(0.0);
            let best = scores
                .iter()
                .fold(0.0, |best: f32, score| if *score > best { *score } else { best });
            if best < least(state) {
                continue;
            }
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let score = usize::try_from(bit).ok().and_then(|bit| scores.get(bit));
                if let Some(score) = score.filter(|score| **score >= least(state)) {
                    take(state, base + bit, *score);
                }
            }
        }
    }

    /// The first document behind the window.
    pub(super) fn end(&self) -> DocId {
        self.base.saturating_add(DOCS)
    }

    /// Hands out the next document with its score.
    pub(super) fn next(&mut self) -> Option<(DocId, f32)> {
        let (at, word) = loop {
            match self.found.get_mut(self.at)? {
                0 => self.at += 1,
                word => break (self.at, word),
            }
        };
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        let place = at * 64 + usize::try_from(bit).unwrap_or(0);
        let score = blend(self.scores.iter_mut().map(|scores| {
            scores.get_mut(place).map_or(0.0, |score| std::mem::replace(score, 0.0))
        }));
        Some((self.base + u32::try_from(place).unwrap_or(0), score))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::postings::{Bits, Set};
    use super::*;

    /// Of each place every document whose number can be divided by something.
    fn unit() -> Unit {
        let sets = [(Place::Title, 7, 3.0), (Place::UriWords, 5, 0.25), (Place::Text, 2, 1.5)];
        let sets = sets.into_iter().map(|(place, step, score)| {
            let mut docs = Bits::new(5_000);
            (0..5_000).step_by(step).for_each(|doc| docs.insert(doc));
            Set { count: docs.count(), docs, score, place }
        });
        Unit::new(Vec::new(), Vec::new(), sets.collect())
    }

    /// All documents of a unit, as each window hands them out.
    fn all_of(drain: impl Fn(&mut Window, &mut Vec<(DocId, f32)>)) -> Vec<(DocId, f32)> {
        let (mut unit, mut window, mut all) = (unit(), Window::default(), Vec::new());
        let mut clock = Clock::until(Instant::now() + Duration::from_secs(3_600));
        let mut target = 0;
        while window.fill(&mut unit, target, &mut clock) {
            target = window.end();
            let (count, before) = (window.count(), all.len());
            drain(&mut window, &mut all);
            assert!(all.len() - before <= usize::try_from(count).unwrap());
            assert_eq!(window.count(), 0);
        }
        all
    }

    #[test]
    fn documents_are_the_same_one_by_one_and_together() {
        let one_by_one = all_of(|window, all| {
            while let Some(next) = window.next() {
                all.push(next);
            }
        });
        assert_eq!(
            one_by_one.len(),
            (0..5_000).filter(|n| n % 7 == 0 || n % 5 == 0 || n % 2 == 0).count()
        );
        for least in [0.0, 1.5, 3.0, 4.0, f32::INFINITY] {
            let together = all_of(|window, all| {
                window.drain_best(all, |_| least, |all, doc, score| all.push((doc, score)));
            });
            let mut wanted = one_by_one.clone();
            wanted.retain(|(_, score)| *score >= least);
            assert_eq!(together, wanted, "{least}");
        }
    }
}
