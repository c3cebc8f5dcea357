//! Carries a plan out, segment by segment: counts what matches and keeps the best.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, SegmentReader, TERMINATED};

use super::exact::Closeness;
use super::filter::{Filters, SegmentFilters};
use super::plan::{Plan, PlannedNames, io_failed, read_failed};
use super::postings::{Clock, Gate, Unit};
use super::rank::{Class, FEW_WORDS_MAX, Rank, Ranked, Top};
use super::request::SearchSort;
use super::schema::Fields;
use super::snapshot::OpenSegment;
use super::window::Window;
use crate::error::Result;

/// A word is gone through in windows while no filter lets less than one of so many of its documents through.
const WINDOW_SHARE: u64 = 4;
/// From so many documents in a window on, many are looked at together.
const DENSE_MIN: u32 = 128;

/// Of more words than these a query is a sentence.
const LISTED_WORDS_MAX: usize = 10;

/// How many of the words a document must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    AllWords,
    /// At least so many.
    AtLeast(usize),
}

/// What was found so far.
pub(super) struct Found {
    pub(super) top: Top,
    pub(super) total: u64,
    /// Some prefix stands for more words than were looked at.
    pub(super) is_prefix_cut: bool,
    /// Some document that was found has a word only as one that is spelled much like it.
    pub(super) has_similar: bool,
    /// For the next segment.
    window: Window,
}

impl Found {
    pub(super) fn new(top: Top) -> Found {
        let window = Window::default();
        Found { top, total: 0, is_prefix_cut: false, has_similar: false, window }
    }
}

/// What is the same for all segments.
pub(super) struct Execution<'a> {
    pub(super) fields: &'a Fields,
    pub(super) plan: &'a Plan,
    pub(super) filters: &'a Filters<'a>,
    pub(super) wanted: Wanted,
    pub(super) sort: SearchSort,
}

impl<'a> Execution<'a> {
    /// Looks through a segment until its end or until time is up.
    pub(super) fn segment(
        &self,
        (ordinal, open): (usize, &'a OpenSegment),
        found: &mut Found,
        clock: &mut Clock,
    ) -> Result<()> {
        let open_all =
            |units: &[super::plan::PlannedUnit], clock: &mut Clock, found: &mut Found| {
                let mut opened = Vec::with_capacity(units.len());
                for unit in units {
                    let (unit, is_cut) = unit.open((ordinal, open), self.fields, clock)?;
                    found.is_prefix_cut |= is_cut;
                    opened.push(unit);
                }
                Ok::<_, crate::error::Error>(opened)
            };
        let required = open_all(&self.plan.required, clock, found)?;
        let excluded = open_all(&self.plan.excluded, clock, found)?;
        let mut words = Vec::with_capacity(self.plan.words.len());
        for word in &self.plan.words {
            let (typed, is_cut) = word.typed.open((ordinal, open), self.fields, clock)?;
            found.is_prefix_cut |= is_cut;
            let similar = match &word.similar {
                Some(similar) => Some(similar.open((ordinal, open), self.fields, clock)?.0),
                None => None,
            };
            let importance = word.typed.importance();
            words.push(WordRow { typed, similar, importance });
        }
        let preferred = open_all(&self.plan.preferred, clock, found)?;
        let mut filters = self.filters.open(open, self.fields, clock)?;
        found.is_prefix_cut |= filters.is_cut;
        let rows = rows(required, std::mem::take(&mut filters.gates));
        let segment = Segment {
            ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX),
            open,
            filters,
            excluded,
            preferred,
            named: self.names((ordinal, &open.reader), &self.plan.names)?,
            similarly_named: self.names((ordinal, &open.reader), &self.plan.similar_names)?,
            sort: self.sort,
        };
        match self.wanted {
            Wanted::AllWords => match one_word(words, &rows) {
                Ok(word) => segment.one_word(word, rows, found, clock),
                Err(words) => segment.all_words(words, rows, found, clock),
            },
            Wanted::AtLeast(count) => segment.most_words(words, rows, count, found, clock),
        }
    }

