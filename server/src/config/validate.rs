//! From raw values to right ones. The first value that cannot be taken ends it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pressmark_index::space::{AliasClash, CacheScope, ListMode, SpaceSettings};
use pressmark_index::uri_template::UriTemplate;
use toml::Spanned;

use super::error::Fault;
use super::listen::{check_admin_listen, check_listen, parse_address, parse_admin_listen};
use super::prompts::prompts;
use super::quantity::MIB;
use super::raw::{RawConfig, RawExtract, RawFullText, RawServer, RawSource, RawSpace, RawStorage};
use super::scalars::{
    COUNT_MAX, bytes, bytes_or_none, count, count_or_none, duration, host_name, mime_type,
    non_empty, positive, positive_duration, rate, space_name,
};
use super::{
    ColumnMapping, ColumnTarget, Config, Durability, FullTextConfig, RecordField, ServerConfig,
    SpaceConfig, StorageConfig, TemplateCheck,
};
use crate::extraction::ExtractCommand;
use crate::mcp::ToolResults;
use crate::sources::{FolderSource, check_pattern, folder_settings};

/// More entries on a page would make replies that hosts refuse.
const PAGE_ITEMS_MAX: i64 = 10_000;

/// With less, indexing would write a file for each few documents.
const FULL_TEXT_MEMORY_BYTES_MIN: u64 = 32 * MIB;

/// More threads than this do not index faster.
const FULL_TEXT_THREADS_MAX: i64 = 8;

/// How long a command may take, and how much it may write, when nothing else is said.
const EXTRACT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(20);
const EXTRACT_OUTPUT_BYTES_MAX_DEFAULT: u64 = 16 * MIB;

pub(super) fn convert(
    raw: RawConfig,
    folder: &Path,
    check_template: TemplateCheck<'_>,
) -> Result<Config, Fault> {
    let defaults = Config::default();
    let server = server(raw.server, defaults.server, folder)?;
    let storage = storage(raw.storage, defaults.storage, folder)?;
    let full_text = full_text(raw.full_text, defaults.full_text)?;
    let extract = extract(raw.extract, folder)?;
    let mut spaces = spaces(raw.space, check_template)?;
    let sources = sources(raw.source, folder, &mut spaces)?;
    let prompts = prompts(raw.prompt, folder)?;
    Ok(Config { server, storage, full_text, extract, spaces, prompts, sources })
}

fn server(raw: RawServer, mut server: ServerConfig, folder: &Path) -> Result<ServerConfig, Fault> {
    server.unsafe_listen_without_auth = raw.unsafe_listen_without_auth.unwrap_or(false);
    set("server.listen", raw.listen, &mut server.listen, |text| {
        let address = parse_address(&text)?;
        check_listen(address, server.unsafe_listen_without_auth).map(|()| address)
    })?;
    let token = &mut server.admin_token_file;
    set("server.admin_token_file", raw.admin_token_file, token, |text| {
        non_empty(&text).map(|()| Some(folder.join(text)))
    })?;
    set("server.admin_listen", raw.admin_listen, &mut server.admin_listen, |text| {
        let listen = parse_admin_listen(&text)?;
        check_admin_listen(listen, server.admin_token_file.is_some()).map(|()| listen)
    })?;
    for host in raw.allowed_hosts.unwrap_or_default() {
        server.allowed_hosts.push(value("server.allowed_hosts", host, |text| host_name(&text))?);
    }
    for host in raw.metrics_hosts.unwrap_or_default() {
        server.metrics_hosts.push(value("server.metrics_hosts", host, |text| host_name(&text))?);
    }
    for proxy in raw.trusted_proxies.unwrap_or_default() {
        server.trusted_proxies.push(value("server.trusted_proxies", proxy, |text| text.parse())?);
    }
    set("server.body_bytes_max", raw.body_bytes_max, &mut server.body_bytes_max, bytes)?;
    set("server.reply_bytes_max", raw.reply_bytes_max, &mut server.reply_bytes_max, bytes)?;
    set("server.page_items_max", raw.page_items_max, &mut server.page_items_max, |number| {
        count(number, PAGE_ITEMS_MAX)
    })?;
    set(
        "server.tool_calls_per_second",
        raw.tool_calls_per_second,
        &mut server.tool_calls_per_second,
        rate,
    )?;
    set("server.tool_results", raw.tool_results, &mut server.tool_results, |text| {
        one_of(&text, &TOOL_RESULTS)
    })?;
    let completions = &mut server.completions_per_second;
    set("server.completions_per_second", raw.completions_per_second, completions, rate)?;
    let requests = &mut server.concurrent_requests_max;
    set("server.concurrent_requests_max", raw.concurrent_requests_max, requests, |number| {
        count(number, COUNT_MAX)
    })?;
    set("server.connections_max", raw.connections_max, &mut server.connections_max, |number| {
        count(number, COUNT_MAX)
    })?;
    set("server.streams_max", raw.streams_max, &mut server.streams_max, |number| {
        count(number, COUNT_MAX)
    })?;
    let keep_alive = &mut server.stream_keep_alive;
    set("server.stream_keep_alive", raw.stream_keep_alive, keep_alive, positive_duration)?;
    set("server.sessions_max", raw.sessions_max, &mut server.sessions_max, |number| {
        count_or_none(number, COUNT_MAX)
    })?;
    set("server.session_idle", raw.session_idle, &mut server.session_idle, positive_duration)?;
    set(
        "server.request_timeout",
        raw.request_timeout,
        &mut server.request_timeout,
        positive_duration,
    )?;
    Ok(server)
}

