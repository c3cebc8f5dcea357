//! Paths and HTTP methods.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Method, Request, StatusCode, body::Incoming, header::HeaderName};
use pressmark_index::{engine::Health, full_text::FullTextProgress};

use super::responses::HttpResponse;
use super::{HttpConfig, HttpServer, content, cors, get, origin, post, responses};
use crate::{
    call_rates::Caller, error::Fault, mcp::protocol::Session, sessions::SessionId,
    subscriptions::Subscription,
};

/// `Mcp-Session-Id`.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// What `/mcp` has.
const MCP_METHODS: &str = "GET, POST, DELETE, OPTIONS";
const READ_METHODS: &str = "GET, HEAD";

/// Answers one request.
pub(super) async fn respond(
    server: &HttpServer,
    request: Request<Incoming>,
    caller: Caller,
) -> HttpResponse {
    match request.uri().path() {
        "/healthz" => return probe(request.method(), StatusCode::OK, "ok\n".into()),
        "/readyz" => return readyz(server, &request),
        _ => {}
    }
    let (version, uri, headers) = (request.version(), request.uri(), request.headers());
    let allowed = match uri.path() {
        "/metrics" => {
            let HttpConfig { allowed_hosts, metrics_hosts, .. } = &server.config;
            origin::check(version, uri, headers, allowed_hosts)
                .or_else(|_| origin::check(version, uri, headers, metrics_hosts))
        }
        _ => origin::check(version, uri, headers, &server.config.allowed_hosts),
    };
    let response = match allowed.map(|origin| origin.cloned()) {
        Ok(origin) => {
            let mut response = route(server, request, caller).await;
            if let Some(origin) = origin {
                cors::allow(origin, &mut response);
            }
            response
        }
        Err(refused) => {
            if let Some(host) = &refused.host {
                server.refused_hosts.log(host);
            }
            responses::refusal(refused.status, refused.reason)
        }
    };
    server.metrics.responded(response.status());
    response
}

async fn route(server: &HttpServer, request: Request<Incoming>, caller: Caller) -> HttpResponse {
    // Some hosts add a slash, and few follow a redirect of a POST.
    let path = match request.uri().path() {
        "/mcp/" => "/mcp",
        path => path,
    };
    match (path, request.method()) {
        ("/mcp", &Method::POST) => post::respond(server, request, caller).await,
        ("/mcp", &Method::GET) => get::respond(server, request.headers(), caller),
        ("/mcp", &Method::DELETE) => delete_session(server, request.headers()),
        ("/mcp", &Method::OPTIONS) => cors::preflight(),
        ("/mcp", _) => responses::method_not_allowed(MCP_METHODS),
        ("/metrics", &Method::GET | &Method::HEAD) => {
            store_health(server);
            full_text_progress(server);
            let format = content::metrics_format(request.headers());
            responses::metrics(format, server.metrics.exposition(format))
        }
        ("/metrics", _) => responses::method_not_allowed(READ_METHODS),
        _ => responses::text(StatusCode::NOT_FOUND, "not found: the MCP endpoint is /mcp\n"),
    }
}

/// Ready until the end begins: reads are answered while the sources are scanned, and by a store
/// that refuses writes. A probe asks under any name and learns that much; what is going on is said only
/// under a name that is allowed.
fn readyz(server: &HttpServer, request: &Request<Incoming>) -> HttpResponse {
    if server.shutdown.has_begun() {
        let text = "shutting down\n".into();
        return probe(request.method(), StatusCode::SERVICE_UNAVAILABLE, text);
    }
    let (version, uri, headers) = (request.version(), request.uri(), request.headers());
    let text = match origin::check(version, uri, headers, &server.config.allowed_hosts) {
        Ok(_) => readiness(server),
        Err(_) => "ready\n".into(),
    };
    probe(request.method(), StatusCode::OK, text)
}

/// What goes on in a server that is ready.
fn readiness(server: &HttpServer) -> Bytes {
    let settled = server.pool.mcp().is_settled();
    let behind = server.pool.mcp().engine().spaces_without_completion();
    match store_health(server).since.map(jiff::Timestamp::from_millisecond) {
        None if settled && behind > 0 => {
            format!("ready, but the completion of {behind} spaces is still being made\n").into()
        }
        None if settled => full_text_behind(full_text_progress(server))
            .unwrap_or_else(|| ready_said(server.metrics.source_folders_polled.get())),
        None => "ready (indexing)\n".into(),
        Some(Ok(since)) => {
            format!("ready, but the store refuses writes since {since:.0}: the log says why\n")
                .into()
        }
        Some(Err(_)) => "ready, but the store refuses writes: the log says why\n".into(),
    }
}

/// Ready, with the folders whose changes are seen late.
fn ready_said(folders_polled: i64) -> Bytes {
    match folders_polled {
        0 => "ready\n".into(),
        polled => format!(
            "ready ({polled} folders are compared every so often, for changes in them are not reported)\n"
        )
        .into(),
    }
}

/// How far the full-text index is, as long as it is behind: searching answers from what it has. Why it cannot go on is for
/// the log: the reason may name files.
fn full_text_behind(progress: Option<FullTextProgress>) -> Option<Bytes> {
    let FullTextProgress { rebuilding, failure, .. } = progress?;
    let said = match (rebuilding, failure) {
        (_, Some(_)) => {
            "ready, but the full-text index stands still: the log says why\n".to_owned()
        }
        (Some(share), None) => {
            let share = (share * 100.0).floor();
            format!("ready, but the full-text index is still being made: {share:.0} %\n")
        }
        (None, None) => return None,
    };
    Some(said.into())
}

/// Asks how far the full-text index is, for the metrics as well.
fn full_text_progress(server: &HttpServer) -> Option<FullTextProgress> {
    let progress = server.pool.mcp().engine().full_text_progress();
    if let Some(progress) = &progress {
        server.metrics.search.progressed(progress);
        let spaces = server.pool.mcp().engine().spaces();
        let is_hidden = spaces.spaces.iter().any(|space| space.has_restricted());
        server.metrics.search.counted((!is_hidden).then_some(progress.documents));
    }
    progress
}

/// Asks the store whether it takes writes; the log gets each change of the answer once, whoever asks.
fn store_health(server: &HttpServer) -> Health {
    let health = server.pool.mcp().engine().health();
    let before = server.metrics.store_writable.set(i64::from(health.writable));
    match (before == 1, &health.reason) {
        (true, Some(reason)) => tracing::error!("the store refuses writes: {reason}"),
        (false, None) => tracing::info!("the store takes writes again"),
        (true, None) | (false, Some(_)) => {}
    }
    health
}

fn probe(method: &Method, status: StatusCode, text: Bytes) -> HttpResponse {
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

/// The session that a request names, with what it watches. Several lines name none that we gave out.
pub(super) fn named_session(
    server: &HttpServer,
    headers: &HeaderMap,
) -> (Session, Option<Arc<Subscription>>) {
    let mut values = headers.get_all(SESSION_ID).iter();
    match (values.next(), values.next()) {
        (None, _) => (Session::Absent, None),
        (Some(value), None) => match value.to_str().ok().and_then(SessionId::parse) {
            Some(id) => server.sessions.find(id),
            None => (Session::Unknown, None),
        },
        (Some(_), Some(_)) => (Session::Unknown, None),
    }
}
