//! The file as it is written: every key, with its unit and default. Unknown keys are refused.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A number of bytes: an integer, or text with a unit such as `"64 MiB"`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a number of bytes: an integer, or text such as \"64 MiB\"")]
pub enum RawBytes {
    /// Bytes.
    Integer(i64),
    /// With a unit: `B`, `KiB`, `MiB`, `GiB`, `TiB`, `kB`, `MB`, `GB` or `TB`.
    Text(String),
}

/// A duration as text, such as `"5m"`. An enum so that another type is answered with the way out.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a duration as text with a unit, such as \"200ms\", \"30s\" or \"5m\""
)]
pub enum RawDuration {
    /// A whole number with a unit: `ms`, `s`, `m`, `h` or `d`.
    Text(String),
}

/// A number of things.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a whole number")]
pub enum RawCount {
    /// As TOML holds it.
    Integer(i64),
}

/// The top level.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawConfig {
    /// Listeners and their bounds.
    #[serde(default)]
    pub server: RawServer,
    /// Where and how resources are stored.
    #[serde(default)]
    pub storage: RawStorage,
    /// The index that `search` asks.
    #[serde(default)]
    pub full_text: RawFullText,
    /// A command that finds the text of documents of one type. Repeatable.
    #[serde(default)]
    pub extract: Vec<RawExtract>,
    /// A space: one template with its settings and all resources behind it. Repeatable.
    #[serde(default)]
    pub space: Vec<RawSpace>,
    /// A prompt: a template of messages that people choose in their hosts. Repeatable.
    #[serde(default)]
    pub prompt: Vec<RawPrompt>,
    /// A folder that is brought up to date at each start and then watched. Repeatable.
    #[serde(default)]
    pub source: Vec<RawSource>,
}

/// A file of prompts alone.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPrompts {
    /// As in [`RawConfig`].
    #[serde(default)]
    pub prompt: Vec<RawPrompt>,
}

/// `[server]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawServer {
    /// Address and port of the MCP endpoint. Default: `"127.0.0.1:7411"`.
    pub listen: Option<Spanned<String>>,
    /// Address and port of the admin plane, on loopback unless `admin_token_file` is set; `"off"`, or `"auto"`: 127.0.0.1:7412, or a free port of loopback where that is taken. Default: `"auto"`.
    pub admin_listen: Option<Spanned<String>>,
    /// File with a token that whoever calls the admin plane must show, as `authorization: Bearer TOKEN`; readable for its
    /// owner only. Default: none.
    pub admin_token_file: Option<Spanned<String>>,
    /// Names, each with or without a port, that `Host` and `Origin` may have; loopback names are always in.
    /// Default: `[]`.
    pub allowed_hosts: Option<Vec<Spanned<String>>>,
    /// Further names under which `/metrics` alone is answered, for a scraper that does not use one of `allowed_hosts`.
    /// Default: `[]`.
    pub metrics_hosts: Option<Vec<Spanned<String>>>,
    /// Addresses or networks (`"10.0.0.0/8"`) of proxies in front of the server. Requests from them count as those of the
    /// address that the proxy names last in `X-Forwarded-For`; without this all clients of a proxy are one address.
    /// Default: `[]`.
    pub trusted_proxies: Option<Vec<Spanned<String>>>,
    /// Allow `listen` beyond loopback although nobody who can reach it is asked who they are. Default: `false`.
    pub unsafe_listen_without_auth: Option<bool>,
    /// Largest request body, in bytes; larger ones are answered with 413, once up to 64 MiB of them have been read and
    /// thrown away within 5 seconds: many clients send everything before they read. Default: `"4 MiB"`.
    pub body_bytes_max: Option<Spanned<RawBytes>>,
    /// Largest reply, in bytes; a larger one is an error that says how to read parts. Default: `"8 MiB"`.
    pub reply_bytes_max: Option<Spanned<RawBytes>>,
    /// Most entries on a page of a list. Default: `250`.
    pub page_items_max: Option<Spanned<RawCount>>,
    /// Most tool calls of one caller (one address) in a second; further ones are results that say how long to wait.
    /// Default: `100`.
    pub tool_calls_per_second: Option<Spanned<RawCount>>,
    /// What the results of `search` and `fetch` hold: `"text"`, one text in which each URI stands once; `"full"`, one text
    /// with all of `structuredContent`; `"links"`, the short text and a `resource_link` for each resource.
    /// Default: `"text"`.
    pub tool_results: Option<Spanned<String>>,
    /// Most completions of one caller (one address) in a second; further ones are errors that say how long to wait.
    /// Default: `300`.
    pub completions_per_second: Option<Spanned<RawCount>>,
    /// Most requests in progress, until their replies are taken; further ones are answered with 503. One address has at most
    /// three quarters of them, as of the connections, the sessions, the 1,024 bodies that are on their way, and the 256 MiB each
    /// for bodies and for replies that are not taken (metric `pressmark_mcp_shares_used_up_total`). Default: `512`.
    pub concurrent_requests_max: Option<Spanned<RawCount>>,
    /// Most connections; further ones wait in the system's queue. Each takes a file descriptor: where the process may open
    /// fewer, the bound is lowered, and the log says so. Default: `16384`.
    pub connections_max: Option<Spanned<RawCount>>,
    /// Most streams of notifications that are open at a time, over all connections; further ones are answered with 503.
    /// Default: `65536`.
    pub streams_max: Option<Spanned<RawCount>>,
    /// The longest time between two things that are sent on a stream of events: a quiet one gets comments, so that no
    /// proxy takes it for dead. Default: `"25s"`.
    pub stream_keep_alive: Option<Spanned<RawDuration>>,
    /// Most sessions of the revisions that have them; a client beyond them is served without one. 0: none, nobody gets an
    /// `Mcp-Session-Id`. Default: `10000`.
    pub sessions_max: Option<Spanned<RawCount>>,
    /// A session without a request for this long is forgotten, with what it watches. Requests that need only its id are
    /// still served, for 30 days after it began and across restarts. Default: `"30m"`.
    pub session_idle: Option<Spanned<RawDuration>>,
    /// A request that takes longer is answered with an error. Default: `"30s"`.
    pub request_timeout: Option<Spanned<RawDuration>>,
}

