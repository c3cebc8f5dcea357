//! A store and the oracle beside it: what is done to one is done to the other, what is asked of one is asked of both.

use std::path::PathBuf;

use pressmark_index::access::Access;
use pressmark_index::bulk::BulkIngest;
use pressmark_index::completion::{Completion, CompletionRequest};
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::error::ErrorKind;
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Binding, Resource, Value};
use pressmark_index::space::{AliasClash, SpaceSettings};

use crate::common;
use crate::oracle::{Oracle, Record};

/// What a put or a delete of a collection is about.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Put(Record),
    Delete(Vec<Binding>),
}

/// A question without its lifetimes.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) variable: String,
    pub(crate) typed: String,
    pub(crate) context: Vec<(String, String)>,
    pub(crate) access: Access,
    pub(crate) count_max: usize,
}

impl Question {
    pub(crate) fn new(variable: &str, typed: &str) -> Question {
        Question {
            variable: variable.to_owned(),
            typed: typed.to_owned(),
            context: Vec::new(),
            access: Access::anonymous(),
            count_max: usize::MAX,
        }
    }

    pub(crate) fn with_context(mut self, context: &[(&str, &str)]) -> Question {
        self.context =
            context.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        self
    }

    /// Hands the request to `ask`.
    pub(crate) fn ask<T>(&self, space: &str, ask: impl FnOnce(&CompletionRequest<'_>) -> T) -> T {
        let context: Vec<(&str, &str)> =
            self.context.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        ask(&CompletionRequest {
            space,
            variable: &self.variable,
            typed: &self.typed,
            context: &context,
            access: &self.access,
            count_max: self.count_max,
        })
    }
}

/// Where a record stands, as the store sees it: the URI, and the bindings that come back from it.
pub(crate) fn place(oracle: &Oracle, bindings: &[Binding]) -> Option<(String, Vec<Binding>)> {
    let matcher = oracle.template.matcher().unwrap();
    let uri = matcher.expand_canonical(bindings).ok()?;
    let back = matcher.match_uri(&uri)?;
    Some((uri, back))
}

impl Oracle {
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Put(record) => {
                let Some((uri, bindings)) = place(self, &record.bindings) else { return };
                self.records.insert(uri, Record { bindings, ..record.clone() });
            }
            Change::Delete(bindings) => {
                let Some((uri, _)) = place(self, bindings) else { return };
                self.records.remove(&uri);
            }
        }
    }

    /// The mutation that does the same to a store; none where the record has no URI.
    fn mutation(&self, change: &Change) -> Option<Mutation> {
        match change {
            Change::Put(record) => {
                let (uri, _) = place(self, &record.bindings)?;
                let address = Address::Uri(uri);
                let mut resource = Resource::text(&self.space, address, "text/plain", "text");
                resource.annotations.priority = record.priority;
                resource.acl.clone_from(&record.acl);
                Some(Mutation::Put(Box::new(resource)))
            }
            Change::Delete(bindings) => {
                place(self, bindings).map(|(uri, _)| Mutation::Delete { uri })
            }
        }
    }
}

/// Several spaces in one store, each with its oracle.
pub(crate) struct World {
    /// Every other opening keeps answers: what is kept hides how it would be worked out.
    keeps_answers: bool,
    bulk: Option<BulkIngest>,
    engine: Option<Engine>,
    pub(crate) oracles: Vec<Oracle>,
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new(templates: &[&str]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let mut world =
            World { keeps_answers: true, bulk: None, engine: None, oracles: Vec::new(), folder };
        world.engine = Some(open(&world.data_dir(), world.keeps_answers));
        for (at, template) in templates.iter().enumerate() {
            world.oracles.push(Oracle::new(&format!("space-{at}"), template));
            world.add_space(at);
        }
        world
    }

    fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn add_space(&self, at: usize) {
        let Oracle { space, template, .. } = &self.oracles[at];
        let mut settings = SpaceSettings::new(space, template.as_str());
        settings.alias_clash = AliasClash::Warn;
        self.engine().put_space(settings).unwrap();
    }

