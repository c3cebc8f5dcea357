//! Transcripts that run over both transports: `tests/scenarios/*.md`.
//!
//! A case is a section of a file: lines such as `revision: 2025-11-25` or `over: http`, a block
//! `http` with headers that differ from the usual ones (empty: left out), a block `send` with the
//! body, and a block `expect STATUS` with the reply. In it `"..."` stands for any value, and in a
//! sent body `"META"` for the `_meta` of a modern request. An empty `expect` is no reply.

use crate::common::{Bounds, Front, LEGACY, META, MODERN, http::HttpFront, schema, stdio, tools};
use serde_json::Value;

#[derive(Default, Debug)]
struct Case {
    name: String,
    revision: String,
    over: String,
    headers: String,
    send: String,
    status: u16,
    expect: String,
}

#[tokio::test]
async fn messages() {
    run(include_str!("../scenarios/messages.md")).await;
}

#[tokio::test]
async fn legacy() {
    run(include_str!("../scenarios/legacy.md")).await;
}

#[tokio::test]
async fn modern() {
    run(include_str!("../scenarios/modern.md")).await;
}

#[tokio::test]
async fn tools() {
    run(include_str!("../scenarios/tools.md")).await;
}

#[tokio::test]
async fn search() {
    run(include_str!("../scenarios/search.md")).await;
}

#[tokio::test]
async fn completion() {
    run(include_str!("../scenarios/completion.md")).await;
}

#[tokio::test]
async fn completion_refusals() {
    run(include_str!("../scenarios/completion_refusals.md")).await;
}

#[tokio::test]
async fn resources() {
    run(include_str!("../scenarios/resources.md")).await;
}

#[tokio::test]
async fn own_tools() {
    let front = Front::with_tools(Bounds::default(), tools::all());
    run_on(&HttpFront::of(front).await, include_str!("../scenarios/own_tools.md")).await;
}

#[tokio::test]
async fn prompts() {
    let server = HttpFront::start(Bounds::default()).await;
    server.front.pool.mcp().prompts().declare(crate::prompts::declared());
    run_on(&server, include_str!("../scenarios/prompts.md")).await;
}

async fn run(markdown: &str) {
    run_on(&HttpFront::start(Bounds::default()).await, markdown).await;
}

async fn run_on(server: &HttpFront, markdown: &str) {
    let cases = parse(markdown);
    assert!(!cases.is_empty());
    for case in cases {
        if case.over != "stdio" {
            over_http(server, &case).await;
        }
        if case.over != "http" {
            over_stdio(server, &case).await;
        }
    }
}

async fn over_http(server: &HttpFront, case: &Case) {
    let headers: Vec<_> = case
        .headers
        .lines()
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    let reply = server.post(&case.revision, &headers, case.send.as_bytes()).await;
    let text = String::from_utf8_lossy(&reply.body);
    assert_eq!(reply.status, case.status, "{} over http: {text}", case.name);
    if !reply.body.is_empty() {
        assert_eq!(reply.header("content-type"), Some("application/json"), "{}", case.name);
    }
    check(case, "http", &text);
}

async fn over_stdio(server: &HttpFront, case: &Case) {
    let opening = match case.revision.as_str() {
        MODERN => String::new(),
        revision => format!(
            r#"{{"jsonrpc":"2.0","id":"opening","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"test","version":"1"}}}}}}{}"#,
            "\n"
        ),
    };
    let lines =
        stdio::exchange(&server.front, format!("{opening}{}\n", case.send).as_bytes()).await;
    let replies = &lines[usize::from(!opening.is_empty())..];
    assert!(replies.len() <= 1, "{} over stdio: {replies:?}", case.name);
    check(case, "stdio", replies.first().map_or("", String::as_str));
}

fn check(case: &Case, transport: &str, reply: &str) {
    let context = format!("{} over {transport}: {reply}", case.name);
    if case.expect.is_empty() {
        assert_eq!(reply, "", "{context}");
        return;
    }
    let reply: Value =
        serde_json::from_str(reply).unwrap_or_else(|error| panic!("{context}: {error}"));
    let expected: Value =
        serde_json::from_str(&case.expect).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert!(matches(&expected, &reply), "{context}\nis not\n{expected}");
    let sent: Value = serde_json::from_str(&case.send).unwrap_or_default();
    match (&sent, &reply) {
        (Value::Array(sent), Value::Array(replies)) => {
            for reply in replies {
                let asked = sent.iter().find(|message| message["id"] == reply["id"]);
                let method = asked.and_then(|message| message["method"].as_str()).unwrap_or("");
                schema::check(&case.revision, method, reply);
            }
        }
        _ => {
            let method = sent["method"].as_str().unwrap_or("");
            let negotiated = reply["result"]["protocolVersion"].as_str();
            schema::check(negotiated.unwrap_or(&case.revision), method, &reply);
        }
    }
}

fn matches(expected: &Value, value: &Value) -> bool {
    match (expected, value) {
        (Value::String(any), _) if any == "..." => true,
        (Value::Array(expected), Value::Array(values)) => {
            expected.len() == values.len()
                && expected.iter().zip(values).all(|(expected, value)| matches(expected, value))
        }
        (Value::Object(expected), Value::Object(values)) => {
            expected.len() == values.len()
                && expected.iter().all(|(name, expected)| {
                    values.get(name).is_some_and(|value| matches(expected, value))
                })
        }
        _ => expected == value,
    }
}

fn parse(markdown: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut revision = LEGACY.to_owned();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("## ") {
            cases.push(Case {
                name: name.to_owned(),
                revision: revision.clone(),
                ..Case::default()
            });
        } else if let Some(stated) = line.strip_prefix("revision: ") {
            match cases.last_mut() {
                Some(case) => case.revision = stated.to_owned(),
                None => revision = stated.to_owned(),
            }
        } else if let Some(over) = line.strip_prefix("over: ") {
            cases.last_mut().unwrap().over = over.to_owned();
        } else if let Some(kind) = line.strip_prefix("```") {
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            let block = block.join("\n");
            let case = cases.last_mut().unwrap();
            match kind.split_once(' ') {
                None if kind == "http" => case.headers = block,
                None if kind == "send" => case.send = block.replace("\"META\"", META),
                Some(("expect", status)) => {
                    case.status = status.parse().unwrap();
                    case.expect = block;
                }
                _ => panic!("no block is called {kind}"),
            }
        }
    }
    cases
}