fn storage(
    raw: RawStorage,
    mut storage: StorageConfig,
    folder: &Path,
) -> Result<StorageConfig, Fault> {
    set("storage.path", raw.path, &mut storage.path, |text| {
        non_empty(&text).map(|()| Some(folder.join(text)))
    })?;
    set("storage.durability", raw.durability, &mut storage.durability, |text| {
        if text == "sync" {
            return Ok(Durability::Sync);
        }
        positive(&text).map(Durability::Interval).map_err(|detail| {
            if text.starts_with(|character: char| character.is_ascii_digit()) {
                detail
            } else {
                format!("{text:?} is neither \"sync\" nor an interval such as \"200ms\"")
            }
        })
    })?;
    set("storage.block_cache_bytes", raw.block_cache_bytes, &mut storage.block_cache_bytes, bytes)?;
    set(
        "storage.hot_cache_bytes",
        raw.hot_cache_bytes,
        &mut storage.hot_cache_bytes,
        bytes_or_none,
    )?;
    set(
        "storage.completion_memory_bytes",
        raw.completion_memory_bytes,
        &mut storage.completion_memory_bytes,
        bytes,
    )?;
    set(
        "storage.completion_cache_bytes",
        raw.completion_cache_bytes,
        &mut storage.completion_cache_bytes,
        bytes_or_none,
    )?;
    let change_log = &mut storage.change_log_retention;
    set("storage.change_log_retention", raw.change_log_retention, change_log, duration)?;
    Ok(storage)
}

fn full_text(raw: RawFullText, mut full_text: FullTextConfig) -> Result<FullTextConfig, Fault> {
    full_text.enabled = raw.enabled.unwrap_or(full_text.enabled);
    set("full_text.memory_bytes", raw.memory_bytes, &mut full_text.memory_bytes, |raw| {
        let memory = bytes(raw)?;
        if memory < FULL_TEXT_MEMORY_BYTES_MIN {
            return Err("must be at least 32 MiB".to_owned());
        }
        Ok(memory)
    })?;
    let hit_cache = &mut full_text.hit_cache_bytes;
    set("full_text.hit_cache_bytes", raw.hit_cache_bytes, hit_cache, bytes_or_none)?;
    set("full_text.threads", raw.threads, &mut full_text.threads, |number| {
        count(number, FULL_TEXT_THREADS_MAX)
    })?;
    let interval = &mut full_text.commit_interval;
    set("full_text.commit_interval", raw.commit_interval, interval, positive_duration)?;
    set("full_text.time_max", raw.time_max, &mut full_text.time_max, positive_duration)?;
    Ok(full_text)
}

