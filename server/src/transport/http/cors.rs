//! CORS for clients in a browser, such as the Inspector: only allowed origins get here.

use hyper::{
    StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderValue, VARY,
    },
};

use super::responses::{HttpResponse, empty};

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, \
     Mcp-Name, Mcp-Session-Id",
);
const EXPOSED: HeaderValue = HeaderValue::from_static("Mcp-Session-Id, Retry-After");
const ORIGIN_VARIES: HeaderValue = HeaderValue::from_static("Origin");
/// Two hours, the most that browsers take.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// The answer to an `OPTIONS` request.
pub(super) fn preflight() -> HttpResponse {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

/// Lets the page of an allowed origin read the response.
pub(super) fn allow(origin: HeaderValue, response: &mut HttpResponse) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.insert(VARY, ORIGIN_VARIES);
}
