//! The command line: what can be said, and which function does it.

mod complete;
mod descriptors;
mod inspect;
mod load;
mod open;
mod search;
mod serve;
mod space;
mod stdio;
mod try_lines;
mod verify;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::parse_address;
use crate::extraction::pdf;
use crate::telemetry::{self, LogFormat, TelemetryConfig};

/// Some records or checks failed; the rest was done.
pub const EXIT_PARTLY: u8 = 1;
/// Nothing was done: a wrong argument or configuration, a store that cannot be opened.
pub const EXIT_REFUSED: u8 = 2;

const EXAMPLES: &str = "Examples:
  pressmark serve ~/handbook ~/notes            serve two folders at http://127.0.0.1:7411/mcp
  pressmark stdio ~/handbook                    the same for a host that starts its servers itself
  pressmark read docs://handbook/README.md --data DIR
  pressmark load pypi packages.ndjson --config pressmark.toml";

const LOAD_EXAMPLES: &str = "Examples:
  pressmark load pypi packages.ndjson more.tsv.zst     with the columns of [space.columns] in pressmark.toml
  export | pressmark load tickets - --format csv       from another program
  pressmark load pypi *.csv.gz --errors refused.ndjson keep what was refused, with file, line and reason

Exit codes: 0 all records are in, 1 some were refused or a file failed, 2 nothing was loaded.";

const COMPLETE_EXAMPLES: &str = "Examples:
  pressmark complete pypi name req --data DIR
  pressmark complete papers name \"\" --context team=core --context year=2025 --data DIR";

const SEARCH_EXAMPLES: &str = "Examples:
  pressmark search \"web framework\" --data DIR
  pressmark search 'title:flask -django async*' --space pypi --limit 20
  pressmark search numpy --json --data DIR | jq -r .uri

All words are wanted; then most of them. \"phrases\" stand together, -word leaves out, prefix* begins words.";

/// Serves huge document collections to AI hosts as MCP resources.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct Common {
    /// Configuration file; without PATHs, `pressmark.toml` of the current folder is taken if it is there
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory; by default a folder named after the configuration or the PATHs
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// What is logged to stderr, e.g. `info`, `warn` or `pressmark=debug`
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        default_value = "info",
        env = "PRESSMARK_LOG"
    )]
    log: String,
    /// Form of the log lines
    #[arg(long, global = true, value_enum, default_value_t = LogForm::Text)]
    log_format: LogForm,
}

impl Common {
    /// A store with the configuration that belongs to it; what is logged is not said.
    fn of_store(config: Option<PathBuf>, data: PathBuf) -> Self {
        Self { config, data: Some(data), log: String::new(), log_format: LogForm::Text }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogForm {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve MCP over Streamable HTTP; PATHs are folders (or files) to index and watch
    Serve {
        /// Folders or files; each becomes a space `docs://<name>/{+path}`
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Address of the MCP endpoint (127.0.0.1:7411 when neither this nor the configuration says it)
        #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
        listen: Option<SocketAddr>,
    },
    /// Serve MCP over stdin and stdout, for hosts that start their servers
    Stdio {
        /// Folders or files; each becomes a space `docs://<name>/{+path}`
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Load records from files (or stdin) into a space: NDJSON, CSV, TSV, plain, gzip or zstd
    #[command(after_help = LOAD_EXAMPLES)]
    Load(load::LoadArgs),
    /// Print a resource, a part of one (`#line=0,20`), or the entries of a folder
    Read {
        /// Its URI
        uri: String,
    },
    /// Print the best values of a template's variable for what is typed
    #[command(after_help = COMPLETE_EXAMPLES)]
    Complete(complete::CompleteArgs),
    /// Print the resources that hold the words asked for, the best first
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(search::SearchArgs),
    /// Print the URI and title of everything that is listed
    List,
    /// Add, list or remove spaces
    Space {
        #[command(subcommand)]
        command: SpaceCommand,
    },
    /// Check every derived key of the store against the truth
    Verify,
    /// Print figures of the store
    Stats,
    /// Read a PDF from stdin and write its text to stdout: what the server starts for each one
    #[command(name = pdf::SUBCOMMAND, hide = true)]
    ExtractPdf,
}

#[derive(Debug, Subcommand)]
enum SpaceCommand {
    /// Add a space, or change its settings
    Add(space::AddArgs),
    /// Print all spaces
    List,
    /// Remove a space with all its resources
    Remove {
        /// Its name
        name: String,
    },
}

/// Parses the command line and does what it says.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let log = TelemetryConfig {
        filter: cli.common.log.clone(),
        format: match cli.common.log_format {
            LogForm::Text => LogFormat::Text,
            LogForm::Json => LogFormat::Json,
        },
    };
    if let Err(error) = telemetry::init(&log) {
        return refuse(&format!("--log {}: {error}", cli.common.log));
    }
    match run(&cli) {
        Ok(code) => code,
        // `pressmark list | head`: who reads has seen enough.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Refused(error)) => refuse(&error),
    }
}

/// Why a command did not end as it should.
#[derive(Debug)]
enum Failure {
    /// What is wrong, for the person at the terminal.
    Refused(String),
    /// Nobody reads what is printed any more.
    OutputClosed,
}

impl From<String> for Failure {
    fn from(error: String) -> Self {
        Self::Refused(error)
    }
}

/// What became of printing a result.
fn printed(result: std::io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::Refused(format!("stdout: {error}")),
    })
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Serve { paths, listen } => Ok(serve::http(common, paths, *listen)?),
        Command::Stdio { paths } => Ok(stdio::stdio(common, paths)?),
        Command::Load(arguments) => Ok(load::run(common, arguments)?),
        Command::Read { uri } => inspect::read(common, uri),
        Command::Complete(arguments) => complete::run(common, arguments),
        Command::Search(arguments) => search::run(common, arguments),
        Command::List => inspect::list(common),
        Command::Space { command } => space::run(common, command),
        Command::Verify => verify::run(common),
        Command::Stats => inspect::stats(common),
        Command::ExtractPdf => {
            pdf::run().map_err(|error| format!("stdin: {error}"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn refuse(error: &str) -> ExitCode {
    say(&format!("pressmark: {error}"));
    ExitCode::from(EXIT_REFUSED)
}

/// A line for the person at the terminal. On stderr, because stdout carries results, and on stdio MCP.
/// A terminal that has gone away is no reason to fail.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// An error with its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
