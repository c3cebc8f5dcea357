//! What the fields of a record mean, in whichever format it is written, and why one is refused.

use pressmark_index::error::{TEXT_BYTES_MAX, shortened};
use pressmark_index::resource::{Address, Binding, Role, UnixMillis};

use crate::moment;

/// Why something is no record: the field, where it is known, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordError {
    /// The field, e.g. `blob`; empty for the record as a whole.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl std::fmt::Display for RecordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.reason)
        } else {
            write!(f, "{}: {}", self.field, self.reason)
        }
    }
}

impl std::error::Error for RecordError {}

pub(super) fn wrong<T>(field: &str, reason: impl Into<String>) -> Result<T, RecordError> {
    let reason = shortened(&reason.into(), TEXT_BYTES_MAX).into_owned();
    Err(RecordError { field: field.to_owned(), reason })
}

/// Where a record stands; that both say the same is for the engine to find out.
pub(crate) fn address(
    uri: Option<String>,
    variables: Option<Vec<Binding>>,
) -> Result<Address, RecordError> {
    match (uri, variables) {
        (Some(uri), None) => Ok(Address::Uri(uri)),
        (None, Some(variables)) => Ok(Address::Variables(variables)),
        (Some(uri), Some(variables)) => Ok(Address::Both { uri, variables }),
        (None, None) => {
            wrong("uri", "a record needs `uri`, or `variables` of the space's template")
        }
    }
}

/// The text of a record, or the place where it is none.
pub(super) fn utf8<'a>(field: &str, bytes: &'a [u8]) -> Result<&'a str, RecordError> {
    std::str::from_utf8(bytes).or_else(|error| {
        wrong(
            field,
            format!("not UTF-8 (byte {}); convert the file first", error.valid_up_to() + 1),
        )
    })
}

pub(super) fn blob(field: &str, text: &str) -> Result<Vec<u8>, RecordError> {
    base64_simd::STANDARD
        .decode_to_vec(text)
        .or_else(|_| wrong(field, "not base64 of the standard alphabet with padding"))
}

pub(super) fn role(field: &str, text: &str) -> Result<Role, RecordError> {
    match text {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        other => wrong(field, format!("`{other}` is neither `user` nor `assistant`")),
    }
}

/// A time of RFC 3339, e.g. `2025-01-12T15:00:58Z`.
pub(super) fn timestamp(field: &str, text: &str) -> Result<UnixMillis, RecordError> {
    match moment::time(text) {
        Some(time) => Ok(time),
        None => wrong(field, format!("`{text}` is no time like `2025-01-12T15:00:58Z`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_rfc_3339() {
        assert_eq!(timestamp("t", "9999-12-31T23:59:59.999999999Z"), Ok(253_402_300_799_999));
        assert_eq!(timestamp("t", "2025-01-12T15:00:58+05:30").ok(), Some(1_736_674_258_000));
        for text in [
            "2025-01-12",
            "2025-01-12T00:00Z",
            "2025-01-12T15:00:58+0530",
            "2025-01-12T15:00:58+24:00",
        ] {
            assert!(timestamp("t", text).is_err(), "{text}");
        }
    }
}
