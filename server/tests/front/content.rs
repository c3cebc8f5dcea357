//! What models read: the instructions, and the two forms of a fetched text.

use serde_json::{Value, json};

use crate::common::{Bounds, Front, LEGACY, META, http::HttpFront, note, stdio};
use pressmark_index::{
    mutation::Mutation,
    resource::{Body, Resource},
};

/// The result of one modern request over stdio.
async fn result(method: &str, mut params: Value) -> Value {
    let front = Front::new(Bounds::default());
    params["_meta"] = serde_json::from_str(META).unwrap();
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let lines = stdio::exchange(&front, request.to_string().as_bytes()).await;
    let mut reply: Value = serde_json::from_str(&lines[0]).unwrap();
    reply["result"].take()
}

#[tokio::test]
async fn instructions_name_the_spaces_and_how_to_read_them() {
    let discovered = result("server/discover", json!({})).await;
    let instructions = discovered["instructions"].as_str().unwrap();
    for part in [
        "notes",
        "`note://shelf/{name}`",
        "Short notes of the test",
        "`search`",
        "`fetch`",
        "#line=",
    ] {
        assert!(instructions.contains(part), "{part} is not in {instructions}");
    }
}

/// One resource that not everybody may see makes the number of its space a secret.
#[tokio::test]
async fn instructions_count_only_what_everybody_may_see() {
    let front = Front::new(Bounds::default());
    let discover = async || {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {
            "_meta": serde_json::from_str::<Value>(META).unwrap() } });
        let lines = stdio::exchange(&front, request.to_string().as_bytes()).await;
        let reply: Value = serde_json::from_str(&lines[0]).unwrap();
        reply["result"]["instructions"].as_str().unwrap().to_owned()
    };
    assert!(discover().await.contains("; 4 resources"));
    let hidden = Resource {
        acl: Some(vec!["group:staff".to_owned()]),
        ..note("hidden", Body::Text("x".to_owned()))
    };
    front
        .pool
        .mcp()
        .engine()
        .commit(vec![Mutation::Put(Box::new(hidden))])
        .unwrap()
        .remove(0)
        .unwrap();
    let instructions = discover().await;
    assert!(
        instructions.contains("notes") && !instructions.contains("resources\n"),
        "{instructions}"
    );
}

/// The largest input comes back in no text.
#[tokio::test]
async fn errors_repeat_only_the_beginning_of_long_input() {
    let long = "x".repeat(50_000);
    let server = HttpFront::start(Bounds::default()).await;
    for (method, params) in [
        ("tools/call", json!({ "name": long })),
        ("tools/call", json!({ "name": "fetch", "arguments": { (long.clone()): 1 } })),
        ("tools/call", json!({ "name": "fetch", "arguments": { "id": long } })),
        (
            "tools/call",
            json!({ "name": "fetch", "arguments": { "id": format!("note://shelf/{long}") } }),
        ),
        ("resources/read", json!({ "uri": format!("note://shelf/{long}") })),
        ("resources/read", json!({ "uri": long })),
        ("resources/list", json!({ "cursor": long })),
        ("resources/templates/list", json!({ "cursor": long })),
        (long.as_str(), json!({})),
        ("ping", json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": long } })),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = request.to_string();
        let headers = [("mcp-protocol-version", "")];
        let reply = server.post(LEGACY, &headers, request.as_bytes()).await.body;
        assert!(reply.len() < 10_000, "{} bytes", reply.len());
    }
    let version = "9".repeat(20_000);
    let reply = server
        .post(
            LEGACY,
            &[("mcp-protocol-version", &version)],
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        )
        .await;
    assert_eq!(reply.json()["error"]["code"], -32022);
    assert!(reply.body.len() < 10_000, "{} bytes", reply.body.len());
}

#[tokio::test]
async fn a_fetched_text_is_one_item_that_names_its_uri_once() {
    let call = json!({ "name": "fetch", "arguments": { "id": "note://shelf/plain" } });
    let fetched = result("tools/call", call).await;
    let text = fetched["content"][0]["text"].as_str().unwrap();
    assert_eq!(fetched["content"].as_array().unwrap().len(), 1);
    assert_eq!(text.matches("note://shelf/plain").count(), 1, "{text}");
    let from_text: Value = serde_json::from_str(text).unwrap();
    for member in ["id", "title", "text", "metadata"] {
        assert_eq!(from_text[member], fetched["structuredContent"][member], "{member}");
    }
    assert_eq!(from_text["text"], "Hello, \"world\"\nsecond line");
}

fn tool<'a>(tools: &'a Value, name: &str) -> &'a Value {
    tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap()
}

#[tokio::test]
async fn structured_content_is_what_the_output_schema_says() {
    let tools = result("tools/list", json!({})).await;
    let tool = tool(&tools, "fetch");
    let schema = jsonschema::draft202012::new(&tool["outputSchema"]).unwrap();
    let call = json!({ "name": "fetch", "arguments": { "id": "note://shelf/plain", "limit": 5 } });
    let fetched = result("tools/call", call).await;
    assert!(schema.is_valid(&fetched["structuredContent"]), "{fetched}");
    assert_eq!(fetched["structuredContent"]["nextOffset"], 5);
    let text = fetched["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("call `fetch` again with the same `id` and `offset` 5"), "{text}");
    assert!(!schema.is_valid(&json!({ "id": "note://shelf/plain", "more": 1 })));
}

#[tokio::test]
async fn arguments_are_taken_where_the_input_schema_takes_them() {
    let tools = result("tools/list", json!({})).await;
    let schema = jsonschema::draft202012::new(&tool(&tools, "fetch")["inputSchema"]).unwrap();
    for arguments in [
        json!({ "id": "note://shelf/plain" }),
        json!({ "id": "note://shelf/plain", "limit": 1, "offset": 0 }),
        json!({ "id": "note://shelf/plain", "limit": 2.0 }),
        json!({ "id": "note://shelf/plain", "limit": 2.5 }),
        json!({ "id": "note://shelf/plain", "limit": 0 }),
        json!({ "id": "note://shelf/plain", "limit": 200_001 }),
        json!({ "id": "note://shelf/plain", "offset": -1 }),
        json!({ "id": "note://shelf/plain", "length": 1 }),
        json!({ "id": 1 }),
        json!({}),
    ] {
        let call = json!({ "name": "fetch", "arguments": arguments });
        let fetched = result("tools/call", call).await;
        assert_eq!(fetched["isError"], json!(!schema.is_valid(&arguments)), "{arguments}");
    }
    // What models and adapters write besides.
    for limit in [json!("2"), json!(null), json!("")] {
        let arguments = json!({ "id": "note://shelf/plain", "limit": limit });
        let call = json!({ "name": "fetch", "arguments": arguments });
        assert_eq!(result("tools/call", call).await["isError"], false, "{arguments}");
    }
}
