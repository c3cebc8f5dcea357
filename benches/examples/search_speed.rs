//! Search beside plain tantivy, in one process, with the same schema and analysis: latencies by class of query, and rates
//! of indexing.
//!
//! ```text
//! cargo run --release --package pressmark-benches --example search_speed -- SET STEP
//! ```
//!
//! `SET` is a folder with `documents.ndjson`. The steps: `load-plain` loads a store without full text into `SET/plain`;
//! `index` makes its full text anew; `load` loads one with full text into `SET/store`; `tantivy` indexes the documents with
//! tantivy's own writer into `SET/tantivy`; `ask` puts the same questions to both, one after the other, in turns; `hostile`
//! puts questions that have broken other engines to the store; `profile CLASS` asks the store alone, for a profiler; `slowest
//! CLASS` names the questions of a class that take longest, with how long both take.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pressmark_benches::{hostile_queries, search};
use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::full_text::SearchRequest;
use pressmark_index::full_text::yardstick::{
    Yardstick, YardstickDocument, YardstickForm, YardstickReader,
};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{
    BooleanQuery, ConstScoreQuery, DisjunctionMaxQuery, FuzzyTermQuery, PhraseQuery, Query,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption, Value};
use tantivy::snippet::SnippetGenerator;
use tantivy::{Searcher, TantivyDocument, Term};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Questions of a class.
const QUESTIONS: usize = 300;
/// Each is asked so often, after once for warmth.
const ROUNDS: usize = 3;
/// With fewer hits the engine does more than tantivy: it looks for most of the words, and for typos.
const HITS_MIN: u64 = search::HITS as u64;
/// Threads and memory of indexing, on both sides.
const THREADS: usize = 2;
const MEMORY_BYTES: usize = 256 << 20;
const HOSTILE_QUERIES: usize = 1_000;
/// Questions that `slowest` names.
const SLOWEST: usize = 10;
/// How long a profile is taken.
const PROFILED: Duration = Duration::from_secs(8);
/// What the server allows a search.
const HOSTILE_TIME_MAX: Duration = Duration::from_millis(500);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or_else(|| format!("{what} is missing"));
    let (set, step) = (PathBuf::from(next("SET")?), next("STEP")?);
    let began = Instant::now();
    let count = match step.as_str() {
        "load-plain" => load(&set, "plain", false)?,
        "load" => load(&set, "store", true)?,
        "index" => index(&set)?,
        "tantivy" => index_with_tantivy(&set)?,
        "ask" => return ask(&set),
        "hostile" => return hostile(&set),
        "profile" => return profile(&set, &next("CLASS")?),
        "slowest" => return slowest(&set, &next("CLASS")?),
        other => return Err(format!("there is no step `{other}`").into()),
    };
    let took = began.elapsed();
    let rate = count as f64 / took.as_secs_f64();
    Ok(writeln!(io::stdout(), "{step}: {count} documents in {took:.1?}, {rate:.0} a second")?)
}

fn load(set: &Path, store: &str, full_text: bool) -> Result<usize, Box<dyn Error>> {
    let folder = set.join(store);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let engine = search::open(&folder, full_text)?;
    let count = search::load(&engine, &set.join("documents.ndjson"))?;
    if full_text {
        search::wait_until_indexed(&engine)?;
    }
    engine.flush()?;
    Ok(count)
}

/// Makes the full text of a store that has none.
fn index(set: &Path) -> Result<usize, Box<dyn Error>> {
    let store = set.join("plain");
    let full_text = store.join("full_text");
    if full_text.exists() {
        std::fs::remove_dir_all(&full_text)?;
    }
    let engine = search::open(&store, true)?;
    search::wait_until_indexed(&engine)?;
    Ok(usize::try_from(engine.stats()?.resources)?)
}

fn index_with_tantivy(set: &Path) -> Result<usize, Box<dyn Error>> {
    let folder = set.join("tantivy");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let yardstick = Yardstick::open(&folder)?;
    let mut writer = yardstick.index.writer_with_num_threads(THREADS, MEMORY_BYTES)?;
    let mut count = 0;
    for document in search::documents(&set.join("documents.ndjson"))? {
        let document = document?;
        let (collection, name) = document.id.split_once('/').unwrap_or(("", &document.id));
        writer.add_document(yardstick.document(&YardstickDocument {
            uri: &format!("documents://{}", document.id),
            title: &document.title,
            text: &document.text,
            mime_type: search::mime_type(count),
            variables: &[("collection", collection), ("name", name)],
            acl: u64::from(search::is_for_group(count)),
            modified: search::modified(count),
        }))?;
        count += 1;
    }
    writer.commit()?;
    Ok(count)
}