fn extract(raw: Vec<RawExtract>, folder: &Path) -> Result<Vec<(String, ExtractCommand)>, Fault> {
    let mut commands: Vec<(String, ExtractCommand)> = Vec::with_capacity(raw.len());
    for entry in raw {
        let name = value("extract.mime_type", entry.mime_type, |text| {
            mime_type(&text)?;
            let name = text.split(';').next().unwrap_or(&text).trim().to_ascii_lowercase();
            if commands.iter().any(|(known, _)| *known == name) {
                return Err(format!("{name:?} has a command already; one type has one"));
            }
            Ok(name)
        })?;
        let (program, arguments) = value("extract.command", entry.command, |words| {
            let mut words = words.into_iter();
            let program = words.next().filter(|program| !program.is_empty());
            let program = program.ok_or("names no program; write [\"program\", \"argument\"]")?;
            // A name alone is looked up in `PATH`, as everywhere.
            let program =
                if program.contains('/') { folder.join(program) } else { PathBuf::from(program) };
            Ok((program, words.collect()))
        })?;
        let mut command = ExtractCommand {
            program,
            arguments,
            timeout: EXTRACT_TIMEOUT_DEFAULT,
            output_bytes_max: EXTRACT_OUTPUT_BYTES_MAX_DEFAULT,
        };
        set("extract.timeout", entry.timeout, &mut command.timeout, positive_duration)?;
        let output = &mut command.output_bytes_max;
        set("extract.output_bytes_max", entry.output_bytes_max, output, bytes)?;
        commands.push((name, command));
    }
    Ok(commands)
}

fn spaces(
    raw: Vec<RawSpace>,
    check_template: TemplateCheck<'_>,
) -> Result<Vec<SpaceConfig>, Fault> {
    let mut spaces: Vec<SpaceConfig> = Vec::with_capacity(raw.len());
    for space in raw {
        let name = value("space.name", space.name, |name| {
            space_name(&name)?;
            if spaces.iter().any(|known| known.settings.name == name) {
                return Err(format!("{name:?} is the name of an earlier space; give each its own"));
            }
            Ok(name)
        })?;
        let uri_template = value("space.uri_template", space.uri_template, |template| {
            non_empty(&template)?;
            check_template(&template).map(|()| template)
        })?;
        let mut settings = SpaceSettings::new(name, uri_template);
        settings.title = space.title;
        settings.description = space.description;
        set("space.mime_type", space.mime_type, &mut settings.mime_type, |text| {
            mime_type(&text).map(|()| Some(text))
        })?;
        set("space.list", space.list, &mut settings.list, |text| one_of(&text, &LIST_MODES))?;
        set("space.ttl", space.ttl, &mut settings.ttl, duration)?;
        set("space.cache_scope", space.cache_scope, &mut settings.cache_scope, |text| {
            one_of(&text, &CACHE_SCOPES)
        })?;
        set("space.alias_clash", space.alias_clash, &mut settings.alias_clash, |text| {
            one_of(&text, &ALIAS_CLASHES)
        })?;
        let mut columns = Vec::with_capacity(space.columns.len());
        for (column, target) in space.columns {
            let target = value("space.columns", target, |text| {
                column_target(&text).and_then(|target| known_variable(&settings, target))
            })?;
            columns.push(ColumnMapping { column, target });
        }
        spaces.push(SpaceConfig { settings, columns });
    }
    Ok(spaces)
}

fn sources(
    raw: Vec<RawSource>,
    folder: &Path,
    spaces: &mut Vec<SpaceConfig>,
) -> Result<Vec<FolderSource>, Fault> {
    let mut sources: Vec<FolderSource> = Vec::with_capacity(raw.len());
    let mut seen = BTreeSet::new();
    for entry in raw {
        let space = value("source.space", entry.space, |name| {
            space_name(&name)?;
            takes_files(&name, spaces).map(|()| name)
        })?;
        let root = value("source.path", entry.path, |text| {
            non_empty(&text)?;
            let root = folder.join(&text);
            if seen.insert((space.clone(), root.clone())) {
                Ok(root)
            } else {
                Err(format!("{text:?} is a source of {space:?} already; put the patterns together"))
            }
        })?;
        let declared = spaces.iter().find(|known| known.settings.name == space);
        if declared.is_none() {
            // The title of folder spaces is the folder's name, as with PATHs on the command line.
            let title = root.file_name().map(|title| title.to_string_lossy().into_owned());
            spaces.push(SpaceConfig {
                settings: folder_settings(&space, title),
                columns: Vec::new(),
            });
        }
        let mut source = FolderSource::new(space, root);
        source.include = patterns("source.include", entry.include)?;
        source.exclude = patterns("source.exclude", entry.exclude)?;
        set("source.file_bytes_max", entry.file_bytes_max, &mut source.file_bytes_max, bytes)?;
        source.watch = entry.watch.unwrap_or(source.watch);
        set("source.poll_interval", entry.poll_interval, &mut source.poll_interval, |text| {
            positive_duration(text).map(Some)
        })?;
        sources.push(source);
    }
    Ok(sources)
}

