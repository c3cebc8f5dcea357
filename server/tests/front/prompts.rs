//! Prompts beyond transcripts: pages, access, hostile arguments, and who is told of changes.

use std::{sync::Arc, time::Duration};

use pressmark::{
    mcp::{
        Mcp, Step,
        protocol::{Channel, Revision},
    },
    metrics::Metrics,
};
use pressmark_index::{
    access::Access,
    mutation::Mutation,
    prompt::{
        Media, Prompt, PromptArgument, PromptCompletion, PromptContent, PromptMessage,
        PromptSettings,
    },
    resource::{Body, Role},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::common::{
    Bounds, Front, LEGACY, MODERN, Rates, collection, config,
    events::{Stream, listen_message, listen_request},
    http::HttpFront,
    lines::LineClient,
    note, schema,
};

fn prompt(
    name: &str,
    arguments: Vec<PromptArgument>,
    messages: Vec<(Role, PromptContent)>,
) -> PromptSettings {
    let mut settings = PromptSettings::new(name);
    settings.arguments = arguments;
    settings.messages =
        messages.into_iter().map(|(role, content)| PromptMessage { role, content }).collect();
    settings
}

fn argument(name: &str, completion: PromptCompletion) -> PromptArgument {
    PromptArgument { completion, ..PromptArgument::required(name) }
}

fn variable(space: &str, variable: &str) -> PromptCompletion {
    PromptCompletion::Variable { space: space.into(), variable: variable.into() }
}

fn said(text: &str) -> PromptContent {
    PromptContent::Text(text.into())
}

/// The prompts of the transcripts, beside the notes of the collection.
pub(super) fn declared() -> Vec<Arc<Prompt>> {
    let names = ["Bob", "Ann", "Änne"].map(str::to_owned);
    let mut who = argument("who", PromptCompletion::Values(names.into()));
    who.title = Some("Who".into());
    who.description = Some("Whom to greet".into());
    let tone = PromptArgument { required: false, ..PromptArgument::required("tone") };
    let greeting =
        [(Role::User, said("Say hello to {who}, {tone}.")), (Role::Assistant, said("{{{who}}}"))];
    let mut greet = prompt("greet", vec![who, tone], greeting.into());
    greet.title = Some("Greeting".into());
    greet.description = Some("Says hello".into());
    let media =
        |mime_type: &str, data: &[u8]| Media { mime_type: mime_type.into(), data: data.into() };
    let look = [
        (Role::User, PromptContent::Image(media("image/png", &[0, 255, 1]))),
        (Role::User, PromptContent::Audio(media("audio/wav", &[0, 255]))),
    ];
    let uri = "note://shelf/{note}".to_owned();
    let resources = [
        (Role::User, PromptContent::ResourceLink(uri.clone())),
        (Role::Assistant, PromptContent::EmbeddedResource(uri)),
    ];
    let embedded = |uri: &str| (Role::User, PromptContent::EmbeddedResource(uri.into()));
    let large = "note://shelf/large";
    [
        greet,
        prompt("look", Vec::new(), look.into()),
        prompt("note", vec![argument("note", variable("notes", "name"))], resources.into()),
        prompt("any", vec![PromptArgument::required("uri")], vec![embedded("{+uri}")]),
        prompt("twice", Vec::new(), vec![embedded(large), embedded(large)]),
        prompt(
            "two",
            vec![
                argument("first", variable("nowhere", "name")),
                argument("second", variable("notes", "nothing")),
            ],
            vec![(Role::User, said("{first}{second}"))],
        ),
    ]
    .map(|settings| Arc::new(Prompt::new(settings).unwrap()))
    .into()
}

fn text(name: &str) -> Arc<Prompt> {
    let messages = vec![(Role::User, said(name))];
    Arc::new(Prompt::new(prompt(name, Vec::new(), messages)).unwrap())
}

fn ask(mcp: &Mcp, method: &str, params: &Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let revision = Revision::LATEST_LEGACY;
    let channel = Channel::Stdio { negotiated: Some(revision), subscription: None };
    let answer = match mcp.receive(request.to_string().as_bytes(), channel) {
        Step::Work(work) => mcp.perform(work, Instant::now() + Duration::from_secs(30)),
        Step::Answer(answer) => answer,
        Step::Listen(_) | Step::Call(_) => panic!("{method} opens no stream"),
    };
    let reply = serde_json::from_slice(&answer.body.unwrap()).unwrap();
    schema::check(revision.name(), method, &reply);
    reply
}

fn get(mcp: &Mcp, name: &str, arguments: &Value) -> Value {
    ask(mcp, "prompts/get", &json!({ "name": name, "arguments": arguments }))
}

/// A front whose callers have this access.
fn mcp(dir: &std::path::Path, access: Access) -> Mcp {
    let mcp = Mcp::new(collection(dir), config(Rates::default()), access, Arc::new(Metrics::new()));
    mcp.prompts().declare(declared());
    mcp
}

#[test]
fn pages_have_each_prompt_once_wherever_it_comes_from() {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp(dir.path(), Access::anonymous());
    // Hidden by the declared one of its name.
    mcp.engine().put_prompt(text("greet")).unwrap();
    mcp.prompts().put(Prompt::new(text("b").settings().clone()).unwrap()).unwrap();
    mcp.prompts().put(Prompt::new(text("z").settings().clone()).unwrap()).unwrap();
    let (mut names, mut params, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let reply = ask(&mcp, "prompts/list", &params);
        let page = reply["result"]["prompts"].as_array().unwrap();
        names.extend(page.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()));
        pages += 1;
        match &reply["result"]["nextCursor"] {
            Value::Null => break,
            cursor => params = json!({ "cursor": cursor }),
        }
        if pages == 1 {
            // What goes and comes in between changes nothing for the others.
            mcp.prompts().remove("b").unwrap();
            mcp.prompts().put(Prompt::new(text("a").settings().clone()).unwrap()).unwrap();
        }
    }
    assert_eq!(names, ["any", "b", "greet", "look", "note", "twice", "two", "z"]);
    assert_eq!(pages, 4);
    let greeting = get(&mcp, "greet", &json!({ "who": "Ann" }));
    assert_eq!(greeting["result"]["description"], "Says hello");
}

