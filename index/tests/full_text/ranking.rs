//! What is found, and what comes first.

use std::time::Instant;

use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::error::ErrorKind;
use pressmark_index::full_text::{SearchNote, SearchRequest, SearchSort};

use crate::common::{check_clean, check_error};
use crate::library::*;

const LIBRARY: &[(&str, &str, &str)] = &[
    ("serde", "serde", "A generic serialization framework"),
    ("serde-json", "serde_json", "A JSON serialization file format; uses serde"),
    ("tokio", "Tokio", "An event-driven runtime for asynchronous programs"),
    ("threads", "Threads", "A runtime of threads; serialization is not asynchronous"),
    ("long", "Notes", "serde serde serde serde, and a lot of other words about nothing at all"),
    ("json", "JSON", "The format"),
    ("odd", "C'est l'été", "Ünïcödé words"),
];

#[track_caller]
fn check(query: &str, wanted: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    let page = search(&engine, query);
    assert_eq!(names(&page), wanted, "{query}: {page:#?}");
    assert_eq!(page.total, wanted.len() as u64, "{query}");
    assert!(page.total_is_exact && page.next_cursor.is_none(), "{query}");
    assert_eq!(page.indexed_through, engine.log_range().newest, "{query}");
}

#[test]
fn an_exact_title_comes_first() {
    check("serde", &["serde", "serde-json", "long"]);
    check("JSON", &["json", "serde-json"]);
    check("tokio", &["tokio"]);
}

#[test]
fn all_words_come_before_most_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    let page = search(&engine, "asynchronous runtime serialization");
    assert_eq!(names(&page)[0], "threads");
    assert_eq!(names(&page)[1..], ["tokio"]);
    assert_eq!(page.notes, [SearchNote::FewerWords { wanted: 2, words: 3 }]);
    let page = search(&engine, "runtime threads");
    assert_eq!(names(&page)[0], "threads");
}

#[test]
fn typos_are_tolerated_where_there_is_little_else() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    for (query, wanted) in
        [("tokyo", "tokio"), ("framwork", "serde"), ("asynchronos", "tokio"), ("tkoio", "tokio")]
    {
        let page = search(&engine, query);
        assert!(names(&page).contains(&wanted), "{query}: {page:#?}");
        assert!(page.notes.contains(&SearchNote::TyposTolerated), "{query}");
    }
    for query in ["tok", "xyzzyxyzzy"] {
        assert_eq!(search(&engine, query).total, 0, "{query}");
    }
}

#[test]
fn no_text_of_a_person_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    let long = "serde ".repeat(5_000);
    for query in [
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
        "🦀",
        "\u{0}",
        "a:b:c",
        "title:",
        "serde*",
        "-\"",
        "   ",
        &long,
    ] {
        let page = search(&engine, query);
        assert!(page.total_is_exact, "{query}");
    }
    assert_eq!(search(&engine, ">>>").notes, [SearchNote::NoWords]);
    assert_eq!(search(&engine, "").total, LIBRARY.len() as u64);
}

#[test]
fn pages_fit_together() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    let access = Access::anonymous();
    for (query, sort) in [
        ("serde", SearchSort::Relevance),
        ("", SearchSort::Relevance),
        ("", SearchSort::Recent),
        ("serialization runtime", SearchSort::Relevance),
        ("tokyo", SearchSort::Relevance),
    ] {
        let request = SearchRequest { sort, ..request(&engine, query, &access) };
        let whole = engine.search(&request).unwrap();
        for limit in [1, 2, 3] {
            let pages = pages(&engine, &SearchRequest { ..request }, limit);
            let total = pages[0].total;
            // What is added where there are few hits depends on how many fit on the first page.
            let wanted: Vec<_> =
                whole.hits.iter().take(usize::try_from(total).unwrap()).cloned().collect();
            let paged: Vec<_> = pages.iter().flat_map(|page| page.hits.clone()).collect();
            assert_eq!(paged, wanted, "{query}, {limit}");
            assert!(pages.iter().all(|page| page.total == total), "{query}, {limit}");
        }
    }
}

#[test]
fn cursors_are_of_one_search() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    let access = Access::anonymous();
    let first = SearchRequest { limit: 1, ..request(&engine, "serde", &access) };
    let cursor = engine.search(&first).unwrap().next_cursor.unwrap();
    let taken = |changed: SearchRequest<'_>| {
        engine.search(&SearchRequest { cursor: Some(&cursor), ..changed })
    };
    taken(first).unwrap();
    taken(SearchRequest { limit: 3, ..first }).unwrap();
    let variables = [("name".to_owned(), "serde".to_owned())];
    for other in [
        SearchRequest { query: "json", ..first },
        SearchRequest { space: Some("docs"), ..first },
        SearchRequest { mime_type: Some("text/plain"), ..first },
        SearchRequest { variables: &variables, ..first },
        SearchRequest { sort: SearchSort::Recent, ..first },
    ] {
        check_error(taken(other), ErrorKind::InvalidCursor);
    }
    for broken in ["", "bogus", "5"] {
        let request = SearchRequest { cursor: Some(broken), ..first };
        check_error(engine.search(&request), ErrorKind::InvalidCursor);
    }
}

