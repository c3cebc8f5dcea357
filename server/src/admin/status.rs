//! The engine's errors as statuses of gRPC. The plane's callers are operators: they get the whole text.

use pressmark_index::error::{Error, ErrorKind};
use tonic::{Code, Status};

/// The status of an error, with its causes.
pub(super) fn of(error: &Error) -> Status {
    Status::new(code(error.kind()), error.with_cause())
}

/// What gRPC calls a kind of fault.
pub(crate) fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::InvalidUri
        | ErrorKind::InvalidFragment
        | ErrorKind::InvalidTemplate
        | ErrorKind::InvalidCursor
        | ErrorKind::InvalidRecord
        | ErrorKind::LimitExceeded => Code::InvalidArgument,
        ErrorKind::Conflict => Code::FailedPrecondition,
        ErrorKind::VersionMismatch => Code::Aborted,
        ErrorKind::Corrupt => Code::DataLoss,
        ErrorKind::Poisoned | ErrorKind::Closed => Code::Unavailable,
        ErrorKind::Io => Code::Internal,
        ErrorKind::Locked | ErrorKind::UnknownFormat => Code::FailedPrecondition,
    }
}
