//! Subscriptions without a transport: callers with different access, and what cannot be brought about from outside.

use std::{sync::Arc, time::Duration};

use pressmark_index::{
    access::Access,
    engine::{Engine, EngineOptions},
    mutation::Mutation,
    resource::{Address, Resource},
    space::{ListMode, SpaceSettings},
    writer::Durability,
};

use super::{Ended, Listen, Lists, NotificationStream, Subscriptions, SubscriptionsConfig, Taken};
use crate::{
    error::Fault, mcp::protocol::SubscriptionFilter, metrics::Metrics, shutdown::Shutdown,
};

const WATCHED_BYTES_MAX: usize = 1024 * 1024;

fn engine() -> Arc<Engine> {
    let dir = tempfile::tempdir().unwrap();
    let options = EngineOptions {
        block_cache_bytes: 1 << 20,
        hot_cache_bytes: 0,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        full_text: None,
        durability: Durability::Interval(Duration::from_secs(3600)),
        change_log_retention: Duration::from_secs(3600),
        owner: "a test".to_owned(),
    };
    // The folder stays: the store writes to it when it is closed.
    Arc::new(Engine::open(&dir.keep(), &options).unwrap())
}

fn over(engine: &Arc<Engine>, metrics: &Arc<Metrics>) -> Arc<Subscriptions> {
    let config = SubscriptionsConfig {
        streams_max: 64,
        watched_bytes_max: WATCHED_BYTES_MAX,
        keep_alive: Duration::from_secs(3600),
    };
    Arc::new(Subscriptions::new(Arc::clone(engine), config, Arc::clone(metrics)))
}

/// Subscriptions to an empty store.
pub(crate) fn subscriptions(metrics: &Arc<Metrics>) -> Arc<Subscriptions> {
    over(&engine(), metrics)
}

fn listen(subscriptions: &Arc<Subscriptions>, access: Access, uris: &[&str]) -> NotificationStream {
    let filter = SubscriptionFilter {
        lists: Lists { resources: true, prompts: false },
        resource_subscriptions: uris.iter().map(|uri| (*uri).to_owned()).collect(),
    };
    let listen = Listen { id: "1".into(), filter, access: Arc::new(access) };
    subscriptions.listen(listen).unwrap()
}

/// What is told next, `count` notifications in their order, however they are batched; `*` is a change of the lists.
async fn told_of(stream: &NotificationStream, count: usize) -> String {
    let mut told = Vec::new();
    while told.len() < count {
        let taken = tokio::time::timeout(Duration::from_secs(30), stream.take()).await.unwrap();
        match taken {
            Taken::Batch(batch) => {
                told.extend(batch.uris.iter().map(|uri| uri.to_string()));
                told.extend(batch.lists.resources.then(|| "*".to_owned()));
            }
            Taken::KeepAlive => told.push("keep-alive".to_owned()),
            Taken::Ended(why) => told.push(format!("{why:?}")),
        }
    }
    told.join(" ")
}

async fn told(stream: &NotificationStream) -> String {
    told_of(stream, 1).await
}

fn put(engine: &Engine, uri: &str, body: &str, group: Option<&str>) {
    put_as(engine, uri, body, group, false);
}

fn put_as(engine: &Engine, uri: &str, body: &str, group: Option<&str>, pinned: bool) {
    let mut resource = Resource::text("docs", Address::Uri(uri.to_owned()), "text/plain", body);
    resource.acl = group.map(|group| vec![group.to_owned()]);
    resource.pinned = pinned;
    engine.commit(vec![Mutation::Put(Box::new(resource))]).unwrap().remove(0).unwrap();
}

fn space(engine: &Engine, list: ListMode) {
    let mut settings = SpaceSettings::new("docs", "docs://h/{+path}");
    settings.list = list;
    engine.put_space(settings).unwrap();
}

#[tokio::test]
async fn each_caller_is_told_of_what_they_may_see() {
    let engine = engine();
    space(&engine, ListMode::All);
    put(&engine, "docs://h/open", "text", None);
    put(&engine, "docs://h/staff", "text", Some("staff"));
    let metrics = Arc::new(Metrics::new());
    let subscriptions = over(&engine, &metrics);
    let shutdown = Shutdown::new();
    subscriptions.start(&shutdown);
    let uris = ["docs://h/open", "docs://h/staff"];
    let anyone = listen(&subscriptions, Access::anonymous(), &uris);
    let staff = listen(&subscriptions, Access::anonymous().with_groups(["staff"]), &uris);
    let board = listen(&subscriptions, Access::anonymous().with_groups(["board"]), &uris);

    put(&engine, "docs://h/staff", "changed", Some("staff"));
    assert_eq!(told(&staff).await, "docs://h/staff");
    // It passes from one group to another: both hear of it, and of their lists.
    put(&engine, "docs://h/staff", "changed", Some("board"));
    for stream in [&staff, &board] {
        assert_eq!(told_of(stream, 2).await, "docs://h/staff *");
    }
    put(&engine, "docs://h/open", "changed", None);
    for stream in [&anyone, &staff, &board] {
        assert_eq!(told(stream).await, "docs://h/open", "nothing was told before it");
    }
    engine.commit(vec![Mutation::Delete { uri: "docs://h/staff".to_owned() }]).unwrap();
    assert_eq!(told_of(&board, 2).await, "docs://h/staff *");
    drop((anyone, staff, board));
    assert_eq!(subscriptions.size(), (0, 0, 0));
    assert_eq!(metrics.notifications_pending.get(), 0);
}

