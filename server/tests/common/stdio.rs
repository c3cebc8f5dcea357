//! A client of the stdio front: all lines in, the end of input, all lines out.

use std::{io, sync::Arc};

use pressmark::{
    shutdown::Shutdown,
    transport::stdio::{self, StdioConfig},
};
use tokio::io::AsyncWrite;

use super::Front;

/// Sends bytes, ends the input, and gives back the lines of the output.
pub(crate) async fn exchange(front: &Front, input: &[u8]) -> Vec<String> {
    let mut output = Vec::new();
    serve(front, input, &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.is_empty() || output.ends_with('\n'), "a reply is a whole line");
    output.lines().map(str::to_owned).collect()
}

/// Serves one input into `writer`.
pub(crate) async fn serve<W: AsyncWrite + Unpin>(
    front: &Front,
    input: &[u8],
    writer: W,
) -> io::Result<()> {
    let config = StdioConfig {
        line_bytes_max: front.bounds.body_bytes_max,
        requests_in_flight_max: front.bounds.requests_in_flight_max,
        request_timeout: front.bounds.request_timeout,
    };
    let metrics = Arc::clone(&front.http.metrics);
    stdio::serve(input, writer, Arc::clone(&front.pool), metrics, config, Shutdown::new()).await
}
