//! One search, from what was typed to the page.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::FullText;
use super::asked::Asked;
use super::cursor::{self, Position, Relaxed};
use super::execute::{Execution, Found, Wanted};
use super::filter::Filters;
use super::page;
use super::plan::{Plan, Planner};
use super::postings::Clock;
use super::query::{KnownFields, parse};
use super::rank::{FEW_WORDS_MAX, Ranked, Top};
use super::request::{
    FullTextProgress, FullTextStats, HITS_MAX, SearchNote, SearchPage, SearchRequest,
};
use super::snapshot::Snapshot;
use super::snippet::Wanted as WantedWords;
use crate::catalog::SpaceCatalog;
use crate::cursor::SECRET_BYTES;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;

/// With fewer hits than this, words may be misspelled.
const FEW_HITS: u64 = 3;
/// No search takes longer, whatever is asked.
const TIME_MAX: Duration = Duration::from_secs(60);

impl Shared {
    pub(crate) fn full_text_progress(&self) -> Option<FullTextProgress> {
        let newest = self.log_range().newest;
        self.full_text.as_ref().map(|full_text| full_text.progress(newest))
    }

    pub(crate) fn full_text_stats(&self) -> Option<FullTextStats> {
        let newest = self.log_range().newest;
        self.full_text.as_ref().map(|full_text| full_text.stats(newest))
    }

    pub(crate) fn search(
        &self,
        secret: &[u8; SECRET_BYTES],
        request: &SearchRequest<'_>,
    ) -> Result<SearchPage> {
        let full_text = self.full_text.as_deref().ok_or_else(|| {
            let text =
                "this store was opened without full text: open it with `EngineOptions::full_text`";
            Error::new(ErrorKind::NotFound, "full text", text)
        })?;
        // tantivy panics at some damage of its files.
        let searched = catch_unwind(AssertUnwindSafe(|| search(self, full_text, secret, request)));
        let page = searched.unwrap_or_else(|_| {
            let text = "the index is damaged, and is made anew: search again later";
            Err(Error::new(ErrorKind::Corrupt, "full text", text))
        });
        if let Err(error) = &page
            && error.kind() == ErrorKind::Corrupt
            && error.subject() == "full text"
        {
            full_text.state.report_damage();
        }
        page
    }
}

fn search(
    shared: &Shared,
    full_text: &FullText,
    secret: &[u8; SECRET_BYTES],
    request: &SearchRequest<'_>,
) -> Result<SearchPage> {
    let time_max = request.time_max.min(TIME_MAX);
    let deadline = Instant::now() + time_max;
    let mut page = SearchPage::default();
    if let Some(sequence) = request.after_sequence
        // Some time is left for the search itself.
        && !full_text.state.wait_through(sequence, deadline - time_max / 4)
    {
        page.notes.push(SearchNote::StillBehind);
    }
    let position =
        request.cursor.map(|cursor| cursor::decode(secret, request, cursor)).transpose()?;
    full_text.state.wait_opened(deadline - time_max / 4);
    let progress = full_text.progress(shared.log_range().newest);
    page.indexed_through = progress.indexed_through;
    if let Some(share) = progress.rebuilding {
        page.notes.push(SearchNote::IndexIncomplete { share });
    }
    let catalog = shared.catalog();
    check_space(&catalog, request)?;
    let Some(snapshot) = full_text.snapshot(position.as_ref()) else {
        if position.is_some() {
            // An empty page would say that the pages before were all.
            let text = "its pages cannot be found while the index is being opened: ask for this page again later";
            return Err(Error::new(ErrorKind::InvalidCursor, "cursor", text));
        }
        if page.notes.is_empty() {
            page.notes.push(SearchNote::IndexIncomplete { share: 0.0 });
        }
        return Ok(page);
    };
    let variables = known_variables(&catalog, request);
    let known = KnownFields { variables: &variables, languages: &snapshot.languages };
    let query = parse(request.query, &known);
    if let Some(cut) = query.cut {
        page.notes.push(SearchNote::QueryCut { bytes: cut.bytes, words: cut.words });
    }
    let asked = Asked::new(request.query, &query);
    let filters = Filters::new(&catalog, &shared.acls, (request, &asked), &full_text.fields);
    // Nothing typed stands for everything; signs stand for nothing.
    if query.is_empty() && !request.query.trim().is_empty() {
        page.notes.push(SearchNote::NoWords);
        page.total_is_exact = true;
        return Ok(page);
    }
    let limit = request.limit.clamp(1, HITS_MAX);
    let mut search = Search {
        full_text,
        request,
        snapshot: &snapshot,
        planner: Planner::new(&snapshot, &full_text.fields),
        asked: &asked,
        filters: &filters,
        clock: Clock::until(deadline),
        limit,
        after: position,
        wanted_words: WantedWords::of(&query, &snapshot.languages),
    };
    let answer = search.run(&mut page.notes)?;
    page.total = answer.total;
    page.total_is_exact = !search.clock.is_up();
    if search.clock.is_up() {
        page.notes.push(SearchNote::TimeCut);
    }
    let has_more = answer.hits.len() > limit;
    let hits = answer.hits.get(..limit.min(answer.hits.len())).unwrap_or_default();
    if let Some(last) = hits.last().filter(|_| has_more) {
        let generation = snapshot.generation();
        let position = Position { relaxed: answer.relaxed, generation, after: last.rank };
        page.next_cursor = Some(cursor::encode(secret, request, &position));
        full_text.generations.keep(&snapshot);
    }
    let index = (&snapshot.searcher, &full_text.fields);
    page.hits = page::hits(shared, index, request, &search.wanted_words, hits)?;
    Ok(page)
}

