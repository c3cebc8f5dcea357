//! What is done while nothing is fed: small segments become one, and merges that have ended since are shown.
//!
//! Every search looks words up in each segment, which is most of what a question about a rare word costs. While documents
//! come in, segments are merged only when many are of one size (`commit::allow_merges`): each document is written anew a
//! few times. Once it is quiet, those that were left are worth another merge.

use std::time::{Duration, Instant};

use tantivy::SegmentMeta;
use tantivy::index::SegmentId;

use super::commit::failed;
use super::feeder::Fault;
use super::session::Session;

/// Nothing is done before it was quiet for this long.
const QUIET_MIN: Duration = Duration::from_secs(2);
/// A merge is looked for this often.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// So many times: then it takes long, and the next commit shows it.
const LOOKS_MAX: u32 = 60;
/// Fewer are not merged.
const SEGMENTS_MIN: usize = 4;
/// What is merged has no more documents than this, so that one merge has a bound.
const DOCUMENTS_MAX: u32 = 300_000;
/// A segment is taken along while it has at most so many times the documents of all smaller ones: so each document is
/// written anew a bounded number of times, however often it gets quiet.
const GROWTH_MAX: u32 = 8;

/// When there is something to do next.
pub(super) struct Tidying {
    next: Option<Instant>,
    looks_left: u32,
    /// What was merged last, so that a merge that does not come to an end is not begun again.
    merged: Vec<SegmentId>,
}

impl Tidying {
    /// From a commit, or the opening of the index, on.
    pub(super) fn begin() -> Tidying {
        Tidying {
            next: Some(Instant::now() + QUIET_MIN),
            looks_left: LOOKS_MAX,
            merged: Vec::new(),
        }
    }

    /// How long it may still be quiet; `None`: there is nothing left to do.
    pub(super) fn rest(&self) -> Option<Duration> {
        self.next.map(|next| next.saturating_duration_since(Instant::now()))
    }

    pub(super) fn is_due(&self) -> bool {
        self.rest() == Some(Duration::ZERO)
    }
}

impl Session<'_> {
    /// Shows what was merged, and has merged what is small.
    pub(super) fn tidy(&mut self) -> Result<(), Fault> {
        let read = |source| failed("read", source);
        let metas = self.writer.index().searchable_segment_metas().map_err(read)?;
        let searcher = self.reader.searcher();
        let shown = searcher.segment_readers();
        let is_shown = |meta: &SegmentMeta| shown.iter().any(|one| one.segment_id() == meta.id());
        if metas.len() != shown.len() || !metas.iter().all(is_shown) {
            self.reader.reload().map_err(read)?;
            self.open_newest()?;
        }
        let sizes = metas.iter().map(|meta| (meta.num_docs(), meta.id())).collect();
        let small = small_segments(sizes);
        if !small.is_empty() && small != self.tidying.merged {
            // How it ends is seen by what segments there are then.
            drop(self.writer.merge(&small));
            self.tidying.merged = small;
            self.tidying.looks_left = LOOKS_MAX;
        }
        self.tidying.looks_left = self.tidying.looks_left.saturating_sub(1);
        let goes_on = self.tidying.looks_left > 0;
        self.tidying.next = goes_on.then(|| Instant::now() + LOOK_INTERVAL);
        Ok(())
    }
}

/// The segments that should become one, by their documents; none: they are as they should be.
fn small_segments<Id>(mut sizes: Vec<(u32, Id)>) -> Vec<Id> {
    sizes.sort_by_key(|(documents, _)| *documents);
    let mut sum = 0_u32;
    let is_small = |documents: u32| {
        let fits = sum == 0 || documents <= sum.saturating_mul(GROWTH_MAX);
        sum = sum.saturating_add(documents.max(1));
        fits && sum <= DOCUMENTS_MAX
    };
    let count = sizes
        .iter()
        .map(|(documents, _)| *documents)
        .map(is_small)
        .take_while(|small| *small)
        .count();
    if count < SEGMENTS_MIN {
        return Vec::new();
    }
    sizes.into_iter().take(count).map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_segments_are_merged_and_large_ones_are_left() {
        for (sizes, merged) in [
            (&[][..], 0),
            (&[1, 1, 1], 0),
            (&[1, 1, 1, 1], 4),
            // One document more each time does not have a large segment written anew.
            (&[250_000, 1], 0),
            (&[250_000, 1, 1, 1, 1], 4),
            (&[186_904, 65_592, 65_024, 10_872, 8_446, 8_296, 6_704, 808, 192], 8),
            (&[300_000, 300_000, 300_000, 300_000], 0),
            (&[0, 0, 0, 0], 4),
            (&[u32::MAX, u32::MAX], 0),
        ] {
            let numbered = (0..).zip(sizes).map(|(at, documents)| (*documents, at)).collect();
            let small: Vec<usize> = small_segments(numbered);
            assert_eq!(small.len(), merged, "{sizes:?}");
            let documents = small.iter().map(|at| sizes[*at]).sum::<u32>();
            assert!(documents <= DOCUMENTS_MAX, "{sizes:?}");
        }
    }
}