/// What a prompt embeds or links is read for the caller: what they may not see is answered like what is not there.
#[test]
fn hidden_resources_are_answered_like_absent_ones() {
    let dir = tempfile::tempdir().unwrap();
    let mut hidden = note("hidden", Body::Text("secret".into()));
    hidden.acl = Some(vec!["staff".into()]);
    let open = |access: Access| {
        let mcp = mcp(&dir.path().join("data"), access);
        let put = Mutation::Put(Box::new(hidden.clone()));
        mcp.engine().commit(vec![put]).unwrap().remove(0).unwrap();
        mcp
    };
    let anonymous = open(Access::anonymous());
    for name in ["note", "any"] {
        let asked = |note: &str| {
            let arguments = match name {
                "note" => json!({ "note": note }),
                _ => json!({ "uri": format!("note://shelf/{note}") }),
            };
            get(&anonymous, name, &arguments).to_string().replace(note, "NOTE")
        };
        let absent = asked("absent");
        assert!(absent.contains("resource not found"), "{absent}");
        assert_eq!(asked("hidden"), absent);
    }
    let completed = |mcp: &Mcp| {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "note" },
            "argument": { "name": "note", "value": "hid" },
        });
        ask(mcp, "completion/complete", &params)["result"]["completion"]["total"].clone()
    };
    assert_eq!(completed(&anonymous), 0);
    drop(anonymous);

    let staff = open(Access::anonymous().with_groups(["staff"]));
    let reply = get(&staff, "note", &json!({ "note": "hidden" }));
    assert_eq!(reply["result"]["messages"][1]["content"]["resource"]["text"], "secret");
    assert_eq!(completed(&staff), 1);
    drop(staff);

    let elsewhere = open(Access::operator().with_spaces(["others"]));
    let reply = get(&elsewhere, "note", &json!({ "note": "plain" }));
    assert_eq!(reply["error"]["message"], "resource not found");
    assert_eq!(completed(&elsewhere), 0);
}

#[test]
fn a_resource_that_goes_is_missed_from_then_on() {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp(dir.path(), Access::anonymous());
    let arguments = json!({ "note": "plain" });
    assert!(get(&mcp, "note", &arguments)["result"].is_object());
    let delete = Mutation::Delete { uri: "note://shelf/plain".into() };
    mcp.engine().commit(vec![delete]).unwrap().remove(0).unwrap();
    assert_eq!(get(&mcp, "note", &arguments)["error"]["code"], -32002);
}

/// A value stays where it was put: it opens no other place, and no other resource than its template allows.
#[test]
fn arguments_are_values_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp(dir.path(), Access::anonymous());
    for hostile in ["plain/../plain", "plain#line=0,1", "plain?x=y", "../shelf/plain", "{note}"] {
        let reply = get(&mcp, "note", &json!({ "note": hostile }));
        assert_eq!(reply["error"]["message"], "resource not found", "{hostile}: {reply}");
    }
    for text in ["{who}", "{{who}}", "}}{{", "\u{2028}\"\\\u{0}", "</message>"] {
        let reply = get(&mcp, "greet", &json!({ "who": text }));
        let messages = &reply["result"]["messages"];
        assert_eq!(messages[0]["content"]["text"], format!("Say hello to {text}, ."));
        assert_eq!(messages[1]["content"]["text"], format!("{{{text}}}"));
    }
}

