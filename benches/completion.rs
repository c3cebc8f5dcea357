//! `Engine::complete` by class of match, length of what is typed and number of values.
//!
//! `PRESSMARK_BENCH_VALUES` sets the largest number of values (1,000,000 by default); the curve has a point for each
//! power of ten from 10,000 on.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up ends")]
#![allow(missing_docs, reason = "criterion's macros define functions without")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pressmark_benches::{Random, Store, put};
use pressmark_index::access::Access;
use pressmark_index::completion::{CompletionRequest, VALUES_MAX};
use pressmark_index::engine::Engine;
use pressmark_index::resource::{Address, Binding, Resource, Value};
use pressmark_index::space::{ListMode, SpaceSettings};
use pressmark_index::writer::Durability;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SPACE: &str = "papers";
const VALUES_LEAST: u64 = 10_000;
const VALUES_MOST: u64 = 1_000_000;
const COMMIT_RESOURCES: u64 = 10_000;
const TEAMS: usize = 100;
const YEARS: usize = 30;
const GROUPS: usize = 20;
/// One name of so many has a word that no name begins with.
const RARE_EVERY: usize = 500;
/// Different questions of a kind.
const QUESTIONS: usize = 512;

/// More frequent ones come first: a word of rank r begins about 1/r of the names that the first begins.
const WORDS: [&str; 40] = [
    "service",
    "report",
    "plan",
    "api",
    "review",
    "data",
    "budget",
    "project",
    "system",
    "test",
    "customer",
    "meeting",
    "release",
    "network",
    "policy",
    "guide",
    "design",
    "cluster",
    "storage",
    "index",
    "payment",
    "search",
    "archive",
    "backup",
    "ledger",
    "http",
    "json",
    "monitor",
    "request",
    "handler",
    "parser",
    "queue",
    "vector",
    "warehouse",
    "journal",
    "kernel",
    "xml",
    "observer",
    "quota",
    "zone",
];

/// What one resource is about.
struct Paper {
    team: String,
    year: String,
    name: String,
    acl: Option<Vec<String>>,
    priority: Option<f64>,
}

/// Below `count`, small ones far more often: the logarithm of the rank is even.
fn skewed(random: &mut Random, count: usize) -> usize {
    let unit = random.below(1 << 20) as f64 / f64::from(1 << 20);
    let rank = (count as f64).powf(unit);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 1 and count"
    )]
    let rank = rank as usize;
    rank.clamp(1, count) - 1
}

fn paper(index: u64, restricted: bool) -> Paper {
    let mut random = Random(index.wrapping_mul(0x9e37_79b9));
    let team = format!("team-{:03}", skewed(&mut random, TEAMS));
    let year = (1996 + YEARS - 1 - skewed(&mut random, YEARS)).to_string();
    let first = WORDS.get(skewed(&mut random, WORDS.len())).copied().unwrap();
    let rare = random.below(RARE_EVERY) == 0;
    let second = if rare { "quixote" } else { random.pick(&WORDS) };
    let separator = random.pick(&["-", "_", ".", "-"]);
    let name = format!("{first}{separator}{second}{separator}{index:x}");
    let priority = (random.below(20) == 0).then(|| random.below(101) as f64 / 100.0);
    let group = random.below(GROUPS);
    let acl = (restricted && random.below(2) == 0).then(|| vec![format!("group-{group}")]);
    Paper { team, year, name, acl, priority }
}

fn resource(paper: Paper) -> Resource {
    let bindings = [("team", paper.team), ("year", paper.year), ("name", paper.name)];
    let bindings = bindings
        .map(|(name, value)| Binding { name: name.to_owned(), value: Value::String(value) });
    let address = Address::Variables(bindings.into());
    let mut resource = Resource::text(SPACE, address, "text/plain", "short");
    resource.acl = paper.acl;
    resource.annotations.priority = paper.priority;
    resource
}

fn filled(count: u64, restricted: bool) -> Store {
    let store = Store::empty(Durability::Interval(Duration::from_secs(1))).unwrap();
    let mut settings = SpaceSettings::new(SPACE, "docs://{team}/{year}/{name}");
    settings.list = ListMode::None;
    store.engine.put_space(settings).unwrap();
    for begin in (0..count).step_by(usize::try_from(COMMIT_RESOURCES).unwrap()) {
        let end = count.min(begin + COMMIT_RESOURCES);
        let papers = (begin..end).map(|index| resource(paper(index, restricted)));
        put(&store.engine, papers).unwrap();
    }
    let store = store.reopened().unwrap();
    while store.engine.stats().unwrap().completion.spaces_behind > 0 {
        std::thread::yield_now();
    }
    store
}

