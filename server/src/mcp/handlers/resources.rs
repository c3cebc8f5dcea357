//! `resources/read` and `resources/list`.

use pressmark_index::contents::Contents;
use pressmark_index::list::PageBounds;
use pressmark_index::read::{ReadOutcome, ReadRequest, Tier};

use super::{Context, Outcome, cursor, required_string};
use crate::{
    error::Fault,
    json_rpc::write,
    mcp::{
        protocol::{CacheHint, Params, finish, open},
        work::EngineCall,
    },
};

/// Answers from memory, or hands the read to the pool.
pub(crate) fn resources_read(context: &Context<'_>, params: &Params<'_>) -> Result<Outcome, Fault> {
    let uri = required_string(params.uri, "uri")?;
    match read(context, &uri, Tier::Memory)? {
        Some(reply) => Ok(Outcome::Reply(reply)),
        None => Ok(Outcome::Work(EngineCall::ResourcesRead { uri: uri.into_owned() })),
    }
}

/// The read that may wait for the disk.
pub(super) fn read_from_disk(context: &Context<'_>, uri: &str) -> Result<Vec<u8>, Fault> {
    match read(context, uri, Tier::Disk)? {
        Some(reply) => Ok(reply),
        None => {
            let request_id = context.request_id;
            tracing::error!(request_id, "the engine did not read from the disk");
            Err(Fault::internal(request_id))
        }
    }
}

fn read(context: &Context<'_>, uri: &str, tier: Tier) -> Result<Option<Vec<u8>>, Fault> {
    let request = ReadRequest {
        uri,
        access: &context.mcp.access,
        bytes_max: context.mcp.config.contents_bytes_max,
        tier,
    };
    match context.mcp.engine.read(&request).map_err(|error| context.fault(&error))? {
        ReadOutcome::Contents(contents) => read_reply(context, uri, &contents).map(Some),
        ReadOutcome::NotInMemory => Ok(None),
    }
}

/// One allocation: the engine says beforehand what the contents take.
fn read_reply(context: &Context<'_>, uri: &str, contents: &Contents) -> Result<Vec<u8>, Fault> {
    const MEMBER: &[u8] = b"\"contents\":";
    let revision = context.revision;
    let mut out = open(context.id, MEMBER.len() + contents.encoded_bytes(uri));
    out.extend_from_slice(MEMBER);
    contents
        .write_array(uri, revision.wire_fields(), &mut out)
        .map_err(|error| context.fault(&error))?;
    let hint = CacheHint {
        ttl: context.mcp.freshness(contents.space.settings.ttl),
        scope: contents.cache_scope,
    };
    Ok(finish(out, revision, Some(hint)))
}

/// A list scans the store: always work for the pool.
pub(crate) fn resources_list(params: &Params<'_>) -> Result<Outcome, Fault> {
    let cursor = cursor(params.cursor)?.map(|cursor| cursor.into_owned());
    Ok(Outcome::Work(EngineCall::ResourcesList { cursor }))
}

pub(super) fn list(context: &Context<'_>, cursor: Option<&str>) -> Result<Vec<u8>, Fault> {
    let config = &context.mcp.config;
    let bounds = PageBounds { items_max: config.page_items_max, bytes_max: config.page_bytes_max };
    let page = context
        .mcp
        .engine
        .list(cursor, &context.mcp.access, bounds)
        .map_err(|error| context.fault(&error))?;
    let fields = context.revision.wire_fields();
    let mut out = open(context.id, 256 * page.items.len());
    out.extend_from_slice(b"\"resources\":[");
    for (at, descriptor) in page.items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        descriptor.write(fields, &mut out);
    }
    out.push(b']');
    next_cursor(page.next_cursor.as_deref(), &mut out);
    let hint = CacheHint { ttl: context.mcp.freshness(page.ttl), scope: page.cache_scope };
    Ok(finish(out, context.revision, Some(hint)))
}

/// The member `nextCursor`, where there is another page.
pub(super) fn next_cursor(cursor: Option<&str>, out: &mut Vec<u8>) {
    if let Some(cursor) = cursor {
        out.extend_from_slice(b",\"nextCursor\":");
        write::string(cursor, out);
    }
}
