//! The oracle's tables, asked of the engine.

use pressmark_index::access::Access;
use pressmark_index::completion::TYPED_BYTES_MAX;
use pressmark_index::error::ErrorKind;

use crate::oracle_tables::tables;
use crate::world::{Change, Question, World, record, text};

#[test]
fn the_engine_answers_as_one_would_by_hand() {
    for table in tables() {
        let mut world = World::new(&[table.template]);
        let changes: Vec<_> = table.records.into_iter().map(Change::Put).collect();
        world.commit(0, &changes);
        for reopened in [false, true] {
            if reopened {
                world.reopen();
            }
            for (question, wanted) in &table.rows {
                let found = question.ask("space-0", |request| world.engine().complete(request));
                let context = format!("{}: {question:?}, reopened: {reopened}", table.name);
                let found = found.unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!(&*found, wanted, "{context}");
            }
        }
    }
}

#[test]
fn what_is_not_there_and_what_is_hidden_are_one() {
    let mut world = World::new(&["a://b/{name}"]);
    world.commit(0, &[Change::Put(record(vec![text("name", "x")]))]);
    let hidden = Access::operator().with_spaces(["other"]);
    let of_hidden = Question { access: hidden, ..Question::new("name", "") };
    let error = |space: &str, question: &Question| {
        question.ask(space, |request| world.engine().complete(request)).unwrap_err()
    };
    let (hidden, absent) =
        (error("space-0", &of_hidden), error("space-9", &Question::new("name", "")));
    assert_eq!((hidden.kind(), absent.kind()), (ErrorKind::NotFound, ErrorKind::NotFound));
    let neutral = |text: String| text.replace("space-0", "S").replace("space-9", "S");
    assert_eq!(neutral(hidden.to_string()), neutral(absent.to_string()));
    assert_eq!(error("space-0", &Question::new("title", "")).kind(), ErrorKind::NotFound);
}

#[test]
fn typed_text_is_bounded() {
    let world = World::new(&["a://b/{name}"]);
    for (bytes, fits) in [(TYPED_BYTES_MAX, true), (TYPED_BYTES_MAX + 1, false)] {
        let question = Question::new("name", &"x".repeat(bytes));
        let found = question.ask("space-0", |request| world.engine().complete(request));
        match found {
            Ok(found) => assert!(fits && found.values.is_empty()),
            Err(error) => assert_eq!((error.kind(), fits), (ErrorKind::LimitExceeded, false)),
        }
    }
}

/// A value comes with its first visible resource and goes with its last, whoever asked before.
#[test]
fn values_come_and_go() {
    let mut world = World::new(&["docs://{team}/{name}"]);
    let bindings = |team: &str, name: &str| vec![text("team", team), text("name", name)];
    let put = |team: &str, name: &str| Change::Put(record(bindings(team, name)));
    let hidden = {
        let mut hidden = record(bindings("core", "plan"));
        hidden.acl = Some(vec!["chiefs".to_owned()]);
        Change::Put(hidden)
    };
    for change in [
        put("core", "plan"),
        put("core", "review"),
        hidden,
        Change::Delete(bindings("core", "review")),
        put("core", "plan"),
        Change::Delete(bindings("core", "plan")),
        put("sales", "plan"),
    ] {
        world.commit(0, &[change]);
        let chief = Access::anonymous().with_groups(["chiefs"]);
        for access in [Access::anonymous(), chief, Access::operator()] {
            for variable in ["team", "name"] {
                let question = Question { access: access.clone(), ..Question::new(variable, "") };
                world.check(0, &question);
                world.check(0, &question.with_context(&[("team", "core")]));
            }
        }
    }
}

/// Chosen values that are neither one nor the first ones may leave out the total, but not the values of a small space.
#[test]
fn any_combination_of_chosen_values_finds_what_there_is() {
    let mut world = World::new(&["four://x/{a}/{b}/{c}/{d}"]);
    let changes: Vec<Change> = (0..3_000_usize)
        .map(|at| {
            // Mixed, so that every combination of values is somewhere in the space.
            let mixed = at.wrapping_mul(2_654_435_761) >> 7;
            let part = |name: &str, values: usize, of: usize| {
                text(name, &format!("{name}{}", of % values))
            };
            Change::Put(record(vec![
                part("a", 6, mixed),
                part("b", 30, mixed / 6),
                part("c", 40, mixed / 180),
                part("d", 2, mixed / 7_200),
            ]))
        })
        .collect();
    world.commit(0, &changes);
    for (variable, context) in [
        ("d", [("b", "b10"), ("c", "c0")]),
        ("c", [("b", "b5"), ("d", "d1")]),
        ("b", [("c", "c5"), ("d", "d0")]),
        ("a", [("b", "b1"), ("d", "d1")]),
    ] {
        let question = Question::new(variable, "").with_context(&context);
        let found = question.ask("space-0", |request| world.engine().complete(request)).unwrap();
        let wanted = question.ask("space-0", |request| world.oracles[0].complete(request)).unwrap();
        assert_eq!(found.values, wanted.values, "{question:?}");
    }
}

/// What goes with a chosen value is kept while a person types: key after key, from few values and from many.
#[test]
fn a_field_that_is_typed_into_is_answered_right_at_every_key() {
    let words = ["plan", "Api", "zone", "Größe", "xmlHttp", "数据", "aa-a", "PLAN"];
    let mut world = World::new(&["docs://{team}/{name}", "tree://{shelf}/{+path}"]);
    let mut changes = Vec::new();
    let mut of_paths = Vec::new();
    for n in 0..2_400_usize {
        // The chosen team has nearly all values; another has some of the same.
        let team = if n % 9 == 0 { "sales" } else { "core" };
        let word = |step: usize| words[n / step % words.len()];
        let separator = ["-", "_", ".", " ", ""][n / 64 % 5];
        let name = format!("{}{separator}{}-{}", word(1), word(8), n % 40);
        let mut put = record(vec![text("team", team), text("name", &name)]);
        put.priority = (n % 7 == 0).then_some(0.9);
        changes.push(Change::Put(put));
        let path = format!("{}/{}/{}{}", word(1), word(64), word(8), n % 3);
        of_paths.push(Change::Put(record(vec![text("shelf", team), text("path", &path)])));
    }
    world.commit(0, &changes);
    world.commit(1, &of_paths);
    let typed = [
        "",
        "p",
        "pl",
        "plan",
        "PLAN",
        "plan-",
        "plan-a",
        "a",
        "aa",
        "aa-",
        "api",
        "zone.gr",
        "gro",
        "hh",
        "http",
        "xmlh",
        "数",
        "据",
        "plna",
        "plam-ap",
        "zoen-api-",
        "grosse-plan-1",
        "nothing",
        "plan-api-1",
        "1",
    ];
    let paths = [
        "",
        "p",
        "plan/",
        "plan/a",
        "plan/zo",
        "API/",
        "aa-a/xml",
        "größe/数",
        "plan/plan/",
        "plan/plan/h",
        "plan/plan/pl",
    ];
    for _ in 0..2 {
        for team in ["core", "sales"] {
            for typed in typed {
                world.check(0, &Question::new("name", typed).with_context(&[("team", team)]));
            }
            for typed in paths {
                world.check(1, &Question::new("path", typed).with_context(&[("shelf", team)]));
            }
        }
        world.reopen();
    }
}
