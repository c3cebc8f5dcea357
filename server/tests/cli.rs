//! The program from the shell: commands, exit codes, error texts.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::{Expect, expect};

fn pressmark(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(arguments)
        .args(["--log", "warn"])
        .current_dir(folder)
        .env_remove("XDG_DATA_HOME")
        .env("HOME", folder)
        // No server that runs on this machine is asked.
        .env("PRESSMARK_ADMIN", "127.0.0.1:1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Exit code, stdout and stderr of a command, with the folder's path taken out.
#[track_caller]
fn check(folder: &Path, arguments: &[&str], wanted: &Expect) {
    let output = pressmark(folder, arguments);
    // Said when indexing takes longer than a moment, which it may on a busy machine.
    let waits = |line: &&str| !line.trim_end().ends_with("is being brought up to date");
    let errors = text(&output.stderr);
    let errors: String = errors.split_inclusive('\n').filter(waits).collect();
    let code = output.status.code().unwrap();
    let all = format!("exit {code}\n{}{errors}", text(&output.stdout));
    wanted.assert_eq(&all.replace(&folder.display().to_string(), "FOLDER"));
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_store_is_filled_and_looked_at_from_the_shell() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(
        at.join("records.ndjson"),
        concat!(
            r#"{"uri":"pypi://packages/serde","title":"Serde","text":"line 1\nline 2\n"}"#,
            "\n",
            "\n",
            r#"{"variables":{"name":"a/b"},"blob":"AP8="}"#,
            "\n",
            r#"{"uri":"pypi://packages/broken","txt":""}"#,
            "\n",
            r#"{"uri":"npm://packages/x","text":""}"#,
            "\n",
        ),
    )
    .unwrap();
    check(
        at,
        &["space", "add", "pypi", "pypi://packages/{name}", "--data", "d", "--title", "Packages"],
        &expect![[r#"
        exit 0
    "#]],
    );
    check(
        at,
        &["load", "pypi", "records.ndjson", "--data", "d"],
        &expect![[r#"
            exit 1
            records.ndjson:4: not a resource record: unknown field `txt`, expected one of `uri`, `space`, `variables`, `name`, `title`, `description`, `mimeType`, `text`, `blob`, `contents`, `annotations`, `size`, `icons`, `_meta`, `pinned`, `acl` (column 37)
            records.ndjson:5: npm://packages/x: the template `pypi://packages/{name}` of the space `pypi` does not match it
            2 records loaded: 2 created, 0 updated, 0 unchanged; 2 refused
        "#]],
    );
    check(
        at,
        &["list", "--data", "d"],
        &expect![[r#"
            exit 0
            pypi://packages/a%2Fb	a/b
            pypi://packages/serde	Serde
            2 resources
        "#]],
    );
    check(
        at,
        &["read", "pypi://packages/serde#line=1,2", "--data", "d"],
        &expect![[r#"
        exit 0
        line 2
    "#]],
    );
    check(
        at,
        &["read", "pypi://packages", "--data", "d"],
        &expect![[r#"
        exit 0
        pypi://packages/a%2Fb
        pypi://packages/serde
    "#]],
    );
    assert_eq!(pressmark(at, &["read", "pypi://packages/a%2Fb", "--data", "d"]).stdout, [0, 255]);
    check(
        at,
        &["space", "list", "--data", "d"],
        &expect![[r#"
        exit 0
        pypi	pypi://packages/{name}	2
    "#]],
    );
    check(
        at,
        &["verify", "--data", "d"],
        &expect![[r#"
            exit 0
            2 resources and 11 derived keys checked: 0 faults
        "#]],
    );
    check(
        at,
        &["space", "remove", "pypi", "--data", "d"],
        &expect![[r#"
        exit 0
        removed the space `pypi` with 2 resources
    "#]],
    );
    check(
        at,
        &["read", "pypi://packages/serde", "--data", "d"],
        &expect![[r#"
        exit 2
        pressmark: pypi://packages/serde: resource not found
    "#]],
    );
}

#[test]
fn what_is_wrong_is_named_with_the_way_out() {
    let folder = folder();
    let at = folder.path();
    check(
        at,
        &["read", "a://b"],
        &expect![[r#"
            exit 2
            pressmark: which store? None is named, and no server answers at 127.0.0.1:1 (PRESSMARK_ADMIN): Connection refused (os error 111); name a store with --data DIR or --config FILE, or start a server with `pressmark serve FOLDER`
        "#]],
    );
    check(
        at,
        &["read", "a://b", "--data", "none"],
        &expect![[r#"
            exit 2
            pressmark: none: there is no store; check --data, or make one: `pressmark serve FOLDER` of files, `pressmark space add` for records
        "#]],
    );
    check(
        at,
        &["serve", "nowhere"],
        &expect![[r#"
        exit 2
        pressmark: nowhere: cannot be opened; check that it exists and may be read: No such file or directory (os error 2)
    "#]],
    );
    check(
        at,
        &["space", "add", "x", "x://{a}{b}", "--data", "d"],
        &expect![[r#"
        exit 2
        pressmark: space `x`: x://{a}{b}: at byte 7: two expressions with nothing between them cannot be told apart (put a literal between them)
    "#]],
    );
    check(
        at,
        &["load", "x", "file", "--data", "d"],
        &expect![[r#"
        exit 2
        pressmark: there is no space `x`: declare it in the configuration as [[space]], or add it with `pressmark space add`
    "#]],
    );
    std::fs::write(at.join("pressmark.toml"), "[server]\nlisten = '127.0.0.1:0'\nport = 1\n")
        .unwrap();
    let output = pressmark(at, &["serve"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("pressmark.toml:3") && error.contains("port"), "{error}");
    std::fs::write(at.join("pressmark.toml"), "[[space]]\nname = 'x'\nuri_template = 'x://{a'\n")
        .unwrap();
    let error = text(&pressmark(at, &["serve"]).stderr);
    assert!(
        error.contains("pressmark.toml:3: space.uri_template") && error.contains("x://{a"),
        "{error}"
    );
    std::fs::remove_file(at.join("pressmark.toml")).unwrap();
    let error = text(&pressmark(at, &["serve", ".", "--listen", "0.0.0.0:0"]).stderr);
    assert!(error.contains("--listen") && error.contains("loopback"), "{error}");
}

#[test]
fn a_second_process_is_refused_with_the_name_of_the_owner() {
    let folder = folder();
    let at = folder.path();
    std::fs::create_dir(at.join("docs")).unwrap();
    std::fs::write(at.join("docs/a.md"), "# A\n").unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(["serve", "docs", "--data", "d", "--listen", "127.0.0.1:0"])
        .current_dir(at)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("serving MCP at http://127.0.0.1:")));
    let refused = pressmark(at, &["verify", "--data", "d"]);
    assert_eq!(refused.status.code(), Some(2));
    let error = text(&refused.stderr);
    assert!(error.contains(&format!("`pressmark serve` (pid {})", server.id())), "{error}");
    // The lines that help to go on name a document that is really there.
    assert!(lines.any(
        |line| line.contains("curl -s http://127.0.0.1:") && line.contains("docs://docs/a.md")
    ));
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&server),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0), "SIGTERM ends it in order");
    assert_eq!(pressmark(at, &["verify", "--data", "d"]).status.code(), Some(0));
}

#[test]
fn stdio_answers_and_ends_with_its_input() {
    let folder = folder();
    let at = folder.path();
    std::fs::create_dir(at.join("docs")).unwrap();
    std::fs::write(at.join("docs/a.md"), "# A\n").unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(["stdio", "docs", "--data", "d"])
        .current_dir(at)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    writeln!(input, r#"{{"jsonrpc":"2.0","id":"é","method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#).unwrap();
    writeln!(input, r#"{{"jsonrpc":"2.0","id":2,"method":"ping"}}"#).unwrap();
    drop(input);
    let output = server.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let replies = text(&output.stdout);
    let replies: Vec<serde_json::Value> =
        replies.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(replies.len(), 2);
    assert_eq!(replies[0]["id"], "é");
    assert_eq!(replies[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(replies[1]["result"], serde_json::json!({}));
}

#[test]
fn values_are_completed_from_the_shell() {
    let folder = folder();
    let at = folder.path();
    let papers: String = [("core", "plan"), ("core", "review"), ("sales", "plan")]
        .iter()
        .map(|(team, name)| format!("{{\"uri\":\"docs://{team}/{name}\",\"text\":\"\"}}\n"))
        .collect();
    std::fs::write(at.join("papers.ndjson"), papers).unwrap();
    pressmark(at, &["space", "add", "papers", "docs://{team}/{name}", "--data", "d"]);
    pressmark(at, &["load", "papers", "papers.ndjson", "--data", "d"]);
    check(
        at,
        &["complete", "papers", "name", "", "--data", "d"],
        &expect![[r#"
            exit 0
            plan
            review
            2 of 2
        "#]],
    );
    check(
        at,
        &["complete", "papers", "name", "PL", "--context", "team=sales", "--data", "d"],
        &expect![[r#"
            exit 0
            plan
            1 of 1
        "#]],
    );
    check(
        at,
        &[
            "complete",
            "papers",
            "name",
            "",
            "--context",
            "team=core",
            "--context",
            "team=sales",
            "--data",
            "d",
        ],
        &expect![[r#"
            exit 2
            pressmark: variable `team`: it is chosen twice: choose one value of each variable
        "#]],
    );
}

#[test]
fn a_chosen_value_needs_its_variable() {
    let folder = folder();
    check(
        folder.path(),
        &["complete", "papers", "name", "", "--context", "core", "--data", "d"],
        &expect![[r#"
            exit 2
            error: invalid value 'core' for '--context <VARIABLE=VALUE>': write it as VARIABLE=VALUE

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn resources_are_found_from_the_shell() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(
        at.join("notes.ndjson"),
        concat!(
            r#"{"variables":{"name":"whale"},"title":"The whale","text":"Call me Ishmael, said the sailor."}"#,
            "\n",
            r#"{"variables":{"name":"page"},"title":"A page","mimeType":"text/html","text":"<nav>menu</nav><p>The sailor&apos;s wife</p>"}"#,
            "\n",
            r#"{"variables":{"name":"tricks"},"title":"T\u001b[31m","text":"sailor \u001b[2J"}"#,
            "\n",
        ),
    )
    .unwrap();
    let add = ["space", "add", "notes", "note://shelf/{name}", "--data", "d"];
    assert!(pressmark(at, &add).status.success());
    assert!(pressmark(at, &["load", "notes", "notes.ndjson", "--data", "d"]).status.success());
    check(
        at,
        &["search", "ishmael", "--data", "d"],
        &expect![[r#"
        exit 0
        The whale
          note://shelf/whale
          Call me Ishmael, said the sailor.

        1 of 1
    "#]],
    );
    check(
        at,
        &["search", "wife menu", "--data", "d"],
        &expect![[r#"
        exit 0
        A page
          note://shelf/page
          The sailor's wife

        1 of 1
        few resources have all 2 words: those with at least 1 of them come after
    "#]],
    );
    let lines = pressmark(at, &["search", "sailor -wife", "--limit", "1", "--json", "--data", "d"]);
    let found: serde_json::Value = serde_json::from_slice(&lines.stdout).unwrap();
    assert_eq!(found["results"][0]["snippet"], "**sailor** [2J");
    assert_eq!((&found["total"], text(&lines.stderr).as_str()), (&2.into(), ""));
    let cursor = found["nextCursor"].as_str().unwrap();
    let rest = ["search", "sailor -wife", "--cursor", cursor, "--data", "d"];
    check(
        at,
        &rest,
        &expect![[r#"
        exit 0
        The whale
          note://shelf/whale
          Call me Ishmael, said the sailor.

        1 of 2
    "#]],
    );
    check(
        at,
        &["search", "xylophone", "--space", "notes", "--data", "d"],
        &expect![[r#"
        exit 0
        0 of 0
    "#]],
    );
    check(
        at,
        &["search", "x", "--space", "nots", "--data", "d"],
        &expect![[r#"
        exit 2
        pressmark: space `nots`: there is no such space: the spaces are notes
    "#]],
    );
    check(
        at,
        &["search", "x", "--limit", "0", "--data", "d"],
        &expect![[r#"
            exit 2
            error: invalid value '0' for '--limit <COUNT>': write a number from 1 to 50; --cursor goes on with the next page

            For more information, try '--help'.
        "#]],
    );
}

/// Compose files and units set variables to nothing where nothing is meant.
#[test]
fn an_empty_variable_is_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pressmark"));
    command.current_dir(folder.path()).env("PRESSMARK_ADMIN_TOKEN_FILE", "");
    let output = command.args(["space", "add", "s", "s://{x}", "--data", "d"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// A store without full text is checked as it is: to look at it is not to change it.
#[test]
fn no_index_is_made_to_be_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("one.ndjson"), "{\"uri\":\"s://a\",\"text\":\"one\"}\n").unwrap();
    let config = "[storage]\npath = 'd'\n[full_text]\nenabled = false\n[[space]]\nname = 's'\nuri_template = 's://{x}'\n";
    std::fs::write(at.join("pressmark.toml"), config).unwrap();
    assert_eq!(pressmark(at, &["load", "s", "one.ndjson"]).status.code(), Some(0));
    assert_eq!(pressmark(at, &["verify", "--data", "d"]).status.code(), Some(0));
    assert!(!at.join("d/full_text").exists());
}

/// Who searches is told that nothing can be found, and who checks that the index was not compared.
#[test]
fn an_index_that_cannot_be_used_is_a_fault() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("one.ndjson"), "{\"uri\":\"s://a\",\"text\":\"one\"}\n").unwrap();
    assert_eq!(
        pressmark(at, &["space", "add", "s", "s://{x}", "--data", "d"]).status.code(),
        Some(0)
    );
    assert_eq!(pressmark(at, &["load", "s", "one.ndjson", "--data", "d"]).status.code(), Some(0));
    std::fs::remove_dir_all(at.join("d/full_text")).unwrap();
    std::fs::write(at.join("d/full_text"), "no folder").unwrap();
    for (arguments, code, stdout) in [
        (&["search", "one", "--data", "d"][..], 2, ""),
        (&["verify", "--data", "d"], 1, "stands still"),
        (&["read", "s://a", "--data", "d"], 0, "one"),
    ] {
        let output = pressmark(at, arguments);
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        let all = format!("{out}{errors}");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
        let is_told = all.contains("stands still");
        assert_eq!((out.contains(stdout), is_told), (true, code > 0), "{arguments:?}: {all}");
    }
}
