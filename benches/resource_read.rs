//! `Engine::read` and writing the `contents` array, from cached blocks: what a read costs without the protocol.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up ends")]
#![allow(missing_docs, reason = "criterion's macros define functions without")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pressmark_benches::{SPACE, Store, TextKind, request, scattered, text, uri};
use pressmark_index::access::Access;
use pressmark_index::contents_fragment::WireFields;
use pressmark_index::engine::Engine;
use pressmark_index::read::{ReadOutcome, Tier};
use pressmark_index::resource::{Address, Resource};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ALL_FIELDS: WireFields =
    WireFields { title: true, icons: true, meta: true, last_modified: true };
const LARGE_TEXT_BYTES: usize = 100_000;

/// The array of `contents`, as the server reads it: from memory, or where that has it not from the disk.
/// Parts of large texts always come from the second.
fn read(engine: &Engine, access: &Access, uri: &str) -> Vec<u8> {
    for tier in [Tier::Memory, Tier::Disk] {
        if let ReadOutcome::Contents(contents) = engine.read(&request(uri, access, tier)).unwrap() {
            let mut out = Vec::with_capacity(contents.encoded_bytes(uri));
            contents.write_array(uri, ALL_FIELDS, &mut out).unwrap();
            return out;
        }
    }
    panic!("{uri} is neither in memory nor on the disk")
}

/// Uniform reads over stores of two sizes.
fn uniform(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resource_read/uniform");
    let access = Access::anonymous();
    for count in [10_000_u64, 100_000] {
        let store = Store::filled(count, Vec::new()).unwrap();
        let uris: Vec<String> = scattered(count).map(uri).collect();
        let mut asked = uris.iter().cycle();
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| read(&store.engine, &access, black_box(asked.next().unwrap())));
        });
    }
    group.finish();
}

/// One resource each of several kinds, and parts of a large one.
fn kinds(criterion: &mut Criterion) {
    let named = |name: &str, kind, bytes| {
        let address = Address::Uri(format!("bench://documents/{name}"));
        Resource::text(SPACE, address, "text/plain", text(kind, 1, bytes))
    };
    let extra = vec![
        named("plain", TextKind::Plain, 1_200),
        named("escapes", TextKind::Escapes, 1_200),
        named("scripts", TextKind::Scripts, 1_200),
        named("large", TextKind::Plain, LARGE_TEXT_BYTES),
    ];
    let store = Store::filled(10_000, extra).unwrap();
    let access = Access::anonymous();
    let mut group = criterion.benchmark_group("resource_read/kind");
    for (name, asked) in [
        ("plain", "plain"),
        ("escapes", "escapes"),
        ("scripts", "scripts"),
        ("100kb_whole", "large"),
        ("100kb_lines_100_200", "large#line=100,200"),
        ("100kb_chars_50000_54096", "large#char=50000,54096"),
    ] {
        let asked = format!("bench://documents/{asked}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| read(&store.engine, &access, black_box(&asked)));
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! { name = benches; config = short(); targets = uniform, kinds }
criterion_main!(benches);
