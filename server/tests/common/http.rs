//! A client of the HTTP front that sends exactly what a test says.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use pressmark::transport::http;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

use super::{Bounds, Front, MODERN};

/// A running server.
pub(crate) struct HttpFront {
    pub(crate) front: Front,
    pub(crate) address: SocketAddr,
}

/// A response, whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl HttpFront {
    pub(crate) async fn start(bounds: Bounds) -> Self {
        Self::of(Front::new(bounds)).await
    }

    pub(crate) async fn of(front: Front) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(http::serve(listener, Arc::clone(&front.http)));
        Self { front, address }
    }

    /// Sends a request with these headers; Host is there unless `headers` has another.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header("host", "localhost");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        let (head, body) = sender.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: head.status.as_u16(), headers: head.headers, body }
    }

    /// Posts a message with the headers that its revision asks for; `headers` win over them, and
    /// one with an empty value leaves the header out.
    pub(crate) async fn post(
        &self,
        revision: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let all = usual_headers(revision, headers, body);
        let all: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.send("POST", "/mcp", &all, body).await
    }
}

/// The headers that a message's revision asks for; `headers` win over them, and one with an empty value is left out.
pub(crate) fn usual_headers(
    revision: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<(String, String)> {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut all = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version".to_owned(), revision.to_owned()),
    ];
    if revision == MODERN {
        let params = &message["params"];
        let name = params["uri"].as_str().or(params["name"].as_str());
        all.push(("mcp-method".to_owned(), message["method"].as_str().unwrap_or("").to_owned()));
        all.extend(name.map(|name| ("mcp-name".to_owned(), name.to_owned())));
    }
    all.retain(|(name, _)| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)));
    all.extend(headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    all.retain(|(_, value)| !value.is_empty());
    all
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}
