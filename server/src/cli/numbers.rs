//! Numbers as people write and read them.

/// Units of bytes, each 1,024 of the one before.
const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/// Digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with the noun that goes with it: `1 resource`, `1,204 resources`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Bytes in the unit that leaves at most four digits, with one decimal.
pub(super) fn bytes_text(bytes: u64) -> String {
    if bytes < 1024 {
        return counted(bytes, "byte", "bytes");
    }
    let mut unit = 0;
    // In tenths, so that no float is needed.
    let mut tenths = u128::from(bytes) * 10;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let whole = u64::try_from(tenths / 10).unwrap_or(u64::MAX);
    format!("{}.{} {}", grouped(whole), tenths % 10, UNITS.get(unit).unwrap_or(&"bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_read_them() {
        for (number, text) in [
            (0, "0 files"),
            (1, "1 file"),
            (999, "999 files"),
            (1_204, "1,204 files"),
            (10_000_000, "10,000,000 files"),
        ] {
            assert_eq!(counted(number, "file", "files"), text);
        }
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1_023, "1,023 bytes"),
            (1_024, "1.0 KiB"),
            (1_048_575, "1,023.9 KiB"),
            (1_048_576, "1.0 MiB"),
            (157_286_400, "150.0 MiB"),
            (1 << 40, "1.0 TiB"),
            (u64::MAX, "16,777,215.9 TiB"),
        ] {
            assert_eq!(bytes_text(bytes), text);
        }
    }
}
