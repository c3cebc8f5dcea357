//! Responses with their headers, which are static values.

use std::borrow::Cow;

use hyper::{
    Response, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, VARY,
        X_CONTENT_TYPE_OPTIONS,
    },
};

use super::{events::Events, reply_body::Reply};
use crate::{error::Fault, mcp::Answer, metrics::Format};

pub(super) type HttpResponse = Response<Reply>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const METRICS_TEXT: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
/// A proxy that compresses would hold each event back until it has enough of them.
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, no-store, no-transform");
/// Proxies of the kind of nginx would hold events back until they have a buffer full.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const NO: HeaderValue = HeaderValue::from_static("no");
const ONE_SECOND: HeaderValue = HeaderValue::from_static("1");

/// A JSON reply. Caches in between must not keep it: the request is a POST, and what a client may
/// keep is said in the reply itself.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> HttpResponse {
    let mut response = with_body(status, JSON, body);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, ONE_SECOND);
    }
    response
}

pub(super) fn answer(answer: Answer) -> HttpResponse {
    match answer.body {
        Some(body) => json(answer.status, body),
        None => empty(answer.status),
    }
}

/// An error in front of the message's own answer: it has no id.
pub(super) fn refusal(status: StatusCode, reason: impl Into<Cow<'static, str>>) -> HttpResponse {
    json(status, Fault::invalid_request(reason).reply(None))
}

pub(super) fn fault(fault: &Fault) -> HttpResponse {
    json(fault.status, fault.reply(None))
}

pub(super) fn empty(status: StatusCode) -> HttpResponse {
    let mut response = Response::new(Reply::default());
    *response.status_mut() = status;
    response
}

pub(super) fn text(status: StatusCode, body: impl Into<Vec<u8>>) -> HttpResponse {
    with_body(status, TEXT, body)
}

pub(super) fn metrics(format: Format, body: String) -> HttpResponse {
    let content_type = match format {
        Format::Text => METRICS_TEXT,
        Format::OpenMetrics => OPEN_METRICS,
    };
    let mut response = with_body(StatusCode::OK, content_type, body);
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    response
}

/// A stream of events, which ends when its client or the server ends it.
pub(super) fn events(events: Events) -> HttpResponse {
    let mut response = with_body(StatusCode::OK, EVENTS, Vec::new());
    response.headers_mut().insert(CACHE_CONTROL, NO_CACHE);
    response.headers_mut().insert(X_ACCEL_BUFFERING, NO);
    response.body_mut().events = Some(events);
    response
}

/// 405 with the methods that there are.
pub(super) fn method_not_allowed(allow: &'static str) -> HttpResponse {
    let mut response =
        refusal(StatusCode::METHOD_NOT_ALLOWED, "this HTTP method is not served here: see `Allow`");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    response
}

fn with_body(
    status: StatusCode,
    content_type: HeaderValue,
    body: impl Into<Vec<u8>>,
) -> HttpResponse {
    let mut response = Response::new(Reply::from(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.reserve(4);
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    response
}
