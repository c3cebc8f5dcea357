//! `pressmark backup` and `pressmark restore`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pressmark_index::backup;
use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::numbers::{bytes_text, grouped};
use super::open::setup;
use super::output::{Failure, Out, Shown, chain};
use super::target::Target;

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// Where the copy goes: a folder that is not there yet, or empty, on the machine that has the store
    folder: PathBuf,
    /// An earlier copy on the same file system: what has not changed since is shared with it
    #[arg(long, value_name = "FOLDER")]
    previous: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// The copy
    copy: PathBuf,
}

/// A copy that is made, or put in its place.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    folder: &'a str,
    through_sequence: u64,
    bytes_shared: u64,
    bytes_copied: u64,
}

/// Has the store of `--data`, which no server may own, or of the server, copied.
pub(super) fn backup(common: &Common, arguments: &BackupArgs) -> Result<ExitCode, Failure> {
    let request = v1::BackupRequest {
        folder: absolute(&arguments.folder)?,
        previous: arguments.previous.as_deref().map(absolute).transpose()?.unwrap_or_default(),
    };
    let target = Target::look(common, "backup")?;
    let mut messages = target.wait(target.operations().backup(request))?;
    let mut shown = Shown::new(common);
    let mut report = None;
    while let Some(message) = target.next(&mut messages)? {
        let v1::BackupResponse { bytes_done, bytes_total, report: last } = message;
        shown.progress(|| progress(bytes_done, bytes_total));
        report = last;
    }
    drop(shown);
    let report = report.ok_or("the copy ended without a report")?;
    print(common, &report)?;
    Ok(ExitCode::SUCCESS)
}

/// Puts a copy in the place of `--data`, which must not be there yet, or be empty.
pub(super) fn restore(common: &Common, arguments: &RestoreArgs) -> Result<ExitCode, Failure> {
    let data_dir = setup(common, &[])?.data_dir;
    let mut shown = Shown::new(common);
    let restored = backup::restore(&arguments.copy, &data_dir, &mut |done| {
        shown.progress(|| progress(done.bytes_done, done.bytes_total));
    });
    drop(shown);
    let restored = restored.map_err(|error| chain(&error))?;
    print(
        common,
        &v1::BackupReport {
            folder: data_dir.display().to_string(),
            through_sequence: restored.sequence,
            bytes_shared: restored.bytes_shared,
            bytes_copied: restored.bytes_copied,
        },
    )?;
    common.remark("pressmark: `pressmark verify` checks it");
    Ok(ExitCode::SUCCESS)
}

/// Another process may be in another folder.
fn absolute(folder: &Path) -> Result<String, Failure> {
    let path =
        std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("{}: its name is not UTF-8, as gRPC wants it", path.display()).into()),
    }
}

fn print(common: &Common, report: &v1::BackupReport) -> Result<(), Failure> {
    let v1::BackupReport { folder, through_sequence, bytes_shared, bytes_copied } = report;
    let (through_sequence, bytes_shared, bytes_copied) =
        (*through_sequence, *bytes_shared, *bytes_copied);
    let mut out = Out::new();
    if common.json {
        out.json(&Report { folder, through_sequence, bytes_shared, bytes_copied })?;
    } else {
        out.line(&format!(
            "{folder}: all changes up to {}; {} shared, {} copied",
            grouped(through_sequence),
            bytes_text(bytes_shared),
            bytes_text(bytes_copied)
        ))?;
    }
    out.end()
}

fn progress(bytes_done: u64, bytes_total: u64) -> String {
    format!("{} of {}", bytes_text(bytes_done), bytes_text(bytes_total))
}
