//! The oracle by hand: small collections, what is typed, and what is right.

use pressmark_index::access::{Access, RequiredValue};
use pressmark_index::completion::Completion;

use crate::oracle::{Oracle, Record};
use crate::world::{Change, Question, list, record, text};

/// A collection with questions and their answers.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) template: &'static str,
    pub(crate) records: Vec<Record>,
    pub(crate) rows: Vec<(Question, Completion)>,
}

fn answer(values: &[&str]) -> Completion {
    Completion {
        values: values.iter().collect(),
        total: Some(values.len() as u64),
        has_more: false,
    }
}

/// Records of `a://b/{name}`.
fn names(names: &[&str]) -> Vec<Record> {
    names.iter().map(|name| record(vec![text("name", name)])).collect()
}

fn with_priority(name: &str, priority: Option<f64>) -> Record {
    Record { priority, ..record(vec![text("name", name)]) }
}

fn typed(rows: &[(&str, &[&str])]) -> Vec<(Question, Completion)> {
    rows.iter().map(|(typed, values)| (Question::new("name", typed), answer(values))).collect()
}

pub(crate) fn tables() -> Vec<Table> {
    let mut tables = vec![
        packages(),
        scripts(),
        humps(),
        order(),
        spread_typos(),
        tuples(),
        optional_query(),
        paths("a://b/{+path}", |path| text("path", path)),
        paths("a://b{/path*}", |path| list("path", path)),
        wide_slashes(),
        ambiguous_elements(),
        access(),
        later_words_beyond_the_bound(),
        bounded_answers(),
    ];
    tables.extend([99, 100, 101].map(around_the_bound));
    tables
}

fn packages() -> Table {
    let all = [
        "requests",
        "requests-oauthlib",
        "pandas",
        "pandas-requests",
        "Flask",
        "flask-login",
        "six",
    ];
    Table {
        name: "package names",
        template: "a://b/{name}",
        records: names(&all),
        rows: typed(&[
            ("requests", &["requests", "requests-oauthlib", "pandas-requests"]),
            ("req", &["requests", "requests-oauthlib", "pandas-requests"]),
            ("flask", &["Flask", "flask-login"]),
            ("Flask", &["Flask", "flask-login"]),
            ("reqeusts", &["requests", "requests-oauthlib"]),
            ("rqeu", &["requests", "requests-oauthlib"]),
            ("rqe", &[]),
            ("requests-ouathlbi", &["requests-oauthlib"]),
            ("login", &["flask-login"]),
            (
                "",
                &[
                    "Flask",
                    "flask-login",
                    "pandas",
                    "pandas-requests",
                    "requests",
                    "requests-oauthlib",
                    "six",
                ],
            ),
            ("zzz", &[]),
            ("-re", &[]),
            ("-req", &["requests", "requests-oauthlib"]),
        ]),
    }
}

fn scripts() -> Table {
    Table {
        name: "scripts, accents, width",
        template: "a://b/{name}",
        records: names(&[
            "日本語",
            "日本",
            "カイト",
            "ガイド",
            "café",
            "Cafe",
            "Straße",
            "Ａｂｃ",
            "🦉 owl",
            "🦉",
        ]),
        rows: typed(&[
            ("日", &["日本", "日本語"]),
            ("日本語", &["日本語"]),
            ("ｶﾞｲﾄﾞ", &["カイト", "ガイド"]),
            ("ガイド", &["ガイド", "カイト"]),
            ("CAFÉ", &["Cafe", "café"]),
            ("café", &["café", "Cafe"]),
            ("cafe\u{301}", &["Cafe", "café"]),
            ("strass", &["Straße"]),
            ("ＡＢ", &["Ａｂｃ"]),
            ("abc", &["Ａｂｃ"]),
            ("🦉", &["🦉", "🦉 owl"]),
            ("owl", &["🦉 owl"]),
        ]),
    }
}

fn humps() -> Table {
    Table {
        name: "words of camelCase",
        template: "a://b/{name}",
        records: names(&[
            "HTTPServer",
            "parseHttpRequest",
            "utf8Decoder",
            "snake_case_name",
            "serverless",
        ]),
        rows: typed(&[
            ("server", &["serverless", "HTTPServer"]),
            ("http", &["HTTPServer", "parseHttpRequest"]),
            ("request", &["parseHttpRequest"]),
            ("httpr", &["parseHttpRequest", "HTTPServer"]),
            ("decod", &["utf8Decoder"]),
            ("case_n", &["snake_case_name"]),
            ("ttp", &[]),
        ]),
    }
}

