//! The texts of a dictionary, sorted: for each value its folded key and the value itself.

use std::cmp::Ordering;

use super::section::{ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder};
use super::section::{to_usize, u32_at, u64_at};
use crate::error::Result;

/// Texts that share a base, so that offsets need 32 bits only.
const TEXTS_PER_BASE: usize = 4_096;

/// The value is its own key.
const SAME: u8 = 0;
/// Key length, key, value.
const DIFFERENT: u8 = 1;
/// The key is the value behind a depth character of one byte.
const SAME_BEHIND_DEPTH: u8 = 2;

/// A value with its folded key; values sort by key, then by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TermRef<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) raw: &'a [u8],
}

/// Sorted texts by their rank.
#[derive(Clone, Default)]
pub(crate) struct Texts {
    count: usize,
    bytes: Bytes,
    bases: Bytes,
    offsets: Bytes,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// A value as it is stored; [`read_entry`] reads it.
    pub(super) fn entry(&self, rank: usize) -> &[u8] {
        let start = self.offset(rank);
        let end = self.offset(rank + 1);
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn offset(&self, rank: usize) -> usize {
        let base =
            usize::try_from(u64_at(&self.bases, rank / TEXTS_PER_BASE)).unwrap_or(usize::MAX);
        base.saturating_add(to_usize(u32_at(&self.offsets, rank)))
    }

    pub(crate) fn term(&self, rank: usize) -> TermRef<'_> {
        read_entry(self.entry(rank))
    }

    pub(crate) fn key(&self, rank: usize) -> &[u8] {
        self.term(rank).key
    }

    /// The first rank from `from` to `to` for which `is_before` is false; it is true for those before it.
    pub(crate) fn partition(
        &self,
        from: usize,
        to: usize,
        is_before: impl Fn(TermRef<'_>) -> bool,
    ) -> usize {
        partition(from, to, |rank| is_before(self.term(rank)))
    }

    /// The rank of a term between `from` and `to`.
    pub(crate) fn find(&self, term: TermRef<'_>, from: usize, to: usize) -> Option<usize> {
        let rank = self.partition(from, to, |other| other < term);
        (rank < to && self.term(rank) == term).then_some(rank)
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.number(u64::try_from(self.count).unwrap_or(u64::MAX));
        archive.section(&self.bytes)?;
        archive.section(&self.bases)?;
        archive.section(&self.offsets)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Texts> {
        let texts = Texts {
            count: archive.size()?,
            bytes: archive.section()?,
            bases: archive.section()?,
            offsets: archive.section()?,
        };
        if texts.offsets.len() / 4 != texts.count.saturating_add(1) {
            return Err(archive.damaged());
        }
        Ok(texts)
    }
}

/// A value from the bytes in which it is stored.
pub(super) fn read_entry(entry: &[u8]) -> TermRef<'_> {
    let Some((tag, text)) = entry.split_first() else {
        return TermRef { key: &[], raw: &[] };
    };
    match *tag {
        DIFFERENT => match text.split_at_checked(2) {
            Some((&[low, high], texts)) => {
                let key_bytes = usize::from(u16::from_le_bytes([low, high]));
                let (key, raw) = texts.split_at_checked(key_bytes).unwrap_or((texts, &[]));
                TermRef { key, raw }
            }
            _ => TermRef { key: text, raw: text },
        },
        SAME_BEHIND_DEPTH => TermRef { key: text, raw: text.get(1..).unwrap_or_default() },
        _ => TermRef { key: text, raw: text },
    }
}

/// The first number from `from` to `to` for which `is_before` is false.
pub(crate) fn partition(
    mut from: usize,
    mut to: usize,
    is_before: impl Fn(usize) -> bool,
) -> usize {
    while from < to {
        let middle = from + (to - from) / 2;
        if is_before(middle) { from = middle + 1 } else { to = middle }
    }
    from
}

/// As [`partition`], for an answer that is expected near `from`.
pub(crate) fn gallop(from: usize, to: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    loop {
        let probe = low.saturating_add(step - 1);
        if probe >= to || !is_before(probe) {
            return partition(low, probe.min(to), is_before);
        }
        low = probe + 1;
        step *= 2;
    }
}

/// Texts in the making; pushed in order.
pub(super) struct TextsBuilder<'a> {
    count: usize,
    base: u64,
    bytes: SectionWriter<'a>,
    bases: SectionWriter<'a>,
    offsets: SectionWriter<'a>,
}

impl<'a> TextsBuilder<'a> {
    pub(super) fn new(folder: SpillFolder<'a>) -> Self {
        TextsBuilder {
            count: 0,
            base: 0,
            bytes: SectionWriter::new(folder),
            bases: SectionWriter::new(folder),
            offsets: SectionWriter::new(folder),
        }
    }

    pub(super) fn push(&mut self, term: TermRef<'_>) -> Result<()> {
        self.mark()?;
        self.count += 1;
        if term.key == term.raw {
            self.bytes.put(&[SAME])?;
            self.bytes.put(term.key)
        } else if term.key.first().is_some_and(u8::is_ascii_control)
            && term.key.get(1..) == Some(term.raw)
        {
            self.bytes.put(&[SAME_BEHIND_DEPTH])?;
            self.bytes.put(term.key)
        } else {
            let key_bytes = u16::try_from(term.key.len()).unwrap_or(u16::MAX);
            self.bytes.put(&[DIFFERENT])?;
            self.bytes.put(&key_bytes.to_le_bytes())?;
            self.bytes.put(term.key.get(..usize::from(key_bytes)).unwrap_or(term.key))?;
            self.bytes.put(term.raw)
        }
    }

    fn mark(&mut self) -> Result<()> {
        if self.count.is_multiple_of(TEXTS_PER_BASE) {
            self.base = self.bytes.len();
            self.bases.put(&self.base.to_le_bytes())?;
        }
        self.offsets.put_u32(u32::try_from(self.bytes.len() - self.base).unwrap_or(u32::MAX))
    }

    pub(super) fn finish(mut self) -> Result<Texts> {
        self.mark()?;
        Ok(Texts {
            count: self.count,
            bytes: self.bytes.finish()?,
            bases: self.bases.finish()?,
            offsets: self.offsets.finish()?,
        })
    }
}

/// A text of two pieces, compared as if they were one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joined<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) tail: &'a [u8],
}

impl Joined<'_> {
    /// A number that is less where the text is less in its first bytes: sorting by it first fetches few texts.
    pub(super) fn first_bytes(&self) -> u64 {
        let mut first = [0; 8];
        let bytes = self.head.iter().chain(self.tail);
        first.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        u64::from_be_bytes(first)
    }

    pub(crate) fn compare(&self, other: &Joined<'_>) -> Ordering {
        if self.head.len() == other.head.len() {
            return self.head.cmp(other.head).then_with(|| self.tail.cmp(other.tail));
        }
        let mine = self.head.iter().chain(self.tail);
        mine.cmp(other.head.iter().chain(other.tail))
    }

    pub(crate) fn starts_with(&self, prefix: &[u8]) -> bool {
        match prefix.split_at_checked(self.head.len()) {
            Some((head, tail)) => self.head == head && self.tail.starts_with(tail),
            None => self.head.starts_with(prefix),
        }
    }
}
