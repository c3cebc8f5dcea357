//! Many streams on each HTTP/2 connection.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::stream::{Told, body, read_messages};

/// Opens all streams, `each` on a connection.
pub(super) async fn open(
    target: SocketAddr,
    streams: &[Arc<Told>],
    each: usize,
    tasks: &mut JoinSet<Result<(), String>>,
) -> Result<(), String> {
    for part in streams.chunks(each.max(1)) {
        let stream = TcpStream::connect(target).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        for told in part {
            let response = listen(sender.clone(), target, told).await?;
            let told = Arc::clone(told);
            tasks.spawn(read(response, told, sender.clone()));
        }
    }
    Ok(())
}

async fn listen(
    mut sender: SendRequest<Full<Bytes>>,
    target: SocketAddr,
    told: &Told,
) -> Result<hyper::body::Incoming, String> {
    let request = Request::post(format!("http://{target}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .body(Full::new(Bytes::from(body(told))))
        .map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
    if !response.status().is_success() {
        return Err(format!("a listen was answered with {}", response.status()));
    }
    Ok(response.into_body())
}

/// Reads a stream to its end; its sender keeps the connection.
async fn read(
    mut body: hyper::body::Incoming,
    told: Arc<Told>,
    _sender: SendRequest<Full<Bytes>>,
) -> Result<(), String> {
    let mut carried = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| error.to_string())?;
        if let Ok(bytes) = frame.into_data() {
            read_messages(&told, &mut carried, &bytes);
        }
    }
    Ok(())
}
