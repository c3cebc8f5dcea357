//! Resources one by one and whole spaces: `list`, `dump`, `put`, `delete`, `reindex`.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::Desk;

/// One record of each form.
const FORMS: &str = concat!(
    r#"{"uri":"docs://a/all","name":"n","title":"T\u202e","description":"d\n2","mimeType":"text/x","annotations":{"audience":["user","assistant"],"priority":0.30000000000000004,"lastModified":"2025-01-12T15:00:58.123Z"},"size":77,"icons":[{"src":"https://e.example/x.png"}],"_meta":{"com.example/k":[1,"x"]},"pinned":true,"acl":["g"],"text":"\u2028 line\r\n\u0000end"}"#,
    "\n",
    r#"{"uri":"docs://a/blob","mimeType":"image/png","blob":"AP8="}"#,
    "\n",
    r#"{"uri":"docs://a/nobody","acl":[],"text":""}"#,
    "\n",
    r#"{"uri":"docs://a/parts","contents":[{"text":"x","_meta":{"k":1}},{"uri":"docs://a/parts#1","mimeType":"image/png","blob":"AP8="}]}"#,
    "\n",
    r#"{"variables":{"team":"a b/%","name":"ü"},"text":"escaped"}"#,
    "\n",
);

/// Blobs whose type nobody says, alone and as the first of two parts.
const UNTYPED: &str = concat!(
    r#"{"uri":"docs://b/blob","blob":"AP8="}"#,
    "\n",
    r#"{"uri":"docs://b/parts","contents":[{"blob":"AP8="},{"blob":"AQ=="},{"text":"x"}]}"#,
    "\n",
);

fn add(desk: &Desk, side: &[&str]) {
    let add = ["space", "add", "docs", "docs://{team}/{name}"];
    assert_eq!(desk.run(&[&add[..], side].concat()).status.code(), Some(0));
}

#[test]
fn a_dump_that_is_loaded_is_the_same_space_byte_for_byte() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("forms.ndjson"), [FORMS, UNTYPED].concat()).unwrap();
    let server = desk.serve("served");
    let (store, admin) = (["--data", "own"], ["--admin", &server.admin]);
    for (from, to) in [(&store[..], &admin[..]), (&["--data", "second"], &["--data", "third"])] {
        add(&desk, from);
        add(&desk, to);
        let loaded = desk.run(&[&["load", "docs", "forms.ndjson"], from].concat());
        assert_eq!(loaded.status.code(), Some(0), "{loaded:?}");
        let dumped = desk.run(&[&["dump", "docs"], from].concat());
        assert_eq!(String::from_utf8_lossy(&dumped.stderr), "7 records\n");
        assert_eq!(dumped.stdout.iter().filter(|byte| **byte == b'\n').count(), 7);
        std::fs::write(desk.path().join("dump.ndjson"), &dumped.stdout).unwrap();
        let back = desk.run(&[&["load", "docs", "dump.ndjson"], to].concat());
        assert_eq!(back.status.code(), Some(0), "{back:?}");
        let again = desk.run(&[&["dump", "docs"], to].concat());
        assert_eq!(String::from_utf8(dumped.stdout), String::from_utf8(again.stdout));
        // To the store that it came from it is nothing new.
        let same = desk.run(&[&["load", "docs", "dump.ndjson", "--json"], from].concat());
        let same: Value = serde_json::from_slice(&same.stdout).unwrap();
        assert_eq!((&same["unchanged"], &same["updated"]), (&7.into(), &0.into()));
    }
    let none = desk.run(&["dump", "none", "--data", "own"]);
    let said = String::from_utf8(none.stderr).unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(said.contains("`none`") && said.contains("docs"), "{said}");
    server.end();
}

