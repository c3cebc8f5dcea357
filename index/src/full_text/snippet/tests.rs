//! Snippets, with the marks shown as brackets.

use proptest::prelude::*;

use super::*;
use crate::full_text::analysis::Language;
use crate::full_text::query::{KnownFields, parse};

fn shown(snippet: &Snippet) -> String {
    let mut shown = String::new();
    let mut at = 0;
    for mark in &snippet.marks {
        shown.push_str(&snippet.text[at..mark.start]);
        shown.push_str(&format!("[{}]", &snippet.text[mark.clone()]));
        at = mark.end;
    }
    shown + &snippet.text[at..]
}

fn of(text: &str, query: &str, bytes_max: usize) -> Snippet {
    let languages = [Language::of_tag("en").unwrap()];
    let known = KnownFields { variables: &[], languages: &languages };
    Snippets::new(&Wanted::of(&parse(query, &known), &languages)).of(text, bytes_max)
}

fn check(text: &str, query: &str, wanted: &str) {
    assert_eq!(shown(&of(text, query, 80)), wanted, "{query:?} in {text:?}");
}

#[test]
fn matched_words_are_marked() {
    for (text, query, wanted) in [
        ("The quick brown fox", "quick fox", "The [quick] brown [fox]"),
        ("The quick brown fox", "cat", "The quick brown fox"),
        ("", "cat", ""),
        ("Parsers and parsing", "parser", "[Parsers] and parsing"),
        ("A USB-C cable, usb c too", "usb-c", "A [USB-C] cable, [usb c] too"),
        ("a usb hub", "usb-c", "a [usb] hub"),
        ("Tokio and tokenizers", "tok*", "[Tokio] and [tokenizers]"),
        ("call getUserName here", "getusername", "call [getUserName] here"),
        ("call getUserName here", "user", "call get[User]Name here"),
        ("把機器推論洗成權威事實", "權威事實", "把機器推論洗成[權威事實]"),
        ("認證系統使用JWT令牌", "認證 jwt", "[認證]系統使用[JWT]令牌"),
        ("權力與事實", "權威事實", "權力與[事實]"),
        ("The cat sat", "\"cat sat\"", "The [cat sat]"),
        ("Written in C++ and C", "c++", "Written in [C++] and C"),
        ("Café, cafe\u{301}", "cafe", "[Café], [cafe\u{301}]"),
        ("one\r\n\ttwo  \u{0} three", "two", "one [two] three"),
        ("fox -dog", "-dog", "fox -[dog]"),
        ("fox dog", "fox -dog", "[fox] dog"),
    ] {
        check(text, query, wanted);
    }
}

#[test]
fn the_best_window_is_shown() {
    let filler = "Nothing of interest stands in this sentence at all. ".repeat(20);
    let text = format!("alpha first. {filler}Here alpha meets beta and more. {filler}beta last.");
    check(
        &text,
        "alpha beta",
        "…Here [alpha] meets [beta] and more. Nothing of interest stands in this…",
    );
    check(
        &text,
        "beta last",
        "…Nothing of interest stands in this sentence at all. [beta] [last].",
    );
    check(
        &text,
        "alpha first",
        "[alpha] [first]. Nothing of interest stands in this sentence at all. Nothing…",
    );
    check(
        &text,
        "nosuchword",
        "alpha first. Nothing of interest stands in this sentence at all. Nothing…",
    );
    let han = format!("{}機器推論{}", "天地玄黃宇宙洪荒".repeat(30), "日月盈昃".repeat(30));
    assert!(shown(&of(&han, "機器推論", 80)).contains("[機器推論]"));
}

#[test]
fn a_mistyped_word_is_marked_by_what_it_was_taken_for() {
    let query = parse("requsts", &KnownFields::default());
    let mut wanted = Wanted::of(&query, &[]);
    wanted.also(0, "requests");
    assert_eq!(shown(&Snippets::new(&wanted).of("HTTP requests", 80)), "HTTP [requests]");
}

#[test]
fn characters_are_not_cut_and_work_is_bounded() {
    let family = "👨\u{200d}👩\u{200d}👧".repeat(100);
    let shown = of(&family, "x", 100);
    assert!(shown.text.trim_end_matches('…').chars().count().is_multiple_of(5), "{}", shown.text);
    let marks = format!("a{}", "\u{301}".repeat(1 << 20));
    assert!(of(&marks, "a", 100).text.len() <= 100);
    assert!(of(&" ".repeat(1 << 20), "a", 100).text.len() <= 100);
    assert_eq!(of("text", "text", 0), Snippet::default());
    assert_eq!(of("text", "text", 5), Snippet::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_snippet_is_within_its_bounds(
        text in "([a-zA-Z '\"._-]{0,12}|[\\PC\\s]{0,8}|[一-七か-ご]{0,6}|fooBar|\u{301}|👨\u{200d}👩){0,40}",
        query in "([a-z]{1,3}|[一-七か-ご]{1,3}|\"[a-z ]{1,9}\"|fooBar|[\\PC]{0,4}| |\\*|-){0,8}",
        bytes_max in 0_usize..120,
    ) {
        let found = of(&text, &query, bytes_max);
        prop_assert!(found.text.len() <= bytes_max);
        prop_assert!(!found.text.contains(char::is_control));
        let mut before = 0;
        for mark in &found.marks {
            prop_assert!(mark.start >= before && mark.start < mark.end, "{:?} in {:?}", found.marks, found.text);
            prop_assert!(found.text.get(mark.clone()).is_some(), "{mark:?} in {:?}", found.text);
            before = mark.end;
        }
    }
}
