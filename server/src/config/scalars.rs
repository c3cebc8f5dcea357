//! Checks of single values: names, sizes, counts, durations.

use std::num::NonZeroU32;
use std::time::Duration;

use super::quantity::{parse_bytes, parse_duration};
use super::raw::{RawBytes, RawCount, RawDuration};

const SPACE_NAME_CHARACTERS_MAX: usize = 64;
/// No count of requests or sessions needs more; a larger one is a mistake.
pub(super) const COUNT_MAX: i64 = 10_000_000;

pub(super) fn space_name(name: &str) -> Result<(), String> {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    if (1..=SPACE_NAME_CHARACTERS_MAX).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(format!("{name:?} is no name of a space; use 1 to 64 of a-z, 0-9, _ and -"))
}

/// A name or address, with or without a port; in lower case, as it is compared.
pub(super) fn host_name(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if text.is_empty() || !text.bytes().all(allowed) {
        return Err(format!(
            "{text:?} is no host name; write one such as \"docs.example.com\", without scheme, path or wildcard"
        ));
    }
    Ok(text.to_ascii_lowercase())
}

pub(super) fn mime_type(text: &str) -> Result<(), String> {
    let essence = text.split(';').next().unwrap_or(text).trim();
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    match essence.split_once('/') {
        Some((kind, subtype)) if is_token(kind) && is_token(subtype) => Ok(()),
        _ => Err(format!("{text:?} is no MIME type; write one such as \"text/plain\"")),
    }
}

pub(super) fn bytes(raw: RawBytes) -> Result<u64, String> {
    let bytes = bytes_or_none(raw)?;
    if bytes == 0 { Err("must be at least 1 byte".to_owned()) } else { Ok(bytes) }
}

pub(super) fn bytes_or_none(raw: RawBytes) -> Result<u64, String> {
    match raw {
        RawBytes::Integer(bytes) => {
            u64::try_from(bytes).map_err(|_| format!("{bytes} is no number of bytes"))
        }
        RawBytes::Text(text) => parse_bytes(&text),
    }
}

pub(super) fn count(RawCount::Integer(number): RawCount, max: i64) -> Result<usize, String> {
    let allowed = Some(number).filter(|number| (1..=max).contains(number));
    allowed
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| format!("{number} is not between 1 and {max}"))
}

pub(super) fn count_or_none(
    RawCount::Integer(number): RawCount,
    max: i64,
) -> Result<usize, String> {
    let allowed = Some(number).filter(|number| (0..=max).contains(number));
    allowed
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| format!("{number} is not between 0 and {max}"))
}

pub(super) fn rate(number: RawCount) -> Result<NonZeroU32, String> {
    let number = count(number, COUNT_MAX)?;
    u32::try_from(number)
        .ok()
        .and_then(NonZeroU32::new)
        .ok_or_else(|| format!("{number} is not between 1 and {}", u32::MAX))
}

pub(super) fn duration(RawDuration::Text(text): RawDuration) -> Result<Duration, String> {
    parse_duration(&text)
}

pub(super) fn positive_duration(RawDuration::Text(text): RawDuration) -> Result<Duration, String> {
    positive(&text)
}

pub(super) fn positive(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text)?;
    if duration.is_zero() { Err("must be longer than nothing".to_owned()) } else { Ok(duration) }
}

pub(super) fn non_empty(text: &str) -> Result<(), String> {
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(()) }
}
