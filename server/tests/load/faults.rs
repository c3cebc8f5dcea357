//! Files with faults: what is refused, what goes in all the same, and what the shell is told.

use expect_test::expect;

use crate::shelf::Shelf;

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
