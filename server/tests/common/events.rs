//! Streams of server-sent events as a client reads them.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::{META, MODERN, http::HttpFront, schema};

/// Nothing takes this long: a test that waits for it has failed.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// An open stream.
pub(crate) struct Stream {
    pub(crate) head: hyper::http::response::Parts,
    body: Incoming,
    text: String,
    /// Keeps the connection; dropping it closes that.
    _connection: Option<tokio::task::JoinHandle<()>>,
    revision: &'static str,
}

/// What stands between two empty lines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    Comment,
    /// An id without a message.
    Primed(String),
    Message {
        id: Option<String>,
        message: Value,
    },
}

impl Stream {
    /// Opens a stream on a connection of its own.
    pub(crate) async fn open(server: &HttpFront, request: Request<Full<Bytes>>) -> Self {
        let stream = TcpStream::connect(server.address).await.unwrap();
        Self::over(stream, request).await
    }

    /// The same over any connection.
    pub(crate) async fn over<S>(stream: S, request: Request<Full<Bytes>>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(async move {
            let _ = connection.await;
        });
        let response = sender.send_request(request).await.unwrap();
        Self { _connection: Some(connection), ..Self::of(response) }
    }

    pub(crate) fn of(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        let (text, revision) = (String::new(), MODERN);
        Self { head, body, text, _connection: None, revision }
    }

    /// Messages are checked against the schema of this revision.
    pub(crate) fn speaking(self, revision: &'static str) -> Self {
        Self { revision, ..self }
    }

    /// The next event of any kind; `None` when the stream has ended in order.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        tokio::time::timeout(DEADLINE, self.read()).await.expect("an event within the deadline")
    }

    async fn read(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = parse(event, self.revision);
                self.text = rest.to_owned();
                return Some(event);
            }
            let frame = self.body.frame().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    /// The next message, comments apart.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            match self.next().await? {
                Event::Message { message, .. } => return Some(message),
                Event::Comment | Event::Primed(_) => {}
            }
        }
    }

    /// The URI of the next message, which must be an update.
    pub(crate) async fn updated(&mut self) -> String {
        let message = self.message().await.expect("the stream goes on");
        assert_eq!(message["method"], "notifications/resources/updated", "{message}");
        message["params"]["uri"].as_str().unwrap().to_owned()
    }

    /// Reads the acknowledgement of a listen, which must come first.
    pub(crate) async fn acknowledged(&mut self) -> Value {
        assert_eq!(self.head.status, 200);
        let message = self.message().await.unwrap();
        assert_eq!(message["method"], "notifications/subscriptions/acknowledged");
        message["params"]["notifications"].clone()
    }
}

fn parse(event: &str, revision: &str) -> Event {
    if event.starts_with(':') {
        return Event::Comment;
    }
    let field = |name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim_start())
    };
    let id = field("id:").map(str::to_owned);
    match field("data:") {
        None | Some("") => Event::Primed(id.unwrap()),
        Some(data) => {
            let message: Value = serde_json::from_str(data).unwrap();
            schema::check_notification(revision, &message);
            Event::Message { id, message }
        }
    }
}

/// A `subscriptions/listen` with this id and filter, as JSON.
pub(crate) fn listen_message(id: &str, filter: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"_meta":{META},"notifications":{filter}}}}}"#
    )
}

/// The request that opens a listen.
pub(crate) fn listen_request(id: &str, filter: &str) -> Request<Full<Bytes>> {
    Request::post("http://localhost/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", "subscriptions/listen")
        .body(Full::new(Bytes::from(listen_message(id, filter))))
        .unwrap()
}

/// A listen that is open and acknowledged.
pub(crate) async fn listen(server: &HttpFront, id: &str, filter: &str) -> Stream {
    let mut stream = Stream::open(server, listen_request(id, filter)).await;
    stream.acknowledged().await;
    stream
}

/// A sender of HTTP/2 requests on one connection.
pub(crate) async fn http2(
    server: &HttpFront,
) -> hyper::client::conn::http2::SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    sender
}
