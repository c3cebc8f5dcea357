//! Cursors of search: behind which hit the next page begins, in which state of the index, and of which question.

use super::rank::Rank;
use super::request::{SearchRequest, SearchSort};
use crate::cursor::{self, List, SECRET_BYTES};
use crate::error::{Error, ErrorKind, Result};

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// How the words were looked for on the page before.
    pub(super) relaxed: Relaxed,
    /// The state of the index.
    pub(super) generation: u64,
    pub(super) after: Rank,
}

/// How far a search stands back from what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relaxed {
    Not,
    /// Most of the words will do.
    FewerWords,
    /// Words that are spelled much like them will do, too.
    Typos,
}

const HASH_BYTES: usize = 8;
const POSITION_BYTES: usize = HASH_BYTES + 1 + 8 + Rank::BYTES;

pub(super) fn encode(
    secret: &[u8; SECRET_BYTES],
    request: &SearchRequest<'_>,
    position: &Position,
) -> String {
    let mut bytes = Vec::with_capacity(POSITION_BYTES);
    bytes.extend_from_slice(&question_hash(request));
    bytes.push(match position.relaxed {
        Relaxed::Not => 0,
        Relaxed::FewerWords => 1,
        Relaxed::Typos => 2,
    });
    bytes.extend_from_slice(&position.generation.to_be_bytes());
    bytes.extend_from_slice(&position.after.to_bytes());
    cursor::encode(secret, List::Search, &bytes)
}

pub(super) fn decode(
    secret: &[u8; SECRET_BYTES],
    request: &SearchRequest<'_>,
    cursor: &str,
) -> Result<Position> {
    let bytes = cursor::decode(secret, List::Search, cursor)?;
    parse(&bytes, &question_hash(request)).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidCursor,
            "cursor",
            "it is of another search: ask with the same query and filters, or start again without a cursor",
        )
    })
}

fn parse(bytes: &[u8], question: &[u8; HASH_BYTES]) -> Option<Position> {
    let (hash, rest) = bytes.split_first_chunk::<HASH_BYTES>()?;
    let (relaxed, rest) = rest.split_first()?;
    let (generation, rest) = rest.split_first_chunk::<8>()?;
    let after = Rank::from_bytes(rest.try_into().ok()?);
    let relaxed = match relaxed {
        0 => Relaxed::Not,
        1 => Relaxed::FewerWords,
        2 => Relaxed::Typos,
        _ => return None,
    };
    let generation = u64::from_be_bytes(*generation);
    (hash == question).then_some(Position { relaxed, generation, after })
}

/// Of all that decides which hits there are and in which order, but who asks.
fn question_hash(request: &SearchRequest<'_>) -> [u8; HASH_BYTES] {
    let mut hasher = blake3::Hasher::new();
    let mut text = |text: &str| {
        hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    text(request.query);
    for optional in [request.space, request.mime_type] {
        text(if optional.is_some() { "+" } else { "" });
        text(optional.unwrap_or_default());
    }
    for (name, value) in request.variables {
        text(name);
        text(value);
    }
    text(match request.sort {
        SearchSort::Relevance => "relevance",
        SearchSort::Recent => "recent",
    });
    if let Some(range) = request.modified {
        hasher.update(&range.from.to_le_bytes()).update(&range.until.to_le_bytes());
    }
    let mut hash = [0; HASH_BYTES];
    hasher.finalize_xof().fill(&mut hash);
    hash
}
