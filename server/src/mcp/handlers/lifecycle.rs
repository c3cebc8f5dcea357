//! `initialize`, `ping` and `server/discover`.

use std::time::Duration;

use pressmark_index::space::CacheScope;

use super::{Context, Outcome};
use crate::{
    error::Fault,
    json_rpc::write,
    mcp::{
        instructions,
        protocol::{CacheHint, Params, Revision, finish, log_level, negotiate, open},
    },
};

/// Only what is served is declared: the tools never change.
fn capabilities(context: &Context<'_>, revision: Revision, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"capabilities\":{");
    if revision.declares_completions() {
        out.extend_from_slice(b"\"completions\":{},");
    }
    if context.mcp.tools.logs() {
        out.extend_from_slice(b"\"logging\":{},");
    }
    out.extend_from_slice(
        br#""prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"tools":{}}"#,
    );
}

/// How long a client may keep a discovery: the instructions say how many resources there are.
const DISCOVER_TTL: Duration = Duration::from_secs(60);

/// Agrees on a revision; its own reply is in that revision already.
pub(crate) fn initialize(context: &Context<'_>, params: &Params<'_>) -> Result<Outcome, Fault> {
    let revision = negotiate(params.protocol_version)?;
    let instructions = instructions::of(
        &context.mcp.engine.spaces(),
        &context.mcp.access,
        context.mcp.is_searchable(),
        context.mcp.is_settled(),
    );
    let mut out = open(context.id, 256 + instructions.len());
    out.extend_from_slice(b"\"protocolVersion\":");
    write::string(revision.name(), &mut out);
    out.push(b',');
    capabilities(context, revision, &mut out);
    out.extend_from_slice(b",\"serverInfo\":{\"name\":\"pressmark\",");
    if revision.has_titles() {
        out.extend_from_slice(b"\"title\":\"Pressmark\",");
    }
    out.extend_from_slice(b"\"version\":");
    write::string(env!("CARGO_PKG_VERSION"), &mut out);
    out.extend_from_slice(b"},\"instructions\":");
    write::string(&instructions, &mut out);
    Ok(Outcome::Agreed { reply: finish(out, revision, None), revision })
}

/// An empty result.
pub(crate) fn ping(context: &Context<'_>) -> Outcome {
    empty(context)
}

/// From now on the calls of a legacy client have log messages of this level or above.
pub(crate) fn logging_set_level(
    context: &Context<'_>,
    params: &Params<'_>,
) -> Result<Outcome, Fault> {
    let level = log_level(params.level, "level")?;
    let client = context.subscription.ok_or_else(|| {
        Fault::invalid_request(
            "a log level needs a session: send `initialize` and the Mcp-Session-Id of its answer",
        )
    })?;
    client.want_log(level);
    Ok(empty(context))
}

/// The result of a legacy request that asks for nothing but to be heard.
pub(super) fn empty(context: &Context<'_>) -> Outcome {
    Outcome::Reply(finish(open(context.id, 0), context.revision, None))
}

/// What the server speaks and how to use it, in one stateless reply.
pub(crate) fn server_discover(context: &Context<'_>) -> Outcome {
    let instructions = instructions::of(
        &context.mcp.engine.spaces(),
        &context.mcp.access,
        context.mcp.is_searchable(),
        context.mcp.is_settled(),
    );
    let mut out = open(context.id, 256 + instructions.len());
    out.extend_from_slice(b"\"supportedVersions\":[");
    for (at, revision) in Revision::ALL.iter().rev().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write::string(revision.name(), &mut out);
    }
    out.extend_from_slice(b"],");
    capabilities(context, context.revision, &mut out);
    out.extend_from_slice(b",\"instructions\":");
    write::string(&instructions, &mut out);
    let hint = CacheHint { ttl: DISCOVER_TTL, scope: CacheScope::Private };
    Outcome::Reply(finish(out, context.revision, Some(hint)))
}
