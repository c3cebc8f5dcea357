//! `complete`: asks a server as people type in a host's picker, and for the same resources beside it.
//!
//! A person fills in the template from left to right, key by key, with what is chosen already in the context. Rounds of
//! that and of `resources/read` take turns on the same connections, so that what a completion costs the server stands
//! beside what a read costs it, measured under the same noise.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use hdrhistogram::Histogram;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::process::Usage;
use crate::random::Random;
use crate::tuples::{TEMPLATE, Tuple, Tuples, set};

const CONNECTIONS_MAX: usize = 4_096;
const SECONDS_MAX: u64 = 600;
const ROUNDS_MAX: u32 = 100;
/// Latencies in microseconds, up to a minute, to three digits.
const LATENCY_US_MAX: u64 = 60_000_000;
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// How many characters are typed into each variable, key by key.
const TYPED: [(&str, usize); 3] = [("team", 3), ("year", 2), ("name", 6)];
/// Questions of one person: each prefix of each variable, the empty one too.
const QUESTIONS: u64 = 4 + 3 + 7;

#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// The server; a loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7411")]
    target: SocketAddr,
    /// How many records of `tuples` it holds
    #[arg(long)]
    count: u64,
    /// The seed of the collection
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// The teams of the collection
    #[arg(long, default_value_t = 30)]
    teams: usize,
    /// Say nothing of what is chosen already
    #[arg(long)]
    without_context: bool,
    /// Keep-alive connections, each of which asks as fast as it is answered
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Rounds of completions and of reads, in turn; before them, one of each that is not counted
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// How long a round takes
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Process id of the server, to report what processor time a request costs it
    #[arg(long, value_name = "PID")]
    server_pid: Option<u32>,
}

/// What a round asks.
#[derive(Debug, Clone, Copy)]
enum Method {
    Complete,
    Read,
}

/// What all connections share.
struct Load {
    target: SocketAddr,
    tuples: Tuples,
    count: u64,
    seed: u64,
    with_context: bool,
    /// The next request's number, over all rounds: no round asks what an earlier one did.
    next: AtomicU64,
}

/// What came of a round, or of all of a kind.
struct Measured {
    latency_us: Histogram<u64>,
    failed: u64,
    server: Duration,
}

/// Fails, with exit code 1, when a request did.
pub(crate) fn run(args: &CompleteArgs) -> Result<ExitCode, String> {
    crate::loopback(args.target)?;
    check(args)?;
    let load = Arc::new(Load {
        target: args.target,
        tuples: Tuples::new(args.seed, args.teams, false),
        count: args.count,
        seed: args.seed,
        with_context: !args.without_context,
        next: AtomicU64::new(0),
    });
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| format!("the runtime: {error}"))?;
    let (complete, read) = runtime.block_on(rounds(&load, args))?;
    print(&complete, &read, args.server_pid.is_some())
        .map_err(|error| format!("stdout: {error}"))?;
    Ok(if complete.failed + read.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn check(args: &CompleteArgs) -> Result<(), String> {
    let within = |name: &str, value: u64, most: u64| {
        let fits = (1..=most).contains(&value);
        if fits { Ok(()) } else { Err(format!("--{name} is 1 to {most}, not {value}")) }
    };
    within("connections", args.connections as u64, CONNECTIONS_MAX as u64)?;
    within("seconds", args.seconds, SECONDS_MAX)?;
    within("rounds", args.rounds.into(), ROUNDS_MAX.into())?;
    within("count", args.count, u64::MAX)?;
    within("teams", args.teams as u64, 1_000_000)
}

async fn rounds(load: &Arc<Load>, args: &CompleteArgs) -> Result<(Measured, Measured), String> {
    let (mut complete, mut read) = (Measured::new()?, Measured::new()?);
    for number in 0..=args.rounds {
        for (method, all) in [(Method::Complete, &mut complete), (Method::Read, &mut read)] {
            let of_round = round(load, method, args).await?;
            // The first warms caches.
            if number > 0 {
                all.add(&of_round)?;
            }
        }
    }
    Ok((complete, read))
}

async fn round(load: &Arc<Load>, method: Method, args: &CompleteArgs) -> Result<Measured, String> {
    let usage = || args.server_pid.map(Usage::of).transpose();
    let before = usage()?;
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let mut tasks = JoinSet::new();
    for _ in 0..args.connections {
        tasks.spawn(connection(Arc::clone(load), method, end));
    }
    let mut measured = Measured::new()?;
    while let Some(ended) = tasks.join_next().await {
        measured.add(&ended.map_err(|error| format!("a connection's task: {error}"))??)?;
    }
    if let (Some(before), Some(after)) = (before, usage()?) {
        let used = after.since(&before);
        measured.server = used.user + used.system;
    }
    Ok(measured)
}

/// One connection until the round ends; one that breaks ends the run.
async fn connection(load: Arc<Load>, method: Method, end: Instant) -> Result<Measured, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", load.target);
    let stream = TcpStream::connect(load.target).await.map_err(|error| told(&error))?;
    stream.set_nodelay(true).map_err(|error| told(&error))?;
    let (mut sender, driver) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| told(&error))?;
    // Ends with the sender.
    tokio::spawn(driver);
    let mut measured = Measured::new()?;
    while Instant::now() < end {
        let number = load.next.fetch_add(1, Ordering::Relaxed);
        let request = load.request(method, number)?;
        let begun = Instant::now();
        let answered = answered(&mut sender, request).await.map_err(|error| told(&error))?;
        let latency = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        measured.latency_us.saturating_record(latency);
        measured.failed += u64::from(!answered);
    }
    Ok(measured)
}