/// Whether a space, if it is declared, has a place for the path of a file.
fn takes_files(name: &str, spaces: &[SpaceConfig]) -> Result<(), String> {
    let declared = spaces.iter().find(|space| space.settings.name == name);
    let template = declared.map(|space| space.settings.uri_template.as_str());
    match template {
        Some(template) if !template.contains("{+path}") => Err(format!(
            "{name:?} has the template {template:?}, in which a file's path has no place; \
             use a space whose template has {{+path}}"
        )),
        _ => Ok(()),
    }
}

/// The validated value, or the fault with its place.
pub(super) fn value<T, U>(
    key: &'static str,
    raw: Spanned<T>,
    validate: impl FnOnce(T) -> Result<U, String>,
) -> Result<U, Fault> {
    let span = raw.span();
    validate(raw.into_inner()).map_err(|detail| Fault { key, span, detail })
}

/// Replaces a default by what is written, if something is.
fn set<T, U>(
    key: &'static str,
    raw: Option<Spanned<T>>,
    place: &mut U,
    validate: impl FnOnce(T) -> Result<U, String>,
) -> Result<(), Fault> {
    if let Some(raw) = raw {
        *place = value(key, raw, validate)?;
    }
    Ok(())
}

fn patterns(key: &'static str, raw: Vec<Spanned<String>>) -> Result<Vec<String>, Fault> {
    let check = |pattern: String| match check_pattern(&pattern) {
        Ok(()) => Ok(pattern),
        Err(error) => Err(error.to_string()),
    };
    raw.into_iter().map(|pattern| value(key, pattern, check)).collect()
}

const TOOL_RESULTS: [(&str, ToolResults); 3] =
    [("text", ToolResults::Text), ("full", ToolResults::Full), ("links", ToolResults::Links)];

const LIST_MODES: [(&str, ListMode); 4] = [
    ("auto", ListMode::Auto),
    ("all", ListMode::All),
    ("pinned", ListMode::Pinned),
    ("none", ListMode::None),
];

const CACHE_SCOPES: [(&str, CacheScope); 2] =
    [("public", CacheScope::Public), ("private", CacheScope::Private)];

const ALIAS_CLASHES: [(&str, AliasClash); 2] =
    [("refuse", AliasClash::Refuse), ("warn", AliasClash::Warn)];

const RECORD_FIELDS: [(&str, RecordField); 13] = [
    ("uri", RecordField::Uri),
    ("name", RecordField::Name),
    ("title", RecordField::Title),
    ("description", RecordField::Description),
    ("mimeType", RecordField::MimeType),
    ("text", RecordField::Text),
    ("blob", RecordField::Blob),
    ("size", RecordField::Size),
    ("priority", RecordField::Priority),
    ("audience", RecordField::Audience),
    ("lastModified", RecordField::LastModified),
    ("pinned", RecordField::Pinned),
    ("acl", RecordField::Acl),
];

pub(super) fn one_of<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    choices.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        format!("{text:?} is none of {}", names.join(", "))
    })
}

/// What a column fills, as it is written in `[space.columns]`.
pub(crate) fn column_target(text: &str) -> Result<ColumnTarget, String> {
    match text.strip_prefix("variables.") {
        Some("") => Err("names no variable; write \"variables.<name>\"".to_owned()),
        Some(name) => Ok(ColumnTarget::Variable(name.to_owned())),
        None => one_of(text, &RECORD_FIELDS)
            .map(ColumnTarget::Field)
            .map_err(|detail| format!("{detail} and no \"variables.<name>\"")),
    }
}

/// A variable that the template of the space does not have could never be filled.
fn known_variable(settings: &SpaceSettings, target: ColumnTarget) -> Result<ColumnTarget, String> {
    let (ColumnTarget::Variable(name), Ok(template)) =
        (&target, UriTemplate::parse(&settings.uri_template))
    else {
        return Ok(target);
    };
    if template.variables().any(|variable| variable.name == *name) {
        return Ok(target);
    }
    let known = template.variable_names();
    Err(format!("names the variable `{name}`, and the template has {known}"))
}
