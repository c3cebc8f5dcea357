//! A page of `resources/list`, with its descriptors written out.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up ends")]
#![allow(missing_docs, reason = "criterion's macros define functions without")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use pressmark_benches::Store;
use pressmark_index::access::Access;
use pressmark_index::contents_fragment::WireFields;
use pressmark_index::engine::Engine;
use pressmark_index::list::PageBounds;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ALL_FIELDS: WireFields =
    WireFields { title: true, icons: true, meta: true, last_modified: true };
const PAGE: PageBounds = PageBounds { items_max: 250, bytes_max: 512 * 1024 };

fn page(
    engine: &Engine,
    access: &Access,
    cursor: Option<&str>,
    out: &mut Vec<u8>,
) -> Option<String> {
    let page = engine.list(cursor, access, PAGE).unwrap();
    for descriptor in &page.items {
        descriptor.write(ALL_FIELDS, out);
    }
    page.next_cursor
}

fn list(criterion: &mut Criterion) {
    let store = Store::filled(10_000, Vec::new()).unwrap();
    let access = Access::anonymous();
    let mut middle = None;
    for _ in 0..20 {
        middle = page(&store.engine, &access, middle.as_deref(), &mut Vec::new());
    }
    assert!(middle.is_some());
    let mut group = criterion.benchmark_group("list/page_of_250");
    for (name, cursor) in [("first", None), ("middle", middle)] {
        let mut out = Vec::new();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                out.clear();
                page(&store.engine, &access, black_box(cursor.as_deref()), &mut out)
            });
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
}

criterion_group! { name = benches; config = short(); targets = list }
criterion_main!(benches);
