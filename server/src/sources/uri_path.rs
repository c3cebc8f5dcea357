//! Relative paths as the value of `{+path}`.

// INTEGRATION: replace `escape_path` by `pressmark_index::resource_uri::escape_path`, which has the same signature.

/// A decoded path as a URI path holds it (RFC 3986 section 3.3): what is not a `pchar` or `/` becomes pct-triplets.
pub(super) fn escape_path(decoded_path: &str) -> String {
    escape_name_bytes(decoded_path.as_bytes())
}

/// The same for raw bytes, for names that are not UTF-8. Such a path is shown to people and never made a URI.
pub(super) fn escape_name_bytes(name: &[u8]) -> String {
    let mut escaped = String::with_capacity(name.len());
    for &byte in name {
        if is_path_byte(byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            for nibble in [byte >> 4, byte & 0x0f] {
                let digit = char::from_digit(u32::from(nibble), 16).unwrap_or('0');
                escaped.push(digit.to_ascii_uppercase());
            }
        }
    }
    escaped
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte)
}
