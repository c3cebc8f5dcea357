//! The text of each error: file, line, key, what is wrong and the way out.

use std::path::Path;

use expect_test::{Expect, expect};

use crate::config::Config;

fn check(text: &str, expect: &Expect) {
    let refuse_double = |template: &str| match template {
        "x://{a}{b}" => Err("two variables with nothing between them cannot be matched".to_owned()),
        _ => Ok(()),
    };
    let error = Config::parse(text, Path::new("pressmark.toml"), &refuse_double).unwrap_err();
    assert!(error.line().is_some() && error.key().is_some(), "{error:?}");
    expect.assert_eq(&error.to_string());
}

fn space(more: &str) -> String {
    format!("[[space]]\nname = 'a'\nuri_template = 'a://{{b}}'\n{more}\n")
}

fn source(more: &str) -> String {
    format!("\n[[source]]\nspace = 'a'\npath = '/srv/a'\n{more}\n")
}

#[test]
fn wrong_keys() {
    check("[server]\n\nlsten = 'x'", &expect!["pressmark.toml:3: server.lsten: unknown field `lsten`, expected one of `listen`, `admin_listen`, `allowed_hosts`, `unsafe_listen_without_auth`, `body_bytes_max`, `reply_bytes_max`, `page_items_max`, `concurrent_requests_max`, `sessions_max`, `session_idle`, `request_timeout`"]);
    check("[sever]\nlisten = 'x'", &expect!["pressmark.toml:1: sever: unknown field `sever`, expected one of `server`, `storage`, `space`, `source`"]);
    check(&space("[space.column]\na = 'text'"), &expect!["pressmark.toml:4: space.column: unknown field `column`, expected one of `name`, `uri_template`, `title`, `description`, `mime_type`, `list`, `ttl`, `cache_scope`, `alias_clash`, `columns`"]);
    check("[[source]]\nspace = 'a'", &expect!["pressmark.toml:1: source: missing field `path`"]);
    check("[server]\nlisten = 'x'\nlisten = 'y'", &expect!["pressmark.toml:3: server.listen: duplicate key"]);
    check("[server]\nlisten = \n", &expect!["pressmark.toml:2: server.listen: string values must be quoted, expected literal string"]);
}

