//! From a URI as it is asked to its space: the normal form, variable matching, and the set of templates.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up ends")]
#![allow(missing_docs, reason = "criterion's macros define functions without")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pressmark_index::resource_uri;
use pressmark_index::space::SpaceId;
use pressmark_index::uri_template::{TemplateMatcher, TemplateSet, UriTemplate};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn matcher(template: &str) -> TemplateMatcher {
    UriTemplate::parse(template).unwrap().matcher().unwrap()
}

fn normalise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("template_match/normalise");
    for (name, uri) in [
        ("is_normal", "pypi://packages/serde-json"),
        (
            "long_is_normal",
            "docs://handbook/teams/platform/services/storage/runbooks/restore-a-backup.md",
        ),
        ("upper_case", "PYPI://Packages/serde%2djson"),
        ("not_ascii", "docs://handbook/größe/日本語.md"),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| resource_uri::normalise(black_box(uri)).unwrap());
        });
    }
    group.finish();
}

fn match_uri(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("template_match/match_uri");
    for (name, template, uri) in [
        ("simple", "pypi://packages/{name}", "pypi://packages/serde-json"),
        ("reserved", "docs://handbook/{+path}", "docs://handbook/teams/platform/restore.md"),
        ("segments", "repo://{owner}/{name}{/path*}", "repo://acme/tools/src/main/lib.rs"),
        ("query", "acme://products{?page,limit}", "acme://products?limit=10&page=2"),
    ] {
        let matcher = matcher(template);
        group.bench_function(name, |bencher| {
            bencher.iter(|| matcher.match_uri(black_box(uri)).unwrap());
        });
    }
    group.finish();
}

fn template_set(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("template_match/template_set");
    for count in [1_u32, 1_000] {
        let templates = (0..count)
            .map(|at| (SpaceId(at + 1), Arc::new(matcher(&format!("space{at}://items/{{name}}")))));
        let set = TemplateSet::new(templates);
        let uri = format!("space{}://items/serde-json", count / 2);
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| set.matches(black_box(&uri)).next().unwrap());
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = benches; config = short(); targets = normalise, match_uri, template_set }
criterion_main!(benches);
