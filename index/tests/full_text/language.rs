//! The query language, as it comes to posting lists.

use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::full_text::SearchRequest;
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Resource};
use pressmark_index::space::SpaceSettings;

use crate::library::*;

fn engine(folder: &std::path::Path) -> Engine {
    let documents = [
        ("quick", "Quick start", "The quick brown fox jumps over the lazy dog. Dogs are loyal."),
        ("slow", "Slow start", "The brown quick fox does not jump; foxes are lazy."),
        ("camel", "Identifiers", "fn getUserName(user_id: u32) is called by HTTPServer and utf8"),
        ("cjk", "把機器推論洗成權威事實", "認證系統使用JWT令牌"),
        ("japanese", "東京", "東京都に住んでいます。データベースを使う。"),
        ("accents", "Café", "Les élèves étudient à l'école; ＷＩＤＥ letters"),
        ("cpp", "C++", "C++ and C# and .NET are languages, C is one too"),
    ];
    let engine = library(folder, &documents);
    engine.put_space(SpaceSettings::new("files", "files://x{/path*}")).unwrap();
    let mut note = Resource::text(
        "files",
        Address::Uri("files://x/notes/2024/plan".into()),
        "text/markdown",
        "the plan of the quick fox",
    );
    note.acl = Some(vec!["staff".to_owned()]);
    put_all(&engine, [note]);
    engine
}

#[test]
fn queries_find_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let check = |query: &str, wanted: &[&str]| {
        let page = search(&engine, query);
        let mut found = names(&page);
        found.sort_unstable();
        assert_eq!(found, wanted, "{query}: {page:#?}");
    };
    check("\"quick brown\"", &["quick"]);
    check("\"brown quick\"", &["slow"]);
    check("\"fox brown\"", &[]);
    check("quick -dog", &["slow"]);
    check("fox -\"quick brown\"", &["slow"]);
    check("-quick", &["quick", "slow"]);
    check("qui*", &["quick", "slow"]);
    check("title:quick", &["quick"]);
    check("title:\"slow start\"", &["slow"]);
    check("uri:camel", &["camel"]);
    check("uri:docs://library/camel", &["camel"]);
    check("name:camel", &["camel"]);
    check("name:qu*", &["quick"]);
    check("getUserName", &["camel"]);
    check("getusername", &["camel"]);
    check("\"get user name\"", &["camel"]);
    check("user name", &["camel"]);
    check("user_id", &["camel"]);
    check("權威事實", &["cjk"]);
    check("認證", &["cjk"]);
    check("jwt", &["cjk"]);
    check("東京", &["japanese"]);
    check("データベース", &["japanese"]);
    check("cafe", &["accents"]);
    check("ELEVES", &["accents"]);
    check("wide", &["accents"]);
    check("C++", &["cpp"]);
    check("nosuchfield:camel", &["camel"]);
    check("space:docs quick", &["quick", "slow"]);
    check("space:files", &[]);
    check("mime:text/plain quick", &["quick", "slow"]);
    check("mime:text quick", &["quick", "slow"]);
    check("mime:application quick", &[]);
}

#[test]
fn what_is_hidden_is_found_by_those_who_may_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let access = Access::anonymous().with_groups(["staff"]);
    let total = |query: &str, variables: &[(String, String)]| {
        let request = SearchRequest { variables, ..request(&engine, query, &access) };
        engine.search(&request).unwrap().total
    };
    assert_eq!(total("space:files", &[]), 1);
    assert_eq!(total("plan", &[]), 1);
    assert_eq!(total("path:notes/2024/plan", &[]), 1);
    for (path, wanted) in [
        ("notes/2024/plan", 1),
        ("notes/2024/", 1),
        ("notes/", 1),
        ("notes", 0),
        ("notes/2025/", 0),
    ] {
        let variables = [("path".to_owned(), path.to_owned())];
        assert_eq!(total("", &variables), wanted, "{path}");
        assert_eq!(total("fox", &variables), wanted, "{path}");
    }
    assert_eq!(search(&engine, "plan").total, 0);
}

#[test]
fn what_was_shown_is_not_shown_again_when_it_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[("a", "before", "the word was red")]);
    let check = |title: &str, text: &str| {
        for _ in 0..2 {
            let page = search(&engine, "word");
            assert_eq!(page.hits.len(), 1, "{page:?}");
            assert_eq!((&*page.hits[0].title, &*page.hits[0].snippet.text), (title, text));
        }
    };
    check("before", "the word was red");
    put_all(&engine, [document("a", "after", "the word was red")]);
    check("after", "the word was red");
    put_all(&engine, [document("a", "after", "the word is green")]);
    check("after", "the word is green");
    engine.commit(vec![Mutation::Delete { uri: "docs://library/a".to_owned() }]).unwrap();
    assert!(search(&engine, "word").hits.is_empty());
    put_all(&engine, [document("a", "anew", "a word")]);
    check("anew", "a word");
}

#[test]
fn snippets_show_the_words() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let access = Access::anonymous();
    let request = SearchRequest { snippet_bytes: 40, ..request(&engine, "lazy dogs", &access) };
    let page = engine.search(&request).unwrap();
    let hit = &page.hits[0];
    assert_eq!(hit.uri, "docs://library/quick");
    let marked: Vec<&str> =
        hit.snippet.marks.iter().map(|mark| &hit.snippet.text[mark.clone()]).collect();
    assert!(hit.snippet.text.len() <= 40 && marked.contains(&"lazy"), "{hit:?}");
    assert_eq!((hit.title.as_str(), hit.space.as_str()), ("Quick start", "docs"));
    assert_eq!(hit.mime_type, "text/plain");
}
