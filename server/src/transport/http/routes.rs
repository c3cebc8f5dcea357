//! Paths and HTTP methods.

use hyper::{HeaderMap, Method, Request, StatusCode, body::Incoming, header::HeaderName};

use super::responses::HttpResponse;
use super::{HttpServer, cors, origin, post, responses};
use crate::{call_rates::Caller, error::Fault, mcp::protocol::Session, sessions::SessionId};

/// `Mcp-Session-Id`.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// What `/mcp` has. There is no stream to GET before there is something to say on it.
const MCP_METHODS: &str = "POST, DELETE, OPTIONS";
const READ_METHODS: &str = "GET, HEAD";

/// Answers one request.
pub(super) async fn respond(
    server: &HttpServer,
    request: Request<Incoming>,
    caller: Caller,
) -> HttpResponse {
    match request.uri().path() {
        "/healthz" => return probe(request.method(), StatusCode::OK, "ok\n"),
        "/readyz" => return readyz(server, request.method()),
        _ => {}
    }
    let (version, uri, headers) = (request.version(), request.uri(), request.headers());
    let allowed = origin::check(version, uri, headers, &server.config.allowed_hosts);
    let response = match allowed.map(|origin| origin.cloned()) {
        Ok(origin) => {
            let mut response = route(server, request, caller).await;
            if let Some(origin) = origin {
                cors::allow(origin, &mut response);
            }
            response
        }
        Err(refused) => responses::refusal(refused.status, refused.reason),
    };
    server.metrics.responded(response.status());
    response
}

async fn route(server: &HttpServer, request: Request<Incoming>, caller: Caller) -> HttpResponse {
    match (request.uri().path(), request.method()) {
        ("/mcp", &Method::POST) => post::respond(server, request, caller).await,
        ("/mcp", &Method::DELETE) => delete_session(server, request.headers()),
        ("/mcp", &Method::OPTIONS) => cors::preflight(),
        ("/mcp", _) => responses::method_not_allowed(MCP_METHODS),
        ("/metrics", &Method::GET | &Method::HEAD) => {
            responses::metrics(server.metrics.exposition())
        }
        ("/metrics", _) => responses::method_not_allowed(READ_METHODS),
        _ => responses::text(StatusCode::NOT_FOUND, "not found: the MCP endpoint is /mcp\n"),
    }
}

/// Ready until the end begins: reads are answered while the sources are scanned, and by a store
/// that refuses writes. Both are said here.
fn readyz(server: &HttpServer, method: &Method) -> HttpResponse {
    if server.shutdown.has_begun() {
        return probe(method, StatusCode::SERVICE_UNAVAILABLE, "shutting down\n");
    }
    let mcp = server.pool.mcp();
    let text = match (mcp.engine().health().writable, mcp.is_settled()) {
        (false, _) => "ready, but the store refuses writes: see the log\n",
        (true, false) => "ready (indexing)\n",
        (true, true) => "ready\n",
    };
    probe(method, StatusCode::OK, text)
}

fn probe(method: &Method, status: StatusCode, text: &'static str) -> HttpResponse {
    match *method {
        Method::GET | Method::HEAD => responses::text(status, text),
        _ => responses::method_not_allowed(READ_METHODS),
    }
}

/// Ends a session (2025-11-25, session management).
fn delete_session(server: &HttpServer, headers: &HeaderMap) -> HttpResponse {
    let Some(id) = headers.get(SESSION_ID) else {
        return responses::refusal(StatusCode::BAD_REQUEST, "the header Mcp-Session-Id is missing");
    };
    let id = id.to_str().ok().and_then(SessionId::parse);
    if id.is_some_and(|id| server.sessions.end(id)) {
        responses::empty(StatusCode::NO_CONTENT)
    } else {
        responses::fault(
            &Fault::invalid_request("no such session").with_status(StatusCode::NOT_FOUND),
        )
    }
}

/// The session that a request names. Several lines name none that we gave out.
pub(super) fn named_session(server: &HttpServer, headers: &HeaderMap) -> Session {
    let mut values = headers.get_all(SESSION_ID).iter();
    match (values.next(), values.next()) {
        (None, _) => Session::Absent,
        (Some(value), None) => match value.to_str().ok().and_then(SessionId::parse) {
            Some(id) => server.sessions.find(id),
            None => Session::Unknown,
        },
        (Some(_), Some(_)) => Session::Unknown,
    }
}
