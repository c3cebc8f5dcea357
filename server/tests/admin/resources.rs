use pressmark_proto::v1;
use tonic::Code;

use super::{Plane, batch, put, text};

async fn scan(plane: &Plane, request: v1::ScanResourcesRequest) -> Vec<v1::StoredResource> {
    let mut stream = plane.resources().scan_resources(request).await.unwrap().into_inner();
    let mut all = Vec::new();
    while let Some(response) = stream.message().await.unwrap() {
        all.extend(response.resources);
    }
    all
}

#[tokio::test]
async fn a_resource_comes_back_as_it_was_put() {
    let plane = Plane::start().await;
    let resource = v1::Resource {
        name: Some("name".into()),
        title: Some("Title".into()),
        description: Some("line".into()),
        mime_type: Some("text/markdown".into()),
        audience: vec![v1::Role::User.into()],
        priority: Some(0.25),
        last_modified: Some(prost_types::Timestamp { seconds: -1, nanos: 500_000_000 }),
        size: Some(5),
        icons_json: Some("[{\"src\":\"https://e.example/i.png\"}]".into()),
        meta_json: Some("{\"a\":1}".into()),
        pinned: true,
        acl: Some(v1::AccessList { groups: vec!["staff".into()] }),
        contents: vec![v1::Part {
            uri: None,
            mime_type: Some("text/markdown".into()),
            meta_json: Some("{\"b\":2}".into()),
            body: Some(v1::part::Body::Text("# hi\n".into())),
        }],
        ..text("dir/a%20b", "")
    };
    let answer = plane.send(vec![batch(1, vec![put(resource.clone())])]).await.remove(0);
    assert_eq!(answer.created, 1, "{answer:?}");
    let request = v1::GetResourceRequest { uri: "docs://h/dir/a%20b".into() };
    let got = plane.resources().get_resource(request).await.unwrap().into_inner();
    let got = got.resource.unwrap();
    assert_eq!((got.version, got.sequence), (1, 1));
    let path = v1::Binding {
        name: "path".into(),
        value: Some(v1::binding::Value::Text("dir/a%20b".into())),
    };
    let wanted = v1::Resource { variables: vec![path], ..resource };
    assert_eq!(got.resource, Some(wanted.clone()));
    // What was given back can be put again.
    let again = plane.send(vec![batch(2, vec![put(wanted)])]).await.remove(0);
    assert_eq!(again.unchanged, 1, "{again:?}");

    let request = v1::GetResourceRequest { uri: "docs://h/none".into() };
    let status = plane.resources().get_resource(request).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

#[tokio::test]
async fn a_scan_gives_everything_once_and_goes_on_where_it_was_cut() {
    let plane = Plane::start().await;
    let names: Vec<String> = (0..2_500).map(|number| format!("n{number:04}")).collect();
    let mutations = names.iter().map(|name| put(text(name, "x"))).collect();
    plane.send(vec![batch(1, mutations)]).await;
    let uri = |stored: &v1::StoredResource| stored.resource.as_ref().unwrap().uri.clone();
    let all = scan(&plane, v1::ScanResourcesRequest::default()).await;
    let wanted: Vec<String> = names.iter().map(|name| format!("docs://h/{name}")).collect();
    assert_eq!(all.iter().map(uri).collect::<Vec<_>>(), wanted);
    let request = v1::ScanResourcesRequest {
        space: "docs".into(),
        uri_prefix: "docs://h/n1".into(),
        after_uri: "docs://h/n1100".into(),
        without_bodies: true,
        limit: 50,
    };
    let some = scan(&plane, request).await;
    assert_eq!(some.iter().map(uri).collect::<Vec<_>>(), wanted[1_101..1_151]);
    let body = &some[0].resource.as_ref().unwrap().contents[0].body;
    assert_eq!(body, &Some(v1::part::Body::Text(String::new())));

    let request = v1::ScanResourcesRequest { space: "none".into(), ..Default::default() };
    let status = plane.resources().scan_resources(request).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

/// Clients of gRPC refuse a message of more unless they are told otherwise; ours is one of them.
#[tokio::test]
async fn a_scan_of_large_resources_has_no_message_over_four_mebibytes() {
    let plane = Plane::start().await;
    for (name, bytes) in [("a", 900_000), ("b", 3_900_000), ("c", 900_000), ("d", 3_900_000)] {
        let answer = plane.send(vec![batch(1, vec![put(text(name, &"x".repeat(bytes)))])]).await;
        assert_eq!(answer[0].created, 1, "{answer:?}");
    }
    let all = scan(&plane, v1::ScanResourcesRequest::default()).await;
    let bytes = |stored: &v1::StoredResource| {
        let resource = stored.resource.as_ref().unwrap();
        resource
            .contents
            .iter()
            .map(|part| match &part.body {
                Some(v1::part::Body::Text(text)) => text.len(),
                Some(_) | None => 0,
            })
            .sum::<usize>()
    };
    assert_eq!(all.iter().map(bytes).collect::<Vec<_>>(), [900_000, 3_900_000, 900_000, 3_900_000]);
}
