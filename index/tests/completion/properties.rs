//! Random collections, changes and questions: the engine answers as the oracle does.

use pressmark_index::access::{Access, RequiredValue};
use pressmark_index::resource::{Binding, Value};
use proptest::prelude::*;

use crate::entries::{Kind, entry, kind};
use crate::oracle::{Oracle, Record};
use crate::world::{Change, Question, World, list, text};

/// Templates with what their variables are made of.
const TEMPLATES: [(&str, &[Variable]); 7] = [
    ("one://x/{name}", &[Variable::Text("name")]),
    ("two://{team}/{name}", &[Variable::Short("team"), Variable::Text("name")]),
    (
        "three://{team}/{year}/{name}",
        &[Variable::Short("team"), Variable::Short("year"), Variable::Text("name")],
    ),
    (
        "query://{team}/{name}{?lang,kind}",
        &[
            Variable::Short("team"),
            Variable::Text("name"),
            Variable::Optional("lang"),
            Variable::Optional("kind"),
        ],
    ),
    ("path://x/{+path}", &[Variable::Path("path")]),
    ("list://{team}{/path*}", &[Variable::Short("team"), Variable::List("path")]),
    ("mixed://{team}/{+path}", &[Variable::Short("team"), Variable::Path("path")]),
];

#[derive(Debug, Clone, Copy)]
enum Variable {
    /// Names of people and things.
    Text(&'static str),
    /// One of few values.
    Short(&'static str),
    /// One of few values, or none.
    Optional(&'static str),
    /// A path that stays URI-spelled.
    Path(&'static str),
    /// A path of decoded segments.
    List(&'static str),
}

/// What a random run does between its questions.
#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<Change>),
    Reopen,
    RenewSpace,
    TuneForBulkLoad,
    ToggleBulk,
    Ask(Vec<Seed>),
}

/// A question in the making: it becomes one when it is known what is stored.
#[derive(Debug, Clone)]
struct Seed {
    variable: prop::sample::Index,
    /// Whose value is typed.
    record: prop::sample::Index,
    kept: prop::sample::Index,
    spoiled: Spoiled,
    /// Which variables are chosen, and by whose values.
    chosen: Vec<(prop::sample::Index, prop::sample::Index, bool)>,
    access: Access,
    count_max: usize,
}

#[derive(Debug, Clone)]
enum Spoiled {
    Nothing,
    UpperCase,
    Without(prop::sample::Index),
    With(prop::sample::Index, char),
    Swapped(prop::sample::Index),
    Twice(prop::sample::Index, prop::sample::Index),
    /// From some place on, so that a later word begins.
    From(prop::sample::Index),
}

const GROUPS: [&str; 3] = ["red", "green", "blue"];
const CHARACTERS: &str = "abAB1-_ .éÉß日本ｱア🦉/";

fn name() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "pandas",
        "requests",
        "Requests",
        "http",
        "HTTPServer",
        "café",
        "cafe\u{301}",
        "日本",
        "日本語",
        "Ａｂｃ",
        "straße",
        "🦉",
        "parseHttp",
        "internationalization",
        "a",
        "b2",
    ]);
    let separators = prop::sample::select(vec!["-", "_", ".", " ", "", "--", "a/b"]);
    prop_oneof![
        4 => prop::collection::vec((words, separators), 1..4).prop_map(|parts| {
            parts.into_iter().flat_map(|(word, separator)| [word, separator]).collect()
        }),
        1 => "[abAB1_éß-]{1,6}",
    ]
}

fn segment() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "handbook",
        "Handbook",
        "hand.md",
        "loans",
        "how-loans-work.md",
        "a",
        "b",
        "HandOver",
        "x%20y",
        "2024",
        "read_me.md",
    ])
    .prop_map(str::to_owned)
}

fn short() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["core", "Core", "sales", "support", "2024", "2025", "é"])
        .prop_map(str::to_owned)
}

fn binding(variable: Variable) -> BoxedStrategy<Option<Binding>> {
    match variable {
        Variable::Text(of) => name().prop_map(move |value| Some(text(of, &value))).boxed(),
        Variable::Short(of) => short().prop_map(move |value| Some(text(of, &value))).boxed(),
        Variable::Optional(of) => {
            prop::option::of(short()).prop_map(move |value| Some(text(of, &value?))).boxed()
        }
        Variable::Path(of) => prop::collection::vec(segment(), 1..4)
            .prop_map(move |segments| Some(text(of, &segments.join("/"))))
            .boxed(),
        Variable::List(of) => prop::collection::vec(prop_oneof![6 => segment(), 1 => name()], 1..4)
            .prop_map(move |items| Some(Binding { name: of.to_owned(), value: Value::List(items) }))
            .boxed(),
    }
}

