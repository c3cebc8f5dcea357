//! What completion takes over a store that is there, by class, typed length and context: medians and tails, which
//! criterion does not show. It is the processor time of the thread that asks, which waits for nothing but the disk, so
//! that other work on the machine does not make the tails.
//!
//! ```text
//! cargo run --release --package pressmark-benches --example completion_latency -- \
//!     [--only TEXT] DATA_DIR SPACE URIS [GROUP ...]
//! ```
//!
//! `URIS` is a file with URIs of the space, one a line; every so many are taken. What is typed begins their values.
//! With groups, a caller asks who is in them. `--only` asks what has this text in its name in the table.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use pressmark_index::access::Access;
use pressmark_index::completion::{CompletionRequest, VALUES_MAX};
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::resource::{Binding, Value};
use pressmark_index::writer::Durability;
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Questions of each kind.
const QUESTIONS: usize = 4_000;
const TYPED_CHARS_MAX: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let is_only = arguments.next_if(|argument| argument == "--only").is_some();
    let only = if is_only { arguments.next().unwrap_or_default() } else { String::new() };
    let mut next = |what: &str| arguments.next().ok_or_else(|| format!("{what} is missing"));
    let (data_dir, space, uris) = (next("DATA_DIR")?, next("SPACE")?, next("URIS")?);
    let groups: Vec<String> = arguments.collect();
    let options = EngineOptions {
        block_cache_bytes: 256 << 20,
        hot_cache_bytes: 0,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 0,
        full_text: None,
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(7 * 24 * 3600),
        owner: "completion_latency".into(),
    };
    let began = Instant::now();
    let engine = Engine::open(Path::new(&data_dir), &options)?;
    let access = if groups.is_empty() {
        Access::anonymous()
    } else {
        Access::anonymous().with_groups(groups)
    };
    let samples = samples(&engine, &space, Path::new(&uris))?;
    let mut out = io::stdout().lock();
    writeln!(out, "opened in {:?}; {}", began.elapsed(), memory()?)?;
    let began = Instant::now();
    while engine.stats()?.completion.spaces_behind > 0 {
        std::thread::sleep(Duration::from_millis(100));
    }
    writeln!(out, "complete after {:?} more; {}", began.elapsed(), memory()?)?;
    writeln!(
        out,
        "{:<34}{:>9}{:>9}{:>9}{:>9}{:>12}",
        "", "p50 us", "p90", "p99", "longest", "total, mean"
    )?;
    let spaces = engine.spaces();
    let template = spaces.by_name(&space).ok_or("there is no such space")?.matcher.template();
    let variables: Vec<String> = template.variables().map(|spec| spec.name.clone()).collect();
    let run = Run { engine: &engine, space: &space, access: &access, samples: &samples, only };
    for variable in &variables {
        for length in 0..=TYPED_CHARS_MAX {
            run.report(
                &mut out,
                variable,
                &[],
                &|text| begins(text, length),
                &format!("{length} typed"),
            )?;
        }
        run.report(&mut out, variable, &[], &|text| begins(text, 10), "10 typed")?;
        run.report(&mut out, variable, &[], &|text| mistyped(text, 7), "7 typed, 1 wrong")?;
        run.report(&mut out, variable, &[], &|text| mistyped(text, 10), "10 typed, 1 wrong")?;
    }
    for (at, variable) in variables.iter().enumerate() {
        for other in variables.iter().filter(|other| *other != variable) {
            for length in [0, 1, 3, 6] {
                let what = format!("{length} typed, {other} chosen");
                run.report(&mut out, variable, &[other], &|text| begins(text, length), &what)?;
            }
            let what = format!("10 typed, 1 wrong, {other} chosen");
            run.report(&mut out, variable, &[other], &|text| mistyped(text, 10), &what)?;
        }
        let before: Vec<&String> = variables.iter().take(at).collect();
        if before.len() > 1 {
            run.report(
                &mut out,
                variable,
                &before,
                &|text| begins(text, 3),
                "3 typed, all before chosen",
            )?;
        }
    }
    writeln!(out, "{}", memory()?)?;
    Ok(())
}

type Sample = Vec<Binding>;

/// Bindings of URIs from all over the file.
fn samples(engine: &Engine, space: &str, uris: &Path) -> Result<Vec<Sample>, Box<dyn Error>> {
    let spaces = engine.spaces();
    let matcher = &spaces.by_name(space).ok_or("there is no such space")?.matcher;
    let lines = || -> io::Result<_> { Ok(BufReader::new(std::fs::File::open(uris)?).lines()) };
    let step = (lines()?.count() / QUESTIONS).max(1);
    let mut samples = Vec::new();
    for line in lines()?.step_by(step) {
        samples.extend(matcher.match_uri(&line?));
    }
    Ok(samples)
}

struct Run<'a> {
    engine: &'a Engine,
    space: &'a str,
    access: &'a Access,
    samples: &'a [Sample],
    only: String,
}

impl Run<'_> {
    /// Asks for the beginning of each sample's value, with other variables of the sample chosen.
    fn report(
        &self,
        out: &mut dyn Write,
        variable: &str,
        chosen: &[&String],
        typed: &dyn Fn(&str) -> String,
        what: &str,
    ) -> Result<(), Box<dyn Error>> {
        let label = format!("{variable}: {what}");
        if !label.contains(&self.only) {
            return Ok(());
        }
        let mut times = Vec::with_capacity(self.samples.len());
        let mut totals = 0;
        for sample in self.samples {
            let Some(text) = value(sample, variable) else { continue };
            let typed = typed(text);
            let context: Vec<(&str, &str)> = chosen
                .iter()
                .filter_map(|name| Some((name.as_str(), value(sample, name)?)))
                .collect();
            let request = CompletionRequest {
                space: self.space,
                variable,
                typed: &typed,
                context: &context,
                access: self.access,
                count_max: VALUES_MAX,
            };
            let began = processor_time();
            let found = self.engine.complete(&request)?;
            times.push(processor_time().saturating_sub(began));
            totals += found.total.unwrap_or(0);
        }
        times.sort_unstable();
        let at = |share: usize| {
            let place = (times.len() * share / 1_000).min(times.len().saturating_sub(1));
            times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        let mean = totals / u64::try_from(times.len().max(1))?;
        writeln!(
            out,
            "{:<34}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>12}",
            label,
            at(500),
            at(900),
            at(990),
            at(1_000),
            mean
        )?;
        Ok(())
    }
}

/// Of this thread.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn value<'a>(sample: &'a Sample, variable: &str) -> Option<&'a str> {
    sample.iter().find(|binding| binding.name == variable).and_then(|binding| {
        match &binding.value {
            Value::String(text) => Some(text.as_str()),
            Value::List(_) | Value::Map(_) => None,
        }
    })
}

fn begins(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// The same with its third character left out.
fn mistyped(text: &str, length: usize) -> String {
    let left = text.chars().enumerate().filter(|(at, _)| *at != 2);
    left.map(|(_, character)| character).take(length).collect()
}

/// Anonymous and mapped memory of this process (Linux).
fn memory() -> io::Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let wanted = status.lines().filter(|line| line.starts_with("Rss"));
    Ok(wanted
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", "))
}
