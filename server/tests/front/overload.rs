//! What is answered when the pool has as much as it takes.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use crate::common::{LARGE_NOTE_BYTES, Rates, collection, mcp, mcp_with};
use pressmark::{
    engine_pool::{EnginePool, EnginePoolConfig},
    mcp::{
        Answer, Step, Work,
        protocol::{Channel, Revision},
    },
    metrics::Metrics,
};
use tokio::time::Instant;

fn work(pool: &EnginePool) -> Work {
    let body = br#"{"jsonrpc":"2.0","id":"mine","method":"resources/list"}"#;
    match pool.mcp().receive(body, Channel::Stdio { negotiated: None, subscription: None }) {
        Step::Work(work) => work,
        Step::Answer(_) | Step::Listen(_) | Step::Call(_) => panic!("a list is work"),
    }
}

async fn run(pool: &EnginePool) -> Answer {
    pool.run(work(pool), Instant::now() + Duration::from_secs(30)).await
}

/// The runtime's only thread for blocking work is held until the third work was refused: the order
/// of what happens is fixed.
#[test]
fn work_beyond_the_queue_is_refused_with_its_id() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
    let dir = tempfile::tempdir().unwrap();
    let metrics = Arc::new(Metrics::new());
    let config = EnginePoolConfig { threads_max: 1, queue_max: 1 };
    let mcp = Arc::new(mcp(collection(dir.path())));
    let pool = EnginePool::new(mcp, &config, Arc::clone(&metrics));
    let (first, second, third) = runtime.unwrap().block_on(async {
        let (release, released) = std::sync::mpsc::sync_channel::<()>(0);
        tokio::task::spawn_blocking(move || released.recv());
        let last = async {
            let third = run(&pool).await;
            drop(release);
            third
        };
        tokio::join!(biased; run(&pool), run(&pool), last)
    });
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
    let rates = Rates { tool_calls: NonZeroU32::MIN, ..Rates::default() };
    let mcp = mcp_with(collection(dir.path()), rates);
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"note://shelf/plain"}}}"#;
    let call = || match mcp.receive(body, Channel::Stdio { negotiated: None, subscription: None }) {
        Step::Work(work) => mcp.perform(work, Instant::now() + Duration::from_secs(30)),
        Step::Answer(answer) => answer,
        Step::Listen(_) | Step::Call(_) => panic!("a call is no stream"),
    };
    let [first, second] = [call(), call()]
        .map(|answer| serde_json::from_slice::<serde_json::Value>(&answer.body.unwrap()).unwrap());
    assert!(first["result"].get("isError").is_none_or(|error| error == false), "{first}");
    assert_eq!(second["result"]["isError"], true);
    let text = second["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("wait 1 s"), "{text}");
}

/// The answers to a batch of reads of the large note, by the deadline of its work.
fn batch_of_large_reads(deadline: Instant) -> (usize, Vec<serde_json::Value>) {
    let dir = tempfile::tempdir().unwrap();
    let mcp = mcp(collection(dir.path()));
    let read = |id: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/read","params":{{"uri":"note://shelf/large"}}}}"#
        )
    };
    let batch = format!("[{},{},{},{}]", read(0), read(1), read(2), read(3));
    let channel = Channel::Stdio { negotiated: Some(Revision::V2025_03_26), subscription: None };
    let Step::Work(work) = mcp.receive(batch.as_bytes(), channel) else {
        panic!("a batch is work");
    };
    let reply = mcp.perform(work, deadline).body.unwrap();
    (reply.len(), serde_json::from_slice(&reply).unwrap())
}

#[test]
fn a_batch_has_the_bound_of_one_reply_and_says_what_did_not_fit() {
    let (bytes, replies) = batch_of_large_reads(Instant::now() + Duration::from_secs(60));
    assert!(bytes < 2 * LARGE_NOTE_BYTES, "{bytes}");
    assert!(replies[0].get("result").is_some());
    for (id, reply) in replies.iter().enumerate().skip(1) {
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&id.into(), &(-32603).into()));
        assert!(reply["error"]["message"].as_str().unwrap().contains("full"), "{reply}");
    }
}

#[test]
fn a_batch_whose_time_is_over_answers_each_request_so() {
    let (_, replies) = batch_of_large_reads(Instant::now());
    assert_eq!(replies.len(), 4);
    for reply in replies {
        assert_eq!(reply["error"]["message"], "the request took too long");
    }
}
