//! The other side of the plane: how a command reaches the services, those of a server or those of a store that it has
//! opened itself. Whoever calls them cannot tell which.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderValue, Request, Response, header};
use tonic::codegen::{BoxFuture, Service, StdError};
use tonic::service::Routes;
use tonic::transport::{Channel, Endpoint, Error};

use super::token::Token;

/// How long a server may take to answer a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that answers no ping for so long is taken for gone.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// A way to the services of a plane.
#[derive(Debug, Clone)]
pub(crate) enum Connection {
    /// Of a running server, with what it wants to be shown.
    Server(Channel, Option<HeaderValue>),
    /// Of a store in this process.
    Store(Routes),
}

// === impl Connection ===

impl Connection {
    /// Connects to the plane at a URL, and shows the token there if there is one.
    pub(crate) async fn connect(url: &str, token: Option<&Token>) -> Result<Connection, Error> {
        let endpoint = Endpoint::from_shared(url.to_owned())?
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .tcp_nodelay(true);
        let channel = endpoint.connect().await?;
        let shown = token.and_then(|token| HeaderValue::from_bytes(token.header().as_bytes()).ok());
        let shown = shown.map(|mut shown| {
            shown.set_sensitive(true);
            shown
        });
        Ok(Connection::Server(channel, shown))
    }
}

impl Service<Request<Body>> for Connection {
    type Response = Response<Body>;
    type Error = StdError;
    type Future = BoxFuture<Response<Body>, StdError>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        match self {
            Connection::Server(channel, _) => {
                channel.poll_ready(context).map_err(|error| unanswered(error).into())
            }
            Connection::Store(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        match self {
            Connection::Server(channel, shown) => {
                if let Some(shown) = shown {
                    request.headers_mut().insert(header::AUTHORIZATION, shown.clone());
                }
                let answer = channel.call(request);
                Box::pin(async move {
                    let answer = of_a_plane(answer.await.map_err(unanswered)?)?;
                    Ok(answer.map(|body| Body::new(body.map_err(cut_off))))
                })
            }
            Connection::Store(routes) => {
                let answer = routes.call(request);
                Box::pin(async move { answer.await.map_err(|never: Infallible| match never {}) })
            }
        }
    }
}

// === what a connection says, as a status ===

/// What is not gRPC comes from something else that listens there.
fn of_a_plane(answer: Response<Body>) -> Result<Response<Body>, Status> {
    let said = answer.headers().get(header::CONTENT_TYPE);
    if said.is_some_and(|said| said.as_bytes().starts_with(b"application/grpc")) {
        return Ok(answer);
    }
    let text = format!(
        "no admin plane answers at this address (HTTP status {}): hosts are served at another one than commands, which is that of `--admin-listen`",
        answer.status().as_u16()
    );
    Err(Status::unavailable(text))
}

fn unanswered(error: Error) -> Status {
    let mut status = Status::unavailable("the server does not answer");
    status.set_source(Arc::new(error));
    status
}

/// An answer that does not come to its end, as the connection has it.
fn cut_off(broken: Status) -> Status {
    let mut status = Status::unavailable("the server went away");
    status.set_source(Arc::from(StdError::from(broken.message())));
    status
}
