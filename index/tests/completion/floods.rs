//! Very much comes in while others ask: every answer is of all that was acknowledged before the question.

use std::sync::Barrier;

use pressmark_index::access::Access;
use pressmark_index::completion::CompletionRequest;
use pressmark_index::engine::Engine;
use pressmark_index::mutation::Mutation;
use pressmark_index::space::SpaceSettings;

use crate::common;

/// So many ask at the same time: one makes the layer of what was left, the others must not be quicker than that.
const ASKERS: usize = 8;
const ROUNDS: usize = 8;
const BATCHES: usize = 3;
const RECORDS: usize = 500;

fn total(engine: &Engine) -> Option<u64> {
    let request = CompletionRequest {
        space: "docs",
        variable: "name",
        typed: "",
        context: &[],
        access: &Access::anonymous(),
        count_max: 1,
    };
    engine.complete(&request).unwrap().total
}

#[test]
fn all_who_ask_first_in_a_flood_are_told_of_all_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let engine = common::open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://shelf/{name}")).unwrap();
    let mut records = 0;
    for _ in 0..ROUNDS {
        let _bulk = engine.bulk_ingest();
        for _ in 0..BATCHES {
            let batch = records..records + RECORDS;
            records = batch.end;
            let uri = |n: usize| format!("docs://shelf/name-{n}");
            let puts = batch.map(|n| Mutation::Put(Box::new(common::text("docs", &uri(n), ""))));
            for result in engine.commit(puts.collect()).unwrap() {
                result.unwrap();
            }
        }
        let barrier = Barrier::new(ASKERS);
        std::thread::scope(|scope| {
            let ask = || {
                barrier.wait();
                total(&engine)
            };
            let asking: Vec<_> = (0..ASKERS).map(|_| scope.spawn(ask)).collect();
            for asked in asking {
                assert_eq!(asked.join().unwrap(), u64::try_from(records).ok());
            }
        });
    }
    common::check_clean(&engine);
}
