//! Completion beyond transcripts: several variables, many values, what is hidden, and how often one may ask.

use std::{num::NonZeroU32, path::Path, sync::Arc, time::Duration};

use pressmark::{
    mcp::{
        Mcp, Step,
        protocol::{Channel, Revision},
    },
    metrics::{Format, Metrics},
};
use pressmark_index::{
    access::Access,
    engine::Engine,
    mutation::Mutation,
    resource::{Address, Binding, Resource, Value as Bound},
    space::SpaceSettings,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::common::{Rates, collection, mcp, mcp_counting, schema};

const TEMPLATE: &str = "docs://{team}/{year}/{name}";

/// The notes, and a space of papers with three variables.
fn papers(dir: &Path, papers: &[(&str, &str, &str)]) -> Arc<Engine> {
    let engine = collection(dir);
    engine.put_space(SpaceSettings::new("papers", TEMPLATE)).unwrap();
    let puts = papers.iter().map(|(team, year, name)| {
        let bindings = [("team", team), ("year", year), ("name", name)].map(|(name, value)| {
            Binding { name: name.to_owned(), value: Bound::String((*value).to_owned()) }
        });
        let address = Address::Variables(bindings.into());
        Mutation::Put(Box::new(Resource::text("papers", address, "text/plain", "text")))
    });
    for put in engine.commit(puts.collect()).unwrap() {
        put.unwrap();
    }
    engine
}

fn params(argument: &str, typed: &str, chosen: &Value) -> Value {
    json!({
        "ref": { "type": "ref/resource", "uri": TEMPLATE },
        "argument": { "name": argument, "value": typed },
        "context": { "arguments": chosen },
    })
}

fn ask_in(mcp: &Mcp, revision: Revision, params: &Value) -> Value {
    let request =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "completion/complete", "params": params });
    let channel = Channel::Stdio { negotiated: Some(revision), subscription: None };
    let answer = match mcp.receive(request.to_string().as_bytes(), channel) {
        Step::Work(work) => mcp.perform(work, Instant::now() + Duration::from_secs(30)),
        Step::Answer(answer) => answer,
        Step::Listen(_) | Step::Call(_) => panic!("completion opens no stream"),
    };
    let reply = serde_json::from_slice(&answer.body.unwrap()).unwrap();
    schema::check(revision.name(), "completion/complete", &reply);
    reply
}

fn ask(mcp: &Mcp, params: &Value) -> Value {
    ask_in(mcp, Revision::LATEST_LEGACY, params)
}

#[test]
fn chosen_values_narrow_what_is_offered() {
    let dir = tempfile::tempdir().unwrap();
    let engine = papers(
        dir.path(),
        &[
            ("core", "2024", "plan"),
            ("core", "2025", "review"),
            ("sales", "2025", "plan"),
            ("sales", "2025", "quotas"),
        ],
    );
    let mcp = mcp(engine);
    for (argument, typed, chosen, values) in [
        ("team", "", json!({}), json!(["sales", "core"])),
        ("year", "", json!({ "team": "core" }), json!(["2024", "2025"])),
        ("year", "2", json!({ "unknown": "x", "team": "sales" }), json!(["2025"])),
        ("name", "", json!({ "year": "2025", "team": "sales" }), json!(["plan", "quotas"])),
        ("name", "", json!({ "year": "2025", "team": "nobody" }), json!([])),
        ("name", "p", json!({ "year": "2024" }), json!(["plan"])),
        // A form whose fields are not filled in yet.
        ("name", "p", json!({ "year": "2024", "team": "", "name": "" }), json!(["plan"])),
        ("name", "p", json!({ "year": "2024", "team": null }), json!(["plan"])),
    ] {
        let mut wanted: Vec<_> = values.as_array().unwrap().clone();
        let reply = ask(&mcp, &params(argument, typed, &chosen));
        let completion = &reply["result"]["completion"];
        let mut found = completion["values"].as_array().unwrap().clone();
        found.sort_by_key(Value::to_string);
        wanted.sort_by_key(Value::to_string);
        assert_eq!(found, wanted, "{argument} {chosen}: {reply}");
        assert_eq!(completion["total"], wanted.len());
    }
    // Before 2025-06-18 there is no context: it is a member like any other that is not known.
    let reply =
        ask_in(&mcp, Revision::V2025_03_26, &params("year", "", &json!({ "team": "core" })));
    assert_eq!(reply["result"]["completion"]["total"], 2);
}

/// Field case 24, on the wire.
#[test]
fn a_hundred_values_at_most_and_the_true_total() {
    for count in [99, 100, 101] {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<_> = (0..count).map(|number| format!("paper-{number:03}")).collect();
        let all: Vec<_> = names.iter().map(|name| ("core", "2024", name.as_str())).collect();
        let mcp = mcp(papers(dir.path(), &all));
        let reply = ask(&mcp, &params("name", "paper", &json!({})));
        let completion = &reply["result"]["completion"];
        assert_eq!(completion["values"].as_array().unwrap().len(), count.min(100));
        assert_eq!(completion["total"], count);
        assert_eq!(completion["hasMore"], count > 100);
    }
}

/// Field case 25: the text names what there is.
#[test]
fn an_unknown_argument_is_answered_with_the_variables() {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp(papers(dir.path(), &[]));
    let reply = ask(&mcp, &params("title", "", &json!({})));
    assert_eq!(reply["error"]["code"], -32602);
    let wanted = format!(
        "unknown argument `title`: the template `{TEMPLATE}` has the variables team, year, name"
    );
    assert_eq!(reply["error"]["message"], wanted);
}

#[test]
fn a_hidden_space_is_answered_like_none() {
    let dir = tempfile::tempdir().unwrap();
    let engine = papers(dir.path(), &[("core", "2024", "plan")]);
    let config = crate::common::config(Rates::default());
    let access = Access::operator().with_spaces(["notes"]);
    let mcp = Mcp::new(engine, config, access, Arc::new(Metrics::new()));
    let asked = |uri: &str| {
        let mut params = params("team", "", &json!({}));
        params["ref"]["uri"] = json!(uri);
        ask(&mcp, &params).to_string().replace(uri, "URI")
    };
    let absent = asked("docs://{team}/{month}/{name}");
    assert!(absent.contains("-32602"), "{absent}");
    assert_eq!(asked(TEMPLATE), absent);
    assert_eq!(asked("docs://core/2024/plan"), absent);
}

#[test]
fn typed_text_that_is_too_long_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp(papers(dir.path(), &[]));
    let reply = ask(&mcp, &params("name", &"x".repeat(9_000), &json!({})));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert!(!reply.to_string().contains("unknown"), "{reply}");
}

#[test]
fn a_caller_that_asks_too_often_is_told_to_wait() {
    let dir = tempfile::tempdir().unwrap();
    let metrics = Arc::new(Metrics::new());
    let rates = Rates { completions: NonZeroU32::MIN, ..Rates::default() };
    let mcp = mcp_counting(papers(dir.path(), &[]), rates, Arc::clone(&metrics));
    ask(&mcp, &params("name", "", &json!({})));
    let reply = ask(&mcp, &params("name", "p", &json!({})));
    let wanted = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": -32603,
            "message": "too many completion requests: wait 1 s, then ask again",
        },
    });
    assert_eq!(reply, wanted);
    let line = r#"mcp_requests_over_rate_total{method="completion/complete"} 1"#;
    let text = metrics.exposition(Format::Text);
    assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
}
