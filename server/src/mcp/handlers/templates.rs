//! `resources/templates/list`.

use pressmark_index::{list::PageBounds, space::SpaceSettings};

use super::{Context, Outcome, cursor, resources::next_cursor};
use crate::{
    error::Fault,
    json_rpc::write,
    mcp::protocol::{CacheHint, Params, Revision, finish, open},
};

/// The spaces' templates; the catalogue is in memory.
pub(crate) fn resources_templates_list(
    context: &Context<'_>,
    params: &Params<'_>,
) -> Result<Outcome, Fault> {
    let cursor = cursor(params.cursor)?;
    let config = &context.mcp.config;
    let bounds = PageBounds { items_max: config.page_items_max, bytes_max: config.page_bytes_max };
    let page = context
        .mcp
        .engine
        .list_templates(cursor.as_deref(), &context.mcp.access, bounds)
        .map_err(|error| context.fault(&error))?;
    let mut out = open(context.id, 256 * page.spaces.len());
    out.extend_from_slice(b"\"resourceTemplates\":[");
    for (at, space) in page.spaces.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        template(&space.settings, context.revision, &mut out);
    }
    out.push(b']');
    next_cursor(page.next_cursor.as_deref(), &mut out);
    let hint = CacheHint { ttl: context.mcp.freshness(page.ttl), scope: page.cache_scope };
    Ok(Outcome::Reply(finish(out, context.revision, Some(hint))))
}

/// A `ResourceTemplate` of the schema.
fn template(settings: &SpaceSettings, revision: Revision, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"uriTemplate\":");
    write::string(&settings.uri_template, out);
    out.extend_from_slice(b",\"name\":");
    write::string(&settings.name, out);
    let title = settings.title.as_deref().filter(|_| revision.has_titles());
    let optional = [
        (&b",\"title\":"[..], title),
        (b",\"description\":", settings.description.as_deref()),
        (b",\"mimeType\":", settings.mime_type.as_deref()),
    ];
    for (member, value) in optional {
        if let Some(value) = value {
            out.extend_from_slice(member);
            write::string(value, out);
        }
    }
    out.push(b'}');
}
