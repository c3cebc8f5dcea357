//! A client of the stdio front: all lines in, the end of input, all lines out.

use std::{io, sync::Arc, time::Duration};

use pressmark::transport::stdio::{self, StdioConfig};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Front;

/// How long replies may take to be written after the shutdown has begun.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends bytes, ends the input, and gives back the lines of the output.
pub(crate) async fn exchange(front: &Front, input: &[u8]) -> Vec<String> {
    let mut output = Vec::new();
    serve(front, input, &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.is_empty() || output.ends_with('\n'), "a reply is a whole line");
    output.lines().map(str::to_owned).collect()
}

/// Serves one input into `writer`.
pub(crate) async fn serve<R, W>(front: &Front, input: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let config = StdioConfig {
        line_bytes_max: front.bounds.body_bytes_max,
        requests_in_flight_max: front.bounds.requests_in_flight_max,
        request_timeout: front.bounds.request_timeout,
        unsent_reply_bytes_max: front.bounds.unsent_reply_bytes_max,
        drain_timeout: DRAIN_TIMEOUT,
    };
    let metrics = Arc::clone(&front.http.metrics);
    let shutdown = front.http.shutdown.clone();
    let subscriptions = Arc::clone(&front.http.subscriptions);
    let pool = Arc::clone(&front.pool);
    stdio::serve(input, writer, pool, subscriptions, metrics, config, shutdown).await
}
