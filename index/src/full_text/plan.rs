//! A query, planned for the segments that are searched: its tokens are looked up, its words are weighed.

use std::ops::Deref;
use std::sync::Arc;

use tantivy::postings::TermInfo;
use tantivy::query::Bm25Weight;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Term};

use super::asked::{Alternative, Asked, Expression, Word};
use super::commit::failed;
use super::expand;
use super::postings::{Clock, List, Run, Set, Unit};
use super::schema::{Fields, Place};
use super::snapshot::{OpenSegment, Snapshot};
use crate::error::{Error, Result};

/// How much a place counts, in the order of [`Place::ALL`].
const PLACE_BOOSTS: [f32; 3] = [1.2, 0.5, 1.0];
/// Runs of more tokens are looked for by their first ones.
const RUN_TOKENS_MAX: usize = 64;

/// What is to be looked for in every segment.
pub(super) struct Plan {
    pub(super) words: Vec<PlannedWord>,
    pub(super) required: Vec<PlannedUnit>,
    pub(super) excluded: Vec<PlannedUnit>,
    /// Documents that have all of them come before others.
    pub(super) preferred: Vec<PlannedUnit>,
    /// Documents whose title is the whole query.
    pub(super) exact_title: Option<Vec<Option<TermInfo>>>,
}

/// A word, as it was typed and with what is spelled much like it.
pub(super) struct PlannedWord {
    pub(super) typed: PlannedUnit,
    /// `None`: was not looked for, or there is nothing.
    pub(super) similar: Option<PlannedUnit>,
}

/// Alternatives, looked up. Where there are term infos, there is one for each segment.
#[derive(Default)]
pub(super) struct PlannedUnit {
    lists: Vec<PlannedList>,
    runs: Vec<PlannedRun>,
    beginnings: Vec<(Place, String)>,
}

struct PlannedList {
    place: Place,
    terms: Vec<Option<TermInfo>>,
    weight: Arc<Bm25Weight>,
}

struct PlannedRun {
    place: Place,
    tokens: Vec<(Vec<Option<TermInfo>>, u32)>,
    weight: Arc<Bm25Weight>,
}

/// A term in each segment, and in how many documents it is.
type LookedUp = (Vec<Option<TermInfo>>, u64);

/// Looks tokens up and weighs them.
pub(super) struct Planner<'s> {
    snapshot: &'s Snapshot,
    fields: &'s Fields,
}

