//! What HTTP asks of the front: hosts, origins, content types, methods, bounds, the pages beside
//! the endpoint.

use pressmark::call_rates::Caller;

use crate::common::{Bounds, LEGACY, http::HttpFront, schema};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Posts a ping with these headers and gives back the status; an error has a JSON-RPC body.
async fn status_of(server: &HttpFront, headers: &[(&str, &str)]) -> u16 {
    let reply = server.post(LEGACY, headers, PING).await;
    if reply.status != 200 {
        let error = reply.json();
        assert_eq!(error.get("id"), None, "no id was read: {error}");
        schema::check(LEGACY, "", &error);
    }
    reply.status
}

#[tokio::test]
async fn requests_are_judged_by_their_headers() {
    let server = HttpFront::start(Bounds::default()).await;
    for (headers, status) in [
        (&[][..], 200),
        (&[("host", "127.0.0.1:7411"), ("origin", "http://127.0.0.1:7411")], 200),
        (&[("host", "docs.example.com")], 200),
        (&[("host", "evil.example")], 403),
        (&[("host", "evil.example"), ("origin", "http://evil.example")], 403),
        (&[("origin", "https://evil.example")], 403),
        (&[("origin", "null")], 403),
        (&[("host", "localhost"), ("host", "localhost")], 400),
        (&[("content-type", "application/json; charset=utf-8")], 200),
        (&[("content-type", "Application/JSON")], 200),
        (&[("content-type", "text/plain")], 415),
        (&[("content-type", "application/json-patch+json")], 415),
        (&[("content-type", "")], 415),
        (&[("host", "evil@localhost")], 400),
        (&[("host", "localhost:99999")], 400),
        (&[("origin", "http://evil@localhost")], 403),
        (&[("content-type", "application/json; charset=\"UTF-8\"")], 200),
        (&[("content-type", "application/json; charset=utf-16")], 415),
        (&[("content-encoding", "identity")], 200),
        (&[("content-encoding", "gzip")], 415),
        (&[("content-encoding", "identity"), ("content-encoding", "br")], 415),
        (&[("accept", "*/*")], 200),
        (&[("accept", "application/json")], 200),
        (&[("accept", "text/event-stream"), ("accept", "application/json")], 200),
        (&[("accept", "")], 200),
        (&[("accept", "text/html")], 406),
    ] {
        assert_eq!(status_of(&server, headers).await, status, "{headers:?}");
    }
}

#[tokio::test]
async fn paths_and_methods() {
    let server = HttpFront::start(Bounds::default()).await;
    for (method, path, status, allow) in [
        ("GET", "/mcp", 400, None),
        ("PUT", "/mcp", 405, Some("GET, POST, DELETE, OPTIONS")),
        ("GET", "/", 404, None),
        ("POST", "/mcp/", 415, None),
        ("GET", "/mcp/", 400, None),
        ("DELETE", "/mcp/", 400, None),
        ("OPTIONS", "/mcp/", 204, None),
        ("POST", "/mcp//", 404, None),
        ("POST", "/mcp/x", 404, None),
        ("GET", "/healthz", 200, None),
        ("HEAD", "/healthz", 200, None),
        ("POST", "/healthz", 405, Some("GET, HEAD")),
        ("GET", "/readyz", 200, None),
        ("GET", "/metrics", 200, None),
        ("DELETE", "/metrics", 405, Some("GET, HEAD")),
        ("DELETE", "/mcp", 400, None),
    ] {
        let reply = server.send(method, path, &[], b"").await;
        assert_eq!(reply.status, status, "{method} {path}");
        assert_eq!(reply.header("allow"), allow, "{method} {path}");
    }
    let hint = server.send("GET", "/sse", &[], b"").await;
    assert!(String::from_utf8_lossy(&hint.body).contains("/mcp"));
}

#[tokio::test]
async fn an_endpoint_with_a_slash_answers_without_a_redirect() {
    let server = HttpFront::start(Bounds::default()).await;
    let headers = [("content-type", "application/json")];
    let reply = server.send("POST", "/mcp/", &headers, PING).await;
    assert_eq!((reply.status, &reply.json()["result"]), (200, &serde_json::json!({})));
}

#[tokio::test]
async fn probes_answer_under_any_host_and_say_what_goes_on_under_an_allowed_one() {
    let server = HttpFront::start(Bounds::default()).await;
    let host = [("host", "10.0.0.7:7411")];
    assert_eq!(server.send("GET", "/healthz", &host, b"").await.status, 200);
    assert_eq!(server.send("GET", "/metrics", &host, b"").await.status, 403);
    let readiness = async |headers: &[(&str, &str)]| {
        let reply = server.send("GET", "/readyz", headers, b"").await;
        (reply.status, String::from_utf8_lossy(&reply.body).into_owned())
    };
    let indexing = server.front.pool.mcp().unsettled();
    assert_eq!(readiness(&[]).await, (200, "ready (indexing)\n".to_owned()));
    assert_eq!(readiness(&host).await, (200, "ready\n".to_owned()));
    drop(indexing);
    assert_eq!(readiness(&[]).await, (200, "ready\n".to_owned()));
}

