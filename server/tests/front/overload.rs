//! What is answered when the pool has as much as it takes.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use crate::common::{collection, mcp, mcp_with};
use pressmark::{
    engine_pool::{EnginePool, EnginePoolConfig},
    mcp::{Answer, Step, Work, protocol::Channel},
    metrics::Metrics,
};
use tokio::time::Instant;

fn work(pool: &EnginePool) -> Work {
    let body = br#"{"jsonrpc":"2.0","id":"mine","method":"resources/list"}"#;
    match pool.mcp().receive(body, Channel::Stdio { negotiated: None }) {
        Step::Work(work) => work,
        Step::Answer(answer) => panic!("a list is work: {answer:?}"),
    }
}

async fn run(pool: &EnginePool) -> Answer {
    pool.run(work(pool), Instant::now() + Duration::from_secs(30)).await
}

/// On a runtime of one thread the first work has its thread, but nobody can wait for it yet: the
/// order of what happens is fixed.
#[tokio::test]
async fn work_beyond_the_queue_is_refused_with_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let metrics = Arc::new(Metrics::new());
    let config = EnginePoolConfig { threads_max: 1, queue_max: 1 };
    let mcp = Arc::new(mcp(collection(dir.path())));
    let pool = EnginePool::new(mcp, &config, Arc::clone(&metrics));
    let (first, second, third) = tokio::join!(biased; run(&pool), run(&pool), run(&pool));
    assert_eq!((first.code, second.code), (None, None));
    assert_eq!(third.status, 503);
    let reply: serde_json::Value = serde_json::from_slice(&third.body.unwrap()).unwrap();
    assert_eq!(reply["id"], "mine");
    assert_eq!(reply["error"]["code"], -32603);
    assert_eq!(metrics.requests_shed.get(), 1);
    assert_eq!(metrics.pool_queue.get(), 0);
}

/// The only thread is held by other work, so that this work waits until its deadline.
#[tokio::test(start_paused = true)]
async fn work_past_its_deadline_is_answered_with_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let config = EnginePoolConfig { threads_max: 1, queue_max: 1 };
    let mcp = Arc::new(mcp(collection(dir.path())));
    let pool = EnginePool::new(mcp, &config, Arc::new(Metrics::new()));
    let now = Instant::now();
    let (_first, late) =
        tokio::join!(biased; pool.run(work(&pool), now), pool.run(work(&pool), now));
    assert_eq!(late.status, 504);
    let reply: serde_json::Value = serde_json::from_slice(&late.body.unwrap()).unwrap();
    assert_eq!(reply["id"], "mine");
}

#[test]
fn a_caller_with_too_many_tool_calls_is_told_to_wait() {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp_with(collection(dir.path()), NonZeroU32::MIN);
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"note://shelf/plain"}}}"#;
    let call = || match mcp.receive(body, Channel::Stdio { negotiated: None }) {
        Step::Work(work) => mcp.perform(work),
        Step::Answer(answer) => answer,
    };
    let [first, second] = [call(), call()]
        .map(|answer| serde_json::from_slice::<serde_json::Value>(&answer.body.unwrap()).unwrap());
    assert!(first["result"].get("isError").is_none_or(|error| error == false), "{first}");
    assert_eq!(second["result"]["isError"], true);
    let text = second["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("wait 1 s"), "{text}");
}