fn bindings(variables: &'static [Variable]) -> impl Strategy<Value = Vec<Binding>> {
    variables
        .iter()
        .map(|variable| binding(*variable))
        .collect::<Vec<_>>()
        .prop_map(|bindings| bindings.into_iter().flatten().collect())
}

fn change(variables: &'static [Variable]) -> impl Strategy<Value = Change> {
    let groups = prop::sample::subsequence(GROUPS.to_vec(), 0..=2)
        .prop_map(|groups| groups.into_iter().map(str::to_owned).collect());
    let acl = prop_oneof![3 => Just(None), 1 => groups.prop_map(Some)];
    let priority = prop::option::of(prop::sample::select(vec![0.0, 0.3, 0.5, 0.500_001, 1.0]));
    let put = (bindings(variables), priority, acl)
        .prop_map(|(bindings, priority, acl)| Change::Put(Record { bindings, priority, acl }));
    prop_oneof![
        4 => put,
        1 => bindings(variables).prop_map(Change::Delete),
    ]
}

fn access() -> impl Strategy<Value = Access> {
    let values = prop::collection::btree_set(short(), 1..3);
    let required = values.prop_map(|values| RequiredValue {
        space: "space-0".to_owned(),
        variable: "team".to_owned(),
        values,
    });
    let groups = prop::sample::subsequence(GROUPS.to_vec(), 0..=3);
    prop_oneof![
        3 => Just(Access::anonymous()),
        3 => groups.prop_map(|groups| Access::anonymous().with_groups(groups)),
        2 => Just(Access::operator()),
        1 => required.prop_map(|required| Access::operator().with_required_value(required)),
        1 => Just(Access::operator().with_spaces(["space-1"])),
    ]
}

fn spoiled() -> impl Strategy<Value = Spoiled> {
    let at = any::<prop::sample::Index>;
    let character = prop::sample::select(CHARACTERS.chars().collect::<Vec<_>>());
    prop_oneof![
        4 => Just(Spoiled::Nothing),
        1 => Just(Spoiled::UpperCase),
        1 => at().prop_map(Spoiled::Without),
        1 => (at(), character).prop_map(|(at, character)| Spoiled::With(at, character)),
        1 => at().prop_map(Spoiled::Swapped),
        1 => (at(), at()).prop_map(|(one, other)| Spoiled::Twice(one, other)),
        2 => at().prop_map(Spoiled::From),
    ]
}

fn seed() -> impl Strategy<Value = Seed> {
    let at = any::<prop::sample::Index>;
    let chosen = prop::collection::vec((at(), at(), any::<bool>()), 0..3);
    let count_max = prop_oneof![5 => Just(usize::MAX), 1 => 0..5_usize];
    (at(), at(), at(), spoiled(), chosen, access(), count_max).prop_map(
        |(variable, record, kept, spoiled, chosen, access, count_max)| Seed {
            variable,
            record,
            kept,
            spoiled,
            chosen,
            access,
            count_max,
        },
    )
}

/// Which template, and what is done in a store of its space.
fn run() -> impl Strategy<Value = (usize, Vec<Step>)> {
    (0..TEMPLATES.len()).prop_flat_map(|at| {
        let variables = TEMPLATES[at].1;
        let commit = prop::collection::vec(change(variables), 1..30).prop_map(Step::Commit);
        let step = prop_oneof![
            4 => commit,
            1 => Just(Step::Reopen),
            1 => Just(Step::TuneForBulkLoad),
            2 => Just(Step::ToggleBulk),
            4 => prop::collection::vec(seed(), 1..12).prop_map(Step::Ask),
        ];
        let step = prop_oneof![20 => step, 1 => Just(Step::RenewSpace)];
        (Just(at), prop::collection::vec(step, 2..12))
    })
}

impl Seed {
    fn question(&self, oracle: &Oracle) -> Question {
        let variables: Vec<String> =
            oracle.template.variables().map(|spec| spec.name.clone()).collect();
        let variable = &variables[self.variable.index(variables.len())];
        let mut context: Vec<(String, String)> = Vec::new();
        for (of, record, folder) in &self.chosen {
            let name = &variables[of.index(variables.len())];
            if context.iter().all(|(known, _)| known != name) {
                let chosen = self.stored_value(oracle, name, *record, *folder);
                context.push((name.clone(), chosen));
            }
        }
        if self.count_max == 1 {
            context.push(("unknown".to_owned(), "x".to_owned()));
        }
        Question {
            variable: variable.clone(),
            typed: self.typed(oracle, variable),
            context,
            access: self.access.clone(),
            count_max: self.count_max,
        }
    }