    fn names(
        &self,
        (ordinal, reader): (usize, &SegmentReader),
        planned: &PlannedNames,
    ) -> Result<Names> {
        let mut by_closeness: Vec<(Closeness, Vec<Gate>)> = Vec::new();
        if !planned.is_empty() {
            let index = reader.inverted_index(self.fields.exact).map_err(read_failed)?;
            for (closeness, terms) in planned {
                let Some(Some(term)) = terms.get(ordinal) else { continue };
                let postings = index.read_postings_from_terminfo(term, IndexRecordOption::Basic);
                let gate = Gate::List(Box::new(postings.map_err(io_failed)?));
                match by_closeness.iter_mut().find(|(known, _)| known == closeness) {
                    Some((_, gates)) => gates.push(gate),
                    None => by_closeness.push((*closeness, vec![gate])),
                }
            }
        }
        by_closeness.sort_unstable_by_key(|(closeness, _)| std::cmp::Reverse(*closeness));
        let gates =
            by_closeness.into_iter().map(|(closeness, gates)| (closeness, Gate::any(gates)));
        Ok(Names(gates.collect()))
    }
}

/// The resources of a segment that are called so, the closest names first.
struct Names(Vec<(Closeness, Gate)>);

impl Names {
    #[inline]
    fn of(&mut self, doc: DocId, clock: &mut Clock) -> Closeness {
        let found = self
            .0
            .iter_mut()
            .find_map(|(closeness, gate)| (gate.seek(doc, clock) == doc).then_some(*closeness));
        found.unwrap_or(0)
    }

    /// Whether no document from `begin` on, and before `end`, is called so.
    fn are_none_in(&mut self, begin: DocId, end: DocId, clock: &mut Clock) -> bool {
        self.0.iter_mut().all(|(_, gate)| gate.seek(begin, clock) >= end)
    }
}

/// A word in a segment.
struct WordRow {
    typed: Unit,
    similar: Option<Unit>,
    importance: f32,
}

/// Something that every hit has.
enum Row {
    Scored(Box<Unit>),
    Plain(Gate),
}

impl Row {
    fn cost(&self) -> u64 {
        match self {
            Row::Scored(unit) => unit.cost(),
            Row::Plain(gate) => gate.cost(),
        }
    }

    #[inline]
    fn seek(&mut self, target: DocId, clock: &mut Clock) -> DocId {
        match self {
            Row::Scored(unit) => unit.seek(target, clock),
            Row::Plain(gate) => gate.seek(target, clock),
        }
    }

    fn confirm(&mut self, doc: DocId) -> bool {
        match self {
            Row::Scored(unit) => unit.confirm(doc),
            Row::Plain(_) => true,
        }
    }

    fn score(&mut self, doc: DocId) -> f32 {
        match self {
            Row::Scored(unit) => unit.score(doc),
            Row::Plain(_) => 0.0,
        }
    }
}

fn rows(required: Vec<Unit>, gates: Vec<Gate>) -> Vec<Row> {
    required
        .into_iter()
        .map(|unit| Row::Scored(Box::new(unit)))
        .chain(gates.into_iter().map(Row::Plain))
        .collect()
}

/// The only word, if most of its documents may be hits; else the words.
fn one_word(mut words: Vec<WordRow>, rows: &[Row]) -> Result<Box<Unit>, Vec<WordRow>> {
    let is_alone = words.len() == 1
        && words.iter().all(|word| {
            let cost = word.typed.cost();
            word.typed.needs_no_positions()
                && rows.iter().all(|row| row.cost().saturating_mul(WINDOW_SHARE) >= cost)
        });
    match words.pop() {
        Some(word) if is_alone => Ok(Box::new(word.typed)),
        last => {
            words.extend(last);
            Err(words)
        }
    }
}

/// The first document from `target` on that is in all rows; rows must not be empty.
fn seek_all(rows: &mut [Row], target: DocId, clock: &mut Clock) -> DocId {
    let Some((lead, others)) = rows.split_first_mut() else { return target };
    let mut target = target;
    'candidates: while clock.step() {
        let doc = lead.seek(target, clock);
        if doc == TERMINATED {
            break;
        }
        for other in &mut *others {
            let at = other.seek(doc, clock);
            if at > doc {
                target = at;
                continue 'candidates;
            }
        }
        return doc;
    }
    TERMINATED
}

