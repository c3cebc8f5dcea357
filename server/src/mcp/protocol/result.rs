//! The frame around a result: head with the id, tail with what the revision adds.

use std::time::Duration;

use pressmark_index::space::CacheScope;

use super::revision::{Era, Revision};
use crate::json_rpc::write;

const HEAD: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";
const RESULT: &[u8] = b",\"result\":{";
const LEGACY_TAIL: &[u8] = b"}}";
const PUBLIC: &[u8] = b",\"cacheScope\":\"public\"";
const PRIVATE: &[u8] = b",\"cacheScope\":\"private\"";
const TTL: &[u8] = b",\"ttlMs\":";
const MODERN_TAIL: &[u8] = b",\"resultType\":\"complete\",\"_meta\":{";
/// The member of a modern result's `_meta` that names us.
pub(super) const MODERN_SERVER_INFO: &[u8] = concat!(
    r#""io.modelcontextprotocol/serverInfo":{"name":"pressmark","title":"Pressmark","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
)
.as_bytes();
/// Ends `_meta`, the result and the reply.
pub(super) const MODERN_END: &[u8] = b"}}}";

/// What head and tail take at most, without the id: a time to live has at most 20 digits.
const FRAME_BYTES: usize = HEAD.len()
    + RESULT.len()
    + TTL.len()
    + 20
    + PRIVATE.len()
    + MODERN_TAIL.len()
    + MODERN_SERVER_INFO.len()
    + MODERN_END.len();

/// How long and by whom a result may be kept (2026-07-28, caching).
#[derive(Debug, Clone, Copy)]
pub struct CacheHint {
    /// How long a client may take it as fresh.
    pub ttl: Duration,
    /// Whether it may be shared between callers.
    pub scope: CacheScope,
}

/// A reply's buffer up to the first member of its result, with room for `members_bytes` of them.
pub fn open(id: &str, members_bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(FRAME_BYTES + id.len() + members_bytes);
    out.extend_from_slice(HEAD);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(RESULT);
    out
}

/// Ends a result that has at least one member; `cache` is left out where the revision has no hints.
pub fn finish(mut out: Vec<u8>, revision: Revision, cache: Option<CacheHint>) -> Vec<u8> {
    match revision.era() {
        Era::Legacy => out.extend_from_slice(LEGACY_TAIL),
        Era::Modern => {
            if let Some(CacheHint { ttl, scope }) = cache {
                out.extend_from_slice(TTL);
                write::number(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX), &mut out);
                out.extend_from_slice(match scope {
                    CacheScope::Public => PUBLIC,
                    CacheScope::Private => PRIVATE,
                });
            }
            out.extend_from_slice(MODERN_TAIL);
            out.extend_from_slice(MODERN_SERVER_INFO);
            out.extend_from_slice(MODERN_END);
        }
    }
    out
}
