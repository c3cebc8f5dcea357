//! Percent-encoding (RFC 3986 section 2): what may stand raw, and triplets in both directions.

/// A set of ASCII characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CharSet {
    below_64: u64,
    from_64: u64,
}

impl CharSet {
    pub(crate) const fn of(characters: &[u8]) -> Self {
        let mut set = Self { below_64: 0, from_64: 0 };
        let mut rest = characters;
        while let [first, tail @ ..] = rest {
            if *first < 64 {
                set.below_64 |= 1 << *first;
            } else {
                set.from_64 |= 1 << (*first & 63);
            }
            rest = tail;
        }
        set
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self { below_64: self.below_64 | other.below_64, from_64: self.from_64 | other.from_64 }
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self { below_64: self.below_64 & !other.below_64, from_64: self.from_64 & !other.from_64 }
    }

    pub(crate) const fn without(self, byte: u8) -> Self {
        self.minus(Self::of(&[byte]))
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.below_64 & other.below_64 != 0 || self.from_64 & other.from_64 != 0
    }

    pub(crate) const fn has(self, byte: u8) -> bool {
        let word = if byte < 64 { self.below_64 } else { self.from_64 };
        byte < 128 && word >> (byte & 63) & 1 == 1
    }

    /// The same as a table: one load for each byte, for loops over whole URIs.
    #[expect(clippy::indexing_slicing, reason = "the loop ends at the table's length")]
    pub(crate) const fn table(self) -> [bool; 256] {
        let mut table = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            table[byte as usize] = self.has(byte);
            byte += 1;
        }
        table
    }
}

/// `unreserved` of RFC 3986 section 2.3.
pub(crate) const UNRESERVED: CharSet =
    CharSet::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");
/// `sub-delims` of RFC 3986 section 2.2.
pub(crate) const SUB_DELIMS: CharSet = CharSet::of(b"!$&'()*+,;=");
/// `reserved` of RFC 3986 section 2.2.
pub(crate) const RESERVED: CharSet = SUB_DELIMS.and(CharSet::of(b":/?#[]@"));
/// What an authority may hold raw.
pub(crate) const AUTHORITY: CharSet = UNRESERVED.and(SUB_DELIMS).and(CharSet::of(b":@[]"));
/// What a path may hold raw: `pchar` and the slash (section 3.3).
pub(crate) const PATH: CharSet = UNRESERVED.and(SUB_DELIMS).and(CharSet::of(b":@/"));
/// What a query or a fragment may hold raw (sections 3.4 and 3.5).
pub(crate) const QUERY: CharSet = PATH.and(CharSet::of(b"?"));

/// The length of a triplet in bytes.
pub(crate) const TRIPLET_BYTES: usize = 3;

/// The byte that the triplet at `at` stands for; `None` where none stands.
pub(crate) fn triplet_at(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = bytes.get(at..at.checked_add(TRIPLET_BYTES)?)? else {
        return None;
    };
    Some(hex_value(*high)? << 4 | hex_value(*low)?)
}

/// The character beyond ASCII that the triplets at `at` spell as UTF-8, and where they end.
pub(crate) fn triplet_char_at(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let lead = triplet_at(bytes, at)?;
    let count = match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let mut utf8 = [0; 4];
    let mut position = at;
    for byte in utf8.iter_mut().take(count) {
        *byte = triplet_at(bytes, position)?;
        position += TRIPLET_BYTES;
    }
    let text = std::str::from_utf8(utf8.get(..count)?).ok()?;
    Some((text.chars().next()?, position))
}

/// Appends the triplet of one byte, in upper case (RFC 3986 section 2.1).
pub(crate) fn push_triplet(out: &mut String, byte: u8) {
    out.push('%');
    for nibble in [byte >> 4, byte & 0xF] {
        out.push(char::from(if nibble < 10 { b'0' + nibble } else { b'A' + nibble - 10 }));
    }
}

/// Appends a character raw where `raw` has it, else as the triplets of its UTF-8 bytes.
pub(crate) fn push_char(out: &mut String, character: char, raw: CharSet) {
    if u8::try_from(character).is_ok_and(|byte| raw.has(byte)) {
        out.push(character);
        return;
    }
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        push_triplet(out, byte);
    }
}

/// Appends text, escaping whatever `raw` does not have, percent signs included.
pub(crate) fn push_escaped(out: &mut String, text: &str, raw: CharSet) {
    for character in text.chars() {
        push_char(out, character, raw);
    }
}

/// Appends text, escaping whatever `raw` does not have; triplets that are there already stay (RFC 6570 section 3.2.3).
pub(crate) fn push_keeping_triplets(out: &mut String, text: &str, raw: CharSet) {
    for (at, character) in text.char_indices() {
        if character == '%' && triplet_at(text.as_bytes(), at).is_some() {
            out.push('%');
        } else {
            push_char(out, character, raw);
        }
    }
}

/// The text with every triplet decoded once; `None` for a bare percent sign or bytes that are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            decoded.push(triplet_at(bytes, at)?);
            at += TRIPLET_BYTES;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok()
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_happens_once_and_refuses_what_is_not_utf8() {
        let check =
            |text, expected: Option<&str>| assert_eq!(decode(text).as_deref(), expected, "{text}");
        check("x%2520y", Some("x%20y"));
        check("My%20File.txt", Some("My File.txt"));
        check("%e6%97%A5", Some("日"));
        check("", Some(""));
        check("100%", None);
        check("%4", None);
        check("%E9", None);
        check("%C3x%A9", None);
    }

    #[test]
    fn a_character_is_read_from_whole_triplet_runs() {
        let check = |text: &str, expected| {
            assert_eq!(triplet_char_at(text.as_bytes(), 0), expected, "{text}");
        };
        check("%C3%A9x", Some(('é', 6)));
        check("%F0%9D%84%9E", Some(('𝄞', 12)));
        check("%C3", None);
        check("%C3x", None);
        check("%E0%80%80", None);
        check("%ED%A0%80", None);
        check("%41", None);
        check("é", None);
    }
}
