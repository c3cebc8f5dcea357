//! How often a package is the first hit for its name, and for its name with one typing error.
//!
//! ```text
//! cargo run --release --package pressmark-benches --example package_names -- STORE priority|plain PYPI.tsv NPM.tsv
//! ```
//!
//! The lists are tab-separated, with a head line. Columns: `name` first; `summary...`; `rank...` (1 is the most used package;
//! empty for most) or `downloads...`. The packages are loaded into `STORE` if there is none: the name is the variable of
//! the URI, the summary the text. With `priority` they have one by how much they are used, with `plain` none.
//!
//! Names that differ in nothing but case, `-`, `_` and `.` are the same name, and many are on both lists: such a hit is
//! counted apart. So is an error that happens to be another package's name. The errors are made from a seed.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use pressmark_benches::search;
use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::full_text::SearchRequest;
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Binding, Resource, Value};
use pressmark_index::space::SpaceSettings;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RANKED: usize = 15_000;
const WELL_KNOWN: usize = 200;
const MISTYPED: usize = 2_000;
const SEED: u64 = 20_261_201;
const COMMIT_PACKAGES: usize = 2_000;
/// Faults that are shown of each question.
const SHOWN_MAX: usize = 15;
/// The priority of the most used package; the least used have the default of none.
const PRIORITY_MAX: f64 = 1.0;
const PRIORITY_MIN: f64 = 0.5;

struct Package {
    name: String,
    summary: String,
    /// 1 is the most used.
    rank: Option<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or_else(|| format!("{what} is missing"));
    let (store, mode) = (next("STORE")?, next("priority|plain")?);
    let has_priority = match mode.as_str() {
        "priority" => true,
        "plain" => false,
        other => return Err(format!("`{other}` is no way to load: write priority or plain").into()),
    };
    let pypi = packages(Path::new(&next("PYPI.tsv")?))?;
    let npm = packages(Path::new(&next("NPM.tsv")?))?;
    let is_loaded = Path::new(&store).exists();
    let engine = search::open(Path::new(&store), true)?;
    if !is_loaded {
        for (space, packages) in [("pypi", &pypi), ("npm", &npm)] {
            load(&engine, space, packages, has_priority)?;
        }
    }
    search::wait_until_indexed(&engine)?;
    let known: HashSet<String> = pypi.iter().chain(&npm).map(|one| letters(&one.name)).collect();
    let asker = Asker { engine: &engine, access: Access::operator() };
    by_name(&asker, &most_used(&pypi, RANKED))?;
    let unscoped: Vec<&Package> =
        most_used(&npm, RANKED).into_iter().filter(|one| !one.name.starts_with('@')).collect();
    without_scope(&asker, unscoped.get(..WELL_KNOWN).unwrap_or(&unscoped))?;
    mistyped(&asker, &most_used(&pypi, MISTYPED), &known)
}

/// The packages of a list, with ranks by their downloads where it has no ranks.
fn packages(file: &Path) -> Result<Vec<Package>, Box<dyn Error>> {
    let mut lines = BufReader::new(File::open(file)?).lines();
    let head = lines.next().ok_or("a list is empty")??;
    let columns: Vec<&str> = head.split('\t').collect();
    let column = |begins: &str| columns.iter().position(|column| column.starts_with(begins));
    let summary = column("summary").ok_or("a list has no summaries")?;
    let (rank, downloads) = (column("rank"), column("downloads"));
    let mut packages = Vec::new();
    let mut used: Vec<(u64, usize)> = Vec::new();
    for line in lines {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        if let Some(downloads) = downloads {
            used.push((field(downloads).parse().unwrap_or(0), packages.len()));
        }
        packages.push(Package {
            name: field(0).to_owned(),
            summary: field(summary).to_owned(),
            rank: rank.and_then(|rank| field(rank).parse().ok()),
        });
    }
    used.sort_unstable_by(|a, b| b.cmp(a));
    for (rank, (_, at)) in (1..=RANKED).zip(used) {
        if let Some(package) = packages.get_mut(at) {
            package.rank = Some(rank);
        }
    }
    Ok(packages)
}

fn load(
    engine: &Engine,
    space: &str,
    packages: &[Package],
    has_priority: bool,
) -> Result<(), Box<dyn Error>> {
    engine.put_space(SpaceSettings::new(space, format!("{space}://packages/{{+name}}")))?;
    for some in packages.chunks(COMMIT_PACKAGES) {
        let puts = some.iter().map(|package| {
            let binding =
                Binding { name: "name".into(), value: Value::String(package.name.clone()) };
            let address = Address::Variables(vec![binding]);
            let mut resource =
                Resource::text(space, address, "text/plain", package.summary.clone());
            if let Some(rank) = package.rank.filter(|_| has_priority) {
                let share = rank as f64 / RANKED as f64;
                let spread = PRIORITY_MAX - PRIORITY_MIN;
                resource.annotations.priority =
                    Some((PRIORITY_MAX - spread * share).clamp(0.0, 1.0));
            }
            Mutation::Put(Box::new(resource))
        });
        // Some names are no part of a URI.
        engine.commit(puts.collect())?;
    }
    Ok(())
}

fn most_used(packages: &[Package], count: usize) -> Vec<&Package> {
    let mut ranked: Vec<&Package> = packages.iter().filter(|one| one.rank.is_some()).collect();
    ranked.sort_by_key(|one| one.rank);
    ranked.truncate(count);
    ranked
}