/// Sends a request; whether its answer is a result.
async fn answered(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<bool, hyper::Error> {
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    // Results are not parsed: the generator shares the machine with the server.
    Ok(status.is_success() && !body.windows(8).any(|bytes| bytes == b"\"error\":"))
}

impl Load {
    fn request(&self, method: Method, number: u64) -> Result<Request<Full<Bytes>>, String> {
        let (name, params, target_name) = match method {
            Method::Complete => {
                let tuple = self.tuple(number / QUESTIONS);
                let params = question(&tuple, number % QUESTIONS, self.with_context);
                ("completion/complete", params, None)
            }
            Method::Read => {
                let uri = self.tuple(number).uri();
                ("resources/read", json!({ "uri": uri }), Some(uri))
            }
        };
        let mut request = Request::post("/mcp")
            .header(HOST, self.target.to_string())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", name);
        if let Some(uri) = target_name {
            request = request.header("mcp-name", uri);
        }
        request
            .body(Full::new(Bytes::from(message(number, name, params))))
            .map_err(|error| format!("request {number}: {error}"))
    }

    /// The record that a person looks for.
    fn tuple(&self, person: u64) -> Tuple {
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        let at = Random::of(self.seed ^ 1, person).below(count);
        self.tuples.tuple(at as u64)
    }
}

/// A person's question of that number: the variables in turn, each from nothing typed on.
fn question(tuple: &Tuple, number: u64, with_context: bool) -> Value {
    let mut step = usize::try_from(number).unwrap_or(0);
    let mut chosen = serde_json::Map::new();
    for (variable, typed_max) in TYPED {
        let value = match variable {
            "team" => &tuple.team,
            "year" => &tuple.year,
            _ => &tuple.name,
        };
        if step > typed_max {
            step -= typed_max + 1;
            chosen.insert(variable.to_owned(), json!(value));
            continue;
        }
        let typed: String = value.chars().take(step).collect();
        let mut params = json!({
            "ref": { "type": "ref/resource", "uri": TEMPLATE },
            "argument": { "name": variable, "value": typed },
        });
        if with_context {
            set(&mut params, "context", json!({ "arguments": chosen }));
        }
        return params;
    }
    Value::Null
}

fn message(number: u64, method: &str, mut params: Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "pressmark-loadtest", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    set(&mut params, "_meta", meta);
    json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }).to_string()
}

impl Measured {
    fn new() -> Result<Measured, String> {
        let latency_us = Histogram::new_with_max(LATENCY_US_MAX, 3)
            .map_err(|error| format!("the histogram: {error}"))?;
        Ok(Measured { latency_us, failed: 0, server: Duration::ZERO })
    }

    fn add(&mut self, other: &Measured) -> Result<(), String> {
        self.failed += other.failed;
        self.server += other.server;
        self.latency_us.add(&other.latency_us).map_err(|error| format!("the histogram: {error}"))
    }

    /// Processor time of the server a request, in microseconds.
    fn server_us(&self) -> f64 {
        self.server.as_secs_f64() * 1e6 / (self.latency_us.len().max(1) as f64)
    }
}

fn print(complete: &Measured, read: &Measured, with_server: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (name, measured) in [("complete", complete), ("read", read)] {
        let quantiles = QUANTILES
            .map(|(name, at)| format!("{name} {}", measured.latency_us.value_at_quantile(at)));
        writeln!(
            out,
            "{name:10}{} answers, {} failed, latency us  {}",
            measured.latency_us.len(),
            measured.failed,
            quantiles.join("  ")
        )?;
    }
    if with_server {
        let (complete, read) = (complete.server_us(), read.server_us());
        writeln!(
            out,
            "server cpu {complete:.2} us a completion, {read:.2} us a read: {:.2} times",
            complete / read
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_types_key_by_key_and_takes_what_is_chosen_along() {
        let tuple = Tuples::new(7, 30, false).tuple(11);
        let asked: Vec<Value> =
            (0..QUESTIONS).map(|number| question(&tuple, number, true)).collect();
        let typed = |params: &Value| params["argument"]["value"].as_str().unwrap().to_owned();
        let first = |text: &str, count: usize| text.chars().take(count).collect::<String>();
        assert_eq!(typed(&asked[0]), "");
        assert_eq!(typed(&asked[3]), first(&tuple.team, 3));
        assert_eq!(asked[4]["argument"]["name"], "year");
        assert_eq!(asked[4]["context"]["arguments"], json!({ "team": tuple.team }));
        let last = asked.last().unwrap();
        assert_eq!(typed(last), first(&tuple.name, 6));
        assert_eq!(last["context"]["arguments"], json!({ "team": tuple.team, "year": tuple.year }));
        assert!(question(&tuple, 13, false).get("context").is_none());
    }
}
