//! Whatever bytes come, there is one defined answer and no panic.

use std::{sync::LazyLock, time::Duration};

use crate::common::{META, collection, mcp};
use hyper::HeaderMap;
use pressmark::call_rates::Caller;
use pressmark::mcp::{
    Mcp, Step,
    protocol::{Channel, Revision, Session},
};
use proptest::prelude::*;
use serde_json::Value;
use tokio::time::Instant;

static SERVER: LazyLock<(Mcp, tempfile::TempDir)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    (mcp(collection(dir.path())), dir)
});

fn answer(body: &[u8], channel: Channel<'_>) -> Option<Vec<u8>> {
    let (server, _) = &*SERVER;
    match server.receive(body, channel) {
        Step::Answer(answer) => answer.body,
        Step::Work(work) => server.perform(work, Instant::now() + Duration::from_secs(30)).body,
        // What a stream says, or a call tells, is for their transport.
        Step::Listen(_) | Step::Call(_) => None,
    }
}

/// The answer is nothing, a message, or an array of messages; each has a result or an error.
fn check(body: &[u8]) -> Result<(), TestCaseError> {
    let headers = HeaderMap::new();
    let http = |session| Channel::Http {
        headers: &headers,
        session,
        subscription: None,
        caller: Caller::Process,
    };
    for channel in [
        Channel::Stdio { negotiated: None, subscription: None },
        Channel::Stdio { negotiated: Some(Revision::V2025_11_25), subscription: None },
        http(Session::Absent),
        http(Session::Unknown),
    ] {
        let Some(reply) = answer(body, channel) else {
            continue;
        };
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        let messages = match &reply {
            Value::Array(messages) => messages.as_slice(),
            message => std::slice::from_ref(message),
        };
        prop_assert!(!messages.is_empty());
        for message in messages {
            prop_assert_eq!(&message["jsonrpc"], "2.0");
            prop_assert!(message.get("result").is_some() != message.get("error").is_some());
        }
    }
    Ok(())
}

/// Text that is nearly a message: the words of the protocol in any order.
fn nearly_a_message() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\u",
        "d800",
        "1",
        "-",
        ".5",
        "null",
        " ",
        "\"jsonrpc\":\"2.0\"",
        "\"id\":1",
        "\"method\":\"ping\"",
        "\"params\":{}",
        "\"method\":\"resources/read\"",
        "\"uri\":\"note://shelf/plain\"",
        "\"_meta\":",
        META,
    ]);
    prop::collection::vec(words, 0..24).prop_map(|words| words.concat())
}

/// A message with parts of any kind.
fn message() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec!["1", "\"a\"", "1.5", "null", "{}", "99999999999999999999"]);
    let method = prop::sample::select(vec![
        "ping",
        "initialize",
        "server/discover",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "tools/list",
        "tools/call",
        "notifications/cancelled",
        "",
    ]);
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("7".to_owned()),
        Just("[]".to_owned()),
        Just(META.to_owned()),
        "\"[ -~&&[^\"\\\\]]{0,12}\"",
        Just("{\"id\":\"note://shelf/plain\",\"limit\":1}".to_owned()),
        Just("\"fetch\"".to_owned()),
        Just("\"note://shelf/plain\"".to_owned()),
    ];
    let name = prop::sample::select(vec![
        "_meta",
        "uri",
        "cursor",
        "name",
        "arguments",
        "protocolVersion",
        "other",
    ]);
    let params = prop::collection::vec((name, value), 0..5);
    (id, method, params).prop_map(|(id, method, params)| {
        let params: Vec<_> =
            params.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let params = params.join(",");
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{params}}}}}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes(body in prop::collection::vec(any::<u8>(), 0..64)) {
        check(&body)?;
    }

    #[test]
    fn nearly_messages(body in nearly_a_message()) {
        check(body.as_bytes())?;
    }

    #[test]
    fn messages(body in message(), other in message()) {
        check(body.as_bytes())?;
        check(format!("[{body},{other}]").as_bytes())?;
    }
}