/// A class of questions.
struct Class {
    name: &'static str,
    /// What is typed, made of a document; `None`: nothing can be made of it.
    typed: fn(&search::Document) -> Option<String>,
    condition: Condition,
}

/// What holds beside the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    Nothing,
    Space,
    Variable,
    MimeType,
    Acl,
}

const CLASSES: [Class; 10] = [
    Class { name: "one word", typed: |of| words(of, 1), condition: Condition::Nothing },
    Class { name: "three words", typed: |of| words(of, 3), condition: Condition::Nothing },
    Class { name: "phrase of two", typed: |of| phrase(of, 2), condition: Condition::Nothing },
    Class { name: "prefix of three", typed: |of| prefix(of, 3), condition: Condition::Nothing },
    Class { name: "prefix of five", typed: |of| prefix(of, 5), condition: Condition::Nothing },
    Class { name: "Chinese", typed: chinese, condition: Condition::Nothing },
    Class { name: "two words, space", typed: |of| words(of, 2), condition: Condition::Space },
    Class { name: "two words, variable", typed: |of| words(of, 2), condition: Condition::Variable },
    Class {
        name: "two words, MIME type",
        typed: |of| words(of, 2),
        condition: Condition::MimeType,
    },
    Class { name: "two words, ACL", typed: |of| words(of, 2), condition: Condition::Acl },
];

fn plain_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_ascii_alphabetic());
    words.filter(|word| word.len() > 2)
}

/// The second word of a text, and others that follow each with some between.
fn words(document: &search::Document, count: usize) -> Option<String> {
    let words: Vec<&str> = plain_words(&document.text).skip(1).step_by(2).take(count).collect();
    (words.len() == count).then(|| words.join(" "))
}

fn phrase(document: &search::Document, count: usize) -> Option<String> {
    let words: Vec<&str> = document.text.split(' ').skip(1).take(count).collect();
    let is_plain = |word: &&str| word.chars().all(|character| character.is_ascii_alphabetic());
    (words.len() == count && words.iter().all(is_plain)).then(|| format!("\"{}\"", words.join(" ")))
}

fn prefix(document: &search::Document, chars: usize) -> Option<String> {
    let word = plain_words(&document.text).find(|word| word.len() > chars)?;
    Some(format!("{}*", word.get(..chars)?))
}

fn chinese(document: &search::Document) -> Option<String> {
    let is_han = |character: &char| ('\u{4e00}'..='\u{9fff}').contains(character);
    let run = document.text.chars().skip_while(|character| !is_han(character));
    let run: String = run.take_while(is_han).take(2).collect();
    (run.chars().count() == 2).then_some(run)
}

fn ask(set: &Path) -> Result<(), Box<dyn Error>> {
    let engine = search::open(&set.join("store"), true)?;
    search::wait_until_indexed(&engine)?;
    let raw = Raw::open(&set.join("tantivy"))?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<22}{:>9}{:>11}{:>9}{:>9}{:>11}{:>11}{:>8}{:>8}{:>8}",
        "microseconds",
        "asked",
        "hits, mean",
        "p50",
        "p99",
        "raw p50",
        "raw p99",
        "p50 x",
        "p99 x",
        "equal"
    )?;
    let documents = sample(set)?;
    for class in &CLASSES {
        let typed = questions(class, &documents);
        report(&mut out, class, &engine, &raw, typed.iter())?;
    }
    Ok(())
}

/// The documents that questions are made of.
fn sample(set: &Path) -> Result<Vec<search::Document>, Box<dyn Error>> {
    search::documents(&set.join("documents.ndjson"))?.step_by(97).collect()
}

/// The questions of a class, about twice as many as are asked: some have too few hits.
fn questions(class: &Class, documents: &[search::Document]) -> Vec<String> {
    let mut typed: Vec<String> = documents.iter().filter_map(class.typed).collect();
    typed.sort_unstable();
    typed.dedup();
    let step = (typed.len() / (2 * QUESTIONS)).max(1);
    typed.into_iter().step_by(step).collect()
}

