//! Snippets of matches that stand far into a text.

use pressmark_index::access::Access;
use pressmark_index::full_text::SearchRequest;

use crate::library::*;

/// Some 60 bytes, none of which is asked for.
const FILLER: &str = "Nothing that anybody would look for stands in this sentence. ";

#[track_caller]
fn check(filler: &str, bytes: usize, match_text: &str, query: &str, wanted: &str) {
    let folder = tempfile::tempdir().unwrap();
    let before = filler.repeat(bytes / filler.len());
    let text = format!("{before}{match_text} {}", filler.repeat(200));
    let engine = library(folder.path(), &[]);
    put_all(&engine, [document("long", "", &text)]);
    let access = Access::anonymous();
    let page = engine.search(&SearchRequest { ..request(&engine, query, &access) }).unwrap();
    let snippet = &page.hits[0].snippet;
    let marked: Vec<&str> = snippet.marks.iter().map(|mark| &snippet.text[mark.clone()]).collect();
    assert!(marked.contains(&wanted), "{query} behind {bytes} bytes: {snippet:?}");
}

#[test]
fn snippets_show_matches_that_stand_late() {
    for bytes in [100_000, 200_000, 2_000_000] {
        check(FILLER, bytes, "The Zanzibar report", "zanzibar", "Zanzibar");
    }
    check(FILLER, 300_000, "a USB-C adapter", "usb-c", "USB-C");
    check(FILLER, 300_000, "the parsers of old", "parse*", "parsers");
    check(FILLER, 300_000, "權威事實", "權威事實", "權威事實");
    check("Ein Satz über nichts, für niemanden gemacht. ", 600_000, "Das Café", "cafe", "Café");
}

#[test]
fn the_rarer_word_is_shown_though_the_other_one_stands_at_the_beginning() {
    check(FILLER, 400_000, "sentence of Zanzibar", "sentence zanzibar", "Zanzibar");
}
