//! The program among files of others: configurations that others may write, directories that others may look into, and
//! limits that others set.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn pressmark(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(arguments)
        .args(["--log", "warn"])
        .current_dir(folder)
        .env_remove("XDG_DATA_HOME")
        .env("HOME", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A configuration that nobody named runs no command and opens no store when others may have written it.
#[test]
fn a_configuration_that_others_may_write_is_used_only_when_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let file = at.join("pressmark.toml");
    let ran = at.join("ran");
    std::fs::create_dir(at.join("docs")).unwrap();
    std::fs::write(at.join("docs/a.weird"), b"\x00\x01binary").unwrap();
    std::fs::write(
        &file,
        format!(
            "[storage]\npath = \"data\"\n[[source]]\nspace = \"docs\"\npath = \"docs\"\n[[space]]\nname = \"docs\"\n\
             uri_template = \"docs://h/{{+path}}\"\n[[extract]]\nmime_type = \"application/octet-stream\"\n\
             command = [\"touch\", \"{}\"]\n",
            ran.display()
        ),
    )
    .unwrap();
    let mode =
        |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o666);
    for arguments in [
        &["stdio"][..],
        &["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off"],
        &["search", "binary"],
        &["stats"],
        &["read", "docs://h/a.weird"],
        &["list"],
        &["verify"],
        &["space", "list"],
        &["load", "docs", "-", "--format", "ndjson"],
        &["backup", "copy"],
    ] {
        let output = pressmark(at, arguments);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        for wanted in ["pressmark.toml", "mode 0666", "--config pressmark.toml", "chmod go-w"] {
            assert!(errors.contains(wanted), "{arguments:?}: {errors}");
        }
        assert!(!ran.exists() && !at.join("data").exists(), "{arguments:?}");
    }
    let named = pressmark(at, &["stdio", "--config", "pressmark.toml"]);
    assert_eq!(named.status.code(), Some(0), "{}", text(&named.stderr));
    mode(0o644);
    assert_eq!(pressmark(at, &["stdio"]).status.code(), Some(0));
    std::fs::set_permissions(at, std::fs::Permissions::from_mode(0o777)).unwrap();
    let errors = text(&pressmark(at, &["stats"]).stderr);
    assert!(errors.contains("everybody may write its folder (mode 0777)"), "{errors}");
}

/// What a store keeps is for its owner only, in a data directory that everybody may look into as well.
#[test]
fn files_of_a_store_are_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(folder.path().join("r.ndjson"), "{\"uri\":\"docs://h/a\",\"text\":\"b\"}\n")
        .unwrap();
    for arguments in [
        &["space", "add", "docs", "docs://h/{name}", "--data", "data"][..],
        &["load", "docs", "r.ndjson", "--data", "data"],
        &["search", "b", "--data", "data"],
        &["backup", "copy", "--data", "data"],
    ] {
        let output = pressmark(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    }
    let mut folders = vec![data, folder.path().join("copy")];
    let mut count = 0;
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
            count += 1;
            folders.extend(path.is_dir().then_some(path));
        }
    }
    assert!(count > 20, "{count}");
}

/// SIGXFSZ, which the system sends to who writes beyond `ulimit -f`, is answered as a full disk is.
#[test]
fn a_limit_on_the_size_of_files_does_not_end_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let added = pressmark(at, &["space", "add", "docs", "docs://h/{name}", "--data", "data"]);
    assert_eq!(added.status.code(), Some(0), "{}", text(&added.stderr));
    let records: String = (0..200)
        .map(|number| {
            format!(
                "{{\"uri\":\"docs://h/{number}\",\"text\":\"{}\"}}\n",
                format!("{number:09} ").repeat(3_000)
            )
        })
        .collect();
    std::fs::write(at.join("r.ndjson"), records).unwrap();
    let load = |limit: &str| {
        let line = format!(
            "ulimit -f {limit} && exec {} load docs r.ndjson --data data --log warn",
            env!("CARGO_BIN_EXE_pressmark")
        );
        let output =
            Command::new("sh").args(["-c", &line]).current_dir(at).env("HOME", at).output();
        let output = output.unwrap();
        (output.status.code(), text(&output.stderr))
    };
    // Two MiB, in blocks of 512 bytes or 1,024: the log of the store does not hold all.
    let (code, said) = load("2048");
    // Whether some are in depends on how they were put together.
    assert!(matches!(code, Some(1 | 2)) && said.contains("File too large"), "{code:?}: {said}");
    let (code, said) = load("unlimited");
    assert_eq!(code, Some(0), "{said}");
    let verified = pressmark(at, &["verify", "--data", "data"]);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stdout));
}
