//! One word alone: its lists are gone through window by window, each at one go, instead of document by document in step.

use tantivy::{DocId, DocSet, TERMINATED};

use super::postings::{Clock, Unit, blend};
use super::schema::Place;

/// Documents of a window: its scores stay in the processor's nearest cache.
const DOCS: u32 = 1_024;
const WORDS: usize = 16;

/// A range of documents with the scores of those that were found.
pub(super) struct Window {
    base: DocId,
    /// A bit for each document that was found and not handed out yet.
    found: [u64; WORDS],
    scores: [Vec<f32>; Place::ALL.len()],
}

impl Window {
    pub(super) fn new() -> Window {
        let scores = std::array::from_fn(|_| vec![0.0; usize::try_from(DOCS).unwrap_or(0)]);
        Window { base: 0, found: [0; WORDS], scores }
    }

    /// Finds the documents of a unit from `target` on, up to the end of the window that the first one begins; false:
    /// there are none. The unit must have lists only.
    pub(super) fn fill(&mut self, unit: &mut Unit, target: DocId, clock: &mut Clock) -> bool {
        let mut base = TERMINATED;
        unit.lists.retain_mut(|list| {
            if list.postings.doc() < target {
                list.postings.seek(target);
            }
            base = base.min(list.postings.doc());
            list.postings.doc() != TERMINATED
        });
        if base == TERMINATED {
            return false;
        }
        self.base = base;
        let end = base.saturating_add(DOCS);
        for list in &mut unit.lists {
            let Some(scores) = self.scores.get_mut(list.place as usize) else { continue };
            let mut doc = list.postings.doc();
            while doc < end && clock.step() {
                let score = list.score(doc);
                let place = usize::try_from(doc - base).unwrap_or(usize::MAX);
                if let (Some(word), Some(best)) =
                    (self.found.get_mut(place / 64), scores.get_mut(place))
                {
                    *word |= 1 << (place % 64);
                    *best = best.max(score);
                }
                doc = list.postings.advance();
            }
        }
        true
    }

    /// The first document behind the window.
    pub(super) fn end(&self) -> DocId {
        self.base.saturating_add(DOCS)
    }

    /// Hands out the next document with its score.
    pub(super) fn next(&mut self) -> Option<(DocId, f32)> {
        let (at, word) = self.found.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        let place = at * 64 + usize::try_from(bit).unwrap_or(0);
        let score = blend(self.scores.iter_mut().map(|scores| {
            scores.get_mut(place).map_or(0.0, |score| std::mem::replace(score, 0.0))
        }));
        Some((self.base + u32::try_from(place).unwrap_or(0), score))
    }
}