/// Asks the questions of a class that have a page of hits, over and over.
fn profile(set: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let engine = search::open(&set.join("store"), true)?;
    search::wait_until_indexed(&engine)?;
    let class = CLASSES.iter().find(|class| class.name == name).ok_or("there is no such class")?;
    let mut typed = Vec::new();
    for question in questions(class, &sample(set)?) {
        if engine_total(&engine, &question, class.condition)? >= HITS_MIN {
            typed.push(question);
        }
    }
    let began = Instant::now();
    let mut count = 0_u32;
    while began.elapsed() < PROFILED {
        for question in &typed {
            engine_total(&engine, question, class.condition)?;
            count += 1;
        }
    }
    let each = began.elapsed() / count.max(1);
    Ok(writeln!(io::stdout(), "{name}: {count} times, {each:.1?} each")?)
}

/// The questions of a class on which the engine takes longest.
fn slowest(set: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let engine = search::open(&set.join("store"), true)?;
    search::wait_until_indexed(&engine)?;
    let raw = Raw::open(&set.join("tantivy"))?;
    let class = CLASSES.iter().find(|class| class.name == name).ok_or("there is no such class")?;
    let mut all = Vec::new();
    for typed in questions(class, &sample(set)?) {
        let total = engine_total(&engine, &typed, class.condition)?;
        if total < HITS_MIN {
            continue;
        }
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            let began = Instant::now();
            engine_total(&engine, &typed, class.condition)?;
            ours = ours.min(began.elapsed());
            let began = Instant::now();
            raw.search(&typed, class.condition)?;
            theirs = theirs.min(began.elapsed());
        }
        all.push((ours, theirs, total, typed));
    }
    all.sort_unstable_by(|a, b| b.cmp(a));
    for (ours, theirs, total, typed) in all.iter().take(SLOWEST) {
        writeln!(io::stdout(), "{ours:>10.1?} {theirs:>10.1?} {total:>8} hits  {typed}")?;
    }
    Ok(())
}

/// Asks the questions of a class that have a page of hits, and writes a line.
fn report<'a>(
    out: &mut dyn Write,
    class: &Class,
    engine: &Engine,
    raw: &Raw,
    typed: impl Iterator<Item = &'a String>,
) -> Result<(), Box<dyn Error>> {
    let (mut ours, mut theirs, mut hits, mut equal, mut asked) = (Vec::new(), Vec::new(), 0, 0, 0);
    for typed in typed {
        let total = engine_total(engine, typed, class.condition)?;
        if total < HITS_MIN || asked == QUESTIONS {
            continue;
        }
        asked += 1;
        hits += total;
        equal += usize::from(u64::try_from(raw.search(typed, class.condition)?)? == total);
        for round in 0..ROUNDS {
            for ours_turn in [round % 2 == 0, round % 2 != 0] {
                let began = Instant::now();
                if ours_turn {
                    engine_total(engine, typed, class.condition)?;
                    ours.push(began.elapsed());
                } else {
                    raw.search(typed, class.condition)?;
                    theirs.push(began.elapsed());
                }
            }
        }
    }
    let (p50, p99) = (percentile(&mut ours, 50), percentile(&mut ours, 99));
    let (raw_p50, raw_p99) = (percentile(&mut theirs, 50), percentile(&mut theirs, 99));
    writeln!(
        out,
        "{:<22}{asked:>9}{:>11}{p50:>9.0}{p99:>9.0}{raw_p50:>11.0}{raw_p99:>11.0}{:>8.2}{:>8.2}{:>7.0}%",
        class.name,
        hits / u64::try_from(asked.max(1))?,
        p50 / raw_p50,
        p99 / raw_p99,
        100.0 * equal as f64 / asked.max(1) as f64,
    )?;
    Ok(())
}

/// In microseconds.
fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

/// A search with titles and snippets of ten hits.
fn engine_total(engine: &Engine, typed: &str, condition: Condition) -> Result<u64, Box<dyn Error>> {
    let access = match condition {
        Condition::Acl => Access::anonymous(),
        _ => Access::operator(),
    };
    let variables = [("collection".to_owned(), "npm".to_owned())];
    let request = search::request(typed, &access);
    let page = engine.search(&match condition {
        Condition::Nothing | Condition::Acl => request,
        Condition::Space => SearchRequest { space: Some(search::SPACE), ..request },
        Condition::Variable => SearchRequest { variables: &variables, ..request },
        Condition::MimeType => SearchRequest { mime_type: Some("text/markdown"), ..request },
    })?;
    Ok(if page.notes.is_empty() { page.total } else { 0 })
}

