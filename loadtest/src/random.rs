//! Random numbers whose values are part of the tool: no crate's new version changes a collection.

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and a mix a number.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The sequence of one item of a seeded collection.
    pub(crate) fn of(seed: u64, item: u64) -> Random {
        let mut of_seed = Random(seed);
        Random(of_seed.next() ^ item.wrapping_mul(GOLDEN_RATIO))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_RATIO);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`; zero when that is zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.next()) * (bound as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// At least zero, less than one.
    pub(crate) fn unit(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.next() >> 11) as f64 / STEPS
    }

    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let at = self.below(words.len());
        words.get(at).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_pinned() {
        let mut random = Random(0);
        assert_eq!(random.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::of(7, 1);
        for bound in [1, 2, 3, 1_000] {
            assert!((0..1_000).all(|_| random.below(bound) < bound));
        }
        assert_eq!(random.below(0), 0);
        assert!((0..1_000).map(|_| random.unit()).all(|unit| (0.0..1.0).contains(&unit)));
    }
}
