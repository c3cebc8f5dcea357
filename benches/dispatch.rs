//! `Mcp::receive`: a whole body in, a whole reply out, without HTTP.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up ends")]
#![allow(missing_docs, reason = "criterion's macros define functions without")]

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use hyper::HeaderMap;
use pressmark::call_rates::Caller;
use pressmark::mcp::protocol::{Channel, Session};
use pressmark::mcp::{Answer, Mcp, McpConfig, Step, ToolResults};
use pressmark::metrics::Metrics;
use pressmark_benches::{REPLY_BYTES_MAX, Store, scattered, uri};
use pressmark_index::access::Access;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RESOURCES: u64 = 10_000;
const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// One request as it comes over HTTP.
struct Asked {
    headers: HeaderMap,
    body: String,
}

impl Asked {
    fn legacy(method: &str, params: &str) -> Asked {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{params}}}}}"#);
        Asked { headers: headers(&[("mcp-protocol-version", "2025-11-25")]), body }
    }

    fn modern(uri: &str) -> Asked {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{{"uri":"{uri}","_meta":{META}}}}}"#
        );
        let headers = headers(&[
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "resources/read"),
            ("mcp-name", uri),
        ]);
        Asked { headers, body }
    }

    /// As a transport asks. What memory cannot answer, e.g. after a compaction, is read from the disk.
    fn answer(&self, mcp: &Mcp) -> Answer {
        let channel = Channel::Http {
            headers: &self.headers,
            session: Session::Absent,
            caller: Caller::Process,
            subscription: None,
        };
        match mcp.receive(black_box(self.body.as_bytes()), channel) {
            Step::Answer(answer) => answer,
            Step::Listen(_) | Step::Call(_) => panic!("a stream is no reply"),
            Step::Work(work) => mcp.perform(work, Instant::now() + Duration::from_secs(60)),
        }
    }
}

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    lines.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn dispatch(criterion: &mut Criterion) {
    let store = Store::filled(RESOURCES, Vec::new()).unwrap();
    let config = McpConfig {
        contents_bytes_max: REPLY_BYTES_MAX,
        page_items_max: 250,
        page_bytes_max: 512 * 1024,
        batch_messages_max: 100,
        tool_calls_per_second: NonZeroU32::MAX,
        search_time_max: std::time::Duration::from_secs(2),
        tool_results: ToolResults::Text,
        completions_per_second: NonZeroU32::MAX,
    };
    let mcp =
        Mcp::new(Arc::clone(&store.engine), config, Access::anonymous(), Arc::new(Metrics::new()));
    let reads = |make: fn(&str) -> Asked| -> Vec<Asked> {
        scattered(RESOURCES).map(|index| make(&uri(index))).collect()
    };
    let legacy = |uri: &str| Asked::legacy("resources/read", &format!(r#""uri":"{uri}""#));
    let mut group = criterion.benchmark_group("dispatch");
    for (name, asked) in [
        ("resources_read/modern", reads(Asked::modern)),
        ("resources_read/legacy", reads(legacy)),
        ("ping", vec![Asked::legacy("ping", "")]),
        (
            "error/not_modern_header",
            vec![Asked { headers: HeaderMap::new(), ..Asked::modern("a://b") }],
        ),
        ("error/unknown_method", vec![Asked::legacy("resources/eat", "")]),
        ("error/no_uri", vec![Asked::legacy("resources/read", "")]),
        ("error/syntax", vec![Asked { body: "{\"jsonrpc\":".to_owned(), ..Asked::legacy("", "") }]),
    ] {
        let mut requests = asked.iter().cycle();
        group.bench_function(name, |bencher| {
            bencher.iter(|| requests.next().unwrap().answer(&mcp));
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! { name = benches; config = short(); targets = dispatch }
criterion_main!(benches);
