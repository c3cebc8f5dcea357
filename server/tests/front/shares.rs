//! What one address may hold, and whose address counts behind a proxy.

use pressmark::call_rates::Caller;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::common::{Bounds, LEGACY, http::HttpFront, until};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Whether a connection is served: its client hears nothing or is answered until it sends a request.
async fn is_served(stream: &mut TcpStream) -> bool {
    let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let sent = stream.write_all(request.as_bytes()).await;
    let mut line = [0; 12];
    sent.is_ok() && stream.read_exact(&mut line).await.is_ok()
}

async fn connect_many(server: &HttpFront, count: usize) -> (usize, Vec<TcpStream>) {
    let (mut served, mut open) = (0, Vec::new());
    for _ in 0..count {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        served += usize::from(is_served(&mut stream).await);
        open.push(stream);
    }
    (served, open)
}

#[tokio::test]
async fn one_address_does_not_take_all_connections() {
    let server = HttpFront::start(Bounds { connections_max: 8, ..Bounds::default() }).await;
    let (served, open) = connect_many(&server, 8).await;
    assert_eq!(served, 6, "three quarters of them");
    assert_eq!(server.front.http.metrics.shares_used_up.get(), 2);
    drop(open);
    until(|| server.front.http.metrics.connections.get() == 0).await;
    assert_eq!(connect_many(&server, 1).await.0, 1);
}

#[tokio::test]
async fn a_trusted_proxy_may_have_all_connections() {
    let trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let bounds = Bounds { connections_max: 8, trusted_proxies, ..Bounds::default() };
    let server = HttpFront::start(bounds).await;
    assert_eq!(connect_many(&server, 8).await.0, 8);
}

/// Each of these clients waits with its body until all others wait too; gives back how many of them are refused.
async fn refused_of(server: &HttpFront, clients: &[&str]) -> usize {
    let mut waiting = Vec::new();
    for client in clients {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             X-Forwarded-For: {client}\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            PING.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut goes_on = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
        stream.read_exact(&mut goes_on).await.unwrap();
        assert!(goes_on.starts_with(b"HTTP/1.1 100 "));
        waiting.push(stream);
    }
    let mut refused = 0;
    // The last ones first: those before them have their places until then.
    for mut stream in waiting.into_iter().rev() {
        stream.write_all(PING.as_bytes()).await.unwrap();
        let mut line = [0; 12];
        stream.read_exact(&mut line).await.unwrap();
        refused += usize::from(&line == b"HTTP/1.1 503");
    }
    refused
}

#[tokio::test]
async fn one_address_does_not_take_all_places_for_bodies() {
    for (trusted_proxies, refused) in [(vec![], 1), (vec!["127.0.0.1".parse().unwrap()], 0)] {
        let bounds = Bounds { bodies_arriving_max: 4, trusted_proxies, ..Bounds::default() };
        let server = HttpFront::start(bounds).await;
        // Two addresses may have one share by chance, in one process of a thousand: four have not.
        let clients = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"];
        assert_eq!(refused_of(&server, &clients).await, refused);
    }
}

#[tokio::test]
async fn the_address_that_a_trusted_proxy_names_has_the_session() {
    let trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let bounds = Bounds { sessions_max: 4, trusted_proxies, ..Bounds::default() };
    let server = HttpFront::start(bounds).await;
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let has_session = async |client: &str| {
        let headers = [("x-forwarded-for", client)];
        let reply = server.post(LEGACY, &headers, body.as_bytes()).await;
        assert_eq!(reply.status, 200);
        reply.header("mcp-session-id").is_some()
    };
    for expected in [true, true, true, false] {
        // What a client says of itself stands before what the proxy adds.
        assert_eq!(has_session("198.51.100.7, 203.0.113.1").await, expected);
    }
    assert!(has_session("203.0.113.2").await || has_session("203.0.113.3").await);
    assert!(server.front.http.admission.admit(Caller::Process).is_some());
    assert_eq!(server.post(LEGACY, &[], PING.as_bytes()).await.status, 200);
}
