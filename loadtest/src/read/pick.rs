//! Which URI is asked next.

use crate::random::Random;

/// A distribution over the lines of the URI file.
pub(crate) enum Picker {
    /// All alike.
    Uniform { count: usize },
    /// Rank r has the weight 1/r^s; the sums of the weights up to each rank.
    Zipf { sums: Vec<f64> },
}

impl Picker {
    /// Over `count` URIs; without an exponent all alike.
    pub(crate) fn new(count: usize, exponent: Option<f64>) -> Picker {
        let Some(exponent) = exponent else {
            return Picker::Uniform { count };
        };
        let mut sum = 0.0;
        let sums = (1..=count)
            .map(|rank| {
                sum += (rank as f64).powf(-exponent);
                sum
            })
            .collect();
        Picker::Zipf { sums }
    }

    /// The position of a URI.
    pub(crate) fn pick(&self, random: &mut Random) -> usize {
        match self {
            Picker::Uniform { count } => random.below(*count),
            Picker::Zipf { sums } => {
                let point = random.unit() * sums.last().copied().unwrap_or_default();
                sums.partition_point(|sum| *sum <= point).min(sums.len().saturating_sub(1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of ten URIs is picked in 29,290 times.
    fn counts(exponent: Option<f64>) -> [usize; 10] {
        let picker = Picker::new(10, exponent);
        let mut random = Random::of(7, 0);
        let mut counts = [0; 10];
        for _ in 0..29_290 {
            counts[picker.pick(&mut random)] += 1;
        }
        counts
    }

    #[test]
    fn uniform_and_zipf() {
        assert!(counts(None).iter().all(|count| (2_700..3_160).contains(count)));
        // The tenth harmonic number is 2.929, so the first has 10,000 and rank r that divided by r.
        for (rank, count) in (1..).zip(counts(Some(1.0))) {
            let expected = 10_000 / rank;
            assert!(count.abs_diff(expected) < 300, "rank {rank}: {count}, expected {expected}");
        }
    }
}
