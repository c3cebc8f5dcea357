//! `pressmark.toml`: raw values as they are written, then one conversion into values that are right.
//!
//! [`raw`] is what serde reads and where every key is documented; [`Config`] is what the rest of the program sees. An
//! error names the file, the line and the key. `docs/configuration.md` lists all keys; a test holds it to [`raw`].

mod data_dir;
mod engine;
mod error;
mod listen;
mod prompts;
mod quantity;
pub mod raw;
mod scalars;
mod trust;
mod validate;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::prompt::Prompt;
use pressmark_index::space::SpaceSettings;

use crate::client_address::Network;
use crate::extraction::ExtractCommand;
use crate::mcp::ToolResults;
use crate::sources::FolderSource;

pub use data_dir::{DataDirEnvironment, DataDirSeed, default_data_dir};
pub use error::ConfigError;
pub(crate) use error::line_of_key;
pub use listen::{
    AdminListen, check_admin_listen, check_listen, parse_address, parse_admin_listen,
};
pub(crate) use validate::column_target;

/// More than a model makes, less than a loop that went wrong.
const TOOL_CALLS_PER_SECOND_DEFAULT: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// What about a hundred people type at a time whom a proxy shows as one: a picker asks three times a second.
const COMPLETIONS_PER_SECOND_DEFAULT: NonZeroU32 = NonZeroU32::new(300).unwrap();

/// The whole configuration, validated.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Listeners and their bounds.
    pub server: ServerConfig,
    /// Where and how resources are stored.
    pub storage: StorageConfig,
    /// The index that `search` asks.
    pub full_text: FullTextConfig,
    /// Commands that find the text of documents, by MIME type.
    pub extract: Vec<(String, ExtractCommand)>,
    /// Spaces, in the order of the file; those that only a source names come last.
    pub spaces: Vec<SpaceConfig>,
    /// Prompts, in the order of the file.
    pub prompts: Vec<Arc<Prompt>>,
    /// Folders that are brought up to date at each start and then watched.
    pub sources: Vec<FolderSource>,
}

/// `[server]`, see [`raw::RawServer`] for what each value means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Address of the MCP endpoint.
    pub listen: SocketAddr,
    /// Where the admin plane listens.
    pub admin_listen: AdminListen,
    /// The file with the token that callers of the plane show.
    pub admin_token_file: Option<PathBuf>,
    /// Host names, in lower case, that requests may name besides loopback ones.
    pub allowed_hosts: Vec<String>,
    /// Further host names under which metrics are answered.
    pub metrics_hosts: Vec<String>,
    /// Proxies that tell where requests come from.
    pub trusted_proxies: Vec<Network>,
    /// Whether `listen` may be beyond loopback although callers are not authenticated.
    pub unsafe_listen_without_auth: bool,
    /// Bytes of a request's body.
    pub body_bytes_max: u64,
    /// Bytes of a reply.
    pub reply_bytes_max: u64,
    /// Entries on a page of a list.
    pub page_items_max: usize,
    /// Tool calls of one caller in a second.
    pub tool_calls_per_second: NonZeroU32,
    /// What the results of our own tools hold.
    pub tool_results: ToolResults,
    /// Completions of one caller in a second.
    pub completions_per_second: NonZeroU32,
    /// Requests in progress.
    pub concurrent_requests_max: usize,
    /// Connections at a time.
    pub connections_max: usize,
    /// Streams of notifications at a time.
    pub streams_max: usize,
    /// How long a stream may be quiet before it gets a comment.
    pub stream_keep_alive: Duration,
    /// Sessions of the revisions that have them.
    pub sessions_max: usize,
    /// How long a session lives without a request.
    pub session_idle: Duration,
    /// How long a request may take.
    pub request_timeout: Duration,
}

/// `[storage]`, see [`raw::RawStorage`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageConfig {
    /// The data directory; `None`: the default one, see [`default_data_dir`].
    pub path: Option<PathBuf>,
    /// When a write counts as done.
    pub durability: Durability,
    /// Bytes of RocksDB's block cache.
    pub block_cache_bytes: u64,
    /// Bytes of the cache of values that are read often.
    pub hot_cache_bytes: u64,
    /// Bytes of each space's completion index that stay in memory before they go to files.
    pub completion_memory_bytes: u64,
    /// Bytes of the cache of answers that completion gives often.
    pub completion_cache_bytes: u64,
    /// How long changes stay in the change log, and tombstones of deleted resources with them.
    pub change_log_retention: Duration,
}

/// `[full_text]`, see [`raw::RawFullText`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTextConfig {
    /// Whether texts are indexed.
    pub enabled: bool,
    /// Memory for what is not on the disk yet.
    pub memory_bytes: u64,
    /// Memory for what searches showed.
    pub hit_cache_bytes: u64,
    /// Threads that index.
    pub threads: usize,
    /// How long a change waits before it can be found.
    pub commit_interval: Duration,
    /// How long a search may take.
    pub time_max: Duration,
}

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When it is on the disk: a power failure loses nothing.
    Sync,
    /// When it is with the operating system, which is told to write to the disk this often: a power failure loses at
    /// most this much time.
    Interval(Duration),
}

/// `[[space]]`, see [`raw::RawSpace`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceConfig {
    /// What the engine keeps of it.
    pub settings: SpaceSettings,
    /// `[space.columns]`, sorted by column.
    pub columns: Vec<ColumnMapping>,
}

