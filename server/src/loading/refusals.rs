//! What was refused and why: on the terminal up to a number, in a file all of it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use parking_lot::Mutex;
use serde::Serialize;

use super::fields::RecordError;
use super::progress::Progress;

/// How refusals are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A line for people.
    Text,
    /// A JSON object a line, with the fields of the file.
    Json,
}

/// Where refusals go, from all threads of a load.
pub struct Refusals<'a> {
    progress: &'a Progress,
    form: Form,
    printed_max: u64,
    state: Mutex<State>,
}

struct State {
    /// Refused records and warnings that were printed.
    printed: u64,
    unprinted: u64,
    file: Option<BufWriter<File>>,
    write_error: Option<io::Error>,
}

/// A line of the file of refusals.
#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    field: &'a str,
    reason: &'a str,
}

/// A warning, printed as JSON.
#[derive(Serialize)]
struct Warning<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    warning: &'a str,
}

// === impl Refusals ===

impl<'a> Refusals<'a> {
    /// Prints the first `printed_max`, and writes all to `file` as NDJSON: `file`, `line`, `field`, `reason`.
    pub fn new(progress: &'a Progress, form: Form, printed_max: u64, file: Option<File>) -> Self {
        let file = file.map(BufWriter::new);
        let state = State { printed: 0, unprinted: 0, file, write_error: None };
        Self { progress, form, printed_max, state: Mutex::new(state) }
    }

    /// A record that did not go in.
    pub fn record(&self, path: &Path, line: u64, error: &RecordError) {
        let mut state = self.state.lock();
        let (field, reason) = (error.field.as_str(), error.reason.as_str());
        let entry = Entry { file: &path.to_string_lossy(), line: Some(line), field, reason };
        self.print(&mut state, format_args!("{}:{line}: {error}", path.display()), &entry);
        state.write(&entry);
    }

    /// A file that could not be read, or not to its end.
    pub fn file(&self, path: &Path, reason: &str) {
        let mut state = self.state.lock();
        // There are few of them, and each is something that the person has to mend: none is left out.
        let entry = Entry { file: &path.to_string_lossy(), line: None, field: "", reason };
        match self.form {
            Form::Text => self.progress.print(&format!("{}: {reason}", path.display())),
            Form::Json => self.progress.print(&json(&entry)),
        }
        state.write(&entry);
    }

    /// A record that went in, with something that one should know about it.
    pub fn warning(&self, path: &Path, line: u64, text: &str) {
        let mut state = self.state.lock();
        let warning = Warning { file: &path.to_string_lossy(), line: Some(line), warning: text };
        let shown = format_args!("{}:{line}: warning: {text}", path.display());
        self.print(&mut state, shown, &warning);
    }

    /// Something that one should know about a file that was read.
    pub fn remark(&self, path: &Path, text: &str) {
        let warning = Warning { file: &path.to_string_lossy(), line: None, warning: text };
        match self.form {
            Form::Text => self.progress.print(&format!("{}: {text}", path.display())),
            Form::Json => self.progress.print(&json(&warning)),
        }
    }

    /// Says how many lines were not printed, and completes the file.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(self) -> io::Result<()> {
        let State { unprinted, file, write_error, .. } = self.state.into_inner();
        if unprinted > 0 && self.form == Form::Text {
            self.progress.print(&format!(
                "{unprinted} more lines like these were not printed (--errors-max {})",
                self.printed_max
            ));
        }
        if let Some(error) = write_error {
            return Err(error);
        }
        file.map_or(Ok(()), |mut file| file.flush())
    }

    fn print(&self, state: &mut State, line: fmt::Arguments<'_>, entry: &impl Serialize) {
        if state.printed < self.printed_max {
            state.printed += 1;
            match self.form {
                Form::Text => self.progress.print(&line.to_string()),
                Form::Json => self.progress.print(&json(entry)),
            }
        } else {
            state.unprinted += 1;
        }
    }
}

fn json(entry: &impl Serialize) -> String {
    // Strings and numbers always encode.
    serde_json::to_string(entry).unwrap_or_default()
}

// === impl State ===

impl State {
    fn write(&mut self, entry: &Entry<'_>) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_writer(&mut *file, entry)
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(b"\n"));
        if let Err(error) = written {
            self.file = None;
            self.write_error = Some(error);
        }
    }
}
