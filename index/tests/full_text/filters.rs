//! Who finds what: ACLs, spaces, required values and the filters of a request, compared with a look at every resource,
//! while resources come, change and go and the engine is opened again and again.

use std::collections::{BTreeMap, BTreeSet};

use pressmark_index::access::{Access, RequiredValue};
use pressmark_index::engine::Engine;
use pressmark_index::full_text::{ModifiedRange, SearchRequest, SearchSort};
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Resource};
use pressmark_index::space::SpaceSettings;
use proptest::prelude::*;

use crate::common::check_clean;
use crate::library::*;

const SPACES: [(&str, &str); 3] = [
    ("one", "one://x/{team}/{name}"),
    ("two", "two://x/{team}/{name}"),
    ("three", "three://x{/path*}/{name}"),
];
const WORDS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];
const MIME_TYPES: [&str; 3] = ["text/plain", "text/markdown; charset=utf-8", "application/json"];
const TEAMS: [&str; 3] = ["red", "green", "blue ink"];
const GROUPS: [&str; 3] = ["staff", "boss", "audit"];

/// What is known of a resource.
#[derive(Debug, Clone)]
struct Known {
    space: usize,
    team: usize,
    words: BTreeSet<usize>,
    acl: Option<Vec<usize>>,
    mime_type: usize,
    modified: i64,
}

#[derive(Debug, Clone)]
enum Step {
    Put(u8, Known),
    Delete(usize, usize, u8),
    Reopen,
    Compare(Question),
}

#[derive(Debug, Clone)]
struct Question {
    words: BTreeSet<usize>,
    groups: Vec<usize>,
    spaces: Option<Vec<usize>>,
    required: Option<(usize, Vec<usize>)>,
    space: Option<usize>,
    team: Option<usize>,
    mime_type: Option<usize>,
    modified: Option<(i64, i64)>,
    recent: bool,
    limit: usize,
}

fn uri(space: usize, team: usize, name: u8) -> String {
    format!("{}://x/{}/n{name}", SPACES[space].0, TEAMS[team].replace(' ', "%20"))
}

impl Known {
    fn resource(&self, name: u8) -> Resource {
        let text: Vec<&str> = self.words.iter().map(|word| WORDS[*word]).collect();
        let uri = Address::Uri(uri(self.space, self.team, name));
        let mut resource =
            Resource::text(SPACES[self.space].0, uri, MIME_TYPES[self.mime_type], text.join(", "));
        resource.acl = self
            .acl
            .as_ref()
            .map(|groups| groups.iter().map(|group| GROUPS[*group].to_owned()).collect());
        resource.annotations.last_modified = Some(self.modified);
        resource
    }

    /// Whether the question finds it.
    fn matches(&self, question: &Question) -> bool {
        let sees = question.spaces.as_ref().is_none_or(|spaces| spaces.contains(&self.space));
        let passes = self
            .acl
            .as_ref()
            .is_none_or(|acl| acl.iter().any(|group| question.groups.contains(group)));
        let has_required = question.required.as_ref().is_none_or(|(space, teams)| {
            // In the third space the team is a path, which is no single value.
            self.space != *space || (self.space != 2 && teams.contains(&self.team))
        });
        let is_asked = question.space.is_none_or(|space| space == self.space)
            && question.team.is_none_or(|team| self.space != 2 && team == self.team)
            && question.mime_type.is_none_or(|mime_type| mime_type == self.mime_type)
            && question
                .modified
                .is_none_or(|(from, until)| from <= self.modified && self.modified < until);
        sees && passes && has_required && is_asked && question.words.is_subset(&self.words)
    }
}

impl Question {
    fn access(&self) -> Access {
        let mut access = Access::anonymous().with_groups(self.groups.iter().map(|g| GROUPS[*g]));
        if let Some(spaces) = &self.spaces {
            access = access.with_spaces(spaces.iter().map(|space| SPACES[*space].0));
        }
        if let Some((space, teams)) = &self.required {
            access = access.with_required_value(RequiredValue {
                space: SPACES[*space].0.to_owned(),
                variable: "team".to_owned(),
                values: teams.iter().map(|team| TEAMS[*team].to_owned()).collect(),
            });
        }
        access
    }

