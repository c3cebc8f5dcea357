//! Commits of 1,000 puts. A commit of what stands there already is everything but the write: encoding,
//! hashing, and the comparison with the stored version.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up ends")]
#![allow(missing_docs, reason = "criterion's macros define functions without")]

use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pressmark_benches::{Store, put, resource};
use pressmark_index::resource::Resource;
use pressmark_index::writer::Durability;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PUTS: u64 = 1_000;

fn commits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("write_batch/1000_puts");
    group.throughput(Throughput::Elements(PUTS)).sample_size(10);
    let interval = Durability::Interval(Duration::from_millis(200));
    for (name, durability) in [("created_interval", interval), ("created_sync", Durability::Sync)] {
        let store = Store::empty(durability).unwrap();
        let mut next = 0;
        let mut fresh = || -> Vec<Resource> {
            let begin = next;
            next += PUTS;
            (begin..next).map(|index| resource(0, index)).collect()
        };
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                &mut fresh,
                |resources| put(&store.engine, resources).unwrap(),
                BatchSize::PerIteration,
            );
        });
    }
    let store = Store::empty(interval).unwrap();
    let same = || -> Vec<Resource> { (0..PUTS).map(|index| resource(0, index)).collect() };
    put(&store.engine, same()).unwrap();
    group.bench_function("unchanged", |bencher| {
        bencher.iter_batched(
            same,
            |resources| put(&store.engine, resources).unwrap(),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
}

criterion_group! { name = benches; config = short(); targets = commits }
criterion_main!(benches);
