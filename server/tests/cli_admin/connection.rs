//! What a command says of a server that is not there, goes away, or is another one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use serde_json::Value;

use super::Desk;

/// More than one batch for each lane of a load.
const MANY: usize = 40_000;

#[test]
fn a_load_that_is_cut_off_says_what_is_in_and_that_it_can_be_repeated() {
    let desk = Desk::new();
    let mut server = desk.serve("d");
    desk.run(&["space", "add", "many", "many://{name}", "--admin", &server.admin]);
    let arguments = ["load", "many", "-", "--format", "ndjson", "--json", "--admin", &server.admin];
    let mut load = desk
        .command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = load.stdin.take().unwrap();
    stdin.write_all(b"{\"uri\":\"other://x\",\"text\":\"\"}\n").unwrap();
    for number in 0..MANY {
        writeln!(stdin, "{{\"uri\":\"many://{number}\",\"text\":\"\"}}").unwrap();
    }
    // The server's word on the first record says that the batch which it was in is in the store. The last ones of each lane
    // wait for the end of the input.
    let mut stderr = BufReader::new(load.stderr.take().unwrap());
    let mut refused = String::new();
    stderr.read_line(&mut refused).unwrap();
    assert!(refused.contains("other://x"), "{refused}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    drop(stdin);

    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let mut stdout = String::new();
    load.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    assert_eq!(load.wait().unwrap().code(), Some(1), "{said}");
    let counts: Value = serde_json::from_str(&stdout).unwrap();
    assert!(counts["created"].as_u64().unwrap() > 0, "{stdout}");
    let document: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(document["error"]["code"], "UNAVAILABLE", "{said}");
    let message = document["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("the server "), "{message}");
    assert!(message.contains("repeat the load"), "{message}");
}

#[test]
fn the_address_of_hosts_is_told_from_that_of_commands() {
    let desk = Desk::new();
    let server = desk.serve("d");
    for arguments in
        [&["list"][..], &["stats"], &["space", "list"], &["load", "x", "records.ndjson"]]
    {
        let output = desk.run(&[arguments, &["--json", "--admin", &server.mcp]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let document: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(document["error"]["code"], "UNAVAILABLE", "{document}");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(message.contains("no admin plane answers"), "{message}");
    }
    server.end();
}

#[test]
fn an_owner_without_a_plane_is_named() {
    let desk = Desk::new();
    let mut server = desk
        .command(&["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off", "--data", "d"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("serving MCP at") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0);
    }
    let output = desk.run(&["stats", "--data", "d", "--admin", "auto"]);
    server.kill().unwrap();
    server.wait().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let owner = format!("`pressmark serve` (pid {})", server.id());
    assert!(said.contains(&owner) && said.contains("--admin-listen"), "{said}");
}
