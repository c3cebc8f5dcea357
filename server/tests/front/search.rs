//! The tool `search`: what people type, pages, budgets, and the two forms of a result.

use std::{collections::BTreeSet, sync::Arc};

use pressmark::{
    mcp::{
        Mcp, McpConfig, Step, ToolResults,
        protocol::{Channel, Revision},
    },
    metrics::Metrics,
};
use pressmark_index::access::Access;
use serde_json::{Value, json};

use crate::common::{
    Bounds, Front, LEGACY, META, Rates, config, events::DEADLINE, http::HttpFront, indexed, put,
    schema, stdio,
};

/// The result of a search over stdio, in the modern era.
async fn search(front: &Front, arguments: Value) -> Value {
    let params = json!({
        "name": "search",
        "arguments": arguments,
        "_meta": serde_json::from_str::<Value>(META).unwrap(),
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let lines = stdio::exchange(front, request.to_string().as_bytes()).await;
    let mut reply: Value = serde_json::from_str(&lines[0]).unwrap();
    schema::check("2026-07-28", "tools/call", &reply);
    reply["result"].take()
}

/// The names of the notes that are found.
async fn names(front: &Front, query: &str) -> Vec<String> {
    let found = search(front, json!({ "query": query })).await;
    assert_eq!(found["isError"], false, "{query}: {found}");
    let results = found["structuredContent"]["results"].as_array().unwrap();
    let uris = results.iter().map(|result| result["uri"].as_str().unwrap());
    uris.map(|uri| uri.trim_start_matches("note://shelf/").to_owned()).collect()
}

fn with_notes(notes: &[(&str, &str)]) -> Front {
    let front = Front::new(Bounds::default());
    front.commit(notes.iter().map(|(name, text)| put(name, text)).collect());
    indexed(&front.engine);
    front
}

/// Field case 27, and more of its kind.
const TYPED: [&str; 24] = [
    "https://website.org",
    "following:",
    ">>>",
    "-foo",
    "usb-c adapter\"\"",
    "y+(y+25)",
    "(waldo",
    "waldo)",
    "who is \"waldo\"?",
    "AND",
    "\"",
    "*",
    "🙂",
    "",
    " ",
    "a:b:c",
    "title:",
    "-",
    "--",
    "\"\"",
    "NOT",
    "[a TO b]",
    "a~2^3",
    "\\",
];

/// No text of a person is an error, on any transport, in any revision.
#[tokio::test]
async fn nothing_that_a_person_types_is_an_error() {
    let server = HttpFront::start(Bounds::default()).await;
    for query in TYPED {
        let found = search(&server.front, json!({ "query": query })).await;
        assert_eq!(found["isError"], false, "{query}: {found}");
        for revision in ["2025-03-26", LEGACY] {
            let params = json!({ "name": "search", "arguments": { "query": query } });
            let request =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let reply = server.post(revision, &[], request.to_string().as_bytes()).await;
            assert_eq!(
                (reply.status, &reply.json()["result"]["isError"]),
                (200, &json!(false)),
                "{query}"
            );
            schema::check(revision, "tools/call", &reply.json());
        }
    }
}

#[tokio::test]
async fn signs_alone_match_nothing_and_nothing_matches_all() {
    let front = with_notes(&[]);
    for query in [">>>", "\"", "*", "-"] {
        let found = search(&front, json!({ "query": query })).await;
        let expected = json!({
            "results": [],
            "total": 0,
            "notes": ["the query has no words: nothing can match it"],
        });
        assert_eq!(found["structuredContent"], expected, "{query}");
    }
    let found = search(&front, json!({ "query": "" })).await;
    assert_eq!(found["structuredContent"]["total"], 4);
}

/// A score is made of how many resources hold a word, hidden ones among them: hosts are shown none.
#[tokio::test]
async fn results_have_no_score() {
    let front = with_notes(&[("one", "needle")]);
    let found = search(&front, json!({ "query": "needle" })).await;
    let result = &found["structuredContent"]["results"][0];
    assert_eq!((&result["uri"], result.get("score")), (&json!("note://shelf/one"), None));
}

/// Field cases 28 to 30.
#[tokio::test]
async fn words_are_found_whatever_stands_around_them() {
    let front = with_notes(&[
        ("compiler", "The compiler said error: E0308, mismatched types"),
        ("call", "Use foo::bar(x) to call it"),
        ("waldo", "Here nosuchfield and waldo are words"),
        ("chinese", "把機器推論洗成權威事實"),
        ("mixed", "認證系統使用JWT令牌"),
        ("accents", "Ein Café in Ｔｏｋｙｏ"),
        ("identifier", "fn parseHttpRequest(max_line_length: usize)"),
    ]);
    for (query, expected) in [
        ("error: E0308", "compiler"),
        ("foo::bar(x)", "call"),
        ("nosuchfield:waldo", "waldo"),
        ("-waldo", "waldo"),
        ("權威事實", "chinese"),
        ("認證", "mixed"),
        ("jwt", "mixed"),
        ("cafe tokyo", "accents"),
        ("parseHttpRequest", "identifier"),
        ("http request", "identifier"),
        ("max_line_length", "identifier"),
        ("\"mismatched types\"", "compiler"),
        ("mismat*", "compiler"),
        ("compiler -waldo", "compiler"),
    ] {
        let found = names(&front, query).await;
        assert_eq!(found.first().map(String::as_str), Some(expected), "{query}: {found:?}");
    }
}

/// Field case 31.
#[tokio::test]
async fn a_query_of_any_length_is_answered() {
    let front = with_notes(&[]);
    for query in
        ["word ".repeat(2_000), "a* ".repeat(3_000), "\"a b\" ".repeat(1_500), "字".repeat(3_000)]
    {
        let found = search(&front, json!({ "query": query })).await;
        assert_eq!(found["isError"], false, "{found}");
        let notes = found["structuredContent"]["notes"].to_string();
        assert!(notes.contains("too long"), "{notes}");
    }
}

#[tokio::test]
async fn pages_hold_every_hit_once() {
    let texts: Vec<(String, String)> =
        (0..23).map(|at| (format!("page-{at}"), format!("needle {}", "hay ".repeat(at)))).collect();
    let texts: Vec<(&str, &str)> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let front = with_notes(&texts);
    for sort in ["relevance", "recent"] {
        let mut seen = BTreeSet::new();
        let mut cursor = Value::Null;
        loop {
            let mut arguments = json!({ "query": "needle", "limit": 7, "sort": sort });
            if !cursor.is_null() {
                arguments["cursor"] = cursor;
            }
            let found = search(&front, arguments).await;
            let page = &found["structuredContent"];
            assert_eq!(page["total"], 23, "{found}");
            for result in page["results"].as_array().unwrap() {
                assert!(seen.insert(result["id"].to_string()), "{result} is there twice");
            }
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen.len(), 23, "{sort}");
    }
}

#[tokio::test]
async fn results_fit_their_budget_and_say_what_that_cost() {
    let texts: Vec<(String, String)> = (0..20)
        .map(|at| (format!("long-{at}"), "needle in a long \"stack\" of hay ".repeat(40)))
        .collect();
    let texts: Vec<(&str, &str)> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let front = with_notes(&texts);
    for (max_bytes, hits, note) in
        [(200_000, 20, None), (4_000, 20, Some("shortened")), (1_000, 1, Some("only"))]
    {
        let arguments = json!({ "query": "needle", "limit": 20, "max_bytes": max_bytes });
        let found = search(&front, arguments).await;
        let page = &found["structuredContent"];
        let results = page["results"].as_array().unwrap();
        assert!(results.len() >= hits, "{max_bytes}: {} hits", results.len());
        assert_eq!(found["content"].as_array().unwrap().len(), 1);
        let size = found["content"][0]["text"].as_str().unwrap().len();
        assert!(size <= max_bytes + 200, "{max_bytes}: {size}");
        let notes = page["notes"].to_string();
        assert_eq!(
            note.map(|note| notes.contains(note)),
            note.map(|_| true),
            "{max_bytes}: {notes}"
        );
        // What did not fit is on the next page.
        assert_eq!(page["nextCursor"].is_null(), results.len() == 20, "{max_bytes}");
    }
}

/// A model reads the text: it has what a model needs, once.
#[tokio::test]
async fn the_text_names_each_uri_once() {
    let front = with_notes(&[]);
    let found = search(&front, json!({ "query": "note" })).await;
    let text = found["content"][0]["text"].as_str().unwrap();
    let read: Value = serde_json::from_str(text).unwrap();
    let page = &found["structuredContent"];
    assert_eq!(read["total"], 4);
    for (at, hit) in page["results"].as_array().unwrap().iter().enumerate() {
        let uri = hit["uri"].as_str().unwrap();
        assert_eq!(text.matches(&format!("{uri}\"")).count(), 1, "{uri} in {text}");
        for member in ["id", "title", "snippet", "mimeType"] {
            assert_eq!(read["results"][at][member], hit[member], "{member} of {uri}");
        }
    }
}

/// The items of a result's content, by type, and the members of the first hit in the text.
fn items(front: &Front, tool_results: ToolResults, revision: &str) -> (Vec<String>, Vec<String>) {
    let config = McpConfig { tool_results, ..config(Rates::default()) };
    let metrics = Arc::new(Metrics::new());
    let mcp = Mcp::new(Arc::clone(&front.engine), config, Access::anonymous(), metrics);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"title:plain"}}}"#;
    let negotiated = Revision::parse(revision);
    let channel = Channel::Stdio { negotiated, subscription: None };
    let Step::Work(work) = mcp.receive(body.as_bytes(), channel) else { panic!("no work") };
    let answer = mcp.perform(work, tokio::time::Instant::now() + DEADLINE);
    let reply: Value = serde_json::from_slice(&answer.body.unwrap()).unwrap();
    schema::check(revision, "tools/call", &reply);
    let content = reply["result"]["content"].as_array().unwrap();
    let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    let types = content.iter().map(|item| item["type"].as_str().unwrap().to_owned());
    (types.collect(), text["results"][0].as_object().unwrap().keys().cloned().collect())
}

