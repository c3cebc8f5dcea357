//! `pressmark space add|list|remove`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pressmark_proto::v1;
use serde::Serialize;
use tonic::Code;

use super::numbers::counted;
use super::output::{Failure, Out, code_name};
use super::target::Target;
use super::{Common, SpaceCommand};

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// Name of the space: 1 to 64 of a-z, 0-9, `-` and `_`
    name: String,
    /// RFC 6570 template of its URIs, e.g. `pypi://packages/{name}`
    uri_template: String,
    /// Title for people
    #[arg(long)]
    title: Option<String>,
    /// One line of what is in it
    #[arg(long)]
    description: Option<String>,
    /// MIME type of records that have none
    #[arg(long)]
    mime_type: Option<String>,
    /// What resources/list shows of it [default: auto]
    #[arg(long, value_enum)]
    list: Option<List>,
    /// Replies may only be kept for the same caller
    #[arg(long)]
    private: bool,
    /// Take records whose names are one to some hosts, with a warning
    #[arg(long)]
    warn_on_alias_clash: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum List {
    Auto,
    All,
    Pinned,
    None,
}

/// A space, as `--json` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    name: &'a str,
    uri_template: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    list: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_seconds: Option<i64>,
    cache_scope: &'static str,
    alias_clash: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_count: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Removed<'a> {
    name: &'a str,
    resources_deleted: u64,
}

pub(super) fn run(common: &Common, command: &SpaceCommand) -> Result<ExitCode, Failure> {
    match command {
        SpaceCommand::Add(arguments) => add(common, arguments),
        SpaceCommand::List => list(common),
        SpaceCommand::Remove { name } => remove(common, name),
    }
}

fn add(common: &Common, arguments: &AddArgs) -> Result<ExitCode, Failure> {
    let target = Target::make(common, "space add")?;
    let space = settings(arguments, known(&target, &arguments.name)?);
    let request = v1::PutSpaceRequest { space: Some(space) };
    let space = target.wait(target.spaces().put_space(request))?.space.unwrap_or_default();
    if common.json {
        let mut out = Out::new();
        out.json(&Shown::of(&space, None))?;
        out.end()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The space of this name as it is.
fn known(target: &Target, name: &str) -> Result<v1::Space, Failure> {
    let request = v1::GetSpaceRequest { name: name.to_owned() };
    match target.wait(target.spaces().get_space(request)) {
        Ok(response) => Ok(response.space.unwrap_or_default()),
        Err(Failure::Refused(refusal)) if refusal.code == code_name(Code::NotFound) => {
            Ok(v1::Space::default())
        }
        Err(failure) => Err(failure),
    }
}

/// What is not said stays as it is.
fn settings(arguments: &AddArgs, known: v1::Space) -> v1::Space {
    let mut space = v1::Space {
        name: arguments.name.clone(),
        uri_template: arguments.uri_template.clone(),
        title: arguments.title.clone().or(known.title),
        description: arguments.description.clone().or(known.description),
        mime_type: arguments.mime_type.clone().or(known.mime_type),
        ..known
    };
    if let Some(list) = arguments.list {
        let list = match list {
            List::Auto => v1::ListMode::Unspecified,
            List::All => v1::ListMode::All,
            List::Pinned => v1::ListMode::Pinned,
            List::None => v1::ListMode::None,
        };
        space.list = list.into();
    }
    if arguments.private {
        space.cache_scope = v1::CacheScope::Private.into();
    }
    if arguments.warn_on_alias_clash {
        space.alias_clash = v1::AliasClash::Warn.into();
    }
    space
}

fn list(common: &Common) -> Result<ExitCode, Failure> {
    let target = Target::find(common, "space list")?;
    let spaces = target.wait(target.spaces().list_spaces(v1::ListSpacesRequest {}))?.spaces;
    let mut out = Out::new();
    for v1::SpaceEntry { space, resource_count } in spaces {
        let space = space.unwrap_or_default();
        if common.json {
            out.json(&Shown::of(&space, Some(resource_count)))?;
        } else {
            out.line(&format!("{}\t{}\t{resource_count}", space.name, space.uri_template))?;
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

fn remove(common: &Common, name: &str) -> Result<ExitCode, Failure> {
    let target = Target::look(common, "space remove")?;
    let request = v1::DeleteSpaceRequest { name: name.to_owned() };
    let resources_deleted = target.wait(target.spaces().delete_space(request))?.resources_deleted;
    if common.json {
        let mut out = Out::new();
        out.json(&Removed { name, resources_deleted })?;
        out.end()?;
    } else {
        let resources = counted(resources_deleted, "resource", "resources");
        common.remark(&format!("removed the space `{name}` with {resources}"));
    }
    Ok(ExitCode::SUCCESS)
}

impl<'a> Shown<'a> {
    fn of(space: &'a v1::Space, resource_count: Option<u64>) -> Self {
        Self {
            name: &space.name,
            uri_template: &space.uri_template,
            title: space.title.as_deref(),
            description: space.description.as_deref(),
            mime_type: space.mime_type.as_deref(),
            list: match space.list() {
                v1::ListMode::Unspecified => "auto",
                v1::ListMode::All => "all",
                v1::ListMode::Pinned => "pinned",
                v1::ListMode::None => "none",
            },
            ttl_seconds: space.ttl.as_ref().map(|ttl| ttl.seconds),
            cache_scope: match space.cache_scope() {
                v1::CacheScope::Unspecified | v1::CacheScope::Public => "public",
                v1::CacheScope::Private => "private",
            },
            alias_clash: match space.alias_clash() {
                v1::AliasClash::Unspecified | v1::AliasClash::Refuse => "refuse",
                v1::AliasClash::Warn => "warn",
            },
            resource_count,
        }
    }
}
