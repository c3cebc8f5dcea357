use std::sync::Arc;
use std::time::Duration;

use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::full_text::FullTextOptions;
use pressmark_index::full_text::extract::{Extract, ExtractError, Extracted, Source, Stop};
use pressmark_proto::v1;
use tonic::Code;

use super::{Plane, options};

#[tokio::test]
async fn figures_say_what_there_is() {
    let plane = Plane::start().await;
    plane.put(&["a", "b"]).await;
    let stats = plane.operations().get_stats(v1::GetStatsRequest {}).await.unwrap().into_inner();
    assert_eq!((stats.resource_count, stats.oldest_sequence, stats.newest_sequence), (2, 1, 2));
    assert!(stats.writable && stats.refusal_reason.is_empty());
    assert!(stats.disk.iter().any(|part| part.part == "contents"), "{:?}", stats.disk);
}

#[tokio::test]
async fn a_check_ends_with_its_report() {
    let plane = Plane::start().await;
    plane.put(&["a", "b", "c"]).await;
    let mut stream = plane.operations().verify(v1::VerifyRequest {}).await.unwrap().into_inner();
    let mut last = v1::VerifyResponse::default();
    while let Some(message) = stream.message().await.unwrap() {
        assert!(last.report.is_none());
        last = message;
    }
    assert_eq!((last.resources_checked, last.resources_total), (3, 3));
    assert!(last.report.unwrap().clean);
}

#[tokio::test]
async fn a_copy_can_be_opened() {
    let plane = Plane::start().await;
    plane.put(&["a", "b"]).await;
    let copy = plane.folder.path().join("copy");
    let request =
        |folder: &str| v1::BackupRequest { folder: folder.into(), previous: String::new() };
    let to_copy = request(copy.to_str().unwrap());
    let mut stream = plane.operations().backup(to_copy.clone()).await.unwrap().into_inner();
    let mut report = None;
    while let Some(message) = stream.message().await.unwrap() {
        report = message.report;
    }
    assert_eq!(report.unwrap().through_sequence, 2);
    let restored = plane.folder.path().join("restored");
    pressmark_index::backup::restore(&copy, &restored, &mut |_| ()).unwrap();
    let engine = Engine::open(&restored, &options()).unwrap();
    assert_eq!(engine.stats().unwrap().resources, 2);

    let mut stream = plane.operations().backup(to_copy).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap_err().code(), Code::FailedPrecondition);
    std::fs::write(plane.folder.path().join("file"), "").unwrap();
    let long = "x".repeat(100_000);
    for (name, code, says) in [
        ("data/copy", Code::FailedPrecondition, "into the data directory"),
        ("file", Code::FailedPrecondition, "it is a file"),
        (&long, Code::InvalidArgument, "too long"),
    ] {
        let folder = plane.folder.path().join(name);
        let request = request(folder.to_str().unwrap());
        let mut stream = plane.operations().backup(request).await.unwrap().into_inner();
        let status = stream.message().await.unwrap_err();
        assert_eq!(status.code(), code, "{status}");
        assert!(status.message().contains(says), "{status}");
    }
    let status = plane.operations().backup(request("here")).await.unwrap_err();
    assert!(status.message().starts_with("folder:"), "{status}");
}

#[tokio::test]
async fn tables_are_rewritten_and_indexes_made_anew() {
    let plane = Plane::start().await;
    plane.put(&["a", "b"]).await;
    plane.operations().compact(v1::CompactRequest {}).await.unwrap();
    let reindex = |kind: v1::IndexKind, space: &str| v1::ReindexRequest {
        kind: kind.into(),
        space: space.into(),
    };
    let kind = v1::IndexKind::Completion;
    let one = plane.operations().reindex(reindex(kind, "docs")).await.unwrap().into_inner();
    assert_eq!(one.indexes, 1);
    let status = plane.operations().reindex(reindex(kind, "none")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    let wrong = v1::ReindexRequest { kind: 99, ..Default::default() };
    let status = plane.operations().reindex(wrong).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
}

/// Keeps the full-text index behind, so that a check of the store waits for it.
#[derive(Debug)]
struct Waits;

impl Extract for Waits {
    fn extract(&self, _source: &Source<'_>, stop: &Stop) -> Result<Extracted, ExtractError> {
        while !stop.is_asked() {
            std::thread::yield_now();
        }
        Err(ExtractError::Stopped)
    }

    fn version(&self) -> u32 {
        0
    }
}

/// Each check waits ten seconds for the index: all of them one after the other would take minutes.
#[tokio::test]
async fn checks_end_with_their_callers_and_hold_nobody_up() {
    const HANG: Duration = Duration::from_secs(60);
    let full_text = FullTextOptions {
        memory_bytes: 16 << 20,
        hit_cache_bytes: 0,
        threads: 1,
        commit_interval: Duration::from_millis(5),
        extract: Arc::new(Waits),
    };
    let options = EngineOptions { full_text: Some(full_text), ..options() };
    let plane = Plane::start_with(&options).await;
    let done = tokio::time::timeout(HANG, async {
        plane.put(&["a"]).await;
        let mut calls = Vec::new();
        for _ in 0..48 {
            calls.push(plane.operations().verify(v1::VerifyRequest {}).await.unwrap());
        }
        // While they wait, others are answered.
        plane.put(&["b"]).await;
        drop(calls);
        let mut last = plane.operations().verify(v1::VerifyRequest {}).await.unwrap().into_inner();
        while let Some(message) = last.message().await.unwrap() {
            if let Some(report) = message.report {
                return report.clean;
            }
        }
        false
    });
    assert!(done.await.unwrap(), "the store has faults");
}
