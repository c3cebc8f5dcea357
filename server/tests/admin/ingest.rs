use pressmark_proto::v1;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use super::{Plane, batch, delete, put, text};

#[tokio::test]
async fn each_batch_is_acknowledged_with_what_it_did() {
    let plane = Plane::start().await;
    let answers = plane
        .send(vec![
            batch(7, vec![put(text("a", "1")), put(text("b", "1"))]),
            batch(8, vec![put(text("a", "2")), put(text("b", "1")), delete("b"), delete("c")]),
            batch(9, vec![]),
        ])
        .await;
    let wanted = [
        v1::IngestResponse {
            batch_id: 7,
            last_sequence: Some(2),
            created: 2,
            ..Default::default()
        },
        v1::IngestResponse {
            batch_id: 8,
            last_sequence: Some(4),
            updated: 1,
            unchanged: 1,
            deleted: 1,
            absent: 1,
            ..Default::default()
        },
        v1::IngestResponse { batch_id: 9, ..Default::default() },
    ];
    assert_eq!(answers, wanted);
}

#[tokio::test]
async fn what_is_refused_is_named_and_the_rest_goes_in() {
    let plane = Plane::start().await;
    let mut no_space = text("a", "x");
    no_space.space = "nowhere".into();
    let mut foreign = text("a", "x");
    foreign.uri = "other://h/a".into();
    let mut bad_meta = text("m", "x");
    bad_meta.meta_json = Some("{\"io.pressmark/storedUri\":1}".into());
    let mut no_body = text("n", "x");
    no_body.contents = vec![v1::Part::default()];
    let mut bad_role = text("r", "x");
    bad_role.audience = vec![9];
    let expecting = |expected, mutation: v1::Mutation| v1::Mutation {
        expected_version: Some(expected),
        ..mutation
    };
    let mutations = vec![
        put(no_space),
        put(text("good", "x")),
        put(foreign),
        put(bad_meta),
        put(no_body),
        put(bad_role),
        v1::Mutation::default(),
        expecting(3, put(text("good", "y"))),
        expecting(1, put(text("good", "z"))),
        expecting(0, delete("good")),
    ];
    let answer = plane.send(vec![batch(1, mutations)]).await.remove(0);
    assert_eq!((answer.created, answer.updated, answer.last_sequence), (1, 1, Some(2)));
    let refusals: Vec<_> = answer
        .refusals
        .iter()
        .map(|refusal| (refusal.index, refusal.kind(), refusal.reason.as_str()))
        .collect();
    let wanted = [
        (0, v1::RefusalKind::NotFound, "there is no space `nowhere`"),
        (2, v1::RefusalKind::Invalid, "does not match"),
        (3, v1::RefusalKind::Invalid, "meta_json: the key `io.pressmark/storedUri` is reserved"),
        (4, v1::RefusalKind::Invalid, "contents: a part needs `text` or `blob`"),
        (5, v1::RefusalKind::Invalid, "audience: 9 is no role"),
        (6, v1::RefusalKind::Invalid, "change: a mutation needs"),
        (7, v1::RefusalKind::VersionMismatch, "version 1"),
        (9, v1::RefusalKind::VersionMismatch, "version 2"),
    ];
    assert_eq!(refusals.len(), wanted.len(), "{refusals:#?}");
    for ((index, kind, reason), (wanted_index, wanted_kind, says)) in refusals.iter().zip(wanted) {
        assert_eq!((*index, *kind), (wanted_index, wanted_kind), "{reason}");
        assert!(reason.contains(says), "{reason}");
    }
}

#[tokio::test]
async fn a_batch_with_a_key_is_applied_once() {
    let plane = Plane::start().await;
    let keyed = |key: &[u8], body: &str| v1::IngestRequest {
        batch_id: 1,
        idempotency_key: Some(key.to_vec()),
        mutations: vec![put(text("a", body))],
    };
    let first = plane.send(vec![keyed(b"k1", "one")]).await.remove(0);
    assert_eq!((first.applied_before, first.last_sequence), (false, Some(1)));
    // The same again, on another stream and beside others.
    let again = plane.send(vec![keyed(b"k2", "two"), keyed(b"k1", "one")]).await;
    assert!(!again[0].applied_before);
    assert_eq!((again[1].applied_before, again[1].last_sequence), (true, Some(1)));
    let request = v1::GetResourceRequest { uri: "docs://h/a".into() };
    let got = plane.resources().get_resource(request).await.unwrap().into_inner();
    assert_eq!(got.resource.unwrap().version, 2);
}

#[tokio::test]
async fn a_batch_that_is_too_much_ends_the_stream_and_not_what_was_before() {
    let plane = Plane::start().await;
    let many = vec![delete("none"); 10_001];
    let sent = vec![
        batch(1, vec![put(text("a", "x"))]),
        batch(2, many),
        batch(3, vec![put(text("b", "x"))]),
    ];
    let mut stream = plane.ingest().ingest(tokio_stream::iter(sent)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap().unwrap().batch_id, 1);
    let status = stream.message().await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("batch 2") && status.message().contains("10000"), "{status}");

    let key = Some(vec![0; 65]);
    let sent = vec![v1::IngestRequest { idempotency_key: key, ..batch(4, vec![]) }];
    let mut stream = plane.ingest().ingest(tokio_stream::iter(sent)).await.unwrap().into_inner();
    assert!(stream.message().await.unwrap_err().message().contains("idempotency_key"));
}

