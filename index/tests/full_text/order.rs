//! What comes first among many that match.

use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::full_text::{SearchNote, SearchPage, SearchRequest};
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Binding, Resource, Value};
use pressmark_index::space::SpaceSettings;

use crate::library::*;

/// Long enough for its language to be known.
const ENGLISH: &str = "A small library for people who write programs in their own time";

fn first(engine: &Engine, query: &str) -> String {
    names(&search(engine, query)).first().map(|name| (*name).to_owned()).unwrap_or_default()
}

#[test]
fn a_word_comes_before_its_stems_and_before_rare_words_that_are_spelled_alike() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[]);
    let many = (0..300).map(|n| format!("flask-{n}"));
    let few = ["flask", "flasked", "flak", "fls", "flasks"].map(str::to_owned);
    put_all(&engine, many.chain(few).map(|name| document(&name, &name, ENGLISH)));
    for query in ["title:flask", "flask", "flsk", "title:flask library"] {
        assert_eq!(first(&engine, query), "flask", "{query}");
    }
    for (query, wanted) in [("flasked", "flasked"), ("flak", "flak"), ("title:flak", "flak")] {
        assert_eq!(first(&engine, query), wanted, "{query}");
    }
    // The more frequent word is the likelier one, whatever is called so.
    let corrected = search(&engine, "flsk");
    let place = |name: &str| names(&corrected).iter().position(|other| *other == name);
    assert!(place("flask") < place("flak") && place("flask") < place("fls"), "{corrected:?}");
    assert_eq!(corrected.notes, [SearchNote::TyposTolerated]);
}

#[test]
fn a_mistyped_first_letter_of_a_long_word_is_forgiven() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[("setuptools", "setuptools", ENGLISH)]);
    for query in ["zetuptools", "estuptools", "etuptools", "setuptolos"] {
        assert_eq!(first(&engine, query), "setuptools", "{query}");
    }
}

/// Names of packages with an optional title and a text.
fn packages(engine: &Engine, packages: &[(&str, &str, &str)]) {
    engine.put_space(SpaceSettings::new("npm", "npm://packages/{+name}")).unwrap();
    put_all(engine, packages.iter().map(|(name, title, text)| package(name, title, text)));
}

fn package(name: &str, title: &str, text: &str) -> Resource {
    let binding = Binding { name: "name".into(), value: Value::String(name.to_owned()) };
    let address = Address::Variables(vec![binding]);
    let mut resource = Resource::text("npm", address, "text/plain", text);
    resource.title = Some(title.to_owned()).filter(|title| !title.is_empty());
    resource
}

fn found(page: &SearchPage) -> Vec<&str> {
    page.hits.iter().map(|hit| hit.uri.strip_prefix("npm://packages/").unwrap()).collect()
}

#[test]
fn titles_come_before_values_before_segments_before_words() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    packages(
        &engine,
        &[
            ("react-dom", "", "react react react react: react for the web"),
            ("other", "React and more", "react react react"),
            ("@a/react", "", "x"),
            ("react", "", "one of a hundred thousand words about what it does, and then some more"),
            ("views", "React", "one of a hundred thousand words about what it does, and then some"),
        ],
    );
    put_all(&engine, (0..100).map(|n| package(&format!("@x{n}/react"), "", "react")));
    let page = search(&engine, "react");
    assert_eq!(found(&page)[..2], ["views", "react"]);
    let place = |name: &str| found(&page).iter().position(|other| *other == name);
    // On the first page of fifty are none but the hundred whose segment is the word.
    assert_eq!((place("react-dom"), place("other")), (None, None), "{page:#?}");
    for query in ["space:npm react", "react -nothing", "\"React\""] {
        assert_eq!(found(&search(&engine, query))[..2], ["views", "react"], "{query}");
    }
    assert_eq!(found(&search(&engine, "name:react* react")), ["react", "react-dom"]);
    assert_eq!(found(&search(&engine, "title:react"))[0], "views");
}

#[test]
fn names_are_the_same_however_their_words_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[]);
    let others = (0..20).map(|n| document(&format!("scikit-learn-{n}"), "", "scikit-learn"));
    put_all(&engine, others);
    put_all(&engine, [document("scikit-learn", "", ENGLISH), document("scikitlearn", "", ENGLISH)]);
    for (query, wanted) in [
        ("scikit-learn", ["scikit-learn", "scikitlearn"]),
        ("scikit_learn", ["scikit-learn", "scikitlearn"]),
        ("Scikit Learn", ["scikit-learn", "scikitlearn"]),
        ("scikitlearn", ["scikitlearn", "scikit-learn"]),
    ] {
        let page = search(&engine, query);
        let found = names(&page);
        assert_eq!(found[0], wanted[0], "{query}");
        // Two words do not find the one word that they make.
        if !query.contains(' ') {
            assert_eq!(found[1], wanted[1], "{query}");
        }
    }
}

