//! A query, planned for the segments that are searched: its tokens are looked up, its words are weighed.

use std::ops::Deref;
use std::sync::Arc;

use tantivy::postings::TermInfo;
use tantivy::query::Bm25Weight;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Term};

use super::asked::{Alternative, Asked, Expression, Word};
use super::commit::failed;
use super::exact::{self, Closeness, NameTerms, NamedBy};
use super::expand;
use super::postings::{Clock, List, Run, Set, Unit};
use super::schema::{Fields, Place};
use super::snapshot::{OpenSegment, Snapshot};
use crate::error::{Error, Result};

/// How much a place counts, in the order of [`Place::ALL`].
const PLACE_BOOSTS: [f32; 3] = [1.2, 0.5, 1.0];
/// Runs of more tokens are looked for by their first ones.
const RUN_TOKENS_MAX: usize = 64;
/// A variable's value that more resources have names none of them: a year, a team.
const VALUE_RESOURCES_MAX: u64 = 100;

/// What is to be looked for in every segment.
pub(super) struct Plan {
    pub(super) words: Vec<PlannedWord>,
    pub(super) required: Vec<PlannedUnit>,
    pub(super) excluded: Vec<PlannedUnit>,
    /// Documents that have all of them come before others.
    pub(super) preferred: Vec<PlannedUnit>,
    /// Documents that are called as the whole query is.
    pub(super) names: PlannedNames,
    /// Documents that are called much like it.
    pub(super) similar_names: PlannedNames,
}

/// The terms of names in each segment, with the closeness of the documents that have them.
pub(super) type PlannedNames = Vec<(Closeness, Vec<Option<TermInfo>>)>;

/// A word, as it was typed and with what is spelled much like it.
pub(super) struct PlannedWord {
    pub(super) typed: PlannedUnit,
    /// `None`: was not looked for, or there is nothing.
    pub(super) similar: Option<PlannedUnit>,
}

/// Alternatives, looked up. Where there are term infos, there is one for each segment.
///
/// All forms of a word weigh as if they were in as many documents as the most frequent one: what is rare for being spelled
/// oddly tells no more than the word.
#[derive(Default)]
pub(super) struct PlannedUnit {
    /// In so many documents the word counts as being.
    documents: u64,
    importance: f32,
    lists: Vec<PlannedList>,
    runs: Vec<PlannedRun>,
    beginnings: Vec<(Place, String)>,
}

struct PlannedList {
    place: Place,
    terms: Vec<Option<TermInfo>>,
    /// How much it counts beside other forms.
    share: f32,
    weight: Arc<Bm25Weight>,
}

struct PlannedRun {
    place: Place,
    tokens: RunTokens,
    share: f32,
    weight: Arc<Bm25Weight>,
}

/// The forms of a word that were found, each with its share, and in how many documents the most frequent one is.
#[derive(Default)]
struct Forms {
    tokens: Vec<(Place, Vec<Option<TermInfo>>, f32)>,
    runs: Vec<(Place, RunTokens, f32)>,
    beginnings: Vec<(Place, String)>,
    documents: u64,
    documents_of_runs: u64,
}