/// A name without what may be spelled in several ways.
fn letters(name: &str) -> String {
    let kept = name.chars().filter(|one| !matches!(one, '-' | '_' | '.'));
    kept.flat_map(char::to_lowercase).collect()
}

struct Asker<'a> {
    engine: &'a Engine,
    access: Access,
}

impl Asker<'_> {
    /// The URIs that are found without their scheme and host, with the space before: `pypi/requests`.
    fn ask(&self, query: &str, space: Option<&str>) -> Result<Vec<String>, Box<dyn Error>> {
        let request =
            SearchRequest { space, snippet_bytes: 0, ..search::request(query, &self.access) };
        let hits = self.engine.search(&request)?.hits;
        Ok(hits.into_iter().map(|hit| hit.uri.replacen("://packages", "", 1)).collect())
    }
}

/// Counts of answers, and what was wrong with some.
#[derive(Default)]
struct Counts {
    counts: HashMap<&'static str, usize>,
    shown: Vec<String>,
}

impl Counts {
    fn add(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    fn show(&mut self, query: &str, name: &str, found: &[String]) {
        if self.shown.len() < SHOWN_MAX {
            let found = found.get(..found.len().min(3)).unwrap_or_default();
            self.shown.push(format!("  {query} ({name}): {found:?}"));
        }
    }

    fn print(&self, what: &str, all: usize) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{what}: {all}")?;
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_unstable_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (kind, count) in counts {
            writeln!(out, "  {kind}: {count} ({:.2} %)", 100.0 * *count as f64 / all as f64)?;
        }
        self.shown.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

fn by_name(asker: &Asker<'_>, asked: &[&Package]) -> Result<(), Box<dyn Error>> {
    let mut counts = Counts::default();
    for package in asked {
        let found = asker.ask(&package.name, None)?;
        let first = found.first().map(String::as_str).unwrap_or_default();
        let (space, name) = first.split_once('/').unwrap_or_default();
        if (space, name) == ("pypi", package.name.as_str()) {
            counts.add("first");
        } else if name == package.name {
            counts.add("the package of that name on the other list is first");
        } else if letters(name) == letters(&package.name) {
            counts.add("the name spelled otherwise is first");
        } else {
            counts.add("another package is first");
            counts.show(&package.name, &package.name, &found);
        }
    }
    Ok(counts.print("names of Python packages", asked.len())?)
}

fn without_scope(asker: &Asker<'_>, asked: &[&Package]) -> Result<(), Box<dyn Error>> {
    for (what, space) in
        [("names of npm packages, in npm", Some("npm")), ("names of npm packages, in both", None)]
    {
        let mut counts = Counts::default();
        for package in asked {
            let found = asker.ask(&package.name, space)?;
            let first = found.first().map(String::as_str).unwrap_or_default();
            if first == format!("npm/{}", package.name) {
                counts.add("first");
            } else if first == format!("pypi/{}", package.name) {
                counts.add("the package of that name on the other list is first");
            } else {
                counts.add("another package is first");
                counts.show(&package.name, &package.name, &found);
            }
        }
        counts.print(what, asked.len())?;
    }
    Ok(())
}

fn mistyped(
    asker: &Asker<'_>,
    asked: &[&Package],
    known: &HashSet<String>,
) -> Result<(), Box<dyn Error>> {
    let mut counts = Counts::default();
    let mut random = Random(SEED);
    let mut asked_count = 0;
    for package in asked {
        let query = with_error(&package.name, &mut random);
        if letters(&query) == letters(&package.name) {
            continue; // a sign that does not count is no error
        }
        asked_count += 1;
        let is_name = known.contains(&letters(&query));
        let found = asker.ask(&query, None)?;
        let wanted = letters(&package.name);
        let place = found
            .iter()
            .position(|uri| uri.split_once('/').is_some_and(|(_, name)| letters(name) == wanted));
        match place {
            Some(0) => counts.add("first"),
            Some(_) => counts.add("among ten, not first"),
            None => counts.add("not among ten"),
        }
        if place != Some(0) && is_name {
            counts.add("of those not first, the error is another package's name");
        }
        if place.is_none() && is_name {
            counts.add("of those not among ten, the error is another package's name");
        } else if place.is_none() {
            counts.show(&query, &package.name, &found);
        }
    }
    Ok(counts.print("names with one typing error", asked_count)?)
}

/// A letter too many, one too few, another one, or two in the wrong order.
fn with_error(name: &str, random: &mut Random) -> String {
    let chars: Vec<char> = name.chars().collect();
    loop {
        let mut wrong = chars.clone();
        let at = random.below(chars.len().max(1));
        let letter = u8::try_from(random.below(26)).map_or('x', |one| char::from(b'a' + one));
        match random.below(4) {
            0 => wrong.insert(at, letter),
            1 if at < wrong.len() => drop(wrong.remove(at)),
            2 if at + 1 < wrong.len() => wrong.swap(at, at + 1),
            _ => {
                if let Some(one) = wrong.get_mut(at) {
                    *one = letter;
                }
            }
        }
        if wrong != chars && !wrong.is_empty() {
            return wrong.into_iter().collect();
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        usize::try_from(mixed % bound).unwrap_or(0)
    }
}
