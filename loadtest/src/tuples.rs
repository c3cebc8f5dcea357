//! Records behind a template of three variables, as completion meets them: few teams of very different sizes, a run of
//! years, and names of words with separators and humps, all different. Texts are short: what counts is the number.

use std::io;

use serde_json::Value;

use crate::documents::escaped;
use crate::random::Random;
use crate::read::Picker;

/// The template that the records' space needs.
pub(crate) const TEMPLATE: &str = "docs://{team}/{year}/{name}";
/// Sizes of teams, frequencies of words: rank r has the weight 1/r.
const SKEW: f64 = 1.0;
const YEAR_FIRST: usize = 1995;
const YEARS: usize = 31;
/// One record of so many says a priority.
const PRIORITY_EVERY: usize = 20;
/// With groups, one record of so many has an ACL.
const ACL_EVERY: usize = 3;
const GROUPS: usize = 20;
/// One name of so many is not ASCII.
const FOREIGN_EVERY: usize = 25;

const WORDS: [&str; 64] = [
    "api",
    "report",
    "plan",
    "review",
    "budget",
    "service",
    "data",
    "system",
    "process",
    "policy",
    "guide",
    "release",
    "customer",
    "network",
    "security",
    "project",
    "meeting",
    "notes",
    "design",
    "test",
    "migration",
    "cluster",
    "payment",
    "storage",
    "index",
    "search",
    "catalog",
    "archive",
    "backup",
    "ledger",
    "monitor",
    "quality",
    "request",
    "response",
    "gateway",
    "handler",
    "parser",
    "queue",
    "stream",
    "vector",
    "xml",
    "http",
    "json",
    "onboarding",
    "training",
    "contract",
    "invoice",
    "warehouse",
    "zone",
    "kernel",
    "library",
    "journal",
    "matrix",
    "node",
    "observer",
    "pipeline",
    "quota",
    "router",
    "schema",
    "template",
    "update",
    "version",
    "window",
    "yield",
];
const FOREIGN: [&str; 6] = ["größe", "café", "маршрут", "図書館", "文档", "도서관"];
const TEAMS: [&str; 16] = [
    "core",
    "sales",
    "support",
    "platform",
    "finance",
    "legal",
    "research",
    "people",
    "design",
    "data",
    "mobile",
    "web",
    "infra",
    "quality",
    "marketing",
    "operations",
];

/// A collection of so many teams; each record can be made without the others.
pub(crate) struct Tuples {
    seed: u64,
    team_count: usize,
    teams: Picker,
    words: Picker,
    with_acl: bool,
}

/// One record.
#[derive(Debug, PartialEq)]
pub(crate) struct Tuple {
    pub(crate) team: String,
    pub(crate) year: String,
    pub(crate) name: String,
    priority: Option<f64>,
    acl: Option<Vec<String>>,
}

impl Tuples {
    pub(crate) fn new(seed: u64, team_count: usize, with_acl: bool) -> Tuples {
        Tuples {
            seed,
            team_count,
            teams: Picker::new(team_count, Some(SKEW)),
            words: Picker::new(WORDS.len(), Some(SKEW)),
            with_acl,
        }
    }

    pub(crate) fn tuple(&self, index: u64) -> Tuple {
        let mut random = Random::of(self.seed, index);
        let team = team(self.teams.pick(&mut random), self.team_count);
        // Recent years have most of the records.
        let back = random.below(YEARS).min(random.below(YEARS));
        let year = (YEAR_FIRST + YEARS - 1 - back).to_string();
        let name = self.name(index, &mut random);
        let hundredths = random.below(101) as f64;
        let priority = (random.below(PRIORITY_EVERY) == 0).then_some(hundredths / 100.0);
        let group = format!("group-{:02}", random.below(GROUPS));
        let restricted = self.with_acl && random.below(ACL_EVERY) == 0;
        let acl = restricted.then(|| vec![group]);
        Tuple { team, year, name, priority, acl }
    }

    fn name(&self, index: u64, random: &mut Random) -> String {
        let mut words: Vec<&str> = (0..1 + random.below(3))
            .filter_map(|_| WORDS.get(self.words.pick(random)).copied())
            .collect();
        if random.below(FOREIGN_EVERY) == 0 {
            words.insert(0, random.pick(&FOREIGN));
        }
        let number = base36(index);
        match random.below(4) {
            0 => {
                let humps: String = words.iter().map(|word| capitalised(word)).collect();
                format!("{humps}{number}")
            }
            1 => format!("{}_{number}", words.join("_")),
            2 => format!("{}.{number}", words.join(".")),
            _ => format!("{}-{number}", words.join("-")),
        }
    }
}

impl Tuple {
    pub(crate) fn uri(&self) -> String {
        format!("docs://{}/{}/{}", escaped(&self.team), self.year, escaped(&self.name))
    }

    /// The resource record that `pressmark load` takes, without the line's end.
    pub(crate) fn write_record(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut record = serde_json::json!({
            "variables": { "team": self.team, "year": self.year, "name": self.name },
            "mimeType": "text/plain",
            "text": self.name,
        });
        if let Some(priority) = self.priority {
            set(&mut record, "annotations", serde_json::json!({ "priority": priority }));
        }
        if let Some(acl) = &self.acl {
            set(&mut record, "acl", serde_json::json!(acl));
        }
        Ok(serde_json::to_writer(out, &record)?)
    }
}

/// Adds a member to an object.
pub(crate) fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn team(rank: usize, team_count: usize) -> String {
    let plain = TEAMS.get(rank % TEAMS.len()).copied().unwrap_or_default();
    if team_count <= TEAMS.len() || rank < TEAMS.len() {
        plain.to_owned()
    } else {
        format!("{plain}-{}", rank / TEAMS.len())
    }
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// The number in base 36.
fn base36(number: u64) -> String {
    let digit = u32::try_from(number % 36)
        .ok()
        .and_then(|digit| char::from_digit(digit, 36))
        .unwrap_or('0');
    let before = if number < 36 { String::new() } else { base36(number / 36) };
    before + digit.encode_utf8(&mut [0; 4])
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn a_seed_makes_one_collection_of_different_names() {
        let tuples = Tuples::new(7, 30, true);
        assert_eq!(tuples.tuple(3), Tuples::new(7, 30, true).tuple(3));
        let all: Vec<_> = (0..5_000).map(|index| tuples.tuple(index)).collect();
        let names: HashSet<_> = all.iter().map(|tuple| &tuple.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().any(|name| !name.is_ascii()));
        assert!(all.iter().any(|tuple| tuple.acl.is_some() && tuple.priority.is_some()));
    }

    #[test]
    fn teams_differ_in_size() {
        for team_count in [30, 1_000] {
            let tuples = Tuples::new(7, team_count, false);
            let mut sizes: HashMap<String, usize> = HashMap::new();
            for index in 0..20_000 {
                *sizes.entry(tuples.tuple(index).team).or_default() += 1;
            }
            let largest = sizes.values().max().unwrap();
            assert!(sizes.len() > team_count / 2 && sizes.len() <= team_count);
            assert!(*largest > 10 * 20_000 / team_count.max(40), "{largest} of {team_count}");
        }
    }

    #[test]
    fn a_record_is_one_line() {
        let mut line = Vec::new();
        Tuples::new(7, 30, true).tuple(5).write_record(&mut line).unwrap();
        assert!(!line.contains(&b'\n'));
        let record: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert!(record["variables"]["name"].is_string());
    }
}
