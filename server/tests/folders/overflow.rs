//! The system's queue of reports overflows: the program is stopped while more happens than the queue holds.

use std::fs::{self, File, FileTimes};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::library::wait_for;

const FILES: usize = 100;

/// `pressmark serve`, ended when it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pressmark"))
            .args(["serve", "docs", "--data", "data", "--listen", "127.0.0.1:0"])
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines().map(Result::unwrap);
        let ready = lines.find(|line| line.contains("resources are ready at http://")).unwrap();
        let address = ready.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { child, address }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether none of its threads runs.
    fn is_stopped(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads.map(Result::unwrap).all(|thread| {
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap();
            stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
        })
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    fn metric(&self, name: &str) -> u64 {
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let reply = self.ask(request);
        let value = reply.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap().parse().unwrap()
    }

    /// The reply to a read of a file of the folder.
    fn read(&self, file: &str) -> String {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"docs://docs/{file}"}}}}"#
        );
        self.ask(&format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
        self.signal(Signal::TERM);
        self.child.wait().unwrap();
    }
}

#[test]
fn what_the_queue_did_not_hold_is_found_all_the_same() {
    let folder = TempDir::new().unwrap();
    let path = |file: &str| folder.path().join("docs").join(file);
    fs::create_dir_all(path("sub")).unwrap();
    for number in 0..FILES {
        fs::write(path(&format!("{number}.md")), "before").unwrap();
    }
    let server = Server::start(folder.path());
    let queue = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let queue: usize = queue.trim().parse().unwrap();
    server.signal(Signal::STOP);
    wait_for(|| server.is_stopped());
    for touch in 0..queue + FILES {
        let file = File::open(path(&format!("{}.md", touch % FILES))).unwrap();
        file.set_times(FileTimes::new().set_modified(SystemTime::now())).unwrap();
    }
    // The queue is full: of these nothing is reported.
    fs::write(path("1.md"), "after the flood").unwrap();
    fs::write(path("sub/new.md"), "made in it").unwrap();
    fs::remove_file(path("2.md")).unwrap();
    server.signal(Signal::CONT);
    let began = Instant::now();
    wait_for(|| server.read("1.md").contains("after the flood"));
    wait_for(|| server.read("sub/new.md").contains("made in it"));
    wait_for(|| server.read("2.md").contains("not found"));
    println!("after an overflow: {:?}", began.elapsed());
    let (reports, overflows) =
        (server.metric("source_events_total"), server.metric("source_event_overflows_total"));
    assert_eq!(overflows, 1, "{reports} reports");
    // Everything is watched still.
    fs::write(path("sub/new.md"), "and changed").unwrap();
    wait_for(|| server.read("sub/new.md").contains("and changed"));
}
