//! `read`: asks one server for resources over keep-alive connections and reports how it did.
//!
//! Without a rate it is a closed loop: each connection sends when its last answer has come, which
//! measures capacity but hides waiting, since a slow server is asked less. With a rate, requests are
//! due at fixed times whatever the server does, and one that had to wait for a free connection counts
//! from when it was due. That avoids what Gil Tene named coordinated omission.

mod connection;
pub(crate) mod pick;
mod report;
mod schedule;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::message::{Era, Messages};
use crate::process::Usage;
pub(crate) use pick::Picker;
use report::Report;
use schedule::Schedule;

/// The most connections at a time.
const CONNECTIONS_MAX: usize = 4_096;
/// The longest measurement.
const SECONDS_MAX: u64 = 3_600;
/// Turns the seed into that of the warm-up. With the same one the measurement would ask again for what the warm-up has
/// just brought into the server's caches, in the same order, and rare documents would seem to be cached.
const OF_WARM_UP: u64 = 0x5741_524d;

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// The server; a loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7411")]
    target: SocketAddr,
    /// Path of the MCP endpoint
    #[arg(long, default_value = "/mcp")]
    path: String,
    /// File with the URIs to ask for, one a line
    #[arg(long, value_name = "FILE")]
    uris: PathBuf,
    /// Ask for the URI of rank r with a weight of 1/r^S, in the file's order; without it all alike
    #[arg(long, value_name = "S")]
    zipf: Option<f64>,
    /// How requests are written
    #[arg(long, value_enum, default_value_t = Era::Modern)]
    era: Era,
    /// Keep-alive connections
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Requests a second, due at fixed times; without it each connection asks as fast as it is answered
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// How long to measure
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How long to ask before that
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    warm_up: u64,
    /// End after this many requests even when time is left
    #[arg(long, value_name = "COUNT", default_value_t = 100_000_000)]
    requests_max: u64,
    /// The same seed asks for the same URIs
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Process id of the server, to report what processor time a request costs it
    #[arg(long, value_name = "PID")]
    server_pid: Option<u32>,
}

/// Fails, with exit code 1, when a request did.
pub(crate) fn run(args: &ReadArgs) -> Result<ExitCode, String> {
    check(args)?;
    let uris = std::fs::read_to_string(&args.uris)
        .map_err(|error| format!("{}: {error}", args.uris.display()))?;
    let uris: Vec<Box<str>> = uris.lines().filter(|line| !line.is_empty()).map(Box::from).collect();
    if uris.is_empty() {
        return Err(format!("{}: there is no URI in it", args.uris.display()));
    }
    let picker = Picker::new(uris.len(), args.zipf);
    let messages = Messages::new(args.target, &args.path, args.era)?;
    let load = Arc::new(Load { target: args.target, uris, picker, messages });
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| format!("the runtime: {error}"))?;
    let report = runtime.block_on(measure(&load, args))?;
    report.print().map_err(|error| format!("stdout: {error}"))?;
    Ok(if report.failed() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What all connections share.
pub(crate) struct Load {
    target: SocketAddr,
    uris: Vec<Box<str>>,
    picker: Picker,
    messages: Messages,
}

async fn measure(load: &Arc<Load>, args: &ReadArgs) -> Result<Report, String> {
    if args.warm_up > 0 {
        let schedule = Schedule::new(args.rate, Duration::from_secs(args.warm_up), u64::MAX);
        connection::run_all(load, schedule, args.connections, args.seed ^ OF_WARM_UP).await?;
    }
    let server = |pid: Option<u32>| pid.map(Usage::of).transpose();
    let (server_before, client_before) = (server(args.server_pid)?, Usage::of_this_process()?);
    let schedule = Schedule::new(args.rate, Duration::from_secs(args.seconds), args.requests_max);
    let begun = tokio::time::Instant::now();
    let measured = connection::run_all(load, schedule, args.connections, args.seed).await?;
    let took = begun.elapsed();
    let client = Usage::of_this_process()?.since(&client_before);
    let server = match (server(args.server_pid)?, server_before) {
        (Some(after), Some(before)) => Some(after.since(&before)),
        _ => None,
    };
    Ok(Report { measured, took, rate: args.rate, client, server })
}

fn check(args: &ReadArgs) -> Result<(), String> {
    crate::loopback(args.target)?;
    if args.connections == 0 || args.connections > CONNECTIONS_MAX {
        return Err(format!("--connections is 1 to {CONNECTIONS_MAX}, not {}", args.connections));
    }
    if args.seconds == 0 || args.seconds > SECONDS_MAX || args.warm_up > SECONDS_MAX {
        return Err(format!("--seconds is 1 to {SECONDS_MAX}, --warm-up at most that"));
    }
    if args.rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
        return Err("--rate is a number of requests a second above zero".to_owned());
    }
    if args.zipf.is_some_and(|exponent| !(0.0..=10.0).contains(&exponent)) {
        return Err("--zipf is an exponent from 0 to 10; 1 is usual".to_owned());
    }
    Ok(())
}
