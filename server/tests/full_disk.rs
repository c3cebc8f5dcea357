//! The program on a file system that is full: what it says, and that nothing is broken once there is space again.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The folder that the child works in: a small file system in memory.
const FOLDER: &str = "PRESSMARK_TEST_FOLDER";
const TMPFS_MEBIBYTES: usize = 48;
const BALLAST_BYTES: usize = 24 << 20;
const RECORDS: usize = 300;

fn pressmark(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(arguments)
        .args(["--config", "pressmark.toml", "--log", "warn"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn check(folder: &Path, arguments: &[&str], code: i32, says: &str) {
    let output = pressmark(folder, arguments);
    let all = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(code), "{all}");
    assert!(all.contains(says), "{all}");
}

/// A server on the full disk answers, says that it takes no writes, and takes them once there is space.
#[track_caller]
fn check_served(folder: &Path, make_space: impl FnOnce()) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(["serve", "--config", "pressmark.toml", "--listen", "127.0.0.1:0", "--log", "warn"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stderr.take().unwrap()).lines();
    let address = said
        .by_ref()
        .map(Result::unwrap)
        .find_map(|line| {
            let (_, address) = line.split_once("http://")?;
            address.strip_suffix("/mcp").map(str::to_owned)
        })
        .unwrap();
    let ask = |message: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(message.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    };
    let ready =
        || ask(&format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"));
    assert!(ready().contains("the store refuses writes"), "{}", ready());
    let body =
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"docs://h/0"}}"#;
    let reply = ask(&format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    assert!(reply.contains("000000000 000000000"), "{reply}");
    make_space();
    while ready().contains("refuses writes") {
        std::thread::yield_now();
    }
    assert!(ready().contains("\r\n\r\nready"), "{}", ready());
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Runs in a mount namespace of its own; does nothing as an ordinary test.
#[test]
fn child_on_a_small_file_system() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let config = "[storage]\npath = \"data\"\n[[space]]\nname = \"docs\"\nuri_template = \"docs://h/{name}\"\n";
    std::fs::write(folder.join("pressmark.toml"), config).unwrap();
    let records: String = (0..RECORDS)
        .map(|number| {
            let text = format!("{number:09} ").repeat(10_000);
            format!("{{\"uri\":\"docs://h/{number}\",\"text\":\"{text}\"}}\n")
        })
        .collect();
    // Through a pipe, so that the file does not take the space itself.
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![1; BALLAST_BYTES]).unwrap();
    let load = |code: i32, says: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pressmark"))
            .args([
                "load",
                "docs",
                "-",
                "--format",
                "ndjson",
                "--config",
                "pressmark.toml",
                "--log",
                "warn",
            ])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program ends before it has read all when the disk is full.
        let _ = child.stdin.take().unwrap().write_all(records.as_bytes());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(says), "{said}");
    };
    // Some are in.
    load(1, "No space left on device");
    // What the end of the program set free is taken too: the store cannot be opened for writing any more.
    let mut filler = std::fs::File::create(folder.join("filler")).unwrap();
    while filler.write(&[1; 4096]).is_ok_and(|written| written > 0) {}
    check(folder, &["read", "docs://h/0"], 0, "000000000 000000000");
    check(folder, &["stats"], 0, "resources");
    load(2, "writes are refused since one failed");
    check_served(folder, || std::fs::remove_file(&ballast).unwrap());
    check(folder, &["verify"], 0, " 0 faults");
    load(0, "300 records loaded");
    check(folder, &["read", "docs://h/299"], 0, "000000299 000000299");
    check(folder, &["verify"], 0, "300 resources");
}

#[test]
fn a_load_into_a_full_disk_says_so_and_is_repeated_without_harm() {
    let folder = tempfile::tempdir().unwrap();
    let may_mount =
        Command::new("unshare").args(["--mount", "true"]).stderr(Stdio::null()).status().unwrap();
    let namespaces: &[&str] =
        if may_mount.success() { &["--mount"] } else { &["--user", "--map-root-user", "--mount"] };
    let script = format!(
        "mount -t tmpfs -o size={TMPFS_MEBIBYTES}m pressmark-test \"${FOLDER}\" && exec \"$@\""
    );
    let output = Command::new("unshare")
        .args(namespaces)
        .args(["sh", "-c", &script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child_on_a_small_file_system", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
