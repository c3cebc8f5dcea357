//! Connections: HTTP/2, silence, and the end of the process.

use std::time::Duration;

use crate::common::{
    Bounds, Front, LEGACY,
    events::{Event, Stream, listen_request},
    http::HttpFront,
};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use pressmark::{call_rates::Caller, shutdown::Drained, transport::http::serve_connection};
use tokio::{io::AsyncReadExt, io::AsyncWriteExt, net::TcpStream, time::Instant};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn http2_is_served_and_its_authority_is_the_host() {
    let server = HttpFront::start(Bounds::default()).await;
    for (authority, status) in [("localhost", 200), ("evil.example", 403)] {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .unwrap();
        tokio::spawn(connection);
        let request = Request::post(format!("http://{authority}/mcp"))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(PING)))
            .unwrap();
        let reply = sender.send_request(request).await.unwrap();
        assert_eq!(reply.status(), status, "{authority}");
        reply.into_body().collect().await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let server = HttpFront::start(Bounds::default()).await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    for _ in 0..3 {
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(PING)))
            .unwrap();
        let reply = sender.send_request(request).await.unwrap();
        assert_eq!(reply.status(), 200);
        reply.into_body().collect().await.unwrap();
    }
    assert_eq!(server.front.http.metrics.connections.get(), 1);
}

#[tokio::test]
async fn a_client_that_says_nothing_or_half_a_word_is_closed() {
    let bounds = Bounds { idle_timeout: Duration::from_millis(50), ..Bounds::default() };
    let server = HttpFront::start(bounds).await;
    for said in ["", "P", "PRI * HTTP/2.0\r\n"] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        // The end of the stream, or its reset: either way the connection is gone.
        let _ended = stream.read_to_end(&mut rest).await;
    }
}

#[tokio::test]
async fn a_drain_ends_idle_connections() {
    let server = HttpFront::start(Bounds::default()).await;
    assert_eq!(server.post(LEGACY, &[], PING.as_bytes()).await.status, 200);
    let _silent = TcpStream::connect(server.address).await.unwrap();
    let drained = server.front.http.shutdown.drain(Duration::from_secs(20)).await;
    assert_eq!(drained, Drained::Completely);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_408() {
    let bounds = Bounds { body_timeout: Duration::from_millis(50), ..Bounds::default() };
    let server = HttpFront::start(bounds).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 40\r\nConnection: close\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    assert!(reply.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&reply));
    assert_eq!(server.front.http.metrics.requests_in_flight.get(), 0);
}

/// The listen's stream over HTTP/1.1 or HTTP/2, on a connection in memory.
async fn listen_in_memory(front: &Front, is_http2: bool) -> Stream {
    let (client, served) = tokio::io::duplex(64 * 1024);
    let server = std::sync::Arc::clone(&front.http);
    tokio::spawn(async move { serve_connection(served, Caller::Process, &server).await });
    let request = listen_request("1", r#"{"resourceSubscriptions":["note://shelf/plain"]}"#);
    if !is_http2 {
        return Stream::over(client, request).await;
    }
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(client))
            .await
            .unwrap();
    tokio::spawn(connection);
    let (mut head, body) = request.into_parts();
    head.headers.remove("host");
    Stream::of(sender.send_request(Request::from_parts(head, body)).await.unwrap())
}

/// The clock is virtual: it jumps to the next timer.
#[tokio::test(start_paused = true)]
async fn a_stream_is_never_quiet_for_longer_than_its_keep_alive() {
    let keep_alive = Duration::from_secs(24);
    for is_http2 in [false, true] {
        let front = Front::new(Bounds { keep_alive, ..Bounds::default() });
        let mut stream = listen_in_memory(&front, is_http2).await;
        stream.acknowledged().await;
        let (mut last, mut comments) = (Instant::now(), 0);
        while comments < 8 {
            match stream.next().await.unwrap() {
                Event::Comment => comments += 1,
                Event::Message { .. } => {}
                Event::Primed(id) => panic!("an event {id} without a message"),
            }
            let quiet = last.elapsed();
            assert!(quiet <= keep_alive, "HTTP/2 {is_http2}, {comments}: {quiet:?}");
            last = Instant::now();
            // What is sent between two comments must not make the next one late.
            if comments == 3 {
                tokio::time::sleep_until(last + keep_alive / 8).await;
                front.put("plain", "changed");
            }
        }
        let cache_control = &stream.head.headers["cache-control"];
        assert_eq!(cache_control, "no-cache, no-store, no-transform");
    }
}
