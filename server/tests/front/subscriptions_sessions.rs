//! `resources/subscribe` and the stream of a session (2025-11-25 and before, over HTTP).

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::Value;

use crate::common::{
    Bounds, LEGACY,
    events::{Event, Stream},
    http::{HttpFront, Reply},
    until,
};

struct Session<'a> {
    server: &'a HttpFront,
    id: String,
    revision: &'static str,
}

impl<'a> Session<'a> {
    async fn begin(server: &'a HttpFront, revision: &'static str) -> Self {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"test","version":"1"}}}}}}"#
        );
        let reply = server.post(revision, &[], body.as_bytes()).await;
        Self { server, id: reply.header("mcp-session-id").unwrap().to_owned(), revision }
    }

    async fn ask(&self, method: &str, uri: &str) -> Reply {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/{method}","params":{{"uri":"{uri}"}}}}"#
        );
        self.server.post(self.revision, &[("mcp-session-id", &self.id)], body.as_bytes()).await
    }

    async fn subscribe(&self, uri: &str) {
        let reply = self.ask("subscribe", uri).await;
        assert_eq!((reply.status, &reply.json()["result"]), (200, &serde_json::json!({})));
    }

    fn request(&self) -> hyper::http::request::Builder {
        Request::get("/mcp")
            .header("host", "localhost")
            .header("accept", "text/event-stream")
            .header("mcp-session-id", &self.id)
    }

    async fn stream(&self) -> Stream {
        let request = self.request().body(Full::new(Bytes::new())).unwrap();
        Stream::open(self.server, request).await.speaking(self.revision)
    }

    async fn resume(&self, last_event_id: &str) -> Stream {
        let request = self.request().header("last-event-id", last_event_id);
        let request = request.body(Full::new(Bytes::new())).unwrap();
        Stream::open(self.server, request).await.speaking(self.revision)
    }
}

async fn id_and_message(stream: &mut Stream) -> (String, Value) {
    loop {
        match stream.next().await.unwrap() {
            Event::Message { id, message } => return (id.unwrap(), message),
            Event::Comment | Event::Primed(_) => {}
        }
    }
}

#[tokio::test]
async fn a_session_hears_what_it_subscribed_to_until_it_unsubscribes() {
    let server = HttpFront::start(Bounds::default()).await;
    for revision in ["2025-03-26", "2025-06-18", LEGACY] {
        let session = Session::begin(&server, revision).await;
        session.subscribe("note://shelf/plain").await;
        session.subscribe("note://shelf/plain").await;
        let mut stream = session.stream().await;
        assert_eq!(stream.head.status, 200);
        assert_eq!(stream.head.headers["x-accel-buffering"], "no");
        server.front.put("plain", &format!("for {revision}"));
        let message = stream.message().await.unwrap();
        let expected = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://shelf/plain"}}"#;
        assert_eq!(message, serde_json::from_str::<Value>(expected).unwrap());
        session.subscribe("note://shelf/picture").await;
        assert_eq!(session.ask("unsubscribe", "note://shelf/plain").await.status, 200);
        server.front.put("plain", &format!("not for {revision}"));
        server.front.put("picture", &format!("for {revision}"));
        assert_eq!(stream.updated().await, "note://shelf/picture");

        let delete = [("mcp-session-id", session.id.as_str())];
        assert_eq!(server.send("DELETE", "/mcp", &delete, b"").await.status, 204);
        assert_eq!(stream.next().await, None, "the stream ends with its session");
        server.front.registered_are((0, 0, 0)).await;
    }
}

#[tokio::test]
async fn what_needs_a_session_says_so() {
    let server = HttpFront::start(Bounds::default()).await;
    let subscribe = br#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note://shelf/plain"}}"#;
    let reply = server.post(LEGACY, &[], subscribe).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &(-32600).into()));
    let events = ("accept", "text/event-stream");
    let unknown = ("mcp-session-id", "0123456789abcdef0123456789abcdef");
    for (headers, status, allow) in [
        (&[events][..], 400, None),
        (&[events, unknown], 404, None),
        (&[events, ("mcp-protocol-version", "2026-07-28")], 405, Some("POST, OPTIONS")),
        (&[events, ("mcp-protocol-version", "1900-01-01")], 400, None),
        (&[("accept", "application/json")], 406, None),
    ] {
        let reply = server.send("GET", "/mcp", headers, b"").await;
        assert_eq!((reply.status, reply.header("allow")), (status, allow), "{headers:?}");
    }
    let session = Session::begin(&server, LEGACY).await;
    for (uri, code) in [("note://shelf/%E9", -32602), ("note://shelf/not-there-yet", 0)] {
        let reply = session.ask("subscribe", uri).await.json();
        assert_eq!(reply["error"]["code"].as_i64().unwrap_or(0), code, "{uri}");
    }
    assert_eq!(server.front.registered(), (1, 1, 1));
}

