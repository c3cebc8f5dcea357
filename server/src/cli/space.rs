//! `pressmark space add|list|remove`.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pressmark_index::space::{AliasClash, CacheScope, ListMode, SpaceSettings};

use super::open::{open, open_existing, setup};
use super::{Common, Failure, SpaceCommand, chain, printed};

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
    /// What resources/list shows of it
    #[arg(long, value_enum, default_value_t = List::Auto)]
    list: List,
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

pub(super) fn run(common: &Common, command: &SpaceCommand) -> Result<ExitCode, Failure> {
    match command {
        SpaceCommand::Add(arguments) => Ok(add(common, arguments)?),
        SpaceCommand::List => list(common),
        SpaceCommand::Remove { name } => Ok(remove(common, name)?),
    }
}

fn add(common: &Common, arguments: &AddArgs) -> Result<ExitCode, String> {
    let setup = setup(common, &[])?;
    let engine = open(&setup, "space add")?;
    let mut settings = SpaceSettings::new(&arguments.name, &arguments.uri_template);
    settings.title.clone_from(&arguments.title);
    settings.description.clone_from(&arguments.description);
    settings.mime_type.clone_from(&arguments.mime_type);
    settings.list = match arguments.list {
        List::Auto => ListMode::Auto,
        List::All => ListMode::All,
        List::Pinned => ListMode::Pinned,
        List::None => ListMode::None,
    };
    if arguments.private {
        settings.cache_scope = CacheScope::Private;
    }
    if arguments.warn_on_alias_clash {
        settings.alias_clash = AliasClash::Warn;
    }
    engine.put_space(settings).map_err(|error| chain(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn list(common: &Common) -> Result<ExitCode, Failure> {
    let (_, engine) = open_existing(common, "space list")?;
    let mut out = std::io::stdout().lock();
    for space in &engine.spaces().spaces {
        let (settings, count) = (&space.settings, space.resource_count());
        printed(writeln!(out, "{}\t{}\t{count}", settings.name, settings.uri_template))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(common: &Common, name: &str) -> Result<ExitCode, String> {
    let (_, engine) = open_existing(common, "space remove")?;
    let removed = engine.remove_space(name).map_err(|error| chain(&error))?;
    super::say(&format!("removed the space `{name}` with {removed} resources"));
    Ok(ExitCode::SUCCESS)
}