/// `[storage]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawStorage {
    /// The data directory. Default: a folder under `$XDG_DATA_HOME/pressmark`, named after the configuration file.
    pub path: Option<Spanned<String>>,
    /// `"sync"`: a write is done when it is on the disk; or an interval such as `"200ms"` at which the disk is
    /// written, which is what a power failure can lose. Default: `"sync"`.
    pub durability: Option<Spanned<String>>,
    /// Memory for blocks of the store, in bytes. Default: `"256 MiB"`.
    pub block_cache_bytes: Option<Spanned<RawBytes>>,
    /// Memory for resources that are read often, in bytes; 0: none. Default: `"256 MiB"`.
    pub hot_cache_bytes: Option<Spanned<RawBytes>>,
    /// Memory for what is new in each space's completion index, before it goes to files, in bytes. Default: `"16 MiB"`.
    pub completion_memory_bytes: Option<Spanned<RawBytes>>,
    /// Memory for answers of completion that are asked often, in bytes; 0: none. Default: `"32 MiB"`.
    pub completion_cache_bytes: Option<Spanned<RawBytes>>,
    /// How long changes, deletions among them, stay readable for those who follow them. Default: `"7d"`.
    pub change_log_retention: Option<Spanned<RawDuration>>,
}

/// `[full_text]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFullText {
    /// Whether texts are indexed, so that `search` can find them. Default: `true`.
    pub enabled: Option<bool>,
    /// Memory for what is indexed and not yet on the disk, in bytes; at least 32 MiB. Default: `"128 MiB"`.
    pub memory_bytes: Option<Spanned<RawBytes>>,
    /// Memory for what searches showed and may show again, in bytes; 0: none. Default: `"32 MiB"`.
    pub hit_cache_bytes: Option<Spanned<RawBytes>>,
    /// Threads that index. They give way to those that serve. Default: `1`.
    pub threads: Option<Spanned<RawCount>>,
    /// How long a change waits at most, as a rule, before it can be found. Default: `"500ms"`.
    pub commit_interval: Option<Spanned<RawDuration>>,
    /// How long a search may take; what has been found by then is its answer, which says so. Default: `"2s"`.
    pub time_max: Option<Spanned<RawDuration>>,
}

/// `[[extract]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawExtract {
    /// The MIME type of the documents, such as `"application/msword"`. Goes before a reader of our own. Required.
    pub mime_type: Spanned<String>,
    /// The program and its arguments. It gets a document on stdin and writes its text to stdout; no shell is between. When it
    /// fails, the log says so once for its MIME type, and `pressmark_extract_commands_failed_total` counts.
    /// Required.
    pub command: Spanned<Vec<String>>,
    /// How long it may take for one document; then it is killed, with all that it started. Default: `"20s"`.
    pub timeout: Option<Spanned<RawDuration>>,
    /// The most text that it may write, in bytes; more is an error. Default: `"16 MiB"`.
    pub output_bytes_max: Option<Spanned<RawBytes>>,
}

