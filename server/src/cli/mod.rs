//! The command line: what can be said, and which function does it.

mod output;
mod target;

mod backup;
mod complete;
mod descriptors;
mod inspect;
mod load;
mod manual;
mod open;
mod prompt;
mod reload;
mod search;
mod serve;
mod space;
mod stats;
mod stdio;
mod try_lines;
mod verify;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};

use self::output::{Failure, Refusal, USAGE, refuse, say};
use crate::config::{AdminListen, parse_address, parse_admin_listen};
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
  pressmark load pypi packages.ndjson --config pressmark.toml
  pressmark search \"overdue fees\" --admin 127.0.0.1:7412     of the server that runs there

Exit codes: 0 all was done, 1 some of it (a record was refused, a check found a fault), 2 nothing was done.";

const LOAD_EXAMPLES: &str = "Examples:
  pressmark load pypi packages.ndjson more.tsv.zst     with the columns of [space.columns] in pressmark.toml
  export | pressmark load tickets - --format csv       from another program
  pressmark load pypi *.csv.gz --errors refused.ndjson keep what was refused, with file, line and reason
  pressmark load pypi packages.ndjson --admin auto     into the server that has the store of the configuration

Exit codes: 0 all records are in, 1 some of them (others were refused, a file failed, the server went away), 2 none.";

const COMPLETE_EXAMPLES: &str = "Examples:
  pressmark complete pypi name req --data DIR
  pressmark complete papers name \"\" --context team=core --context year=2025 --data DIR";

const PROMPT_EXAMPLES: &str = "Examples:
  pressmark prompt add review.toml --admin 127.0.0.1:7412     hosts hear of it at once
  pressmark prompt list --data DIR";

const BACKUP_EXAMPLES: &str = "Examples:
  pressmark backup /backups/monday --data DIR                     of a store that no server owns
  pressmark backup /backups/monday --admin 127.0.0.1:7412         by the server that owns it
  pressmark backup /backups/tuesday --previous /backups/monday --data DIR
  pressmark restore /backups/monday --data NEW_DIR && pressmark verify --data NEW_DIR";

const SEARCH_EXAMPLES: &str = "Examples:
  pressmark search \"web framework\" --data DIR
  pressmark search 'title:flask -django async*' --space pypi --limit 20
  pressmark search numpy --json --data DIR | jq -r '.results[].uri'

All words are wanted; then most of them. \"phrases\" stand together, -word leaves out, prefix* begins words.";

const COMPLETIONS_EXAMPLES: &str = "Examples:
  pressmark completions bash > ~/.local/share/bash-completion/completions/pressmark
  pressmark completions zsh > ~/.zfunc/_pressmark
  pressmark completions fish > ~/.config/fish/completions/pressmark.fish";

/// Serves huge document collections to AI hosts as MCP resources.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Args)]
struct Common {
    /// Configuration file; without PATHs, `pressmark.toml` of the current folder is taken if it is there
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory; by default a folder named after the configuration or the PATHs
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Ask the running server whose admin plane is at this address; `auto`: the one that has the data directory
    #[arg(long, global = true, value_name = "ADDRESS", value_parser = parse_admin)]
    admin: Option<Admin>,
    /// The token that the server's plane wants, where it is beyond loopback
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "PRESSMARK_ADMIN_TOKEN_FILE",
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    admin_token_file: Option<PathBuf>,
    /// Print results as JSON, and what is wrong as a JSON object on stderr
    #[arg(long, global = true)]
    json: bool,
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
        Self {
            config,
            data: Some(data),
            admin: None,
            admin_token_file: None,
            json: false,
            log: String::new(),
            log_format: LogForm::Text,
        }
    }

    /// Something to know for the person at the terminal; programs are told results and faults only.
    fn remark(&self, line: &str) {
        if !self.json {
            say(line);
        }
    }
}

/// Which server is asked.
#[derive(Debug, Clone)]
enum Admin {
    /// The one whose plane is at this URL.
    At(String),
    /// The one that has the data directory.
    Auto,
}

