//! `POST /mcp`: one body in, one answer out.

use bytes::Bytes;
use hyper::{Request, StatusCode, body::Incoming, header::HeaderValue};
use tokio::time::{Instant, timeout_at};

use super::{
    HttpServer, body, content,
    responses::{self, HttpResponse},
    routes::{SESSION_ID, named_session},
};
use crate::{
    call_rates::Caller,
    error::Fault,
    mcp::{Answer, Method, Step, protocol::Channel},
    metrics::{Finished, Transport},
};

pub(super) async fn respond(
    server: &HttpServer,
    request: Request<Incoming>,
    caller: Caller,
) -> HttpResponse {
    if !content::is_json(request.headers()) {
        return responses::refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json",
        );
    }
    if !content::accepts_json(request.headers()) {
        return responses::refusal(
            StatusCode::NOT_ACCEPTABLE,
            "Accept must include application/json",
        );
    }
    let Some(_admitted) = server.admission.admit() else {
        return responses::fault(&Fault::overloaded());
    };
    let deadline = Instant::now() + server.config.request_timeout;
    let (head, incoming) = request.into_parts();
    let body = match timeout_at(deadline, body::read(incoming, server.config.body_bytes_max)).await
    {
        Ok(Ok(body)) => body,
        Ok(Err(response)) => return response,
        Err(_) => return responses::refusal(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
    };
    let session = named_session(server, &head.headers);
    let channel = Channel::Http { headers: &head.headers, session, caller };
    answer(server, channel, &body, deadline).await
}

async fn answer(
    server: &HttpServer,
    channel: Channel<'_>,
    body: &Bytes,
    deadline: Instant,
) -> HttpResponse {
    let started = Instant::now();
    let answer = match server.pool.mcp().receive(body, channel) {
        Step::Answer(answer) => answer,
        Step::Work(work) => server.pool.run(work, deadline).await,
    };
    server.metrics.finished(&Finished {
        method: answer.method,
        transport: Transport::http,
        code: answer.code,
        duration: started.elapsed(),
        reply_bytes: answer.body.as_ref().map_or(0, Vec::len),
    });
    let new_session = new_session(server, &answer);
    let mut response = responses::answer(answer);
    if let Some(id) = new_session {
        response.headers_mut().insert(SESSION_ID, id);
    }
    response
}

/// The id of the session that an `initialize` began.
fn new_session(server: &HttpServer, answer: &Answer) -> Option<HeaderValue> {
    let revision = answer.negotiated.filter(|_| answer.method == Method::Initialize)?;
    let id = server.sessions.begin(revision)?;
    HeaderValue::try_from(id.to_string()).ok()
}
