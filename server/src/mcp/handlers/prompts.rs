//! `prompts/list` and `prompts/get`.

use std::sync::Arc;
use std::time::Duration;

use pressmark_index::prompt::{
    FillFault, FilledContent, FilledMessage, Media, Prompt, PromptArgument, PromptSettings,
};
use pressmark_index::read::{ReadOutcome, ReadRequest, Tier};
use pressmark_index::resource::Role;
use pressmark_index::resource_uri::URI_BYTES_MAX;
use pressmark_index::space::CacheScope;
use serde_json::value::RawValue;

use super::{Context, Outcome, cursor, required_string, resources::next_cursor};
use crate::{
    error::{Fault, quoted},
    json_rpc::{self, write},
    mcp::{
        protocol::{CacheHint, Params, Revision, finish, open},
        work::EngineCall,
    },
};

/// How long a client may keep the list: it is told when the list changes, if it listens.
const PROMPTS_TTL: Duration = Duration::from_secs(60);

/// What stands around the members of a prompt or an argument in a list, at most.
const ENTRY_BYTES: usize = 96;

/// What a person is asked for, with all that is needed to fill the messages.
#[derive(Debug)]
pub(crate) struct GetArguments {
    prompt: Arc<Prompt>,
    values: Vec<(String, String)>,
}

/// The prompts are in memory. They do not depend on the caller: what one embeds does.
pub(crate) fn prompts_list(context: &Context<'_>, params: &Params<'_>) -> Result<Outcome, Fault> {
    let cursor = cursor(params.cursor)?;
    let config = &context.mcp.config;
    let page = context
        .mcp
        .prompts
        .page(cursor.as_deref(), config.page_items_max, config.page_bytes_max, listed_bytes)
        .map_err(|error| context.fault(&error))?;
    let bytes = page.prompts.iter().map(|prompt| listed_bytes(prompt)).sum();
    let mut out = open(context.id, bytes);
    out.extend_from_slice(b"\"prompts\":[");
    for (at, prompt) in page.prompts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        entry(prompt, context.revision, &mut out);
    }
    out.push(b']');
    next_cursor(page.next_cursor.as_deref(), &mut out);
    let hint = CacheHint { ttl: PROMPTS_TTL, scope: CacheScope::Public };
    Ok(Outcome::Reply(finish(out, context.revision, Some(hint))))
}

fn listed_bytes(prompt: &Prompt) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let settings = prompt.settings();
    let arguments = settings.arguments.iter().map(|argument| {
        ENTRY_BYTES + argument.name.len() + length(&argument.title) + length(&argument.description)
    });
    let own = settings.name.len() + length(&settings.title) + description(settings).len();
    ENTRY_BYTES + own + arguments.sum::<usize>()
}

/// What a prompt does; some clients fail on a prompt without a description, so that its title or name stands in.
fn description(settings: &PromptSettings) -> &str {
    settings.description.as_deref().or(settings.title.as_deref()).unwrap_or(&settings.name)
}