/// One edit is forgiven from four characters on, two from eight; a swap of neighbours is one.
fn spread_typos() -> Table {
    Table {
        name: "typing errors",
        template: "a://b/{name}",
        records: names(&["internationalization", "abcdefgh"]),
        rows: typed(&[
            ("itn", &[]),
            ("itne", &["internationalization"]),
            ("itenr", &[]),
            ("itenrna", &[]),
            ("itenrnat", &["internationalization"]),
            ("bacd", &["abcdefgh"]),
            ("bcde", &["abcdefgh"]),
            ("bacdfeg", &[]),
            ("bacdefhg", &["abcdefgh"]),
            ("badcfegh", &[]),
        ]),
    }
}

fn order() -> Table {
    Table {
        name: "order: priority, then resources, then spelling",
        template: "a://b/{name}",
        records: vec![
            with_priority("alpha-low", Some(0.0)),
            with_priority("alpha-none", None),
            with_priority("alpha-half", Some(0.5)),
            with_priority("alpha-high", Some(1.0)),
            with_priority("ALPHA", Some(0.1)),
            with_priority("alpha", Some(0.0)),
        ],
        rows: typed(&[
            ("al", &["alpha-high", "alpha-half", "alpha-none", "ALPHA", "alpha", "alpha-low"]),
            ("alpha", &["alpha", "ALPHA", "alpha-high", "alpha-half", "alpha-none", "alpha-low"]),
            ("Alpha", &["ALPHA", "alpha", "alpha-high", "alpha-half", "alpha-none", "alpha-low"]),
        ]),
    }
}

fn tuples() -> Table {
    let tuple = |team: &str, year: &str, name: &str, priority| Record {
        priority,
        ..record(vec![text("team", team), text("year", year), text("name", name)])
    };
    let ask = |variable, typed, context: &[(&str, &str)], values: &[&str]| {
        (Question::new(variable, typed).with_context(context), answer(values))
    };
    Table {
        name: "context",
        template: "docs://{team}/{year}/{name}",
        records: vec![
            tuple("core", "2024", "plan", None),
            tuple("core", "2025", "plan", None),
            tuple("core", "2025", "review", Some(0.9)),
            tuple("sales", "2025", "plan", None),
            tuple("support", "2023", "review", None),
        ],
        rows: vec![
            ask("team", "", &[], &["core", "sales", "support"]),
            // 2025 has a priority, and 2024 and 2023 have as many resources.
            ask("year", "", &[], &["2025", "2023", "2024"]),
            ask("year", "", &[("team", "core")], &["2025", "2024"]),
            ask(
                "year",
                "",
                &[("team", "core"), ("year", "1999"), ("unknown", "x")],
                &["2025", "2024"],
            ),
            ask("year", "", &[("team", "CORE")], &[]),
            ask("name", "", &[("year", "2025"), ("team", "sales")], &["plan"]),
            ask("name", "", &[("year", "2024")], &["plan"]),
            ask("team", "", &[("name", "review")], &["core", "support"]),
            // Weights stay those of the whole space.
            ask("name", "", &[("team", "support")], &["review"]),
            ask("name", "", &[], &["review", "plan"]),
            ask("name", "pln", &[], &[]),
            ask("name", "pllan", &[], &["plan"]),
        ],
    }
}

fn optional_query() -> Table {
    let ask = |variable, context: &[(&str, &str)], values: &[&str]| {
        (Question::new(variable, "").with_context(context), answer(values))
    };
    Table {
        name: "variables that need not be there",
        template: "a://b/{name}{?lang,kind}",
        records: vec![
            record(vec![text("name", "one")]),
            record(vec![text("name", "two"), text("lang", "de")]),
            record(vec![text("name", "two"), text("lang", "en"), text("kind", "note")]),
        ],
        rows: vec![
            ask("lang", &[], &["de", "en"]),
            ask("kind", &[], &["note"]),
            ask("lang", &[("name", "one")], &[]),
            ask("lang", &[("name", "two")], &["de", "en"]),
            ask("name", &[("lang", "de")], &["two"]),
            ask("name", &[], &["two", "one"]),
        ],
    }
}

