//! Connections: HTTP/2, silence, and the end of the process.

use std::time::Duration;

use crate::common::{Bounds, LEGACY, http::HttpFront};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use pressmark::shutdown::Drained;
use tokio::{io::AsyncReadExt, io::AsyncWriteExt, net::TcpStream};

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