#[test]
fn large_arguments_are_bounded_by_what_they_make() {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp(dir.path(), Access::anonymous());
    // Twice of it is just below what a reply may take.
    let fits = "x".repeat((1 << 19) - 200);
    let reply = get(&mcp, "greet", &json!({ "who": fits }));
    assert_eq!(reply["result"]["messages"][1]["content"]["text"], format!("{{{fits}}}"));
    for large in ["x".repeat(1 << 20), "\u{1}".repeat(1 << 18)] {
        let reply = get(&mcp, "greet", &json!({ "who": large }));
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("the messages take more than 1048576 bytes"), "{message}");
    }
    let reply = get(&mcp, "note", &json!({ "note": "x".repeat(1 << 20) }));
    let wanted = "the arguments make a URI longer than 8192 bytes";
    assert_eq!(reply["error"]["message"], wanted);
    let reply = get(&mcp, "any", &json!({ "uri": format!("note://shelf/{}", "é".repeat(3_000)) }));
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.len() < 1_000 && reply["error"]["code"] == -32602, "{reply}");
    let long = "n".repeat(1 << 20);
    let reply = get(&mcp, &long, &json!({}));
    assert!(reply.to_string().len() < 1_000);
    let reply = get(&mcp, "greet", &json!({ (long): "x" }));
    assert!(reply.to_string().len() < 1_000);
}

// === who is told ===

#[tokio::test]
async fn a_listen_is_told_of_prompts_if_it_asks() {
    let server = HttpFront::start(Bounds::default()).await;
    let filter = r#"{"promptsListChanged":true}"#;
    let mut stream = Stream::open(&server, listen_request("1", filter)).await;
    assert_eq!(stream.acknowledged().await, json!({ "promptsListChanged": true }));
    let changed = "notifications/prompts/list_changed";
    // Stored, removed, declared: each is told, and a change of resources is not.
    server.front.put("new", "listed, but not asked for");
    server.front.engine.put_prompt(text("stored")).unwrap();
    assert_eq!(stream.message().await.unwrap()["method"], changed);
    server.front.engine.remove_prompt("stored").unwrap();
    assert_eq!(stream.message().await.unwrap()["method"], changed);
    server.front.pool.mcp().prompts().declare(declared());
    server.front.http.subscriptions.declared_prompts_changed();
    assert_eq!(stream.message().await.unwrap()["method"], changed);
}

#[tokio::test]
async fn a_listen_for_resources_hears_nothing_of_prompts() {
    let mut client = LineClient::start(Front::new(Bounds::default()));
    let filter = r#"{"resourcesListChanged":true,"promptsListChanged":false}"#;
    let acknowledged = client.ask(&listen_message("1", filter)).await;
    let wanted = json!({ "resourcesListChanged": true });
    assert_eq!(acknowledged["params"]["notifications"], wanted);
    client.front.engine.put_prompt(text("stored")).unwrap();
    client.front.put("new", "text");
    let told = client.next().await.unwrap();
    schema::check_notification(MODERN, &told);
    assert_eq!(told["method"], "notifications/resources/list_changed");
    let refused = client.ask(&listen_message("2", r#"{"promptsListChanged":1}"#)).await;
    assert_eq!(refused["error"]["message"], "`promptsListChanged` must be true or false");
}

/// What was declared before a client came is no change for it.
#[tokio::test]
async fn prompts_that_were_declared_at_the_start_are_not_notified() {
    let front = Front::new(Bounds::default());
    front.pool.mcp().prompts().declare(declared());
    front.http.subscriptions.declared_prompts_changed();
    let mut client = LineClient::start(front);
    client.initialize().await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.front.registered_are((0, 0, 1)).await;
    client.front.put("new", "text");
    let told = client.next().await.unwrap();
    assert_eq!(told["method"], "notifications/resources/list_changed");
    let reply = client.ask(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
    assert_eq!(reply["id"], "p", "{reply}");
}

#[tokio::test]
async fn a_legacy_client_is_told_of_prompts() {
    let mut client = LineClient::start(Front::new(Bounds::default()));
    client.initialize().await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.front.registered_are((0, 0, 1)).await;
    client.front.engine.put_prompt(text("stored")).unwrap();
    let told = client.next().await.unwrap();
    schema::check_notification(LEGACY, &told);
    assert_eq!(told, json!({ "jsonrpc": "2.0", "method": "notifications/prompts/list_changed" }));
}
