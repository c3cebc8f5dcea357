//! `listen`: streams of notifications, one TCP connection each (or many on an HTTP/2 connection), and what they cost.
//!
//! It opens the streams, lets them be idle, changes a document that all of them watch, one that a single stream watches, and
//! then many at a rate, while some streams stall or are reset; after quiet it looks whether everyone was told of the last
//! change of everything. Documents are changed through `benches/examples/commit_server.rs`.

mod control;
mod http2;
mod metrics;
mod stream;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use clap::Args;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep};

use crate::process::Usage;
use crate::random::Random;
use crate::read::pick::Picker;
use control::Control;
use stream::Told;

#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    /// The server; a loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7411")]
    target: SocketAddr,
    /// Its control port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7413")]
    control: SocketAddr,
    /// Its process id
    #[arg(long, value_name = "PID")]
    server_pid: u32,
    /// Streams to hold open
    #[arg(long, default_value_t = 1_000)]
    streams: usize,
    /// Open them over HTTP/2, so many on a connection
    #[arg(long, value_name = "COUNT")]
    http2: Option<usize>,
    /// Documents that each watches besides the one that all watch, picked by rank
    #[arg(long, default_value_t = 0)]
    uris_each: usize,
    /// Documents that there are
    #[arg(long, default_value_t = 10_000)]
    uris: usize,
    /// The document of rank r is picked with a weight of 1/r^S
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    zipf: f64,
    /// Changes of the document that all watch
    #[arg(long, default_value_t = 20)]
    fanouts: u32,
    /// Changes of the document that one watches
    #[arg(long, default_value_t = 1_000)]
    solos: usize,
    /// Changes of the others, in a second
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// For how long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Streams that stall, leave and come back, or are reset, in each second of that
    #[arg(long, default_value_t = 0)]
    churn: usize,
    /// Times that all of it is done, in one server
    #[arg(long, default_value_t = 1)]
    rounds: usize,
}

const ALL: &str = "load://documents/all";
const SOLO: &str = "load://documents/solo";
/// Streams that are opened at a time.
const OPENING_MAX: usize = 64;
/// For how long a stream that stalls reads nothing.
const STALL: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(60);

struct Streams {
    told: Vec<Arc<Told>>,
    tasks: JoinSet<Result<(), String>>,
    handles: Vec<AbortHandle>,
}

pub(crate) fn now_micros() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn run(args: &ListenArgs) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(scenario(args))?;
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stdout, reason = "the report")]
fn say(line: &str) {
    println!("{line}");
}

async fn scenario(args: &ListenArgs) -> Result<(), String> {
    let mut control = Control::connect(args.control).await?;
    control.touch(ALL).await?;
    control.touch(SOLO).await?;
    let uris: Arc<Vec<String>> =
        Arc::new((0..args.uris).map(|n| format!("load://documents/{n}")).collect());
    let before = Usage::of(args.server_pid)?;
    for _ in 0..args.rounds {
        round(args, &uris, &mut control).await?;
        sleep(Duration::from_secs(5)).await;
        let after = Usage::of(args.server_pid)?;
        say(&format!(
            "all closed: {:.1} MB resident, {:.1} MB before the first stream; {}",
            after.resident_bytes as f64 / 1e6,
            before.resident_bytes as f64 / 1e6,
            metrics::gauges(args.target).await.unwrap_or_else(|error| error)
        ));
    }
    Ok(())
}

async fn round(
    args: &ListenArgs,
    uris: &Arc<Vec<String>>,
    control: &mut Control,
) -> Result<(), String> {
    let before = Usage::of(args.server_pid)?;
    let mut streams = open(args, uris).await?;
    sleep(Duration::from_secs(3)).await;
    let idle = Usage::of(args.server_pid)?;
    let bytes = idle.resident_bytes.saturating_sub(before.resident_bytes);
    say(&format!(
        "{} streams: {:.1} MB more resident ({:.1} MB in all), {} bytes a stream",
        args.streams,
        bytes as f64 / 1e6,
        idle.resident_bytes as f64 / 1e6,
        bytes / args.streams.max(1) as u64
    ));
    fan_out(args, &streams, control).await?;
    solo(args, &streams, control).await?;
    if args.rate > 0 {
        at_rate(args, &mut streams, uris).await?;
    }
    streams.tasks.abort_all();
    Ok(())
}