/// `[[space]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSpace {
    /// The name in commands: 1 to 64 of `a-z`, `0-9`, `_` and `-`. Required.
    pub name: Spanned<String>,
    /// The RFC 6570 template of the space's URIs, such as `"pypi://packages/{name}"`. Required.
    pub uri_template: Spanned<String>,
    /// The title that people see. Default: none.
    pub title: Option<String>,
    /// One line of what is in the space, for people and models. Default: none.
    pub description: Option<String>,
    /// The MIME type of resources that have none of their own. Default: none.
    pub mime_type: Option<Spanned<String>>,
    /// What `resources/list` shows: `"auto"` (all up to 1,000 resources, above that as `"pinned"`), `"all"`,
    /// `"pinned"` or `"none"`. Default: `"auto"`.
    pub list: Option<Spanned<String>>,
    /// How long clients may take a reply as fresh, up to a year. Default: `"60s"`.
    pub ttl: Option<Spanned<RawDuration>>,
    /// Who may share a cached reply: `"public"` or `"private"`; with an ACL it is always private.
    /// Default: `"public"`.
    pub cache_scope: Option<Spanned<String>>,
    /// What happens to a resource whose URI is another's once escapes are undone: `"refuse"` or `"warn"`.
    /// Default: `"refuse"`, and `"warn"` for spaces that only a source names.
    pub alias_clash: Option<Spanned<String>>,
    /// Headers of CSV and TSV files, each with the record field or `variables.<name>` that the column fills.
    /// Default: none.
    #[serde(default)]
    pub columns: BTreeMap<String, Spanned<String>>,
}

/// `[[source]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSource {
    /// The space of the files, whose template has `{+path}`; one that no `[[space]]` declares becomes
    /// `docs://<space>/{+path}`. Required.
    pub space: Spanned<String>,
    /// The folder. It may be a link; beneath it links are not followed. Required.
    pub path: Spanned<String>,
    /// Files to serve, as patterns in the syntax of `.gitignore`; `[]`: all. Default: `[]`.
    #[serde(default)]
    pub include: Vec<Spanned<String>>,
    /// Files to leave out, in the same syntax; wins over `include`. Default: `[]`.
    #[serde(default)]
    pub exclude: Vec<Spanned<String>>,
    /// Largest file, in bytes; larger ones are refused. Default: `"64 MiB"`.
    pub file_bytes_max: Option<Spanned<RawBytes>>,
    /// Whether changes are taken while the server runs; if not, only at its start. Default: `true`.
    pub watch: Option<bool>,
    /// How often the whole folder is compared besides what the system reports of it. Default: never, but `"30s"` on network
    /// file systems and while the system's limit of watches is reached.
    pub poll_interval: Option<Spanned<RawDuration>>,
}

/// `[[prompt]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPrompt {
    /// The name: 1 to 64 of `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`. Required.
    pub name: Spanned<String>,
    /// The title that people see. Default: none.
    pub title: Option<String>,
    /// One line of what it does. Default: none.
    pub description: Option<String>,
    /// What a person fills in. Repeatable. Default: none.
    #[serde(default)]
    pub argument: Vec<RawPromptArgument>,
    /// What the model gets. Repeatable. Required.
    #[serde(default)]
    pub message: Vec<RawPromptMessage>,
}

/// `[[prompt.argument]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPromptArgument {
    /// The name: 1 to 64 of `A-Z`, `a-z`, `0-9` and `_`. Required.
    pub name: Spanned<String>,
    /// The title that people see. Default: none.
    pub title: Option<String>,
    /// One line of what to fill in. Default: none.
    pub description: Option<String>,
    /// Whether it must be given. Default: `false`.
    pub required: Option<bool>,
    /// What it is completed from: a list, the best first. Default: none.
    pub values: Option<Spanned<Vec<String>>>,
    /// Or a variable of a space, as `{ space = "pypi", variable = "name" }`. Default: none.
    pub variable: Option<Spanned<RawSpaceVariable>>,
}

/// A variable of a space.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSpaceVariable {
    /// The space, by name.
    pub space: String,
    /// The variable of its template.
    pub variable: String,
}

/// `[[prompt.message]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPromptMessage {
    /// Who says it: `"user"` or `"assistant"`. Default: `"user"`.
    pub role: Option<Spanned<String>>,
    /// What is said: text in which `{argument}` stands for a value, and `{{` and `}}` for braces. Default: none.
    pub text: Option<Spanned<String>>,
    /// Or an image, as `{ mime_type = "image/png", file = "logo.png" }`, or with its bytes as `data` in base64. Default: none.
    pub image: Option<Spanned<RawMedia>>,
    /// Or a sound, likewise. Default: none.
    pub audio: Option<Spanned<RawMedia>>,
    /// Or a link to a resource of the store: its URI, in which `{argument}` stands for an encoded value and `{+argument}` for
    /// one that keeps its slashes. Default: none.
    pub resource_link: Option<Spanned<String>>,
    /// Or the contents of a resource of the store, by its URI in the same form. Default: none.
    pub embedded_resource: Option<Spanned<String>>,
}

/// An image or a sound.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawMedia {
    /// Its MIME type.
    pub mime_type: String,
    /// The file that it is in; a relative path starts from the folder of the configuration.
    pub file: Option<String>,
    /// Or its bytes in base64.
    pub data: Option<String>,
}
