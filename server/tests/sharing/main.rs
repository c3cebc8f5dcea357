//! Several windows of hosts on one store, with real processes: who owns it ends in all ways, and no client notices.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod prompts;
mod strangers;
mod window;

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::json;

use window::{Desk, Window, initialize, listen, modern, read, request, subscribe, until, uri};

#[tokio::test]
async fn a_second_window_has_what_the_first_one_has() {
    let desk = Desk::new(&[("a.md", "# One\n")]);
    let mut owner = desk.owner().await;
    let mut legacy = desk.follower().await;
    assert_eq!(legacy.read(1, "a.md").await, "# One\n");
    let mut stateless = desk.window();
    let answer = stateless.ask(modern(1, "resources/read", json!({"uri": uri("a.md")}))).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "# One\n");
    // Each has subscriptions of its own.
    assert_eq!(legacy.ask(subscribe(2, "a.md")).await["result"], json!({}));
    stateless.send(&listen(2, "a.md")).await;
    let acknowledged = stateless.next().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    desk.write("a.md", "# Two\n");
    legacy.updated("a.md").await;
    stateless.updated("a.md").await;
    assert_eq!(legacy.read(3, "a.md").await, "# Two\n");
    assert_eq!(owner.read(3, "a.md").await, "# Two\n");
    // A window that ends is nothing to the others.
    legacy.hang_up();
    assert!(legacy.ended().await.success());
    stateless.signal(Signal::TERM);
    let cancelled = stateless.next().await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    let result = stateless.next().await.unwrap();
    assert_eq!((&result["id"], &result["result"]["resultType"]), (&json!(2), &json!("complete")));
    assert!(stateless.ended().await.success());
    assert_eq!(owner.read(4, "a.md").await, "# Two\n");
}

