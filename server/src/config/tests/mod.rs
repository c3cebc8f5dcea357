//! What a file means, and what is said of one that is wrong.

mod data_dir;
mod documented;
mod errors;
mod prompts;

use std::path::Path;
use std::time::Duration;

use expect_test::expect;
use pressmark_index::space::{AliasClash, CacheScope, ListMode};

use super::{ColumnTarget, Config, ConfigError, Durability, RecordField};

const EXAMPLE: &str = include_str!("../../../../docs/pressmark.example.toml");

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("/etc/pressmark.toml"), &|_| Ok(()))
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(parse("").unwrap(), Config::default());
    assert_eq!(parse("[server]\n[storage]\n").unwrap(), Config::default());
}

#[test]
fn the_values_of_the_example() {
    let config = parse(EXAMPLE).unwrap();
    expect![[r#"
        ServerConfig {
            listen: 0.0.0.0:8080,
            admin_listen: At(
                0.0.0.0:8081,
            ),
            admin_token_file: Some(
                "/etc/./admin-token",
            ),
            allowed_hosts: [
                "docs.example.com",
                "docs.example.com:8443",
            ],
            metrics_hosts: [
                "pressmark.internal",
            ],
            trusted_proxies: [
                127.0.0.1/32,
                10.0.0.0/8,
            ],
            unsafe_listen_without_auth: true,
            body_bytes_max: 1048576,
            reply_bytes_max: 4194304,
            page_items_max: 100,
            tool_calls_per_second: 20,
            tool_results: Links,
            completions_per_second: 60,
            concurrent_requests_max: 256,
            connections_max: 4096,
            streams_max: 20000,
            stream_keep_alive: 15s,
            sessions_max: 1000,
            session_idle: 3600s,
            request_timeout: 10s,
        }
    "#]]
    .assert_debug_eq(&config.server);
    expect![[r#"
        StorageConfig {
            path: Some(
                "/etc/./pressmark-data",
            ),
            durability: Interval(
                200ms,
            ),
            block_cache_bytes: 1073741824,
            hot_cache_bytes: 268435456,
            completion_memory_bytes: 16777216,
            completion_cache_bytes: 33554432,
            change_log_retention: 1209600s,
        }
    "#]]
    .assert_debug_eq(&config.storage);
    expect![[r#"
        FullTextConfig {
            enabled: false,
            memory_bytes: 536870912,
            hit_cache_bytes: 67108864,
            threads: 2,
            commit_interval: 1s,
            time_max: 5s,
        }
    "#]]
    .assert_debug_eq(&config.full_text);
    expect![[r#"
        [
            (
                "application/msword",
                ExtractCommand {
                    program: "antiword",
                    arguments: [
                        "-",
                    ],
                    timeout: 10s,
                    output_bytes_max: 4194304,
                },
            ),
            (
                "image/tiff",
                ExtractCommand {
                    program: "/etc/./bin/read-scans",
                    arguments: [],
                    timeout: 20s,
                    output_bytes_max: 16777216,
                },
            ),
        ]
    "#]]
    .assert_debug_eq(&config.extract);
    expect![[r#"
        [
            FolderSource {
                space: "handbook",
                root: "/srv/handbook",
                include: [
                    "**/*.md",
                    "*.png",
                ],
                exclude: [
                    "**/drafts/**",
                ],
                file_bytes_max: 16777216,
                data_dir: None,
                watch: true,
                poll_interval: None,
            },
            FolderSource {
                space: "minutes",
                root: "/etc/../minutes",
                include: [],
                exclude: [],
                file_bytes_max: 67108864,
                data_dir: None,
                watch: false,
                poll_interval: None,
            },
            FolderSource {
                space: "minutes",
                root: "/mnt/minutes",
                include: [],
                exclude: [],
                file_bytes_max: 67108864,
                data_dir: None,
                watch: true,
                poll_interval: Some(
                    300s,
                ),
            },
        ]
    "#]]
    .assert_debug_eq(&config.sources);
}

#[test]
fn the_spaces_of_the_example() {
    let config = parse(EXAMPLE).unwrap();
    let [pypi, handbook, minutes] = config.spaces.as_slice() else { panic!("{:?}", config.spaces) };
    assert_eq!(
        (pypi.settings.list, pypi.settings.alias_clash),
        (ListMode::Pinned, AliasClash::Warn)
    );
    assert_eq!(pypi.settings.cache_scope, CacheScope::Private);
    assert_eq!(pypi.settings.ttl, Duration::from_secs(300));
    let columns: Vec<_> =
        pypi.columns.iter().map(|map| (map.column.as_str(), &map.target)).collect();
    assert_eq!(
        columns,
        [
            ("name", &ColumnTarget::Variable("name".to_owned())),
            ("summary", &ColumnTarget::Field(RecordField::Text)),
            ("version", &ColumnTarget::Field(RecordField::Title)),
        ]
    );
    assert_eq!(handbook.settings.alias_clash, AliasClash::Refuse);
    assert_eq!(minutes.settings.uri_template, "docs://minutes/{+path}");
    assert_eq!(minutes.settings.alias_clash, AliasClash::Warn);
    assert_eq!(minutes.settings.title.as_deref(), Some("minutes"));
}

#[test]
fn durations_and_sizes() {
    for (text, milliseconds) in [("0ms", 0), ("200ms", 200), ("5 m", 300_000), ("7d", 604_800_000)]
    {
        let file = format!("[[space]]\nname = 'a'\nuri_template = 'a:{{b}}'\nttl = '{text}'");
        let ttl = parse(&file).unwrap().spaces[0].settings.ttl;
        assert_eq!(ttl, Duration::from_millis(milliseconds), "{text}");
    }
    for (text, bytes) in [("1", 1), ("'2B'", 2), ("'3 KiB'", 3072), ("'4MB'", 4_000_000)] {
        let config = parse(&format!("[server]\nbody_bytes_max = {text}")).unwrap();
        assert_eq!(config.server.body_bytes_max, bytes, "{text}");
    }
    let config = parse("[storage]\ndurability = 'sync'").unwrap();
    assert_eq!(config.storage.durability, Durability::Sync);
}

#[test]
fn addresses() {
    for (text, expected) in
        [("localhost:1", "127.0.0.1:1"), ("[::1]:2", "[::1]:2"), ("127.3.2.1:3", "127.3.2.1:3")]
    {
        let config = parse(&format!("[server]\nlisten = '{text}'")).unwrap();
        assert_eq!(config.server.listen.to_string(), expected);
    }
}

#[test]
fn a_file_on_the_disk_is_loaded_with_its_folder() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("pressmark.toml");
    std::fs::write(&file, "[storage]\npath = 'store'\n").unwrap();
    let config = Config::load(&file, &|_| Ok(())).unwrap();
    assert_eq!(config.storage.path, Some(folder.path().join("store")));
    let missing = Config::load(&folder.path().join("none"), &|_| Ok(())).unwrap_err();
    assert!(missing.to_string().ends_with("none: cannot be read; check --config"), "{missing}");
}