    /// Asks the engine and compares totals and pages with what is known.
    fn compare(&self, engine: &Engine, known: &BTreeMap<String, Known>) {
        let access = self.access();
        let words: Vec<&str> = self.words.iter().map(|word| WORDS[*word]).collect();
        let query = words.join(" ");
        let variables: Vec<(String, String)> =
            self.team.iter().map(|team| ("team".to_owned(), TEAMS[*team].to_owned())).collect();
        let request = SearchRequest {
            space: self.space.map(|space| SPACES[space].0),
            variables: &variables,
            mime_type: self.mime_type.map(|mime_type| MIME_TYPES[mime_type]),
            modified: self.modified.map(|(from, until)| ModifiedRange { from, until }),
            sort: if self.recent { SearchSort::Recent } else { SearchSort::Relevance },
            ..request(engine, &query, &access)
        };
        let is_asked = |space: &usize| {
            self.spaces.as_ref().is_none_or(|spaces| spaces.contains(space))
                && self.space.is_none_or(|asked| asked == *space)
        };
        // A space that the caller does not see is none; the third one has no such variable.
        if (self.space.is_some() && !(0..3).any(|space| is_asked(&space)))
            || (self.team.is_some() && !(0..2).any(|space| is_asked(&space)))
        {
            assert!(engine.search(&request).is_err());
            return;
        }
        let wanted: BTreeSet<&String> =
            known.iter().filter(|(_, known)| known.matches(self)).map(|(uri, _)| uri).collect();
        let pages = pages(engine, &request, self.limit);
        let total = pages[0].total;
        let found: Vec<&String> =
            pages.iter().flat_map(|page| page.hits.iter().map(|hit| &hit.uri)).collect();
        assert_eq!(found.len() as u64, total, "{self:?}");
        // Where few have all words others follow: never one that may not be seen.
        let without_words = Question { words: BTreeSet::new(), ..self.clone() };
        for uri in &found {
            assert!(known[*uri].matches(&without_words), "{self:?}: {uri}");
        }
        let set: BTreeSet<&String> = found.iter().copied().collect();
        assert_eq!(set.len(), found.len(), "{self:?}: {found:?}");
        assert!(wanted.is_subset(&set), "{self:?}: {wanted:?} in {found:?}");
        if pages[0].notes.is_empty() {
            assert_eq!(set, wanted, "{self:?}");
        }
        if !self.recent {
            let first: BTreeSet<&String> = found.iter().take(wanted.len()).copied().collect();
            assert_eq!(first, wanted, "{self:?}: those with all words come first");
        } else {
            let times: Vec<i64> = found.iter().map(|uri| known[*uri].modified).collect();
            assert!(times.is_sorted_by(|a, b| a >= b), "{self:?}: {times:?}");
        }
    }
}

fn known() -> impl Strategy<Value = Known> {
    (
        0..3_usize,
        0..3_usize,
        prop::collection::btree_set(0..5_usize, 1..4),
        prop::option::of(prop::collection::vec(0..3_usize, 0..3)),
        0..3_usize,
        -2..5_i64,
    )
        .prop_map(|(space, team, words, acl, mime_type, modified)| Known {
            space,
            team,
            words,
            acl,
            mime_type,
            modified: modified * 1_000,
        })
}

fn question() -> impl Strategy<Value = Question> {
    (
        prop::collection::btree_set(0..5_usize, 0..4),
        prop::collection::vec(0..3_usize, 0..3),
        prop::option::weighted(0.3, prop::collection::vec(0..3_usize, 0..3)),
        prop::option::weighted(0.3, (0..3_usize, prop::collection::vec(0..3_usize, 0..3))),
        prop::option::weighted(0.3, 0..3_usize),
        prop::option::weighted(0.3, 0..3_usize),
        prop::option::weighted(0.3, 0..3_usize),
        prop::option::weighted(0.3, (-3_000..3_000_i64, 0..6_000_i64)),
        any::<bool>(),
        1..9_usize,
    )
        .prop_map(
            |(words, groups, spaces, required, space, team, mime_type, modified, recent, limit)| {
                Question {
                    words,
                    groups,
                    spaces,
                    required,
                    space,
                    team,
                    mime_type,
                    modified,
                    recent,
                    limit,
                }
            },
        )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..12_u8, known()).prop_map(|(name, known)| Step::Put(name, known)),
        3 => (0..3_usize, 0..3_usize, 0..12_u8).prop_map(|(space, team, name)| Step::Delete(space, team, name)),
        1 => Just(Step::Reopen),
        3 => question().prop_map(Step::Compare),
    ]
}

fn play(steps: Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = open(folder.path());
    for (name, template) in SPACES {
        engine.put_space(SpaceSettings::new(name, template)).unwrap();
    }
    let mut all = BTreeMap::new();
    for step in steps {
        match step {
            Step::Put(name, known) => {
                put_all(&engine, [known.resource(name)]);
                all.insert(uri(known.space, known.team, name), known);
            }
            Step::Delete(space, team, name) => {
                let uri = uri(space, team, name);
                engine.commit(vec![Mutation::Delete { uri: uri.clone() }]).unwrap();
                all.remove(&uri);
            }
            Step::Reopen => {
                drop(engine);
                engine = open(folder.path());
            }
            Step::Compare(question) => question.compare(&engine, &all),
        }
    }
    // So that it is caught up with when it is checked.
    Question {
        words: BTreeSet::new(),
        groups: vec![0, 1, 2],
        spaces: None,
        required: None,
        space: None,
        team: None,
        mime_type: None,
        modified: None,
        recent: false,
        limit: 5,
    }
    .compare(&engine, &all);
    check_clean(&engine);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn everybody_finds_what_is_theirs(steps in prop::collection::vec(step(), 20..50)) {
        play(steps);
    }
}