#[tokio::test]
async fn a_client_that_ends_its_input_still_gets_its_answers() {
    let desk = Desk::new(&[("a.md", "text")]);
    let _owner = desk.owner().await;
    let mut window = desk.window();
    for id in 0..20 {
        window.send(&read(id, "a.md")).await;
    }
    window.hang_up();
    let mut answered = Vec::new();
    while let Some(answer) = window.next().await {
        answered.push(answer["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..20).collect::<Vec<_>>());
    assert!(window.ended().await.success());
}

#[tokio::test]
async fn listens_end_in_order_when_their_client_ends_its_input() {
    let desk = Desk::new(&[("a.md", "text")]);
    let mut owner = desk.owner().await;
    let mut follower = desk.follower().await;
    for window in [&mut owner, &mut follower] {
        window.send(&listen(1, "a.md")).await;
        let acknowledged = window.next().await.unwrap();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    }
    for mut window in [follower, owner] {
        window.hang_up();
        assert_eq!(window.next().await.unwrap()["method"], "notifications/cancelled");
        let result = window.next().await.unwrap();
        assert_eq!(
            (&result["id"], &result["result"]["resultType"]),
            (&json!(1), &json!("complete"))
        );
        assert_eq!(window.next().await, None);
        assert!(window.ended().await.success());
    }
}

#[tokio::test]
async fn requests_in_flight_are_answered_once_when_the_owner_is_killed() {
    // Fifty answers fit no pipe: most have not left the owner, and one is cut in the middle.
    let text = "x".repeat(1_000_000);
    let desk = Desk::new(&[("large.md", &text), ("a.md", "small")]);
    let owner = desk.owner().await;
    let mut follower = desk.follower().await;
    for id in 0..50 {
        follower.send(&read(id, "large.md")).await;
    }
    let mut answers = BTreeMap::<u64, usize>::new();
    let first = follower.next().await.unwrap();
    *answers.entry(first["id"].as_u64().unwrap()).or_default() += 1;
    owner.kill().await;
    follower.send(&request(50, "ping", json!({}))).await;
    while answers.len() < 51 {
        let answer = follower.next().await.unwrap();
        if answer.get("method").is_none() {
            assert!(answer.get("result").is_some(), "{answer}");
            *answers.entry(answer["id"].as_u64().unwrap()).or_default() += 1;
        }
    }
    follower.said("owns the store").await;
    assert_eq!(follower.read(51, "a.md").await, "small");
    follower.hang_up();
    while let Some(message) = follower.next().await {
        // That lists may have changed is told when the store changes hands; an answer would be one too many.
        let method = message["method"].as_str().unwrap_or_default();
        assert!(method.ends_with("/list_changed"), "nothing else is left over: {message}");
    }
    assert!(answers.values().all(|count| *count == 1), "{answers:?}");
    assert!(follower.ended().await.success());
}

/// Ends the owner in a way, and looks whether two followers go on.
async fn check_take_over(desk: &Desk, owner: Window, end: impl AsyncFnOnce(Window)) {
    let mut legacy = desk.follower().await;
    assert_eq!(legacy.ask(subscribe(1, "a.md")).await["result"], json!({}));
    assert_eq!(legacy.ask(subscribe(2, "other.md")).await["result"], json!({}));
    let unsubscribe = request(3, "resources/unsubscribe", json!({"uri": uri("other.md")}));
    assert_eq!(legacy.ask(unsubscribe).await["result"], json!({}));
    let mut stateless = desk.window();
    stateless.send(&listen(1, "a.md")).await;
    stateless.send(&listen(2, "other.md")).await;
    for _ in 0..2 {
        let acknowledged = stateless.next().await.unwrap();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    }
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    stateless.send(&cancel).await;
    end(owner).await;
    for round in 0..2 {
        let text = format!("round {round}");
        desk.write("other.md", &text);
        desk.write("a.md", &text);
        for window in [&mut legacy, &mut stateless] {
            // What was told of may be an earlier change, for a new owner tells too much rather than too little.
            let mut seen = String::new();
            while seen != text {
                window.updated("a.md").await;
                let answer =
                    window.ask(modern(9, "resources/read", json!({"uri": uri("a.md")}))).await;
                seen = answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
            }
        }
    }
    // The last one takes over from the one that took over.
    legacy.hang_up();
    assert!(legacy.ended().await.success());
    desk.write("a.md", "the end");
    stateless.updated("a.md").await;
    stateless.hang_up();
    assert!(stateless.ended().await.success());
    assert_eq!(desk.socket(), None, "nothing is left behind");
}

#[tokio::test]
async fn followers_go_on_when_the_owner_is_killed() {
    let desk = Desk::new(&[("a.md", "one"), ("other.md", "one")]);
    let owner = desk.owner().await;
    check_take_over(&desk, owner, Window::kill).await;
}

#[tokio::test]
async fn followers_go_on_when_the_owner_s_window_is_closed() {
    let desk = Desk::new(&[("a.md", "one"), ("other.md", "one")]);
    let owner = desk.owner().await;
    check_take_over(&desk, owner, async |mut owner| {
        owner.hang_up();
        assert!(owner.ended().await.success());
    })
    .await;
}

#[tokio::test]
async fn followers_go_on_when_the_owner_was_a_server_that_is_stopped() {
    let desk = Desk::new(&[("a.md", "one"), ("other.md", "one")]);
    let mut owner = Window::start(desk.command(&["serve", "docs", "--listen", "127.0.0.1:0"]));
    owner.said("resources are ready").await;
    check_take_over(&desk, owner, async |mut owner| {
        owner.signal(Signal::TERM);
        assert!(owner.ended().await.success());
    })
    .await;
}

#[tokio::test]
async fn a_window_of_other_folders_goes_on_with_those_of_the_owner() {
    let desk = Desk::new(&[("a.md", "one")]);
    std::fs::create_dir(desk.path("notes")).unwrap();
    std::fs::write(desk.path("notes/n.md"), "a note").unwrap();
    let note = |id| modern(id, "resources/read", json!({"uri": "docs://notes/n.md"}));
    let owner = desk.owner().await;
    let mut other = Window::start(desk.command(&["stdio", "notes"]));
    other.said("does not serve all folders").await;
    assert_eq!(other.read(1, "a.md").await, "one");
    owner.kill().await;
    other.said("goes on with the folders").await;
    // Those who come now find everything as it was, and hear of changes.
    let mut late = desk.follower().await;
    assert_eq!(late.ask(subscribe(1, "a.md")).await["result"], json!({}));
    desk.write("a.md", "two");
    late.updated("a.md").await;
    assert_eq!(other.read(2, "a.md").await, "two");
    assert!(other.ask(note(3)).await.get("error").is_some());
    other.kill().await;
    assert_eq!(late.read(2, "a.md").await, "two");
    late.hang_up();
    assert!(late.ended().await.success());
    // Started alone, its own folders count.
    let mut other = Window::start(desk.command(&["stdio", "notes"]));
    other.said("data in").await;
    other.said("indexed").await;
    assert_eq!(other.ask(note(1)).await["result"]["contents"][0]["text"], "a note");
    assert!(other.ask(read(2, "a.md")).await.get("error").is_some());
}

#[tokio::test]
async fn what_changed_while_nobody_looked_is_told() {
    let desk = Desk::new(&[("a.md", "before")]);
    let owner = desk.owner().await;
    let mut follower = desk.follower().await;
    assert_eq!(follower.ask(subscribe(1, "a.md")).await["result"], json!({}));
    owner.signal(Signal::STOP);
    desk.write("a.md", "after");
    owner.kill().await;
    let mut seen = String::new();
    while seen != "after" {
        follower.updated("a.md").await;
        seen = follower.read(2, "a.md").await;
    }
}

#[tokio::test]
async fn what_a_killed_owner_left_is_replaced() {
    let desk = Desk::new(&[("a.md", "text")]);
    desk.owner().await.kill().await;
    assert!(desk.socket().is_some() && desk.path("d/SOCKET").exists());
    let _owner = desk.owner().await;
    let mut follower = desk.follower().await;
    assert_eq!(follower.read(1, "a.md").await, "text");
}

#[tokio::test]
async fn windows_that_are_opened_at_the_same_time_find_each_other() {
    let desk = Desk::new(&[("a.md", "text")]);
    let mut windows: Vec<_> = (0..4).map(|_| desk.window()).collect();
    for window in &mut windows {
        window.send(&initialize()).await;
    }
    for window in &mut windows {
        assert_eq!(window.next().await.unwrap()["id"], "init");
    }
    // The first pass may not have ended when the first answer came.
    for window in &mut windows {
        let list = window.ask(request(1, "resources/templates/list", json!({}))).await;
        assert_eq!(list["result"]["resourceTemplates"].as_array().map(Vec::len), Some(1));
    }
    until(|| desk.socket().is_some()).await;
}
