//! What the server says of its subscriptions.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const GAUGES: [&str; 4] =
    ["subscribers", "subscribed_uris", "notification_streams", "notifications_pending"];
/// What the names of the server's metrics begin with.
const PREFIX: &str = "pressmark_";

/// The gauges of the server's metrics, on a line; other servers have none.
///
/// # Errors
/// The server does not answer.
pub(crate) async fn gauges(target: SocketAddr) -> Result<String, String> {
    let mut stream = TcpStream::connect(target).await.map_err(|error| error.to_string())?;
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {target}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.map_err(|error| error.to_string())?;
    let value = |name: &str| {
        reply
            .lines()
            .find_map(|line| line.strip_prefix(PREFIX)?.strip_prefix(name)?.strip_prefix(' '))
            .unwrap_or("-")
    };
    let gauges = GAUGES.map(|name| format!("{name} {}", value(name)));
    Ok(gauges.join(", "))
}
