//! Commands that ask a running server: the same words, the same answers, the same exit codes as of a store.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod connection;
mod finding;
mod manners;
mod prompts;
mod records;
mod reload;
mod two_servers;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const RECORDS: &str = concat!(
    r#"{"variables":{"team":"core","name":"plan"},"title":"The plan","text":"whales and sailors\nline 2\n"}"#,
    "\n",
    r#"{"variables":{"team":"core","name":"bytes"},"blob":"AP8="}"#,
    "\n",
    r#"{"variables":{"team":"sales","name":"plan"},"annotations":{"priority":0.9,"audience":["user"],"lastModified":"2025-01-12T15:00:58Z"},"text":"sailors"}"#,
    "\n",
    r#"{"uri":"docs://sales/wrong","txt":""}"#,
    "\n",
    r#"{"uri":"npm://packages/x","text":""}"#,
    "\n",
);

/// A server says fewer lines than this.
const LINES_MAX: usize = 10_000;

/// A folder with records, in which commands run.
struct Desk {
    folder: tempfile::TempDir,
}

/// A server that has a store.
struct Server {
    child: Child,
    /// Where hosts are served.
    mcp: String,
    admin: String,
    /// What it says after that.
    lines: mpsc::Receiver<String>,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("records.ndjson"), RECORDS).unwrap();
        Desk { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pressmark"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("XDG_DATA_HOME")
            .env("HOME", self.path())
            .env("PRESSMARK_LOG", "warn")
            // No other server that runs on this machine is asked.
            .env("PRESSMARK_ADMIN", "127.0.0.1:1")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Serves a data directory, which is made if it is not there.
    fn serve(&self, data: &str) -> Server {
        self.serve_with(&["--data", data])
    }

    fn serve_with(&self, arguments: &[&str]) -> Server {
        self.serve_at(&[&["--admin-listen", "127.0.0.1:0"], arguments].concat())
    }

    /// The same with the admin plane at its usual place, unless the arguments say another one.
    fn serve_at(&self, arguments: &[&str]) -> Server {
        let mut command =
            self.command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let mut lines = BufReader::new(stderr).lines().map(Result::unwrap);
        let mut at = |says: &str| {
            let line = lines.find(|line| line.contains(says)).unwrap();
            line.rsplit_once("http://").unwrap().1.to_owned()
        };
        let mcp = at("serving MCP at").trim_end_matches("/mcp").to_owned();
        let admin = at("admin plane at");
        // What it says later is read, so that it never waits for us.
        let (sender, later) = mpsc::sync_channel(LINES_MAX);
        std::thread::spawn(move || lines.try_for_each(|line| sender.send(line)));
        Server { child, mcp, admin, lines: later }
    }
}

impl Server {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for a line that has this in it.
    fn says(&self, piece: &str) -> String {
        self.lines.iter().find(|line| line.contains(piece)).unwrap()
    }

