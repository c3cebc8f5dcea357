//! What is wrong with a configuration file, and where.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A key that is further from what was written is no help.
const EDITS_MAX: usize = 3;

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
        let message = error.message();
        let detail = unknown_key(message)
            .or_else(|| too_large(text.get(error.span()?)?))
            .unwrap_or_else(|| message.replace('\n', "; "));
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

/// The line of a key of a table, from 1.
pub(crate) fn line_of_key(text: &str, table: &str, key: &str) -> Option<usize> {
    let mut current = "";
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            current = name.trim_start_matches('[').trim();
        } else if current == table && line.split('=').next().is_some_and(|name| name.trim() == key)
        {
            return Some(at + 1);
        }
    }
    None
}

/// What the reader says of a key that there is not, with the one that is most like it first.
fn unknown_key(message: &str) -> Option<String> {
    let (name, rest) = message.strip_prefix("unknown field `")?.split_once('`')?;
    // Every second piece stands between backticks.
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let nearest = known
        .iter()
        .map(|key| (edits(name, key), *key))
        .filter(|(edits, key)| *edits <= EDITS_MAX && *edits < key.chars().count())
        .min();
    let keys = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    Some(match nearest {
        Some((_, nearest)) => {
            format!("unknown key `{name}`: did you mean `{nearest}`? The keys here are {keys}")
        }
        None => format!("unknown key `{name}`: the keys here are {keys}"),
    })
}

/// What is wrong with a value that is a whole number, but not one that TOML has.
fn too_large(value: &str) -> Option<String> {
    let value = value.trim();
    let digits = value.trim_start_matches(['+', '-']);
    let is_integer = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let is_beyond = is_integer && value.replace('_', "").parse::<i64>().is_err();
    is_beyond
        .then(|| format!("{value} is beyond the integers of TOML, {} to {}", i64::MIN, i64::MAX))
}

/// How many characters are put in, left out, changed or swapped with the next one between two words.
fn edits(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, character) in one.iter().enumerate() {
        let mut next = vec![at + 1];
        for (to, wanted) in other.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let changed = cell(&row, to) + usize::from(character != wanted);
            let mut least = changed.min(cell(&row, to + 1) + 1).min(cell(&next, to) + 1);
            let is_swapped = at > 0
                && to > 0
                && one.get(at - 1) == Some(wanted)
                && other.get(to - 1) == Some(character);
            if is_swapped {
                least = least.min(cell(&before, to - 1) + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(usize::MAX)
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