/// Tantivy's own searcher.
struct Raw {
    yardstick: Yardstick,
    reader: YardstickReader,
    searcher: Searcher,
}

impl Raw {
    fn open(folder: &Path) -> Result<Raw, Box<dyn Error>> {
        let yardstick = Yardstick::open(folder)?;
        let searcher = yardstick.index.reader()?.searcher();
        let reader = yardstick.reader(&searcher)?;
        Ok(Raw { yardstick, reader, searcher })
    }

    /// All clauses wanted, each in one of the places in one of its forms.
    fn query(&self, typed: &str, condition: Condition) -> Box<dyn Query> {
        let clauses = self.reader.clauses(typed).into_iter().map(|forms| {
            let places = self.yardstick.places.iter();
            let ways = places.flat_map(|place| forms.iter().map(|form| form_query(*place, form)));
            Box::new(DisjunctionMaxQuery::new(ways.collect())) as Box<dyn Query>
        });
        let filter = match condition {
            Condition::Nothing => None,
            Condition::Space => Some(self.yardstick.space()),
            Condition::Variable => Some(self.yardstick.value("collection", "npm")),
            Condition::MimeType => Some(self.yardstick.mime_type("text/markdown")),
            Condition::Acl => Some(self.yardstick.acl(0)),
        };
        let filter = filter.map(|term| {
            let query = Box::new(TermQuery::new(term, IndexRecordOption::Basic));
            Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn Query>
        });
        Box::new(BooleanQuery::intersection(clauses.chain(filter).collect()))
    }

    /// Ten hits with their texts' snippets, and the number of all, from what is typed, as the engine is asked.
    fn search(&self, typed: &str, condition: Condition) -> Result<usize, Box<dyn Error>> {
        let query = self.query(typed, condition);
        let best = TopDocs::with_limit(search::HITS).order_by_score();
        let (best, count) = self.searcher.search(query.as_ref(), &(best, Count))?;
        let mut snippets =
            SnippetGenerator::create(&self.searcher, query.as_ref(), self.yardstick.text)?;
        snippets.set_max_num_chars(search::SNIPPET_BYTES);
        for (_, address) in best {
            let document: TantivyDocument = self.searcher.doc(address)?;
            let text = document.get_first(self.yardstick.shown_text).and_then(|text| text.as_str());
            std::hint::black_box(snippets.snippet(text.unwrap_or_default()));
        }
        Ok(count)
    }
}

fn form_query(place: Field, form: &YardstickForm) -> Box<dyn Query> {
    match form {
        YardstickForm::Term(text) => Box::new(TermQuery::new(
            Term::from_field_text(place, text),
            IndexRecordOption::WithFreqs,
        )),
        YardstickForm::Sequence(terms) => {
            let terms = terms.iter().map(|(at, text)| (*at, Term::from_field_text(place, text)));
            Box::new(PhraseQuery::new_with_offset(terms.collect()))
        }
        YardstickForm::Beginning(text) => {
            Box::new(FuzzyTermQuery::new_prefix(Term::from_field_text(place, text), 0, true))
        }
    }
}

fn hostile(set: &Path) -> Result<(), Box<dyn Error>> {
    let engine = search::open(&set.join("store"), true)?;
    search::wait_until_indexed(&engine)?;
    let access = Access::anonymous();
    let mut times = Vec::with_capacity(HOSTILE_QUERIES);
    let mut cut = 0;
    for query in hostile_queries::queries(7, HOSTILE_QUERIES) {
        let began = Instant::now();
        let request =
            SearchRequest { time_max: HOSTILE_TIME_MAX, ..search::request(&query, &access) };
        let page = engine.search(&request).map_err(|error| format!("{query:?}: {error}"))?;
        let took = began.elapsed();
        if took > HOSTILE_TIME_MAX + HOSTILE_TIME_MAX / 10 {
            let begin: String = query.chars().take(200).collect();
            writeln!(io::stdout(), "{took:.0?} for {} bytes that begin {begin:?}", query.len())?;
        }
        cut += usize::from(!page.total_is_exact);
        times.push(took);
    }
    let [p50, p99, longest] = [50, 99, 100].map(|percent| percentile(&mut times, percent) / 1e3);
    Ok(writeln!(
        io::stdout(),
        "{HOSTILE_QUERIES} queries, none failed; p50 {p50:.1} ms, p99 {p99:.1} ms, longest {longest:.1} ms with {HOSTILE_TIME_MAX:?} \
         allowed; {cut} were cut by time"
    )?)
}
