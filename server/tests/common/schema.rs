//! Replies against the schemas of their revisions, which are closed: see tools/reduce-mcp-schema.py.

use serde_json::{Value, json};

/// Fails when a reply to `method` is not what `revision` says, or has a field that it does not know.
pub(crate) fn check(revision: &str, method: &str, reply: &Value) {
    let Some(result) = reply.get("result") else {
        // Before 2025-11-25 the schemas want an id in each error. JSON-RPC asks for null where none
        // can be read, which they do not allow either: ours has none in any revision.
        let has_id = reply.get("id").is_some();
        let (revision, name) = match revision {
            "2024-11-05" | "2025-03-26" | "2025-06-18" if has_id => (revision, "JSONRPCError"),
            "2024-11-05" | "2025-03-26" | "2025-06-18" => ("2025-11-25", "JSONRPCErrorResponse"),
            _ => (revision, "JSONRPCErrorResponse"),
        };
        return validate(revision, name, reply);
    };
    validate(revision, "JSONRPCResponse", reply);
    let name = match method {
        "initialize" => "InitializeResult",
        "ping" => "EmptyResult",
        "server/discover" => "DiscoverResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => "EmptyResult",
        "resources/read" => "ReadResourceResult",
        "completion/complete" => "CompleteResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        other => panic!("no result is known of {other}"),
    };
    validate(revision, name, result);
}

/// Fails when a message that a subscriber got is not what `revision` says.
pub(crate) fn check_notification(revision: &str, message: &Value) {
    let name = match message["method"].as_str() {
        Some("notifications/resources/updated") => "ResourceUpdatedNotification",
        Some("notifications/resources/list_changed") => "ResourceListChangedNotification",
        Some("notifications/prompts/list_changed") => "PromptListChangedNotification",
        Some("notifications/subscriptions/acknowledged") => "SubscriptionsAcknowledgedNotification",
        Some("notifications/cancelled") => "CancelledNotification",
        Some("notifications/progress") => "ProgressNotification",
        Some("notifications/message") => "LoggingMessageNotification",
        // A stream of a call ends with its result or an error, one of a listen with its own.
        None if message.get("error").is_some() || message["result"].get("content").is_some() => {
            return check(revision, "tools/call", message);
        }
        None => "SubscriptionsListenResultResponse",
        Some(other) => panic!("no notification is known as {other}"),
    };
    let mut message = message.clone();
    if revision < "2025-11-25" {
        // There the schemas know it of JSON-RPC's own definitions only.
        assert_eq!(message.as_object_mut().unwrap().remove("jsonrpc"), Some(json!("2.0")));
    }
    validate(revision, name, &message);
}

fn validate(revision: &str, name: &str, value: &Value) {
    let path = format!("{}/tests/schema/{revision}.json", env!("CARGO_MANIFEST_DIR"));
    let mut schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let definitions = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    schema["$ref"] = json!(format!("#/{definitions}/{name}"));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{revision} {name}: {faults:#?} in {value:#}");
}
