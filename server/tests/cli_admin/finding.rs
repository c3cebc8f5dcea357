//! Commands that are told of no server find the one that runs, and say which.

use std::process::Output;

use crate::{Desk, Server};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A server with one resource of the space `docs`.
fn served(desk: &Desk) -> Server {
    std::fs::write(desk.path().join("one.ndjson"), "{\"uri\":\"docs://a/b\",\"text\":\"whale\"}\n")
        .unwrap();
    let server = desk.serve("d");
    for arguments in
        [&["space", "add", "docs", "docs://{team}/{name}"][..], &["load", "docs", "one.ndjson"]]
    {
        let output = desk.run(&[arguments, &["--admin", &server.admin]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    server
}

const READERS: [&[&str]; 6] = [
    &["search", "whale"],
    &["read", "docs://a/b"],
    &["list"],
    &["complete", "docs", "name", ""],
    &["stats"],
    &["dump", "docs"],
];

#[test]
fn commands_that_read_find_the_server_of_a_store() {
    let desk = Desk::new();
    let server = served(&desk);
    let asks = format!("asking the server at {}", server.admin);
    let check = |command: &[&str], how: &str, output: Output, is_told: bool| {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command:?} {how}: {said}");
        assert!(!output.stdout.is_empty(), "{command:?} {how}");
        assert_eq!(said.contains(&asks), is_told, "{command:?} {how}: {said}");
    };
    for command in READERS {
        let with = |more: &[&str]| desk.command(&[command, more].concat());
        check(command, "--data", with(&["--data", "d"]).output().unwrap(), true);
        let of_variable = with(&[]).env("PRESSMARK_DATA", "d").output().unwrap();
        check(command, "PRESSMARK_DATA", of_variable, true);
        let of_address = with(&[]).env("PRESSMARK_ADMIN", &server.admin).output().unwrap();
        check(command, "PRESSMARK_ADMIN", of_address, true);
        for quiet in ["--quiet", "--json"] {
            check(command, quiet, with(&["--data", "d", quiet]).output().unwrap(), false);
        }
    }
    server.end();
}

#[test]
fn an_address_that_is_out_of_date_is_passed_over() {
    let desk = Desk::new();
    let server = served(&desk);
    let other = desk.serve("other");
    let admin = server.admin.clone();
    server.end();
    // A server that was killed leaves its address, and another one may have it now.
    for address in [&admin, &other.admin] {
        std::fs::write(desk.path().join("d/ADMIN"), address).unwrap();
        let output = desk.run(&["read", "docs://a/b", "--data", "d"]);
        let said = (text(&output.stdout), text(&output.stderr));
        assert_eq!(said, ("whale".to_owned(), String::new()));
    }
    other.end();
}

#[test]
fn where_no_server_answers_the_ways_out_are_named() {
    let desk = Desk::new();
    for command in READERS {
        let output = desk.run(command);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        for piece in ["no server answers at 127.0.0.1:1", "--data DIR", "pressmark serve FOLDER"] {
            assert!(said.contains(piece), "{command:?}: {said}");
        }
    }
    // What changes a store must be told which.
    for command in
        [&["put", "docs://a/b", "records.ndjson"][..], &["delete", "docs://a/b"], &["reindex"]]
    {
        let said = text(&desk.run(command).stderr);
        assert!(said.starts_with("pressmark: which store? Name it with --data DIR"), "{said}");
    }
}

#[test]
fn serve_without_anything_explains_folders_first() {
    let desk = Desk::new();
    let output = desk.run(&["serve"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("pressmark: nothing to serve: name the folders"), "{said}");
    assert!(said.find("pressmark serve ~/").unwrap() < said.find("--data DIR").unwrap(), "{said}");
}
