//! Notifications over stdio, in both eras.

use serde_json::{Value, json};

use crate::common::{
    Bounds, Front, LEGACY, MODERN, events::listen_message, lines::LineClient, schema, until,
};

const PLAIN: &str = r#"{"resourceSubscriptions":["note://shelf/plain"]}"#;

fn client() -> LineClient {
    LineClient::start(Front::new(Bounds::default()))
}

fn cancel(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

fn subscription_id(message: &Value) -> &Value {
    schema::check_notification(MODERN, message);
    &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
}

#[tokio::test]
async fn listens_share_the_channel_and_end_by_cancellation() {
    let mut client = client();
    for id in ["\"one\"", "2"] {
        let acknowledged = client.ask(&listen_message(id, PLAIN)).await;
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(subscription_id(&acknowledged).to_string(), id);
    }
    let refused = client.ask(&listen_message("2", PLAIN)).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32600)));
    client.front.put("plain", "changed");
    let told = [client.next().await.unwrap(), client.next().await.unwrap()];
    let mut ids = told.each_ref().map(|message| subscription_id(message).to_string());
    ids.sort();
    assert_eq!(ids, ["\"one\"", "2"]);

    client.send(&cancel("\"\\u006fne\"")).await;
    client.front.registered_are((1, 1, 2)).await;
    client.front.put("plain", "again");
    assert_eq!(subscription_id(&client.next().await.unwrap()), 2);
    client.send(&cancel("2")).await;
    client.front.registered_are((0, 0, 1)).await;
    client.front.put("plain", "unheard");
    // The id is free again, and nothing is left over.
    let acknowledged = client.ask(&listen_message("2", "{}")).await;
    assert_eq!(acknowledged["params"]["notifications"], json!({}));
    client.hang_up();
    ended(&mut client, &[2]).await;
    client.front.registered_are((0, 0, 0)).await;
}

/// The listens end in order, each with its cancellation and its result, and the output ends behind them.
async fn ended(client: &mut LineClient, ids: &[u64]) {
    let mut cancelled = Vec::new();
    let mut answered = Vec::new();
    while let Some(message) = client.next().await {
        schema::check_notification(MODERN, &message);
        if message["method"] == "notifications/cancelled" {
            assert_eq!(subscription_id(&message), &message["params"]["requestId"]);
            cancelled.push(message["params"]["requestId"].as_u64().unwrap());
        } else {
            assert_eq!(message["result"]["resultType"], "complete");
            let id = message["id"].as_u64().unwrap();
            assert!(cancelled.contains(&id), "the result of {id} came before its cancellation");
            answered.push(id);
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(cancelled.len(), ids.len());
    (&mut client.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn listens_are_cancelled_and_answered_when_the_client_closes_its_input() {
    let mut client = client();
    for id in ["1", "2"] {
        client.ask(&listen_message(id, PLAIN)).await;
    }
    client.initialize().await;
    client.hang_up();
    ended(&mut client, &[1, 2]).await;
    client.front.registered_are((0, 0, 0)).await;
}

#[tokio::test]
async fn a_client_that_closes_its_input_and_reads_nothing_watches_nothing() {
    let mut client = client();
    client.ask(&listen_message("1", r#"{"resourceSubscriptions":["note://shelf"]}"#)).await;
    // More than the pipe and the queues of replies hold.
    client.front.commit((0..400).map(|n| crate::common::put(&format!("note-{n}"), "x")).collect());
    let metrics = client.front.http.metrics.clone();
    until(|| metrics.notifications_pending.get() > 0).await;
    client.hang_up();
    client.front.registered_are((0, 0, 0)).await;
}

#[tokio::test]
async fn listens_are_cancelled_and_answered_when_the_server_ends() {
    let mut client = client();
    client.ask(&listen_message("7", PLAIN)).await;
    client.front.http.shutdown.begin();
    ended(&mut client, &[7]).await;
}

#[tokio::test]
async fn a_legacy_client_hears_updates_and_lists() {
    let mut client = client();
    client.initialize().await;
    let subscribe = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note://shelf/plain"}}"#;
    assert_eq!(client.ask(subscribe).await["result"], json!({}));
    client.front.put("plain", "changed");
    let updated = client.next().await.unwrap();
    schema::check_notification(LEGACY, &updated);
    assert_eq!(
        updated,
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "note://shelf/plain"}})
    );
    client.front.put("new", "created");
    let listed = client.next().await.unwrap();
    schema::check_notification(LEGACY, &listed);
    assert_eq!(listed, json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}));
    let unsubscribe = subscribe.replace("/subscribe", "/unsubscribe");
    assert_eq!(client.ask(&unsubscribe).await["result"], json!({}));
    client.front.put("plain", "unheard");
    assert_eq!(
        client.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await["result"],
        json!({})
    );
}

#[tokio::test]
async fn a_client_that_reads_nothing_gets_one_notification_for_each_uri() {
    let mut client = client();
    client.ask(&listen_message("1", r#"{"resourceSubscriptions":["note://shelf"]}"#)).await;
    // More than the pipe and the queues of replies hold.
    let names: Vec<_> = (0..300).map(|number| format!("note-{number}")).collect();
    for round in 0..4 {
        let puts = names.iter().map(|name| crate::common::put(name, &round.to_string()));
        client.front.commit(puts.collect());
    }
    let metrics = client.front.http.metrics.clone();
    until(|| metrics.notifications_coalesced.get() > 300).await;
    client.front.put("plain", "the last");
    let mut told = std::collections::HashMap::<String, usize>::new();
    loop {
        let message = client.next().await.unwrap();
        let uri = message["params"]["uri"].as_str().unwrap().to_owned();
        *told.entry(uri.clone()).or_default() += 1;
        if uri == "note://shelf/plain" {
            break;
        }
    }
    assert_eq!(told.len(), 302);
    let twice = told.values().filter(|count| **count > 2).count();
    assert_eq!(twice, 0, "what was on its way, and what came after it");
}

#[tokio::test]
async fn a_client_that_does_not_initialize_hears_what_it_subscribed_to_and_nothing_of_lists() {
    let mut client = client();
    let subscribe = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note://shelf/later"}}"#;
    assert_eq!(client.ask(subscribe).await["result"], json!({}));
    client.front.put("later", "created");
    assert_eq!(client.next().await.unwrap()["params"]["uri"], "note://shelf/later");
}