fn check_space(catalog: &SpaceCatalog, request: &SearchRequest<'_>) -> Result<()> {
    let Some(name) = request.space else { return Ok(()) };
    match catalog.by_name(name).filter(|_| request.access.sees_space(name)) {
        Some(_) => Ok(()),
        None => Err(Error::new(
            ErrorKind::NotFound,
            format!("space `{name}`"),
            "there is no such space",
        )),
    }
}

/// The variables that may be named: those of the spaces that the caller sees.
fn known_variables(catalog: &SpaceCatalog, request: &SearchRequest<'_>) -> Vec<String> {
    let mut variables: Vec<String> = catalog
        .spaces
        .iter()
        .filter(|space| request.access.sees_space(&space.settings.name))
        .filter(|space| request.space.is_none_or(|name| name == space.settings.name))
        .flat_map(|space| {
            space.matcher.template().variables().map(|variable| variable.name.clone())
        })
        .collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// What a search came to.
struct Answer {
    relaxed: Relaxed,
    /// One more than the page holds, if there are.
    hits: Vec<Ranked>,
    total: u64,
}

/// A search at work.
struct Search<'a> {
    full_text: &'a FullText,
    request: &'a SearchRequest<'a>,
    snapshot: &'a Snapshot,
    planner: Planner<'a>,
    asked: &'a Asked,
    filters: &'a Filters<'a>,
    clock: Clock,
    limit: usize,
    after: Option<Position>,
    wanted_words: WantedWords,
}

impl Search<'_> {
    /// All words first; where few resources have them, most of them; where hardly any has them, typos too.
    fn run(&mut self, notes: &mut Vec<SearchNote>) -> Result<Answer> {
        if let Some(position) = self.after {
            return self.relaxed(position.relaxed, notes);
        }
        let plan = self.planner.plan(self.asked)?;
        let strict = self.look(&plan, (Relaxed::Not, self.asked.words.len()), notes)?;
        let is_exact = strict.hits.first().is_some_and(|hit| hit.rank.class.is_exact_title);
        let has_enough = strict.hits.len() >= self.limit || is_exact;
        if has_enough || self.asked.words.is_empty() || self.clock.is_up() {
            return Ok(strict);
        }
        let relaxed = if strict.total < FEW_HITS { Relaxed::Typos } else { Relaxed::FewerWords };
        let before = notes.len();
        let answer = self.relaxed(relaxed, notes)?;
        if answer.total <= strict.total {
            notes.truncate(before);
            return Ok(strict);
        }
        Ok(answer)
    }

    /// Looks for less than what was typed.
    fn relaxed(&mut self, relaxed: Relaxed, notes: &mut Vec<SearchNote>) -> Result<Answer> {
        let one_by_one = match relaxed {
            Relaxed::Not => None,
            Relaxed::FewerWords | Relaxed::Typos => self.asked.one_by_one(),
        };
        let asked = one_by_one.as_ref().unwrap_or(self.asked);
        let mut plan = self.planner.plan(asked)?;
        let words = asked.words.len();
        if relaxed == Relaxed::Typos {
            let similar = self.planner.add_similar(&mut plan, &asked.words, &mut self.clock)?;
            if !similar.is_empty() {
                notes.push(SearchNote::TyposTolerated);
            }
            for (clause, text) in similar {
                self.wanted_words.also(clause, &text);
            }
        }
        if relaxed != Relaxed::Not && words > 1 {
            notes.push(SearchNote::FewerWords { wanted: most_of(words), words });
        }
        self.look(&plan, (relaxed, words), notes)
    }

    fn look(
        &mut self,
        plan: &Plan,
        (relaxed, words): (Relaxed, usize),
        notes: &mut Vec<SearchNote>,
    ) -> Result<Answer> {
        let execution = Execution {
            fields: &self.full_text.fields,
            plan,
            filters: self.filters,
            wanted: match relaxed {
                Relaxed::Not => Wanted::AllWords,
                Relaxed::FewerWords | Relaxed::Typos => Wanted::AtLeast(most_of(words)),
            },
            sort: self.request.sort,
        };
        let top = Top::new(self.limit + 1, self.after.map(|position| position.after));
        let mut found = Found::new(top);
        for segment in self.snapshot.segments.iter().enumerate() {
            if !self.clock.look() {
                break;
            }
            execution.segment(segment, &mut found, &mut self.clock)?;
        }
        if found.is_prefix_cut && !notes.contains(&SearchNote::PrefixCut) {
            notes.push(SearchNote::PrefixCut);
        }
        Ok(Answer { relaxed, hits: found.top.into_hits(), total: found.total })
    }
}

/// How many words are most of so many: all but one of a few. Of more, it is a sentence, most of whose words tell nothing:
/// a quarter, and which ones they are decides ([`FEW_WORDS_MAX`]).
fn most_of(words: usize) -> usize {
    match words {
        0..=1 => words,
        2..=FEW_WORDS_MAX => words - 1,
        _ => words.div_ceil(4),
    }
}
