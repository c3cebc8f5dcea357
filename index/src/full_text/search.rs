//! One search, from what was typed to the page.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
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
    FullTextProgress, FullTextStats, HITS_MAX, SearchHit, SearchNote, SearchPage, SearchRequest,
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
/// With more changes than this that cannot be found yet, a page says so: fewer are found in a moment.
const BACKLOG_MIN: u64 = 2_000;
/// With a smaller share of the resources that can be found, a page says so.
const NEARLY_ALL: f32 = 0.9;
/// Names that an error lists.
const NAMES_MAX: usize = 20;

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
    // Some time is left for the search itself.
    let waited = deadline - time_max / 4;
    let catalog = shared.catalog();
    let variables = known_names(&catalog, request)?;
    let mut page = SearchPage::default();
    if let Some(sequence) = request.after_sequence
        && !full_text.state.wait_through(sequence, waited, &full_text.stop)
    {
        page.notes.push(SearchNote::StillBehind);
    }
    let position =
        request.cursor.map(|cursor| cursor::decode(secret, request, cursor)).transpose()?;
    full_text.state.wait_opened(waited);
    let progress = full_text.progress(shared.log_range().newest);
    page.indexed_through = progress.indexed_through;
    let behind = progress.newest.saturating_sub(progress.indexed_through);
    if progress.failure.is_some() {
        page.notes.push(SearchNote::IndexFailing);
    } else if progress.rebuilding.is_none()
        // Who has waited for a change knows about it, and may not care about newer ones.
        && request.after_sequence.is_none()
    {
        page.notes.extend(backlog(&catalog, behind, progress.documents));
    }
    if let Some(share) = progress.rebuilding {
        page.notes.push(SearchNote::IndexIncomplete { share });
    }
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
    let question = Question { shared, full_text, catalog: &catalog, variables, request, deadline };
    let mut answer = question.ask(&snapshot, position)?;
    if answer.is_all_lost()
        && let Some(newest) = full_text.newest.load_full()
        && !Arc::ptr_eq(&newest, &snapshot)
    {
        // Who sees nothing of a kept state any more is told what there is now.
        let now = question.ask(&newest, position)?;
        (answer.total, answer.total_is_exact) = (now.total, now.total_is_exact);
    }
    if let Some(position) = &answer.next {
        page.next_cursor = Some(cursor::encode(secret, request, position));
        full_text.generations.keep(&snapshot);
    }
    page.notes.extend(answer.notes);
    page.hits = answer.hits;
    page.total = answer.total;
    page.total_is_exact = answer.total_is_exact;
    Ok(page)
}

/// What a page says of changes that cannot be found yet: while a collection comes in for the first time, how much of it can.
fn backlog(catalog: &SpaceCatalog, behind: u64, documents: u64) -> Option<SearchNote> {
    let resources: u64 = catalog.everything().map(|space| space.resource_count()).sum();
    let share = documents as f32 / resources.max(1) as f32;
    if behind > 0 && share < NEARLY_ALL {
        return Some(SearchNote::IndexIncomplete { share });
    }
    (behind > BACKLOG_MIN).then_some(SearchNote::Backlog)
}

/// The variables that may be named: those of the spaces that the caller sees.
///
/// # Errors
/// [`ErrorKind::NotFound`] when the request names a space or a variable that is not there.
fn known_names(catalog: &SpaceCatalog, request: &SearchRequest<'_>) -> Result<Vec<String>> {
    let visible = catalog.spaces.iter().filter(|space| {
        let name = &space.settings.name;
        request.access.sees_space(name)
    });
    if let Some(wanted) = request.space {
        let names: Vec<&str> = visible.clone().map(|space| space.settings.name.as_str()).collect();
        if !names.contains(&wanted) {
            return Err(no_such(("space", "spaces"), wanted, &names));
        }
    }
    let mut variables: Vec<String> = visible
        .filter(|space| request.space.is_none_or(|name| name == space.settings.name))
        .flat_map(|space| {
            space.matcher.template().variables().map(|variable| variable.name.clone())
        })
        .collect();
    variables.sort_unstable();
    variables.dedup();
    match request.variables.iter().find(|(name, _)| !variables.contains(name)) {
        Some((name, _)) => Err(no_such(("variable", "variables"), name, &variables)),
        None => Ok(variables),
    }
}

fn no_such<T: AsRef<str>>((one, many): (&str, &str), wanted: &str, names: &[T]) -> Error {
    let named: Vec<&str> = names.iter().take(NAMES_MAX).map(AsRef::as_ref).collect();
    let more = names.len() - named.len();
    let named = named.join(", ");
    let there_are = match (names.is_empty(), more) {
        (true, _) => format!("there are no {many}"),
        (false, 0) => format!("the {many} are {named}"),
        (false, more) => format!("the {many} are {named} and {more} more"),
    };
    let detail = format!("there is no such {one}: {there_are}");
    Error::new(ErrorKind::NotFound, format!("{one} `{wanted}`"), detail)
}

/// What any state of the index can be asked.
struct Question<'a> {
    shared: &'a Shared,
    full_text: &'a FullText,
    catalog: &'a SpaceCatalog,
    /// The variables that may be named.
    variables: Vec<String>,
    request: &'a SearchRequest<'a>,
    deadline: Instant,
}

/// What a state of the index says, as the store has it now.
#[derive(Default)]
struct Answer {
    hits: Vec<SearchHit>,
    /// Hits of the index that the store does not have any more for this caller.
    lost: u64,
    total: u64,
    total_is_exact: bool,
    next: Option<Position>,
    notes: Vec<SearchNote>,
}