fn parse_admin(text: &str) -> Result<Admin, String> {
    match text.split_once("://") {
        None if text == "auto" => Ok(Admin::Auto),
        None => Ok(Admin::At(format!("http://{text}"))),
        Some(("http", _)) => Ok(Admin::At(text.to_owned())),
        Some((scheme, _)) => Err(format!(
            "the admin plane does not speak {scheme}; write an address such as 127.0.0.1:7412, or `auto`"
        )),
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
        /// Address of the admin plane, or `off` (127.0.0.1:7412 when neither this nor the configuration says it)
        #[arg(long, value_name = "ADDRESS", value_parser = parse_admin_listen)]
        admin_listen: Option<AdminListen>,
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
    /// Add, list or remove the prompts that are kept in the store
    #[command(after_help = PROMPT_EXAMPLES)]
    Prompt {
        #[command(subcommand)]
        command: PromptCommand,
    },
    /// Check every derived key of the store against the truth
    Verify,
    /// Print figures of the store
    Stats,
    /// Make a copy of the store, also while a server serves it
    #[command(after_help = BACKUP_EXAMPLES)]
    Backup(backup::BackupArgs),
    /// Put a copy in the place of the data directory, which must be empty or not there
    Restore(backup::RestoreArgs),
    /// Print the completions of the command line for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one for each command into a folder
    Man {
        /// The folder, which is there already
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
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

#[derive(Debug, Subcommand)]
enum PromptCommand {
    /// Add the prompts of a file, in place of stored ones with their names
    Add {
        /// A file of `[[prompt]]` tables, as in pressmark.toml
        file: PathBuf,
    },
    /// Print the stored prompts; those that a configuration declares are not among them
    List,
    /// Remove a stored prompt
    Remove {
        /// Its name
        name: String,
    },
}

/// Parses the command line and does what it says.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return unreadable(&error),
    };
    let json = cli.common.json;
    let log = TelemetryConfig {
        filter: cli.common.log.clone(),
        format: match cli.common.log_format {
            LogForm::Text => LogFormat::Text,
            LogForm::Json => LogFormat::Json,
        },
    };
    if let Err(error) = telemetry::init(&log) {
        let message = format!("--log {}: {error}", cli.common.log);
        return refuse(&Refusal { code: USAGE, message }, json);
    }
    match run(&cli) {
        Ok(code) => code,
        // `pressmark list | head`: who reads has seen enough.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Refused(refusal)) => refuse(&refusal, json),
        Err(Failure::CutOff(refusal)) => {
            refuse(&refusal, json);
            ExitCode::from(EXIT_PARTLY)
        }
    }
}

/// A command line that says nothing that can be done; `--help` and `--version` are among them.
fn unreadable(error: &clap::Error) -> ExitCode {
    let is_wrong = !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_wrong && std::env::args_os().any(|argument| argument == "--json") {
        let text = error.to_string();
        let message = text.trim().trim_start_matches("error: ").to_owned();
        return refuse(&Refusal { code: USAGE, message }, true);
    }
    // A terminal that has gone away is no reason to fail.
    let _ = error.print();
    if is_wrong { ExitCode::from(EXIT_REFUSED) } else { ExitCode::SUCCESS }
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let common = &cli.common;
    if common.admin.is_some() && !cli.command.can_ask_a_server() {
        return Err("--admin: this command does not ask a server; leave it out".into());
    }
    match &cli.command {
        Command::Serve { paths, listen, admin_listen } => {
            Ok(serve::http(common, paths, *listen, *admin_listen)?)
        }
        Command::Stdio { paths } => Ok(stdio::stdio(common, paths)?),
        Command::Load(arguments) => load::run(common, arguments),
        Command::Read { uri } => inspect::read(common, uri),
        Command::Complete(arguments) => complete::run(common, arguments),
        Command::Search(arguments) => search::run(common, arguments),
        Command::List => inspect::list(common),
        Command::Space { command } => space::run(common, command),
        Command::Prompt { command } => prompt::run(common, command),
        Command::Verify => verify::run(common),
        Command::Stats => stats::run(common),
        Command::Backup(arguments) => backup::backup(common, arguments),
        Command::Restore(arguments) => backup::restore(common, arguments),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
        Command::ExtractPdf => {
            pdf::run().map_err(|error| format!("stdin: {error}"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Command {
    /// Whether it works on a store that a server may have.
    fn can_ask_a_server(&self) -> bool {
        match self {
            Command::Load(_)
            | Command::Read { .. }
            | Command::Complete(_)
            | Command::Search(_)
            | Command::List
            | Command::Space { .. }
            | Command::Prompt { .. }
            | Command::Verify
            | Command::Stats
            | Command::Backup(_) => true,
            Command::Serve { .. }
            | Command::Stdio { .. }
            | Command::Restore(_)
            | Command::Completions { .. }
            | Command::Man { .. }
            | Command::ExtractPdf => false,
        }
    }
}
