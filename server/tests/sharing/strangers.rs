//! What listens or comes and is no process of this version.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
};

use pressmark::sharing::FOLLOWERS_MAX;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::window::{Desk, initialize, request};

#[tokio::test]
async fn an_owner_of_another_version_is_named_and_followed_when_it_has_gone() {
    let desk = Desk::new(&[("a.md", "text")]);
    // The documents are in the store already.
    let mut first = desk.owner().await;
    first.hang_up();
    assert!(first.ended().await.success());
    let lock = File::open(desk.path("d/LOCK")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let socket = desk.path("s");
    let listener = UnixListener::bind(&socket).unwrap();
    fs::write(desk.path("d/SOCKET"), socket.to_str().unwrap()).unwrap();
    let owner = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut hello = String::new();
        BufReader::new(&stream).read_line(&mut hello).unwrap();
        writeln!(&stream, r#"{{"pressmarkSharing":999,"version":"9.8.7","pid":1}}"#).unwrap();
        hello
    });
    let mut window = desk.window();
    let refused = window.ask(initialize()).await;
    let text = refused["error"]["message"].as_str().unwrap();
    assert_eq!(refused["error"]["code"], -32603);
    for said in ["pressmark 9.8.7 (sharing protocol 999", "pressmark 0.", "--data DIR"] {
        assert!(text.contains(said), "{text}");
    }
    let hello: Value = serde_json::from_str(&owner.join().unwrap()).unwrap();
    assert_eq!(hello["pressmarkSharing"], 1);
    // What comes while nobody answers is refused as well, with whatever is the matter by then.
    assert!(window.ask(request(1, "ping", json!({}))).await.get("error").is_some());
    drop(lock);
    window.said("owns the store").await;
    window.initialize().await;
    assert_eq!(window.read(2, "a.md").await, "text");
}

#[tokio::test]
async fn one_window_too_many_is_refused_and_let_in_when_another_has_gone() {
    let desk = Desk::new(&[("a.md", "text")]);
    let _owner = desk.owner().await;
    let socket = desk.socket().unwrap();
    let come = || {
        let mut stream = UnixStream::connect(&socket).unwrap();
        writeln!(stream, r#"{{"pressmarkSharing":1,"version":"0","pid":1}}"#).unwrap();
        let mut hello = String::new();
        BufReader::new(&stream).read_line(&mut hello).unwrap();
        (stream, serde_json::from_str::<Value>(&hello).unwrap())
    };
    let mut windows: Vec<_> = (0..FOLLOWERS_MAX).map(|_| come()).collect();
    assert!(windows.iter().all(|(_, hello)| hello.get("refused").is_none()));
    let mut window = desk.window();
    let refused = window.ask(initialize()).await;
    let text = refused["error"]["message"].as_str().unwrap();
    assert!(text.contains("64 windows share the store already"), "{text}");
    windows.pop();
    window.said("sharing the store").await;
    window.initialize().await;
    assert_eq!(window.read(1, "a.md").await, "text");
}

#[tokio::test]
async fn who_comes_with_another_version_or_none_is_turned_away() {
    let desk = Desk::new(&[("a.md", "text")]);
    let mut owner = desk.owner().await;
    let socket = desk.socket().unwrap();
    let converse = |line: &str| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        writeln!(stream, "{line}").unwrap();
        let mut said = String::new();
        // The owner may close with our line unread.
        let _ = stream.read_to_string(&mut said);
        said
    };
    let said = converse(r#"{"pressmarkSharing":999,"version":"9.8.7","pid":1}"#);
    let hello: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(hello["pressmarkSharing"], 1);
    let refused = hello["refused"].as_str().unwrap();
    assert!(refused.contains("9.8.7") && refused.contains(env!("CARGO_PKG_VERSION")), "{refused}");
    assert_eq!(converse(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), "");
    assert_eq!(owner.read(1, "a.md").await, "text");
}
