//! The stdio front: lines in, lines out, and what ends it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use crate::common::{Bounds, Front, META, stdio};
use tokio::io::AsyncWrite;

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
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
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
