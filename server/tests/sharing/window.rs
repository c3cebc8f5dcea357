//! A window of a host: a process of the program with its client.

use std::{
    fs,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

pub(crate) const LEGACY: &str = "2025-11-25";

/// Nothing takes this long: a test that waits for it has failed.
const DEADLINE: Duration = Duration::from_secs(60);

/// A folder of documents and a place for everything that the processes make.
pub(crate) struct Desk {
    dir: TempDir,
}

impl Desk {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(desk.path("run")).unwrap();
        fs::create_dir(desk.path("docs")).unwrap();
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path("docs").join(name), text).unwrap();
    }

    /// The only socket in the runtime folder.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        let folder = fs::read_dir(self.path("run/pressmark")).ok()?;
        let sockets: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        assert!(sockets.len() <= 1, "{sockets:?}");
        sockets.into_iter().next()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pressmark"));
        command
            .args(arguments)
            .args(["--data", "d"])
            .current_dir(self.dir.path())
            .env_remove("PRESSMARK_LOG")
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("HOME", self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Starts a window.
    pub(crate) fn window(&self) -> Window {
        Window::start(self.command(&["stdio", "docs"]))
    }

    /// Starts a window and waits until it owns the store and has indexed.
    pub(crate) async fn owner(&self) -> Window {
        let mut owner = self.window();
        owner.said("data in").await;
        owner.initialize().await;
        owner
    }

    /// Starts a window and waits until it shares the store.
    pub(crate) async fn follower(&self) -> Window {
        let mut follower = self.window();
        follower.said("sharing the store").await;
        follower.initialize().await;
        follower
    }
}

/// A process and both ends of its pipes.
pub(crate) struct Window {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
}

impl Window {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let errors = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, input, output, errors }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id().unwrap()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Kills it as a crash would, and waits until it is gone.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    pub(crate) async fn ended(&mut self) -> ExitStatus {
        timeout(DEADLINE, self.child.wait()).await.expect("an end within the deadline").unwrap()
    }

    /// Waits for a line on stderr with this text.
    pub(crate) async fn said(&mut self, text: &str) -> String {
        let said = async {
            loop {
                match self.errors.next_line().await.unwrap() {
                    Some(line) if line.contains(text) => return line,
                    Some(_) => {}
                    None => panic!("it ended without saying `{text}`"),
                }
            }
        };
        timeout(DEADLINE, said).await.unwrap_or_else(|_| panic!("it did not say `{text}`"))
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    /// The next message; `None` at the end of the output.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = timeout(DEADLINE, self.output.next_line()).await;
        let line = line.expect("a line within the deadline").unwrap()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}")))
    }

    /// The answer to a request; notifications before it are skipped.
    pub(crate) async fn ask(&mut self, message: Value) -> Value {
        self.send(&message).await;
        loop {
            let answer = self.next().await.unwrap();
            if answer.get("method").is_none() {
                assert_eq!(answer["id"], message["id"], "{answer}");
                return answer;
            }
        }
    }

    pub(crate) async fn initialize(&mut self) {
        let answer = self.ask(initialize()).await;
        assert_eq!(answer["result"]["protocolVersion"], LEGACY, "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }

    pub(crate) async fn read(&mut self, id: u64, name: &str) -> String {
        let answer = self.ask(read(id, name)).await;
        let text = answer["result"]["contents"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Waits until it is told that the document has changed.
    pub(crate) async fn updated(&mut self, name: &str) {
        loop {
            let message = self.next().await.unwrap();
            assert_ne!(message["method"], "notifications/cancelled", "{message}");
            if message["params"]["uri"] == uri(name) {
                assert_eq!(message["method"], "notifications/resources/updated");
                return;
            }
        }
    }
}

pub(crate) fn uri(name: &str) -> String {
    format!("docs://docs/{name}")
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn read(id: u64, name: &str) -> Value {
    request(id, "resources/read", json!({"uri": uri(name)}))
}

pub(crate) fn subscribe(id: u64, name: &str) -> Value {
    request(id, "resources/subscribe", json!({"uri": uri(name)}))
}

/// A request of the modern era.
pub(crate) fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    request(id, method, params)
}

pub(crate) fn listen(id: u64, name: &str) -> Value {
    modern(
        id,
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": [uri(name)]}}),
    )
}

/// Waits for a condition that other processes bring about.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let mut looks = tokio::time::interval(Duration::from_millis(5));
    let holds = async {
        while !condition() {
            looks.tick().await;
        }
    };
    timeout(DEADLINE, holds).await.expect("it holds within the deadline");
}