async fn open(args: &ListenArgs, uris: &[String]) -> Result<Streams, String> {
    let picker = Picker::new(uris.len(), Some(args.zipf));
    let mut streams = Streams { told: Vec::new(), tasks: JoinSet::new(), handles: Vec::new() };
    for number in 0..args.streams {
        let mut random = Random::of(3, number as u64);
        let mut watched = vec![ALL.to_owned()];
        watched.extend((number == 0).then(|| SOLO.to_owned()));
        for _ in 0..args.uris_each {
            watched.extend(uris.get(picker.pick(&mut random)).cloned());
        }
        streams.told.push(Told::new(watched));
    }
    let started = Instant::now();
    match args.http2 {
        Some(each) => http2::open(args.target, &streams.told, each, &mut streams.tasks).await?,
        None => {
            for (number, told) in streams.told.iter().enumerate() {
                if let Some(earlier) = number.checked_sub(OPENING_MAX) {
                    until(|| acknowledged(streams.told.get(earlier))).await?;
                }
                let listening = stream::listen(args.target, Arc::clone(told));
                streams.handles.push(streams.tasks.spawn(listening));
            }
        }
    }
    until(|| streams.told.iter().all(|told| acknowledged(Some(told)))).await?;
    say(&format!("{} streams opened in {:.1?}", args.streams, started.elapsed()));
    Ok(streams)
}

fn acknowledged(told: Option<&Arc<Told>>) -> bool {
    told.is_some_and(|told| told.acknowledged.load(Ordering::Relaxed) > 0)
}