fn paths(template: &'static str, binding: fn(&str) -> pressmark_index::resource::Binding) -> Table {
    let ask = |typed, values: &[&str]| (Question::new("path", typed), answer(values));
    let all = [
        "handbook/loans/fees.md",
        "handbook/loans/how-loans-work.md",
        "handbook/welcome.md",
        "hand.md",
        "staff/HandOver/opening.md",
        "Handbook/other.md",
    ];
    Table {
        name: "paths, one segment at a time",
        template,
        records: all.iter().map(|path| record(vec![binding(path)])).collect(),
        rows: vec![
            ask("", &["handbook/", "hand.md", "Handbook/", "staff/"]),
            ask("hand", &["handbook/", "hand.md", "Handbook/"]),
            ask("handbook", &["handbook/", "Handbook/"]),
            ask("handbook/", &["handbook/loans/", "Handbook/other.md", "handbook/welcome.md"]),
            // One letter too many is one edit: what it is without that letter comes after what begins so.
            ask("handbook/l", &["handbook/loans/", "Handbook/other.md", "handbook/welcome.md"]),
            ask("handbook/loans/", &["handbook/loans/fees.md", "handbook/loans/how-loans-work.md"]),
            ask("HANDBOOK/LOANS/FEES.MD", &["handbook/loans/fees.md"]),
            // A later word is one of the last segment.
            ask("handbook/loans/work", &["handbook/loans/how-loans-work.md"]),
            ask("staff/over", &["staff/HandOver/"]),
            ask("over", &[]),
            ask("md", &["hand.md"]),
            // One edit, but not in the number of slashes.
            ask("hnadbook/w", &["handbook/loans/", "Handbook/other.md", "handbook/welcome.md"]),
            ask("hnadbook/wel", &["handbook/welcome.md"]),
            ask("hnadbook", &["handbook/", "Handbook/"]),
            ask("handbookx", &["handbook/", "Handbook/"]),
            ask("handbookloans", &[]),
            ask("handbook/loans/fees.md/", &[]),
        ],
    }
}

/// `／` is a slash in another width, and no slash of a path.
fn wide_slashes() -> Table {
    let ask = |typed, values: &[&str]| (Question::new("path", typed), answer(values));
    let all = ["売上／Report.md", "plain.md", "other-Report.md", "x/a／b-zeta.md"];
    Table {
        name: "a wide slash parts words, not segments",
        template: "a://b{/path*}",
        records: all.iter().map(|path| record(vec![list("path", path)])).collect(),
        rows: vec![
            ask("Rep", &["other-Report.md", "売上／Report.md"]),
            ask("売", &["売上／Report.md"]),
            ask("売上／r", &["売上／Report.md"]),
            ask("売上/r", &[]),
            ask("x/b", &["x/a／b-zeta.md"]),
            ask("x/z", &["x/a／b-zeta.md"]),
            ask("x／z", &[]),
        ],
    }
}

fn ambiguous_elements() -> Table {
    let ask = |typed, values: &[&str]| (Question::new("path", typed), answer(values));
    let binding = |items: &[&str]| {
        let value = items.iter().map(|item| (*item).to_owned()).collect();
        record(vec![pressmark_index::resource::Binding {
            name: "path".to_owned(),
            value: pressmark_index::resource::Value::List(value),
        }])
    };
    Table {
        name: "an element with a slash, and what is below it, cannot be typed",
        template: "a://b{/path*}",
        records: vec![binding(&["a", "x/y", "z"]), binding(&["a", "b"]), binding(&["p/q"])],
        rows: vec![ask("", &["a/"]), ask("a/", &["a/b"]), ask("a/x/", &[]), ask("p/", &[])],
    }
}

fn access() -> Table {
    let hidden = |team: &str, name: &str, groups: &[&str], priority| Record {
        bindings: vec![text("team", team), text("name", name)],
        acl: Some(groups.iter().map(|group| (*group).to_owned()).collect()),
        priority,
    };
    let ask = |access: Access, variable, values: &[&str]| {
        (Question { access, ..Question::new(variable, "") }, answer(values))
    };
    let in_groups = |groups: &[&str]| Access::anonymous().with_groups(groups.iter().copied());
    let only_core = Access::operator().with_required_value(RequiredValue {
        space: "space-0".to_owned(),
        variable: "team".to_owned(),
        values: ["core".to_owned()].into(),
    });
    Table {
        name: "access",
        template: "docs://{team}/{name}",
        records: vec![
            record(vec![text("team", "core"), text("name", "alpha")]),
            record(vec![text("team", "core"), text("name", "beta")]),
            hidden("sales", "beta", &["sellers"], Some(1.0)),
            hidden("sales", "gamma", &["sellers", "chiefs"], None),
            hidden("vault", "delta", &[], None),
        ],
        rows: vec![
            // The weight of beta is the highest of all resources behind it, those hidden from the caller too.
            ask(Access::anonymous(), "name", &["beta", "alpha"]),
            ask(Access::anonymous(), "team", &["core"]),
            ask(in_groups(&["chiefs"]), "name", &["beta", "alpha", "gamma"]),
            ask(in_groups(&["sellers"]), "team", &["sales", "core"]),
            ask(in_groups(&["nobody"]), "team", &["core"]),
            ask(Access::operator(), "team", &["sales", "core", "vault"]),
            ask(only_core.clone(), "team", &["core"]),
            ask(only_core, "name", &["beta", "alpha"]),
        ],
    }
}

