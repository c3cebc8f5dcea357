//! A client of the stdio front that talks and listens at the same time.

use std::sync::Arc;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    task::JoinHandle,
};

use super::{Front, LEGACY, events::DEADLINE, stdio};

/// A running server of one client.
pub(crate) struct LineClient {
    pub(crate) front: Arc<Front>,
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    pub(crate) served: JoinHandle<std::io::Result<()>>,
}

/// What a pipe of the tests holds.
const PIPE_BYTES: usize = 4 * 1024;

impl LineClient {
    pub(crate) fn start(front: Front) -> Self {
        let front = Arc::new(front);
        let (input, reader) = tokio::io::duplex(PIPE_BYTES);
        let (writer, output) = tokio::io::duplex(PIPE_BYTES);
        let serving = Arc::clone(&front);
        let served = tokio::spawn(async move { stdio::serve(&serving, reader, writer).await });
        Self { front, input: Some(input), output: BufReader::new(output).lines(), served }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    /// Ends the input.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// The next message; `None` at the end of the output.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(DEADLINE, self.output.next_line()).await;
        let line = line.expect("a line within the deadline").unwrap()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}")))
    }

    pub(crate) async fn ask(&mut self, line: &str) -> Value {
        self.send(line).await;
        self.next().await.unwrap()
    }

    /// Agrees on the latest legacy revision.
    pub(crate) async fn initialize(&mut self) {
        self.initialize_as(LEGACY).await;
    }

    pub(crate) async fn initialize_as(&mut self, revision: &str) {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"test","version":"1"}}}}}}"#
        );
        assert_eq!(self.ask(&line).await["result"]["protocolVersion"], revision);
    }
}