    /// A value that some record has, or a folder above it.
    fn stored_value(
        &self,
        oracle: &Oracle,
        variable: &str,
        record: prop::sample::Index,
        folder: bool,
    ) -> String {
        const NOBODYS: &str = "nobody's";
        if oracle.records.is_empty() {
            return NOBODYS.to_owned();
        }
        let record = oracle.records.values().nth(record.index(oracle.records.len())).unwrap();
        let value = record.bindings.iter().find(|binding| binding.name == variable);
        let Some(Binding { value, .. }) = value else { return NOBODYS.to_owned() };
        let whole = match value {
            Value::String(text) => text.clone(),
            Value::List(items) => items.join("/"),
            Value::Map(_) => unreachable!("no template here has maps"),
        };
        match whole.rfind('/') {
            Some(slash) if folder && kind(&oracle.template, variable) == Some(Kind::Path) => {
                entry(Kind::Path, value, &whole[..slash]).unwrap_or(whole)
            }
            _ => whole,
        }
    }

    /// The beginning of a stored value, with or without an error in it.
    fn typed(&self, oracle: &Oracle, variable: &str) -> String {
        let value = self.stored_value(oracle, variable, self.record, false);
        let mut typed: Vec<char> = value.chars().collect();
        if let Spoiled::From(at) = &self.spoiled {
            typed.drain(..at.index(typed.len() + 1));
        }
        typed.truncate(self.kept.index(typed.len() + 2));
        let place = |at: &prop::sample::Index, typed: &[char]| at.index(typed.len().max(1));
        let swap = |at: &prop::sample::Index, typed: &mut Vec<char>| {
            let at = place(at, typed);
            if at + 1 < typed.len() {
                typed.swap(at, at + 1);
            }
        };
        match &self.spoiled {
            Spoiled::Nothing | Spoiled::From(_) => {}
            Spoiled::UpperCase => {
                typed = typed.into_iter().flat_map(char::to_uppercase).collect();
            }
            Spoiled::Without(at) => {
                let at = place(at, &typed);
                typed = [&typed[..at], typed.get(at + 1..).unwrap_or_default()].concat();
            }
            Spoiled::With(at, character) => {
                let at = at.index(typed.len() + 1);
                typed.insert(at, *character);
            }
            Spoiled::Swapped(at) => swap(at, &mut typed),
            Spoiled::Twice(one, other) => {
                swap(one, &mut typed);
                swap(other, &mut typed);
            }
        }
        typed.into_iter().collect()
    }
}

fn play(template: &str, steps: &[Step]) {
    let mut world = World::new(&[template]);
    for step in steps {
        match step {
            Step::Commit(changes) => world.commit(0, changes),
            Step::Reopen => world.reopen(),
            Step::RenewSpace => world.renew_space(0),
            Step::TuneForBulkLoad => world.engine().tune_for_bulk_load(),
            Step::ToggleBulk => world.toggle_bulk(),
            Step::Ask(seeds) => {
                for seed in seeds {
                    world.check(0, &seed.question(&world.oracles[0]));
                }
            }
        }
    }
    for spec in world.oracles[0].template.variables() {
        world.check(0, &Question::new(&spec.name, ""));
    }
    crate::common::check_clean(world.engine());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_answers_as_the_oracle_does((template, steps) in run()) {
        play(TEMPLATES[template].0, &steps);
    }
}

/// Two spaces in one store keep out of each other's answers.
#[test]
fn spaces_are_apart() {
    let mut world = World::new(&["one://x/{name}", "two://x{/path*}"]);
    let record = |bindings| Change::Put(Record { bindings, priority: None, acl: None });
    world.commit(0, &[record(vec![text("name", "alpha")])]);
    world.commit(1, &[record(vec![list("path", "alpha/beta")])]);
    for (at, variable) in [(0, "name"), (1, "path")] {
        world.check(at, &Question::new(variable, ""));
        world.check(at, &Question::new(variable, "alp"));
    }
    world.renew_space(0);
    world.check(0, &Question::new("name", ""));
    world.check(1, &Question::new("path", ""));
}