    fn end(mut self) {
        self.signal(Signal::TERM);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Exit code, stdout and stderr, without what two stores cannot have in common.
fn said(desk: &Desk, output: &Output, data: &str) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let text = text.replace(&format!("{}/{data}", desk.path().display()), "DATA");
        // How long a load took is the last field.
        let text = text.split(",\"seconds\"").next().unwrap();
        // A busy machine has a command that opened a store itself say what it waits for.
        let waits = |line: &&str| !line.ends_with("is being brought up to date");
        let mut lines: Vec<&str> = text.lines().filter(waits).collect();
        // Lanes print in no certain order.
        lines.sort_unstable();
        lines.join("\n")
    };
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_command_says_the_same_of_a_store_and_of_a_server() {
    let desk = Desk::new();
    let server = desk.serve("served");
    let check = |arguments: &[&str], code: i32| {
        let own = desk.run(&[arguments, &["--data", "own"]].concat());
        let asked = desk.run(&[arguments, &["--admin", &server.admin]].concat());
        let (own, asked) = (said(&desk, &own, "own"), said(&desk, &asked, "served"));
        assert_eq!(own, asked, "{arguments:?}");
        assert_eq!(own.0, Some(code), "{arguments:?}: {own:?}");
        own
    };
    for flags in [&[][..], &["--json"]] {
        let of = |arguments: &[&str], code: i32| check(&[arguments, flags].concat(), code);
        of(&["space", "add", "docs", "docs://{team}/{name}", "--title", "Docs"], 0);
        if flags.is_empty() {
            let (_, _, stderr) = of(&["load", "docs", "records.ndjson"], 1);
            assert!(stderr.contains("3 records loaded: 3 created"), "{stderr}");
            let (_, _, again) = of(&["load", "docs", "records.ndjson"], 1);
            assert!(again.contains("0 updated, 3 unchanged; 2 refused"), "{again}");
        }
        of(&["space", "list"], 0);
        of(&["list"], 0);
        of(&["read", "docs://core/plan"], 0);
        of(&["read", "docs://core/plan#line=1,2"], 0);
        of(&["read", "docs://core/bytes"], 0);
        of(&["read", "docs://core"], 0);
        of(&["complete", "docs", "name", "pl", "--context", "team=core"], 0);
        of(&["search", "sailors", "--space", "docs"], 0);
        of(&["verify"], 0);

        of(&["read", "docs://core/none"], 2);
        of(&["read", "no uri"], 2);
        of(&["load", "none", "records.ndjson"], 2);
        of(&["load", "docs", "nothing.ndjson"], 2);
        of(&["complete", "docs", "title", ""], 2);
        of(&["search", "x", "--space", "none"], 2);
        of(&["search", "x", "--cursor", "broken"], 2);
        of(&["space", "add", "twin", "docs://{team}/{name}"], 2);
        of(&["space", "add", "x", "x://{a}{b}"], 2);
        of(&["space", "remove", "none"], 2);
    }
    check(&["space", "remove", "docs", "--json"], 0);
    server.end();
}

#[test]
fn json_has_the_fields_that_the_documentation_names() {
    let desk = Desk::new();
    let json = |arguments: &[&str]| -> Value {
        let output = desk.run(&[arguments, &["--json", "--data", "d"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{output:?}: {error}"))
    };
    let added = json(&["space", "add", "docs", "docs://{team}/{name}"]);
    assert_eq!(
        added,
        json!({
            "name": "docs", "uriTemplate": "docs://{team}/{name}", "list": "auto", "ttlSeconds": 60,
            "cacheScope": "public", "aliasClash": "refuse"
        })
    );
    let output = desk.run(&["load", "docs", "records.ndjson", "--json", "--data", "d"]);
    let mut loaded: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(loaded["seconds"].as_f64().is_some());
    loaded["seconds"] = 0.into();
    let counts = json!({"created": 3, "updated": 0, "unchanged": 0, "refused": 2, "failedFiles": 0, "seconds": 0});
    assert_eq!((output.status.code(), loaded), (Some(1), counts));
    let refusals: Vec<Value> = String::from_utf8(output.stderr)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    assert!(
        refusals.iter().all(|line| line["file"] == "records.ndjson" && line["reason"].is_string())
    );

    assert_eq!(
        json(&["read", "docs://core/bytes"]),
        json!({"folder": false, "contents": [{
            "uri": "docs://core/bytes", "mimeType": "application/octet-stream", "blob": "AP8="
        }]})
    );
    let listed = desk.run(&["list", "--json", "--data", "d"]).stdout;
    let first: Value =
        serde_json::from_str(String::from_utf8(listed).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["uri"], &first["annotations"]),
        (
            &"docs://sales/plan".into(),
            &json!({"audience": ["user"], "priority": 0.9, "lastModified": "2025-01-12T15:00:58Z"})
        )
    );
    assert_eq!(
        json(&["complete", "docs", "name", ""]),
        json!({"values": ["plan", "bytes"], "total": 2, "hasMore": false})
    );
    let verified = json(&["verify"]);
    assert_eq!((&verified["clean"], &verified["faults"]), (&true.into(), &json!([])));
    let stats = json(&["stats"]);
    for field in
        ["dataDirectory", "resourceCount", "newestSequence", "diskBytes", "completion", "fullText"]
    {
        assert!(!stats[field].is_null(), "{field}: {stats}");
    }
    let copied = json(&["backup", "copy"]);
    assert_eq!(copied["throughSequence"], 3);
    assert_eq!(desk.run(&["restore", "copy", "--json", "--data", "e"]).status.code(), Some(0));
    assert_eq!(json(&["space", "remove", "docs"]), json!({"name": "docs", "resourcesDeleted": 3}));
}

/// The table of exit codes and of the codes of errors, as docs/cli.md has it.
#[test]
fn exit_codes_and_errors_are_those_of_the_table() {
    let desk = Desk::new();
    desk.run(&["space", "add", "docs", "docs://{team}/{name}", "--data", "d"]);
    std::fs::write(desk.path().join("wrong.ndjson"), "{}\n").unwrap();
    for (arguments, exit, code) in [
        (&["verify"][..], 0, ""),
        (&["load", "docs", "records.ndjson"], 1, ""),
        (&["load", "docs", "wrong.ndjson"], 2, ""),
        (&["read", "docs://core/none"], 2, "NOT_FOUND"),
        (&["space", "add", "x", "x://{"], 2, "INVALID_ARGUMENT"),
        (&["space", "add", "x", "docs://{team}/{name}"], 2, "FAILED_PRECONDITION"),
        (&["load", "none", "records.ndjson"], 2, "NOT_FOUND"),
        (&["read", "docs://x", "--admin", "127.0.0.1:1"], 2, "UNAVAILABLE"),
        (&["serve", "nowhere"], 2, "REFUSED"),
        (&["serve", "--admin", "127.0.0.1:1"], 2, "REFUSED"),
        (&["read"], 2, "USAGE"),
        (&["stats", "--admin", "ftp://x"], 2, "USAGE"),
    ] {
        let output = desk.run(&[arguments, &["--json", "--data", "d"]].concat());
        assert_eq!(output.status.code(), Some(exit), "{arguments:?}: {output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        let documents: Vec<Value> =
            stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let errors: Vec<_> =
            documents.iter().filter_map(|line| line["error"].as_object()).collect();
        let codes: Vec<_> = errors.iter().map(|error| error["code"].as_str().unwrap()).collect();
        assert_eq!(codes.join(" "), code, "{arguments:?}: {stderr}");
        assert!(errors.iter().all(|error| !error["message"].as_str().unwrap().is_empty()));
    }
}

#[test]
fn the_owner_of_a_store_is_named_with_the_way_to_ask_it() {
    let desk = Desk::new();
    let server = desk.serve("d");
    let refused = desk.run(&["verify", "--data", "d"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(error.contains("`pressmark serve` (pid "), "{error}");
    assert!(error.trim_end().ends_with(&format!("or ask it: --admin {}", server.admin)), "{error}");
    let found = desk.run(&["space", "list", "--data", "d", "--admin", "auto"]);
    assert_eq!(found.status.code(), Some(0), "{found:?}");

    // Who names a data directory never reaches another store.
    let other = desk.run(&["space", "list", "--data", "e", "--admin", &server.admin]);
    let error = String::from_utf8(other.stderr).unwrap();
    assert!(error.contains("that server has the store in"), "{error}");
    std::fs::create_dir(desk.path().join("e")).unwrap();
    std::fs::write(desk.path().join("e/ADMIN"), &server.admin).unwrap();
    let stale = desk.run(&["space", "list", "--data", "e", "--admin", "auto"]);
    assert_eq!(stale.status.code(), Some(2), "{stale:?}");

    server.end();
    assert!(!desk.path().join("d/ADMIN").exists());
    let gone = desk.run(&["list", "--data", "d", "--admin", "auto"]);
    let error = String::from_utf8(gone.stderr).unwrap();
    assert!(error.contains("no server says where its admin plane is"), "{error}");
    assert_eq!(desk.run(&["list", "--data", "d"]).status.code(), Some(0));
}

#[test]
fn a_load_into_a_server_brings_in_all_of_many_records() {
    let desk = Desk::new();
    let server = desk.serve("d");
    let records: String = (0..20_000)
        .map(|number| {
            format!("{{\"variables\":{{\"name\":\"{number}\"}},\"text\":\"record {number}\"}}\n")
        })
        .collect();
    std::fs::write(desk.path().join("many.ndjson"), records).unwrap();
    let admin = ["--admin", "auto", "--data", "d"];
    let run = |arguments: &[&str]| desk.run(&[arguments, &admin].concat());
    run(&["space", "add", "many", "many://{name}"]);
    for counts in ["20000 created, 0 updated, 0 unchanged", "0 created, 0 updated, 20000 unchanged"]
    {
        let output = run(&["load", "many", "many.ndjson"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{error}");
        assert!(error.contains(counts), "{error}");
    }
    assert_eq!(run(&["read", "many://19999"]).stdout, b"record 19999");
    let backup = run(&["backup", "copy", "--json"]);
    let report: Value = serde_json::from_slice(&backup.stdout).unwrap();
    assert_eq!(report["throughSequence"], 20_000);
    server.end();
}

#[test]
fn completions_and_the_man_page_name_every_command() {
    let desk = Desk::new();
    let commands = [
        "serve",
        "stdio",
        "load",
        "read",
        "complete",
        "search",
        "list",
        "space",
        "verify",
        "stats",
        "backup",
        "restore",
        "completions",
        "man",
    ];
    for arguments in
        [&["completions", "bash"][..], &["completions", "zsh"], &["completions", "fish"], &["man"]]
    {
        let output = desk.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        for command in commands {
            assert!(text.contains(command), "{arguments:?}: {command}");
        }
        assert!(
            !text.contains("extract-documents") || arguments[0] == "completions",
            "{arguments:?}"
        );
    }
    let missing = desk.run(&["man", "--dir", "man"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("man: it is no folder"),
        "{missing:?}"
    );
    std::fs::create_dir(desk.path().join("man")).unwrap();
    assert_eq!(desk.run(&["man", "--dir", "man"]).status.code(), Some(0));
    for command in commands {
        let page = desk.path().join(format!("man/pressmark-{command}.1"));
        assert!(page.is_file(), "{}", page.display());
    }
}

#[test]
fn a_plane_with_a_token_answers_to_nobody_without() {
    let desk = Desk::new();
    let write = |name: &str, text: &str| {
        let path = desk.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    write("token", "0123456789abcdef0123\n");
    write("other", "0123456789abcdef0124\n");
    write("with.toml", "[server]\nadmin_token_file = 'token'\n[storage]\npath = 'd'\n");
    write("without.toml", "[storage]\npath = 'e'\n");
    let beyond = desk.run(&["serve", "--config", "without.toml", "--admin-listen", "0.0.0.0:0"]);
    let error = String::from_utf8(beyond.stderr).unwrap();
    assert_eq!(beyond.status.code(), Some(2));
    assert!(error.contains("beyond loopback") && error.contains("admin_token_file"), "{error}");

    let server = desk.serve_with(&["--config", "with.toml"]);
    for (arguments, exit) in [
        (&["--admin-token-file", "token"][..], 0),
        (&["--admin-token-file", "other"], 2),
        (&["--admin-token-file", "none"], 2),
        (&[], 2),
    ] {
        let list = ["space", "list", "--admin", &server.admin];
        let output = desk.run(&[&list, arguments].concat());
        assert_eq!(output.status.code(), Some(exit), "{arguments:?}: {output:?}");
    }
    server.end();
}
