//! `pressmark load`: records from files into a space.

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::open::{open, setup, wait_for_full_text};
use super::{Common, EXIT_PARTLY, EXIT_REFUSED, chain, say};
use crate::loading::format::{Quoting, RecordFormat};
use crate::loading::input::is_stdin;
use crate::loading::pipeline::{LoadCounts, LoadPlan, load};
use crate::loading::progress::{Progress, rate};
use crate::loading::refusals::Refusals;

/// The rate of fewer records says nothing.
const RATE_RECORDS_MIN: u64 = 10_000;

#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// The space's name
    space: String,
    /// Files of records: .ndjson, .csv, .tsv, plain or compressed (.gz, .zst); `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How the records are written, whatever the files are named
    #[arg(long, value_enum)]
    format: Option<RecordFormat>,
    /// Whether fields of CSV and TSV may stand in quotes [default: double for CSV, none for TSV]
    #[arg(long, value_enum)]
    quoting: Option<Quoting>,
    /// What separates the fields of CSV and TSV [default: comma for CSV, tab for TSV]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// How many refused records are printed; the others are only counted
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    errors_max: u64,
    /// Write all refused records here: NDJSON with `file`, `line`, `field` and `reason`
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
}

pub(super) fn run(common: &Common, arguments: &LoadArgs) -> Result<ExitCode, String> {
    if arguments.format.is_none() && arguments.files.iter().any(|file| is_stdin(file)) {
        return Err("`-` has no name that tells its format: say --format ndjson, csv or tsv".into());
    }
    let setup = setup(common, &[])?;
    let engine = open(&setup, "load")?;
    let spaces = engine.spaces();
    let Some(space) = spaces.by_name(&arguments.space) else {
        return Err(format!(
            "there is no space `{}`: declare it in the configuration as [[space]], or add it with `pressmark space add`",
            arguments.space
        ));
    };
    let configured =
        setup.config.spaces.iter().find(|known| known.settings.name == arguments.space);
    let plan = LoadPlan {
        files: arguments.files.clone(),
        format: arguments.format,
        quoting: arguments.quoting,
        delimiter: arguments.delimiter,
        columns: configured.map(|space| space.columns.clone()).unwrap_or_default(),
    };
    let errors = arguments
        .errors
        .as_ref()
        .map(|path| File::create(path).map_err(|error| format!("{}: {error}", path.display())))
        .transpose()?;
    engine.tune_for_bulk_load();
    let progress = Progress::new(&plan.files);
    let refusals = Refusals::new(&progress, arguments.errors_max, errors);
    let (counts, loaded) = load(&engine, space, &plan, &progress, &refusals);
    let written = refusals.finish();
    let elapsed = progress.finish();
    say(&summary(&counts));
    if done(&counts) >= RATE_RECORDS_MIN {
        say(&format!("{} in {:.1} s", rate(done(&counts), elapsed), elapsed.as_secs_f64()));
    }
    loaded.map_err(|error| chain(&error))?;
    wait_for_full_text(&engine);
    written.map_err(|error| format!("--errors: {error}"))?;
    Ok(exit_code(&counts))
}

/// Records that are in the store now.
fn done(counts: &LoadCounts) -> u64 {
    counts.created + counts.updated + counts.unchanged
}

fn summary(counts: &LoadCounts) -> String {
    let LoadCounts { created, updated, unchanged, refused, failed_files } = counts;
    let mut line = format!(
        "{} records loaded: {created} created, {updated} updated, {unchanged} unchanged; {refused} refused",
        done(counts)
    );
    match failed_files {
        0 => {}
        1 => line.push_str("; 1 file failed"),
        count => line.push_str(&format!("; {count} files failed")),
    }
    line
}

fn exit_code(counts: &LoadCounts) -> ExitCode {
    let failed = counts.refused > 0 || counts.failed_files > 0;
    match (failed, done(counts)) {
        (false, _) => ExitCode::SUCCESS,
        (true, 0) => ExitCode::from(EXIT_REFUSED),
        (true, _) => ExitCode::from(EXIT_PARTLY),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [b'\n' | b'\r' | b'"'] => Err("a line end or a quote separates no fields".to_owned()),
        [byte] => Ok(*byte),
        _ if text == "\\t" => Ok(b'\t'),
        _ => Err("write one ASCII character, or \\t for a tab".to_owned()),
    }
}
