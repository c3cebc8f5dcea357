//! Who is told: what a caller may not see is not told, neither that it is there nor that it changed.

use pressmark_index::{mutation::Mutation, resource::Body};

use crate::common::{Bounds, events::listen, http::HttpFront, note};

const SHELF: &str = r#"{"resourcesListChanged":true,"resourceSubscriptions":["note://shelf/secret","note://shelf"]}"#;

fn secret(text: &str, group: Option<&str>) -> Mutation {
    let mut secret = note("secret", Body::Text(text.to_owned()));
    secret.acl = group.map(|group| vec![group.to_owned()]);
    Mutation::Put(Box::new(secret))
}

#[tokio::test]
async fn what_may_not_be_seen_is_not_told_and_what_takes_sight_away_is() {
    let server = HttpFront::start(Bounds::default()).await;
    let mut stream = listen(&server, "1", SHELF).await;
    server.front.commit(vec![secret("hidden", Some("staff"))]);
    server.front.commit(vec![secret("hidden still", Some("staff"))]);
    server.front.put("plain", "seen");
    assert_eq!(
        stream.updated().await,
        "note://shelf/plain",
        "nothing of the hidden note before it"
    );
    // It comes into sight, and goes out of it again.
    for (text, group) in [("open", None), ("hidden again", Some("board"))] {
        server.front.commit(vec![secret(text, group)]);
        assert_eq!(stream.updated().await, "note://shelf/secret");
        assert_eq!(stream.updated().await, "note://shelf", "its listing has changed");
    }
    server.front.commit(vec![Mutation::Delete { uri: "note://shelf/secret".to_owned() }]);
    server.front.put("plain", "seen again");
    let mut told = Vec::new();
    loop {
        let message = stream.message().await.unwrap();
        told.push(message["method"].as_str().unwrap().to_owned());
        if message["params"]["uri"] == "note://shelf/plain" {
            break;
        }
    }
    // The list had changed when the note came into sight, which is told a moment later.
    told.retain(|method| method != "notifications/resources/list_changed");
    assert_eq!(told.len(), 1, "the deletion of a hidden note is not told");
}

#[tokio::test]
async fn a_removed_space_tells_of_every_resource_that_goes_with_it() {
    let server = HttpFront::start(Bounds::default()).await;
    let mut stream = listen(
        &server,
        "1",
        r#"{"resourcesListChanged":true,"resourceSubscriptions":["note://shelf/plain"]}"#,
    )
    .await;
    server.front.engine.remove_space("notes").unwrap();
    let mut told = [stream.message().await.unwrap(), stream.message().await.unwrap()]
        .map(|message| message["method"].as_str().unwrap().to_owned());
    told.sort();
    assert_eq!(told, ["notifications/resources/list_changed", "notifications/resources/updated"]);
}
