//! How the program starts and ends: what it makes, what it says, what it leaves alone.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use expect_test::expect;
use tempfile::TempDir;

fn pressmark(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pressmark"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("XDG_DATA_HOME")
        .env_remove("PRESSMARK_LOG")
        .env("HOME", folder)
        .stdin(Stdio::null());
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    pressmark(folder, arguments).output().unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// Starts a server, reads what it says up to the line that begins the list of hosts, and ends it.
fn serve(mut command: Command, look: impl FnOnce(&Child)) -> String {
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    for line in BufReader::new(server.stderr.as_mut().unwrap()).lines().map(Result::unwrap) {
        if line.contains("Add the server to a host") {
            break;
        }
        said.push_str(&line);
        said.push('\n');
    }
    look(&server);
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success(), "{said}");
    said
}

#[test]
fn to_look_at_a_store_does_not_change_it() {
    let folder = folder(&[(
        "other.toml",
        "[[space]]\nname = 'a'\nuri_template = 'other://{name}'\n[[space]]\nname = 'b'\nuri_template = 'b://{name}'\n",
    )]);
    let at = folder.path();
    assert!(output(at, &["space", "add", "a", "a://x/{name}", "--data", "d"]).status.success());
    for looking in [&["list"][..], &["verify"], &["stats"], &["space", "list"], &["read", "a://x"]]
    {
        output(at, &[looking, &["--data", "d", "--config", "other.toml"]].concat());
    }
    let spaces = output(at, &["space", "list", "--data", "d"]);
    assert_eq!(String::from_utf8(spaces.stdout).unwrap(), "a\ta://x/{name}\t0\n");
}

#[test]
fn the_data_directory_is_for_its_owner_only() {
    let folder = folder(&[]);
    let at = folder.path();
    fs::create_dir(at.join("there")).unwrap();
    for data in ["new/d", "there"] {
        let program = env!("CARGO_BIN_EXE_pressmark");
        let line = format!("umask 0; exec '{program}' space add a 'a://{{name}}' --data {data}");
        let status = Command::new("sh").args(["-c", &line]).current_dir(at).status().unwrap();
        assert!(status.success());
    }
    let mode = |path: &str| fs::metadata(at.join(path)).unwrap().permissions().mode() & 0o777;
    for made in ["new", "new/d", "new/d/store", "there/store"] {
        assert_eq!(mode(made), 0o700, "{made}");
    }
}

