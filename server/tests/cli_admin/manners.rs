//! How the program speaks: quietly, in colour or not, in JSON; what acts on a terminal; messages with a way out.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Desk;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A store with a resource whose title and text try to act on a terminal.
fn hostile() -> Desk {
    let desk = Desk::new();
    let record = r#"{"uri":"s://%E2%80%AEa","name":"\u202ea\u2066","title":"\u202etxt.exe\u2066 \u001b[2J\u0007","text":"sailor \u202e\u001b]0;x\u0007 \u009b2J"}"#;
    std::fs::write(desk.path().join("hostile.ndjson"), format!("{record}\n")).unwrap();
    desk.run(&["space", "add", "s", "s://{x}", "--data", "d"]);
    assert_eq!(desk.run(&["load", "s", "hostile.ndjson", "--data", "d"]).status.code(), Some(0));
    desk
}

fn acts(output: &[u8]) -> Option<char> {
    let acts = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text(output).chars().find(|character| acts(*character))
}

#[test]
fn no_name_acts_on_the_terminal() {
    let desk = hostile();
    let odd = "\u{202e}\u{2066}\u{1b}[2J\u{7}.md";
    let folder = format!("folder{odd}");
    std::fs::create_dir(desk.path().join(&folder)).unwrap();
    std::fs::write(desk.path().join(&folder).join(odd), "# A\n").unwrap();
    std::fs::write(desk.path().join(odd), "broken = [\n").unwrap();
    std::fs::write(
        desk.path().join("lines.ndjson"),
        format!("{{\"uri\":\"x://{odd}\",\"text\":1}}\n"),
    )
    .unwrap();
    for arguments in [
        &["list", "--data", "d"][..],
        &["list", "--all", "--json", "--data", "d"],
        &["search", "sailor", "--data", "d"],
        &["search", "sailor", "--json", "--data", "d"],
        &["complete", "s", "x", "", "--data", "d"],
        &["complete", "s", "x", "", "--json", "--data", "d"],
        &["read", "s://%E2%80%AEa", "--json", "--data", "d"],
        &["dump", "s", "--data", "d"],
        &["read", odd, "--data", "d"],
        &["read", "s://x", "--data", odd],
        &["stats", "--config", odd],
        &["load", "s", odd, "--data", "d", "--format", "ndjson"],
        &["load", "s", "lines.ndjson", "--data", "d"],
        &["serve", odd, "--data", "e", "--listen", "127.0.0.1:99999"],
        &["space", "add", odd, "s://{x}", "--data", "d"],
        &["stats", "--admin", "\u{202e}://x"],
    ] {
        let output = desk.run(arguments);
        assert_eq!(acts(&output.stdout), None, "{arguments:?}: {output:?}");
        assert_eq!(acts(&output.stderr), None, "{arguments:?}: {output:?}");
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty());
    }
    // What is logged of the folder.
    for form in ["text", "json"] {
        let arguments = ["stdio", &folder, "--data", form, "--log", "trace", "--log-format", form];
        let output = desk.command(&arguments).output().unwrap();
        assert!(text(&output.stderr).contains("202e"), "the folder is named: {output:?}");
        assert_eq!(acts(&output.stderr), None, "{output:?}");
    }
}

