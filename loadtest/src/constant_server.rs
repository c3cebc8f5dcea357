//! A bare hyper server with one constant reply: what HTTP costs before a server does anything.
//!
//! It reads each request's body, as a server of the protocol has to, and answers with what looks
//! like the reply to `resources/read`, so that the same client with the same checks can ask it.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Serves until the process is ended.
pub(crate) fn run(listen: SocketAddr, body_bytes: usize) -> Result<(), String> {
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| format!("the runtime: {error}"))?;
    runtime
        .block_on(serve(listen, constant_reply(body_bytes)))
        .map_err(|error| format!("{listen}: {error}"))
}

async fn serve(listen: SocketAddr, reply: Bytes) -> std::io::Result<()> {
    let listener = TcpListener::bind(listen).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let reply = reply.clone();
        let service = service_fn(move |request| respond(request, reply.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn respond(
    request: Request<Incoming>,
    reply: Bytes,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let whole = request.into_body().collect().await.is_ok();
    let mut response = Response::new(Full::new(reply));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if !whole {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    Ok(response)
}

fn constant_reply(body_bytes: usize) -> Bytes {
    const HEAD: &str =
        r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"load://constant","text":""#;
    const TAIL: &str = r#""}]}}"#;
    let text = "x".repeat(body_bytes.saturating_sub(HEAD.len() + TAIL.len()));
    Bytes::from([HEAD, &text, TAIL].concat())
}
