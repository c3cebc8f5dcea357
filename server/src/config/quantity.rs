//! Durations and sizes as people write them.

use std::time::Duration;

pub(super) const MIB: u64 = 1024 * 1024;

const DURATION_UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60 * 1000), ("h", 3_600_000), ("d", 86_400_000)];

const SIZE_UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("KiB", 1024),
    ("MiB", MIB),
    ("GiB", 1024 * MIB),
    ("TiB", 1024 * 1024 * MIB),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Longer durations are mistakes, and arithmetic with them could overflow.
const DAYS_MAX: u64 = 36_500;

pub(super) const fn days(days: u64) -> Duration {
    Duration::from_secs(days * 86_400)
}

/// One whole number with one unit: `200ms`, `30s`, `5m`, `1h`, `7d`.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let refused = || {
        format!(
            "{text:?} is no duration; write a whole number with a unit: \"200ms\", \"30s\", \"5m\", \"1h\" or \"7d\""
        )
    };
    let (number, factor) = number_and_unit(text, &DURATION_UNITS).ok_or_else(refused)?;
    number
        .checked_mul(factor)
        .map(Duration::from_millis)
        .filter(|duration| *duration <= days(DAYS_MAX))
        .ok_or_else(|| format!("{text:?} is longer than {DAYS_MAX} days"))
}

/// One whole number with one unit, such as `64 MiB`.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let refused = || {
        format!(
            "{text:?} is no number of bytes; write an integer, or one with a unit: \"64 MiB\", \"512 KiB\", \"2 GB\""
        )
    };
    let (number, factor) = number_and_unit(text, &SIZE_UNITS).ok_or_else(refused)?;
    number.checked_mul(factor).ok_or_else(|| format!("{text:?} is too large"))
}

fn number_and_unit(text: &str, units: &[(&str, u64)]) -> Option<(u64, u64)> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = unit.trim_start_matches(' ');
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some((number.parse().ok()?, *factor))
}
