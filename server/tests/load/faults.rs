//! Files with faults: what is refused, what goes in all the same, and what the shell is told.

use expect_test::expect;

use crate::shelf::{Shelf, gzip};

#[test]
fn a_quote_that_is_not_closed_costs_its_row_only() {
    let shelf = Shelf::new(&[(
        "a.csv",
        b"name,version,summary\na,1,first\ne,2,\"open\nf,3,say \"hi\"\ng,4,fine\n\"C\" St,5,x\n",
    )]);
    shelf.load(&["a.csv"], b"", &expect![[r#"
        exit 1
        3 records loaded: 3 created, 0 updated, 0 unchanged; 2 refused
        a.csv:3: field 3: `h` stands behind its closing quote on line 4, where the field must end; write `""` for a quote in a quoted field; reading goes on at line 4
        a.csv:6: field 1: ` ` stands behind its closing quote on line 6, where the field must end; write `""` for a quote in a quoted field; reading goes on at line 7
    "#]]);
    for (name, text) in [("a", "first"), ("f", "say \"hi\""), ("g", "fine")] {
        assert_eq!(shelf.read(name), text);
    }
}

#[test]
fn of_thousands_of_rows_behind_a_stray_quote_none_is_lost() {
    for inch in ["say \"hi\"", "\"say \"\"hi\"\"\"", "5\"", "no more quotes"] {
        let mut csv = "name,version,summary\n".to_owned();
        for number in 0..5_000 {
            let summary = match number {
                1_000 => "\"open",
                4_990 => inch,
                _ => "x",
            };
            csv.push_str(&format!("n{number},{number},{summary}\n"));
        }
        let shelf = Shelf::new(&[("a.csv", csv.as_bytes())]);
        let output = shelf.run(&["load", "pypi", "a.csv"], b"");
        assert_eq!(output.status.code(), Some(1), "{inch}");
        let text = String::from_utf8(output.stderr).unwrap();
        let summary = "4999 records loaded: 4999 created, 0 updated, 0 unchanged; 1 refused";
        assert!(text.contains(summary) && text.contains("a.csv:1002: "), "{inch}: {text}");
    }
}

#[test]
fn json_over_several_lines_is_refused_once_and_whole() {
    let record = r#"{"variables":{"name":"a"},"text":"x"}"#;
    let array = format!("[\n  {record},\n  {record}\n]\n");
    let pretty = "{\n  \"variables\": {\"name\": \"a\"},\n  \"text\": \"x\"\n}\n";
    let shelf = Shelf::new(&[
        ("array.ndjson", array.as_bytes()),
        ("pretty.ndjson", pretty.as_bytes()),
        ("strings.ndjson", format!("\"a\"\n{record}\n").as_bytes()),
    ]);
    shelf.load(&["array.ndjson", "pretty.ndjson"], b"", &expect![[r#"
        exit 2
        0 records loaded: 0 created, 0 updated, 0 unchanged; 0 refused; 2 files failed
        array.ndjson: it is a JSON array, and NDJSON has one object a line without an array around them: convert it, e.g. with `jq -c '.[]'`; nothing of it was loaded
        pretty.ndjson: it is JSON with objects over several lines, and NDJSON has one object a line: convert it, e.g. with `jq -c .`; nothing of it was loaded
    "#]]);
    shelf.load(&["strings.ndjson"], b"", &expect![[r#"
        exit 1
        1 records loaded: 1 created, 0 updated, 0 unchanged; 1 refused
        strings.ndjson:1: not a resource record: a string where an object must stand; write one object a line
    "#]]);
}

#[test]
fn padding_is_no_fault_and_trash_is_named() {
    let record = "{\"variables\":{\"name\":\"a\"},\"text\":\"x\"}\n";
    let padded = [gzip(record), vec![0; 512]].concat();
    let with_trash = [&gzip(record)[..], b"trash"].concat();
    let shelf = Shelf::new(&[
        ("padded.ndjson.gz", &padded),
        ("trash.ndjson.gz", &with_trash),
        ("none.ndjson.gz", &gzip("")),
        ("empty.ndjson.gz", b""),
        ("header.csv", b"name,version,summary\n"),
        ("semicolons.csv", b"name;version;summary\na;1;x\n"),
        ("a.csv.bz2", b"BZh91AY&SY\0\0\0\0"),
    ]);
    shelf.load(
        &["padded.ndjson.gz"],
        b"",
        &expect![[r#"
        exit 0
        1 records loaded: 1 created, 0 updated, 0 unchanged; 0 refused
    "#]],
    );
    shelf.load(
        &["none.ndjson.gz", "empty.ndjson.gz", "header.csv"],
        b"",
        &expect![[r#"
        exit 0
        0 records loaded: 0 created, 0 updated, 0 unchanged; 0 refused
        empty.ndjson.gz: it holds no record
        header.csv: it holds no record
        none.ndjson.gz: it holds no record
    "#]],
    );
    shelf.load(&["trash.ndjson.gz", "semicolons.csv", "a.csv.bz2"], b"", &expect![[r#"
        exit 1
        1 records loaded: 0 created, 0 updated, 1 unchanged; 0 refused; 3 files failed
        a.csv.bz2: it is compressed with bzip2, which is not read: try `bzip2 -dc FILE | pressmark load SPACE - --format ndjson` (or csv, tsv)
        semicolons.csv: the header is `name;version;summary`; its fields seem to be separated by `;`, say --delimiter ';'
        trash.ndjson.gz: after line 1: at byte 62, behind the gzip data, stands something else; what stands from there on is not read
    "#]]);
}