#[test]
fn a_page_of_which_nothing_is_left_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = |n: u32, is_hidden: bool| {
        let mut document = document(&format!("n{n:02}"), "", "word");
        document.acl = is_hidden.then(|| vec!["staff".to_owned()]);
        document
    };
    let access = Access::anonymous();
    for (from, left, total) in [(0, 0, 0), (13, 6, 13)] {
        let engine = library(&folder.path().join(from.to_string()), &[]);
        put_all(&engine, (0..20).map(|n| hidden(n, false)));
        // The index has one order of all; the newest has another one when what is hidden was written again.
        let first = SearchRequest { limit: 7, ..request(&engine, "word", &access) };
        let one = engine.search(&first).unwrap();
        let all: Vec<u32> = pages(&engine, &first, 7)
            .iter()
            .flat_map(|page| {
                names(page).iter().map(|name| name[1..].parse().unwrap()).collect::<Vec<u32>>()
            })
            .collect();
        let gone = if from == 0 { &all[..] } else { &all[7..14] };
        put_all(&engine, gone.iter().map(|n| hidden(*n, true)));
        let newest = request(&engine, "word", &access).after_sequence;
        let cursor = one.next_cursor.as_deref();
        let two =
            engine.search(&SearchRequest { cursor, after_sequence: newest, ..first }).unwrap();
        assert_eq!((two.hits.len(), two.total, two.next_cursor), (left, total, None), "{gone:?}");
    }
}

#[test]
fn who_does_not_see_everything_is_shown_no_score() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    let everything = Access::operator();
    let page = engine.search(&request(&engine, "serde", &everything)).unwrap();
    assert!(page.hits.iter().all(|hit| hit.score.is_some_and(|score| score > 0.0)), "{page:?}");
    for access in [
        Access::anonymous(),
        Access::anonymous().with_groups(["staff"]),
        Access::operator().with_spaces(["docs"]),
    ] {
        let page = engine.search(&request(&engine, "serde", &access)).unwrap();
        assert!(page.total > 0 && page.hits.iter().all(|hit| hit.score.is_none()), "{page:?}");
    }
}

#[test]
fn names_that_are_not_there_are_refused_with_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), LIBRARY);
    let access = Access::anonymous();
    let all = request(&engine, "serde", &access);
    let variables = [("title".to_owned(), "serde".to_owned())];
    for (request, text) in [
        (
            SearchRequest { variables: &variables, ..all },
            "variable `title`: there is no such variable: the variables are name",
        ),
        (
            SearchRequest { space: Some("dogs"), ..all },
            "space `dogs`: there is no such space: the spaces are docs",
        ),
    ] {
        let error = engine.search(&request).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::NotFound, text));
    }
}

#[test]
fn pages_stay_together_while_the_index_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<(String, String)> =
        (0..20).map(|n| (format!("n{n:02}"), format!("word {}", "filler ".repeat(n)))).collect();
    let engine = library(folder.path(), &[]);
    put_all(&engine, documents.iter().map(|(name, text)| document(name, "", text)));
    let access = Access::anonymous();
    let first = SearchRequest { limit: 7, ..request(&engine, "word", &access) };
    let one = engine.search(&first).unwrap();
    // What comes now changes all weights.
    put_all(&engine, (0..50).map(|n| document(&format!("m{n:02}"), "word", "word")));
    let newest = request(&engine, "word", &access).after_sequence;
    let next = |cursor: Option<String>| {
        let request = SearchRequest { cursor: cursor.as_deref(), after_sequence: newest, ..first };
        engine.search(&request).unwrap()
    };
    let two = next(one.next_cursor.clone());
    let three = next(two.next_cursor.clone());
    assert_eq!(three.next_cursor, None);
    let mut all: Vec<String> = [&one, &two, &three]
        .iter()
        .flat_map(|page| page.hits.iter().map(|hit| hit.uri.clone()))
        .collect();
    assert_eq!(all.len(), 20);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 20);
}

/// Each commit leaves a segment, and every search looks into all of them.
#[test]
fn small_segments_become_one_when_it_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[]);
    let mut most = 0;
    for n in 0..6 {
        put_all(&engine, [document(&format!("d{n}"), "", "needle")]);
        assert_eq!(search(&engine, "needle").total, n + 1);
        most = most.max(segments(&engine));
    }
    assert!(most > 1, "{most}");
    let deadline = Instant::now() + TIME_MAX;
    while segments(&engine) > 1 {
        assert!(Instant::now() < deadline, "{} segments", segments(&engine));
        std::thread::yield_now();
    }
    assert_eq!(search(&engine, "needle").total, 6);
    check_clean(&engine);
}

fn segments(engine: &Engine) -> usize {
    engine.stats().unwrap().full_text.unwrap().segments
}