#[test]
fn a_value_that_many_resources_share_names_none_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://{team}/{name}")).unwrap();
    let of_team = |team: &str, name: &str, text: &str| {
        let uri = Address::Uri(format!("docs://{team}/{name}"));
        Resource::text("docs", uri, "text/plain", text)
    };
    put_all(&engine, (0..150).map(|n| of_team("core", &format!("n{n}"), "about nothing")));
    put_all(&engine, [of_team("sales", "handbook", "core core core values of a core team")]);
    assert_eq!(first(&engine, "core"), "handbook");
}

#[test]
fn priority_counts_between_equals() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[]);
    let prioritised = |name: &str, title: &str, text: &str, priority: Option<f64>| {
        let mut document = document(name, title, text);
        document.annotations.priority = priority;
        document
    };
    let all = (0..20).map(|n| {
        let priority = match n {
            7 => Some(0.9),
            11 => Some(0.1),
            _ => None,
        };
        prioritised(&format!("n{n:02}"), "", "handbook of one team", priority)
    });
    put_all(&engine, all);
    let page = search(&engine, "handbook");
    assert_eq!((names(&page)[0], names(&page)[19]), ("n07", "n11"));
    // Two that are called so are equals, whatever else they say.
    let long = format!("plan {}", "and much more ".repeat(40));
    put_all(
        &engine,
        [
            prioritised("a", "Plan", "plan plan plan", Some(0.2)),
            prioritised("b", "Plan", &long, Some(0.8)),
            prioritised("c", "Plan of plans", "plan plan plan plan", Some(1.0)),
        ],
    );
    assert_eq!(names(&search(&engine, "plan"))[..3], ["b", "a", "c"]);
    assert_eq!(names(&search(&engine, "plam"))[..3], ["b", "a", "c"]);
    // What fits better comes first all the same.
    put_all(
        &engine,
        [
            prioritised("d", "", "quarterly figures", Some(0.1)),
            prioritised("e", "", &format!("figures {}", "of other things ".repeat(60)), Some(1.0)),
        ],
    );
    assert_eq!(names(&search(&engine, "figures")), ["d", "e"]);
}

const COMMON: [&str; 10] =
    ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty"];

#[test]
fn more_words_never_take_a_document_away_that_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[]);
    let mut documents = Vec::new();
    for (n, one) in COMMON.iter().enumerate() {
        for other in &COMMON[n + 1..] {
            for copy in 0..2 {
                let text = format!("{one} {other} ").repeat(8);
                documents.push(document(&format!("{one}{other}{copy}"), "", &text));
            }
        }
    }
    let all_but_one = COMMON[1..].join(" and then some more words about it, and ");
    documents.push(document("sought", "", &all_but_one));
    put_all(&engine, documents);
    let access = Access::anonymous();
    let mut was_there = false;
    for words in 1..=COMMON.len() {
        let query = COMMON[..words].join(" ");
        let request = SearchRequest { limit: 10, ..request(&engine, &query, &access) };
        let page = engine.search(&request).unwrap();
        let is_there = names(&page).contains(&"sought");
        assert!(is_there || !was_there, "{query}: {:?}", names(&page));
        was_there = is_there;
    }
    assert!(was_there);
}

#[test]
fn a_title_that_is_all_of_the_query_takes_no_other_document_away() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(
        folder.path(),
        &[
            ("named", "amber birch cedar", "a table"),
            ("both", "Both", "birch and cedar"),
            ("pair", "Pair", "amber and birch"),
        ],
    );
    assert!(names(&search(&engine, "amber birch")).contains(&"both"));
    let page = search(&engine, "amber birch cedar");
    assert_eq!(names(&page)[0], "named");
    assert!(names(&page).contains(&"both") && names(&page).contains(&"pair"), "{page:#?}");
}

#[test]
fn hidden_resources_correct_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let engine = library(folder.path(), &[("open", "", "a report about nothing")]);
    let mut hidden = document("hidden", "", "zanzibar");
    hidden.acl = Some(vec!["staff".to_owned()]);
    let notes_of = |access: &Access| {
        let page = engine.search(&request(&engine, "report zanzibat", access)).unwrap();
        (page.total, page.notes)
    };
    let fewer = SearchNote::FewerWords { wanted: 1, words: 2 };
    let before = notes_of(&Access::anonymous());
    put_all(&engine, [hidden]);
    assert_eq!(notes_of(&Access::anonymous()), before);
    assert_eq!(before, (1, vec![fewer.clone()]));
    let staff = Access::anonymous().with_groups(["staff"]);
    assert_eq!(notes_of(&staff), (2, vec![SearchNote::TyposTolerated, fewer]));
    // So it is with what was deleted, and with what another condition leaves out.
    let delete = Mutation::Delete { uri: "docs://library/hidden".to_owned() };
    engine.commit(vec![delete]).unwrap();
    assert_eq!(notes_of(&staff), before);
}
