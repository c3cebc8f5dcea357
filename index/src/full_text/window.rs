//! One word alone: its lists are gone through window by window, each at one go, instead of document by document in step.

use tantivy::{DocId, DocSet, TERMINATED};

use super::postings::{Clock, Unit, blend};
use super::schema::Place;

/// Documents of a window: its scores stay in the processor's nearest cache.
const DOCS: u32 = 1_024;
const WORDS: usize = 16;

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
            let mut doc = list.postings.doc();
            while doc < end && clock.step() {
                self.add(doc, list.place, list.score(doc));
                doc = list.postings.advance();
            }
        }
        for set in &unit.sets {
            for doc in set.docs.range(base, end) {
                self.add(doc, set.place, set.score);
            }
        }
        true
    }

    #[inline]
    fn add(&mut self, doc: DocId, place: Place, score: f32) {
        let at = usize::try_from(doc.wrapping_sub(self.base)).unwrap_or(usize::MAX);
        let best = self.scores.get_mut(place as usize).and_then(|scores| scores.get_mut(at));
        if let (Some(word), Some(best)) = (self.found.get_mut(at / 64), best) {
            *word |= 1 << (at % 64);
            *best = best.max(score);
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
