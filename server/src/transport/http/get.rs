//! `GET /mcp`: the stream of a session, in the revisions that have sessions (2025-11-25, transports).

use hyper::{HeaderMap, StatusCode, header::HeaderName};

use super::{
    HttpServer, content,
    events::Events,
    responses::{self, HttpResponse},
    routes::named_session,
};
use crate::{
    call_rates::Caller,
    error::Fault,
    mcp::protocol::{self, Channel, Era},
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What `/mcp` has in the modern era.
const MODERN_METHODS: &str = "POST, OPTIONS";

pub(super) fn respond(server: &HttpServer, headers: &HeaderMap, caller: Caller) -> HttpResponse {
    let (session, subscription) = named_session(server, headers);
    let channel = Channel::Http { headers, session, subscription: subscription.as_ref(), caller };
    let revision = match protocol::of_other(channel) {
        Ok(revision) if revision.era() == Era::Modern => {
            return responses::method_not_allowed(MODERN_METHODS);
        }
        Ok(revision) => revision,
        Err(fault) => return responses::fault(&fault),
    };
    if !content::accepted(headers).events {
        return responses::refusal(
            StatusCode::NOT_ACCEPTABLE,
            "Accept must include text/event-stream",
        );
    }
    let Some(subscription) = subscription else {
        if channel.has_only_an_id() {
            let fault = Fault::invalid_request(
                "nothing is known of what this session watches: send `initialize` again, and subscribe again",
            );
            return responses::fault(&fault.with_status(StatusCode::NOT_FOUND));
        }
        return responses::refusal(
            StatusCode::BAD_REQUEST,
            "the stream is a session's: send `initialize`, and the Mcp-Session-Id of its answer",
        );
    };
    let received = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()?.parse().ok());
    match subscription.reopen(received) {
        Ok(stream) => responses::events(Events::of_session(stream, revision)),
        Err(fault) => responses::fault(&fault),
    }
}
