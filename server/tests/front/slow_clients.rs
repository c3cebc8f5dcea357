//! Clients that do not take their replies or send their bodies by halves: what they hold is bounded
//! and given back, and others are served meanwhile.

use std::{sync::Arc, time::Duration};

use crate::common::{Bounds, Front, LARGE_NOTE_BYTES, http::HttpFront};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use pressmark::{call_rates::Caller, transport::http::serve_connection};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    net::TcpStream,
    task::JoinHandle,
    time::Instant,
};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LARGE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://shelf/large"}}"#;

/// Less than the large note by far.
const PIPE_BYTES: usize = 4096;

/// A connection in memory and the task that serves it.
fn connect(front: &Front) -> (DuplexStream, JoinHandle<()>) {
    connect_from(front, Caller::Process)
}

fn connect_from(front: &Front, caller: Caller) -> (DuplexStream, JoinHandle<()>) {
    let (client, served) = tokio::io::duplex(PIPE_BYTES);
    let server = Arc::clone(&front.http);
    let task = tokio::spawn(async move { serve_connection(served, caller, &server).await });
    (client, task)
}

fn post(body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Asks over HTTP/1.1 and takes the status line alone.
async fn status_line(client: &mut DuplexStream, body: &str) -> String {
    client.write_all(post(body).as_bytes()).await.unwrap();
    let mut line = [0; 12];
    client.read_exact(&mut line).await.unwrap();
    String::from_utf8_lossy(&line).into_owned()
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_not_taken_holds_its_place_until_its_connection_is_cut() {
    let front = Front::new(Bounds { write_timeout: Duration::from_secs(30), ..Bounds::default() });
    let (mut client, served) = connect(&front);
    assert_eq!(status_line(&mut client, LARGE).await, "HTTP/1.1 200");
    assert_eq!(front.http.metrics.requests_in_flight.get(), 1);
    let begun = Instant::now();
    served.await.unwrap();
    assert!(begun.elapsed() <= Duration::from_secs(60), "two periods of virtual time");
    assert_eq!(front.http.metrics.requests_in_flight.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_window_is_no_hiding_place() {
    let front = Front::new(Bounds { write_timeout: Duration::from_secs(30), ..Bounds::default() });
    let (client, served) = connect(&front);
    let (mut sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(0)
        .handshake(TokioIo::new(client))
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = Request::post("http://localhost/mcp")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(PING)))
        .unwrap();
    let untaken = sender.send_request(request).await.unwrap();
    assert_eq!(untaken.status(), 200);
    assert_eq!(front.http.metrics.requests_in_flight.get(), 1);
    served.await.unwrap();
    assert_eq!(front.http.metrics.requests_in_flight.get(), 0);
}

/// It takes what the pipe holds and waits for nearly a period before it takes more.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_gets_all_of_it() {
    let front = Front::new(Bounds { write_timeout: Duration::from_secs(30), ..Bounds::default() });
    let (mut client, _served) = connect(&front);
    client.write_all(post(LARGE).as_bytes()).await.unwrap();
    let mut taken = 0;
    while taken < LARGE_NOTE_BYTES {
        let mut piece = vec![0; 128 * 1024];
        let wanted = piece.len().min(LARGE_NOTE_BYTES - taken);
        client.read_exact(&mut piece[..wanted]).await.unwrap();
        taken += wanted;
        tokio::time::advance(Duration::from_secs(25)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn replies_beyond_the_budget_of_unsent_bytes_are_503_and_small_ones_are_not() {
    let front = Front::new(Bounds { unsent_reply_bytes_max: 1 << 20, ..Bounds::default() });
    let (mut first, served) = connect(&front);
    assert_eq!(status_line(&mut first, LARGE).await, "HTTP/1.1 200");
    let (mut second, _) = connect(&front);
    assert_eq!(status_line(&mut second, LARGE).await, "HTTP/1.1 503");
    let (mut third, _) = connect(&front);
    assert_eq!(status_line(&mut third, PING).await, "HTTP/1.1 200");
    drop(first);
    served.await.unwrap();
    let (mut fourth, _) = connect(&front);
    assert_eq!(status_line(&mut fourth, LARGE).await, "HTTP/1.1 200");
}

/// Of four places an address has three, and of the bytes that wait for their readers three quarters.
#[tokio::test]
async fn one_address_does_not_lock_out_the_others() {
    let unsent_reply_bytes_max = 4 * (LARGE_NOTE_BYTES + 20_000);
    for bounds in [
        Bounds { requests_in_flight_max: 4, ..Bounds::default() },
        Bounds { unsent_reply_bytes_max, ..Bounds::default() },
    ] {
        let front = Front::new(bounds);
        let at = |last| Caller::at([10, 0, 0, last].into());
        let mut untaken = Vec::new();
        for _ in 0..3 {
            let (mut client, _) = connect_from(&front, at(1));
            assert_eq!(status_line(&mut client, LARGE).await, "HTTP/1.1 200");
            untaken.push(client);
        }
        let (mut fourth, _) = connect_from(&front, at(1));
        assert_eq!(status_line(&mut fourth, LARGE).await, "HTTP/1.1 503");
        assert_eq!(front.http.metrics.shares_used_up.get(), 1);
        // Two addresses may have one share by chance: of so many, not all.
        let mut others = 0;
        for last in 2..8 {
            let (mut other, _) = connect_from(&front, at(last));
            others += usize::from(status_line(&mut other, LARGE).await == "HTTP/1.1 200");
        }
        assert!(others > 0);
    }
}

#[tokio::test]
async fn half_sent_bodies_turn_nobody_else_away() {
    let bounds = Bounds { requests_in_flight_max: 1, bodies_arriving_max: 1, ..Bounds::default() };
    let front = Front::new(bounds);
    let half = post(PING).len() - 10;
    let (mut first, _) = connect(&front);
    first.write_all(&post(PING).as_bytes()[..half]).await.unwrap();
    // The pipe is in order and the runtime has one thread: by the time that the second half-sent
    // body is refused, the first has its place.
    let (mut second, _) = connect(&front);
    second.write_all(&post(PING).as_bytes()[..half]).await.unwrap();
    let mut line = [0; 12];
    second.read_exact(&mut line).await.unwrap();
    assert_eq!(&line, b"HTTP/1.1 503");
    let (mut whole, _) = connect(&front);
    assert_eq!(status_line(&mut whole, PING).await, "HTTP/1.1 200");
    first.write_all(&post(PING).as_bytes()[half..]).await.unwrap();
    first.read_exact(&mut line).await.unwrap();
    assert_eq!(&line, b"HTTP/1.1 200");
}

#[tokio::test]
async fn a_client_that_has_sent_all_it_will_send_is_answered() {
    let server = HttpFront::start(Bounds::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(post(LARGE).as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    assert!(reply.starts_with(b"HTTP/1.1 200 ") && reply.len() > LARGE_NOTE_BYTES);
}

/// It writes all of its body before it reads, as simple clients do.
#[tokio::test]
async fn a_refusal_for_size_can_be_read_after_the_whole_body_is_sent() {
    let front = Front::new(Bounds { body_bytes_max: 1000, ..Bounds::default() });
    let (mut client, _) = connect(&front);
    let line = status_line(&mut client, &"x".repeat(20_000_000)).await;
    assert_eq!(line, "HTTP/1.1 413");
}
