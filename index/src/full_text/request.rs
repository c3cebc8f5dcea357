//! What is asked of search, and what it answers.

use std::time::Duration;

use super::extract::ExtractFailures;
use super::snippet::Snippet;
use crate::access::Access;
use crate::resource::UnixMillis;

/// A page holds at most this many hits.
pub const HITS_MAX: usize = 50;

/// A search, as asked.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'a> {
    /// What was typed. Nothing at all stands for every resource that the filters leave.
    pub query: &'a str,
    /// Only in this space, by name.
    pub space: Option<&'a str>,
    /// Only where these variables have these values; a value of a path that ends in `/` stands for all beneath it.
    pub variables: &'a [(String, String)],
    /// Only of this MIME type; `text/*` stands for all of a kind.
    pub mime_type: Option<&'a str>,
    /// Only what was last modified then.
    pub modified: Option<ModifiedRange>,
    /// In which order.
    pub sort: SearchSort,
    /// How many hits at most; more than [`HITS_MAX`] are never given, and never fewer than one.
    pub limit: usize,
    /// Where the page begins: `next_cursor` of the page before, asked with the same query.
    pub cursor: Option<&'a str>,
    /// Bytes of a hit's snippet; 0: none is made.
    pub snippet_bytes: usize,
    /// Wait until this change can be found, within `time_max`.
    pub after_sequence: Option<u64>,
    /// How long the search may take.
    pub time_max: Duration,
    /// Within what the caller may see.
    pub access: &'a Access,
}

/// A range of `lastModified`. A resource without one counts as of 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModifiedRange {
    /// The first moment in it; `UnixMillis::MIN` for no bound.
    pub from: UnixMillis,
    /// The first moment behind it; `UnixMillis::MAX` for no bound.
    pub until: UnixMillis,
}

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchSort {
    /// The best first.
    Relevance,
    /// The last modified first.
    Recent,
}

/// A page of hits.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchPage {
    /// The hits, in order.
    pub hits: Vec<SearchHit>,
    /// How many resources match, on all pages.
    pub total: u64,
    /// Whether that is all; else time ran out while counting.
    pub total_is_exact: bool,
    /// What continues after this page.
    pub next_cursor: Option<String>,
    /// What the asker should know.
    pub notes: Vec<SearchNote>,
    /// Changes up to this one could be found.
    pub indexed_through: u64,
}

/// A resource that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// Its URI, as it is stored.
    pub uri: String,
    /// Its title, or its name.
    pub title: String,
    /// The piece of its text that shows best why it was found.
    pub snippet: Snippet,
    /// How well it fits; only hits of one query can be compared. `None` for a caller who may not see everything: scores are
    /// made of how many resources hold a word, hidden ones among them.
    pub score: Option<f32>,
    /// Its MIME type; empty where it has none.
    pub mime_type: String,
    /// The name of its space.
    pub space: String,
    /// `lastModified` as the record gave it.
    pub last_modified: Option<UnixMillis>,
}

/// What a page does not tell by its hits.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchNote {
    /// Time ran out: there may be better hits, and there may be more.
    TimeCut,
    /// The query was longer than what is read of one: the rest was left out.
    QueryCut {
        /// Bytes at its end that were not read.
        bytes: usize,
        /// Words that were read and not looked for.
        words: usize,
    },
    /// There is no word in the query.
    NoWords,
    /// A prefix stands for more words than are looked at.
    PrefixCut,
    /// Few resources have all words: those that have at least `wanted` of `words` follow.
    FewerWords {
        /// How many words must be there.
        wanted: usize,
        /// How many were asked for.
        words: usize,
    },
    /// Few resources have the words as they were typed: words that are spelled much like them count too.
    TyposTolerated,
    /// The index is being made, or the collection comes in for the first time: this share of the resources, 0 to 1, can be
    /// found.
    IndexIncomplete {
        /// The share.
        share: f32,
    },
    /// The index did not come to `after_sequence` in time.
    StillBehind,
    /// Very many changes wait for the index.
    Backlog,
    /// The index cannot be read or written for now, for a reason that the operator is told.
    IndexFailing,
}

/// How far the full-text index is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FullTextProgress {
    /// Changes up to this one can be found.
    pub indexed_through: u64,
    /// The last change that was committed to the store.
    pub newest: u64,
    /// While the index is made from all resources: the share of them, 0 to 1, that were looked at.
    pub rebuilding: Option<f32>,
    /// Why the index does not go on, if it does not; it is tried again.
    pub failure: Option<String>,
    /// Resources that can be found.
    pub documents: u64,
    /// Documents whose text could not be read since the start.
    pub unread: ExtractFailures,
}

/// Figures of the full-text index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FullTextStats {
    /// How far it is.
    pub progress: FullTextProgress,
    /// Segments that a search looks at.
    pub segments: usize,
    /// Bytes of its files.
    pub disk_bytes: u64,
    /// States of the index that are kept for cursors.
    pub kept_searchers: usize,
    /// How often it was thrown away and made anew since the engine was opened.
    pub discarded: u64,
}