async fn until(condition: impl Fn() -> bool) -> Result<(), String> {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > DEADLINE {
            return Err("a stream was not told within a minute".into());
        }
        sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

/// One document that everyone watches.
async fn fan_out(
    args: &ListenArgs,
    streams: &Streams,
    control: &mut Control,
) -> Result<(), String> {
    if args.fanouts == 0 {
        return Ok(());
    }
    let started = Usage::of(args.server_pid)?;
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    for _ in 0..args.fanouts {
        let touched = control.touch(ALL).await?;
        let told = |told: &Arc<Told>| told.last(ALL).is_some_and(|last| last >= touched.asked);
        until(|| streams.told.iter().all(told)).await?;
        let lags = streams.told.iter().filter_map(|told| told.last(ALL));
        let lags: Vec<_> = lags.map(|last| last.saturating_sub(touched.committed)).collect();
        firsts.extend(lags.iter().min().copied());
        lasts.extend(lags.iter().max().copied());
    }
    let used = Usage::of(args.server_pid)?.since(&started);
    let notifications = args.fanouts as f64 * args.streams as f64;
    firsts.sort_unstable();
    lasts.sort_unstable();
    say(&format!(
        "all watch one: the first told {} ms, the last {} ms after the commit (median), at most {} ms; \
         {:.1} us of processor time a notification (user {:.1}, system {:.1})",
        milliseconds(at(&firsts, 500)),
        milliseconds(at(&lasts, 500)),
        milliseconds(at(&lasts, 1_000)),
        (used.user + used.system).as_secs_f64() * 1e6 / notifications,
        used.user.as_secs_f64() * 1e6 / notifications,
        used.system.as_secs_f64() * 1e6 / notifications
    ));
    Ok(())
}

/// One document that one stream watches while the others are idle.
async fn solo(args: &ListenArgs, streams: &Streams, control: &mut Control) -> Result<(), String> {
    let Some(told) = streams.told.first().filter(|_| args.solos > 0) else { return Ok(()) };
    let mut lags = Vec::new();
    for _ in 0..args.solos {
        let touched = control.touch(SOLO).await?;
        until(|| told.last(SOLO).is_some_and(|last| last >= touched.asked)).await?;
        lags.push(told.last(SOLO).unwrap_or(u64::MAX).saturating_sub(touched.committed));
    }
    lags.sort_unstable();
    say(&format!(
        "one watches: told {} ms after the commit (median), p99 {} ms, at most {} ms",
        milliseconds(at(&lags, 500)),
        milliseconds(at(&lags, 990)),
        milliseconds(at(&lags, 1_000))
    ));
    Ok(())
}

/// Many documents at a rate, and what everyone was told in the end.
async fn at_rate(
    args: &ListenArgs,
    streams: &mut Streams,
    uris: &Arc<Vec<String>>,
) -> Result<(), String> {
    let started = Usage::of(args.server_pid)?;
    let told_before: u64 = streams.told.iter().map(|told| told.count.load(Ordering::Relaxed)).sum();
    let duration = Duration::from_secs(args.seconds);
    let committing = control::run_at_rate(args.control, uris, args.zipf, args.rate, duration);
    let (committed, churned) = tokio::join!(committing, churn(args, streams, duration));
    let (last, commits) = committed?;
    if args.churn > 0 {
        say(&churned);
    }
    let quiet = Instant::now();
    let settled = until(|| missing(&streams.told, &last) == 0).await;
    let used = Usage::of(args.server_pid)?.since(&started);
    let told: u64 = streams.told.iter().map(|told| told.count.load(Ordering::Relaxed)).sum();
    say(&format!(
        "{commits} commits in {} s: {} notifications read, {:.1} s of processor time, {:.1} MB resident; \
         after quiet of {:.1?} {} of the last changes were not told",
        args.seconds,
        told - told_before,
        (used.user + used.system).as_secs_f64(),
        used.resident_bytes as f64 / 1e6,
        quiet.elapsed(),
        missing(&streams.told, &last)
    ));
    settled
}

/// URIs of open streams that were not told after their last change.
fn missing(streams: &[Arc<Told>], last: &HashMap<String, u64>) -> usize {
    let open = streams.iter().filter(|told| !told.ended_with_result.load(Ordering::Relaxed));
    open.flat_map(|told| &told.uris)
        .filter(|(uri, told)| {
            last.get(&***uri).is_some_and(|last| told.load(Ordering::Relaxed) < *last)
        })
        .count()
}

/// Each second some streams stall, others leave and come back a second later, and others are reset by clients that come for
/// a moment. Says how many.
async fn churn(args: &ListenArgs, streams: &mut Streams, duration: Duration) -> String {
    let ends = Instant::now() + duration;
    let mut random = Random::of(5, 5);
    let (mut stalls, mut departures, mut resets) = (0_usize, 0_usize, 0_usize);
    let mut stalled: Vec<(Instant, Arc<Told>)> = Vec::new();
    let mut away = Vec::new();
    let mut comers = JoinSet::new();
    while args.churn > 0 && Instant::now() < ends {
        for number in std::mem::take(&mut away) {
            come_back(args, streams, number);
        }
        for _ in 0..args.churn {
            let number = random.below(streams.told.len());
            let Some(told) = streams.told.get(number) else { continue };
            match random.below(3) {
                0 => {
                    stalls += 1;
                    told.stalled.store(true, Ordering::Relaxed);
                    stalled.push((Instant::now() + STALL, Arc::clone(told)));
                }
                1 => {
                    let Some(handle) = streams.handles.get(number) else { continue };
                    departures += 1;
                    handle.abort();
                    away.push(number);
                }
                _ => {
                    resets += 1;
                    let (target, told) = (args.target, Arc::clone(told));
                    comers.spawn(async move { stream::reset(target, &told).await });
                }
            }
        }
        sleep(Duration::from_secs(1)).await;
        while comers.try_join_next().is_some() {}
        stalled.retain(|(until, told)| {
            let waits = *until > Instant::now();
            told.stalled.fetch_and(waits, Ordering::Relaxed);
            waits
        });
    }
    stalled.iter().for_each(|(_, told)| told.stalled.store(false, Ordering::Relaxed));
    for number in away {
        come_back(args, streams, number);
    }
    format!("{stalls} stalls of {STALL:?}, {departures} left and came back, {resets} resets")
}

fn come_back(args: &ListenArgs, streams: &mut Streams, number: usize) {
    let Some(told) = streams.told.get(number) else { return };
    let listening = stream::listen(args.target, Arc::clone(told));
    let handle = streams.tasks.spawn(listening);
    if let Some(place) = streams.handles.get_mut(number) {
        *place = handle;
    }
}

/// The value that so many of a thousand do not exceed.
fn at(sorted: &[u64], per_mille: usize) -> u64 {
    let place = sorted.len().saturating_sub(1) * per_mille / 1_000;
    sorted.get(place).copied().unwrap_or_default()
}

fn milliseconds(micros: u64) -> String {
    format!("{:.2}", micros as f64 / 1000.0)
}
