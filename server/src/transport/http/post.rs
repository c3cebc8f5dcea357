//! `POST /mcp`: one body in, one answer out.

use bytes::Bytes;
use hyper::{Request, StatusCode, body::Incoming, header::HeaderValue};
use tokio::time::Instant;

use super::{
    HttpServer, body,
    call_events::{self, Called},
    content,
    events::Events,
    responses::{self, HttpResponse},
    routes::{SESSION_ID, named_session},
};
use crate::{
    call_rates::Caller,
    error::Fault,
    limits::UnsentReply,
    mcp::{Answer, Mcp, Method, Step, protocol::Channel},
    metrics::{Finished, Transport},
    subscriptions::Listen,
};

pub(super) async fn respond(
    server: &HttpServer,
    request: Request<Incoming>,
    caller: Caller,
) -> HttpResponse {
    if !content::is_json(request.headers()) {
        return responses::refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json in UTF-8",
        );
    }
    if !content::is_unencoded(request.headers()) {
        return responses::refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Encoding must be identity",
        );
    }
    let accepted = content::accepted(request.headers());
    if !accepted.json && !accepted.events {
        return not_acceptable();
    }
    let deadline = Instant::now() + server.config.request_timeout;
    let (head, incoming) = request.into_parts();
    let body = match body::arrive(incoming, caller, server, deadline).await {
        Ok(body) => body,
        Err(unread) => return unread.response(),
    };
    let Some(admitted) = server.admission.admit(caller) else {
        return responses::fault(&Fault::overloaded());
    };
    let headers = &head.headers;
    let (session, subscription) = named_session(server, headers);
    let channel = Channel::Http { headers, session, subscription: subscription.as_ref(), caller };
    let mut response = answer(server, accepted, channel, &body.bytes, deadline).await;
    let reply = response.body_mut();
    match &mut reply.events {
        Some(events) => events.hold(admitted),
        None => reply.admitted = Some(admitted),
    }
    response
}

fn not_acceptable() -> HttpResponse {
    responses::refusal(
        StatusCode::NOT_ACCEPTABLE,
        "Accept must include application/json, and text/event-stream for streams",
    )
}

async fn answer(
    server: &HttpServer,
    accepted: content::Accepted,
    channel: Channel<'_>,
    body: &Bytes,
    deadline: Instant,
) -> HttpResponse {
    let started = Instant::now();
    let Some(step) = receive(server, channel, body, deadline).await else {
        server.metrics.requests_shed.inc();
        return responses::fault(&Fault::overloaded());
    };
    let acceptable = match step {
        Step::Listen(_) => accepted.events,
        Step::Answer(_) | Step::Work(_) => accepted.json,
        // It is answered as one or the other.
        Step::Call(_) => true,
    };
    if !acceptable {
        return not_acceptable();
    }
    let answer = match step {
        Step::Answer(mut answer) => {
            if needs_more_than_an_id(&channel, &answer) {
                answer.status = StatusCode::NOT_FOUND;
            }
            if let (Some(id), Some(client)) = (&answer.cancels, channel.subscription()) {
                client.cancel(id);
            }
            answer
        }
        Step::Call(call) => {
            let client = channel.subscription().map(|client| &**client);
            let time_max = deadline.saturating_duration_since(started);
            match call_events::call(*call, client, accepted, time_max, server).await {
                Called::Answer(answer) => answer,
                Called::Events(events) => return responses::events(events),
            }
        }
        Step::Listen(listen) => match listening(server, listen, started) {
            Ok(response) => return response,
            Err(answer) => answer,
        },
        Step::Work(work) => server.pool.run(work, deadline).await,
    };
    let (answer, reserved) = within_budget(server, channel.caller(), answer);
    server.metrics.finished(&Finished {
        method: answer.method,
        transport: Transport::http,
        code: answer.code,
        duration: started.elapsed(),
        reply_bytes: answer.body.as_ref().map_or(0, Vec::len),
    });
    let new_session = new_session(server, channel.caller(), &answer);
    let mut response = responses::answer(answer);
    response.body_mut().reserved = reserved;
    if let Some(id) = new_session {
        response.headers_mut().insert(SESSION_ID, id);
    }
    response
}

/// A larger body is read on a thread of the pool: going through it would keep the others waiting that this thread answers.
const READ_HERE_BYTES_MAX: usize = 64 * 1024;

/// Reads the message and answers it as far as memory can; nothing when the pool has no room.
async fn receive(
    server: &HttpServer,
    channel: Channel<'_>,
    body: &Bytes,
    deadline: Instant,
) -> Option<Step> {
    let Channel::Http { headers, session, subscription, caller } = channel else { return None };
    if body.len() <= READ_HERE_BYTES_MAX {
        return Some(server.pool.mcp().receive(body, channel));
    }
    let (headers, subscription, body) = (headers.clone(), subscription.cloned(), body.clone());
    let receive = move |mcp: &Mcp| {
        let subscription = subscription.as_ref();
        mcp.receive(&body, Channel::Http { headers: &headers, session, subscription, caller })
    };
    server.pool.apart(deadline, receive).await
}

/// Whether a request was refused because only the id is left of its session: 404 has the client begin another one.
fn needs_more_than_an_id(channel: &Channel<'_>, answer: &Answer) -> bool {
    let needs_a_session = matches!(
        answer.method,
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe | Method::LoggingSetLevel
    );
    needs_a_session && answer.status == StatusCode::BAD_REQUEST && channel.has_only_an_id()
}

/// Opens the stream of a `subscriptions/listen`, or says why not.
fn listening(
    server: &HttpServer,
    listen: Listen,
    started: Instant,
) -> Result<HttpResponse, Answer> {
    let method = Method::SubscriptionsListen;
    let id = listen.id.clone();
    let stream = server
        .subscriptions
        .listen(listen)
        .map_err(|fault| Answer::fault(method, Some(&id), &fault))?;
    server.metrics.finished(&Finished {
        method,
        transport: Transport::http,
        code: None,
        duration: started.elapsed(),
        reply_bytes: 0,
    });
    Ok(responses::events(Events::of_listen(stream)))
}

/// Replies up to this size are bounded by the number of requests alone.
const SMALL_REPLY_BYTES: usize = 16 * 1024;

/// Takes a large answer's bytes from the budget; without room for them, another answer.
fn within_budget(
    server: &HttpServer,
    caller: Caller,
    answer: Answer,
) -> (Answer, Option<UnsentReply>) {
    let bytes = answer.body.as_ref().map_or(0, Vec::capacity);
    if bytes <= SMALL_REPLY_BYTES {
        return (answer, None);
    }
    match server.unsent_replies.try_reserve(caller, bytes) {
        Some(reserved) => (answer, Some(reserved)),
        None => {
            server.metrics.requests_shed.inc();
            (Answer::fault(answer.method, None, &Fault::overloaded()), None)
        }
    }
}

/// The id of the session that an `initialize` began.
fn new_session(server: &HttpServer, caller: Caller, answer: &Answer) -> Option<HeaderValue> {
    let revision = answer.negotiated.filter(|_| answer.method == Method::Initialize)?;
    let id = server.sessions.begin(revision, caller)?;
    HeaderValue::try_from(id.to_string()).ok()
}
