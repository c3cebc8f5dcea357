//! Moments as they go on the wire.

use jiff::SignedDuration;
use jiff::civil::DateTime;

use crate::resource::UnixMillis;

/// When `UnixMillis` begins.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A time of RFC 3339 in UTC, `2025-01-12T15:00:58Z`, with a fraction where there is one; `None` outside years 0 to 9999.
///
/// `jiff::Timestamp` ends a day before the year 9999 does, so the clock's time is printed instead.
pub fn rfc_3339(millis: UnixMillis) -> Option<String> {
    let clock = EPOCH.checked_add(SignedDuration::from_millis(millis)).ok()?;
    (clock.year() >= 0).then(|| format!("{clock}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_printed_to_the_end_of_the_calendar() {
        for (millis, text) in [
            (1_736_694_058_120, Some("2025-01-12T15:00:58.12Z")),
            (0, Some("1970-01-01T00:00:00Z")),
            (-1, Some("1969-12-31T23:59:59.999Z")),
            (253_402_214_400_000, Some("9999-12-31T00:00:00Z")),
            (253_402_300_799_999, Some("9999-12-31T23:59:59.999Z")),
            (253_402_300_800_000, None),
            (-62_167_219_200_000, Some("0000-01-01T00:00:00Z")),
            (-62_167_219_200_001, None),
            (i64::MAX, None),
            (i64::MIN, None),
        ] {
            assert_eq!(rfc_3339(millis).as_deref(), text, "{millis}");
        }
    }
}
