//! A small filter in front of a dictionary: most values that are looked for in a layer are not in it, and one touch of
//! memory says so.
//!
//! A Bloom filter with blocks of 64 bits: a value sets [`BITS_PER_VALUE_SET`] bits of one block.

use super::section::{ArchiveReader, ArchiveWriter, Bytes, SectionWriter, SpillFolder, u64_at};
use super::texts::TermRef;
use crate::error::Result;

/// Bits kept for each value: of a hundred values that are not there, two to three are looked for.
const BITS_PER_VALUE: usize = 10;
const BITS_PER_VALUE_SET: u32 = 4;
/// Odd, with bits all over.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Values that may be in a dictionary; all may be where it is empty.
#[derive(Clone, Default)]
pub(super) struct Filter {
    blocks: Bytes,
}

impl Filter {
    pub(super) fn may_have(&self, term: TermRef<'_>) -> bool {
        let count = self.blocks.len() / 8;
        if count == 0 {
            return true;
        }
        let (block, bits) = place(hash(term), count);
        u64_at(&self.blocks, block) & bits == bits
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        archive.section(&self.blocks)
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Filter> {
        Ok(Filter { blocks: archive.section()? })
    }

    /// Of as many terms as `count` says.
    pub(super) fn build<'t>(
        count: usize,
        terms: impl Iterator<Item = TermRef<'t>>,
        folder: SpillFolder<'_>,
    ) -> Result<Filter> {
        if count == 0 {
            return Ok(Filter::default());
        }
        let mut blocks = vec![0_u64; (count * BITS_PER_VALUE).div_ceil(64)];
        let block_count = blocks.len();
        for term in terms {
            let (block, bits) = place(hash(term), block_count);
            if let Some(block) = blocks.get_mut(block) {
                *block |= bits;
            }
        }
        let mut section = SectionWriter::new(folder);
        blocks.iter().try_for_each(|block| section.put(&block.to_le_bytes()))?;
        Ok(Filter { blocks: section.finish()? })
    }
}

/// The block of a hash and its bits there.
fn place(hash: u64, count: usize) -> (usize, u64) {
    let scaled = (u128::from(hash) * u128::try_from(count).unwrap_or(0)) >> 64;
    let bits =
        (0..BITS_PER_VALUE_SET).fold(0, |bits, which| bits | (1 << ((hash >> (6 * which)) & 63)));
    (usize::try_from(scaled).unwrap_or(0), bits)
}

/// The same on every machine, since it is stored.
fn hash(term: TermRef<'_>) -> u64 {
    let key = hash_bytes(0, term.key);
    let hash = if term.raw == term.key { key } else { hash_bytes(key, term.raw) };
    // The block comes from the upper bits, the bits in it from the lower ones.
    let hash = (hash ^ (hash >> 32)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 29)
}

fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = seed ^ u64::try_from(bytes.len()).unwrap_or(0);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(MULTIPLIER);
    }
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    (hash.rotate_left(23) ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_it_is_found_and_little_else() {
        let name = |number: usize| format!("value-{number}");
        let count = 20_000;
        let names: Vec<String> = (0..count * 2).map(name).collect();
        let term = |name: &'static str| TermRef { key: name.as_bytes(), raw: name.as_bytes() };
        let names: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
        let (there, others) = names.split_at(count);
        let filter = Filter::build(count, there.iter().map(|name| term(name)), None).unwrap();
        assert!(there.iter().all(|name| filter.may_have(term(name))));
        let wrong = others.iter().filter(|name| filter.may_have(term(name))).count();
        assert!(wrong * 20 < others.len(), "{wrong} of {} are taken for values", others.len());
        assert!(Filter::default().may_have(term("value-1")));
    }
}
