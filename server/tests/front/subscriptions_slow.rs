//! Readers that stall: what they cost is bounded, they are not passed over in silence, and nobody else waits for them.

use std::{sync::Arc, time::Duration};

use hyper_util::rt::{TokioExecutor, TokioIo};
use pressmark::{call_rates::Caller, subscriptions::PENDING_URIS_MAX, transport::http};

use crate::common::{
    Bounds, Front,
    events::{Stream, listen_request},
    put, until,
};

const SHELF: &str = r#"{"resourceSubscriptions":["note://shelf"]}"#;
/// What the connection of a reader holds.
const PIPE_BYTES: usize = 2 * 1024;

async fn connect(front: &Front) -> Stream {
    let (client, server) = tokio::io::duplex(PIPE_BYTES);
    let http = Arc::clone(&front.http);
    tokio::spawn(async move { http::serve_connection(server, Caller::Process, &http).await });
    let mut stream = Stream::over(client, listen_request("1", SHELF)).await;
    stream.acknowledged().await;
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_listen_ends_with_its_result_while_others_hear_everything() {
    let keep_alive = Duration::from_millis(320);
    // However long a busy machine takes for this, it is the bound that ends the listen and not the time.
    let write_timeout = Duration::from_secs(3_600);
    let front = Front::new(Bounds { keep_alive, write_timeout, ..Bounds::default() });
    let mut stalled = connect(&front).await;
    let mut reading = connect(&front).await;
    let count = PENDING_URIS_MAX + 500;
    let reader = tokio::spawn(async move {
        let mut told = std::collections::HashSet::new();
        while told.len() < count + 1 {
            told.insert(reading.updated().await);
        }
        reading
    });
    // In pieces, so that a reader keeps up as it would with a load.
    for from in (0..count).step_by(250) {
        let until_number = (from + 250).min(count);
        front.commit((from..until_number).map(|n| put(&format!("note-{n}"), "text")).collect());
        let metrics = &front.http.metrics;
        let waiting = i64::try_from(until_number.min(PENDING_URIS_MAX)).unwrap() + 300;
        until(|| metrics.notifications_pending.get() <= waiting).await;
    }
    let mut reading =
        tokio::time::timeout(crate::common::events::DEADLINE, reader).await.unwrap().unwrap();
    assert_eq!(front.http.metrics.subscribers_too_slow.get(), 1);
    until(|| front.http.metrics.notifications_pending.get() == 0).await;
    // Nothing of it is left but what its client will read.
    front.registered_are((1, 1, 1)).await;
    // What was on its way is still read, then the result says that the listen has ended.
    let mut last = stalled.message().await.unwrap();
    while let Some(message) = stalled.message().await {
        last = message;
    }
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&1.into(), &"complete".into()));
    front.put("plain", "changed");
    assert_eq!(reading.updated().await, "note://shelf/plain");
    front.registered_are((1, 1, 1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_for_long_loses_its_connection() {
    let write_timeout = Duration::from_secs(30);
    let front = Front::new(Bounds { write_timeout, ..Bounds::default() });
    let (mut client, server) = tokio::io::duplex(64);
    let http = Arc::clone(&front.http);
    let served =
        tokio::spawn(async move { http::serve_connection(server, Caller::Process, &http).await });
    let body = crate::common::events::listen_message("1", SHELF);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    tokio::io::AsyncWriteExt::write_all(&mut client, request.as_bytes()).await.unwrap();
    served.await.unwrap();
    assert_eq!(front.registered(), (0, 0, 0));
}

/// The socket of an HTTP/2 connection takes everything: it is a stream's window that a reader who stalls leaves closed.
#[tokio::test(start_paused = true)]
async fn an_http_2_client_that_takes_nothing_of_a_stream_for_long_loses_its_connection() {
    let write_timeout = Duration::from_secs(30);
    let front = Front::new(Bounds { write_timeout, ..Bounds::default() });
    let (client, server) = tokio::io::duplex(64 * 1024);
    let http = Arc::clone(&front.http);
    let served =
        tokio::spawn(async move { http::serve_connection(server, Caller::Process, &http).await });
    let (mut sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(1_024)
        .handshake(TokioIo::new(client))
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut streams = Vec::new();
    for id in ["1", "2"] {
        let response = sender.send_request(listen_request(id, SHELF)).await.unwrap();
        let mut stream = Stream::of(response);
        stream.acknowledged().await;
        streams.push(stream);
    }
    let mut stalled = streams.pop().unwrap();
    let mut reading = streams.pop().unwrap();
    // Quiet streams are left alone, and so are those whose clients take what there is.
    for round in 0..4 {
        for _ in 0..3 {
            tokio::time::advance(write_timeout).await;
        }
        front.put("plain", &round.to_string());
        assert_eq!(reading.updated().await, "note://shelf/plain");
        assert_eq!(stalled.updated().await, "note://shelf/plain");
    }
    front.commit((0..100).map(|n| put(&format!("note-{n}"), "text")).collect());
    let reader = tokio::spawn(async move { while reading.message().await.is_some() {} });
    served.await.unwrap();
    reader.abort();
    assert_eq!(front.registered(), (0, 0, 0));
    assert_eq!(front.http.metrics.streams.get(), 0);
}

#[tokio::test]
async fn what_a_client_sends_behind_its_listen_is_not_answered() {
    let front = Front::new(Bounds::default());
    let (mut client, server) = tokio::io::duplex(64 * 1024);
    let http = Arc::clone(&front.http);
    let served =
        tokio::spawn(async move { http::serve_connection(server, Caller::Process, &http).await });
    let body = crate::common::events::listen_message("1", SHELF);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n{body}\
         GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
        body.len()
    );
    tokio::io::AsyncWriteExt::write_all(&mut client, request.as_bytes()).await.unwrap();
    front.registered_are((1, 1, 1)).await;
    front.http.shutdown.begin();
    let mut answer = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut client, &mut answer).await.unwrap();
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 1, "{answer}");
    assert!(answer.ends_with("\r\n0\r\n\r\n"), "{answer}");
    served.await.unwrap();
}
