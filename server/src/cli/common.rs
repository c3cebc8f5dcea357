//! Options that several commands have: which store is meant, and how the command speaks.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};

use super::output::say;
use crate::telemetry::{LogFormat, TelemetryConfig};
use crate::terminal::{self, Colour};

/// The heading of the options that say which store a command works on.
const STORE: &str = "Which store";
/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// What is logged when nothing else is asked for.
const LOG_DEFAULT: &str = "info";
/// What is logged with `--quiet`.
const LOG_QUIET: &str = "warn";

#[derive(Debug, Clone, Args)]
pub(super) struct Common {
    /// Configuration file; without PATHs, `pressmark.toml` of the current folder is taken if it is there
    #[arg(long, global = true, value_name = "FILE", help_heading = STORE)]
    pub(super) config: Option<PathBuf>,
    /// Data directory; by default a folder named after the configuration or the PATHs, else $PRESSMARK_DATA
    #[arg(long, global = true, value_name = "DIR", help_heading = STORE)]
    pub(super) data: Option<PathBuf>,
    /// Ask the running server whose admin plane is at this address; `auto`: the one that has the data directory
    #[arg(long, global = true, value_name = "ADDRESS", value_parser = parse_admin, help_heading = STORE)]
    pub(super) admin: Option<Admin>,
    /// The token that the server's plane wants, where it is beyond loopback
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "PRESSMARK_ADMIN_TOKEN_FILE",
        value_parser = OsStringValueParser::new().map(PathBuf::from),
        help_heading = STORE
    )]
    pub(super) admin_token_file: Option<PathBuf>,
    /// Print results as JSON, and what is wrong as a JSON object on stderr
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(super) json: bool,
    /// Print results and faults only: no counts, no progress, no notes; logs warnings unless --log says more
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    quiet: bool,
    /// When output has colours; `auto`: on a terminal, unless NO_COLOR is set or TERM is dumb
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t = When::Auto,
        help_heading = GLOBAL
    )]
    color: When,
    /// What is logged to stderr, e.g. `info`, `warn` or `pressmark=debug` [default: info]
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        env = "PRESSMARK_LOG",
        help_heading = GLOBAL
    )]
    log: Option<String>,
    /// Form of the log lines; with `json` every line on stderr is a JSON object
    #[arg(
        long,
        global = true,
        value_name = "FORM",
        value_enum,
        default_value_t = LogForm::Text,
        help_heading = GLOBAL
    )]
    log_format: LogForm,
}

/// Which server is asked.
#[derive(Debug, Clone)]
pub(super) enum Admin {
    /// The one whose plane is at this URL.
    At(String),
    /// The one that has the data directory.
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogForm {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

// === impl Common ===

impl Common {
    /// A store with the configuration that belongs to it; what is logged is not said.
    pub(super) fn of_store(config: Option<PathBuf>, data: PathBuf) -> Self {
        Self {
            config,
            data: Some(data),
            admin: None,
            admin_token_file: None,
            json: false,
            quiet: false,
            color: When::Auto,
            log: None,
            log_format: LogForm::Text,
        }
    }

    /// Something to know for the person at the terminal. Programs get results and faults only, and a JSON log takes it
    /// as an event.
    pub(super) fn remark(&self, line: &str) {
        match (self.json || self.quiet, self.log_format) {
            (true, _) => {}
            (false, LogForm::Text) => say(line),
            (false, LogForm::Json) => tracing::info!("{}", line.trim()),
        }
    }

    /// Whether lines on stderr are JSON: errors are then.
    pub(super) fn has_json_errors(&self) -> bool {
        self.json || self.log_format == LogForm::Json
    }

    /// Whether progress is of no interest, or could not be read by whoever reads stderr.
    pub(super) fn hides_progress(&self) -> bool {
        self.quiet || self.has_json_errors()
    }

    /// Whether results on stdout have colours.
    pub(super) fn has_colours(&self) -> bool {
        self.colour().shows_on(&std::io::stdout())
    }

    pub(super) fn telemetry(&self) -> TelemetryConfig {
        let filter = match (&self.log, self.quiet) {
            (Some(filter), _) => filter.as_str(),
            (None, true) => LOG_QUIET,
            (None, false) => LOG_DEFAULT,
        };
        let format = match self.log_format {
            LogForm::Text => LogFormat::Text,
            LogForm::Json => LogFormat::Json,
        };
        TelemetryConfig { filter: filter.to_owned(), format, colour: self.colour() }
    }

    fn colour(&self) -> Colour {
        match self.color {
            When::Auto => Colour::Auto,
            When::Always => Colour::Always,
            When::Never => Colour::Never,
        }
    }
}

pub(super) fn parse_admin(text: &str) -> Result<Admin, String> {
    match text.split_once("://") {
        None if text == "auto" => Ok(Admin::Auto),
        None => Ok(Admin::At(format!("http://{text}"))),
        Some(("http", _)) => Ok(Admin::At(text.to_owned())),
        Some((scheme, _)) => Err(format!(
            "the admin plane does not speak {}; write an address such as 127.0.0.1:7412, or `auto`",
            terminal::escaped(scheme)
        )),
    }
}
