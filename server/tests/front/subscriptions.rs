//! `subscriptions/listen` over HTTP (2026-07-28): what is told, to whom, in which order, and how streams end.

use std::time::Duration;

use pressmark::metrics::Format;
use pressmark_index::space::SpaceSettings;
use serde_json::json;

use crate::common::{
    Bounds, MODERN,
    events::{Event, Stream, http2, listen, listen_message, listen_request},
    http::HttpFront,
    put, until,
};

const PLAIN: &str = r#"{"resourceSubscriptions":["note://shelf/plain"]}"#;
const READ_PLAIN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://shelf/plain","_meta":"META"}}"#;

async fn start() -> HttpFront {
    HttpFront::start(Bounds::default()).await
}

#[tokio::test]
async fn a_stream_is_acknowledged_first_and_tells_of_updates_and_of_the_deletion() {
    let server = start().await;
    let request = listen_request("\"a\\u0062\"", PLAIN);
    let mut stream = Stream::open(&server, request).await;
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("x-accel-buffering", "no"),
        ("cache-control", "no-cache, no-store, no-transform"),
        ("connection", "close"),
    ] {
        assert_eq!(stream.head.headers[name], value);
    }
    assert!(stream.head.headers.contains_key("date"));
    let acknowledged = stream.message().await.unwrap();
    let meta = json!({"io.modelcontextprotocol/subscriptionId": "ab"});
    assert_eq!(
        acknowledged,
        json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
            "_meta": meta, "notifications": {"resourceSubscriptions": ["note://shelf/plain"]}}})
    );
    server.front.put("plain", "changed");
    let updated = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated",
        "params": {"_meta": meta, "uri": "note://shelf/plain"}});
    assert_eq!(stream.message().await.unwrap(), updated);
    server.front.put("plain", "changed");
    server.front.delete("plain");
    assert_eq!(stream.message().await.unwrap(), updated, "unchanged bytes were not told");
    server.front.put("plain", "again");
    assert_eq!(stream.message().await.unwrap(), updated);
}

/// Each notification repeats it: a long one would make a flood of a few changes.
#[tokio::test]
async fn the_id_of_a_listen_is_bounded() {
    let server = start().await;
    let id = |bytes: usize| format!("\"{}\"", "i".repeat(bytes - 2));
    let mut stream = Stream::open(&server, listen_request(&id(1024), PLAIN)).await;
    stream.acknowledged().await;
    let body = listen_message(&id(1025), PLAIN);
    let reply = server.post(MODERN, &[], body.as_bytes()).await.json();
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let message = "the id of a listen has 1025 bytes and stands in each notification: at most 1024";
    assert_eq!(reply["error"]["message"], message);
}

#[tokio::test]
async fn the_read_that_follows_sees_the_change() {
    let server = start().await;
    let mut stream = listen(&server, "1", PLAIN).await;
    let read = READ_PLAIN.replace("\"META\"", crate::common::META);
    for number in 0..50 {
        // Read before, so that the old text is in the cache.
        server.post(MODERN, &[], read.as_bytes()).await;
        server.front.put("plain", &format!("text {number}"));
        assert_eq!(stream.updated().await, "note://shelf/plain");
        let reply = server.post(MODERN, &[], read.as_bytes()).await.json();
        assert_eq!(reply["result"]["contents"][0]["text"], format!("text {number}"));
    }
}