impl<'s> Planner<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, fields: &'s Fields) -> Planner<'s> {
        Planner { snapshot, fields }
    }

    pub(super) fn plan(&self, asked: &Asked) -> Result<Plan> {
        let units = |expressions: &[Expression]| {
            expressions.iter().map(|expression| self.unit(expression)).collect::<Result<_>>()
        };
        let words = asked
            .words
            .iter()
            .map(|word| Ok(PlannedWord { typed: self.unit(&word.expression)?, similar: None }));
        let exact_title = match &asked.whole {
            Some(whole) => {
                let term = Term::from_field_text(self.fields.title_exact, whole);
                self.look_up(&term, |segment| {
                    segment.reader.inverted_index(self.fields.title_exact).map_err(read_failed)
                })?
            }
            None => None,
        };
        Ok(Plan {
            words: words.collect::<Result<_>>()?,
            required: units(&asked.required)?,
            excluded: units(&asked.excluded)?,
            preferred: units(&asked.preferred)?,
            exact_title: exact_title.map(|(terms, _)| terms),
        })
    }

    /// Adds to each word what is spelled much like it, and returns what that is with the numbers of the clauses.
    pub(super) fn add_similar(
        &self,
        plan: &mut Plan,
        words: &[Word],
        clock: &mut Clock,
    ) -> Result<Vec<(usize, String)>> {
        let mut all = Vec::new();
        for (word, planned) in words.iter().zip(&mut plan.words) {
            let Some(typed) = &word.typed else { continue };
            let mut similar = PlannedUnit::default();
            for place in &word.expression.places {
                let found =
                    expand::similar(&self.snapshot.searcher, self.fields.of(*place), typed, clock)?;
                for expand::Similar { text, terms, documents } in found {
                    let weight = self.weigh(*place, documents, expand::SIMILAR_WEIGHT);
                    similar.lists.push(PlannedList { place: *place, terms, weight });
                    all.push((word.clause, text));
                }
            }
            if !similar.lists.is_empty() {
                planned.similar = Some(similar);
            }
        }
        Ok(all)
    }

    fn unit(&self, expression: &Expression) -> Result<PlannedUnit> {
        let mut unit = PlannedUnit::default();
        for alternative in &expression.alternatives {
            if let Alternative::Token { text, weight } = alternative {
                self.add_token(&mut unit, &expression.places, (text, *weight))?;
                continue;
            }
            for place in &expression.places {
                self.add(&mut unit, *place, alternative)?;
            }
        }
        Ok(unit)
    }

    /// A token tells as much as where it is most frequent: a common word that few titles have is a common word all the same.
    fn add_token(
        &self,
        unit: &mut PlannedUnit,
        places: &[Place],
        (text, weight): (&str, f32),
    ) -> Result<()> {
        let mut found = Vec::with_capacity(places.len());
        for place in places {
            found.extend(
                self.look_up_in(*place, text)?.map(|(terms, documents)| (*place, terms, documents)),
            );
        }
        let documents = found.iter().map(|(.., documents)| *documents).max().unwrap_or(0);
        for (place, terms, _) in found {
            let weight = self.weigh(place, documents, weight);
            unit.lists.push(PlannedList { place, terms, weight });
        }
        Ok(())
    }

    fn add(&self, unit: &mut PlannedUnit, place: Place, alternative: &Alternative) -> Result<()> {
        match alternative {
            Alternative::Token { text, weight } => {
                self.add_token(unit, &[place], (text, *weight))?;
            }
            Alternative::Run { tokens, weight } => {
                let mut found = Vec::with_capacity(tokens.len());
                let mut rarest = u64::MAX;
                for (position, text) in tokens.iter().take(RUN_TOKENS_MAX) {
                    let Some((terms, documents)) = self.look_up_in(place, text)? else {
                        return Ok(());
                    };
                    rarest = rarest.min(documents);
                    found.push((terms, *position));
                }
                if !found.is_empty() {
                    let weight = self.weigh(place, rarest, *weight);
                    unit.runs.push(PlannedRun { place, tokens: found, weight });
                }
            }
            Alternative::Beginning { text } => unit.beginnings.push((place, text.clone())),
        }
        Ok(())
    }

    /// A token of a place; see [`Planner::look_up`].
    fn look_up_in(&self, place: Place, text: &str) -> Result<Option<LookedUp>> {
        let term = Term::from_field_text(self.fields.of(place), text);
        self.look_up(&term, |segment| Ok(segment.words(place)))
    }

    /// The term in each segment, and in how many documents it is; `None`: in none.
    fn look_up<I: Deref<Target = InvertedIndexReader>>(
        &self,
        term: &Term,
        index: impl Fn(&'s OpenSegment) -> Result<I>,
    ) -> Result<Option<LookedUp>> {
        let mut documents = 0;
        let mut terms = Vec::with_capacity(self.snapshot.segments.len());
        for segment in &self.snapshot.segments {
            let found = index(segment)?.get_term_info(term);
            let found = found.map_err(|source| read_failed(source.into()))?;
            documents += found.as_ref().map_or(0, |found| u64::from(found.doc_freq));
            terms.push(found);
        }
        Ok((documents > 0).then_some((terms, documents)))
    }

    fn weigh(&self, place: Place, documents: u64, weight: f32) -> Arc<Bm25Weight> {
        let average = self.snapshot.average_lengths.get(place as usize).copied().unwrap_or(1.0);
        let boost = boost(place) * weight;
        // A token cannot be in more documents than there are, whatever a damaged file says.
        let all = self.snapshot.documents;
        let documents = documents.min(all);
        let weight = Bm25Weight::for_one_term_without_explain(documents, all, average);
        Arc::new(weight.boost_by(boost))
    }
}

pub(super) fn boost(place: Place) -> f32 {
    PLACE_BOOSTS.get(place as usize).copied().unwrap_or(1.0)
}

impl PlannedUnit {
    /// Opens the lists of a segment. What beginnings stand for is looked up here; true: not all of it was.
    pub(super) fn open(
        &self,
        (ordinal, segment): (usize, &OpenSegment),
        fields: &Fields,
        clock: &mut Clock,
    ) -> Result<(Unit, bool)> {
        let mut lists = Vec::with_capacity(self.lists.len());
        for list in &self.lists {
            let Some(Some(term)) = list.terms.get(ordinal) else { continue };
            let index = segment.words(list.place);
            let postings = index.read_postings_from_terminfo(term, IndexRecordOption::WithFreqs);
            lists.push(List {
                postings: postings.map_err(io_failed)?,
                norms: segment.norms(list.place),
                weight: Arc::clone(&list.weight),
                place: list.place,
            });
        }
        let mut runs = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let index = segment.words(run.place);
            let mut tokens = Vec::with_capacity(run.tokens.len());
            for (terms, position) in &run.tokens {
                let Some(Some(term)) = terms.get(ordinal) else { break };
                let option = IndexRecordOption::WithFreqsAndPositions;
                let postings = index.read_postings_from_terminfo(term, option);
                tokens.push((postings.map_err(io_failed)?, *position));
            }
            if tokens.len() == run.tokens.len() {
                let norms = segment.norms(run.place);
                runs.push(Run::new(tokens, (norms, Arc::clone(&run.weight), run.place)));
            }
        }
        let mut sets = Vec::new();
        let mut is_cut = false;
        for (place, beginning) in &self.beginnings {
            let (docs, cut) =
                expand::beginning(&segment.reader, fields.of(*place), beginning, clock)?;
            is_cut |= cut;
            let count = docs.count();
            if count > 0 {
                sets.push(Set { docs, count, score: boost(*place), place: *place });
            }
        }
        Ok((Unit::new(lists, runs, sets), is_cut))
    }
}

pub(super) fn read_failed(source: tantivy::TantivyError) -> Error {
    failed("read", source)
}

pub(super) fn io_failed(source: std::io::Error) -> Error {
    failed("read", source.into())
}
