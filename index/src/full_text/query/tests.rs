//! Queries and what they come to, in a short notation.

use super::*;
use crate::full_text::analysis::STEM_MARK;

fn sequence(sequence: &Sequence) -> String {
    let mut said = String::new();
    let mut next = 0;
    for (offset, term) in &sequence.terms {
        if !said.is_empty() {
            said.push_str(if *offset == next { " " } else { " _ " });
        }
        said.push_str(term);
        next = offset + 1;
    }
    format!("\"{said}\"")
}

fn form(form: &Form) -> String {
    match form {
        Form::Term(term) => term.clone(),
        Form::Stem(stem) => stem
            .strip_prefix(STEM_MARK)
            .map_or_else(|| format!("={stem}"), |bare| format!("~{bare}")),
        Form::Sequence(terms) => sequence(terms),
    }
}

fn said(query: &Query) -> String {
    let clauses = query.clauses.iter().map(|clause| {
        let sign = if clause.occur == Occur::Excluded { "-" } else { "" };
        let field = match &clause.field {
            Field::Any => String::new(),
            Field::Variable(name) => format!("{name}:"),
            field => format!("{field:?}:"),
        };
        let matcher = match &clause.matcher {
            Matcher::Word(word) => word.forms.iter().map(form).collect::<Vec<_>>().join("|"),
            Matcher::Phrase(terms) => sequence(terms),
            Matcher::Prefix(prefix) => format!("{prefix}*"),
            Matcher::Value(Value::Exact(value)) => format!("={value}"),
            Matcher::Value(Value::Prefix(value)) => format!("={value}*"),
        };
        format!("{sign}{field}{matcher}")
    });
    let mut said = clauses.collect::<Vec<_>>().join("  ");
    if let Some(cut) = query.cut {
        said.push_str(&format!("  cut: {} bytes, {} words", cut.bytes, cut.words));
    }
    said
}

fn check(text: &str, wanted: &str) {
    let variables = ["name".to_owned(), "std".to_owned(), "https".to_owned()];
    let known = KnownFields { variables: &variables, languages: &[] };
    assert_eq!(said(&parse(text, &known)), wanted, "{text:?}");
}

#[test]
fn words_phrases_and_operators() {
    for (text, wanted) in [
        ("Hello World", "hello  world"),
        ("hello hello", "hello"),
        ("\"a b\" c", "\"a b\"  c"),
        ("foo -bar", "foo  -bar"),
        ("foo -\"a phrase\"", "foo  -\"a phrase\""),
        ("-foo", "foo"),
        ("-\"a phrase\"", "\"a phrase\""),
        ("-foo -bar", "foo  bar"),
        ("tok*", "tok*"),
        ("-tok* x", "-tok*  x"),
        ("a AND b OR NOT c", "a  and  b  or  not  c"),
        ("\"single\"", "single"),
    ] {
        check(text, wanted);
    }
}

#[test]
fn nothing_a_person_types_is_an_error() {
    for (text, wanted) in [
        ("", ""),
        ("\"", ""),
        ("*", ""),
        (">>>", ""),
        ("\"\" «» -- – -", ""),
        ("AND", "and"),
        ("https://website.org", "https  \"website org\""),
        ("following:", "following"),
        ("usb-c adapter\"\"", "usbc|\"usb c\"  adapter"),
        ("y+(y+25)", "y  25"),
        ("(waldo", "waldo"),
        ("waldo)", "waldo"),
        ("who is \"waldo\"?", "who  is  waldo"),
        ("who is \"waldo", "who  is  waldo"),
        ("5\" disk 3\" x", "5  disk  3  x"),
        ("error: E0308", "error  e0308|\"e 0308\""),
        ("foo::bar(x)", "foo  bar  x"),
        ("nosuchfield:waldo", "nosuchfield  waldo"),
        ("foo\"bar\"", "foo  bar"),
        ("„der Hund“ «le chien» 「犬が」 ＂a b＂", "\"der hund\"  \"le chien\"  犬が  \"a b\""),
        ("a\u{0}b\u{7f}c\td", "a  b  c  d"),
        ("foo--bar foo — bar –x", "foo  bar  x"),
        ("--help", "help"),
        ("- foo", "foo"),
        ("🦀 -🐍", "🦀  -🐍"),
        ("***foo***", "foo*"),
        ("foo*bar", "foo  bar"),
        ("他說「你好嗎」嗎", "他說  \"你好 好嗎\"  嗎"),
    ] {
        check(text, wanted);
    }
}