/// A segment, open to be searched.
struct Segment<'a> {
    ordinal: u32,
    open: &'a OpenSegment,
    filters: SegmentFilters<'a>,
    excluded: Vec<Unit>,
    preferred: Vec<Unit>,
    named: Names,
    similarly_named: Names,
    sort: SearchSort,
}

impl Segment<'_> {
    fn one_word(
        mut self,
        mut word: Box<Unit>,
        mut rows: Vec<Row>,
        found: &mut Found,
        clock: &mut Clock,
    ) -> Result<()> {
        let mut window = std::mem::take(&mut found.window);
        let class = Class { words: 1, typed_words: 1, ..Class::default() };
        let takes_all = rows.is_empty() && self.takes_all();
        let mut target = 0;
        while !clock.is_up() && window.fill(&mut word, target, clock) {
            let begin = target;
            target = window.end();
            if takes_all
                && window.count() >= DENSE_MIN
                && self.named.are_none_in(begin, target, clock)
            {
                found.total += u64::from(window.count());
                window.drain_best(
                    &mut *found,
                    |found| found.top.least_score(class),
                    |found, doc, score| self.offer(doc, class, found, clock, || score),
                );
                continue;
            }
            while let Some((doc, of_word)) = window.next() {
                let is_hit = rows.iter_mut().all(|row| row.seek(doc, clock) == doc)
                    && self.is_wanted(doc, clock)?
                    && rows.iter_mut().all(|row| row.confirm(doc));
                if is_hit {
                    found.total += 1;
                    self.offer(doc, class, found, clock, || {
                        of_word + rows.iter_mut().map(|row| row.score(doc)).sum::<f32>()
                    });
                }
            }
        }
        found.window = window;
        Ok(())
    }

    fn all_words(
        mut self,
        words: Vec<WordRow>,
        mut rows: Vec<Row>,
        found: &mut Found,
        clock: &mut Clock,
    ) -> Result<()> {
        let count = u8::try_from(words.len()).unwrap_or(u8::MAX);
        rows.extend(words.into_iter().map(|word| Row::Scored(Box::new(word.typed))));
        rows.sort_by_key(Row::cost);
        let mut target = 0;
        while target < self.open.reader.max_doc() && clock.step() {
            let doc = seek_all(&mut rows, target, clock);
            if doc == TERMINATED {
                break;
            }
            target = doc + 1;
            if !self.is_wanted(doc, clock)? || !rows.iter_mut().all(|row| row.confirm(doc)) {
                continue;
            }
            found.total += 1;
            let class = Class { words: count, typed_words: count, ..Class::default() };
            self.offer(doc, class, found, clock, || {
                rows.iter_mut().map(|row| row.score(doc)).sum()
            });
        }
        Ok(())
    }

    fn most_words(
        mut self,
        mut words: Vec<WordRow>,
        mut rows: Vec<Row>,
        wanted: usize,
        found: &mut Found,
        clock: &mut Clock,
    ) -> Result<()> {
        rows.sort_by_key(Row::cost);
        let mut target = 0;
        while target < self.open.reader.max_doc() && clock.step() {
            let doc = next_with(&mut words, wanted, target, clock);
            if doc == TERMINATED {
                break;
            }
            let doc_of_rows = seek_all(&mut rows, doc, clock);
            if doc_of_rows > doc {
                target = doc_of_rows;
                continue;
            }
            target = doc + 1;
            if !self.is_wanted(doc, clock)? {
                continue;
            }
            let typed = words.iter_mut().filter_map(|word| word.typed.confirm(doc).then_some(()));
            let typed = typed.count();
            let similar = words.iter_mut().filter_map(|word| {
                let is_similar = word.similar.as_mut().is_some_and(|unit| unit.confirm(doc));
                (is_similar && !word.typed.confirm(doc)).then_some(())
            });
            let all = typed + similar.count();
            if all < wanted || !rows.iter_mut().all(|row| row.confirm(doc)) {
                continue;
            }
            found.total += 1;
            found.has_similar |= all > typed;
            let is_preferred = !self.preferred.is_empty()
                && self
                    .preferred
                    .iter_mut()
                    .all(|unit| unit.seek(doc, clock) == doc && unit.confirm(doc));
            let mut class = Class::of_words(words.len(), all, typed);
            if is_preferred {
                class.typed_words = u8::MAX;
            }
            self.offer(doc, class, found, clock, || {
                let of_rows: f32 = rows.iter_mut().map(|row| row.score(doc)).sum();
                of_rows + score_of_words(&mut words, doc)
            });
        }
        Ok(())
    }

    /// Whether every document passes, and counts as its words say.
    fn takes_all(&self) -> bool {
        self.excluded.is_empty()
            && self.filters.let_all_through()
            && self.sort == SearchSort::Relevance
    }

    /// Whether a document passes all that is neither a word nor a list.
    #[inline]
    fn is_wanted(&mut self, doc: DocId, clock: &mut Clock) -> Result<bool> {
        Ok(self.filters.passes(doc, clock)?
            && !self
                .excluded
                .iter_mut()
                .any(|unit| unit.seek(doc, clock) == doc && unit.confirm(doc)))
    }

    #[inline]
    fn offer(
        &mut self,
        doc: DocId,
        class: Class,
        found: &mut Found,
        clock: &mut Clock,
        score: impl FnOnce() -> f32,
    ) {
        let (class, score) = match self.sort {
            SearchSort::Recent => (Class::default(), 0.0),
            SearchSort::Relevance => {
                let named = self.named.of(doc, clock);
                let similarly_named = self.similarly_named.of(doc, clock);
                let is_named = named > 0 || similarly_named > 0;
                let priority = if is_named { self.priority(doc) } else { 0 };
                (Class { named, similarly_named, priority, ..class }, score())
            }
        };
        if found.top.may_take(class, score) {
            let priority = match self.sort {
                SearchSort::Recent => 0,
                SearchSort::Relevance => self.priority(doc),
            };
            let mut rank = Rank::new(class, score);
            rank.priority = priority;
            rank.modified = self.open.modified.get_val(doc);
            rank.uri_hash = self.open.uri_hash.get_val(doc);
            found.top.offer(Ranked { rank, segment: self.ordinal, doc });
        }
    }

    fn priority(&self, doc: DocId) -> u16 {
        u16::try_from(self.open.priority.get_val(doc)).unwrap_or(u16::MAX)
    }
}

