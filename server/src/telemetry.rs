//! Logs: to stderr, because on stdio stdout carries only MCP messages.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, filter::ParseError};

/// How logs are written.
#[derive(Debug, Clone)]
pub struct TelemetryConfig {
    /// What is logged, such as `info` or `pressmark=debug,warn`.
    pub filter: String,
    /// The form of a line.
    pub format: LogFormat,
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// Colours are for people at a terminal who do not refuse them (no-color.org): a file or a collector gets none.
fn colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !refused
}

/// Starts logging for the process; a second call changes nothing.
///
/// # Errors
/// A filter that cannot be read.
pub fn init(config: &TelemetryConfig) -> Result<(), ParseError> {
    let filter = EnvFilter::builder().parse(&config.filter)?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colours())
        .with_writer(std::io::stderr);
    // A subscriber that a test or an embedding program has set stays.
    let _already_set = match config.format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().try_init(),
    };
    Ok(())
}
