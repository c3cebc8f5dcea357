//! What is known of the characters below U+3100, which hold the alphabets: asked of Unicode's tables once, kept in 100 KiB.

use std::sync::LazyLock;

use super::characters::{self, Role};
use super::fold;
use super::parts::{self, Letter};

const CHARACTERS: u32 = 0x3100;
/// Longer folded forms are made anew each time, bytes.
const FOLDED_BYTES_MAX: usize = 5;

/// What a character is and becomes.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) role: Role,
    pub(super) letter: Letter,
    length: u8,
    folded: [u8; FOLDED_BYTES_MAX],
}

static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    (0..CHARACTERS).map(|code| entry(char::from_u32(code).unwrap_or(' '))).collect()
});

fn entry(character: char) -> Entry {
    let mut text = String::new();
    fold::fold_char_anew(character, &mut text);
    let mut folded = [0; FOLDED_BYTES_MAX];
    let fits = text.len() <= FOLDED_BYTES_MAX;
    for (slot, byte) in folded.iter_mut().zip(text.bytes()) {
        *slot = byte;
    }
    let length = u8::try_from(text.len()).ok().filter(|_| fits).unwrap_or(u8::MAX);
    Entry {
        role: characters::role_anew(character),
        letter: parts::letter_anew(character),
        length,
        folded,
    }
}

impl Entry {
    /// The folded form; `None` when it is too long to be kept.
    pub(super) fn folded(&self) -> Option<&str> {
        self.folded
            .get(..usize::from(self.length))
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

/// What is kept of a character.
#[inline]
pub(super) fn kept(character: char) -> Option<&'static Entry> {
    TABLE.get(usize::try_from(u32::from(character)).unwrap_or(usize::MAX))
}