impl Answer {
    fn is_all_lost(&self) -> bool {
        self.hits.is_empty() && self.lost > 0
    }
}

impl Question<'_> {
    fn ask(&self, snapshot: &Snapshot, position: Option<Position>) -> Result<Answer> {
        let Question { shared, full_text, request, .. } = *self;
        let known = KnownFields { variables: &self.variables, languages: &snapshot.languages };
        let query = parse(request.query, &known);
        let mut answer = Answer::default();
        if let Some(cut) = query.cut {
            answer.notes.push(SearchNote::QueryCut { bytes: cut.bytes, words: cut.words });
        }
        // Nothing typed stands for everything; signs stand for nothing.
        if query.is_empty() && !request.query.trim().is_empty() {
            answer.notes.push(SearchNote::NoWords);
            answer.total_is_exact = true;
            return Ok(answer);
        }
        let asked = Asked::new(request.query, &query);
        let filters =
            Filters::new(self.catalog, &shared.acls, (request, &asked), &full_text.fields);
        let mut search = Search {
            full_text,
            request,
            snapshot,
            planner: Planner::new(snapshot, &full_text.fields),
            asked: &asked,
            filters: &filters,
            clock: Clock::until(self.deadline),
            limit: request.limit.clamp(1, HITS_MAX),
            after: position,
            wanted_words: WantedWords::of(&query, &snapshot.languages),
        };
        let notes = answer.notes.len();
        loop {
            answer.notes.truncate(notes);
            let found = search.run(&mut answer.notes)?;
            let ranked = found.hits.get(..search.limit).unwrap_or(&found.hits);
            answer.next = ranked.last().filter(|_| found.hits.len() > search.limit).map(|last| {
                let generation = snapshot.generation();
                Position { relaxed: found.relaxed, generation, after: last.rank }
            });
            // Time that is over while snippets are made takes nothing from what was counted.
            let mut clock = Clock::until(self.deadline);
            let of_page = (ranked, &mut clock);
            answer.hits =
                page::hits(shared, full_text, snapshot, request, &search.wanted_words, of_page)?;
            let lost = ranked.len().saturating_sub(answer.hits.len());
            answer.lost += u64::try_from(lost).unwrap_or(u64::MAX);
            answer.total = found.total.saturating_sub(answer.lost);
            // A page on which nothing is left is no page: what comes behind it is.
            if !answer.hits.is_empty() || answer.next.is_none() || search.clock.is_up() {
                break;
            }
            search.after = answer.next;
        }
        answer.total_is_exact = !search.clock.is_up();
        if search.clock.is_up() {
            answer.notes.push(SearchNote::TimeCut);
        }
        Ok(answer)
    }
}

/// What was found in the index.
struct Ranks {
    relaxed: Relaxed,
    /// One more than the page holds, if there are.
    hits: Vec<Ranked>,
    total: u64,
    /// Some of them have a word only as one that is spelled much like it.
    has_similar: bool,
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
    fn run(&mut self, notes: &mut Vec<SearchNote>) -> Result<Ranks> {
        if let Some(position) = self.after {
            return self.relaxed(position.relaxed, notes);
        }
        let plan = self.planner.plan(self.asked)?;
        let strict = self.look(&plan, (Relaxed::Not, self.asked.words.len()), notes)?;
        let has_enough = strict.hits.len() >= self.limit;
        if has_enough || self.asked.words.is_empty() || self.clock.is_up() {
            return Ok(strict);
        }
        let relaxed = if strict.total < FEW_HITS { Relaxed::Typos } else { Relaxed::FewerWords };
        if relaxed == Relaxed::FewerWords && !self.asked.has_parts() {
            return Ok(strict);
        }
        let before = notes.len();
        let answer = self.relaxed(relaxed, notes)?;
        if answer.total <= strict.total {
            notes.truncate(before);
            return Ok(strict);
        }
        Ok(answer)
    }

    /// Looks for less than what was typed.
    fn relaxed(&mut self, relaxed: Relaxed, notes: &mut Vec<SearchNote>) -> Result<Ranks> {
        let one_by_one = match relaxed {
            Relaxed::Not => None,
            Relaxed::FewerWords | Relaxed::Typos => self.asked.one_by_one(),
        };
        let asked = one_by_one.as_ref().unwrap_or(self.asked);
        let mut plan = self.planner.plan(asked)?;
        let words = asked.words.len();
        if relaxed == Relaxed::Typos {
            let similar = self.planner.add_similar(&mut plan, &asked.words, &mut self.clock)?;
            for (clause, text) in similar {
                self.wanted_words.also(clause, &text);
            }
        }
        let found = self.look(&plan, (relaxed, words), notes)?;
        // What stands in hidden resources only is no correction: it would tell of them.
        if found.has_similar {
            notes.push(SearchNote::TyposTolerated);
        }
        if relaxed != Relaxed::Not && words > 1 {
            notes.push(SearchNote::FewerWords { wanted: most_of(words), words });
        }
        Ok(found)
    }

    fn look(
        &mut self,
        plan: &Plan,
        (relaxed, words): (Relaxed, usize),
        notes: &mut Vec<SearchNote>,
    ) -> Result<Ranks> {
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
        let Found { top, total, has_similar, .. } = found;
        Ok(Ranks { relaxed, hits: top.into_hits(), total, has_similar })
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
