//! The engine against a model: random commits and reopenings, then the two must show the same.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;

use common::*;
use pressmark_index::access::Access;
use pressmark_index::mutation::Mutation;
use pressmark_index::space::{AliasClash, ListMode, SpaceSettings};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Put {
        name: usize,
        body: usize,
        acl: Option<Vec<&'static str>>,
        priority: Option<u8>,
        pinned: bool,
    },
    Delete {
        name: usize,
    },
    Reopen,
    Flush,
}

/// Names that meet once escapes are undone are among them.
const NAMES: [&str; 8] = ["a", "a%2Fb", "a/b", "a%252Fb", "caf%C3%A9", "cafe%CC%81", "x%26y", "z"];

fn bodies() -> [String; 4] {
    [String::new(), "short \"text\"\n".into(), "l\u{2028}\r\n".repeat(20_000), "é".repeat(100_000)]
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let acl = prop::option::of(prop::sample::subsequence(vec!["g1", "g2"], 0..=2));
    let put =
        (0..NAMES.len(), 0..4_usize, acl, prop::option::of(0..=4_u8), any::<bool>()).prop_map(
            |(name, body, acl, priority, pinned)| Step::Put { name, body, acl, priority, pinned },
        );
    let step = prop_oneof![
        8 => put,
        3 => (0..NAMES.len()).prop_map(|name| Step::Delete { name }),
        1 => Just(Step::Reopen),
        1 => Just(Step::Flush),
    ];
    prop::collection::vec(prop::collection::vec(step, 1..6), 1..8)
}

type Model = BTreeMap<usize, (usize, Option<Vec<&'static str>>)>;

fn mutation(step: &Step, bodies: &[String; 4], model: &mut Model) -> Option<Mutation> {
    match step {
        Step::Put { name, body, acl, priority, pinned } => {
            let mut resource = text("docs", &format!("docs://h/{}", NAMES[*name]), &bodies[*body]);
            resource.acl =
                acl.as_ref().map(|groups| groups.iter().map(|group| (*group).to_owned()).collect());
            resource.annotations.priority = priority.map(|quarter| f64::from(quarter) / 4.0);
            resource.pinned = *pinned;
            model.insert(*name, (*body, acl.clone()));
            Some(Mutation::Put(Box::new(resource)))
        }
        Step::Delete { name } => {
            model.remove(name);
            Some(Mutation::Delete { uri: format!("docs://h/{}", NAMES[*name]) })
        }
        Step::Reopen | Step::Flush => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_shows_what_the_model_holds(commits in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let bodies = bodies();
        let mut engine = open(folder.path());
        let mut settings = SpaceSettings::new("docs", "docs://h/{+path}");
        settings.alias_clash = AliasClash::Warn;
        settings.list = ListMode::All;
        engine.put_space(settings).unwrap();
        let mut model = Model::new();
        for commit in &commits {
            let mutations: Vec<_> = commit.iter().filter_map(|step| mutation(step, &bodies, &mut model)).collect();
            engine.commit(mutations).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
            if commit.iter().any(|step| matches!(step, Step::Flush)) {
                engine.flush().unwrap();
            }
            if commit.iter().any(|step| matches!(step, Step::Reopen)) {
                drop(engine);
                engine = open(folder.path());
            }
        }
        check_clean(&engine);
        for groups in [vec![], vec!["g1"], vec!["g1", "g2"]] {
            let access = Access::anonymous().with_groups(groups.clone());
            let sees = |acl: &Option<Vec<&str>>| acl.as_ref().is_none_or(|acl| acl.iter().any(|g| groups.contains(g)));
            let mut wanted: Vec<_> = model.iter().filter(|(_, (_, acl))| sees(acl)).map(|(name, _)| format!("docs://h/{}", NAMES[*name])).collect();
            let mut listed = uris(&list_all(&engine, &access, 2));
            wanted.sort_unstable();
            listed.sort_unstable();
            prop_assert_eq!(listed, wanted);
            for (name, (body, acl)) in &model {
                let found = read_as(&engine, &format!("docs://h/{}", NAMES[*name]), &access);
                if sees(acl) {
                    let found = found.unwrap();
                    prop_assert_eq!(found[0]["text"].as_str().unwrap(), bodies[*body].as_str());
                }
            }
        }
        prop_assert_eq!(engine.spaces().spaces[0].resource_count(), model.len() as u64);
    }
}