#[tokio::test]
async fn lists_of_pinned_resources_change_with_those() {
    let engine = engine();
    space(&engine, ListMode::Pinned);
    put(&engine, "docs://h/first", "text", None);
    let subscriptions = over(&engine, &Arc::new(Metrics::new()));
    let shutdown = Shutdown::new();
    subscriptions.start(&shutdown);
    let stream = listen(&subscriptions, Access::anonymous(), &["docs://h/last"]);
    put(&engine, "docs://h/second", "text", None);
    put(&engine, "docs://h/last", "text", None);
    assert_eq!(told(&stream).await, "docs://h/last");
    put_as(&engine, "docs://h/second", "text", None, true);
    assert_eq!(told(&stream).await, "*", "only when one was pinned");
    put_as(&engine, "docs://h/second", "changed", None, true);
    put(&engine, "docs://h/last", "changed", None);
    assert_eq!(told(&stream).await, "docs://h/last");
    space(&engine, ListMode::None);
    assert_eq!(told(&stream).await, "*", "a space changed");
    shutdown.begin();
    assert_eq!(told(&stream).await, format!("{:?}", Ended::Shutdown));
}

#[tokio::test]
async fn when_changes_are_lost_everyone_is_told_of_everything() {
    let engine = engine();
    space(&engine, ListMode::All);
    let subscriptions = over(&engine, &Arc::new(Metrics::new()));
    let uris = ["docs://h/a", "docs://h/b"];
    let modern = listen(&subscriptions, Access::anonymous(), &uris);
    let legacy = subscriptions.legacy(Arc::new(Access::anonymous()), true);
    uris.iter().for_each(|uri| legacy.watch(uri).unwrap());
    let legacy = legacy.open().unwrap();
    let now = tokio::time::Instant::now();
    subscriptions.registry.each(|subscriber| subscriber.anything_may_have_changed(now));
    for stream in [&modern, &legacy] {
        assert_eq!(told_of(stream, 3).await, "docs://h/a docs://h/b *");
    }
}

/// What a client of the older revisions watches may be more than may wait for it: then a change of what it began to
/// watch afterwards must not be lost.
#[tokio::test]
async fn a_watch_after_an_overflow_is_told_of() {
    let engine = engine();
    space(&engine, ListMode::None);
    let metrics = Arc::new(Metrics::new());
    let subscriptions = over(&engine, &metrics);
    subscriptions.start(&Shutdown::new());
    let client = subscriptions.legacy(Arc::new(Access::anonymous()), false);
    client.watch("docs://h/m").unwrap();
    let watched: Vec<String> =
        (0..100).map(|number| format!("docs://h/{number}{}", "x".repeat(4_000))).collect();
    watched.iter().for_each(|uri| client.watch(uri).unwrap());
    for number in 0..1_300 {
        let uri = format!("docs://h/m/{number}{}", "y".repeat(220));
        put(&engine, &uri, "text", None);
    }
    let all_wait = async {
        while metrics.notifications_pending.get() != 101 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all_wait).await.unwrap();
    client.watch("docs://h/a.md").unwrap();
    put(&engine, "docs://h/a.md", "text", None);
    let stream = client.open().unwrap();
    // Beside it comes all that is watched, and what of the folder was not counted yet; each told within its time.
    while !told(&stream).await.split(' ').any(|uri| uri == "docs://h/a.md") {}
}

#[tokio::test]
async fn what_all_watch_is_bounded_in_bytes() {
    let subscriptions = subscriptions(&Arc::new(Metrics::new()));
    let uri = |number: usize| format!("docs://h/{number}{}", "x".repeat(8_000));
    let client = || subscriptions.legacy(Arc::new(Access::anonymous()), false);
    let first = client();
    let mut watched = 0;
    let refused = loop {
        match first.watch(&uri(watched)) {
            Ok(()) => watched += 1,
            Err(fault) => break fault,
        }
    };
    // The URI, and the key under which it is found.
    let bytes = watched * 2 * uri(0).len();
    assert!((WATCHED_BYTES_MAX / 2..=WATCHED_BYTES_MAX).contains(&bytes), "{bytes}");
    assert_eq!(refused.code, Fault::overloaded().code);
    assert!(client().watch(&uri(watched)).is_err(), "all have it together");
    drop(first);
    client().watch(&uri(watched)).unwrap();
}