/// Field case 24: the bound itself and its neighbours.
fn around_the_bound(count: usize) -> Table {
    let all: Vec<String> = (0..count).map(|number| format!("value-{number:03}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut records = names(&all);
    records.extend(names(&["late-value"]));
    let late = count < 100;
    let values = all.iter().take(100).copied().chain(late.then_some("late-value")).collect();
    let total = Some((count + usize::from(late)) as u64);
    let answer = Completion { values, total, has_more: count > 100 };
    Table {
        name: "99, 100 and 101 matches",
        template: "a://b/{name}",
        records,
        rows: vec![(Question::new("name", "value"), answer)],
    }
}

fn later_words_beyond_the_bound() -> Table {
    let ask = |typed: &str, total, has_more, values: Vec<String>| {
        let values = values.iter().collect();
        (Question::new("name", typed), Completion { values, total, has_more })
    };
    let named = |prefix: &str, last: usize| {
        (0..last).map(|number| format!("{prefix}{number:04}-tail")).collect::<Vec<_>>()
    };
    let (some, many) = (named("s", 1_000), named("m", 1));
    let all: Vec<&str> = some.iter().chain(&many).map(String::as_str).collect();
    let first = |prefix: &str, count| named(prefix, count);
    let tails = [first("m", 1), first("s", 99)].concat();
    let some_tails = first("s", 100);
    Table {
        name: "the total is left out where more than 1,000 values have a later word",
        template: "a://b/{name}",
        records: names(&all),
        rows: vec![ask("tail", None, true, tails), ask("s", Some(1_000), true, some_tails)],
    }
}

fn bounded_answers() -> Table {
    let ask = |count_max, values: &[&str], has_more| {
        let values = values.iter().collect();
        (
            Question { count_max, ..Question::new("name", "a") },
            Completion { values, total: Some(3), has_more },
        )
    };
    Table {
        name: "fewer values than there are",
        template: "a://b/{name}",
        records: names(&["a", "ab", "abc"]),
        rows: vec![
            ask(0, &[], true),
            ask(2, &["a", "ab"], true),
            ask(3, &["a", "ab", "abc"], false),
        ],
    }
}

#[test]
fn the_oracle_answers_as_one_would_by_hand() {
    let mut wrong = Vec::new();
    for table in tables() {
        let mut oracle = Oracle::new("space-0", table.template);
        for record in &table.records {
            oracle.apply(&Change::Put(record.clone()));
        }
        assert_eq!(oracle.records.len(), table.records.len(), "{}: each has its URI", table.name);
        for (question, wanted) in &table.rows {
            let found = question.ask("space-0", |request| oracle.complete(request));
            if found.as_ref() != Some(wanted) {
                wrong.push(format!("{}: {question:?}\n{found:?}\n{wanted:?}", table.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_there_and_what_is_hidden_are_one() {
    let oracle = Oracle::new("space-0", "a://b/{name}");
    let hidden = Access::operator().with_spaces(["other"]);
    let of_hidden = Question { access: hidden, ..Question::new("name", "") };
    for question in [of_hidden, Question::new("title", "")] {
        assert_eq!(question.ask("space-0", |request| oracle.complete(request)), None);
    }
}

#[test]
fn only_several_values_out_of_order_are_left_open() {
    let oracle = Oracle::new("space-0", "a://{a}/{b}/{c}/{d}");
    for (variable, context, open) in [
        ("d", &[][..], false),
        ("d", &["c"], false),
        ("d", &["a", "b"], false),
        ("d", &["b", "a", "x"], false),
        ("d", &["a", "b", "c"], false),
        ("d", &["a", "c"], true),
        ("b", &["a", "b"], false),
        ("b", &["a", "c"], true),
        ("a", &["b", "c"], true),
        ("a", &["x", "a", "d"], false),
    ] {
        let context: Vec<_> = context.iter().map(|name| (*name, "1")).collect();
        let question = Question::new(variable, "").with_context(&context);
        let found = question.ask("space-0", |request| oracle.leaves_open(request));
        assert_eq!(found, open, "{question:?}");
    }
}
