//! What is wrong with a configuration file, and where.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A wrong key or value, or a file that cannot be read. `Display`: `file:line: key: what is wrong`.
#[derive(Debug)]
pub struct ConfigError {
    file: PathBuf,
    line: Option<usize>,
    key: Option<String>,
    detail: String,
    source: Option<io::Error>,
}

/// A value that cannot be taken, before its line is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) key: &'static str,
    /// Bytes of the text.
    pub(super) span: Range<usize>,
    pub(super) detail: String,
}

impl ConfigError {
    pub(super) fn read(file: &Path, source: io::Error) -> Self {
        Self::unreadable(file, "cannot be read; check --config", source)
    }

    /// The same for a file that was not named with `--config`.
    pub(super) fn unreadable(file: &Path, detail: &str, source: io::Error) -> Self {
        let detail = detail.to_owned();
        Self { file: file.to_path_buf(), line: None, key: None, detail, source: Some(source) }
    }

    pub(super) fn toml(file: &Path, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| line_of(text, span.start));
        let key = error.span().and_then(|span| key_at(text, span.start));
        let detail = error.message().replace('\n', "; ");
        Self { file: file.to_path_buf(), line, key, detail, source: None }
    }

    pub(super) fn value(file: &Path, text: &str, fault: Fault) -> Self {
        Self {
            file: file.to_path_buf(),
            line: Some(line_of(text, fault.span.start)),
            key: Some(fault.key.to_owned()),
            detail: fault.detail,
            source: None,
        }
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The key with its table, such as `server.listen`.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at.min(text.len())).unwrap_or_default();
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// The key of the line in which a fault that TOML's reader found stands, with the table above it.
///
/// The reader's errors do not say it. A value that began on an earlier line has its key there, so lines without an
/// equals sign are passed over.
fn key_at(text: &str, at: usize) -> Option<String> {
    let line_end = text.get(at..)?.find('\n').map_or(text.len(), |end| at + end);
    let mut key = None;
    for line in text.get(..line_end)?.lines().rev() {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let table = table.0.trim_start_matches('[').trim();
            return Some(match key {
                Some(key) => format!("{table}.{key}"),
                None => table.to_owned(),
            });
        }
        if key.is_none() && !line.starts_with('#') {
            key = line.split_once('=').map(|(key, _)| key.trim().to_owned());
        }
    }
    key
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {key}")?;
        }
        write!(f, ": {}", self.detail)
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}
