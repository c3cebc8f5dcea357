//! Moments as people and models write them: a date, or a time of RFC 3339.
//!
//! jiff's own timestamps end a day before the year 9999 does, so that clocks anywhere can show them, and its parser takes
//! offsets of more than a day and not every fraction. Here the clock's time is jiff's, and the offset is ours.

use jiff::civil::{Date, DateTime};
use pressmark_index::resource::UnixMillis;

use crate::error::quoted;

/// Digits of a second's fraction that are looked at; RFC 3339 allows any number.
const FRACTION_DIGITS_MAX: usize = 9;
/// When `UnixMillis` begins.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// The moment that an argument names, if it does: a time, or a date, which stands for its beginning in UTC.
pub(crate) fn moment(name: &str, text: Option<String>) -> Result<Option<UnixMillis>, String> {
    let Some(text) = text else {
        return Ok(None);
    };
    parse(&text).map(Some).ok_or_else(|| {
        let text = quoted(&text);
        format!("`{name}` is `{text}`; write a date such as `2026-01-31` or a time such as `2026-01-31T12:00:00Z`")
    })
}

fn parse(text: &str) -> Option<UnixMillis> {
    time(text).or_else(|| since_epoch(date(text)?.at(0, 0, 0, 0), 0))
}

/// A time of RFC 3339.
pub(crate) fn time(text: &str) -> Option<UnixMillis> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let (time, offset_minutes) = match rest.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0),
        None => offset(rest)?,
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_clock = time.len() == "00:00:00".len()
        && time.split(':').all(|number| number.len() == 2 && all_digits(number));
    if !is_clock || fraction.is_empty() || !all_digits(fraction) {
        return None;
    }
    let fraction = fraction.get(..FRACTION_DIGITS_MAX).unwrap_or(fraction);
    let date = self::date(date)?;
    since_epoch(format!("{date}T{time}.{fraction}").parse().ok()?, offset_minutes)
}

fn date(text: &str) -> Option<Date> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    text.parse().ok().filter(|_| is_plain)
}

/// A time, and how many minutes its clock is before UTC.
fn offset(text: &str) -> Option<(&str, i64)> {
    let (time, offset) = text.split_at_checked(text.rfind(['+', '-'])?)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let number = |text: &str, below: i64| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|number| is_number && *number < below)
    };
    let minutes = number(hours, 24)? * 60 + number(minutes, 60)?;
    Some((time, if offset.starts_with('-') { -minutes } else { minutes }))
}

fn since_epoch(clock: DateTime, offset_minutes: i64) -> Option<UnixMillis> {
    let millis = i64::try_from(clock.duration_since(EPOCH).as_millis()).ok()?;
    millis.checked_sub(offset_minutes * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_moments() {
        for (text, millis) in [
            ("1970-01-01", 0),
            ("1970-01-02", 86_400_000),
            ("1970-01-01T00:00:01Z", 1_000),
            ("1970-01-01t00:00:01z", 1_000),
            ("1970-01-01 00:00:01Z", 1_000),
            ("1970-01-02T00:00:00+01:00", 82_800_000),
            ("1969-12-31T18:30:00-05:30", 0),
            ("1970-01-01T00:00:00.5Z", 500),
            ("1970-01-01T00:00:00.123456789012Z", 123),
            ("1970-01-01T23:59:00+23:59", 0),
            ("9999-12-31", 253_402_214_400_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
            ("9999-12-31T23:59:59.999-23:59", 253_402_387_139_999),
            ("9999-12-31T23:59:59.999999999Z", 253_402_300_799_999),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ] {
            assert_eq!(parse(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "yesterday",
            "2026-02-30",
            "2026-13-01",
            "2026-01-31T",
            "2026-01-31T12:00:00",
            "2026-01-31T25:00:00Z",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00+24:00",
            "2026-01-31T12:00:00+01:60",
            "2026-01-31T12:00:00+1:00",
            "2026-01-31T12:00:00+0530",
            "2026-01-31T00:00Z",
            "2026-01-31T000000Z",
            "2026-01-31T12:00:00+01:00+01:00",
            "2026-01-31T12:00:00Z[Europe/Paris]",
            "2026-01-31Z",
            "10000-01-01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
