//! A relay between a client and owners that say what the tests have them say.

use std::{collections::VecDeque, io::ErrorKind, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex},
    task::{JoinHandle, LocalSet, spawn_local},
    time::Instant,
};

use super::{Hello, NotReached, Relay, RelayConfig, RelayError, Upstream};
use crate::shutdown::Shutdown;

const PIPE_BYTES: usize = 64 * 1024;
const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const AGREED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}"#;

/// One end of a pair of pipes.
struct End {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
}

impl End {
    async fn say(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    async fn say_line(&mut self, line: &str) {
        self.say(&format!("{line}\n")).await;
    }

    async fn hears(&mut self, line: &str) {
        assert_eq!(self.next().await, line);
    }

    async fn next(&mut self) -> String {
        self.output.next_line().await.unwrap().expect("it goes on")
    }

    async fn is_ended(&mut self) -> bool {
        self.output.next_line().await.unwrap().is_none()
    }
}

fn pipes() -> (End, DuplexStream, DuplexStream) {
    let (input, far_input) = duplex(PIPE_BYTES);
    let (far_output, output) = duplex(PIPE_BYTES);
    (End { input: Some(input), output: BufReader::new(output).lines() }, far_input, far_output)
}

type Script = Arc<Mutex<VecDeque<Result<Upstream, NotReached>>>>;

/// A client behind a relay, and what the relay's attempts come to; without more of it nobody is there.
struct Rig {
    client: End,
    script: Script,
    shutdown: Shutdown,
    relay: JoinHandle<Result<(), RelayError>>,
}

impl Rig {
    fn start(script: Script) -> Self {
        let (client, reader, writer) = pipes();
        let shutdown = Shutdown::new();
        let config = RelayConfig {
            line_bytes_max: 4_096,
            start_patience: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
        };
        let relay = Relay::new(reader, writer, config, shutdown.clone());
        let attempts = Arc::clone(&script);
        let reach = async move || {
            let none = || Err(NotReached::NotYet("nobody is there".to_owned()));
            attempts.lock().pop_front().unwrap_or_else(none)
        };
        let relay = spawn_local(async move { relay.run(reach).await });
        Self { client, script, shutdown, relay }
    }

    /// The same with an owner.
    fn with_owner() -> (Self, End) {
        let script = Script::default();
        let owner = come(&script);
        (Self::start(script), owner)
    }

    fn owner(&self) -> End {
        come(&self.script)
    }

    /// A client that has agreed with its owner.
    async fn agreed() -> (Self, End) {
        let (mut rig, mut owner) = Self::with_owner();
        rig.client.say_line(INITIALIZE).await;
        owner.hears(INITIALIZE).await;
        owner.say_line(AGREED).await;
        rig.client.hears(AGREED).await;
        rig.client.say_line(INITIALIZED).await;
        owner.hears(INITIALIZED).await;
        (rig, owner)
    }
}

/// An owner that the next attempt reaches.
fn come(script: &Script) -> End {
    let (owner, reader, writer) = pipes();
    let hello = Hello {
        protocol: 1,
        version: "0".to_owned(),
        pid: 1,
        directory: String::new(),
        newest: None,
        sources: Vec::new(),
        served: None,
        refused: None,
    };
    let upstream = Upstream::owner(
        reader,
        writer,
        hello.clone(),
        PathBuf::from("nowhere"),
        Hello { newest: Some(7), ..hello },
    );
    script.lock().push_back(Ok(upstream));
    owner
}

fn request(id: &str, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"uri":"a://{id}"}}}}"#)
}

fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

