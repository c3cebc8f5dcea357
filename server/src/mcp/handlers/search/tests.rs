//! Arguments, and results that are made to fit.

use std::time::Duration;

use pressmark_index::full_text::{
    ModifiedRange, SearchHit, SearchNote, SearchPage, SearchSort, Snippet,
};
use pressmark_index::resource::UnixMillis;

use super::asked::SearchArguments;
use super::budget::{Ask, SNIPPET_BYTES, encoded};
use super::found::{Found, TITLE_CHARS_MAX, shown_title};
use super::{ARGUMENTS, TOOL};

fn hit(uri: &str, snippet: &str) -> SearchHit {
    SearchHit {
        uri: uri.to_owned(),
        title: "Title".to_owned(),
        snippet: Snippet { text: snippet.to_owned(), marks: Vec::new() },
        score: Some(1.0),
        mime_type: String::new(),
        space: "s".to_owned(),
        last_modified: None,
    }
}

#[test]
fn arguments_fit_or_say_why_not() {
    let plain = || SearchArguments {
        query: "q".to_owned(),
        space: None,
        variables: Vec::new(),
        limit: 10,
        cursor: None,
        sort: SearchSort::Relevance,
        mime_type: None,
        modified: None,
        max_bytes: 20_000,
    };
    let day = 86_400_000;
    let from = |from| Some(ModifiedRange { from, until: UnixMillis::MAX });
    let until = |until| Some(ModifiedRange { from: UnixMillis::MIN, until });
    let variables = vec![("name".to_owned(), "x".to_owned())];
    for (more, expected) in [
        ("", plain()),
        (r#","sort":"relevance","limit":10"#, plain()),
        (
            r#","sort":"recent","limit":50"#,
            SearchArguments { sort: SearchSort::Recent, limit: 50, ..plain() },
        ),
        (
            r#","space":"s","cursor":"c""#,
            SearchArguments {
                space: Some("s".to_owned()),
                cursor: Some("c".to_owned()),
                ..plain()
            },
        ),
        (r#","variables":{"name":"x"}"#, SearchArguments { variables, ..plain() }),
        (r#","modified_after":"1970-01-02""#, SearchArguments { modified: from(day), ..plain() }),
        (
            r#","modified_before":"1970-01-02T00:00:00+01:00""#,
            SearchArguments { modified: until(day - 3_600_000), ..plain() },
        ),
        (
            r#","max_bytes":1000,"mime_type":"text/*""#,
            SearchArguments { max_bytes: 1000, mime_type: Some("text/*".to_owned()), ..plain() },
        ),
        (
            concat!(
                r#","space":null,"variables":null,"limit":null,"cursor":null,"sort":null,"#,
                r#""mime_type":null,"modified_after":null,"modified_before":null,"max_bytes":null"#
            ),
            plain(),
        ),
        (
            concat!(
                r#","space":"","variables":"","limit":"","cursor":"","sort":"","#,
                r#""mime_type":"","modified_after":"","modified_before":"","max_bytes":"""#
            ),
            plain(),
        ),
        (r#","mime_type":"*/*""#, plain()),
        (r#","mime_type":"*""#, plain()),
        (
            r#","mime_type":" Text/HTML; charset=utf-8""#,
            SearchArguments { mime_type: Some("text/html".to_owned()), ..plain() },
        ),
    ] {
        let arguments = format!(r#"{{"query":"q"{more}}}"#);
        assert_eq!(SearchArguments::read(&arguments), Ok(expected), "{arguments}");
    }
    let fault = SearchArguments::read(r#"{"query":"q","modified_after":"yesterday"}"#).unwrap_err();
    assert!(fault.starts_with("`modified_after` is `yesterday`; write a date"), "{fault}");
}

#[test]
fn what_is_not_a_mime_type_is_refused_by_name() {
    for text in
        ["markdown", "text/", "/html", "text/ht ml", "*/html", "text/html, text/plain", "te*t/x"]
    {
        let arguments = serde_json::json!({ "query": "q", "mime_type": text }).to_string();
        let fault = SearchArguments::read(&arguments).unwrap_err();
        let said = format!("`mime_type` is `{text}`, which is not a MIME type: write one such as");
        assert!(fault.starts_with(&said), "{fault}");
    }
}

#[test]
fn the_schemas_are_json_schema() {
    for schema in [super::super::arguments::schema(&ARGUMENTS), TOOL.output_schema.to_owned()] {
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        jsonschema::validator_for(&schema).unwrap();
    }
}

#[test]
fn snippets_shrink_first_and_then_hits_are_fewer() {
    let snippet = "word ".repeat(60);
    let hits: Vec<_> = (0..10).map(|at| hit(&format!("doc://{at}"), &snippet)).collect();
    let page = SearchPage { hits, total: 10, total_is_exact: true, ..SearchPage::default() };
    let found = Found::of(&page, Duration::ZERO);
    let ask = Ask { limit: 10, snippet_bytes: SNIPPET_BYTES };
    let size = encoded(&found);
    assert_eq!(ask.smaller(&found, size), None);
    let shorter = ask.smaller(&found, size - 500).unwrap();
    assert!(
        shorter.limit == 10 && (100..SNIPPET_BYTES).contains(&shorter.snippet_bytes),
        "{shorter:?}"
    );
    // A snippet is most of each hit here: half the hits fit without.
    let fewer = ask.smaller(&found, 700).unwrap();
    assert!(fewer.snippet_bytes == 0 && (3..10).contains(&fewer.limit), "{fewer:?}");
    assert_eq!(ask.smaller(&found, 10).unwrap(), Ask { limit: 1, snippet_bytes: 0 });
    assert_eq!(Ask { limit: 1, snippet_bytes: 0 }.smaller(&found, 10), None);
}

#[test]
fn what_cannot_be_told_by_hits_is_told_in_notes() {
    let note = |page: SearchPage| Found::of(&page, Duration::from_secs(2)).notes;
    let empty = SearchPage { total_is_exact: true, ..SearchPage::default() };
    assert_eq!(note(empty).len(), 1);
    let share = 0.999;
    let notes = vec![SearchNote::IndexIncomplete { share }, SearchNote::TimeCut];
    let cut = note(SearchPage { notes, ..SearchPage::default() });
    assert_eq!(
        cut[0],
        "the index is being made: 99 % of the resources can be found so far; search again later"
    );
    assert!(cut[1].contains("after 2s"), "{cut:?}");
    assert_eq!(cut[2], "there are at least 0 results");
}

#[test]
fn titles_are_bounded() {
    let long = "字".repeat(1000);
    assert_eq!(shown_title(&long).chars().count(), TITLE_CHARS_MAX + 1);
    assert_eq!(shown_title("short"), "short");
}