#[tokio::test]
async fn an_acknowledgement_comes_while_the_stream_goes_on() {
    let plane = Plane::start().await;
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let mut stream =
        plane.ingest().ingest(ReceiverStream::new(receiver)).await.unwrap().into_inner();
    for round in 0..20 {
        let name = format!("n{round}");
        sender.send(batch(round, vec![put(text(&name, "x"))])).await.unwrap();
        // The next is sent only after this one is durable and can be read.
        assert_eq!(stream.message().await.unwrap().unwrap().batch_id, round);
        let request = v1::GetResourceRequest { uri: format!("docs://h/{name}") };
        plane.resources().get_resource(request).await.unwrap();
    }
    drop(sender);
    assert!(stream.message().await.unwrap().is_none());
}

#[tokio::test]
async fn so_many_ingests_go_on_at_a_time_and_no_more() {
    let plane = Plane::start().await;
    let open = || async {
        let (sender, receiver) = tokio::sync::mpsc::channel::<v1::IngestRequest>(1);
        let opened = plane.ingest().ingest(ReceiverStream::new(receiver)).await;
        opened.map(|answers| (sender, answers.into_inner()))
    };
    let mut streams = Vec::new();
    for _ in 0..16 {
        streams.push(open().await.unwrap());
    }
    let refused = open().await.err().unwrap();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
    assert!(refused.message().contains("16 ingests"), "{refused:?}");
    // One that has ended makes room.
    let (sender, mut answers) = streams.pop().unwrap();
    drop(sender);
    assert!(answers.message().await.unwrap().is_none());
    drop(answers);
    let (sender, mut answers) = open().await.unwrap();
    sender.send(batch(1, vec![put(text("a", "1"))])).await.unwrap();
    assert_eq!(answers.message().await.unwrap().unwrap().created, 1);
}

#[tokio::test]
async fn batches_of_one_stream_keep_their_order() {
    let plane = Plane::start().await;
    // Large ones take longer to encode than the small ones behind them.
    let body =
        |round: u64| if round.is_multiple_of(3) { "x".repeat(1 << 20) } else { String::new() };
    let batches = (0..30)
        .map(|round| batch(round, vec![put(text("a", &format!("{round} {}", body(round))))]))
        .collect();
    let answers = plane.send(batches).await;
    let ids: Vec<u64> = answers.iter().map(|answer| answer.batch_id).collect();
    assert_eq!(ids, (0..30).collect::<Vec<_>>());
    assert!(answers.iter().all(|answer| answer.created + answer.updated == 1));
    let request = v1::GetResourceRequest { uri: "docs://h/a".into() };
    let got = plane.resources().get_resource(request).await.unwrap().into_inner();
    let Some(v1::part::Body::Text(text)) =
        got.resource.unwrap().resource.unwrap().contents.remove(0).body
    else {
        unreachable!()
    };
    assert!(text.starts_with("29 "), "{text}");
}

#[tokio::test]
async fn a_resource_with_both_uri_and_variables_needs_both_to_say_the_same() {
    let plane = Plane::start().await;
    let space = v1::Space {
        name: "twice".into(),
        uri_template: "twice://{a}/{b}/{a}{?q*}".into(),
        ..v1::Space::default()
    };
    plane.spaces().put_space(v1::PutSpaceRequest { space: Some(space) }).await.unwrap();
    let check = async |uri: &str, variables: &[(&str, &str)], wanted: Result<(), (&str, &str)>| {
        let binding = |(name, value): &(&str, &str)| v1::Binding {
            name: (*name).into(),
            value: Some(v1::binding::Value::Text((*value).into())),
        };
        let mut resource = text("a", "x");
        resource.space = "twice".into();
        resource.uri = uri.into();
        resource.variables = variables.iter().map(binding).collect();
        let answer = plane.send(vec![batch(1, vec![put(resource)])]).await.remove(0);
        let Err((wanted_uri, says)) = wanted else {
            assert_eq!(answer.refusals, [], "{uri} {variables:?}");
            return;
        };
        let refusal = &answer.refusals[0];
        assert_eq!((refusal.kind(), &*refusal.uri), (v1::RefusalKind::Invalid, wanted_uri));
        assert!(refusal.reason.contains(says), "{uri} {variables:?}: {refusal:?}");
    };
    let uri = "twice://1/2/1";
    check(uri, &[], Ok(())).await;
    check("", &[("a", "1"), ("b", "2")], Ok(())).await;
    check(uri, &[("a", "1"), ("b", "2")], Ok(())).await;
    check(uri, &[("a", "1"), ("b", "3")], Err((uri, "another URI, `twice://1/3/1`"))).await;
    check(uri, &[("a", "1"), ("b", "2"), ("c", "3")], Err((uri, "has no variable `c`"))).await;
    check(uri, &[("a", "1"), ("b", "2"), ("b", "2")], Err((uri, "`b` stands twice"))).await;
    check("", &[("a", "1"), ("a", "2"), ("b", "2")], Err(("", "`a` stands twice"))).await;
    check("zzz://x", &[], Err(("zzz://x", "does not match"))).await;
    check("", &[], Err(("", "needs `uri`"))).await;

    // What is given back can be put.
    let request = v1::GetResourceRequest { uri: uri.into() };
    let got = plane.resources().get_resource(request).await.unwrap().into_inner();
    let given_back = got.resource.unwrap().resource.unwrap();
    assert_eq!((&*given_back.uri, given_back.variables.len()), (uri, 2));
    let answer = plane.send(vec![batch(1, vec![put(given_back)])]).await.remove(0);
    assert_eq!(answer.unchanged, 1, "{answer:?}");
}
