//! What clients are sent without a reply: subscribers (2026-07-28, subscriptions and cancellation; resources of the revisions
//! before), and those whose request runs (progress, logging).

use super::LogLevel;
use super::result::{MODERN_END, MODERN_SERVER_INFO};
use crate::{
    json_rpc::write,
    subscriptions::{List, Lists},
};

/// Names the stream that a message belongs to, in the `_meta` of everything that is sent on it.
const SUBSCRIPTION_ID: &[u8] = b"\"io.modelcontextprotocol/subscriptionId\":";

/// The notification types that a `subscriptions/listen` asks for, or that are honoured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// `resourcesListChanged` and `promptsListChanged`.
    pub lists: Lists,
    /// `resourceSubscriptions`, as they were spelled.
    pub resource_subscriptions: Vec<String>,
}

/// The first message of a stream: what is honoured.
pub fn acknowledged(listen_id: &str, honoured: &SubscriptionFilter, out: &mut Vec<u8>) {
    open("notifications/subscriptions/acknowledged", out);
    out.extend_from_slice(b",\"params\":{");
    meta(listen_id, out);
    out.extend_from_slice(b",\"notifications\":{");
    let before = out.len();
    let lists = [
        (honoured.lists.prompts, &b"\"promptsListChanged\":true"[..]),
        (honoured.lists.resources, b"\"resourcesListChanged\":true"),
    ];
    for (_, member) in lists.into_iter().filter(|(is_honoured, _)| *is_honoured) {
        if out.len() > before {
            out.push(b',');
        }
        out.extend_from_slice(member);
    }
    if !honoured.resource_subscriptions.is_empty() {
        if out.len() > before {
            out.push(b',');
        }
        out.extend_from_slice(b"\"resourceSubscriptions\":[");
        for (at, uri) in honoured.resource_subscriptions.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write::string(uri, out);
        }
        out.push(b']');
    }
    out.extend_from_slice(b"}}}");
}

/// A resource changed; `listen_id` where the stream is one of the modern era.
pub fn resource_updated(listen_id: Option<&str>, uri: &str, out: &mut Vec<u8>) {
    open("notifications/resources/updated", out);
    out.extend_from_slice(b",\"params\":{");
    if let Some(id) = listen_id {
        meta(id, out);
        out.push(b',');
    }
    out.extend_from_slice(b"\"uri\":");
    write::string(uri, out);
    out.extend_from_slice(b"}}");
}

/// What is listed changed.
pub fn list_changed(list: List, listen_id: Option<&str>, out: &mut Vec<u8>) {
    let method = match list {
        List::Resources => "notifications/resources/list_changed",
        List::Prompts => "notifications/prompts/list_changed",
    };
    open(method, out);
    if let Some(id) = listen_id {
        out.extend_from_slice(b",\"params\":{");
        meta(id, out);
        out.push(b'}');
    }
    out.push(b'}');
}

/// The server ends the stream: on stdio this stands before its result.
pub fn cancelled(listen_id: &str, reason: &str, out: &mut Vec<u8>) {
    open("notifications/cancelled", out);
    out.extend_from_slice(b",\"params\":{");
    meta(listen_id, out);
    out.extend_from_slice(b",\"requestId\":");
    out.extend_from_slice(listen_id.as_bytes());
    out.extend_from_slice(b",\"reason\":");
    write::string(reason, out);
    out.extend_from_slice(b"}}");
}

/// How far a request is; `token` is JSON, and the numbers are finite.
pub fn progress(token: &str, progress: f64, total: Option<f64>, message: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    open("notifications/progress", &mut out);
    out.extend_from_slice(b",\"params\":{\"progressToken\":");
    out.extend_from_slice(token.as_bytes());
    out.extend_from_slice(b",\"progress\":");
    write::number(progress, &mut out);
    if let Some(total) = total {
        out.extend_from_slice(b",\"total\":");
        write::number(total, &mut out);
    }
    if let Some(message) = message {
        out.extend_from_slice(b",\"message\":");
        write::string(message, &mut out);
    }
    out.extend_from_slice(b"}}");
    out
}

/// A log message; `data` is JSON.
pub fn message(level: LogLevel, logger: Option<&str>, data: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + data.len());
    open("notifications/message", &mut out);
    out.extend_from_slice(b",\"params\":{\"level\":");
    write::string(level.name(), &mut out);
    if let Some(logger) = logger {
        out.extend_from_slice(b",\"logger\":");
        write::string(logger, &mut out);
    }
    out.extend_from_slice(b",\"data\":");
    out.extend_from_slice(data.as_bytes());
    out.extend_from_slice(b"}}");
    out
}

/// The result of a `subscriptions/listen`: the stream ended in order.
pub fn listen_result(listen_id: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(listen_id.as_bytes());
    out.extend_from_slice(b",\"result\":{\"resultType\":\"complete\",\"_meta\":{");
    out.extend_from_slice(SUBSCRIPTION_ID);
    out.extend_from_slice(listen_id.as_bytes());
    out.push(b',');
    out.extend_from_slice(MODERN_SERVER_INFO);
    out.extend_from_slice(MODERN_END);
}

fn open(method: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
}

fn meta(listen_id: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"_meta\":{");
    out.extend_from_slice(SUBSCRIPTION_ID);
    out.extend_from_slice(listen_id.as_bytes());
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut out);
        let message: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        assert_eq!(message, expected);
    }

    #[test]
    fn messages_of_both_eras() {
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://\"b"}}"#,
            |out| resource_updated(None, "a://\"b", out),
        );
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"x"},"uri":"a://b"}}"#,
            |out| resource_updated(Some("\"x\""), "a://b", out),
        );
        for (list, name) in [(List::Resources, "resources"), (List::Prompts, "prompts")] {
            let method = format!("\"method\":\"notifications/{name}/list_changed\"");
            check(&format!(r#"{{"jsonrpc":"2.0",{method}}}"#), |out| {
                list_changed(list, None, out);
            });
            check(
                &format!(
                    r#"{{"jsonrpc":"2.0",{method},"params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":3}}}}}}"#
                ),
                |out| list_changed(list, Some("3"), out),
            );
        }
    }

    #[test]
    fn what_a_request_that_runs_sends() {
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":50,"total":100.5,"message":"\"half\""}}"#,
            |out| out.extend(progress("7", 50.0, Some(100.5), Some("\"half\""))),
        );
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1e300}}"#,
            |out| out.extend(progress("\"t\"", 1e300, None, None)),
        );
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"x","data":[1]}}"#,
            |out| out.extend(message(LogLevel::Info, Some("x"), "[1]")),
        );
    }

    #[test]
    fn an_acknowledgement_says_only_what_is_honoured() {
        let lists = |resources, prompts| Lists { resources, prompts };
        for (lists, uris, expected) in [
            (lists(false, false), vec![], "{}"),
            (lists(true, false), vec![], r#"{"resourcesListChanged":true}"#),
            (lists(false, true), vec![], r#"{"promptsListChanged":true}"#),
            (lists(false, false), vec!["a://b"], r#"{"resourceSubscriptions":["a://b"]}"#),
            (
                lists(true, true),
                vec!["a", "b"],
                r#"{"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a","b"]}"#,
            ),
        ] {
            let honoured = SubscriptionFilter {
                lists,
                resource_subscriptions: uris.into_iter().map(str::to_owned).collect(),
            };
            let expected = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":7}},"notifications":{expected}}}}}"#
            );
            check(&expected, |out| acknowledged("7", &honoured, out));
        }
    }
}