#[tokio::test]
async fn only_what_was_asked_for_is_honoured_and_told() {
    let server = start().await;
    for (filter, honoured) in [
        ("{}", "{}"),
        (
            r#"{"toolsListChanged":true,"promptsListChanged":true}"#,
            r#"{"promptsListChanged":true}"#,
        ),
        (
            r#"{"resourcesListChanged":true,"toolsListChanged":7}"#,
            r#"{"resourcesListChanged":true}"#,
        ),
        (r#"{"resourcesListChanged":false,"resourceSubscriptions":[]}"#, "{}"),
        (r#"{"resourceSubscriptions":["shelf/plain"]}"#, "{}"),
        (
            r#"{"resourceSubscriptions":["","%%%","plain","note://shelf/%E9","NOTE://shelf/pla%69n"]}"#,
            r#"{"resourceSubscriptions":["NOTE://shelf/pla%69n"]}"#,
        ),
    ] {
        let mut stream = Stream::open(&server, listen_request("1", filter)).await;
        let expected: serde_json::Value = serde_json::from_str(honoured).unwrap();
        assert_eq!(stream.acknowledged().await, expected, "{filter}");
    }
    let mut lists = listen(&server, "1", r#"{"resourcesListChanged":true}"#).await;
    let mut spelled = r#"{"resourceSubscriptions":["NOTE://shelf/pla%69n"]}"#;
    let mut updates = listen(&server, "2", spelled).await;
    spelled = "NOTE://shelf/pla%69n";
    server.front.put("new", "created");
    assert_eq!(
        lists.message().await.unwrap()["method"],
        "notifications/resources/list_changed",
        "a resource came"
    );
    server.front.put("plain", "changed");
    assert_eq!(updates.updated().await, spelled, "told as it was asked");
    server.front.engine.put_space(SpaceSettings::new("more", "more://shelf/{name}")).unwrap();
    let message = lists.message().await.unwrap();
    assert_eq!(message["method"], "notifications/resources/list_changed", "a template came");
}

#[tokio::test]
async fn wrong_filters_are_refused() {
    let server = HttpFront::start(Bounds { streams_max: 1, ..Bounds::default() }).await;
    let many: Vec<_> = (0..1_025).map(|number| format!("\"note://shelf/{number}\"")).collect();
    let many = format!(r#"{{"resourceSubscriptions":[{}]}}"#, many.join(","));
    for filter in [
        "7",
        "[]",
        r#"{"resourcesListChanged":1}"#,
        r#"{"resourceSubscriptions":"note://shelf/plain"}"#,
        r#"{"resourceSubscriptions":[7]}"#,
        many.as_str(),
    ] {
        let reply = server.post(MODERN, &[], listen_message("1", filter).as_bytes()).await;
        assert_eq!(reply.json()["error"]["code"], -32602, "{filter}");
    }
    let events_only = [("accept", "application/json")];
    let reply = server.post(MODERN, &events_only, listen_message("1", "{}").as_bytes()).await;
    assert_eq!(reply.status, 406);
    assert_eq!(server.front.registered(), (0, 0, 0));

    let _open = listen(&server, "1", PLAIN).await;
    let reply = server.post(MODERN, &[], listen_message("2", PLAIN).as_bytes()).await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    assert_eq!(server.front.http.metrics.streams_refused.get(), 1);
}

#[tokio::test]
async fn streams_live_and_end_independently() {
    let server = start().await;
    let mut first = listen(&server, "1", PLAIN).await;
    let mut second = listen(&server, "1", PLAIN).await;
    assert_eq!(server.front.registered(), (1, 2, 2));
    server.front.put("plain", "one");
    first.updated().await;
    second.updated().await;
    drop(first);
    server.front.registered_are((1, 1, 1)).await;
    server.front.put("plain", "two");
    second.updated().await;
    server.front.put("plain", "three");
    second.updated().await;
    drop(second);
    server.front.registered_are((0, 0, 0)).await;
    let metrics = &server.front.http.metrics;
    until(|| metrics.streams.get() == 0 && metrics.connections.get() == 0).await;
    assert_eq!((metrics.subscribers.get(), metrics.watched_uris.get()), (0, 0));
    assert_eq!(metrics.notifications_pending.get(), 0);
    assert!(metrics.exposition(Format::Text).contains("notifications_delivered_total 4\n"));
}

#[tokio::test]
async fn a_folder_hears_of_what_is_beneath_it() {
    let server = start().await;
    let folder = r#"{"resourceSubscriptions":["note://shelf/"]}"#;
    let mut stream = listen(&server, "1", folder).await;
    server.front.put("plain", "changed");
    assert_eq!(stream.updated().await, "note://shelf/plain");
    // What comes or goes changes the folder's own listing as well.
    server.front.put("fresh", "created");
    assert_eq!(stream.updated().await, "note://shelf/fresh");
    assert_eq!(stream.updated().await, "note://shelf/");
    server.front.delete("fresh");
    assert_eq!(stream.updated().await, "note://shelf/fresh");
    assert_eq!(stream.updated().await, "note://shelf/");
}

#[tokio::test]
async fn many_changes_at_once_are_one_notification_for_each_uri() {
    let server = start().await;
    server.front.put("a", "0");
    server.front.put("b", "0");
    let filter = r#"{"resourceSubscriptions":["note://shelf/a","note://shelf/b","note://shelf"]}"#;
    let mut stream = listen(&server, "1", filter).await;
    let changes = (1..=500).flat_map(|n| ["a", "b"].map(|name| put(name, &n.to_string())));
    server.front.commit(changes.collect());
    // The folder tells of its children under the same URIs.
    assert_eq!(
        [stream.updated().await, stream.updated().await],
        ["note://shelf/a", "note://shelf/b"]
    );
    server.front.put("plain", "after");
    assert_eq!(stream.updated().await, "note://shelf/plain");
}

#[tokio::test]
async fn a_quiet_stream_gets_comments() {
    let keep_alive = Duration::from_millis(32);
    let server = HttpFront::start(Bounds { keep_alive, ..Bounds::default() }).await;
    let mut stream = listen(&server, "1", PLAIN).await;
    for _ in 0..3 {
        assert_eq!(stream.next().await.unwrap(), Event::Comment);
    }
}

#[tokio::test]
async fn streams_end_with_their_result_when_the_server_does() {
    let server = start().await;
    let mut one = listen(&server, "7", PLAIN).await;
    let mut http2 = http2(&server).await;
    let mut two = Stream::of(http2.send_request(listen_request("8", PLAIN)).await.unwrap());
    two.acknowledged().await;
    server.front.put("plain", "last");
    server.front.http.shutdown.begin();
    for (stream, id) in [(&mut one, 7), (&mut two, 8)] {
        let mut message = stream.message().await.unwrap();
        if message["method"] == "notifications/resources/updated" {
            message = stream.message().await.unwrap();
        }
        assert_eq!(message["id"], id);
        assert_eq!(message["result"]["resultType"], "complete");
        let meta = &message["result"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["name"], "pressmark");
        assert_eq!(stream.next().await, None);
    }
    let drained = server.front.http.shutdown.drain(Duration::from_secs(10)).await;
    assert_eq!(drained, pressmark::shutdown::Drained::Completely);
}

#[tokio::test]
async fn streams_share_a_connection_over_http_2() {
    let server = start().await;
    let mut sender = http2(&server).await;
    let mut streams = Vec::new();
    for id in 0..10 {
        let request = listen_request(&id.to_string(), PLAIN);
        let mut stream = Stream::of(sender.send_request(request).await.unwrap());
        stream.acknowledged().await;
        streams.push(stream);
    }
    assert_eq!(server.front.registered(), (1, 10, 10));
    drop(streams.pop());
    server.front.registered_are((1, 9, 9)).await;
    server.front.put("plain", "changed");
    for stream in &mut streams {
        assert_eq!(stream.updated().await, "note://shelf/plain");
    }
    drop((streams, sender));
    server.front.registered_are((0, 0, 0)).await;
}
