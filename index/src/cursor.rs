//! Cursors of lists: where the next page begins, opaque and authenticated. A keyset position needs no
//! state on the server and skips or repeats nothing that did not change.
//!
//! A position may be the key of a resource that the caller may not see, so it is encrypted too: the authentication
//! code of the plain text is the nonce of the key stream (the construction of RFC 5297, with BLAKE3 as both functions).

use crate::error::{Error, ErrorKind, Result};

/// Bytes of the store's secret.
pub(crate) const SECRET_BYTES: usize = 32;
const MAC_BYTES: usize = 16;
const VERSION: u8 = 2;
/// Longer ones are not ours: a position is a list key, whose URI is bounded.
const CURSOR_CHARS_MAX: usize = 16 * 1024;

/// Which list a cursor is of; one list's cursor is no other's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Resources = 1,
    Templates = 2,
    Search = 3,
    Prompts = 4,
}

/// A cursor that continues after `position`.
pub(crate) fn encode(secret: &[u8; SECRET_BYTES], list: List, position: &[u8]) -> String {
    let mac = mac(secret, list, position);
    let mut bytes = Vec::with_capacity(1 + MAC_BYTES + position.len());
    bytes.push(VERSION);
    bytes.extend_from_slice(&mac);
    bytes.extend(key_stream(secret, &mac, position.len()).iter().zip(position).map(|(a, b)| a ^ b));
    base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)
}

/// The position in a cursor that [`encode`] made for the same list of the same store.
pub(crate) fn decode(secret: &[u8; SECRET_BYTES], list: List, cursor: &str) -> Result<Vec<u8>> {
    let invalid = || {
        Error::new(
            ErrorKind::InvalidCursor,
            "cursor",
            "it is not one that this list gave: start again without a cursor",
        )
    };
    if cursor.len() > CURSOR_CHARS_MAX {
        return Err(invalid());
    }
    let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(cursor).map_err(|_| invalid())?;
    // One position has one cursor: spare bits in the last character must be zero.
    if base64_simd::URL_SAFE_NO_PAD.encode_to_string(&bytes) != cursor {
        return Err(invalid());
    }
    let Some((&VERSION, rest)) = bytes.split_first() else { return Err(invalid()) };
    let (given, hidden) = rest.split_first_chunk::<MAC_BYTES>().ok_or_else(invalid)?;
    let stream = key_stream(secret, given, hidden.len());
    let position: Vec<u8> = stream.iter().zip(hidden).map(|(a, b)| a ^ b).collect();
    // Compared without an early end, so that time does not tell how much of a guess is right.
    let difference =
        mac(secret, list, &position).iter().zip(given).fold(0, |sum, (a, b)| sum | (a ^ b));
    if difference == 0 { Ok(position) } else { Err(invalid()) }
}

fn key_stream(secret: &[u8; SECRET_BYTES], nonce: &[u8; MAC_BYTES], length: usize) -> Vec<u8> {
    let mut stream = vec![0; length];
    blake3::Hasher::new_keyed(secret)
        .update(b"stream")
        .update(nonce)
        .finalize_xof()
        .fill(&mut stream);
    stream
}

fn mac(secret: &[u8; SECRET_BYTES], list: List, position: &[u8]) -> [u8; MAC_BYTES] {
    let mut mac = [0; MAC_BYTES];
    blake3::Hasher::new_keyed(secret)
        .update(b"mac")
        .update(&[VERSION, list as u8])
        .update(position)
        .finalize_xof()
        .fill(&mut mac);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: [u8; SECRET_BYTES] = [7; SECRET_BYTES];

    #[test]
    fn a_cursor_shows_nothing_of_its_position() {
        let cursor = encode(&SECRET, List::Resources, b"docs://h/secret");
        let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(&cursor).unwrap();
        assert!(memchr::memmem::find(&bytes, b"secret").is_none());
        assert_eq!(
            cursor,
            encode(&SECRET, List::Resources, b"docs://h/secret"),
            "pages can be cached"
        );
    }

    #[test]
    fn only_our_own_cursors_are_taken() {
        let cursor = encode(&SECRET, List::Resources, b"position");
        assert_eq!(decode(&SECRET, List::Resources, &cursor).unwrap(), b"position");
        let broken = [
            "bogus".to_owned(),
            String::new(),
            "5".to_owned(),
            format!("{cursor}A"),
            format!("{cursor}="),
            cursor[1..].to_owned(),
            encode(&[8; SECRET_BYTES], List::Resources, b"position"),
            encode(&SECRET, List::Templates, b"position"),
            "A".repeat(CURSOR_CHARS_MAX + 1),
        ];
        for cursor in broken {
            let error = decode(&SECRET, List::Resources, &cursor).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidCursor, "{cursor}");
        }
    }

    proptest! {
        #[test]
        fn positions_come_back_and_no_flipped_bit_passes(position: Vec<u8>, at: prop::sample::Index, bit in 0_u32..8) {
            let cursor = encode(&SECRET, List::Templates, &position);
            prop_assert_eq!(decode(&SECRET, List::Templates, &cursor).unwrap(), position);
            let mut bytes = cursor.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Ok(changed) = String::from_utf8(bytes) {
                prop_assert!(decode(&SECRET, List::Templates, &changed).is_err());
            }
        }
    }
}