#[tokio::test]
async fn the_form_of_results_is_configured() {
    let front = with_notes(&[]);
    let brief = ["id", "mimeType", "snippet", "title"];
    let whole = ["id", "mimeType", "snippet", "space", "title", "uri", "url"];
    for (form, revision, types, members) in [
        (ToolResults::Text, LEGACY, &["text"][..], &brief[..]),
        (ToolResults::Full, LEGACY, &["text"], &whole),
        (ToolResults::Links, LEGACY, &["text", "resource_link"], &brief),
        (ToolResults::Links, "2025-03-26", &["text"], &brief),
    ] {
        let (found_types, mut found_members) = items(&front, form, revision);
        found_members.sort();
        assert_eq!(found_types, types, "{form:?} in {revision}");
        assert_eq!(found_members, members, "{form:?} in {revision}");
    }
}

#[tokio::test]
async fn a_search_while_folders_are_read_says_that_not_all_can_be_found() {
    let front = with_notes(&[]);
    let latch = front.pool.mcp().unsettled();
    for query in ["note", "xylophonequartz"] {
        let found = search(&front, json!({ "query": query })).await;
        let notes = found["structuredContent"]["notes"].to_string();
        assert!(notes.contains("not all of their documents can be found yet"), "{notes}");
        assert!(found["content"][0]["text"].as_str().unwrap().contains("search again later"));
    }
    drop(latch);
    let found = search(&front, json!({ "query": "note" })).await;
    assert!(found["structuredContent"]["notes"].is_null(), "{found}");
}

/// What a document's text cannot give, its title, its URI and its description can.
#[tokio::test]
async fn a_blob_without_text_is_found() {
    let front = with_notes(&[]);
    assert_eq!(names(&front, "picture").await, ["picture"]);
    assert_eq!(names(&front, "mime:image/png").await, ["picture"]);
}
