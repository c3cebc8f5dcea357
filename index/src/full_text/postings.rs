//! Going through lists of documents: one list, several together, runs of tokens. All of it within time.

use std::sync::Arc;
use std::time::Instant;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::Bm25Weight;
use tantivy::{DocId, DocSet, TERMINATED};

use super::schema::Place;

/// Steps between two looks at the clock: about a tenth of a millisecond.
const STEPS_PER_LOOK: u32 = 1_024;
/// How much a place that is not the best one adds to the score of a word.
const OTHER_PLACES: f32 = 0.5;

/// Says when time is up. Then every list ends.
pub(super) struct Clock {
    deadline: Instant,
    steps_left: u32,
    is_up: bool,
}

impl Clock {
    pub(super) fn until(deadline: Instant) -> Clock {
        Clock { deadline, steps_left: STEPS_PER_LOOK, is_up: false }
    }

    /// Counts a step; false: time is up.
    #[inline]
    pub(super) fn step(&mut self) -> bool {
        if self.steps_left > 0 {
            self.steps_left -= 1;
            return !self.is_up;
        }
        self.look()
    }

    /// Looks at the clock now.
    pub(super) fn look(&mut self) -> bool {
        self.steps_left = STEPS_PER_LOOK;
        self.is_up |= Instant::now() >= self.deadline;
        !self.is_up
    }

    pub(super) fn is_up(&self) -> bool {
        self.is_up
    }
}

/// The documents of one token in one place.
pub(super) struct List {
    pub(super) postings: SegmentPostings,
    pub(super) norms: FieldNormReader,
    /// Shared: it is a thousand bytes large.
    pub(super) weight: Arc<Bm25Weight>,
    pub(super) place: Place,
}

impl List {
    /// How well the document at hand fits.
    #[inline]
    pub(super) fn score(&self, doc: DocId) -> f32 {
        self.weight.score(self.norms.fieldnorm_id(doc), self.postings.term_freq())
    }
}

/// The score of a word out of those of its places.
#[inline]
pub(super) fn blend(places: impl Iterator<Item = f32>) -> f32 {
    let (best, sum) =
        places.fold((0.0_f32, 0.0), |(best, sum), score| (best.max(score), sum + score));
    best + (sum - best) * OTHER_PLACES
}

/// Tokens that must stand at certain distances.
pub(super) struct Run {
    /// The rarest first, each with what brings its positions to where the run begins.
    tokens: Vec<(SegmentPostings, u32)>,
    norms: FieldNormReader,
    weight: Arc<Bm25Weight>,
    place: Place,
    /// `None`: it was not looked for yet.
    doc: Option<DocId>,
    /// Where the run was looked for last, and how often it was there.
    counted: (DocId, u32),
    positions: [Vec<u32>; 2],
}

impl Run {
    pub(super) fn new(
        mut tokens: Vec<(SegmentPostings, u32)>,
        (norms, weight, place): (FieldNormReader, Arc<Bm25Weight>, Place),
    ) -> Run {
        let last = tokens.iter().map(|(_, position)| *position).max().unwrap_or(0);
        for (_, position) in &mut tokens {
            *position = last - *position;
        }
        tokens.sort_by_key(|(postings, _)| postings.doc_freq());
        let counted = (TERMINATED, 0);
        Run { tokens, norms, weight, place, doc: None, counted, positions: Default::default() }
    }

    fn cost(&self) -> u64 {
        self.tokens.first().map_or(0, |(postings, _)| u64::from(postings.doc_freq()))
    }

    /// The first document from `target` on that has all tokens, wherever they stand.
    fn seek(&mut self, target: DocId, clock: &mut Clock) -> DocId {
        match self.doc {
            Some(doc) if doc >= target => doc,
            _ => {
                let doc = self.next(target, clock);
                self.doc = Some(doc);
                doc
            }
        }
    }

    fn next(&mut self, target: DocId, clock: &mut Clock) -> DocId {
        let Some(((lead, _), others)) = self.tokens.split_first_mut() else { return TERMINATED };
        let mut target = target;
        'candidates: while clock.step() {
            let doc = lead.seek(target.max(lead.doc()));
            if doc == TERMINATED {
                break;
            }
            for (other, _) in &mut *others {
                let at = other.seek(doc.max(other.doc()));
                if at > doc {
                    target = at;
                    continue 'candidates;
                }
            }
            return doc;
        }
        TERMINATED
    }

    /// How often the run is in a document that was found.
    fn count(&mut self, doc: DocId) -> u32 {
        if self.doc != Some(doc) {
            return 0;
        }
        if self.counted.0 == doc {
            return self.counted.1;
        }
        let [left, right] = &mut self.positions;
        let mut tokens = self.tokens.iter_mut();
        if let Some((postings, offset)) = tokens.next() {
            postings.positions_with_offset(*offset, left);
        }
        for (postings, offset) in tokens {
            postings.positions_with_offset(*offset, right);
            keep_common(left, right);
            if left.is_empty() {
                break;
            }
        }
        self.counted = (doc, u32::try_from(left.len()).unwrap_or(u32::MAX));
        self.counted.1
    }
}