/// The tokens of a run in each segment, with their positions.
type RunTokens = Vec<(Vec<Option<TermInfo>>, u32)>;

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
        let names = asked.whole.as_ref().map(exact::typed_terms).unwrap_or_default();
        Ok(Plan {
            words: words.collect::<Result<_>>()?,
            required: units(&asked.required)?,
            excluded: units(&asked.excluded)?,
            preferred: units(&asked.preferred)?,
            names: self.names(names)?,
            similar_names: Vec::new(),
        })
    }

    /// Adds to each word what is spelled much like it, and returns what that is with the numbers of the clauses.
    pub(super) fn add_similar(
        &self,
        plan: &mut Plan,
        words: &[Word],
        clock: &mut Clock,
    ) -> Result<Vec<(usize, String)>> {
        let is_alone = words.len() == 1 && plan.required.is_empty();
        let mut all = Vec::new();
        for (word, planned) in words.iter().zip(&mut plan.words) {
            let Some(typed) = &word.typed else { continue };
            let places = (self.fields, &*word.expression.places);
            let found = expand::similar(&self.snapshot.searcher, places, typed, clock)?;
            let most = found.iter().map(|token| token.documents).max().unwrap_or(0);
            let mut similar = PlannedUnit { documents: most, ..PlannedUnit::default() };
            for token in found {
                if is_alone && token.places.iter().any(|(place, _)| *place != Place::Text) {
                    let names = exact::similar_terms(&token.text, token.is_one_edit);
                    plan.similar_names.extend(self.names(names)?);
                }
                let share = token.weight(most);
                for (place, terms) in token.places {
                    let weight = self.weigh(place, most, share);
                    similar.lists.push(PlannedList { place, terms, share, weight });
                }
                all.push((word.clause, token.text));
            }
            if !similar.lists.is_empty() {
                let documents = planned.typed.documents.max(most);
                self.weigh_all(&mut planned.typed, documents);
                if documents > most {
                    self.weigh_all(&mut similar, documents);
                }
                planned.similar = Some(similar);
            }
        }
        Ok(all)
    }

    /// The names that some resource has.
    fn names(&self, terms: NameTerms) -> Result<PlannedNames> {
        let mut names = Vec::new();
        for (by, closeness, text) in terms {
            let term = Term::from_field_text(self.fields.exact, &text);
            let found = self.look_up(&term, |segment| {
                segment.reader.inverted_index(self.fields.exact).map_err(read_failed)
            })?;
            let Some((terms, documents)) = found else { continue };
            if by != NamedBy::Value || documents <= VALUE_RESOURCES_MAX {
                names.push((closeness, terms));
            }
        }
        Ok(names)
    }

    fn unit(&self, expression: &Expression) -> Result<PlannedUnit> {
        let mut found = Forms::default();
        for alternative in &expression.alternatives {
            for place in &expression.places {
                self.look_for(&mut found, *place, alternative)?;
            }
        }
        // How many documents have a run is known for certain of its whole alone.
        let documents = if found.documents > 0 { found.documents } else { found.documents_of_runs };
        let lists = found.tokens.into_iter().map(|(place, terms, share)| PlannedList {
            place,
            terms,
            share,
            weight: self.weigh(place, documents, share),
        });
        let runs = found.runs.into_iter().map(|(place, tokens, share)| PlannedRun {
            place,
            tokens,
            share,
            weight: self.weigh(place, documents, share),
        });
        Ok(PlannedUnit {
            documents,
            importance: inverse_frequency(documents, self.snapshot.documents),
            lists: lists.collect(),
            runs: runs.collect(),
            beginnings: found.beginnings,
        })
    }

    fn look_for(&self, found: &mut Forms, place: Place, alternative: &Alternative) -> Result<()> {
        match alternative {
            Alternative::Token { text, weight } => {
                if let Some((terms, documents)) = self.look_up_in(place, text)? {
                    found.documents = documents.max(found.documents);
                    found.tokens.push((place, terms, *weight));
                }
            }
            Alternative::Run { tokens, weight } => {
                let mut run = Vec::with_capacity(tokens.len());
                let mut rarest = u64::MAX;
                for (position, text) in tokens.iter().take(RUN_TOKENS_MAX) {
                    let Some((terms, documents)) = self.look_up_in(place, text)? else {
                        return Ok(());
                    };
                    rarest = rarest.min(documents);
                    run.push((terms, *position));
                }
                if !run.is_empty() {
                    found.documents_of_runs = rarest.max(found.documents_of_runs);
                    found.runs.push((place, run, *weight));
                }
            }
            Alternative::Beginning { text } => found.beginnings.push((place, text.clone())),
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

    /// Weighs all forms of a word as if each were in so many documents.
    fn weigh_all(&self, unit: &mut PlannedUnit, documents: u64) {
        unit.documents = documents;
        unit.importance = inverse_frequency(documents, self.snapshot.documents);
        for list in &mut unit.lists {
            list.weight = self.weigh(list.place, documents, list.share);
        }
        for run in &mut unit.runs {
            run.weight = self.weigh(run.place, documents, run.share);
        }
    }

    fn weigh(&self, place: Place, documents: u64, share: f32) -> Arc<Bm25Weight> {
        let average = self.snapshot.average_lengths.get(place as usize).copied().unwrap_or(1.0);
        let boost = boost(place) * share;
        // A token cannot be in more documents than there are, whatever a damaged file says.
        let all = self.snapshot.documents;
        let documents = documents.min(all);
        let weight = Bm25Weight::for_one_term_without_explain(documents, all, average);
        Arc::new(weight.boost_by(boost))
    }
}

/// BM25's weight of a word that is in so many of all documents.
fn inverse_frequency(documents: u64, all: u64) -> f32 {
    let (all, documents) = (all as f32, documents.min(all) as f32);
    ((all - documents + 0.5) / (documents + 0.5)).ln_1p()
}

pub(super) fn boost(place: Place) -> f32 {
    PLACE_BOOSTS.get(place as usize).copied().unwrap_or(1.0)
}

impl PlannedUnit {
    /// How much it tells that a document has the word.
    pub(super) fn importance(&self) -> f32 {
        self.importance
    }

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
