//! `pressmark backup` and `pressmark restore`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use pressmark_index::backup::{self, BackupReport, BackupRequest, Progress};
use pressmark_proto::v1::operations_service_client::OperationsServiceClient;
use pressmark_proto::v1::{self, BackupResponse};

use super::open::{open_existing, setup};
use super::serve::runtime;
use super::{Common, Failure, chain, printed, say};

/// How often a line tells how far it is where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// Where the copy goes: a folder that is not there yet, or empty
    folder: PathBuf,
    /// An earlier copy on the same file system: what has not changed since is shared with it
    #[arg(long, value_name = "FOLDER")]
    previous: Option<PathBuf>,
    /// Let the running server whose admin plane is here make the copy, e.g. http://127.0.0.1:7412
    #[arg(long, value_name = "URL")]
    admin: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// The copy
    copy: PathBuf,
}

/// Copies the store of `--data`, which no server may own, or has the server copy its own.
pub(super) fn backup(common: &Common, arguments: &BackupArgs) -> Result<ExitCode, Failure> {
    let folder = std::path::absolute(&arguments.folder)
        .map_err(|error| format!("{}: {error}", arguments.folder.display()))?;
    let report = match &arguments.admin {
        Some(url) => on_server(url, &folder, arguments.previous.as_deref())?,
        None => {
            let (_, engine) = open_existing(common, "backup")?;
            let previous = arguments.previous.as_deref();
            let mut shown = Shown::new();
            let request = BackupRequest { folder: &folder, previous };
            let report = engine.backup(&request, &mut |progress| shown.progress(progress));
            shown.end();
            report.map_err(|error| chain(&error))?
        }
    };
    let mut out = std::io::stdout().lock();
    printed(writeln!(out, "{}: {}", folder.display(), summary(&report)))?;
    Ok(ExitCode::SUCCESS)
}

/// Puts a copy in the place of `--data`, which must not be there yet, or be empty.
pub(super) fn restore(common: &Common, arguments: &RestoreArgs) -> Result<ExitCode, Failure> {
    let data_dir = setup(common, &[])?.data_dir;
    let mut shown = Shown::new();
    let restored =
        backup::restore(&arguments.copy, &data_dir, &mut |progress| shown.progress(progress));
    shown.end();
    let report = restored.map_err(|error| chain(&error))?;
    let mut out = std::io::stdout().lock();
    printed(writeln!(out, "{}: {}", data_dir.display(), summary(&report)))?;
    say("pressmark: `pressmark verify` checks it");
    Ok(ExitCode::SUCCESS)
}

fn summary(report: &BackupReport) -> String {
    format!(
        "all changes up to {}; {} shared, {} copied",
        report.sequence,
        mebibytes(report.bytes_shared),
        mebibytes(report.bytes_copied)
    )
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) / (1024 * 1024);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

fn on_server(url: &str, folder: &Path, previous: Option<&Path>) -> Result<BackupReport, String> {
    let path = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("{}: its name is not UTF-8, as gRPC wants it", path.display())),
    };
    let previous = previous
        .map(|previous| std::path::absolute(previous).map_err(|error| error.to_string()))
        .transpose()?;
    let request = v1::BackupRequest {
        folder: path(folder)?,
        previous: previous.as_deref().map(path).transpose()?.unwrap_or_default(),
    };
    let runtime = runtime()?;
    runtime.block_on(async {
        let mut client = OperationsServiceClient::connect(url.to_owned())
            .await
            .map_err(|error| format!("{url}: {}", chain(&error)))?;
        let failed = |status: tonic::Status| format!("{url}: {}", status.message());
        let mut stream = client.backup(request).await.map_err(failed)?.into_inner();
        let mut shown = Shown::new();
        let mut report = None;
        while let Some(response) = stream.message().await.map_err(failed)? {
            let BackupResponse { bytes_done, bytes_total, report: last } = response;
            shown.progress(Progress { bytes_done, bytes_total });
            report = last;
        }
        shown.end();
        let report = report.ok_or_else(|| format!("{url}: the server ended without a report"))?;
        Ok(BackupReport {
            sequence: report.through_sequence,
            bytes_shared: report.bytes_shared,
            bytes_copied: report.bytes_copied,
        })
    })
}

/// Progress on stderr: one line that changes on a terminal, a line now and then elsewhere.
struct Shown {
    terminal: bool,
    last_line: Instant,
}

impl Shown {
    fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), last_line: Instant::now() }
    }

    fn progress(&mut self, progress: Progress) {
        let Progress { bytes_done, bytes_total } = progress;
        let line = format!("{} of {}", mebibytes(bytes_done), mebibytes(bytes_total));
        if self.terminal {
            let _ = write!(std::io::stderr().lock(), "\r{line}");
        } else if self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            say(&line);
        }
    }

    fn end(&self) {
        if self.terminal {
            say("");
        }
    }
}
