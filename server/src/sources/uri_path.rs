//! Relative paths as the value of `{+path}`.

pub(super) use pressmark_index::resource_uri::escape_path;

/// The same for the raw bytes of names that are not UTF-8. Such a path is shown to people and never made a URI.
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