/// A question without its lifetimes.
struct Asked {
    typed: String,
    chosen: Vec<(&'static str, String)>,
}

impl Asked {
    fn typed(typed: String) -> Asked {
        Asked { typed, chosen: Vec::new() }
    }

    fn ask(&self, engine: &Engine, access: &Access) -> usize {
        let chosen: Vec<(&str, &str)> =
            self.chosen.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let request = CompletionRequest {
            space: SPACE,
            variable: "name",
            typed: black_box(&self.typed),
            context: &chosen,
            access,
            count_max: VALUES_MAX,
        };
        engine.complete(&request).unwrap().values.len()
    }
}

/// Questions about papers that are there.
fn questions(count: u64, make: impl Fn(Paper) -> Asked) -> Vec<Asked> {
    let mut random = Random(1);
    let bound = usize::try_from(count).unwrap();
    (0..QUESTIONS).map(|_| make(paper(random.below(bound) as u64, false))).collect()
}

fn first(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

fn swapped(text: &str, at: usize) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if at + 1 < characters.len() {
        characters.swap(at, at + 1);
    }
    characters.into_iter().collect()
}

/// The kinds of question: name, and how one is made from a paper.
fn kinds(count: u64) -> Vec<(String, Vec<Asked>)> {
    let mut kinds: Vec<(String, Vec<Asked>)> = (0..=6)
        .map(|characters| {
            let make = move |paper: Paper| Asked::typed(first(&paper.name, characters));
            (format!("prefix_{characters}"), questions(count, make))
        })
        .collect();
    let later = |paper: Paper| Asked::typed(first("quixote", 4 + paper.name.len() % 4));
    let one_edit = |paper: Paper| Asked::typed(swapped(&first(&paper.name, 7), 2));
    let two_edits = |paper: Paper| Asked::typed(swapped(&swapped(&first(&paper.name, 12), 1), 5));
    let of_team =
        |paper: Paper| Asked { typed: first(&paper.name, 1), chosen: vec![("team", paper.team)] };
    let of_team_and_year = |paper: Paper| Asked {
        typed: first(&paper.name, 1),
        chosen: vec![("team", paper.team), ("year", paper.year)],
    };
    kinds.push(("later_word".to_owned(), questions(count, later)));
    kinds.push(("typo_1".to_owned(), questions(count, one_edit)));
    kinds.push(("typo_2".to_owned(), questions(count, two_edits)));
    kinds.push(("context_1".to_owned(), questions(count, of_team)));
    kinds.push(("context_2".to_owned(), questions(count, of_team_and_year)));
    kinds
}

fn measure(criterion: &mut Criterion, name: &str, restricted: bool, access: &Access) {
    let most = std::env::var("PRESSMARK_BENCH_VALUES").ok().and_then(|text| text.parse().ok());
    let most = most.unwrap_or(VALUES_MOST);
    let sizes = std::iter::successors(Some(VALUES_LEAST), |size| Some(size * 10));
    let mut group = criterion.benchmark_group(name);
    for count in sizes.take_while(|count| *count <= most) {
        let store = filled(count, restricted);
        for (kind, asked) in kinds(count) {
            let mut asked = asked.iter().cycle();
            group.bench_function(BenchmarkId::new(kind, count), |bencher| {
                bencher.iter(|| asked.next().unwrap().ask(&store.engine, access));
            });
        }
    }
    group.finish();
}

/// The caller may see everything in the space.
fn open_space(criterion: &mut Criterion) {
    measure(criterion, "completion", false, &Access::anonymous());
}

/// Half of the resources are for one of 20 groups each, and the caller is in three.
fn restricted_space(criterion: &mut Criterion) {
    let access = Access::anonymous().with_groups(["group-1", "group-2", "group-3"]);
    measure(criterion, "completion_acl", true, &access);
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
}

criterion_group! { name = benches; config = short(); targets = open_space, restricted_space }
criterion_main!(benches);
