//! A process that ends at any moment while it commits and indexes: the next one brings the index to what the store is.
//! `PRESSMARK_TEST_KILLS` says how often (6).

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use pressmark_index::access::Access;
use pressmark_index::engine::Engine;
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::Address;
use pressmark_index::space::SpaceSettings;
use pressmark_index::stored::ScanRequest;

use crate::common::check_clean;
use crate::common::child::{child, folder, tell};
use crate::library::*;

const KILLS: u64 = 6;
/// Kills in one folder before the next begins with an empty one.
const KILLS_PER_FOLDER: u64 = 10;
const NAMES: u64 = 400;

/// A congruential generator (Knuth, MMIX): the same numbers for the same seed, everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn child_that_indexes_without_end() {
    let Some(folder) = folder() else { return };
    let seed = std::env::var("SEED").unwrap().parse().unwrap();
    let mut random = Random(seed);
    tell("");
    let engine = open(&folder);
    engine.put_space(SpaceSettings::new("docs", "docs://library/{name}")).unwrap();
    for step in 0.. {
        let count = 1 + random.below(40);
        let mutations = (0..count).map(|_| {
            let name = format!("n{}", random.below(NAMES));
            match random.below(4) {
                0 => Mutation::Delete { uri: format!("docs://library/{name}") },
                _ => {
                    let text = format!(
                        "word step{step} {}",
                        "filler ".repeat(usize::try_from(random.below(30)).unwrap())
                    );
                    Mutation::Put(Box::new(document(&name, "", &text)))
                }
            }
        });
        for result in engine.commit(mutations.collect()).unwrap() {
            result.unwrap();
        }
        tell(&format!("step {step}"));
    }
}

/// All that the index has, in order.
fn found(engine: &Engine) -> Vec<String> {
    let access = Access::anonymous();
    let pages = pages(engine, &request(engine, "word", &access), 50);
    for page in &pages {
        assert!(page.notes.is_empty(), "{:?}", page.notes);
    }
    let mut uris: Vec<String> =
        pages.iter().flat_map(|page| &page.hits).map(|hit| hit.uri.clone()).collect();
    uris.sort_unstable();
    let count = u64::try_from(uris.len()).unwrap();
    assert_eq!(pages.first().unwrap().total, count, "{uris:?}\n{:?}", stored(engine));
    uris
}

/// All that the store has, in order.
fn stored(engine: &Engine) -> Vec<String> {
    let all = ScanRequest {
        space: None,
        uri_prefix: "",
        after_uri: None,
        without_bodies: true,
        count_max: usize::try_from(NAMES).unwrap() + 1,
        bytes_max: usize::MAX,
    };
    let stored = engine.scan(&all).unwrap().resources.into_iter();
    let uri = |address| match address {
        Address::Uri(uri) | Address::Both { uri, .. } => uri,
        Address::Variables(variables) => panic!("{variables:?}"),
    };
    stored.map(|stored| uri(stored.resource.address)).collect()
}

#[test]
fn the_index_is_what_the_store_is_after_a_kill() {
    let kills = std::env::var("PRESSMARK_TEST_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills = kills.unwrap_or(KILLS);
    let mut compared = 0;
    for first in (0..kills).step_by(usize::try_from(KILLS_PER_FOLDER).unwrap()) {
        let folder = tempfile::tempdir().unwrap();
        for round in first..kills.min(first + KILLS_PER_FOLDER) {
            let mut command = child("kills::child_that_indexes_without_end", folder.path());
            let mut child =
                command.env("SEED", round.to_string()).stdout(Stdio::piped()).spawn().unwrap();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            let mut random = Random(round);
            let mut line = String::new();
            for _ in 0..1 + random.below(60) {
                line.clear();
                assert!(out.read_line(&mut line).unwrap() > 0, "the child ended by itself");
            }
            let mut rest = Vec::new();
            out.by_ref().take(random.below(60)).read_to_end(&mut rest).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            let engine = open(folder.path());
            wait_until_made(&engine);
            // Names what differs, if it sees it.
            check_clean(&engine);
            let (found, stored) = (found(&engine), stored(&engine));
            assert_eq!(found, stored, "round {round}, seeds from {first} on");
            compared += stored.len();
        }
    }
    tell(&format!("{kills} kills, {compared} resources compared"));
}
