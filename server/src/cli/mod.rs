//! The command line: what can be said, and which function does it.

mod command_line;
mod common;
mod examples;
mod numbers;
mod output;
mod target;

mod backup;
mod complete;
mod delete;
mod descriptors;
mod dump;
mod inspect;
mod list;
mod load;
mod manual;
mod open;
mod prompt;
mod put;
mod reindex;
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

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use self::command_line::Parsed;
use self::common::{Admin, Common};
use self::examples::{
    BACKUP_EXAMPLES, COMPLETE_EXAMPLES, COMPLETIONS_EXAMPLES, DUMP_EXAMPLES, EXAMPLES,
    LIST_EXAMPLES, LOAD_EXAMPLES, PROMPT_EXAMPLES, PUT_EXAMPLES, REINDEX_EXAMPLES, SEARCH_EXAMPLES,
};
use self::output::{Failure, Refusal, USAGE, refuse, say};
use crate::config::{AdminListen, parse_address, parse_admin_listen};
use crate::extraction::child;
use crate::{telemetry, terminal, version};

/// Some records or checks failed; the rest was done.
pub const EXIT_PARTLY: u8 = 1;
/// Nothing was done: a wrong argument or configuration, a store that cannot be opened.
pub const EXIT_REFUSED: u8 = 2;

/// Serves huge document collections to AI hosts as MCP resources.
#[derive(Debug, Parser)]
#[command(version = version::LONG.as_str(), about, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
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
    /// Print the URI and title of what hosts are shown, or of everything
    #[command(after_help = LIST_EXAMPLES)]
    List(list::ListArgs),
    /// Print all resources of a space as NDJSON that `load` takes back
    #[command(after_help = DUMP_EXAMPLES)]
    Dump(dump::DumpArgs),
    /// Put one resource: the bytes of a file or of stdin
    #[command(after_help = PUT_EXAMPLES)]
    Put(put::PutArgs),
    /// Delete resources
    Delete(delete::DeleteArgs),
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
    /// Rebuild the indexes of completion and search from the resources
    #[command(after_help = REINDEX_EXAMPLES)]
    Reindex(reindex::ReindexArgs),
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
    /// Read documents for the server, which starts this and talks to it through pipes
    #[command(name = child::SUBCOMMAND, hide = true)]
    ExtractDocuments,
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
    let Parsed { cli, idle_option } = match command_line::parse() {
        Ok(parsed) => parsed,
        Err(error) => return unreadable(&error),
    };
    let json = cli.common.has_json_errors();
    let log = cli.common.telemetry();
    if let Err(error) = telemetry::init(&log) {
        let message = format!("--log {}: {error}", log.filter);
        return refuse(&Refusal { code: USAGE, message }, json);
    }
    let done = match idle_option {
        Some(idle) => Err(idle.into()),
        None => run(&cli),
    };
    match done {
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
    if is_wrong && command_line::wants_json_errors() {
        let text = error.to_string();
        let message = text.trim().trim_start_matches("error: ").to_owned();
        return refuse(&Refusal { code: USAGE, message }, true);
    }
    let text = error.to_string();
    let shown = terminal::escaped(&text);
    if is_wrong && shown != text {
        // It repeats an argument that would act on the terminal, and colours would be escaped as well.
        say(shown.trim_end());
    } else {
        // A terminal that has gone away is no reason to fail.
        let _ = error.print();
    }
    if is_wrong { ExitCode::from(EXIT_REFUSED) } else { ExitCode::SUCCESS }
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Serve { paths, listen, admin_listen } => {
            serve::http(common, paths, *listen, *admin_listen)
        }
        Command::Stdio { paths } => stdio::stdio(common, paths),
        Command::Load(arguments) => load::run(common, arguments),
        Command::Read { uri } => inspect::read(common, uri),
        Command::Complete(arguments) => complete::run(common, arguments),
        Command::Search(arguments) => search::run(common, arguments),
        Command::List(arguments) => list::run(common, arguments),
        Command::Dump(arguments) => dump::run(common, arguments),
        Command::Put(arguments) => put::run(common, arguments),
        Command::Delete(arguments) => delete::run(common, arguments),
        Command::Space { command } => space::run(common, command),
        Command::Prompt { command } => prompt::run(common, command),
        Command::Verify => verify::run(common),
        Command::Reindex(arguments) => reindex::run(common, arguments),
        Command::Stats => stats::run(common),
        Command::Backup(arguments) => backup::backup(common, arguments),
        Command::Restore(arguments) => backup::restore(common, arguments),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
        Command::ExtractDocuments => {
            child::run().map_err(|error| format!("{}: {error}", child::SUBCOMMAND))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
