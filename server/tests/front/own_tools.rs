//! Calls of an embedding program's tools while they run: what they tell, how they end, what they hold. What they return is
//! in `tests/scenarios/own_tools.md`.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use pressmark::{
    builder::{BuildError, ServerBuilder},
    tools::{Context, NoArguments, Tool, ToolError, ToolRefused, ToolResult},
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::common::{
    Bounds, Front, LEGACY, META, MODERN, collection,
    events::{Event, Stream},
    http::{HttpFront, usual_headers},
    lines::LineClient,
    tools, until,
};

/// A call; `meta` is added to the `_meta` that its revision asks for.
fn call(revision: &str, name: &str, meta: &Value) -> String {
    let mut all: Value = match revision {
        MODERN => serde_json::from_str(META).unwrap(),
        _ => json!({}),
    };
    all.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "_meta": all}})
        .to_string()
}

/// Posts a call and reads its stream to the end.
async fn stream(
    server: &HttpFront,
    revision: &'static str,
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<Value> {
    let mut stream = open(server, revision, headers, body).await;
    assert_eq!(stream.head.headers["content-type"], "text/event-stream");
    let mut messages = Vec::new();
    while let Some(message) = stream.message().await {
        messages.push(message);
    }
    messages
}

async fn open(
    server: &HttpFront,
    revision: &'static str,
    headers: &[(&str, &str)],
    body: &str,
) -> Stream {
    let mut request = Request::post("http://localhost/mcp").header("host", "localhost");
    for (name, value) in usual_headers(revision, headers, body.as_bytes()) {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
    let stream = Stream::open(server, request).await.speaking(revision);
    assert_eq!(stream.head.status, 200);
    stream
}

fn progress(progress: f64, message: Option<&str>) -> Value {
    let mut params = json!({"progressToken": "t", "progress": progress, "total": 1});
    if let Some(message) = message {
        params["message"] = message.into();
    }
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

/// Progress that was asked for, and that the revision knows.
fn told(revision: &str) -> Vec<Value> {
    vec![progress(0.5, Some("half").filter(|_| revision != "2024-11-05")), progress(1.0, None)]
}

fn is_done(reply: &Value) {
    assert_eq!(reply["id"], 7, "{reply}");
    assert_eq!(reply["result"]["content"][0]["text"], "done", "{reply}");
}

async fn front(tool: Tool) -> HttpFront {
    HttpFront::of(Front::with_tools(Bounds::default(), vec![tool])).await
}

#[tokio::test]
async fn over_http_progress_is_a_stream_that_ends_with_the_reply() {
    let server = front(tools::steps()).await;
    for revision in [LEGACY, MODERN] {
        let body = call(revision, "steps", &json!({"progressToken": "t"}));
        let mut messages = stream(&server, revision, &[], &body).await;
        is_done(&messages.pop().unwrap());
        assert_eq!(messages.iter().map(numbers).collect::<Vec<_>>(), told(revision));
    }
    until(|| server.front.http.metrics.requests_in_flight.get() == 0).await;
}

/// A proxy would cut a stream on which nothing comes while a call works.
#[tokio::test]
async fn a_call_that_tells_nothing_for_a_while_has_comments_on_its_stream() {
    let (held, tool) = Held::new();
    let bounds = Bounds { keep_alive: Duration::from_millis(20), ..Bounds::default() };
    let server = HttpFront::of(Front::with_tools(bounds, vec![tool])).await;
    let body = call(MODERN, "held", &json!({"progressToken": "t"}));
    let mut stream = open(&server, MODERN, &[], &body).await;
    stream.message().await.unwrap();
    for _ in 0..3 {
        assert_eq!(stream.next().await, Some(Event::Comment));
    }
    held.release.notify_one();
    is_done(&stream.message().await.unwrap());
}

/// A number that is whole is spelled without a fraction: as JSON it is the same.
fn numbers(message: &Value) -> Value {
    let mut message = message.clone();
    for (name, value) in message["params"].as_object_mut().unwrap() {
        if name == "progress" {
            *value = json!(value.as_f64().unwrap());
        }
    }
    message
}

#[tokio::test]
async fn over_stdio_progress_comes_before_the_reply() {
    for revision in ["2024-11-05", LEGACY, MODERN] {
        let mut client =
            LineClient::start(Front::with_tools(Bounds::default(), vec![tools::steps()]));
        if revision != MODERN {
            client.initialize_as(revision).await;
        }
        client.send(&call(revision, "steps", &json!({"progressToken": "t"}))).await;
        for expected in told(revision) {
            assert_eq!(numbers(&client.next().await.unwrap()), expected);
        }
        is_done(&client.next().await.unwrap());
    }
}

#[tokio::test]
async fn the_token_of_progress_is_bounded() {
    let server = front(tools::steps()).await;
    let json_only = [("accept", "application/json")];
    for (bytes, is_taken) in [(1024, true), (1025, false)] {
        let meta = json!({"progressToken": "t".repeat(bytes - 2)});
        let body = call(LEGACY, "steps", &meta);
        let reply = server.post(LEGACY, &json_only, body.as_bytes()).await.json();
        assert_eq!(reply["error"].is_null(), is_taken, "{bytes}: {reply}");
        let wanted = if is_taken { Value::Null } else { (-32602).into() };
        assert_eq!(reply["error"]["code"], wanted);
    }
}

#[tokio::test]
async fn what_nobody_asked_for_is_not_told() {
    let server = front(tools::steps()).await;
    let json_only = [("accept", "application/json")];
    let with_token = json!({"progressToken": "t"});
    for revision in [LEGACY, MODERN] {
        for (headers, meta) in [(&[][..], &json!({})), (&json_only, &with_token)] {
            let body = call(revision, "steps", meta);
            let reply = server.post(revision, headers, body.as_bytes()).await;
            assert_eq!(reply.header("content-type"), Some("application/json"));
            is_done(&reply.json());
        }
    }
}

#[tokio::test]
async fn a_client_that_takes_only_events_has_its_reply_as_one() {
    let server = front(tools::steps()).await;
    let events_only = [("accept", "text/event-stream")];
    let messages = stream(&server, MODERN, &events_only, &call(MODERN, "steps", &json!({}))).await;
    assert_eq!(messages.len(), 1);
    is_done(&messages[0]);
}

/// The levels and texts of log messages.
fn logged(messages: &[Value]) -> Vec<(&str, &Value)> {
    let logs = messages.iter().filter(|message| message["method"] == "notifications/message");
    logs.map(|log| (log["params"]["level"].as_str().unwrap(), &log["params"]["data"])).collect()
}

#[tokio::test]
async fn a_modern_request_says_which_log_messages_it_wants() {
    let server = front(tools::steps()).await;
    let level = |level: &str| json!({"io.modelcontextprotocol/logLevel": level});
    for (asked, count) in [("debug", 2), ("warning", 1)] {
        let body = call(MODERN, "steps", &level(asked));
        let messages = stream(&server, MODERN, &[], &body).await;
        assert_eq!(logged(&messages).len(), count, "{messages:?}");
        assert_eq!(*logged(&messages).last().unwrap(), ("warning", &json!(["ends"])));
    }
    let body = call(MODERN, "steps", &level("error"));
    is_done(&server.post(MODERN, &[], body.as_bytes()).await.json());
    let body = call(MODERN, "steps", &level("loud"));
    let reply = server.post(MODERN, &[], body.as_bytes()).await.json();
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
}

#[tokio::test]
async fn a_legacy_session_says_from_which_level_on() {
    let server = front(tools::steps()).await;
    let (session, reply) = initialize(&server).await;
    assert_eq!(reply["result"]["capabilities"]["logging"], json!({}));
    let session = [("mcp-session-id", session.as_str())];
    let body = call(LEGACY, "steps", &json!({}));
    is_done(&server.post(LEGACY, &session, body.as_bytes()).await.json());
    let set =
        br#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"notice"}}"#;
    assert_eq!(server.post(LEGACY, &session, set).await.json()["result"], json!({}));
    let messages = stream(&server, LEGACY, &session, &body).await;
    assert_eq!(logged(&messages), [("warning", &json!(["ends"]))]);
    // Without a session there is nothing that could remember the level.
    assert_eq!(server.post(LEGACY, &[], set).await.status, 400);
}

async fn initialize(server: &HttpFront) -> (String, Value) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{LEGACY}","capabilities":{{}},"clientInfo":{{"name":"test","version":"1"}}}}}}"#
    );
    let reply = server.post(LEGACY, &[], body.as_bytes()).await;
    (reply.header("mcp-session-id").unwrap().to_owned(), reply.json())
}

/// A tool that tells that it has begun, and waits until it is released.
struct Held {
    begun: Arc<Notify>,
    /// Told when a call is dropped before its end.
    dropped: Arc<Notify>,
    release: Arc<Notify>,
    ended: Arc<Notify>,
}

struct TellsWhenDropped(Arc<Notify>);

impl Drop for TellsWhenDropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Held {
    fn new() -> (Self, Tool) {
        let [begun, dropped, release, ended] = [(); 4].map(|()| Arc::new(Notify::new()));
        let held = Self { begun, dropped, release, ended };
        let Self { begun, dropped, release, ended } = &held;
        let notifies = [begun, dropped, release, ended].map(Arc::clone);
        let tool = Tool::new("held", move |context: Context, _: NoArguments| {
            let [begun, dropped, release, ended] = notifies.clone();
            async move {
                let dropped = TellsWhenDropped(dropped);
                context.progress(1.0, None, None);
                begun.notify_one();
                release.notified().await;
                std::mem::forget(dropped);
                ended.notify_one();
                Ok::<_, ToolError>(ToolResult::text("done"))
            }
        });
        (held, tool)
    }
}

const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;

#[tokio::test]
async fn over_stdio_a_cancelled_call_is_dropped_and_not_answered() {
    let (held, tool) = Held::new();
    let mut client = LineClient::start(Front::with_tools(Bounds::default(), vec![tool]));
    client.initialize().await;
    client.send(&call(LEGACY, "held", &json!({}))).await;
    held.begun.notified().await;
    client.send(CANCEL).await;
    held.dropped.notified().await;
    let pong = client.ask(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#).await;
    assert_eq!(pong["id"], 8);
}

#[tokio::test]
async fn over_http_a_session_cancels_its_call() {
    let (held, tool) = Held::new();
    let server = front(tool).await;
    let (session, _) = initialize(&server).await;
    let session = [("mcp-session-id", session.as_str())];
    let body = call(LEGACY, "held", &json!({"progressToken": 1}));
    let mut stream = open(&server, LEGACY, &session, &body).await;
    assert_eq!(stream.message().await.unwrap()["params"]["progress"], 1);
    assert_eq!(server.post(LEGACY, &session, CANCEL.as_bytes()).await.status, 202);
    held.dropped.notified().await;
    assert_eq!(stream.message().await, None, "there is no reply");
}

#[tokio::test]
async fn a_stream_that_closes_cancels_a_modern_call_and_no_legacy_one() {
    let (held, tool) = Held::new();
    let server = front(tool).await;
    for revision in [MODERN, LEGACY] {
        let body = call(revision, "held", &json!({"progressToken": 1}));
        let mut stream = open(&server, revision, &[], &body).await;
        stream.message().await.unwrap();
        drop(stream);
        until(|| server.front.http.metrics.connections.get() == 0).await;
        if revision == MODERN {
            held.dropped.notified().await;
        } else {
            held.release.notify_one();
            held.ended.notified().await;
        }
    }
}

#[tokio::test]
async fn a_call_holds_its_place_until_it_ends() {
    let (held, tool) = Held::new();
    let bounds = Bounds { requests_in_flight_max: 1, ..Bounds::default() };
    let server = HttpFront::of(Front::with_tools(bounds, vec![tool])).await;
    let body = call(MODERN, "held", &json!({"progressToken": 1}));
    let mut stream = open(&server, MODERN, &[], &body).await;
    stream.message().await.unwrap();
    assert_eq!(server.post(MODERN, &[], body.as_bytes()).await.status, 503);
    held.release.notify_one();
    is_done(&stream.message().await.unwrap());
    until(|| server.front.http.metrics.requests_in_flight.get() == 0).await;
}

#[tokio::test]
async fn a_call_without_a_bound_of_its_own_has_that_of_requests() {
    let (held, tool) = Held::new();
    let bounds = Bounds { request_timeout: Duration::from_millis(20), ..Bounds::default() };
    let server = HttpFront::of(Front::with_tools(bounds, vec![tool])).await;
    let reply = server.post(MODERN, &[], call(MODERN, "held", &json!({})).as_bytes()).await.json();
    held.dropped.notified().await;
    assert_eq!(reply["result"]["isError"], true, "{reply}");
}

#[test]
fn a_builder_says_what_it_does_not_take() {
    let dir = tempfile::tempdir().unwrap();
    let engine = collection(dir.path());
    let tool = |name| Tool::new(name, async |_: Context, _: NoArguments| Ok(ToolResult::new()));
    let build = |name| ServerBuilder::on(Arc::clone(&engine)).tool(tool(name)).build();
    assert!(build("own").is_ok());
    for name in ["search", "no name"] {
        let refused = build(name).err().unwrap();
        assert!(matches!(&refused, BuildError::Tool(_)), "{refused}");
        assert!(refused.to_string().contains(name), "{refused}");
    }
    let taken = ServerBuilder::on(engine).tool(tool("own")).tool(tool("own")).build().err();
    assert!(matches!(taken, Some(BuildError::Tool(ToolRefused::NameTaken(name))) if name == "own"));
}