#[test]
fn wrong_types() {
    check("[server]\nlisten = 7411", &expect!["pressmark.toml:2: server.listen: invalid type: integer `7411`, expected a string"]);
    check("[server]\nsession_idle = 30", &expect!["pressmark.toml:2: server.session_idle: invalid type: integer `30`, expected a string"]);
    check("[server]\nbody_bytes_max = true", &expect![[r#"pressmark.toml:2: server.body_bytes_max: a number of bytes: an integer, or text such as "64 MiB""#]]);
    check(
        "[server]\nallowed_hosts = [\n  'a',\n  5,\n]",
        &expect!["pressmark.toml:4: server.allowed_hosts: invalid type: integer `5`, expected a string"],
    );
    check("[server]\npage_items_max = 'many'", &expect![[r#"pressmark.toml:2: server.page_items_max: invalid type: string "many", expected i64"#]]);
}

#[test]
fn wrong_server_values() {
    check("[server]\nlisten = 'example.com:80'", &expect![[r#"pressmark.toml:2: server.listen: "example.com:80" is no address with a port; write one such as "127.0.0.1:7411" or "[::1]:7411""#]]);
    check("[server]\nlisten = '0.0.0.0:7411'", &expect!["pressmark.toml:2: server.listen: 0.0.0.0:7411 is beyond loopback and callers are not authenticated; listen on 127.0.0.1 behind a proxy that authenticates, or set unsafe_listen_without_auth = true"]);
    check(
        "[server]\nunsafe_listen_without_auth = true\nadmin_listen = '[::]:7412'",
        &expect!["pressmark.toml:3: server.admin_listen: [::]:7412 is beyond loopback, where anyone could change resources; use 127.0.0.1"],
    );
    check(
        "[server]\nallowed_hosts = ['a',\n'https://b/']",
        &expect![[r#"pressmark.toml:3: server.allowed_hosts: "https://b/" is no host name; write one such as "docs.example.com", without scheme, path or wildcard"#]],
    );
    check("[server]\npage_items_max = 0", &expect!["pressmark.toml:2: server.page_items_max: 0 is not between 1 and 10000"]);
    check("[server]\nsessions_max = -1", &expect!["pressmark.toml:2: server.sessions_max: -1 is not between 1 and 10000000"]);
    check("[server]\nreply_bytes_max = '5 parsecs'", &expect![[r#"pressmark.toml:2: server.reply_bytes_max: "5 parsecs" is no number of bytes; write an integer, or one with a unit: "64 MiB", "512 KiB", "2 GB""#]]);
    check(
        "[server]\nreply_bytes_max = '99999999999 TiB'",
        &expect![[r#"pressmark.toml:2: server.reply_bytes_max: "99999999999 TiB" is too large"#]],
    );
    check("[server]\nreply_bytes_max = -5", &expect!["pressmark.toml:2: server.reply_bytes_max: must be at least 1 byte"]);
    check("[server]\nrequest_timeout = '0s'", &expect!["pressmark.toml:2: server.request_timeout: must be longer than nothing"]);
}

#[test]
fn wrong_storage_values() {
    check("[storage]\ndurability = 'often'", &expect![[r#"pressmark.toml:2: storage.durability: "often" is neither "sync" nor an interval such as "200ms""#]]);
    check("[storage]\ndurability = '200'", &expect![[r#"pressmark.toml:2: storage.durability: "200" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d""#]]);
    check("[storage]\npath = ''", &expect!["pressmark.toml:2: storage.path: must not be empty"]);
    check("[storage]\ntombstone_retention = '1.5h'", &expect![[r#"pressmark.toml:2: storage.tombstone_retention: "1.5h" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d""#]]);
    check(
        "[storage]\ntombstone_retention = '99999999999999999999d'",
        &expect![[r#"pressmark.toml:2: storage.tombstone_retention: "99999999999999999999d" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d""#]],
    );
    check("[storage]\ntombstone_retention = '40000d'", &expect![[r#"pressmark.toml:2: storage.tombstone_retention: "40000d" is longer than 36500 days"#]]);
}

#[test]
fn wrong_spaces() {
    check(&(space("") + &space("")), &expect![[r#"pressmark.toml:6: space.name: "a" is the name of an earlier space; give each its own"#]]);
    check(
        "[[space]]\nname = 'Py Pi'\nuri_template = 'a:{b}'",
        &expect![[r#"pressmark.toml:2: space.name: "Py Pi" is no name of a space; use 1 to 64 of a-z, 0-9, _ and -"#]],
    );
    check(
        "[[space]]\nname = 'a'\nuri_template = 'x://{a}{b}'",
        &expect!["pressmark.toml:3: space.uri_template: two variables with nothing between them cannot be matched"],
    );
    check(&space("list = 'some'"), &expect![[r#"pressmark.toml:4: space.list: "some" is none of "auto", "all", "pinned", "none""#]]);
    check(&space("cache_scope = 'shared'"), &expect![[r#"pressmark.toml:4: space.cache_scope: "shared" is none of "public", "private""#]]);
    check(&space("alias_clash = 'ignore'"), &expect![[r#"pressmark.toml:4: space.alias_clash: "ignore" is none of "refuse", "warn""#]]);
    check(&space("ttl = '5'"), &expect![[r#"pressmark.toml:4: space.ttl: "5" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d""#]]);
    check(&space("mime_type = 'text'"), &expect![[r#"pressmark.toml:4: space.mime_type: "text" is no MIME type; write one such as "text/plain""#]]);
    check(
        &space("[space.columns]\na = 'text'\nb = 'body'"),
        &expect![[r#"pressmark.toml:6: space.columns: "body" is none of "uri", "name", "title", "description", "mimeType", "text", "blob", "size", "priority", "audience", "lastModified", "pinned", "acl" and no "variables.<name>""#]],
    );
    check(&space("[space.columns]\na = 'variables.'"), &expect![[r#"pressmark.toml:5: space.columns: names no variable; write "variables.<name>""#]]);
}

#[test]
fn wrong_sources() {
    check("[[source]]\nspace = 'No Such'\npath = 'x'", &expect![[r#"pressmark.toml:2: source.space: "No Such" is no name of a space; use 1 to 64 of a-z, 0-9, _ and -"#]]);
    check(&(source("") + &source("")), &expect![[r#"pressmark.toml:9: source.path: "/srv/a" is a source of "a" already; put the patterns together"#]]);
    check(&source("include = ['a', 'b[']"), &expect![[r#"pressmark.toml:5: source.include: pattern "b[": error parsing glob 'b[': unclosed character class; missing ']'"#]]);
    check(&source("exclude = [\n  '!a',\n]"), &expect![[r#"pressmark.toml:6: source.exclude: pattern "!a": begins with !; move it to the other list, or write \! for a name that begins so"#]]);
    check(&source("file_bytes_max = 0"), &expect!["pressmark.toml:5: source.file_bytes_max: must be at least 1 byte"]);
}
