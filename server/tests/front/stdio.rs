//! The stdio front: lines in, lines out, and what ends it.

use std::{
    io,
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
    time::Duration,
};

use crate::common::{Bounds, Front, META, stdio};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};

#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    let front = Front::new(Bounds::default());
    for (id, echoed) in [
        ("1", "1"),
        ("-1", "-1"),
        ("9007199254740993", "9007199254740993"),
        ("9223372036854775808", "9223372036854775808"),
        ("\"\\u00e9\\/\"", "\"\\u00e9\\/\""),
        ("\"é\\u2028x\"", "\"é\\u2028x\""),
        ("\"é\u{2028}x\"", "\"é\\u2028x\""),
    ] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{echoed},\"result\":{{}}}}");
        assert_eq!(stdio::exchange(&front, line.as_bytes()).await, [expected]);
    }
}

#[tokio::test]
async fn document_text_has_its_line_separators_escaped() {
    let front = Front::new(Bounds::default());
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://shelf/separators"}}"#;
    let lines = stdio::exchange(&front, line).await;
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains(r"a\u2028b\u2029c"), "{}", lines[0]);
}

#[tokio::test]
async fn the_eras_stand_side_by_side() {
    let front = Front::new(Bounds::default());
    let input = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{meta}}}}}"#,
            "\n",
            r#"{{"jsonrpc":"2.0","id":2,"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{}},"clientInfo":{{"name":"test","version":"1"}}}}}}"#,
            "\n\n",
            r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#,
            "\r\n",
            r#"[{{"jsonrpc":"2.0","id":3,"method":"ping"}}]"#,
            "\n",
            r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{{"_meta":{meta}}}}}"#,
        ),
        meta = META
    );
    let lines = stdio::exchange(&front, input.as_bytes()).await;
    let said: Vec<_> = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|reply| (reply["id"].as_i64(), reply["error"]["code"].as_i64()))
        .collect();
    assert_eq!(
        said,
        [(Some(1), None), (Some(2), None), (None, Some(-32600)), (Some(4), Some(-32601))]
    );
}

#[tokio::test]
async fn a_line_over_the_bound_is_answered_and_the_next_one_is_read() {
    let front = Front::new(Bounds { body_bytes_max: 1000, ..Bounds::default() });
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let input = format!("{}\n{ping}\n", "x".repeat(1_000_000));
    let lines = stdio::exchange(&front, input.as_bytes()).await;
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("-32600") && !lines[0].contains("\"id\""), "{}", lines[0]);
    assert_eq!(lines[1], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[tokio::test]
async fn every_request_before_the_end_of_input_is_answered() {
    let front = Front::new(Bounds { requests_in_flight_max: 3, ..Bounds::default() });
    let input: String = (0..200)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"resources/list\"}}\n"))
        .collect();
    let lines = stdio::exchange(&front, input.as_bytes()).await;
    let mut ids: Vec<_> = lines
        .iter()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<_>>());
}

/// An output whose reader is gone.
struct Broken;

impl AsyncWrite for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_broken_output_ends_it() {
    let front = Front::new(Bounds::default());
    let line = &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"[..];
    let ended = stdio::serve(&front, line, Broken).await;
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

/// On a runtime of one thread the list has not begun when its cancellation is read.
#[tokio::test]
async fn a_cancelled_request_gets_no_reply() {
    let front = Front::new(Bounds::default());
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":"a","method":"resources/list"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061","reason":"enough"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
    );
    let lines = stdio::exchange(&front, input.as_bytes()).await;
    let mut ids: Vec<_> = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone())
        .collect();
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, [2, 3]);
}

/// Lines that each ask for the large note.
fn large_reads(count: usize) -> String {
    (0..count)
        .map(|id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/read","params":{{"uri":"note://shelf/large"}}}}"#
            ) + "\n"
        })
        .collect()
}

/// Counts what is read of an input.
struct CountingReader<'a>(&'a [u8], &'a AtomicUsize);

impl AsyncRead for CountingReader<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line_bytes = memchr::memchr(b'\n', self.0).map_or(self.0.len(), |at| at + 1);
        let (line, rest) = self.0.split_at(line_bytes.min(buffer.remaining()));
        buffer.put_slice(line);
        self.0 = rest;
        self.1.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

/// Virtual time stands still while there is something to do: when it moves on, all that could be
/// read was read. Then the shutdown ends what would wait for ever.
#[tokio::test(start_paused = true)]
async fn an_output_that_is_not_taken_stops_the_reading_and_the_shutdown_ends_it() {
    let front = Front::new(Bounds { unsent_reply_bytes_max: 4 << 20, ..Bounds::default() });
    let input = large_reads(700);
    let lines_read = AtomicUsize::new(0);
    let (_client, output) = tokio::io::duplex(1024);
    let shutdown = front.http.shutdown.clone();
    let (ended, begun) = tokio::join!(
        stdio::serve(&front, CountingReader(input.as_bytes(), &lines_read), output),
        async {
            // The clock is paused: it moves here at once when nothing else can.
            let _ =
                tokio::time::timeout(Duration::from_secs(60), std::future::pending::<()>()).await;
            shutdown.begin();
            Instant::now()
        }
    );
    ended.unwrap();
    assert!(lines_read.load(Ordering::Relaxed) <= 16, "{lines_read:?} lines");
    assert_eq!(begun.elapsed(), stdio::DRAIN_TIMEOUT);
}

#[tokio::test]
async fn replies_that_are_taken_come_within_any_budget() {
    let front = Front::new(Bounds { unsent_reply_bytes_max: 1, ..Bounds::default() });
    assert_eq!(stdio::exchange(&front, large_reads(20).as_bytes()).await.len(), 20);
}