#[test]
fn one_resource_is_put_and_deleted_on_either_side() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("bytes"), [0, 255]).unwrap();
    let server = desk.serve("served");
    for side in [&["--data", "own"][..], &["--admin", &server.admin]] {
        add(&desk, side);
        let run = |arguments: &[&str], code: i32| {
            let output = desk.run(&[arguments, side].concat());
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
        };
        let arguments = [&["put", "docs://a/note", "--title", "Note", "--json"], side].concat();
        let mut put = desk.command(&arguments);
        let mut put = put.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        put.stdin.take().unwrap().write_all("a höte\n".as_bytes()).unwrap();
        let put = put.wait_with_output().unwrap();
        let put: Value = serde_json::from_slice(&put.stdout).unwrap();
        let created = json!({"uri": "docs://a/note", "space": "docs", "outcome": "created"});
        assert_eq!(put, created);
        assert_eq!(run(&["read", "docs://a/note"], 0), "a höte\n");

        assert_eq!(
            run(&["put", "docs://a/b", "bytes", "--mime-type", "image/png"], 0),
            "docs://a/b: created\n"
        );
        assert_eq!(
            run(&["put", "docs://a/b", "bytes", "--mime-type", "image/png"], 0),
            "docs://a/b: unchanged\n"
        );
        let read: Value = serde_json::from_str(&run(&["read", "docs://a/b", "--json"], 0)).unwrap();
        assert_eq!(read["contents"][0]["blob"], "AP8=");

        let none = run(&["put", "other://a/b", "bytes"], 2);
        assert!(none.contains("other://a/b") && none.contains("space add"), "{none}");
        let missing = run(&["put", "docs://a/b", "missing"], 2);
        assert!(missing.contains("missing: No such file"), "{missing}");

        let gone = run(&["delete", "docs://a/b", "docs://a/none"], 1);
        assert!(
            gone.contains("docs://a/b: deleted") && gone.contains("docs://a/none: there is no")
        );
        let lines = run(&["delete", "docs://a/note", "--json"], 0);
        assert_eq!(lines, "{\"uri\":\"docs://a/note\",\"deleted\":true}\n");
        let error = run(&["delete", "docs://a/note", "--json"], 2);
        assert!(error.contains("\"deleted\":false") && error.contains("NOT_FOUND"), "{error}");
    }
    server.end();
}

#[test]
fn a_list_is_of_what_hosts_see_or_of_all_and_says_how_many() {
    let desk = Desk::new();
    let more = "[storage]\npath = 'd'\n\
        [[space]]\nname = 'docs'\nuri_template = 'docs://{team}/{name}'\nlist = 'pinned'\n\
        [[space]]\nname = 'all'\nuri_template = 'docs://{+path}'\n";
    std::fs::write(desk.path().join("pressmark.toml"), more).unwrap();
    std::fs::write(desk.path().join("forms.ndjson"), FORMS).unwrap();
    assert_eq!(desk.run(&["load", "docs", "forms.ndjson"]).status.code(), Some(0));
    std::fs::write(desk.path().join("x.ndjson"), "{\"uri\":\"docs://x\",\"text\":\"\"}\n").unwrap();
    assert_eq!(desk.run(&["load", "all", "x.ndjson"]).status.code(), Some(0));
    for (arguments, lines, count) in [
        (&["list"][..], 2, "2 of 6 resources; --all lists all of them"),
        (&["list", "--all"], 6, "6 resources"),
        (&["list", "--space", "docs"], 1, "1 of 5 resources; --all lists all of them"),
        (&["list", "--space", "docs", "--all"], 5, "5 resources"),
        (&["list", "--space", "all"], 1, "1 resource"),
    ] {
        let output = desk.run(arguments);
        let listed = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (listed.lines().count(), said.trim_end()),
            (lines, count),
            "{arguments:?}: {listed}"
        );
    }
    let output = desk.run(&["list", "--space", "none"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "pressmark: space `none`: there is no such space: the spaces are docs, all\n");
}

#[test]
fn indexes_are_rebuilt_from_the_shell() {
    let desk = Desk::new();
    add(&desk, &["--data", "d"]);
    desk.run(&["load", "docs", "records.ndjson", "--data", "d"]);
    let run = |arguments: &[&str]| {
        let output = desk.run(&[arguments, &["--data", "d"]].concat());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_eq!(run(&["reindex"]), "2 indexes rebuilt\n");
    assert_eq!(run(&["reindex", "--kind", "completion", "--space", "docs"]), "1 index rebuilt\n");
    assert_eq!(run(&["reindex", "--json"]), "{\"indexes\":2,\"complete\":true}\n");
    assert!(run(&["reindex", "--space", "none"]).contains("`none`"));
    assert!(run(&["verify"]).contains("0 faults"));
    let server = desk.serve("d");
    let asked = run(&["reindex"]);
    assert!(asked.contains("rebuilding 2 indexes in the background"), "{asked}");
    server.end();
}

#[test]
fn what_is_not_said_of_a_space_stays_as_it_is() {
    let desk = Desk::new();
    let run = |more: &[&str]| -> Value {
        let add = ["space", "add", "s", "s://{x}", "--json", "--data", "d"];
        serde_json::from_slice(&desk.run(&[&add[..], more].concat()).stdout).unwrap()
    };
    let all = ["--title", "T", "--description", "D", "--mime-type", "text/x", "--list", "pinned"];
    let first = run(&[&all[..], &["--private", "--warn-on-alias-clash"]].concat());
    assert_eq!(run(&[]), first);
    let changed = run(&["--title", "Other", "--list", "all"]);
    assert_eq!((&changed["title"], &changed["list"]), (&"Other".into(), &"all".into()));
    assert_eq!(changed["description"], "D");
}
