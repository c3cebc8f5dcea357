//! `completion/complete`: values of a template's variable, or of a prompt's argument, as a person types.

mod prompt;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::catalog::Space;
use pressmark_index::completion::{Completion, CompletionRequest, VALUES_MAX};
use pressmark_index::engine::Engine;
use pressmark_index::error::{Error, ErrorKind};
use pressmark_index::resource_uri;
use serde_json::value::RawValue;

use super::{Context, Outcome, required_string};
use crate::{
    error::{Code, Fault, quoted},
    json_rpc::{self, write},
    mcp::{
        protocol::{Params, finish, open},
        work::EngineCall,
    },
};

/// What is asked, decoded and checked against the template.
#[derive(Debug)]
pub(crate) struct CompletionArguments<'a> {
    space: Arc<Space>,
    variable: Cow<'a, str>,
    typed: Cow<'a, str>,
    chosen: Chosen<'a>,
}

/// Other variables of the template that are chosen already, with their values.
type Chosen<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// What a request comes to.
enum Asked<'a> {
    /// A question to a space.
    Space(CompletionArguments<'a>),
    /// What is answered.
    Known(Completion),
}

/// Answers at once what takes microseconds, and hands the rest to the pool: milliseconds of processor time are longer
/// than work may hold up the runtime's thread, and the way to another thread costs some microseconds more.
pub(crate) fn completion_complete(
    context: &Context<'_>,
    params: &Params<'_>,
) -> Result<Outcome, Fault> {
    let arguments = match read(context, params)? {
        Asked::Space(arguments) => arguments,
        Asked::Known(completion) => return Ok(Outcome::Reply(reply(context, &completion))),
    };
    match ask(context, &arguments, Engine::complete_at_once)? {
        Some(completion) => Ok(Outcome::Reply(reply(context, &completion))),
        None => Ok(Outcome::Work(EngineCall::CompletionComplete(arguments.into_owned()))),
    }
}

/// Asks the engine whatever it takes, and frames its answer for the request's revision.
pub(super) fn complete(
    context: &Context<'_>,
    arguments: &CompletionArguments<'_>,
) -> Result<Vec<u8>, Fault> {
    let completion = ask(context, arguments, Engine::complete)?;
    Ok(reply(context, &completion))
}

fn ask<T>(
    context: &Context<'_>,
    arguments: &CompletionArguments<'_>,
    ask: impl FnOnce(&Engine, &CompletionRequest<'_>) -> Result<T, Error>,
) -> Result<T, Fault> {
    let chosen: Vec<(&str, &str)> =
        arguments.chosen.iter().map(|(name, value)| (&**name, &**value)).collect();
    let request = CompletionRequest {
        space: &arguments.space.settings.name,
        variable: &arguments.variable,
        typed: &arguments.typed,
        context: &chosen,
        access: &context.mcp.access,
        count_max: VALUES_MAX,
    };
    match ask(&context.mcp.engine, &request) {
        Ok(answer) => Ok(answer),
        // The space has gone, or has another template, since its variable was looked up.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(unknown_template(&arguments.space.settings.uri_template))
        }
        Err(error) => Err(context.fault(&error)),
    }
}

/// A request beyond the caller's allowance.
///
/// It is an error in an ordinary reply, not a status of HTTP: so it reaches who asked on every transport, and only that
/// request fails. Clients take a status for a fault of the connection.
pub(in crate::mcp) fn too_many_requests(wait: Duration) -> Fault {
    let seconds = wait.as_secs_f64().ceil().max(1.0);
    let message = format!("too many completion requests: wait {seconds} s, then ask again");
    Fault::new(Code::Internal, message)
}

/// The one allocation of a reply is made for values of about this many bytes.
const VALUE_BYTES: usize = 32;

fn reply(context: &Context<'_>, completion: &Completion) -> Vec<u8> {
    let mut out = open(context.id, 96 + VALUE_BYTES * completion.values.len());
    out.extend_from_slice(b"\"completion\":{\"values\":[");
    for (at, value) in completion.values.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write::string(value, &mut out);
    }
    out.push(b']');
    if let Some(total) = completion.total {
        out.extend_from_slice(b",\"total\":");
        write::number(total, &mut out);
    }
    out.extend_from_slice(b",\"hasMore\":");
    out.extend_from_slice(if completion.has_more { b"true}" } else { b"false}" });
    finish(out, context.revision, None)
}

// === impl CompletionArguments ===

impl<'a> CompletionArguments<'a> {
    fn of_template(
        context: &Context<'_>,
        params: &Params<'a>,
        uri: Option<&'a RawValue>,
    ) -> Result<Self, Fault> {
        let uri = required_string(uri, "ref.uri")?;
        let space = find_space(context, &uri).ok_or_else(|| unknown_template(&uri))?;
        let (variable, typed) = argument(params)?;
        if !has_variable(&space, &variable) {
            return Err(unknown_variable(&space, &variable));
        }
        let other_variable = |name: &str| {
            let is_other = name != variable && has_variable(&space, name);
            is_other.then(|| name.to_owned())
        };
        let chosen = chosen_values(context, params, other_variable)?;
        Ok(Self { space, variable, typed, chosen })
    }