/// A `Prompt` of the schema.
fn entry(prompt: &Prompt, revision: Revision, out: &mut Vec<u8>) {
    let settings = prompt.settings();
    names(&settings.name, settings.title.as_deref(), Some(description(settings)), revision, out);
    if !settings.arguments.is_empty() {
        out.extend_from_slice(b",\"arguments\":[");
        for (at, argument) in settings.arguments.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let PromptArgument { name, title, description, required, .. } = argument;
            names(name, title.as_deref(), description.as_deref(), revision, out);
            out.extend_from_slice(b",\"required\":");
            out.extend_from_slice(if *required { b"true}" } else { b"false}" });
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// The members that prompts and arguments have alike; the object stays open.
fn names(
    name: &str,
    title: Option<&str>,
    description: Option<&str>,
    revision: Revision,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"name\":");
    write::string(name, out);
    let title = title.filter(|_| revision.has_titles());
    for (member, value) in [(&b",\"title\":"[..], title), (b",\"description\":", description)] {
        if let Some(value) = value {
            out.extend_from_slice(member);
            write::string(value, out);
        }
    }
}

/// Checks the arguments; the messages may need the disk.
pub(crate) fn prompts_get(context: &Context<'_>, params: &Params<'_>) -> Result<Outcome, Fault> {
    let name = required_string(params.name, "name")?;
    let prompt = named(context, &name)?;
    let values = values(&prompt, params.arguments)?;
    Ok(Outcome::Work(EngineCall::PromptsGet(GetArguments { prompt, values })))
}

/// The prompt of that name.
pub(super) fn named(context: &Context<'_>, name: &str) -> Result<Arc<Prompt>, Fault> {
    context.mcp.prompts.named(name).ok_or_else(|| {
        let name = quoted(name);
        Fault::invalid_params(format!("unknown prompt `{name}`: `prompts/list` has all of them"))
    })
}

/// The arguments of a prompt, as an error names them.
pub(super) fn unknown_argument(prompt: &Prompt, name: &str) -> Fault {
    let name = quoted(name);
    let names: Vec<&str> =
        prompt.settings().arguments.iter().map(|argument| argument.name.as_str()).collect();
    let has = if names.is_empty() {
        "no arguments".to_owned()
    } else {
        format!("the arguments {}", names.join(", "))
    };
    let prompt = prompt.name();
    Fault::invalid_params(format!("unknown argument `{name}`: the prompt `{prompt}` has {has}"))
}

fn values(prompt: &Prompt, raw: Option<&RawValue>) -> Result<Vec<(String, String)>, Fault> {
    // Some clients send `null` where there are none.
    let raw = raw.map(RawValue::get).filter(|raw| *raw != "null").unwrap_or("{}");
    let members = json_rpc::members(raw).ok_or_else(|| {
        Fault::invalid_params("`arguments` must be an object that has each member once")
    })?;
    let mut values = Vec::with_capacity(members.len());
    for (name, value) in members {
        if prompt.argument(&name).is_none() {
            return Err(unknown_argument(prompt, &name));
        }
        let value = json_rpc::string(value)
            .ok_or_else(|| Fault::invalid_params(format!("`arguments.{name}` must be a string")))?;
        values.push((name.into_owned(), value.into_owned()));
    }
    let is_missing = |argument: &&PromptArgument| {
        argument.required && !values.iter().any(|(name, _)| *name == argument.name)
    };
    let missing: Vec<String> = prompt
        .settings()
        .arguments
        .iter()
        .filter(is_missing)
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    match missing.as_slice() {
        [] => Ok(values),
        [one] => Err(Fault::invalid_params(format!("the argument {one} is missing"))),
        several => {
            let several = several.join(", ");
            Err(Fault::invalid_params(format!("the arguments {several} are missing")))
        }
    }
}

/// Fills the messages and reads what they embed, with the caller's access.
pub(super) fn get(context: &Context<'_>, arguments: &GetArguments) -> Result<Vec<u8>, Fault> {
    let GetArguments { prompt, values } = arguments;
    let bytes_max = context.mcp.config.contents_bytes_max;
    let messages = prompt.fill(values, bytes_max).map_err(|fault| match fault {
        FillFault::TooLarge => too_large(bytes_max),
        FillFault::LongUri => Fault::invalid_params(format!(
            "the arguments make a URI longer than {URI_BYTES_MAX} bytes"
        )),
    })?;
    let mut out = open(context.id, 1_024);
    if let Some(description) = &prompt.settings().description {
        out.extend_from_slice(b"\"description\":");
        write::string(description, &mut out);
        out.push(b',');
    }
    out.extend_from_slice(b"\"messages\":[");
    let start = out.len();
    for message in &messages {
        if out.len() > start {
            out.push(b',');
        }
        write_message(context, message, &mut out)?;
        if out.len() - start > bytes_max {
            return Err(too_large(bytes_max));
        }
    }
    out.push(b']');
    Ok(finish(out, context.revision, None))
}

fn too_large(bytes_max: usize) -> Fault {
    Fault::invalid_params(format!(
        "the messages take more than {bytes_max} bytes: give shorter arguments, or resources of which less is read, \
         such as `...#line=0,200`"
    ))
}

/// A `PromptMessage` of the schema; of a resource with several parts, one for each.
fn write_message(
    context: &Context<'_>,
    message: &FilledMessage<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let revision = context.revision;
    let head: &[u8] = match message.role {
        Role::User => b"{\"role\":\"user\",\"content\":{\"type\":\"",
        Role::Assistant => b"{\"role\":\"assistant\",\"content\":{\"type\":\"",
    };
    out.extend_from_slice(head);
    match &message.content {
        FilledContent::Text(said) => text(said, out),
        FilledContent::Image(image) => media(b"image", image, out),
        FilledContent::Audio(audio) if revision.has_audio() => media(b"audio", audio, out),
        FilledContent::Audio(audio) => {
            let Media { mime_type, data } = audio;
            let said = format!(
                "({mime_type}, {} bytes: this revision of the protocol carries no sound)",
                data.len()
            );
            text(&said, out);
        }
        FilledContent::ResourceLink(uri) => link(context, uri, out)?,
        FilledContent::EmbeddedResource(uri) => embedded(context, uri, head, out)?,
    }
    out.extend_from_slice(b"}}");
    Ok(())
}

fn text(said: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"text\",\"text\":");
    write::string(said, out);
}

fn media(kind: &[u8], media: &Media, out: &mut Vec<u8>) {
    out.extend_from_slice(kind);
    out.extend_from_slice(b"\",\"mimeType\":");
    write::string(&media.mime_type, out);
    out.extend_from_slice(b",\"data\":\"");
    base64_simd::STANDARD.encode_append(&media.data, out);
    out.push(b'"');
}

/// A link names what can be read, so that a dead one is told here and not when it is followed. Revisions without links
/// get the URI as text.
fn link(context: &Context<'_>, uri: &str, out: &mut Vec<u8>) -> Result<(), Fault> {
    let descriptor = context
        .mcp
        .engine
        .descriptor(uri, &context.mcp.access)
        .map_err(|error| context.fault(&error))?;
    if !context.revision.has_structured_content() {
        text(uri, out);
        return Ok(());
    }
    out.extend_from_slice(b"resource_link\",\"uri\":");
    write::string(uri, out);
    descriptor.write_after_uri(context.revision.wire_fields(), out);
    Ok(())
}

/// The contents as `resources/read` gives them; `head` begins the message of each further part.
fn embedded(context: &Context<'_>, uri: &str, head: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    const RESOURCE: &[u8] = b"resource\",\"resource\":";
    let request = ReadRequest {
        uri,
        access: &context.mcp.access,
        bytes_max: context.mcp.config.contents_bytes_max,
        tier: Tier::Disk,
    };
    let read = context.mcp.engine.read(&request).map_err(|error| context.fault(&error))?;
    let ReadOutcome::Contents(contents) = read else {
        let request_id = context.request_id;
        tracing::error!(request_id, "the engine did not read from the disk");
        return Err(Fault::internal(request_id));
    };
    let between = [b"}},", head, RESOURCE].concat();
    out.reserve(contents.encoded_bytes(uri));
    out.extend_from_slice(RESOURCE);
    contents
        .write_joined(uri, context.revision.wire_fields(), &between, out)
        .map_err(|error| context.fault(&error))
}
