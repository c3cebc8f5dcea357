//! `pressmark load`: records from files into a space.

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pressmark_index::background::stand_back;
use pressmark_index::error as index;
use pressmark_index::uri_template::UriTemplate;
use pressmark_proto::v1;
use serde::Serialize;
use tonic::Code;

use super::open::{Setup, configuration, remark_if_failing, setup, wait_for_full_text};
use super::output::{Failure, Out, REFUSED, Refusal, chain, code_name};
use super::target::Target;
use super::{Common, EXIT_PARTLY, EXIT_REFUSED};
use crate::admin::feed::{CutOff, Feed};
use crate::admin::status;
use crate::loading::format::{Quoting, RecordFormat};
use crate::loading::input::is_stdin;
use crate::loading::pipeline::{LoadCounts, LoadPlan, LoadSpace, load};
use crate::loading::progress::{Progress, rate};
use crate::loading::refusals::{Form, Refusals};

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

/// What became of a load, as `--json` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Loaded {
    created: u64,
    updated: u64,
    unchanged: u64,
    refused: u64,
    failed_files: u64,
    seconds: f64,
}

pub(super) fn run(common: &Common, arguments: &LoadArgs) -> Result<ExitCode, Failure> {
    if arguments.format.is_none() && arguments.files.iter().any(|file| is_stdin(file)) {
        return Err("`-` has no name that tells its format: say --format ndjson, csv or tsv".into());
    }
    if common.admin.is_some() {
        // The server's readers may be on this machine.
        stand_back();
    } else {
        check_space(&setup(common, &[])?, &arguments.space)?;
    }
    let target = Target::make(common, "load")?;
    let space = space(&target, &arguments.space)?;
    let plan = plan(common, arguments)?;
    let errors = arguments
        .errors
        .as_ref()
        .map(|path| File::create(path).map_err(|error| format!("{}: {error}", path.display())))
        .transpose()?;
    let progress = if common.hides_progress() {
        Progress::quiet(&plan.files)
    } else {
        Progress::new(&plan.files)
    };
    let form = if common.has_json_errors() { Form::Json } else { Form::Text };
    let refusals = Refusals::new(&progress, form, arguments.errors_max, errors);
    let (counts, loaded) = match target.engine() {
        Some(engine) => {
            engine.tune_for_bulk_load();
            load(engine, &space, &plan, &progress, &refusals)
        }
        None => {
            let feed = Feed::new(target.connection(), target.runtime().clone());
            load(&feed, &space, &plan, &progress, &refusals)
        }
    };
    let written = refusals.finish();
    let elapsed = progress.finish();
    print(common, &counts, elapsed)?;
    loaded.map_err(|fault| cut_off(&*fault, &counts))?;
    if let Some(engine) = target.engine() {
        // So that the next to open the store need not replay up to 512 MiB of its log. What fails here is in the log still.
        let _ = engine.flush();
        remark_if_failing(common, wait_for_full_text(engine, common));
    }
    written.map_err(|error| format!("--errors: {error}"))?;
    Ok(exit_code(&counts))
}

/// Refuses a space that nobody declares before a store is made for it: a store that is not there has no others.
fn check_space(setup: &Setup, name: &str) -> Result<(), Failure> {
    let is_declared = setup.spaces.iter().any(|space| space.name == name);
    if is_declared || !matches!(setup.data_dir.join("store").try_exists(), Ok(false)) {
        return Ok(());
    }
    Err(Failure::Refused(Refusal { code: code_name(Code::NotFound), message: no_space(name) }))
}

fn no_space(name: &str) -> String {
    format!(
        "there is no space `{name}`: declare it in the configuration as [[space]], or add it with `pressmark space add`"
    )
}

fn space(target: &Target, name: &str) -> Result<LoadSpace, Failure> {
    let request = v1::GetSpaceRequest { name: name.to_owned() };
    let space = match target.wait(target.spaces().get_space(request)) {
        Ok(response) => response.space.unwrap_or_default(),
        Err(Failure::Refused(mut refusal)) if refusal.code == "NOT_FOUND" => {
            refusal.message = no_space(name);
            return Err(Failure::Refused(refusal));
        }
        Err(failure) => return Err(failure),
    };
    let matcher = UriTemplate::parse(&space.uri_template).and_then(|template| template.matcher());
    let matcher = matcher.map_err(|error| format!("space `{name}`: {error}"))?;
    Ok(LoadSpace { name: space.name, matcher })
}

fn plan(common: &Common, arguments: &LoadArgs) -> Result<LoadPlan, Failure> {
    let config = configuration(common)?;
    let configured = config.spaces.iter().find(|known| known.settings.name == arguments.space);
    Ok(LoadPlan {
        files: arguments.files.clone(),
        format: arguments.format,
        quoting: arguments.quoting,
        delimiter: arguments.delimiter,
        columns: configured.map(|space| space.columns.clone()).unwrap_or_default(),
    })
}

fn print(common: &Common, counts: &LoadCounts, elapsed: Duration) -> Result<(), Failure> {
    if common.json {
        let LoadCounts { created, updated, unchanged, refused, failed_files } = *counts;
        let seconds = elapsed.as_secs_f64();
        let mut out = Out::new();
        out.json(&Loaded { created, updated, unchanged, refused, failed_files, seconds })?;
        return out.end();
    }
    common.remark(&summary(counts));
    if done(counts) >= RATE_RECORDS_MIN {
        common.remark(&format!(
            "{} in {:.1} s",
            rate(done(counts), elapsed),
            elapsed.as_secs_f64()
        ));
    }
    Ok(())
}

/// What ended a load before its end.
fn cut_off(fault: &(dyn Error + 'static), counts: &LoadCounts) -> Failure {
    let code = match (fault.downcast_ref::<CutOff>(), fault.downcast_ref::<index::Error>()) {
        (Some(cut_off), _) => code_name(cut_off.code()),
        (None, Some(error)) => code_name(status::code(error.kind())),
        (None, None) => REFUSED,
    };
    let refusal = Refusal { code, message: chain(fault) };
    if done(counts) > 0 { Failure::CutOff(refusal) } else { Failure::Refused(refusal) }
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