    fn into_owned(self) -> CompletionArguments<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let chosen = self.chosen.into_iter().map(|(name, value)| (owned(name), owned(value)));
        CompletionArguments {
            chosen: chosen.collect(),
            space: self.space,
            variable: owned(self.variable),
            typed: owned(self.typed),
        }
    }
}

/// Finds what `ref` means and checks what is asked of it.
fn read<'a>(context: &Context<'_>, params: &Params<'a>) -> Result<Asked<'a>, Fault> {
    let [kind, uri, name] = members_of("ref", params.reference, ["type", "uri", "name"])?;
    let kind = required_string(kind, "ref.type")?;
    match &*kind {
        "ref/resource" => CompletionArguments::of_template(context, params, uri).map(Asked::Space),
        "ref/prompt" => prompt::read(context, params, name),
        other => Err(Fault::invalid_params(format!(
            "`ref.type` is `{}`; it is `ref/resource` or `ref/prompt`",
            quoted(other)
        ))),
    }
}

/// The name and what is typed of it.
fn argument<'a>(params: &Params<'a>) -> Result<(Cow<'a, str>, Cow<'a, str>), Fault> {
    let [name, value] = members_of("argument", params.argument, ["name", "value"])?;
    Ok((required_string(name, "argument.name")?, required_string(value, "argument.value")?))
}

/// What is chosen already, by variable; `variable_of` says which one an argument's name stands for.
fn chosen_values<'a>(
    context: &Context<'_>,
    params: &Params<'a>,
    variable_of: impl Fn(&str) -> Option<String>,
) -> Result<Chosen<'a>, Fault> {
    let mut chosen = Chosen::new();
    if !context.revision.has_completion_context() {
        return Ok(chosen);
    }
    for (name, value) in context_arguments(params.context)? {
        // Hosts send along what they know: a name of something else is no fault, whatever its value.
        let Some(variable) = variable_of(&name) else { continue };
        // Hosts send a form as it is: a field that is not filled in yet is empty.
        if matches!(value.get(), "null" | "\"\"") {
            continue;
        }
        let value = json_rpc::string(value).ok_or_else(|| {
            let name = quoted(&name);
            Fault::invalid_params(format!("`context.arguments.{name}` must be a string"))
        })?;
        chosen.push((Cow::Owned(variable), value));
    }
    Ok(chosen)
}

/// By the template's text, else by a URI that the template expands to. A space that the caller may not use is passed
/// over, so that the answer is the same as if it did not exist.
fn find_space(context: &Context<'_>, uri: &str) -> Option<Arc<Space>> {
    let catalog = context.mcp.engine.spaces();
    let visible = |space: &&Arc<Space>| context.mcp.access.sees_space(&space.settings.name);
    let by_template =
        catalog.spaces.iter().filter(visible).find(|space| space.settings.uri_template == uri);
    if let Some(space) = by_template {
        return Some(Arc::clone(space));
    }
    // A brace stands in no URI. Escaped, it would let a template that is not there pass for a URI of another one.
    if uri.contains(['{', '}']) {
        return None;
    }
    let uri = resource_uri::normalise(uri).ok()?;
    catalog.matches(&uri).map(|(space, _)| space).find(visible).map(Arc::clone)
}

fn has_variable(space: &Space, name: &str) -> bool {
    space.matcher.template().variables().any(|variable| variable.name == name)
}

fn unknown_template(uri: &str) -> Fault {
    let uri = quoted(uri);
    Fault::invalid_params(format!(
        "unknown template `{uri}`: `ref.uri` is a `uriTemplate` of `resources/templates/list`, or a URI of one"
    ))
}

fn unknown_variable(space: &Space, name: &str) -> Fault {
    let mut names: Vec<&str> = Vec::new();
    for variable in space.matcher.template().variables() {
        if !names.contains(&variable.name.as_str()) {
            names.push(&variable.name);
        }
    }
    let template = &space.settings.uri_template;
    let has = if names.is_empty() {
        "no variables".to_owned()
    } else {
        format!("the variables {}", names.join(", "))
    };
    let name = quoted(name);
    Fault::invalid_params(format!("unknown argument `{name}`: the template `{template}` has {has}"))
}

/// The members of those names of an object that must be there; others are ignored.
fn members_of<'a, const COUNT: usize>(
    name: &'static str,
    raw: Option<&'a RawValue>,
    wanted: [&str; COUNT],
) -> Result<[Option<&'a RawValue>; COUNT], Fault> {
    let members =
        raw.and_then(|raw| json_rpc::members(raw.get())).ok_or_else(|| no_object(name))?;
    Ok(wanted
        .map(|wanted| members.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)))
}

/// The members of `context.arguments`; `null` is what some clients send for none.
fn context_arguments<'a>(
    raw: Option<&'a RawValue>,
) -> Result<Vec<(Cow<'a, str>, &'a RawValue)>, Fault> {
    let present = |raw: &&RawValue| raw.get() != "null";
    let Some(raw) = raw.filter(present) else {
        return Ok(Vec::new());
    };
    let [arguments] = members_of("context", Some(raw), ["arguments"])?;
    let Some(arguments) = arguments.filter(present) else {
        return Ok(Vec::new());
    };
    json_rpc::members(arguments.get()).ok_or_else(|| no_object("context.arguments"))
}

fn no_object(name: &'static str) -> Fault {
    Fault::invalid_params(format!("`{name}` must be an object that has each member once"))
}
