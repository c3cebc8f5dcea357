//! The text of each error: file, line, key, what is wrong and the way out.

use std::path::Path;

use expect_test::{Expect, expect};

use crate::config::Config;

/// One error a line, in the order of the texts.
fn check(texts: &[String], expect: &Expect) {
    let refuse_double = |template: &str| match template {
        "x://{a}{b}" => Err("two variables with nothing between them cannot be matched".to_owned()),
        _ => Ok(()),
    };
    let errors: Vec<String> = texts
        .iter()
        .map(|text| {
            let file = Path::new("pressmark.toml");
            let error = Config::parse(text, file, &refuse_double).unwrap_err();
            assert!(error.line().is_some() && error.key().is_some(), "{error:?}");
            error.to_string()
        })
        .collect();
    expect.assert_eq(&errors.join("\n"));
}

fn server(line: &str) -> String {
    format!("[server]\n{line}")
}

fn storage(line: &str) -> String {
    format!("[storage]\n{line}")
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn space(more: &str) -> String {
    format!("[[space]]\nname = 'a'\nuri_template = 'a://{{b}}'\n{more}\n")
}

fn source(more: &str) -> String {
    format!("\n[[source]]\nspace = 'a'\npath = '/srv/a'\n{more}\n")
}

#[test]
fn wrong_keys() {
    check(
        &[
            server("\nlsten = 'x'"),
            text("[sever]\nlisten = 'x'"),
            space("[space.column]\na = 'text'"),
            text("[[source]]\nspace = 'a'"),
            server("listen = 'x'\nlisten = 'y'"),
            server("listen = \n"),
        ],
        &expect![[r#"
            pressmark.toml:3: server.lsten: unknown key `lsten`: did you mean `listen`? The keys here are `listen`, `admin_listen`, `admin_token_file`, `allowed_hosts`, `metrics_hosts`, `trusted_proxies`, `unsafe_listen_without_auth`, `body_bytes_max`, `reply_bytes_max`, `page_items_max`, `tool_calls_per_second`, `tool_results`, `completions_per_second`, `concurrent_requests_max`, `connections_max`, `streams_max`, `stream_keep_alive`, `sessions_max`, `session_idle`, `request_timeout`
            pressmark.toml:1: sever: unknown key `sever`: did you mean `server`? The keys here are `server`, `storage`, `full_text`, `extract`, `space`, `prompt`, `source`
            pressmark.toml:4: space.column: unknown key `column`: did you mean `columns`? The keys here are `name`, `uri_template`, `title`, `description`, `mime_type`, `list`, `ttl`, `cache_scope`, `alias_clash`, `columns`
            pressmark.toml:1: source: missing field `path`
            pressmark.toml:3: server.listen: duplicate key
            pressmark.toml:2: server.listen: string values must be quoted, expected literal string"#]],
    );
}

#[test]
fn wrong_prompts() {
    let prompt = |more: &str| format!("[[prompt]]\nname = 'p'\n{more}\n");
    let argument = |more: &str| prompt(&format!("[[prompt.argument]]\n{more}\n"));
    let message = |more: &str| prompt(&format!("[[prompt.message]]\n{more}\n"));
    let said = "[[prompt.message]]\ntext = 'x'\n";
    check(
        &[
            text("[[prompt]]\nname = 'a b'"),
            prompt(""),
            prompt(said) + &prompt(said),
            prompt("text = 'x'"),
            argument("name = 'a-b'"),
            argument("name = 'a'\n[[prompt.argument]]\nname = 'a'"),
            argument("name = 'a'\nvalues = ['x']\nvariable = { space = 's', variable = 'v' }"),
            argument("name = 'a'\nvalues = ['x', '']"),
            argument("name = 'a'\nvariable = { space = 's' }"),
            argument("name = 'a'\nvariable = { space = 's', variable = '' }"),
            argument("name = 'a'\nrequired = 'yes'"),
            message("role = 'system'\ntext = 'x'"),
            message("role = 'user'"),
            message("text = 'x'\nresource_link = 'a://b'"),
            message("text = 'Review {page}'"),
            message("text = 'Says { that'"),
            message("resource_link = 'handbook/x'"),
            message("embedded_resource = 'docs://h/{page}'"),
            message("image = { mime_type = 'image/png', data = 'no base64' }"),
            message("image = { mime_type = 'image/png' }"),
            message("image = { mime_type = 'image/png', file = 'absent.png' }"),
            message("audio = { mime_type = 'image/png', data = 'AAAA' }"),
        ],
        &expect![[r#"
            pressmark.toml:2: prompt.name: "a b" is no name; use 1 to 64 of A-Z, a-z, 0-9 and _ . -
            pressmark.toml:2: prompt.message: a prompt needs a message
            pressmark.toml:7: prompt.name: "p" is the name of an earlier prompt; give each its own
            pressmark.toml:3: prompt.text: unknown key `text`: the keys here are `name`, `title`, `description`, `argument`, `message`
            pressmark.toml:4: prompt.argument.name: "a-b" is no name; use 1 to 64 of A-Z, a-z, 0-9 and _
            pressmark.toml:6: prompt.argument.name: `a` is the name of an earlier argument
            pressmark.toml:6: prompt.argument.variable: the argument has `values` already; keep one of them
            pressmark.toml:5: prompt.argument.values: a value is empty
            pressmark.toml:5: prompt.argument.variable: missing field `variable`
            pressmark.toml:5: prompt.argument.variable: names no variable
            pressmark.toml:5: prompt.argument.required: invalid type: string "yes", expected a boolean
            pressmark.toml:4: prompt.message.role: "system" is none of "user", "assistant"
            pressmark.toml:4: prompt.message: message 1 says nothing; it needs `text`, `image`, `audio`, `resource_link` or `embedded_resource`
            pressmark.toml:5: prompt.message: a message says one thing; make a second `[[prompt.message]]`
            pressmark.toml:4: prompt.message.text: `{page}` is no argument of the prompt; declare it, or write `{{` and `}}` for braces
            pressmark.toml:4: prompt.message.text: the `{` at byte 5 is not closed; write `{{` for a brace
            pressmark.toml:4: prompt.message.resource_link: handbook/x: it has no scheme, such as `docs://`
            pressmark.toml:4: prompt.message.embedded_resource: `{page}` is no argument of the prompt; declare it
            pressmark.toml:4: prompt.message.image: data: it is no base64 (RFC 4648, with padding)
            pressmark.toml:4: prompt.message.image: needs `file` or `data`, one of them
            pressmark.toml:4: prompt.message.image: "absent.png" cannot be read: No such file or directory (os error 2)
            pressmark.toml:4: prompt.message.audio: mime_type: "image/png" is no MIME type of `audio/`"#]],
    );
}

#[test]
fn wrong_search() {
    let extract = |lines: &str| format!("[[extract]]\nmime_type = 'a/b'\n{lines}\n");
    let twice = extract("command = ['x']") + "[[extract]]\nmime_type = 'A/B'\ncommand = ['y']";
    check(
        &[
            text("[full_text]\nmemory_bytes = '1 MiB'"),
            text("[full_text]\nthreads = 0"),
            text("[full_text]\ntime_max = '0s'"),
            text("[[extract]]\nmime_type = 'word'\ncommand = ['x']"),
            extract("command = []"),
            extract("command = 'antiword -'"),
            extract("command = ['x']\noutput_bytes_max = 0"),
            twice,
        ],
        &expect![[r#"
            pressmark.toml:2: full_text.memory_bytes: must be at least 32 MiB
            pressmark.toml:2: full_text.threads: 0 is not between 1 and 8
            pressmark.toml:2: full_text.time_max: must be longer than nothing
            pressmark.toml:2: extract.mime_type: "word" is no MIME type; write one such as "text/plain"
            pressmark.toml:3: extract.command: names no program; write ["program", "argument"]
            pressmark.toml:3: extract.command: invalid type: string "antiword -", expected a sequence
            pressmark.toml:4: extract.output_bytes_max: must be at least 1 byte
            pressmark.toml:5: extract.mime_type: "a/b" has a command already; one type has one"#]],
    );
}

#[test]
fn wrong_types() {
    check(
        &[
            server("listen = 7411"),
            server("session_idle = 30"),
            server("body_bytes_max = true"),
            server("allowed_hosts = [\n  'a',\n  5,\n]"),
            server("page_items_max = 'many'"),
        ],
        &expect![[r#"
            pressmark.toml:2: server.listen: invalid type: integer `7411`, expected a string
            pressmark.toml:2: server.session_idle: expected a duration as text with a unit, such as "200ms", "30s" or "5m"
            pressmark.toml:2: server.body_bytes_max: expected a number of bytes: an integer, or text such as "64 MiB"
            pressmark.toml:4: server.allowed_hosts: invalid type: integer `5`, expected a string
            pressmark.toml:2: server.page_items_max: expected a whole number"#]],
    );
}

#[test]
fn wrong_server_values() {
    check(
        &[
            server("listen = 'example.com:80'"),
            server("listen = '0.0.0.0:7411'"),
            server("unsafe_listen_without_auth = true\nadmin_listen = '[::]:7412'"),
            server("allowed_hosts = ['a',\n'https://b/']"),
            server("page_items_max = 0"),
            server("sessions_max = -1"),
            server("reply_bytes_max = '5 parsecs'"),
            server("reply_bytes_max = '99999999999 TiB'"),
            server("reply_bytes_max = -5"),
            server("request_timeout = '0s'"),
        ],
        &expect![[r#"
            pressmark.toml:2: server.listen: "example.com:80" is no address with a port; write one such as "127.0.0.1:7411" or "[::1]:7411"
            pressmark.toml:2: server.listen: 0.0.0.0:7411 is beyond loopback and callers are not authenticated; listen on 127.0.0.1 behind a proxy that authenticates, or set unsafe_listen_without_auth = true
            pressmark.toml:3: server.admin_listen: [::]:7412 is beyond loopback, where anyone could change resources; use 127.0.0.1, or set admin_token_file for a token that callers show
            pressmark.toml:3: server.allowed_hosts: "https://b/" is no host name; write one such as "docs.example.com", without scheme, path or wildcard
            pressmark.toml:2: server.page_items_max: 0 is not between 1 and 10000
            pressmark.toml:2: server.sessions_max: -1 is not between 0 and 10000000
            pressmark.toml:2: server.reply_bytes_max: "5 parsecs" is no number of bytes; write an integer, or one with a unit: "64 MiB", "512 KiB", "2 GB"
            pressmark.toml:2: server.reply_bytes_max: "99999999999 TiB" is too large
            pressmark.toml:2: server.reply_bytes_max: -5 is no number of bytes
            pressmark.toml:2: server.request_timeout: must be longer than nothing"#]],
    );
}

#[test]
fn wrong_storage_values() {
    check(
        &[
            storage("durability = 'often'"),
            storage("durability = '200'"),
            storage("path = ''"),
            storage("change_log_retention = '1.5h'"),
            storage("change_log_retention = '99999999999999999999d'"),
            storage("change_log_retention = '40000d'"),
        ],
        &expect![[r#"
            pressmark.toml:2: storage.durability: "often" is neither "sync" nor an interval such as "200ms"
            pressmark.toml:2: storage.durability: "200" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d"
            pressmark.toml:2: storage.path: must not be empty
            pressmark.toml:2: storage.change_log_retention: "1.5h" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d"
            pressmark.toml:2: storage.change_log_retention: "99999999999999999999d" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d"
            pressmark.toml:2: storage.change_log_retention: "40000d" is longer than 36500 days"#]],
    );
}

#[test]
fn wrong_spaces() {
    check(
        &[
            space("") + &space(""),
            text("[[space]]\nname = 'Py Pi'\nuri_template = 'a:{b}'"),
            text("[[space]]\nname = 'a'\nuri_template = 'x://{a}{b}'"),
            space("list = 'some'"),
            space("cache_scope = 'shared'"),
            space("alias_clash = 'ignore'"),
            space("ttl = '5'"),
            space("mime_type = 'text'"),
            space("[space.columns]\na = 'text'\nb = 'body'"),
            space("[space.columns]\na = 'variables.'"),
            space("[space.columns]\na = 'text'\nb = 'variables.nope'"),
        ],
        &expect![[r#"
            pressmark.toml:6: space.name: "a" is the name of an earlier space; give each its own
            pressmark.toml:2: space.name: "Py Pi" is no name of a space; use 1 to 64 of a-z, 0-9, _ and -
            pressmark.toml:3: space.uri_template: two variables with nothing between them cannot be matched
            pressmark.toml:4: space.list: "some" is none of "auto", "all", "pinned", "none"
            pressmark.toml:4: space.cache_scope: "shared" is none of "public", "private"
            pressmark.toml:4: space.alias_clash: "ignore" is none of "refuse", "warn"
            pressmark.toml:4: space.ttl: "5" is no duration; write a whole number with a unit: "200ms", "30s", "5m", "1h" or "7d"
            pressmark.toml:4: space.mime_type: "text" is no MIME type; write one such as "text/plain"
            pressmark.toml:6: space.columns: "body" is none of "uri", "name", "title", "description", "mimeType", "text", "blob", "size", "priority", "audience", "lastModified", "pinned", "acl" and no "variables.<name>"
            pressmark.toml:5: space.columns: names no variable; write "variables.<name>"
            pressmark.toml:6: space.columns: names the variable `nope`, and the template has `b`"#]],
    );
}

#[test]
fn wrong_sources() {
    check(
        &[
            text("[[source]]\nspace = 'No Such'\npath = 'x'"),
            source("") + &source(""),
            source("include = ['a', 'b[']"),
            source("exclude = [\n  '!a',\n]"),
            source("file_bytes_max = 0"),
            source("poll_interval = '0s'"),
            space("") + &source(""),
        ],
        &expect![[r#"
            pressmark.toml:2: source.space: "No Such" is no name of a space; use 1 to 64 of a-z, 0-9, _ and -
            pressmark.toml:9: source.path: "/srv/a" is a source of "a" already; put the patterns together
            pressmark.toml:5: source.include: pattern "b[": error parsing glob 'b[': unclosed character class; missing ']'
            pressmark.toml:6: source.exclude: pattern "!a": begins with !; move it to the other list, or write \! for a name that begins so
            pressmark.toml:5: source.file_bytes_max: must be at least 1 byte
            pressmark.toml:5: source.poll_interval: must be longer than nothing
            pressmark.toml:7: source.space: "a" has the template "a://{b}", in which a file's path has no place; use a space whose template has {+path}"#]],
    );
}
