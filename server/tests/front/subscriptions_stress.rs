//! Subscribers that come, stall, leave and are cut off at random while resources change: after quiet, everyone who is left
//! was told of each of their resources after its last change, and nothing of the others is left.

use std::collections::HashMap;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::common::{
    Bounds,
    events::{Stream, listen_request},
    http::HttpFront,
    put, until,
};

const NAMES: usize = 6;
const CLIENTS: usize = 5;
/// Everybody watches it; it changes when all is quiet.
const LAST: &str = "last";

#[derive(Debug, Clone)]
enum Step {
    /// A client listens to some of the notes; one that listened before is cut off.
    Listen { client: usize, names: Vec<usize> },
    /// A client leaves.
    Leave { client: usize },
    /// A client reads up to so many messages.
    Read { client: usize, messages: usize },
    /// Notes change.
    Commit { names: Vec<usize> },
    /// A note goes.
    Delete { name: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let client = 0..CLIENTS;
    let names = prop::collection::vec(0..NAMES, 1..NAMES);
    prop_oneof![
        (client.clone(), names.clone()).prop_map(|(client, names)| Step::Listen { client, names }),
        client.clone().prop_map(|client| Step::Leave { client }),
        (client, 0..4_usize).prop_map(|(client, messages)| Step::Read { client, messages }),
        names.prop_map(|names| Step::Commit { names }),
        (0..NAMES).prop_map(|name| Step::Delete { name }),
    ]
}

fn uri(name: usize) -> String {
    format!("note://shelf/n{name}")
}

/// A client with what it must still be told.
struct Client {
    stream: Stream,
    /// By URI: changes since the listen was acknowledged, and notifications read.
    owed: HashMap<String, (usize, usize)>,
}

async fn run(steps: Vec<Step>) {
    let server = HttpFront::start(Bounds::default()).await;
    let mut clients: HashMap<usize, Client> = HashMap::new();
    let mut written = 0;
    let mut there = [false; NAMES];
    for step in steps {
        match step {
            Step::Listen { client, names } => {
                let uris: Vec<_> = names.iter().map(|name| uri(*name)).collect();
                let mut asked = uris.clone();
                asked.push(format!("note://shelf/{LAST}"));
                let filter = serde_json::json!({ "resourceSubscriptions": asked }).to_string();
                let mut stream = Stream::open(&server, listen_request("1", &filter)).await;
                stream.acknowledged().await;
                let owed = uris.into_iter().map(|uri| (uri, (0, 0))).collect();
                clients.insert(client, Client { stream, owed });
            }
            Step::Leave { client } => drop(clients.remove(&client)),
            Step::Read { client, messages } => {
                let Some(client) = clients.get_mut(&client) else { continue };
                for _ in 0..messages {
                    // Only where one must come: what was changed and not told since.
                    if client.owed.values().all(|(changes, read)| *changes == 0 || *read > 0) {
                        break;
                    }
                    let uri = client.stream.updated().await;
                    client.owed.get_mut(&uri).expect("only what was asked").1 += 1;
                }
            }
            Step::Commit { names } => {
                written += 1;
                names.iter().for_each(|name| there[*name] = true);
                let text = written.to_string();
                let puts = names.iter().map(|name| put(&format!("n{name}"), &text)).collect();
                server.front.commit(puts);
                changed(&mut clients, &names);
            }
            Step::Delete { name } => {
                server.front.delete(&format!("n{name}"));
                if std::mem::take(&mut there[name]) {
                    changed(&mut clients, &[name]);
                }
            }
        }
    }
    let listening = clients.len();
    until(|| server.front.registered().2 == listening).await;
    settle(&server, &mut clients).await;
    drop(clients);
    server.front.registered_are((0, 0, 0)).await;
    assert_eq!(server.front.http.metrics.notifications_pending.get(), 0);
}

fn changed(clients: &mut HashMap<usize, Client>, names: &[usize]) {
    for client in clients.values_mut() {
        for name in names {
            if let Some((changes, _)) = client.owed.get_mut(&uri(*name)) {
                *changes += 1;
            }
        }
    }
}

/// After quiet everyone was told of what had changed, not more often than it had; then once more of one last change of all.
async fn settle(server: &HttpFront, clients: &mut HashMap<usize, Client>) {
    server.front.put(LAST, "first");
    for client in clients.values_mut() {
        client.read_to_last().await;
        for (uri, (changes, read)) in &mut client.owed {
            assert!(
                *read <= *changes && (*read > 0) == (*changes > 0),
                "{uri} {read} of {changes}"
            );
            *read = 0;
        }
    }
    let puts = (0..NAMES).map(|name| put(&format!("n{name}"), "last")).collect();
    server.front.commit(puts);
    server.front.put(LAST, "second");
    for client in clients.values_mut() {
        client.read_to_last().await;
        assert!(client.owed.values().all(|(_, read)| *read == 1), "{:?}", client.owed);
    }
}

impl Client {
    /// Reads until the note that everybody watches was told, which comes behind everything before it.
    async fn read_to_last(&mut self) {
        loop {
            let told = self.stream.updated().await;
            match self.owed.get_mut(&told) {
                Some((_, read)) => *read += 1,
                None => {
                    assert!(told.ends_with(LAST), "{told} was not asked for");
                    break;
                }
            }
        }
    }
}

#[test]
fn everyone_is_told_after_the_last_change_and_nothing_is_left_behind() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    let steps = prop::collection::vec(step(), 1..60);
    TestRunner::new(config)
        .run(&steps, |steps| {
            runtime.block_on(run(steps));
            Ok(())
        })
        .unwrap();
}
