//! What is answered when the pool has as much as it takes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::{collection, mcp};
use pressmark::{
    engine_pool::{EnginePool, EnginePoolConfig},
    mcp::{Step, Work, protocol::Channel},
    metrics::Metrics,
};

fn work(pool: &EnginePool) -> Work {
    let body = br#"{"jsonrpc":"2.0","id":"mine","method":"resources/list"}"#;
    match pool.mcp().receive(body, Channel::Stdio { negotiated: None }) {
        Step::Work(work) => work,
        Step::Answer(answer) => panic!("a list is work: {answer:?}"),
    }
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
    let (first, second, third) =
        tokio::join!(biased; pool.run(work(&pool)), pool.run(work(&pool)), pool.run(work(&pool)));
    assert_eq!((first.code, second.code), (None, None));
    assert_eq!(third.status, 503);
    let reply: serde_json::Value = serde_json::from_slice(&third.body.unwrap()).unwrap();
    assert_eq!(reply["id"], "mine");
    assert_eq!(reply["error"]["code"], -32603);
    assert_eq!(metrics.requests_shed.get(), 1);
    assert_eq!(metrics.pool_queue.get(), 0);
}
