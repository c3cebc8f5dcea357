//! `pressmark load` from the shell: formats, compression, order, refusals, exit codes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod faults;
mod shelf;

use std::io::Write as _;
use std::process::{Command, Stdio};

use expect_test::expect;

use shelf::{Shelf, gzip};

#[test]
fn formats_and_compressions_go_in_side_by_side_and_again() {
    let shelf = Shelf::new(&[
        ("a.ndjson", b"{\"variables\":{\"name\":\"a\"},\"text\":\"one\"}\n"),
        ("b.csv.gz", &gzip("name,month,version,summary\r\nb,1,1.0,\"a \"\"b\"\",\r\nc\"\r\n")),
        (
            "c.tsv.zst",
            &zstd::encode_all("\u{feff}name\tversion\tsummary\nc\t2\t\"c\\t\"\n".as_bytes(), 1)
                .unwrap(),
        ),
        ("d.tab", "name\tversion\tsummary\nd\t\té 日本 🔥\nempty\t3\t\n".as_bytes()),
        ("e.jsonl.gz", &gzip("{\"uri\":\"pypi://packages/e\",\"text\":\"five\"}")),
    ]);
    let files = ["a.ndjson", "b.csv.gz", "c.tsv.zst", "d.tab", "e.jsonl.gz"];
    shelf.load(
        &files,
        b"",
        &expect![[r#"
        exit 0
        6 records loaded: 6 created, 0 updated, 0 unchanged; 0 refused
    "#]],
    );
    assert_eq!(shelf.log_bytes(), 0);
    assert_eq!(shelf.read("a"), "one");
    assert_eq!(shelf.read("b"), "a \"b\",\r\nc");
    assert_eq!(shelf.read("c"), "\"c\\t\"");
    assert_eq!(shelf.read("d"), "é 日本 🔥");
    assert_eq!(shelf.read("empty"), "");
    expect![[r#"
        pypi://packages/a	a
        pypi://packages/b	1.0
        pypi://packages/c	2
        pypi://packages/d	d
        pypi://packages/e	e
        pypi://packages/empty	3
    "#]]
    .assert_eq(&shelf.list());
    // As after an interruption: the same records change nothing.
    shelf.load(
        &files,
        b"",
        &expect![[r#"
        exit 0
        6 records loaded: 0 created, 0 updated, 6 unchanged; 0 refused
    "#]],
    );
}

#[test]
fn standard_input_is_a_file_whose_format_is_said() {
    let shelf = Shelf::new(&[]);
    let csv = b"name;version;summary\nx;1;\"a;b\"\n";
    shelf.load(
        &["-"],
        csv,
        &expect![[r#"
        exit 2
        pressmark: `-` has no name that tells its format: say --format ndjson, csv or tsv
    "#]],
    );
    shelf.load(
        &["-", "--format", "csv", "--delimiter", ";"],
        csv,
        &expect![[r#"
        exit 0
        1 records loaded: 1 created, 0 updated, 0 unchanged; 0 refused
    "#]],
    );
    assert_eq!(shelf.read("x"), "a;b");
    let plain = ["-", "--format", "csv", "--delimiter", ";", "--quoting", "none"];
    shelf.load(
        &plain,
        b"name;version;summary\nx;1;\"b\"\n",
        &expect![[r#"
        exit 0
        1 records loaded: 0 created, 1 updated, 0 unchanged; 0 refused
    "#]],
    );
    assert_eq!(shelf.read("x"), "\"b\"");
    shelf.load(
        &["-", "--format", "tsv"],
        &gzip("name\tversion\tsummary\ny\t1\tz\n"),
        &expect![[r#"
            exit 0
            1 records loaded: 1 created, 0 updated, 0 unchanged; 0 refused
        "#]],
    );
    assert_eq!(shelf.read("y"), "z");
}

#[test]
fn of_two_records_with_one_uri_the_later_one_stays() {
    // More records than a batch holds, so that several lanes commit at the same time; each URI comes in three
    // spellings.
    let mut lines = String::new();
    for round in 0..40 {
        for name in 0..200 {
            let place = match (round + name) % 3 {
                0 => format!(r#""uri":"pypi://packages/a%C3%A9-{name}""#),
                1 => format!(r#""uri":"PYPI://packages/%61é-{name}""#),
                _ => format!(r#""variables":{{"name":"aé-{name}"}}"#),
            };
            lines.push_str(&format!("{{{place},\"text\":\"round {round}\"}}\n"));
        }
    }
    let shelf = Shelf::new(&[("a.ndjson", lines.as_bytes())]);
    shelf.load(
        &["a.ndjson"],
        b"",
        &expect![[r#"
        exit 0
        8000 records loaded: 200 created, 7800 updated, 0 unchanged; 0 refused
    "#]],
    );
    for name in (0..200).step_by(17) {
        assert_eq!(shelf.read(&format!("a%C3%A9-{name}")), "round 39");
    }
}

#[test]
fn wrong_records_are_refused_and_the_others_go_in() {
    // A file of two parts, as appended ones are; the second one ends too early.
    let record = "{\"variables\":{\"name\":\"cut\"},\"text\":\"\"}\n";
    let cut = [&gzip(record)[..], &gzip(record)[..20]].concat();
    let shelf = Shelf::new(&[
        (
            "a.ndjson",
            b"{\"variables\":{\"name\":\"a\"},\"text\":\"\"}\n{\"uri\":\"npm://x\",\"text\":\"\"}\n\n\xff\n{\"uri\":7}\n{\"variables\":{\"name\":\"z\"},\"text\":\"\"}",
        ),
        ("b.csv", b"name,version,summary\nb,1,\"line\nline\"\nshort,1\n\xe9,1,x\n,1,no name\nc,1,\"open\nd,1,x\n"),
        ("c.tsv", b"name\tversion\n"),
        ("d.txt", b""),
        ("e.csv", b""),
        ("f.ndjson.gz", &cut),
    ]);
    let files = ["a.ndjson", "b.csv", "c.tsv", "d.txt", "e.csv", "f.ndjson.gz", "missing.csv", "."];
    let arguments = [&files[..], &["--errors", "refused.ndjson", "--errors-max", "3"]].concat();
    let output = shelf.run(&[&["load", "pypi"], &arguments[..]].concat(), b"");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("\n4 more lines like these were not printed (--errors-max 3)\n"),
        "{text}"
    );

    let refused = std::fs::read_to_string(shelf.path().join("refused.ndjson")).unwrap();
    let mut refused: Vec<&str> = refused.lines().collect();
    refused.sort_unstable();
    expect![[r#"
        {"file":".","reason":"Is a directory (os error 21)"}
        {"file":"a.ndjson","line":2,"reason":"npm://x: the template `pypi://packages/{name}` of the space `pypi` does not match it"}
        {"file":"a.ndjson","line":4,"reason":"not UTF-8 (byte 1); convert the file first"}
        {"file":"a.ndjson","line":5,"reason":"not a resource record: invalid type: integer `7`, expected a string (column 8)"}
        {"file":"b.csv","line":4,"reason":"the row has 2 fields, and the header 3"}
        {"file":"b.csv","line":5,"reason":"not UTF-8 (byte 1); convert the file first"}
        {"file":"b.csv","line":6,"field":"uri","reason":"a record needs `uri`, or `variables` of the space's template"}
        {"file":"b.csv","line":7,"reason":"field 3: its quote is not closed before the end of the file; reading goes on at line 8"}
        {"file":"c.tsv","reason":"[space.columns] names the column `summary`, and the header has `name`, `version`"}
        {"file":"d.txt","reason":"the name does not tell the format: say --format ndjson, csv or tsv"}
        {"file":"e.csv","reason":"there is no header; it holds no record"}
        {"file":"f.ndjson.gz","reason":"after line 1: incomplete deflate stream"}
        {"file":"missing.csv","reason":"No such file or directory (os error 2)"}"#]].assert_eq(&refused.join("\n"));
    shelf.load(&files, b"", &expect![[r#"
        exit 1
        .: Is a directory (os error 21)
        5 records loaded: 0 created, 0 updated, 5 unchanged; 7 refused; 6 files failed
        a.ndjson:2: npm://x: the template `pypi://packages/{name}` of the space `pypi` does not match it
        a.ndjson:4: not UTF-8 (byte 1); convert the file first
        a.ndjson:5: not a resource record: invalid type: integer `7`, expected a string (column 8)
        b.csv:4: the row has 2 fields, and the header 3
        b.csv:5: not UTF-8 (byte 1); convert the file first
        b.csv:6: uri: a record needs `uri`, or `variables` of the space's template
        b.csv:7: field 3: its quote is not closed before the end of the file; reading goes on at line 8
        c.tsv: [space.columns] names the column `summary`, and the header has `name`, `version`
        d.txt: the name does not tell the format: say --format ndjson, csv or tsv
        e.csv: there is no header; it holds no record
        f.ndjson.gz: after line 1: incomplete deflate stream
        missing.csv: No such file or directory (os error 2)
    "#]]);
    expect![[r#"
        pypi://packages/a	a
        pypi://packages/b	1
        pypi://packages/cut	cut
        pypi://packages/d	1
        pypi://packages/z	z
    "#]]
    .assert_eq(&shelf.list());
}

#[test]
fn a_load_that_does_nothing_says_so() {
    let shelf = Shelf::new(&[("a.ndjson", b"{}\n"), ("empty.ndjson", b"")]);
    shelf.load(
        &["empty.ndjson"],
        b"",
        &expect![[r#"
            exit 0
            0 records loaded: 0 created, 0 updated, 0 unchanged; 0 refused
            empty.ndjson: it holds no record
        "#]],
    );
    shelf.load(
        &["a.ndjson"],
        b"",
        &expect![[r#"
        exit 2
        0 records loaded: 0 created, 0 updated, 0 unchanged; 1 refused
        a.ndjson:1: uri: a record needs `uri`, or `variables` of the space's template
    "#]],
    );
    shelf.load(
        &["missing.ndjson"],
        b"",
        &expect![[r#"
        exit 2
        0 records loaded: 0 created, 0 updated, 0 unchanged; 0 refused; 1 file failed
        missing.ndjson: No such file or directory (os error 2)
    "#]],
    );
    shelf.load(
        &["empty.ndjson", "--errors", "no/such/folder"],
        b"",
        &expect![[r#"
        exit 2
        pressmark: no/such/folder: No such file or directory (os error 2)
    "#]],
    );
    let output = shelf.run(&["load", "npm", "a.ndjson"], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn without_a_mapping_the_header_names_the_fields() {
    let shelf = Shelf::new(&[
        (
            "a.csv",
            b"variables.name,text,blob,mimeType,priority,audience,lastModified,pinned,size\nx,,AP8=,image/png,0.5,user; assistant,2025-01-12T15:00:58Z,yes,2\nt,text,,,,,,,\nboth,text,AP8=,,,,,,\np,,,,high,,,,\n",
        ),
        ("b.csv", b"variables.name,text,rank\nx,,1\n"),
    ]);
    let add = [
        "space",
        "add",
        "files",
        "shelf://books/{name}",
        "--list",
        "all",
        "--config",
        "pressmark.toml",
    ];
    assert_eq!(shelf.run(&add, b"").status.code(), Some(0));
    let output = shelf.run(&["load", "files", "a.csv", "b.csv"], b"");
    let text = String::from_utf8(output.stderr).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    expect![[r#"
        2 records loaded: 2 created, 0 updated, 0 unchanged; 2 refused; 1 file failed
        a.csv:4: blob: a record has `text` or `blob`, not both
        a.csv:5: priority: `high` is no number from 0 to 1
        b.csv: the header "rank" is none of "uri", "name", "title", "description", "mimeType", "text", "blob", "size", "priority", "audience", "lastModified", "pinned", "acl" and no "variables.<name>"; say in [space.columns] of the configuration what the columns are"#]].assert_eq(&lines.join("\n"));
    assert_eq!(shelf.run(&["read", "shelf://books/x"], b"").stdout, [0, 255]);
    assert_eq!(shelf.run(&["read", "shelf://books/t"], b"").stdout, b"text");
}

#[test]
fn a_load_that_was_killed_is_repeated_without_harm() {
    let lines: String = (0..5_000)
        .map(|name| format!("{{\"variables\":{{\"name\":\"{name}\"}},\"text\":\"text {name}\"}}\n"))
        .collect();
    let shelf = Shelf::new(&[("a.ndjson", lines.as_bytes())]);
    let mut killed = Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(["load", "pypi", "-", "--format", "ndjson"])
        .current_dir(shelf.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The pipe holds less than the file: when this returns, the load is under way and waits for more.
    killed.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();

    let output = shelf.run(&["load", "pypi", "a.ndjson"], b"");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("5000 records loaded: ") && text.contains(" 0 updated, "), "{text}");
    let verified = shelf.run(&["verify"], b"");
    assert_eq!(verified.status.code(), Some(0));
    assert!(verified.stdout.starts_with(b"5,000 resources "));
    shelf.load(
        &["a.ndjson"],
        b"",
        &expect![[r#"
            exit 0
            5000 records loaded: 0 created, 0 updated, 5000 unchanged; 0 refused
        "#]],
    );
}

#[test]
fn a_load_into_an_undeclared_space_makes_no_store() {
    let shelf = Shelf::new(&[("a.ndjson", b"")]);
    for data in ["new", "new/below"] {
        let output = shelf.run(&["load", "--data", data, "nowhere", "a.ndjson"], b"");
        assert_eq!(output.status.code(), Some(2), "{data}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("there is no space `nowhere`: declare it"), "{data}: {text}");
        assert!(!shelf.path().join("new").exists(), "{data}");
    }
    // The same with a configuration, which declares another space.
    let output = shelf.run(&["load", "nowhere", "a.ndjson"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(!shelf.path().join("store").exists());
    // What is declared still makes its store.
    assert_eq!(shelf.run(&["load", "pypi", "a.ndjson"], b"").status.code(), Some(0));
    assert!(shelf.path().join("store/store").is_dir());
}

#[test]
fn the_last_moment_of_the_calendar_is_loaded_and_shown() {
    let time = "9999-12-31T23:59:59.999Z";
    let record = format!(
        "{{\"variables\":{{\"name\":\"a\"}},\"text\":\"x\",\"annotations\":{{\"lastModified\":\"{time}\"}}}}\n"
    );
    let shelf = Shelf::new(&[("a.ndjson", record.as_bytes())]);
    assert_eq!(shelf.run(&["load", "pypi", "a.ndjson"], b"").status.code(), Some(0));
    for command in [["dump", "pypi"], ["list", "--json"]] {
        let shown = String::from_utf8(shelf.run(&command, b"").stdout).unwrap();
        assert!(shown.contains(time), "{command:?}: {shown}");
    }
}
