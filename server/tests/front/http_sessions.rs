//! Sessions of the legacy revisions over HTTP.

use crate::common::{Bounds, http::HttpFront};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Initializes and gives back the session's id.
async fn initialize(server: &HttpFront, revision: &str) -> Option<String> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"test","version":"1"}}}}}}"#
    );
    let reply = server.post(revision, &[("mcp-protocol-version", "")], body.as_bytes()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["result"]["protocolVersion"], revision);
    reply.header("mcp-session-id").map(str::to_owned)
}

#[tokio::test]
async fn a_session_lives_from_initialize_to_delete() {
    let server = HttpFront::start(Bounds::default()).await;
    let id = initialize(&server, "2025-11-25").await.unwrap();
    assert!(id.bytes().all(|byte| (0x21..=0x7E).contains(&byte)));
    let session = [("mcp-session-id", id.as_str())];
    let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(server.post("2025-11-25", &session, initialized).await.status, 202);
    assert_eq!(server.post("2025-11-25", &session, PING).await.status, 200);
    assert_eq!(server.front.http.metrics.sessions.get(), 1);
    assert_eq!(server.send("DELETE", "/mcp", &session, b"").await.status, 204);
    assert_eq!(server.front.http.metrics.sessions.get(), 0);
    assert_eq!(server.post("2025-11-25", &session, PING).await.status, 404);
    assert_eq!(server.post("2025-11-25", &session, initialized).await.status, 404);
    assert_eq!(server.send("DELETE", "/mcp", &session, b"").await.status, 404);
}

#[tokio::test]
async fn a_session_says_the_revision_where_no_header_does() {
    let server = HttpFront::start(Bounds::default()).await;
    let batch = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    for (revision, status) in [("2025-03-26", 200), ("2025-06-18", 400)] {
        let id = initialize(&server, revision).await.unwrap();
        let headers = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "")];
        assert_eq!(server.post(revision, &headers, batch).await.status, status, "{revision}");
    }
}

#[tokio::test]
async fn without_room_for_a_session_a_client_is_served_without_one() {
    let server = HttpFront::start(Bounds { sessions_max: 1, ..Bounds::default() }).await;
    assert!(initialize(&server, "2025-11-25").await.is_some());
    assert_eq!(initialize(&server, "2025-11-25").await, None);
    assert_eq!(server.post("2025-11-25", &[], PING).await.status, 200);
}

#[tokio::test]
async fn a_session_id_is_found_only_as_it_was_given() {
    let server = HttpFront::start(Bounds::default()).await;
    let id = initialize(&server, "2025-11-25").await.unwrap();
    for wrong in [id.to_uppercase() + "0", id[1..].to_owned(), format!("{id},{id}")] {
        let headers = [("mcp-session-id", wrong.as_str())];
        assert_eq!(server.post("2025-11-25", &headers, PING).await.status, 404, "{wrong}");
    }
    let twice = [("mcp-session-id", id.as_str()), ("mcp-session-id", id.as_str())];
    assert_eq!(server.post("2025-11-25", &twice, PING).await.status, 404);
}