async fn local(test: impl Future<Output = ()>) {
    LocalSet::new().run_until(test).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_not_answered_is_asked_again_and_nothing_else() {
    local(async {
        let (mut rig, mut owner) = Rig::agreed().await;
        for id in ["1", "2", "\"x\"", "3"] {
            rig.client.say_line(&request(id, "resources/read")).await;
            owner.hears(&request(id, "resources/read")).await;
        }
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0078"}}"#;
        rig.client.say_line(cancel).await;
        owner.hears(cancel).await;
        owner.say_line(&answer("2")).await;
        rig.client.hears(&answer("2")).await;
        // An answer that is cut off is none.
        owner.say(r#"{"jsonrpc":"2.0","id":1,"result":{"#).await;
        drop(owner);
        let mut owner = rig.owner();
        owner.hears(INITIALIZE).await;
        owner.hears(INITIALIZED).await;
        owner.say_line(AGREED).await;
        for id in ["1", "3"] {
            owner.hears(&request(id, "resources/read")).await;
            owner.say_line(&answer(id)).await;
        }
        // What the client hears first are lists that may have changed; it heard before what was agreed.
        for list in ["resources", "prompts"] {
            let told = rig.client.next().await;
            assert!(told.contains(&format!("notifications/{list}/list_changed")), "{told}");
        }
        rig.client.hears(&answer("1")).await;
        rig.client.hears(&answer("3")).await;
        rig.client.input = None;
        assert!(owner.is_ended().await);
        drop(owner);
        assert!(rig.client.is_ended().await);
        rig.relay.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_watched_is_watched_again_and_told() {
    local(async {
        let (mut rig, mut owner) = Rig::agreed().await;
        let listen = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{{}}}}}}"#)
        };
        let acknowledged = |id: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{"resourceSubscriptions":["b://{id}"]}}}}}}"#
            )
        };
        for (line, reply) in [
            (request("1", "resources/subscribe"), answer("1")),
            (request("2", "resources/subscribe"), answer("2")),
            (request("2", "resources/unsubscribe"), answer("2")),
            (listen("3"), acknowledged("3")),
        ] {
            rig.client.say_line(&line).await;
            owner.hears(&line).await;
            owner.say_line(&reply).await;
            rig.client.hears(&reply).await;
        }
        rig.client.say_line(&listen("4")).await;
        owner.hears(&listen("4")).await;
        drop(owner);
        let mut owner = rig.owner();
        owner.hears(INITIALIZE).await;
        owner.hears(INITIALIZED).await;
        let subscribe = r#"{"jsonrpc":"2.0","id":"pressmark-replay-0","method":"resources/subscribe","params":{"uri":"a://1"}}"#;
        owner.hears(subscribe).await;
        owner.hears(&listen("3")).await;
        for reply in [AGREED, &answer("\"pressmark-replay-0\""), &acknowledged("3")] {
            owner.say_line(reply).await;
        }
        for told in ["resources/list_changed", "prompts/list_changed", "a://1", "b://3"] {
            let message = rig.client.next().await;
            assert!(message.contains(told), "{message}");
        }
        // The client has not heard yet what is honoured of this one.
        owner.hears(&listen("4")).await;
        owner.say_line(&acknowledged("4")).await;
        rig.client.hears(&acknowledged("4")).await;
        // A process that is told to end says so to those who listen.
        rig.shutdown.begin();
        assert!(owner.is_ended().await);
        drop(owner);
        let mut ended = Vec::new();
        for _ in 0..4 {
            ended.push(rig.client.next().await);
        }
        assert!(ended[0].contains("notifications/cancelled") && ended[1].contains("\"result\""));
        assert!(rig.client.is_ended().await);
        rig.relay.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_asked_again_as_a_whole() {
    local(async {
        let (mut rig, mut owner) = Rig::agreed().await;
        let batch = format!("[{},{}]", request("1", "ping"), request("2", "ping"));
        let answers = format!("[{},{}]", answer("1"), answer("2"));
        rig.client.say_line(&batch).await;
        owner.hears(&batch).await;
        drop(owner);
        let mut owner = rig.owner();
        owner.hears(INITIALIZE).await;
        owner.hears(INITIALIZED).await;
        owner.say_line(AGREED).await;
        owner.hears(&batch).await;
        owner.say_line(&answers).await;
        for _list in ["resources", "prompts"] {
            rig.client.next().await;
        }
        rig.client.hears(&answers).await;
        drop(owner);
        let mut owner = rig.owner();
        owner.hears(INITIALIZE).await;
        owner.hears(INITIALIZED).await;
        owner.say_line(AGREED).await;
        rig.client.say_line(&request("3", "ping")).await;
        owner.hears(&request("3", "ping")).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_ends_its_owners_is_not_asked_for_ever() {
    local(async {
        let (mut rig, mut owner) = Rig::with_owner();
        rig.client.say_line(&request("1", "ping")).await;
        for _ in 0..4 {
            owner.hears(&request("1", "ping")).await;
            drop(owner);
            owner = rig.owner();
        }
        assert!(rig.client.next().await.contains("every process that had the request has ended"));
        rig.client.say_line(&request("2", "ping")).await;
        owner.hears(&request("2", "ping")).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_hangs_keeps_no_process_whose_client_has_gone() {
    local(async {
        let (mut rig, mut owner) = Rig::with_owner();
        rig.client.say_line(&request("1", "ping")).await;
        owner.hears(&request("1", "ping")).await;
        rig.client.input = None;
        assert!(owner.is_ended().await);
        let ended = rig.relay.await.unwrap();
        assert!(
            matches!(ended, Err(RelayError::Client(error)) if error.kind() == ErrorKind::TimedOut)
        );
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_client_gets_errors_when_nobody_comes_and_answers_when_somebody_does() {
    local(async {
        let (mut rig, mut owner) = Rig::agreed().await;
        rig.client.say_line(&request("1", "ping")).await;
        owner.hears(&request("1", "ping")).await;
        drop(owner);
        let began = Instant::now();
        rig.client.say_line(&request("2", "ping")).await;
        for id in [1, 2] {
            let refused = rig.client.next().await;
            assert!(refused.contains(&format!("\"id\":{id},\"error\"")), "{refused}");
            assert!(refused.contains("nobody is there"), "{refused}");
            assert_eq!(began.elapsed().as_secs(), 30);
        }
        rig.client.say_line(&request("3", "ping")).await;
        assert!(rig.client.next().await.contains("\"id\":3,\"error\""));
        rig.client.say_line("no message").await;
        assert!(rig.client.next().await.contains("-32700"));
        let mut owner = rig.owner();
        owner.hears(INITIALIZE).await;
        owner.hears(INITIALIZED).await;
        owner.say_line(AGREED).await;
        rig.client.say_line(&request("4", "ping")).await;
        owner.hears(&request("4", "ping")).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_process_is_refused_at_its_start_and_never_later() {
    local(async {
        let began = Instant::now();
        let rig = Rig::start(Script::default());
        let ended = rig.relay.await.unwrap();
        assert!(
            matches!(ended, Err(RelayError::NeverReached(reason)) if reason == "nobody is there")
        );
        assert_eq!(began.elapsed().as_secs(), 10);

        let script = Script::default();
        script.lock().push_back(Err(NotReached::Failed("broken".to_owned())));
        let ended = Rig::start(script).relay.await.unwrap();
        assert!(matches!(ended, Err(RelayError::NeverReached(reason)) if reason == "broken"));

        // Who is refused by the owner says so to its client, and waits until that has gone.
        let script = Script::default();
        script.lock().push_back(Err(NotReached::Refused("another version".to_owned())));
        let mut rig = Rig::start(script);
        rig.client.say_line(INITIALIZE).await;
        assert!(rig.client.next().await.contains("another version"));
        tokio::time::advance(Duration::from_secs(100)).await;
        let mut owner = rig.owner();
        while !rig.script.lock().is_empty() {
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        rig.client.say_line(INITIALIZE).await;
        owner.hears(INITIALIZE).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lines_over_the_bound_are_refused_and_those_around_them_answered() {
    local(async {
        let (mut rig, mut owner) = Rig::with_owner();
        let long = "x".repeat(5_000);
        for line in [&request("1", "ping"), &long, &request("2", "ping")] {
            rig.client.say_line(line).await;
        }
        owner.hears(&request("1", "ping")).await;
        owner.hears(&request("2", "ping")).await;
        assert!(rig.client.next().await.contains("longer than this server takes"));
        owner.say_line(&answer("2")).await;
        rig.client.hears(&answer("2")).await;
    })
    .await;
}
