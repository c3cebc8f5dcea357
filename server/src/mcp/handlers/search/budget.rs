//! Results that fit into `max_bytes`.

use serde::Serialize;

use super::asked::SearchArguments;
use super::found::Found;

/// Bytes of a snippet where nothing has to shrink: about two lines, so that a hit costs a model some 100 tokens.
pub(super) const SNIPPET_BYTES: usize = 200;

/// Shorter snippets say nothing: then hits are left out instead.
const SNIPPET_BYTES_MIN: usize = 60;

/// What the engine is asked for, so that it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) limit: usize,
    pub(super) snippet_bytes: usize,
}

// === impl Ask ===

impl Ask {
    /// What is asked first.
    pub(super) fn first(arguments: &SearchArguments) -> Ask {
        Ask { limit: arguments.limit, snippet_bytes: SNIPPET_BYTES }
    }

    /// What to ask for instead, if the results do not fit: shorter snippets, then none and fewer hits. The page is asked
    /// for again, and not cut, so that its cursor goes on behind its last hit.
    pub(super) fn smaller(&self, found: &Found<'_>, bytes_max: usize) -> Option<Ask> {
        let size = encoded(found);
        if size <= bytes_max || (self.limit == 1 && self.snippet_bytes == 0) {
            return None;
        }
        let count = found.results.len().max(1);
        let snippets: usize = found.results.iter().map(|hit| encoded(&hit.snippet)).sum();
        let room = bytes_max.saturating_sub(size - snippets.min(size));
        // In proportion, since marks and escapes take room as well; a little less, so that it is enough at once.
        let snippet_bytes = self.snippet_bytes * room / (snippets.max(1) + snippets / 10);
        if snippet_bytes >= SNIPPET_BYTES_MIN {
            return Some(Ask { limit: self.limit, snippet_bytes });
        }
        // Brackets, total, cursor and notes stay.
        let hits: Vec<usize> = found.results.iter().map(|hit| encoded(hit) + 1).collect();
        let frame = size.saturating_sub(hits.iter().sum());
        let mut left = bytes_max.saturating_sub(frame);
        let bare =
            found.results.iter().zip(&hits).map(|(hit, bytes)| bytes - encoded(&hit.snippet) + 2);
        let fitting = bare.take_while(|bytes| {
            let fits = *bytes <= left;
            left = left.saturating_sub(*bytes);
            fits
        });
        let limit = fitting.count().clamp(1, count);
        Some(Ask { limit: limit.min(self.limit), snippet_bytes: 0 })
    }

    /// What the model is told of it.
    pub(super) fn note(&self, arguments: &SearchArguments) -> Option<String> {
        let bytes = arguments.max_bytes;
        if self.limit < arguments.limit {
            Some(format!("only {} results fit `max_bytes` {bytes}, without snippets", self.limit))
        } else if self.snippet_bytes == 0 {
            Some(format!("snippets were left out to fit `max_bytes` {bytes}"))
        } else if self.snippet_bytes < SNIPPET_BYTES {
            Some(format!("snippets were shortened to fit `max_bytes` {bytes}"))
        } else {
            None
        }
    }
}

/// The bytes of a value as JSON.
pub(super) fn encoded(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}
