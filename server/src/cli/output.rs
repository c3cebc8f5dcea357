//! What a command says: results on stdout, everything else on stderr, as text for people or as JSON for programs.

use std::io::{BufWriter, StdoutLock, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use pressmark_index::error::shortened;
use serde::Serialize;
use tonic::Code;

use super::EXIT_REFUSED;
use super::common::Common;
use super::open::NotOpened;
use crate::terminal;

/// How often a line tells how far something is where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Why a command did not end as it should.
#[derive(Debug)]
pub(super) enum Failure {
    /// What is wrong, for the person at the terminal.
    Refused(Refusal),
    /// The same, after some of it was done.
    CutOff(Refusal),
    /// Nobody reads what is printed any more.
    OutputClosed,
}

/// What is wrong.
#[derive(Debug)]
pub(super) struct Refusal {
    /// What kind of fault it is, for programs.
    pub(super) code: &'static str,
    /// The thing, the place and the way out.
    pub(super) message: String,
}

/// What is wrong takes no more bytes than this: an argument that it repeats may be much longer.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;

/// The code of what the command line itself refuses.
pub(super) const REFUSED: &str = "REFUSED";
/// The code of a command line that cannot be read.
pub(super) const USAGE: &str = "USAGE";

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Refused(Refusal { code: REFUSED, message })
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::from(message.to_owned())
    }
}

impl From<NotOpened> for Failure {
    fn from(not_opened: NotOpened) -> Self {
        match not_opened {
            NotOpened::Owned(message) => {
                Self::Refused(Refusal { code: code_name(Code::FailedPrecondition), message })
            }
            NotOpened::Refused(message) => Self::from(message),
        }
    }
}

/// The name that gRPC gives a code: programs find it in its documentation.
pub(super) fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Says what is wrong; the code says that nothing was done.
pub(super) fn refuse(refusal: &Refusal, json: bool) -> ExitCode {
    #[derive(Serialize)]
    struct Document<'a> {
        error: Error<'a>,
    }
    #[derive(Serialize)]
    struct Error<'a> {
        code: &'a str,
        message: &'a str,
    }
    let Refusal { code, message } = refusal;
    let message = &*shortened(message, MESSAGE_BYTES_MAX);
    if json {
        say(&json_text(&Document { error: Error { code, message } }));
    } else {
        say(&format!("pressmark: {message}"));
    }
    ExitCode::from(EXIT_REFUSED)
}

/// A line for the person at the terminal. On stderr, because stdout carries results, and on stdio MCP. Nothing in it can
/// act on the terminal. A terminal that has gone away is no reason to fail.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", terminal::escaped(line));
}

/// An error with its causes on one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Where results go.
pub(super) struct Out {
    writer: BufWriter<StdoutLock<'static>>,
}

// === impl Out ===

impl Out {
    pub(super) fn new() -> Self {
        Self { writer: BufWriter::new(std::io::stdout().lock()) }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        printed(self.writer.write_all(bytes))
    }

    /// A line; nothing in it can act on a terminal.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Failure> {
        printed(writeln!(self.writer, "{}", terminal::escaped(line)))
    }

    /// A document on a line of its own.
    pub(super) fn json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        printed(writeln!(self.writer, "{}", json_text(document)))
    }

    /// Has everything written.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        printed(self.writer.flush())
    }
}

/// What became of printing a result.
fn printed(result: std::io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::from(format!("stdout: {error}")),
    })
}

fn json_text(document: &impl Serialize) -> String {
    // What is printed are strings, numbers, and lists and objects of them, which always encode.
    let json = serde_json::to_string(document).unwrap_or_default();
    terminal::escaped_json(&json).into_owned()
}

/// How far something is, on stderr: a line that changes on a terminal, a line now and then elsewhere, nothing for programs.
pub(super) struct Shown {
    kind: ShownKind,
    last_line: Instant,
}

enum ShownKind {
    Terminal,
    Lines,
    Quiet,
}

// === impl Shown ===

impl Shown {
    pub(super) fn new(common: &Common) -> Self {
        let can_redraw = terminal::can_redraw(&std::io::stderr());
        let kind = match (common.hides_progress(), can_redraw) {
            (true, _) => ShownKind::Quiet,
            (false, true) => ShownKind::Terminal,
            (false, false) => ShownKind::Lines,
        };
        Self { kind, last_line: Instant::now() }
    }

    pub(super) fn progress(&mut self, line: impl FnOnce() -> String) {
        match self.kind {
            ShownKind::Terminal => {
                let _ = write!(std::io::stderr().lock(), "\r{}", terminal::escaped(&line()));
            }
            ShownKind::Lines if self.last_line.elapsed() >= LINE_INTERVAL => {
                self.last_line = Instant::now();
                say(&line());
            }
            ShownKind::Lines | ShownKind::Quiet => {}
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        // What comes next begins on a line of its own.
        if matches!(self.kind, ShownKind::Terminal) {
            say("");
        }
    }
}
