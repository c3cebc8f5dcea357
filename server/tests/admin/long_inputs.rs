//! What is far too long is refused in words that a client can read.

use pressmark_proto::v1;
use tonic::{Code, Response, Status, Streaming};

use super::{Plane, batch, put, text};

/// A client reads no more than 16 KiB of headers.
const LONG: usize = 100_000;
/// What is said of it.
const SAID_BYTES_MAX: usize = 2 * 1024;

fn check<T>(call: &str, code: Code, answer: Result<T, Status>) {
    let Err(status) = answer else { panic!("{call}: it was taken") };
    assert_eq!(status.code(), code, "{call}: {status}");
    let said = status.message();
    assert!(!said.is_empty() && said.len() <= SAID_BYTES_MAX, "{call}: {} bytes", said.len());
}

/// The first message of a stream, or why there is none.
async fn first<T>(answer: Result<Response<Streaming<T>>, Status>) -> Result<Option<T>, Status> {
    answer?.into_inner().message().await
}

#[tokio::test]
async fn every_call_says_of_a_name_that_is_too_long_what_is_wrong() {
    use Code::{FailedPrecondition, InvalidArgument, NotFound};
    let plane = Plane::start().await;
    for long in ["x".repeat(LONG), "\u{fc}".repeat(LONG)] {
        let named = || long.clone();
        let (mut spaces, mut operations) = (plane.spaces(), plane.operations());
        let space = |name: String, uri_template: String| v1::PutSpaceRequest {
            space: Some(v1::Space { name, uri_template, ..v1::Space::default() }),
        };
        let put_space = spaces.put_space(space(named(), "x://{a}".into())).await;
        check("PutSpace, name", InvalidArgument, put_space);
        let put_space = spaces.put_space(space("x".into(), format!("x://{long}/{{"))).await;
        check("PutSpace, template", InvalidArgument, put_space);
        let request = v1::GetSpaceRequest { name: named() };
        check("GetSpace", NotFound, spaces.get_space(request).await);
        let request = v1::DeleteSpaceRequest { name: named() };
        check("DeleteSpace", NotFound, spaces.delete_space(request).await);
        let request = v1::ScanResourcesRequest { space: named(), ..Default::default() };
        check(
            "ScanResources",
            NotFound,
            first(plane.resources().scan_resources(request).await).await,
        );
        let request = v1::GetResourceRequest { uri: named() };
        check("GetResource", InvalidArgument, plane.resources().get_resource(request).await);
        let request = v1::CompleteVariableRequest { space: named(), ..Default::default() };
        check("CompleteVariable", NotFound, plane.reading().complete_variable(request).await);
        let request = v1::CompleteVariableRequest {
            space: "docs".into(),
            variable: named(),
            ..Default::default()
        };
        let answer = plane.reading().complete_variable(request).await;
        check("CompleteVariable, variable", NotFound, answer);
        let request = v1::WatchChangesRequest { space: named(), ..Default::default() };
        check("WatchChanges", NotFound, first(plane.changes().watch_changes(request).await).await);
        let request = v1::BackupRequest { folder: named(), ..Default::default() };
        check("Backup, relative", InvalidArgument, first(operations.backup(request).await).await);
        let request = v1::ReindexRequest { space: named(), ..Default::default() };
        check("Reindex", NotFound, operations.reindex(request).await);
        let prompt = v1::Prompt { name: named(), ..Default::default() };
        let request = v1::PutPromptRequest { prompt: Some(prompt) };
        check("PutPrompt", InvalidArgument, plane.prompts().put_prompt(request).await);
        let request = v1::DeletePromptRequest { name: named() };
        check("DeletePrompt", NotFound, plane.prompts().delete_prompt(request).await);
        let request = v1::SearchResourcesRequest { space: named(), ..Default::default() };
        check(
            "SearchResources",
            FailedPrecondition,
            plane.reading().search_resources(request).await,
        );
    }
}

#[tokio::test]
async fn refusals_of_a_batch_are_short_enough_to_be_read() {
    let plane = Plane::start().await;
    let long = "g".repeat(LONG);
    let mut group = text("a", "x");
    group.acl = Some(v1::AccessList { groups: vec![long.clone()] });
    let mut meta = text("b", "x");
    meta.meta_json = Some(format!("{{\"{long}!\":1}}"));
    let mut space = text("c", "x");
    space.space.clone_from(&long);
    let mutations = vec![put(group), put(meta), put(space), put(text(&long, "x"))];
    let answer = plane.send(vec![batch(1, mutations)]).await.remove(0);
    assert_eq!(answer.refusals.len(), 4);
    for refusal in &answer.refusals {
        let bytes = refusal.uri.len() + refusal.reason.len();
        assert!(!refusal.reason.is_empty() && bytes <= SAID_BYTES_MAX, "{bytes} bytes");
    }

    // As many as go into a batch, each as long as it may be.
    let mut wrong = text(&"u".repeat(300), "x");
    wrong.acl = Some(v1::AccessList { groups: vec!["g".repeat(2_000)] });
    let answer = plane.send(vec![batch(2, vec![put(wrong); 10_000])]).await.remove(0);
    assert_eq!(answer.refusals.len(), 10_000);
    assert!(answer.refusals.iter().all(|refusal| refusal.reason.ends_with(" bytes")));
}