/// Where a CSV or TSV column goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMapping {
    /// The column's header.
    pub column: String,
    /// What it fills.
    pub target: ColumnTarget,
}

/// What a column fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnTarget {
    /// A field of the resource record.
    Field(RecordField),
    /// A variable of the space's template.
    Variable(String),
}

/// The fields of the resource record that a column can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of that name in the resource record")]
pub enum RecordField {
    Uri,
    Name,
    Title,
    Description,
    MimeType,
    Text,
    Blob,
    Size,
    Priority,
    Audience,
    LastModified,
    Pinned,
    Acl,
}

/// Judges a space's template; the engine knows which can be matched. The text of a refusal goes into the error.
pub type TemplateCheck<'a> = &'a dyn Fn(&str) -> Result<(), String>;

impl Config {
    /// Reads and validates a configuration file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or a key or value in it is wrong.
    pub fn load(file: &Path, check_template: TemplateCheck<'_>) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(file).map_err(|error| ConfigError::read(file, error))?;
        Self::of_file(&text, file, check_template)
    }

    /// The same for a file that was found and not named. It is used only if it, and the folder that it lies in, belong to
    /// this user or to root, nobody else may write the file, and not everybody may write the folder (unless it is sticky):
    /// a configuration runs commands and decides what is served.
    ///
    /// # Errors
    ///
    /// As [`Config::load`], and when the file is not trusted.
    pub fn load_found(file: &Path, check_template: TemplateCheck<'_>) -> Result<Self, ConfigError> {
        let text = trust::open_trusted(file).and_then(io::read_to_string).map_err(|error| {
            let shown = file.display();
            let detail = match error.kind() {
                io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => format!(
                    "is not used, because nobody named it and it is not safe to; name it with --config {shown} if you trust it, \
                     or make it and its folder yours and run `chmod go-w {shown}`"
                ),
                _ => "was found in the current folder and cannot be read".to_owned(),
            };
            ConfigError::unreadable(file, &detail, error)
        })?;
        Self::of_file(&text, file, check_template)
    }

    fn of_file(
        text: &str,
        file: &Path,
        check_template: TemplateCheck<'_>,
    ) -> Result<Self, ConfigError> {
        // Relative paths must not change their meaning when the process changes its folder.
        let absolute = std::path::absolute(file).map_err(|error| ConfigError::read(file, error))?;
        Self::parse(text, &absolute, check_template)
    }

    /// Validates the text of the configuration file `file`; relative paths in it start from the file's folder.
    ///
    /// # Errors
    ///
    /// When a key or value is wrong.
    pub fn parse(
        text: &str,
        file: &Path,
        check_template: TemplateCheck<'_>,
    ) -> Result<Self, ConfigError> {
        let raw: raw::RawConfig =
            toml::from_str(text).map_err(|error| ConfigError::toml(file, text, &error))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        validate::convert(raw, folder, check_template)
            .map_err(|fault| ConfigError::value(file, text, fault))
    }
}

/// Reads a file of nothing but `[[prompt]]` tables; relative paths in it start from its folder.
///
/// # Errors
///
/// When the file cannot be read, or a key or value in it is wrong.
pub fn read_prompts(file: &Path) -> Result<Vec<Arc<Prompt>>, ConfigError> {
    let text = fs::read_to_string(file)
        .map_err(|error| ConfigError::unreadable(file, "cannot be read", error))?;
    let raw: raw::RawPrompts =
        toml::from_str(&text).map_err(|error| ConfigError::toml(file, &text, &error))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    prompts::prompts(raw.prompt, folder).map_err(|fault| ConfigError::value(file, &text, fault))
}

impl Default for Config {
    /// What holds without a configuration file. An empty file means the same, which a test checks.
    fn default() -> Self {
        Self {
            server: ServerConfig {
                listen: listen::LISTEN_DEFAULT,
                admin_listen: AdminListen::Default,
                admin_token_file: None,
                allowed_hosts: Vec::new(),
                metrics_hosts: Vec::new(),
                trusted_proxies: Vec::new(),
                unsafe_listen_without_auth: false,
                body_bytes_max: 4 * quantity::MIB,
                reply_bytes_max: 8 * quantity::MIB,
                page_items_max: 250,
                tool_calls_per_second: TOOL_CALLS_PER_SECOND_DEFAULT,
                tool_results: ToolResults::Text,
                completions_per_second: COMPLETIONS_PER_SECOND_DEFAULT,
                concurrent_requests_max: 512,
                connections_max: 16_384,
                streams_max: 65_536,
                stream_keep_alive: Duration::from_secs(25),
                sessions_max: 10_000,
                session_idle: Duration::from_secs(30 * 60),
                request_timeout: Duration::from_secs(30),
            },
            storage: StorageConfig {
                path: None,
                durability: Durability::Sync,
                block_cache_bytes: 256 * quantity::MIB,
                hot_cache_bytes: 256 * quantity::MIB,
                completion_memory_bytes: 16 * quantity::MIB,
                completion_cache_bytes: 32 * quantity::MIB,
                change_log_retention: quantity::days(7),
            },
            full_text: FullTextConfig {
                enabled: true,
                memory_bytes: 128 * quantity::MIB,
                hit_cache_bytes: 32 * quantity::MIB,
                threads: 1,
                commit_interval: Duration::from_millis(500),
                time_max: Duration::from_secs(2),
            },
            extract: Vec::new(),
            spaces: Vec::new(),
            prompts: Vec::new(),
            sources: Vec::new(),
        }
    }
}
