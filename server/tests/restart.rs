//! Sessions across a restart of the program, with the ids that a client keeps sending.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const SUBSCRIBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"docs://docs/a.md"}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path, arguments: &[&str]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_pressmark"))
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off"])
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let address = lines.find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            Some(rest.strip_suffix("/mcp")?.to_owned())
        });
        // What it says later must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        Server { process, address: address.unwrap() }
    }

    fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.process.wait().unwrap().success());
    }

    /// Status and session id of the reply.
    fn ask(&self, method: &str, session: Option<&str>, body: &str) -> (u16, Option<String>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let accept = if method == "GET" { "text/event-stream" } else { "*/*" };
        let request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: {accept}\r\n\
             Content-Type: application/json\r\n{session}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, _) = reply.split_once("\r\n\r\n").unwrap();
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        (head[9..12].parse().unwrap(), id.map(str::to_owned))
    }

    fn status(&self, method: &str, session: &str, body: &str) -> u16 {
        self.ask(method, Some(session), body).0
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    std::fs::write(folder.path().join("docs/a.md"), "# A\n").unwrap();
    folder
}

#[test]
fn a_client_that_never_recovers_from_404_is_served_after_a_restart() {
    let folder = folder();
    let arguments = ["docs", "--data", "data"];
    let server = Server::start(folder.path(), &arguments);
    let (status, id) = server.ask("POST", None, INITIALIZE);
    let id = id.unwrap();
    assert_eq!((status, server.status("POST", &id, SUBSCRIBE)), (200, 200));
    server.stop();

    let server = Server::start(folder.path(), &arguments);
    assert_eq!(server.status("POST", &id, PING), 200);
    // It is told that nothing is left of what it watched.
    assert_eq!(server.status("GET", &id, ""), 404);
    assert_eq!(server.status("POST", &id, SUBSCRIBE), 404);
    // An id is good or not, whatever comes behind it.
    let last = if id.ends_with('0') { "1" } else { "0" };
    let forged = format!("{}{last}", &id[..id.len() - 1]);
    assert_eq!(server.status("POST", &forged, PING), 404);
    let (status, new) = server.ask("POST", Some(&id), INITIALIZE);
    let new = new.unwrap();
    assert_eq!((status, server.status("POST", &new, SUBSCRIBE)), (200, 200));
    assert_eq!(server.status("DELETE", &id, ""), 204);
    assert_eq!(server.status("POST", &id, PING), 404);
    server.stop();

    let other = Server::start(folder.path(), &["docs", "--data", "other"]);
    assert_eq!(other.status("POST", &new, PING), 404, "another store did not give it out");
    other.stop();
}

#[test]
fn with_no_sessions_everybody_is_served_without_one() {
    let folder = folder();
    let config = "[server]\nsessions_max = 0\n[storage]\npath = 'data'\n[[source]]\nspace = 'docs'\npath = 'docs'\n";
    std::fs::write(folder.path().join("p.toml"), config).unwrap();
    let server = Server::start(folder.path(), &["--config", "p.toml"]);
    assert_eq!(server.ask("POST", None, INITIALIZE), (200, None));
    assert_eq!(server.ask("POST", None, PING), (200, None));
    server.stop();
}