impl WordRow {
    fn seek(&mut self, target: DocId, clock: &mut Clock) -> DocId {
        let typed = self.typed.seek(target, clock);
        match &mut self.similar {
            Some(similar) => typed.min(similar.seek(target, clock)),
            None => typed,
        }
    }

    fn score(&mut self, doc: DocId) -> f32 {
        let similar = self.similar.as_mut().map_or(0.0, |unit| unit.score(doc));
        self.typed.score(doc).max(similar)
    }
}

/// The score of the words that a document has. Of several words it counts as much as the words tell that are there: else a
/// document that often has two of ten words would be better than one that has nine of them. Of a sentence it does not, most
/// of whose words tell nothing.
fn score_of_words(words: &mut [WordRow], doc: DocId) -> f32 {
    let is_list = (FEW_WORDS_MAX + 1..=LISTED_WORDS_MAX).contains(&words.len());
    let (mut score, mut there, mut all) = (0.0, 0.0, 0.0);
    for word in words {
        let of_word = word.score(doc);
        score += of_word;
        all += word.importance;
        if of_word > 0.0 {
            there += word.importance;
        }
    }
    if is_list && all > 0.0 { score * there / all } else { score }
}

/// The first document from `target` on that has `wanted` of the words.
fn next_with(words: &mut [WordRow], wanted: usize, target: DocId, clock: &mut Clock) -> DocId {
    let mut target = target;
    let mut docs: Vec<DocId> = Vec::with_capacity(words.len());
    while clock.step() {
        docs.clear();
        docs.extend(words.iter_mut().map(|word| word.seek(target, clock)));
        docs.sort_unstable();
        // No document before this one can have enough of them.
        let Some(pivot) = docs.get(wanted.saturating_sub(1)).copied() else { return TERMINATED };
        if docs.first() == Some(&pivot) || pivot == TERMINATED {
            return pivot;
        }
        target = pivot;
    }
    TERMINATED
}
