//! Logs: to stderr, because on stdio stdout carries only MCP messages.

use std::borrow::Cow;
use std::io::{self, Stderr, Write};

use tracing_subscriber::{EnvFilter, filter::ParseError};

use crate::terminal::{self, Colour};

/// How logs are written.
#[derive(Debug, Clone)]
pub struct TelemetryConfig {
    /// What is logged, such as `info` or `pressmark=debug,warn`.
    pub filter: String,
    /// The form of a line.
    pub format: LogFormat,
    /// When a line for people has colours.
    pub colour: Colour,
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// Stderr for log lines: the names of files in them may hold characters that act on a terminal.
struct Lines {
    stderr: Stderr,
    escaped: fn(&str) -> Cow<'_, str>,
}

// === impl Lines ===

impl Lines {
    fn new(format: LogFormat, has_colours: bool) -> Self {
        let escaped = match (format, has_colours) {
            (LogFormat::Json, _) => terminal::escaped_json,
            (LogFormat::Text, true) => around_colours,
            (LogFormat::Text, false) => terminal::escaped,
        };
        Self { stderr: io::stderr(), escaped }
    }
}

impl Write for Lines {
    /// Takes a whole line: the formatter writes each event at once.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.stderr.lock().write_all((self.escaped)(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stderr.flush()
    }
}

/// A line with its own colours. The formatter has escaped those of its values already.
fn around_colours(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return terminal::escaped(line);
    }
    let pieces: Vec<_> = line.split('\u{1b}').map(terminal::escaped).collect();
    pieces.join("\u{1b}").into()
}

/// Starts logging for the process; a second call changes nothing.
///
/// # Errors
/// A filter that cannot be read.
pub fn init(config: &TelemetryConfig) -> Result<(), ParseError> {
    let filter = EnvFilter::builder().parse(&config.filter)?;
    let format = config.format;
    let has_colours = format == LogFormat::Text && config.colour.shows_on(&io::stderr());
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(has_colours)
        .with_writer(move || Lines::new(format, has_colours));
    // A subscriber that a test or an embedding program has set stays.
    let _already_set = match format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().try_init(),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coloured_line_keeps_its_colours_and_nothing_else_that_acts() {
        assert_eq!(
            around_colours("\u{1b}[32m INFO\u{1b}[0m a\u{202e}b\u{7}\n"),
            "\u{1b}[32m INFO\u{1b}[0m a\\u{202e}b\\u{7}\n"
        );
    }
}