    /// Makes the changes in one commit.
    pub(crate) fn commit(&mut self, at: usize, changes: &[Change]) {
        let oracle = &mut self.oracles[at];
        let mut mutations = Vec::new();
        for change in changes {
            mutations.extend(oracle.mutation(change));
            oracle.apply(change);
        }
        for result in self.engine().commit(mutations).unwrap() {
            result.unwrap();
        }
    }

    /// Removes a space with all that is in it, and adds it anew, empty.
    pub(crate) fn renew_space(&mut self, at: usize) {
        self.engine().remove_space(&self.oracles[at].space).unwrap();
        self.check(at, &Question::new("no-matter", ""));
        self.oracles[at].records.clear();
        self.add_space(at);
    }

    /// Begins to take in very much while it serves, or ends it.
    pub(crate) fn toggle_bulk(&mut self) {
        let begun = self.bulk.is_none().then(|| self.engine().bulk_ingest());
        self.bulk = begun;
    }

    pub(crate) fn reopen(&mut self) {
        self.bulk = None;
        self.engine = None;
        self.keeps_answers = !self.keeps_answers;
        self.engine = Some(open(&self.data_dir(), self.keeps_answers));
    }

    /// Asks both. An answer whose exactness is left open must still be right in what it says.
    #[track_caller]
    pub(crate) fn check(&self, at: usize, question: &Question) {
        let oracle = &self.oracles[at];
        let engine = self.engine();
        let context = format!("{} {question:?}\n{:#?}", oracle.template, oracle.records);
        let present = engine.spaces().by_name(&oracle.space).is_some();
        question.ask(&oracle.space, |request| {
            // Asked first: whoever asks for more finds no changes left over.
            let at_once = engine.complete_at_once(request);
            let found = engine.complete(request);
            match (&at_once, &found) {
                (Ok(Some(at_once)), Ok(found)) => assert_eq!(at_once, found, "{context}"),
                (Err(at_once), found) => {
                    let found = found.as_ref().map_err(|error| error.kind());
                    assert_eq!(found, Err(at_once.kind()), "{context}");
                }
                (Ok(_), _) => {}
            }
            let Some(wanted) = oracle.complete(request).filter(|_| present) else {
                assert_eq!(found.unwrap_err().kind(), ErrorKind::NotFound, "{context}");
                return;
            };
            let found = found.unwrap_or_else(|error| panic!("{error}\n{context}"));
            if oracle.leaves_open(request) {
                check_open(&found, &wanted, &oracle.candidates(request).unwrap(), &context);
            } else {
                assert_eq!(*found, wanted, "{context}");
            }
        });
    }
}

/// Every value given is right and given once, and the total is right or left out.
#[track_caller]
fn check_open(found: &Completion, wanted: &Completion, candidates: &[String], context: &str) {
    assert!(found.values.len() <= wanted.values.len(), "{found:?}\n{wanted:?}\n{context}");
    for (at, value) in found.values.iter().enumerate() {
        assert!(
            candidates.iter().any(|one| one == value),
            "{value} in {found:?}\n{wanted:?}\n{context}"
        );
        assert!(
            !found.values.iter().take(at).any(|one| one == value),
            "{value} twice in {found:?}\n{context}"
        );
    }
    if found.total.is_some() {
        assert_eq!(found.total, wanted.total, "{found:?}\n{wanted:?}\n{context}");
    }
}

/// So little memory that segments go to files and are united all the time.
fn open(data_dir: &std::path::Path, keeps_answers: bool) -> Engine {
    let options = EngineOptions {
        completion_memory_entries: 24,
        completion_cache_bytes: if keeps_answers { 1 << 20 } else { 0 },
        ..common::options()
    };
    Engine::open(data_dir, &options).unwrap()
}

/// A binding to a string.
pub(crate) fn text(name: &str, value: &str) -> Binding {
    Binding { name: name.to_owned(), value: Value::String(value.to_owned()) }
}

/// A binding to a list, written with slashes.
pub(crate) fn list(name: &str, path: &str) -> Binding {
    let items = path.split('/').map(str::to_owned).collect();
    Binding { name: name.to_owned(), value: Value::List(items) }
}

/// A record that anyone may see.
pub(crate) fn record(bindings: Vec<Binding>) -> Record {
    Record { bindings, priority: None, acl: None }
}