/// Larger than what is read beside other requests.
#[tokio::test]
async fn a_body_with_very_many_members_is_refused_and_a_large_one_is_served() {
    let server = HttpFront::start(Bounds { body_bytes_max: 8 << 20, ..Bounds::default() }).await;
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"fetch","arguments":{{{arguments}"id":"note://shelf/plain"}}}}}}"#
        )
    };
    let members: String = (0..40_000).map(|number| format!(r#""m{number}":0,"#)).collect();
    let refused = server.post("2025-06-18", &[], call(&members).as_bytes()).await.json();
    assert!(
        refused["error"]["code"] == -32602 || refused["result"]["isError"] == true,
        "{refused}"
    );
    assert_eq!(refused["id"], "x");
    let padded = call("") + &" ".repeat(100_000);
    let served = server.post(LEGACY, &[], padded.as_bytes()).await.json();
    assert_ne!(served["result"]["isError"], true, "{served}");
    assert!(served["result"]["content"][0]["text"].as_str().unwrap().contains("world"));
}

#[tokio::test]
async fn metrics_have_names_of_their_own() {
    let server = HttpFront::start(Bounds::default()).await;
    let host = [("host", "metrics.internal:7411")];
    assert_eq!(server.send("GET", "/metrics", &host, b"").await.status, 200);
    assert_eq!(server.send("POST", "/mcp", &host, PING).await.status, 403);
}

#[tokio::test]
async fn a_refused_host_reads_which_setting_allows_it() {
    let server = HttpFront::start(Bounds::default()).await;
    for headers in [[("host", "docs.example.org")], [("origin", "https://docs.example.org")]] {
        let reply = server.post(LEGACY, &headers, PING).await;
        assert_eq!(reply.status, 403);
        let error = reply.json();
        let message = error["error"]["message"].as_str().unwrap();
        for part in ["docs.example.org", "`allowed_hosts`"] {
            assert!(message.contains(part), "{message}");
        }
    }
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_ask_and_read() {
    let server = HttpFront::start(Bounds::default()).await;
    let origin = ("origin", "http://localhost:6274");
    let asks = [origin, ("access-control-request-method", "POST")];
    let preflight = server.send("OPTIONS", "/mcp", &asks, b"").await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some(origin.1));
    let allowed = preflight.header("access-control-allow-headers").unwrap().to_lowercase();
    for header in
        ["content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"]
    {
        assert!(allowed.contains(header), "{header} is not in {allowed}");
    }
    let reply = server.post(LEGACY, &[origin], PING).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some(origin.1));
    assert!(reply.header("access-control-expose-headers").unwrap().contains("Mcp-Session-Id"));
    assert_eq!(server.post(LEGACY, &[], PING).await.header("access-control-allow-origin"), None);
    let refused = server.send("OPTIONS", "/mcp", &[("origin", "https://evil.example")], b"").await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn a_body_over_the_bound_is_413_and_one_at_the_bound_is_read() {
    let bounds = Bounds { body_bytes_max: 1000, ..Bounds::default() };
    let server = HttpFront::start(bounds).await;
    let padded = |bytes: usize| {
        let mut body = PING.to_vec();
        body.resize(bytes, b' ');
        body
    };
    assert_eq!(server.post(LEGACY, &[], &padded(1000)).await.status, 200);
    let refused = server.post(LEGACY, &[], &padded(1001)).await;
    assert_eq!(refused.status, 413);
    assert_eq!(refused.json()["error"]["code"], -32600);
}

#[tokio::test]
async fn a_shed_request_is_503_and_says_when_to_come_again() {
    let bounds = Bounds { requests_in_flight_max: 1, ..Bounds::default() };
    let server = HttpFront::start(bounds).await;
    let held = server.front.http.admission.admit(Caller::Process).unwrap();
    let shed = server.post(LEGACY, &[], PING).await;
    assert_eq!(shed.status, 503);
    assert_eq!(shed.header("retry-after"), Some("1"));
    assert_eq!(shed.json()["error"]["code"], -32603);
    drop(held);
    assert_eq!(server.post(LEGACY, &[], PING).await.status, 200);
    assert_eq!(server.front.http.metrics.requests_shed.get(), 1);
}

#[tokio::test]
async fn invalid_utf8_is_a_parse_error() {
    let server = HttpFront::start(Bounds::default()).await;
    let body = b"{\"jsonrpc\":\"2.0\",\"id\":\"\xFF\",\"method\":\"ping\"}";
    let reply = server.post(LEGACY, &[], body).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], -32700);
}

#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    let server = HttpFront::start(Bounds::default()).await;
    for id in
        ["1", "-1", "9007199254740993", "9223372036854775808", "\"\\u00e9\\/\"", "\"é\u{2028}x\""]
    {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        let reply = server.post(LEGACY, &[], body.as_bytes()).await;
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
        assert_eq!(String::from_utf8_lossy(&reply.body), expected);
    }
}

#[tokio::test]
async fn metrics_count_what_was_answered() {
    let server = HttpFront::start(Bounds::default()).await;
    server.post(LEGACY, &[], PING).await;
    server.post(LEGACY, &[], b"{").await;
    server.post(LEGACY, &[("accept", "text/html")], PING).await;
    server.post(LEGACY, &[("host", "evil.example")], PING).await;
    let page = server.send("GET", "/metrics", &[], b"").await;
    let page = String::from_utf8_lossy(&page.body);
    for line in [
        r#"pressmark_mcp_requests_total{method="ping",transport="http",code="ok"} 1"#,
        r#"mcp_requests_total{method="other",transport="http",code="-32700"} 1"#,
        r#"http_refusals_total{status="403"} 1"#,
        r#"http_refusals_total{status="406"} 1"#,
        "mcp_requests_in_flight 0",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
    }
}