/// Keeps of `left` what is in `right`; both rise.
fn keep_common(left: &mut Vec<u32>, right: &[u32]) {
    let mut right = right.iter().copied().peekable();
    left.retain(|position| {
        while right.next_if(|other| other < position).is_some() {}
        right.peek() == Some(position)
    });
}

/// Documents of many tokens, all of which weigh the same.
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    pub(super) fn new(max_doc: DocId) -> Bits {
        let words = usize::try_from(max_doc / 64 + 1).unwrap_or(0);
        Bits { words: vec![0; words] }
    }

    pub(super) fn insert(&mut self, doc: DocId) {
        let word = usize::try_from(doc / 64).unwrap_or(usize::MAX);
        if let Some(word) = self.words.get_mut(word) {
            *word |= 1 << (doc % 64);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn has(&self, doc: DocId) -> bool {
        let word = usize::try_from(doc / 64).ok().and_then(|at| self.words.get(at));
        word.is_some_and(|word| word & (1 << (doc % 64)) != 0)
    }

    /// The documents from `from` on that are below `end`.
    pub(super) fn range(&self, from: DocId, end: DocId) -> impl Iterator<Item = DocId> {
        let first = usize::try_from(from / 64).unwrap_or(usize::MAX);
        let words = (from & !63..end).step_by(64).zip(self.words.iter().skip(first));
        words.flat_map(move |(base, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < u64::BITS).then_some(base + bit)
            })
            .filter(move |doc| (from..end).contains(doc))
        })
    }

    pub(super) fn seek(&self, target: DocId) -> DocId {
        let first = usize::try_from(target / 64).unwrap_or(usize::MAX);
        let Some(word) = self.words.get(first) else { return TERMINATED };
        let left = word & (u64::MAX << (target % 64));
        if left != 0 {
            return (target & !63) + left.trailing_zeros();
        }
        let rest = self.words.iter().enumerate().skip(first + 1);
        let found = rest.into_iter().find(|(_, word)| **word != 0);
        found.map_or(TERMINATED, |(at, word)| {
            DocId::try_from(at).unwrap_or(TERMINATED / 64) * 64 + word.trailing_zeros()
        })
    }
}

/// The documents of many tokens in one place.
pub(super) struct Set {
    pub(super) docs: Bits,
    pub(super) count: u64,
    pub(super) score: f32,
    pub(super) place: Place,
}

/// Documents that have one of several alternatives.
pub(super) struct Unit {
    pub(super) lists: Vec<List>,
    pub(super) runs: Vec<Run>,
    pub(super) sets: Vec<Set>,
    /// `None`: none was looked for yet.
    doc: Option<DocId>,
}

impl Unit {
    pub(super) fn new(lists: Vec<List>, runs: Vec<Run>, sets: Vec<Set>) -> Unit {
        Unit { lists, runs, sets, doc: None }
    }

    /// About how many documents there are.
    pub(super) fn cost(&self) -> u64 {
        let lists = self.lists.iter().map(|list| u64::from(list.postings.doc_freq()));
        let runs = self.runs.iter().map(Run::cost);
        lists.chain(runs).chain(self.sets.iter().map(|set| set.count)).sum()
    }

    /// Whether all that it says of a document is known when the document is found.
    pub(super) fn needs_no_positions(&self) -> bool {
        self.runs.is_empty()
    }

    /// The first document from `target` on.
    #[inline]
    pub(super) fn seek(&mut self, target: DocId, clock: &mut Clock) -> DocId {
        match self.doc {
            Some(doc) if doc >= target => doc,
            _ => {
                let doc = self.next(target, clock);
                self.doc = Some(doc);
                doc
            }
        }
    }

    fn next(&mut self, target: DocId, clock: &mut Clock) -> DocId {
        let mut least = TERMINATED;
        let mut has_ended = false;
        for list in &mut self.lists {
            let mut doc = list.postings.doc();
            if doc < target {
                doc = list.postings.seek(target);
            }
            has_ended |= doc == TERMINATED;
            least = least.min(doc);
        }
        if has_ended {
            self.lists.retain(|list| list.postings.doc() != TERMINATED);
        }
        for run in &mut self.runs {
            least = least.min(run.seek(target, clock));
        }
        for set in &self.sets {
            least = least.min(set.docs.seek(target));
        }
        least
    }

    /// Whether a document that was found really has one of the alternatives: where the tokens of a run stand is looked at
    /// last.
    pub(super) fn confirm(&mut self, doc: DocId) -> bool {
        self.doc == Some(doc)
            && (self.lists.iter().any(|list| list.postings.doc() == doc)
                || self.sets.iter().any(|set| set.docs.has(doc))
                || self.runs.iter_mut().any(|run| run.count(doc) > 0))
    }

