//! As much of each line as a follower has to understand.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    json_rpc,
    mcp::{RequestKey, protocol::SubscriptionFilter},
    subscriptions::Lists,
};

/// A message from whoever answers.
#[derive(Debug)]
pub(super) enum Heard {
    /// An answer, and whether it is an error.
    Answer { key: RequestKey, failed: bool, revision: Option<String> },
    /// The answers to a batch.
    Batch(Vec<RequestKey>),
    /// The first message of a listen, with what is honoured.
    Acknowledged { key: RequestKey, honoured: SubscriptionFilter },
    /// Another notification, or an answer to nobody.
    Other,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Acknowledgement {
    #[serde(rename = "_meta")]
    meta: AcknowledgementMeta,
    notifications: Notifications,
}

#[derive(Deserialize)]
struct AcknowledgementMeta {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    subscription_id: Box<RawValue>,
}

#[derive(Deserialize)]
struct Notifications {
    #[serde(default, rename = "promptsListChanged")]
    prompts_list_changed: bool,
    #[serde(default, rename = "resourcesListChanged")]
    resources_list_changed: bool,
    #[serde(default, rename = "resourceSubscriptions")]
    resource_subscriptions: Vec<String>,
}

/// Reads a line of the server; `None` for one that was cut off.
pub(super) fn heard(line: &[u8]) -> Option<Heard> {
    let text = std::str::from_utf8(line).ok()?;
    if text.starts_with('[') {
        let answers: Vec<Message<'_>> = serde_json::from_str(text).ok()?;
        let keys = answers.iter().filter_map(|answer| RequestKey::of(answer.id?.get()));
        return Some(Heard::Batch(keys.collect()));
    }
    let message: Message<'_> = serde_json::from_str(text).ok()?;
    Some(of_message(&message).unwrap_or(Heard::Other))
}

fn of_message(message: &Message<'_>) -> Option<Heard> {
    if let Some(method) = &message.method {
        if method != "notifications/subscriptions/acknowledged" {
            return None;
        }
        let said: Acknowledgement = serde_json::from_str(message.params?.get()).ok()?;
        let said_of = said.notifications;
        let lists = Lists {
            resources: said_of.resources_list_changed,
            prompts: said_of.prompts_list_changed,
        };
        let resource_subscriptions = said_of.resource_subscriptions;
        return Some(Heard::Acknowledged {
            key: RequestKey::of(said.meta.subscription_id.get())?,
            honoured: SubscriptionFilter { lists, resource_subscriptions },
        });
    }
    let key = RequestKey::of(message.id?.get())?;
    let failed = message.error.is_some();
    let revision = message.result.and_then(|result| revision(result.get()));
    Some(Heard::Answer { key, failed, revision })
}

/// `protocolVersion` of a result, which only the answer to an `initialize` has. Contents come in large results, which
/// are not looked through for it.
fn revision(result: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Agreed {
        #[serde(rename = "protocolVersion")]
        protocol_version: String,
    }
    if !result.starts_with("{\"protocolVersion\"") {
        return None;
    }
    serde_json::from_str(result).ok().map(|agreed: Agreed| agreed.protocol_version)
}

/// The URI of a `resources/subscribe` or `resources/unsubscribe`.
pub(super) fn uri(params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        uri: String,
    }
    serde_json::from_str(params?.get()).ok().map(|named: Named| named.uri)
}

/// The id that a `notifications/cancelled` names.
pub(super) fn cancelled(params: Option<&RawValue>) -> Option<RequestKey> {
    #[derive(Deserialize)]
    struct Cancelled<'a> {
        #[serde(borrow, rename = "requestId")]
        request_id: &'a RawValue,
    }
    let cancelled: Cancelled<'_> = serde_json::from_str(params?.get()).ok()?;
    RequestKey::of(cancelled.request_id.get())
}

/// A `resources/subscribe` of ours, with an id that no client takes.
pub(super) fn subscribe(number: usize, uri: &str) -> (String, Vec<u8>) {
    let id = format!("\"pressmark-replay-{number}\"");
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    line.extend_from_slice(id.as_bytes());
    line.extend_from_slice(b",\"method\":\"resources/subscribe\",\"params\":{\"uri\":");
    json_rpc::write::string(uri, &mut line);
    line.extend_from_slice(b"}}");
    (id, line)
}

/// What a client says after its `initialize` was answered.
pub(super) const INITIALIZED: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
