//! The engine's one error type: what kind of fault, about which thing, and what is wrong with it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The most characters of a caller's input that an error repeats.
const QUOTED_CHARS_MAX: usize = 200;
/// The most bytes of one text that an error shows: of what is wrong, and of its cause.
pub const TEXT_BYTES_MAX: usize = 1024;
/// Stands for what was left out.
const LEFT_OUT: &str = "...";

/// What kind of fault an [`Error`] is. Callers decide by kind; people read the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No such resource, space or cursor target, or one that the caller may not see.
    NotFound,
    /// A URI that is not one (RFC 3986), or whose escapes are not UTF-8.
    InvalidUri,
    /// A fragment that is not one of RFC 5147, or does not fit the resource.
    InvalidFragment,
    /// A template that RFC 6570 does not allow, or that cannot be matched.
    InvalidTemplate,
    /// A cursor that this store did not make for this list.
    InvalidCursor,
    /// A record whose fields do not fit together.
    InvalidRecord,
    /// Another resource or space stands in the way.
    Conflict,
    /// The resource does not have the version that the caller expects.
    VersionMismatch,
    /// A bound was reached; the text names it.
    LimitExceeded,
    /// Stored bytes that cannot be what was written.
    Corrupt,
    /// The operating system or RocksDB could not read or write.
    Io,
    /// A write failed; the store refuses writes until writing works again, and goes on reading.
    Poisoned,
    /// The engine is shutting down.
    Closed,
    /// Another process owns the data directory.
    Locked,
    /// The store was written by a program that this one does not know.
    UnknownFormat,
}

/// A fault of the engine. `Display` prints the subject and the fault, never its source. What it prints is bounded, however
/// long the input was that it is about.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    subject: String,
    detail: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` about `subject` (a URI, a path, a space), with what is wrong and the way out.
    pub fn new(kind: ErrorKind, subject: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, subject: subject.into(), detail: detail.into(), source: None }
    }

    /// The same error with the fault that caused it.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The thing it is about, whole.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The error with the fault that caused it: RocksDB's text names the file.
    pub fn with_cause(&self) -> String {
        match &self.source {
            Some(source) => format!("{self}: {}", shortened(&source.to_string(), TEXT_BYTES_MAX)),
            None => self.to_string(),
        }
    }

    /// What is wrong, without the subject, as it is printed.
    pub fn detail(&self) -> Cow<'_, str> {
        shortened(&self.detail, TEXT_BYTES_MAX)
    }
}

/// Input as an error repeats it: a long one is cut, since its sender has it already.
pub fn quoted(input: &str) -> Cow<'_, str> {
    match input.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}{LEFT_OUT}", input.get(..end).unwrap_or_default()).into(),
        None => input.into(),
    }
}

/// A text of at most so many bytes: of a longer one its beginning and its end, which says the way out.
pub fn shortened(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return text.into();
    }
    let kept = bytes_max.saturating_sub(LEFT_OUT.len());
    let (head, _) = text.split_at(text.floor_char_boundary(kept / 2));
    let (_, tail) = text.split_at(text.ceil_char_boundary(text.len().saturating_sub(kept / 2)));
    format!("{head}{LEFT_OUT}{tail}").into()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subject.is_empty() {
            f.write_str(&self.detail())
        } else {
            write!(f, "{}: {}", quoted(&self.subject), self.detail())
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_prints_is_bounded_and_keeps_the_way_out() {
        let long = "\u{e9}".repeat(100_000);
        let detail = format!("the group `{long}` does not fit: name another");
        let error = Error::new(ErrorKind::Conflict, long.clone(), detail).with_source(long);
        let printed = error.with_cause();
        assert!(printed.len() < 4 * TEXT_BYTES_MAX, "{}", printed.len());
        assert!(error.to_string().contains("\u{e9}...: the group `\u{e9}"), "{error}");
        assert!(error.to_string().ends_with("\u{e9}` does not fit: name another"), "{error}");
        let short = Error::new(ErrorKind::Conflict, "a", "b").with_source("c");
        assert_eq!(short.with_cause(), "a: b: c");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        for (text, bytes_max, wanted) in [
            ("abcdefgh", 8, "abcdefgh"),
            ("abcdefghi", 7, "ab...hi"),
            ("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", 9, "\u{e9}...\u{e9}"),
            ("abcdefghi", 2, "..."),
        ] {
            assert_eq!(shortened(text, bytes_max), wanted, "{text} {bytes_max}");
        }
    }
}