#[test]
fn without_a_home_the_data_directory_must_be_named() {
    let folder = folder(&[("docs/a.md", "")]);
    let output = pressmark(folder.path(), &["serve", "docs"]).env_remove("HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    expect![[r#"
        pressmark: where to keep the data? Neither XDG_DATA_HOME nor HOME is set; name a folder with --data DIR
    "#]]
    .assert_eq(&String::from_utf8(output.stderr).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
}

#[test]
fn a_source_that_cannot_be_indexed_is_said_at_the_end_and_keeps_its_documents() {
    let folder = folder(&[
        ("docs/a.md", ""),
        ("disk/b.md", ""),
        (
            "p.toml",
            "[storage]\npath = 'docs/data'\n[[source]]\nspace = 'docs'\npath = 'docs'\n[[source]]\nspace = 'disk'\npath = 'link'\n",
        ),
    ]);
    let at = folder.path();
    symlink("disk", at.join("link")).unwrap();
    let start = || pressmark(at, &["serve", "--config", "p.toml", "--listen", "localhost:0"]);
    // The data directory lies in a folder that is served, and is not.
    let said = serve(start(), |_| ());
    assert!(said.contains("\n2 resources are ready at http://127.0.0.1:"), "{said}");
    assert!(!said.contains("could not be indexed"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colours where no terminal is: {said}");
    fs::rename(at.join("disk"), at.join("away")).unwrap();
    let said = serve(start(), |_| ());
    assert!(said.contains("\n2 resources are ready at http://127.0.0.1:"), "{said}");
    assert!(said.contains(", 1 source could not be indexed"), "{said}");
    assert!(said.contains("link: cannot be opened"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_open_files_is_raised_and_said_when_low() {
    let folder = folder(&[("docs/a.md", "")]);
    let program = env!("CARGO_BIN_EXE_pressmark");
    let mut command = Command::new("sh");
    let line = format!(
        "ulimit -Sn 256; ulimit -Hn 512; exec '{program}' serve docs --data d --listen 127.0.0.1:0"
    );
    command.args(["-c", &line]).current_dir(folder.path());
    let said = serve(command, |server| {
        let limits = fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
        let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        assert_eq!(files.split_whitespace().nth(3), Some("512"), "{files}");
    });
    assert!(said.contains("can open 512 files and connections"), "{said}");
    assert!(said.contains("connections_max is lowered from 16384 to 256"), "{said}");
}

#[test]
fn a_host_that_closes_its_end_of_stdout_ends_stdio_quietly() {
    let folder = folder(&[("docs/a.md", "")]);
    let mut server = pressmark(folder.path(), &["stdio", "docs", "--data", "d", "--log", "error"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(server.stdout.take());
    let mut input = server.stdin.take().unwrap();
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
    let output = server.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains("stdio:"), "{said}");
}

#[test]
fn a_folder_that_is_no_longer_given_goes_and_its_space_may_be_renamed() {
    let toml = |space: &str| {
        format!(
            "[[space]]\nname = '{space}'\nuri_template = 'h://x/{{+path}}'\n[[source]]\nspace = '{space}'\npath = 'pa'\n"
        )
    };
    let folder = folder(&[("pa/a.md", ""), ("pb/b.md", "")]);
    let at = folder.path();
    let served = |arguments: &[&str]| {
        let rest = ["--data", "d", "--listen", "127.0.0.1:0"];
        let said = serve(pressmark(at, &[&["serve"], arguments, &rest].concat()), |_| ());
        let spaces = output(at, &["space", "list", "--data", "d"]);
        (String::from_utf8(spaces.stdout).unwrap(), said)
    };
    let (spaces, _) = served(&["pa", "pb"]);
    assert_eq!(spaces, "pa\tdocs://pa/{+path}\t1\npb\tdocs://pb/{+path}\t1\n");
    let (spaces, said) = served(&["pa"]);
    assert_eq!(spaces, "pa\tdocs://pa/{+path}\t1\n");
    assert!(said.contains("removed the space `pb` and its documents (1)"), "{said}");
    // Nobody says which folders there are.
    assert_eq!(served(&[]).0, spaces);
    for space in ["one", "two"] {
        fs::write(at.join("p.toml"), toml(space)).unwrap();
        assert_eq!(served(&["--config", "p.toml"]).0, format!("{space}\th://x/{{+path}}\t1\n"));
    }
}

#[test]
fn a_path_that_is_away_keeps_its_documents_and_a_mistaken_one_is_refused() {
    let folder = folder(&[("docs/a.md", ""), ("other/docs/b.md", "")]);
    let at = folder.path();
    let start =
        |path: &str| pressmark(at, &["serve", path, "--data", "d", "--listen", "127.0.0.1:0"]);
    let refused = start("dosc").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(!at.join("d").exists(), "no store is made for a mistake");
    serve(start("docs"), |_| ());
    fs::rename(at.join("docs"), at.join("away")).unwrap();
    let said = serve(start("docs"), |_| ());
    assert!(said.contains("\n1 resource is ready"), "{said}");
    assert!(said.contains("docs: cannot be opened"), "{said}");
    let refused = String::from_utf8(start("dosc").output().unwrap().stderr).unwrap();
    assert!(refused.contains("pressmark: dosc: cannot be opened"), "{refused}");
    // Another folder of the same name takes over.
    let said = serve(start("other/docs"), |_| ());
    assert!(said.contains("the space `docs` held documents of another folder"), "{said}");
}

/// More folders within each other than files may be open: each level of the walk holds one.
#[test]
fn nothing_is_lost_when_file_descriptors_run_out() {
    let folder = folder(&[(&format!("docs/{}a.md", "d/".repeat(120)), "")]);
    let program = env!("CARGO_BIN_EXE_pressmark");
    let serve_with = |limit: u32| {
        let mut command = Command::new("sh");
        let line =
            format!("ulimit -n {limit}; exec '{program}' serve docs --data d --listen 127.0.0.1:0");
        command.args(["-c", &line]).current_dir(folder.path());
        serve(command, |_| ())
    };
    let said = serve_with(400);
    assert!(said.contains("\n1 resource is ready"), "{said}");
    let said = serve_with(110);
    assert!(said.contains("\n1 resource is ready"), "{said}");
    assert!(said.contains(", 1 file or folder could not be read"), "{said}");
    assert!(said.contains("Too many open files"), "{said}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = folder(&[]);
    let at = folder.path();
    let template = "a://{name}";
    assert!(output(at, &["space", "add", "a", template, "--data", "d"]).status.success());
    let records: String = (0..2_000)
        .map(|number| format!("{{\"uri\":\"a://{number}\",\"text\":\"x\",\"pinned\":true}}\n"))
        .collect();
    fs::write(at.join("r.ndjson"), records).unwrap();
    assert!(output(at, &["load", "a", "r.ndjson", "--data", "d"]).status.success());
    for looking in [&["list"][..], &["stats"], &["space", "list"], &["verify"], &["read", "a://1"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let arguments = [looking, &["--data", "d", "--log", "error"]].concat();
        let output = pressmark(at, &arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{looking:?}");
    }
}