#[test]
fn fields_are_fields_when_they_are_known_and_have_a_value() {
    for (text, wanted) in [
        ("title:waldo", "Title:waldo"),
        ("Title:Waldo", "Title:waldo"),
        ("title:\"a b\"", "Title:\"a b\""),
        ("title：waldo", "Title:waldo"),
        ("title:wal*", "Title:wal*"),
        ("title:", "title"),
        ("title: waldo", "title  waldo"),
        ("title:\"", "title"),
        ("title:::", "title"),
        ("-title:x", "Title:x"),
        ("y -title:x", "y  -Title:x"),
        ("space:pypi", "Space:=pypi"),
        ("space:py*", "Space:=py*"),
        ("space:\"my space\" x", "Space:=my space  x"),
        ("space:pypi -x", "Space:=pypi  -x"),
        ("mime:Text/HTML", "MimeType:=text/html"),
        ("mime:text", "MimeType:=text/*"),
        ("mime:text/*", "MimeType:=text/*"),
        ("uri:serde", "Uri:serde"),
        ("uri:pypi://packages/serde", "Uri:=pypi://packages/serde"),
        ("uri:pypi://packages/", "Uri:=pypi://packages/*"),
        ("uri:pypi://pack*", "Uri:=pypi://pack*"),
        ("uri:\"a b\"", "Uri:\"a b\""),
        ("name:Serde", "name:=Serde"),
        ("name:\"a b\"", "name:=a b"),
        ("Name:Serde", "name  serde"),
        ("std::fmt", "std  fmt"),
        ("https://website.org", "https  \"website org\""),
        ("name:* x", "name  x"),
    ] {
        check(text, wanted);
    }
}

#[test]
fn compounds_identifiers_and_signs() {
    for (text, wanted) in [
        ("getUserName", "getusername|\"get user name\""),
        ("snake_case", "snakecase|\"snake case\""),
        ("state-of-the-art", "stateoftheart|\"state of the art\""),
        ("O'Brien", "obrien|\"o brien\"|brien"),
        ("l\u{2019}homme", "lhomme|\"l homme\"|homme"),
        ("don't", "dont"),
        ("C++ C# .NET", "c++  c#  .net|net"),
        ("\"C++ parser\"", "\"c++ parser\""),
        ("3.14 1,000 v1.2.3", "\"3 14\"  1000|\"1 000\"  \"v1 2 3\""),
        ("a,b", "a  b"),
        ("me@x.org", "\"me x org\""),
        ("U.S.A.", "usa|\"u s a\""),
        ("foo_b*", "foob*"),
        ("std::fm*", "std  fm*"),
        ("3.1*", "3  1*"),
        ("\"usb-c\"", "usbc|\"usb c\""),
        ("\"usb-c cable\"", "\"usb c cable\""),
        ("\"GitHub Actions\"", "\"github actions\""),
    ] {
        check(text, wanted);
    }
}

#[test]
fn scripts_without_spaces() {
    for (text, wanted) in [
        ("權威事實", "\"權威 _ 事實\""),
        ("認證", "認證"),
        ("認", "認"),
        ("認證系", "\"認證 證系\""),
        ("認證系統使用JWT令牌", "\"認證 _ 系統 _ 使用\"  jwt  令牌"),
        ("認證*", "認證"),
        ("\"認證 系統\"", "\"認證 _ 系統\""),
        ("\"使用JWT令牌\"", "\"使用 _ jwt 令牌\""),
        ("ｶﾞﾗｽ", "\"ガラ ラス\""),
        ("か\u{3099}", "が"),
    ] {
        check(text, wanted);
    }
}

#[test]
fn stems_are_tried_in_the_languages_of_the_index() {
    let languages = ["en", "de"].map(|tag| Language::of_tag(tag).unwrap());
    let known = KnownFields { variables: &[], languages: &languages };
    for (text, wanted) in [
        ("parsers", "parsers|~parser|=parser|~pars|=pars"),
        ("parser", "parser|~parser|~pars|=pars"),
        ("x -parsers", "x  -parsers"),
        ("\"parsers\"", "parsers"),
    ] {
        assert_eq!(said(&parse(text, &known)), wanted, "{text}");
    }
}

#[test]
fn what_is_too_long_is_cut_and_said() {
    let words: Vec<String> = (0..40).map(|number| format!("w{number}x")).collect();
    let query = parse(&words.join(" "), &KnownFields::default());
    assert_eq!(
        (query.clauses.len(), query.cut),
        (QUERY_CLAUSES_MAX, Some(Cut { bytes: 0, words: 8 }))
    );
    let query = parse(&"waldo ".repeat(200_000), &KnownFields::default());
    assert_eq!(query.clauses.len(), 1);
    assert!(query.cut.is_some_and(|cut| cut.bytes > 1_000_000 && cut.words == 0));
    let query = parse(&"x".repeat(1 << 20), &KnownFields::default());
    assert_eq!(query.clauses.len(), 1);
    let query = parse(&"認".repeat(1_000), &KnownFields::default());
    assert!(query.cut.is_some_and(|cut| cut.words > 800));
    for hostile in ["«", "\"", "-", "title:", "「", "a-", "*"] {
        parse(&hostile.repeat(100_000), &KnownFields::default());
    }
}
