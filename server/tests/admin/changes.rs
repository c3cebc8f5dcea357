use pressmark_proto::v1;
use tonic::Code;

use super::{Plane, batch, delete};

async fn watch(
    plane: &Plane,
    after_sequence: Option<u64>,
    space: &str,
) -> Result<tonic::Streaming<v1::WatchChangesResponse>, tonic::Status> {
    let request = v1::WatchChangesRequest { after_sequence, space: space.into() };
    plane.changes().watch_changes(request).await.map(tonic::Response::into_inner)
}

/// The next changes, as many as are wanted.
async fn next(
    stream: &mut tonic::Streaming<v1::WatchChangesResponse>,
    count: usize,
) -> Vec<(u64, v1::ChangeKind, String)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let response = stream.message().await.unwrap().unwrap();
        for change in response.changes {
            assert!(change.sequence <= response.through_sequence);
            seen.push((change.sequence, change.kind(), change.uri));
        }
    }
    seen
}

#[tokio::test]
async fn changes_come_from_where_they_are_asked_and_go_on() {
    let plane = Plane::start().await;
    plane.put(&["a", "b"]).await;
    let mut all = watch(&plane, Some(0), "").await.unwrap();
    let mut later = watch(&plane, Some(1), "docs").await.unwrap();
    let mut new = watch(&plane, None, "").await.unwrap();
    let created =
        |number, name: &str| (number, v1::ChangeKind::Created, format!("docs://h/{name}"));
    assert_eq!(next(&mut all, 2).await, [created(1, "a"), created(2, "b")]);
    assert_eq!(next(&mut later, 1).await, [created(2, "b")]);
    plane.send(vec![batch(1, vec![delete("a")])]).await;
    let deleted = [(3, v1::ChangeKind::Deleted, "docs://h/a".to_owned())];
    for stream in [&mut all, &mut later, &mut new] {
        assert_eq!(next(stream, 1).await, deleted);
    }
    plane.shutdown.begin();
    let status = all.message().await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
}

#[tokio::test]
async fn other_spaces_are_left_out() {
    let plane = Plane::start().await;
    let space =
        v1::Space { name: "x".into(), uri_template: "x://{a}".into(), ..v1::Space::default() };
    plane.spaces().put_space(v1::PutSpaceRequest { space: Some(space) }).await.unwrap();
    plane.put(&["a"]).await;
    let mut stream = watch(&plane, Some(0), "x").await.unwrap();
    let first = stream.message().await.unwrap().unwrap();
    assert_eq!((first.changes.len(), first.through_sequence), (0, 1));
    let status = watch(&plane, Some(0), "none").await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

#[tokio::test]
async fn a_search_waits_for_no_change_that_is_not_there() {
    let plane = Plane::start().await;
    plane.put(&["a"]).await;
    for (after, code) in
        [(1, Code::FailedPrecondition), (2, Code::OutOfRange), (u64::MAX, Code::OutOfRange)]
    {
        let request =
            v1::SearchResourcesRequest { after_sequence: Some(after), ..Default::default() };
        let status = plane.reading().search_resources(request).await.unwrap_err();
        // There is no full text here, which is said of what could be waited for.
        assert_eq!(status.code(), code, "{after}: {status}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_out_of_range() {
    let plane = Plane::start().await;
    plane.put(&["a"]).await;
    let status = watch(&plane, Some(2), "").await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange);
    assert_eq!(status.metadata().get("pressmark-oldest-sequence").unwrap(), "1");
    assert!(status.message().contains("the newest is 1"), "{status}");
}