    /// How well a document that was found fits: the best of the alternatives in each place.
    pub(super) fn score(&mut self, doc: DocId) -> f32 {
        let mut places = [0.0_f32; Place::ALL.len()];
        let mut offer = |place: Place, score: f32| {
            if let Some(best) = places.get_mut(place as usize) {
                *best = best.max(score);
            }
        };
        for list in &mut self.lists {
            if list.postings.doc() == doc {
                offer(list.place, list.score(doc));
            }
        }
        for run in &mut self.runs {
            let count = run.count(doc);
            if count > 0 {
                offer(run.place, run.weight.score(run.norms.fieldnorm_id(doc), count));
            }
        }
        for set in &self.sets {
            if set.docs.has(doc) {
                offer(set.place, set.score);
            }
        }
        blend(places.into_iter())
    }
}

/// Documents that a filter lets through.
pub(super) enum Gate {
    List(Box<SegmentPostings>),
    Bits(Bits),
    Any(Vec<Gate>),
    All(Vec<Gate>),
}

impl Gate {
    pub(super) fn nothing() -> Gate {
        Gate::Any(Vec::new())
    }

    /// What one of them lets through. Each candidate is looked for in every gate, so there are no more than needed.
    pub(super) fn any(mut gates: Vec<Gate>) -> Gate {
        gates.retain(|gate| !gate.is_nothing());
        one_or(gates, Gate::Any)
    }

    /// What all of them let through; there must be one.
    pub(super) fn all(gates: Vec<Gate>) -> Gate {
        if gates.iter().any(Gate::is_nothing) {
            return Gate::nothing();
        }
        one_or(gates, Gate::All)
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Gate::Any(gates) if gates.is_empty())
    }

    /// About how many documents there are.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Gate::List(postings) => u64::from(postings.doc_freq()),
            Gate::Bits(bits) => bits.count(),
            Gate::Any(gates) => gates.iter().map(Gate::cost).sum(),
            Gate::All(gates) => gates.iter().map(Gate::cost).min().unwrap_or(0),
        }
    }

    /// The first document from `target` on. Targets rise.
    pub(super) fn seek(&mut self, target: DocId, clock: &mut Clock) -> DocId {
        match self {
            Gate::List(postings) => {
                let doc = postings.doc();
                if doc < target { postings.seek(target) } else { doc }
            }
            Gate::Bits(bits) => bits.seek(target),
            Gate::Any(gates) => {
                gates.iter_mut().map(|gate| gate.seek(target, clock)).min().unwrap_or(TERMINATED)
            }
            Gate::All(gates) => {
                let mut target = target;
                while clock.step() {
                    let highest = gates.iter_mut().map(|gate| gate.seek(target, clock)).max();
                    match highest {
                        Some(highest) if highest > target => target = highest,
                        Some(_) => return target,
                        None => return TERMINATED,
                    }
                }
                TERMINATED
            }
        }
    }
}

/// The only gate, or all of them together.
fn one_or(mut gates: Vec<Gate>, together: impl FnOnce(Vec<Gate>) -> Gate) -> Gate {
    match gates.pop() {
        Some(gate) if gates.is_empty() => gate,
        last => {
            gates.extend(last);
            together(gates)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_no_more_than_needed() {
        let bits = |docs: &[DocId]| {
            let mut bits = Bits::new(100);
            docs.iter().for_each(|doc| bits.insert(*doc));
            Gate::Bits(bits)
        };
        let mut clock = Clock::until(Instant::now() + std::time::Duration::from_secs(3_600));
        let one = Gate::all(vec![Gate::any(vec![Gate::nothing(), bits(&[3, 9])])]);
        assert!(matches!(one, Gate::Bits(_)));
        assert!(Gate::all(vec![bits(&[3]), Gate::nothing()]).is_nothing());
        assert!(Gate::any(Vec::new()).is_nothing() && !bits(&[]).is_nothing());
        let mut two = Gate::all(vec![bits(&[3, 9, 40]), Gate::any(vec![bits(&[9]), bits(&[40])])]);
        let found = [0, 4, 10, 41].map(|target| two.seek(target, &mut clock));
        assert_eq!(found, [9, 9, 40, TERMINATED]);
    }

    #[test]
    fn bits_are_found_again() {
        let mut bits = Bits::new(300);
        for doc in [0, 63, 64, 200, 299, 200] {
            bits.insert(doc);
        }
        assert_eq!(bits.count(), 5);
        assert_eq!(bits.range(63, 299).collect::<Vec<_>>(), [63, 64, 200]);
        assert_eq!(bits.range(64, 9_999).collect::<Vec<_>>(), [64, 200, 299]);
        for (target, wanted) in [
            (0, 0),
            (1, 63),
            (64, 64),
            (65, 200),
            (201, 299),
            (300, TERMINATED),
            (9_999, TERMINATED),
        ] {
            assert_eq!(bits.seek(target), wanted, "{target}");
        }
    }

    #[test]
    fn common_positions_are_kept() {
        let mut left = vec![1, 4, 6, 9];
        keep_common(&mut left, &[0, 4, 5, 9, 10]);
        assert_eq!(left, [4, 9]);
        keep_common(&mut left, &[]);
        assert!(left.is_empty());
    }

    #[test]
    fn time_is_up_after_the_deadline() {
        let mut clock = Clock::until(Instant::now());
        assert!((0..=STEPS_PER_LOOK).any(|_| !clock.step()));
        assert!(clock.is_up() && !clock.step());
    }
}