#[tokio::test]
async fn what_changes_between_two_streams_is_told_on_the_next() {
    let server = HttpFront::start(Bounds::default()).await;
    let session = Session::begin(&server, LEGACY).await;
    session.subscribe("note://shelf/plain").await;
    server.front.put("plain", "before there is a stream");
    let mut stream = session.stream().await;
    assert_eq!(stream.next().await.unwrap(), Event::Primed("1".to_owned()));
    let (first, _) = id_and_message(&mut stream).await;
    assert_eq!(first, "2");
    server.front.put("plain", "second");
    assert_eq!(id_and_message(&mut stream).await.0, "3");
    drop(stream);
    until(|| server.front.http.metrics.streams.get() == 0).await;
    // The second notification did not arrive, as the client says, so that it comes again.
    let mut stream = session.resume("2").await;
    assert_eq!(stream.next().await.unwrap(), Event::Primed("4".to_owned()), "an id of its own");
    assert_eq!(id_and_message(&mut stream).await.0, "5");
    drop(stream);
    until(|| server.front.http.metrics.streams.get() == 0).await;
    // What the client received last may be the event that opened the stream.
    let mut stream = session.resume("4").await;
    assert_eq!(stream.next().await.unwrap(), Event::Primed("6".to_owned()));
    assert_eq!(id_and_message(&mut stream).await.0, "7");
    drop(stream);
    until(|| server.front.http.metrics.streams.get() == 0).await;
    // Nothing was missed, and nothing comes but what is new.
    let mut stream = session.resume("7").await;
    server.front.put("separators", "nobody's");
    server.front.put("plain", "third");
    let (id, message) = id_and_message(&mut stream).await;
    assert_eq!((id.as_str(), &message["params"]["uri"]), ("9", &"note://shelf/plain".into()));
}

#[tokio::test]
async fn a_stream_that_does_not_know_what_it_missed_is_told_everything() {
    let server = HttpFront::start(Bounds::default()).await;
    let session = Session::begin(&server, LEGACY).await;
    session.subscribe("note://shelf/plain").await;
    session.subscribe("note://shelf/picture").await;
    let mut stream = session.stream().await;
    server.front.put("plain", "changed");
    stream.updated().await;
    // A newer stream takes the place of the older one.
    for last_event_id in [None, Some("1000"), Some("not one of ours")] {
        let mut newer = match last_event_id {
            None => session.stream().await,
            Some(id) => session.resume(id).await,
        };
        assert_eq!(stream.next().await, None, "the older stream ends");
        for list in ["resources", "prompts"] {
            let told = newer.message().await.unwrap();
            assert_eq!(told["method"], format!("notifications/{list}/list_changed"));
        }
        let mut told = [newer.updated().await, newer.updated().await];
        told.sort();
        assert_eq!(told, ["note://shelf/picture", "note://shelf/plain"]);
        stream = newer;
    }
    server.front.put("picture", "changed");
    assert_eq!(stream.updated().await, "note://shelf/picture");
}

#[tokio::test]
async fn an_idle_session_expires_with_its_subscriptions_and_one_with_a_stream_does_not() {
    let session_idle = Duration::from_secs(4);
    let server = HttpFront::start(Bounds { session_idle, ..Bounds::default() }).await;
    let idle = Session::begin(&server, LEGACY).await;
    idle.subscribe("note://shelf/plain").await;
    let kept = Session::begin(&server, LEGACY).await;
    kept.subscribe("note://shelf/picture").await;
    let mut stream = kept.stream().await;
    assert_eq!(server.front.registered(), (2, 2, 2));
    server.front.registered_are((1, 1, 1)).await;
    assert_eq!(idle.ask("subscribe", "note://shelf/plain").await.status, 404);
    server.front.put("picture", "changed");
    assert_eq!(stream.updated().await, "note://shelf/picture");
}

#[tokio::test]
async fn lists_are_told_to_every_session() {
    let server = HttpFront::start(Bounds::default()).await;
    let session = Session::begin(&server, LEGACY).await;
    let mut stream = session.stream().await;
    for number in 0..20 {
        server.front.put(&format!("new-{number}"), "created");
    }
    let message = stream.message().await.unwrap();
    assert_eq!(message["method"], "notifications/resources/list_changed");
    assert_eq!(message.get("params"), None);
    // All twenty were one change of the list.
    session.subscribe("note://shelf/plain").await;
    server.front.put("plain", "changed");
    assert_eq!(stream.updated().await, "note://shelf/plain");
}

#[tokio::test]
async fn a_batch_subscribes_as_a_message_does() {
    let server = HttpFront::start(Bounds::default()).await;
    let session = Session::begin(&server, "2025-03-26").await;
    let batch = br#"[{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note://shelf/plain"}}]"#;
    let reply = server.post("2025-03-26", &[("mcp-session-id", &session.id)], batch).await;
    assert_eq!(reply.json()[0]["result"], serde_json::json!({}));
    assert_eq!(server.front.registered(), (1, 1, 1));
}
