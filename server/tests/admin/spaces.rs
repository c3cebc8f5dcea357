use pressmark_proto::v1;
use tonic::Code;

use super::Plane;

#[tokio::test]
async fn spaces_come_and_go() {
    let plane = Plane::start().await;
    let space = v1::Space {
        name: "pypi".into(),
        uri_template: "pypi://packages/{name}".into(),
        title: Some("Packages".into()),
        mime_type: Some("text/plain".into()),
        list: v1::ListMode::Pinned.into(),
        ttl: Some(prost_types::Duration { seconds: 300, nanos: 0 }),
        cache_scope: v1::CacheScope::Private.into(),
        alias_clash: v1::AliasClash::Warn.into(),
        ..v1::Space::default()
    };
    let request = v1::PutSpaceRequest { space: Some(space.clone()) };
    let put = plane.spaces().put_space(request).await.unwrap().into_inner();
    assert_eq!(put.space.as_ref(), Some(&space));
    let request = v1::GetSpaceRequest { name: "pypi".into() };
    let got = plane.spaces().get_space(request.clone()).await.unwrap().into_inner();
    assert_eq!((got.space, got.resource_count), (Some(space), 0));

    plane.put(&["a", "b"]).await;
    let list = plane.spaces().list_spaces(v1::ListSpacesRequest {}).await.unwrap().into_inner();
    let names: Vec<_> = list
        .spaces
        .into_iter()
        .map(|entry| (entry.space.unwrap().name, entry.resource_count))
        .collect();
    assert_eq!(names, [("docs".to_owned(), 2), ("pypi".to_owned(), 0)]);

    let docs = v1::DeleteSpaceRequest { name: "docs".into() };
    let deleted = plane.spaces().delete_space(docs.clone()).await.unwrap().into_inner();
    assert_eq!(deleted.resources_deleted, 2);
    let status = plane.spaces().delete_space(docs).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    let request = v1::GetSpaceRequest { name: "docs".into() };
    assert_eq!(plane.spaces().get_space(request).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn a_space_that_cannot_be_is_refused_with_the_reason() {
    let plane = Plane::start().await;
    for (name, template, code, says) in [
        ("x", "x://{a}{b}", Code::InvalidArgument, "x://{a}{b}"),
        ("x", "x://{", Code::InvalidArgument, "x://{"),
        ("X y", "x://{a}", Code::InvalidArgument, "X y"),
        ("twin", "docs://h/{+path}", Code::FailedPrecondition, "docs"),
    ] {
        let space =
            v1::Space { name: name.into(), uri_template: template.into(), ..v1::Space::default() };
        let request = v1::PutSpaceRequest { space: Some(space) };
        let status = plane.spaces().put_space(request).await.unwrap_err();
        assert_eq!(status.code(), code, "{template}: {status}");
        assert!(status.message().contains(says), "{template}: {status}");
    }
    let status = plane.spaces().put_space(v1::PutSpaceRequest { space: None }).await.unwrap_err();
    assert!(status.message().starts_with("space:"), "{status}");
}

#[tokio::test]
async fn settings_that_cannot_be_are_refused_and_not_taken_for_others() {
    let plane = Plane::start().await;
    let check = async |change: &dyn Fn(&mut v1::Space), says: &str| {
        let mut space =
            v1::Space { name: "x".into(), uri_template: "x://{a}".into(), ..v1::Space::default() };
        change(&mut space);
        let request = v1::PutSpaceRequest { space: Some(space) };
        let status = plane.spaces().put_space(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{says}: {status}");
        assert!(status.message().contains(says), "{says}: {status}");
    };
    check(&|space| space.list = 99, "space.list: 99").await;
    check(&|space| space.cache_scope = 99, "space.cache_scope: 99").await;
    check(&|space| space.alias_clash = -1, "space.alias_clash: -1").await;
    check(&|space| space.mime_type = Some("not a mime".into()), "`not a mime`").await;
    check(&|space| space.description = Some("x".repeat(100_000)), "at most 65536").await;
    for (seconds, nanos, says) in [
        (i64::MAX, 0, "a year"),
        (31_536_001, 0, "a year"),
        (-1, 0, "space.ttl"),
        (1, -5, "space.ttl"),
        (1, 1_000_000_000, "space.ttl"),
    ] {
        let ttl = prost_types::Duration { seconds, nanos };
        check(&|space| space.ttl = Some(ttl), says).await;
    }
    for template in ["{a}", "/x/{a}", "1x:{a}", "x{a}", "{/a}x/b:c", ":{a}", "x", "x/y:{a}"] {
        check(&|space| space.uri_template = template.into(), "begins with a scheme").await;
    }
}
