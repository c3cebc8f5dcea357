//! The engine's one error type: what kind of fault, about which thing, and what is wrong with it.

use std::fmt;
use std::sync::Arc;

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

/// A fault of the engine. `Display` prints the subject and the fault, never its source.
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

    /// The thing it is about.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The error with the fault that caused it: RocksDB's text names the file.
    pub fn with_cause(&self) -> String {
        match &self.source {
            Some(source) => format!("{self}: {source}"),
            None => self.to_string(),
        }
    }

    /// What is wrong, without the subject.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subject.is_empty() {
            f.write_str(&self.detail)
        } else {
            write!(f, "{}: {}", self.subject, self.detail)
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}