#[test]
fn a_quiet_command_prints_results_and_faults_only() {
    let desk = hostile();
    for arguments in [
        &["list", "--data", "d"][..],
        &["search", "sailor", "--data", "d"],
        &["complete", "s", "x", "", "--data", "d"],
        &["load", "s", "hostile.ndjson", "--data", "d"],
        &["dump", "s", "--data", "d"],
        &["put", "s://y", "hostile.ndjson", "--data", "d"],
        &["delete", "s://y", "--data", "d"],
        &["space", "remove", "s", "--data", "d"],
    ] {
        let output = desk.run(&[arguments, &["-q"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
    }
    let failed = desk.run(&["read", "s://none", "--data", "d", "--quiet"]);
    assert!(text(&failed.stderr).contains("not found"));
}

#[test]
fn colours_are_those_that_are_asked_for() {
    let desk = hostile();
    let search = ["search", "sailor", "--data", "d"];
    let has_colours = |output: &Output| text(&output.stdout).contains("\u{1b}[1m");
    for (more, wanted) in
        [(&[][..], false), (&["--color", "always"], true), (&["--color=never"], false)]
    {
        let mut command = desk.command(&[&search[..], more].concat());
        let output = command.env("NO_COLOR", "1").env("TERM", "dumb").output().unwrap();
        assert_eq!(has_colours(&output), wanted, "{more:?}");
    }
    let wrong = desk.run(&["list", "--nonsense", "--color", "always"]);
    assert!(text(&wrong.stderr).contains("\u{1b}["), "{wrong:?}");
}

#[test]
fn every_line_on_stderr_is_json_with_a_json_log() {
    let desk = hostile();
    let arguments = [
        "serve",
        "--data",
        "d",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--log-format",
        "json",
        "--log",
        "info",
    ];
    let mut server = desk.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut said = String::new();
    while !said.contains("ready at http://") {
        let line = lines.next().unwrap();
        let event: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        said.push_str(event["fields"]["message"].as_str().unwrap());
    }
    assert!(said.contains("serving MCP at http://127.0.0.1:"), "{said}");
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    for line in lines {
        serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    assert_eq!(server.wait().unwrap().code(), Some(0));
    for arguments in [
        &["list", "--data", "d"][..],
        &["search", "sailor", "--data", "d"],
        &["load", "s", "records.ndjson", "--data", "d"],
        &["read", "s://none", "--data", "d"],
        &["list", "--nonsense"],
    ] {
        let output = desk.run(&[arguments, &["--log-format", "json", "--log", "info"]].concat());
        for line in text(&output.stderr).lines() {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}

#[test]
fn the_version_names_the_commit_and_the_store_format() {
    let said = text(&Desk::new().run(&["--version"]).stdout);
    let rest = said.strip_prefix("pressmark 0.1.0 (commit ").unwrap();
    let (commit, format) = rest.split_once(", store format ").unwrap();
    assert!(commit.len() >= 7, "{said}");
    assert!(format.trim_end().strip_suffix(')').unwrap().parse::<u32>().is_ok(), "{said}");
}

#[test]
fn figures_have_units_and_words() {
    let desk = hostile();
    let said = text(&desk.run(&["stats", "--data", "d"]).stdout);
    for piece in ["1 in 1 space\n", "1 in s\n", " KiB: ", "1 document in 1 segment", "taken"] {
        assert!(said.contains(piece), "{piece}: {said}");
    }
}

#[test]
fn messages_name_the_way_out() {
    let desk = hostile();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let at = |name: &str, content: &str| std::fs::write(desk.path().join(name), content).unwrap();
    at("token.toml", "[storage]\npath = 'd'\n\n[server]\nadmin_token_file = 'none'\n");
    at("key.toml", "[server]\nlsiten = 'x'\n");
    at("table.toml", "[sorage]\npath = 'x'\n");
    at("large.toml", "[server]\nconnections_max = 99999999999999999999\n");
    at("bytes.toml", "[server]\nbody_bytes_max = 9223372036854775808\n");
    std::fs::create_dir(desk.path().join("sub")).unwrap();
    at("sub/detour.toml", "[storage]\npath = './../sub/./none'\n");
    for (arguments, pieces) in [
        (
            &["serve", "--data", "d", "--listen", &address][..],
            &["the address is in use", "--listen"][..],
        ),
        (
            &["serve", "--data", "d", "--listen", "127.0.0.1:0", "--admin-listen", &address],
            &["admin plane", "the address is in use", "--admin-listen"],
        ),
        (
            &["list", "--admin", "127.0.0.1:1"],
            &["http://127.0.0.1:1: no server answers: Connection refused", "pressmark serve"],
        ),
        (
            &["serve", "--config", "token.toml"],
            &["token.toml:5: server.admin_token_file:", "none: No such file"],
        ),
        (
            &["list", "--config", "key.toml"],
            &["key.toml:2: server.lsiten: unknown key `lsiten`: did you mean `listen`?"],
        ),
        (
            &["list", "--config", "table.toml"],
            &["table.toml:1: sorage: unknown key `sorage`: did you mean `storage`?"],
        ),
        (
            &["list", "--config", "large.toml"],
            &["large.toml:2: server.connections_max: 99999999999999999999 is beyond"],
        ),
        (
            &["list", "--config", "bytes.toml"],
            &["bytes.toml:2: server.body_bytes_max: 9223372036854775808 is beyond"],
        ),
        (
            &["list", "--config", "sub/detour.toml"],
            &["/sub/none: there is no store", "pressmark serve FOLDER"],
        ),
        (&["list", "--data", "sub/../sub/none"], &["/sub/none: there is no store"]),
        // A folder that may not be looked into fails in the same place; an administrator may look into each.
        (
            &["list", "--data", "key.toml/d"],
            &["key.toml/d: the data directory cannot be read: Not a directory"],
        ),
        (&["search", "x", "--limit", "0"], &["write a number from 1 to 50"]),
        (&["search", "space:nots", "--data", "d"], &["there is no such space: the spaces are s"]),
        (&["man", "--admin", "auto"], &["--admin: `pressmark man` does not ask a server"]),
        (
            &["completions", "bash", "--data", "d"],
            &["--data: `pressmark completions` does not open a store"],
        ),
    ] {
        let said = text(&desk.run(arguments).stderr);
        for piece in pieces {
            assert!(said.contains(piece), "{arguments:?}: {piece:?} is not in {said}");
        }
        assert!(!said.contains("/./") && !said.contains("/../"), "{said}");
    }
}

#[test]
fn words_of_a_query_need_no_quotes() {
    let desk = hostile();
    for (words, count) in [
        (&["sailor", "exe"][..], 1),
        (&["--limit", "5", "sailor", "-exe"], 0),
        (&["sailor", "-whale", "--json"], 1),
        (&["-whale", "sailor"], 1),
        (&["--", "sailor", "-whale"], 1),
    ] {
        let output = desk.run(&[&["--json", "--data", "d", "search"], words].concat());
        let found: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{words:?} {output:?}: {error}"));
        assert_eq!(found["total"], count, "{words:?}");
    }
}

#[test]
fn a_name_that_the_configuration_declares_is_not_stored() {
    let desk = Desk::new();
    let prompt = "[[prompt]]\nname = 'p'\n[[prompt.message]]\ntext = 'x'\n";
    std::fs::write(desk.path().join("p.toml"), prompt).unwrap();
    std::fs::write(desk.path().join("config.toml"), format!("[storage]\npath = 'd'\n{prompt}"))
        .unwrap();
    let add = ["prompt", "add", "p.toml", "--config", "config.toml", "--json"];
    let refused = desk.run(&add);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let error: Value = serde_json::from_slice(&refused.stderr).unwrap();
    assert_eq!(error["error"]["code"], "FAILED_PRECONDITION", "{error}");
    assert_eq!(text(&desk.run(&["prompt", "list", "--data", "d"]).stdout), "");
}

#[test]
fn a_store_that_is_in_use_has_one_code_for_every_command() {
    let desk = hostile();
    let server = desk.serve("d");
    for arguments in
        [&["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off"][..], &["verify"]]
    {
        let output = desk.run(&[arguments, &["--data", "d", "--json"]].concat());
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error"]["code"], "FAILED_PRECONDITION", "{arguments:?}: {error}");
    }
    server.end();
}
