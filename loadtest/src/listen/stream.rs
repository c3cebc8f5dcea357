//! One open stream over HTTP/1.1, read with as little memory as a client can.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::now_micros;

const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"pressmark-loadtest","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// What one stream has been told.
pub(crate) struct Told {
    /// The URIs that it watches, by their number in the run.
    pub(crate) uris: HashMap<Box<str>, AtomicU64>,
    /// Notifications read.
    pub(crate) count: AtomicU64,
    /// When the acknowledgement came, in microseconds since 1970; 0: not yet.
    pub(crate) acknowledged: AtomicU64,
    /// The stream reads nothing while this is set.
    pub(crate) stalled: AtomicBool,
    pub(crate) ended_with_result: AtomicBool,
}

impl Told {
    pub(crate) fn new(uris: impl IntoIterator<Item = String>) -> Arc<Told> {
        Arc::new(Told {
            uris: uris.into_iter().map(|uri| (uri.into(), AtomicU64::new(0))).collect(),
            count: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            stalled: AtomicBool::new(false),
            ended_with_result: AtomicBool::new(false),
        })
    }

    /// When the URI was last told, in microseconds since 1970.
    pub(crate) fn last(&self, uri: &str) -> Option<u64> {
        self.uris.get(uri).map(|last| last.load(Ordering::Relaxed))
    }

    fn message(&self, message: &str, now: u64) {
        if message.contains("notifications/resources/updated") {
            let uri = message.split_once(r#""uri":""#).and_then(|(_, rest)| rest.split_once('"'));
            if let Some(last) = uri.and_then(|(uri, _)| self.uris.get(uri)) {
                last.store(now, Ordering::Relaxed);
            }
            self.count.fetch_add(1, Ordering::Relaxed);
        } else if message.contains("subscriptions/acknowledged") {
            // Who listens anew reads anew: what changed before is known.
            for last in self.uris.values() {
                last.fetch_max(now, Ordering::Relaxed);
            }
            self.acknowledged.store(now, Ordering::Relaxed);
        } else if message.contains(r#""result""#) {
            self.ended_with_result.store(true, Ordering::Relaxed);
        }
    }
}

/// The body of the listen.
pub(crate) fn body(told: &Told) -> String {
    let uris: Vec<_> = told.uris.keys().map(|uri| format!("\"{uri}\"")).collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{"_meta":{META},"notifications":{{"resourceSubscriptions":[{}]}}}}}}"#,
        uris.join(",")
    )
}

/// Opens a stream and reads it until it ends.
pub(crate) async fn listen(target: SocketAddr, told: Arc<Told>) -> Result<(), String> {
    let mut stream = TcpStream::connect(target).await.map_err(|error| error.to_string())?;
    let body = body(&told);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {target}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    drop((request, body));
    let mut carried = Vec::new();
    loop {
        stream.readable().await.map_err(|error| error.to_string())?;
        if told.stalled.load(Ordering::Relaxed) {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            continue;
        }
        // Not kept while the stream is idle.
        let mut bytes = [0; 4096];
        let count = match stream.try_read(&mut bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error.to_string()),
        };
        if count == 0 {
            return Ok(());
        }
        read_messages(&told, &mut carried, bytes.get(..count).unwrap_or_default());
    }
}

/// Reads the whole lines; what is left of the last one is carried to the next time.
pub(crate) fn read_messages(told: &Told, carried: &mut Vec<u8>, bytes: &[u8]) {
    let now = now_micros();
    carried.extend_from_slice(bytes);
    let whole = carried.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let text = String::from_utf8_lossy(carried.get(..whole).unwrap_or_default()).into_owned();
    carried.drain(..whole);
    if carried.is_empty() {
        *carried = Vec::new();
    }
    for line in text.lines() {
        if let Some(message) = line.strip_prefix("data: ") {
            told.message(message, now);
        }
    }
}

/// Closes a connection with a reset instead of an end; also what a drop does while data is unread.
pub(crate) async fn reset(target: SocketAddr, told: &Told) -> Result<(), String> {
    let mut stream = TcpStream::connect(target).await.map_err(|error| error.to_string())?;
    stream.set_zero_linger().map_err(|error| error.to_string())?;
    let body = body(told);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {target}\r\ncontent-type: application/json\r\n\
         accept: text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut some = [0; 256];
    let _ = stream.read(&mut some).await;
    Ok(())
}
