//! Figures of the process, as Prometheus' clients name them. What the system does not tell is left out.

use std::fmt::Error;
use std::fs;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};
use rustix::process::{Resource, getrlimit};

/// Reads the figures when they are asked for.
#[derive(Debug)]
pub(super) struct ProcessCollector;

/// What `/proc/self/stat` says (proc_pid_stat(5)).
struct Stat {
    cpu_seconds: f64,
    /// After the system's start.
    start_seconds: f64,
}

/// Of the times in it, on every system that we know: the kernel's own clock does not show there.
const TICKS_PER_SECOND: f64 = 100.0;

/// The place of a field behind the program's name, which ends with the last bracket: that of field 3 is 0.
const UTIME: usize = 11;
const STIME: usize = 12;
const START_TIME: usize = 19;

/// Lines of `/proc/self/status` (proc_pid_status(5)): bytes are given in KiB.
const STATUS: [(&str, &str, &str, u64); 3] = [
    ("Threads:", "process_threads", "Threads", 1),
    ("VmSize:", "process_virtual_memory_bytes", "Virtual memory in bytes", 1024),
    ("VmRSS:", "process_resident_memory_bytes", "Resident memory in bytes", 1024),
];

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        if let Some(stat) = stat() {
            let cpu = ConstCounter::new(stat.cpu_seconds);
            write(&mut encoder, "process_cpu_seconds", "Processor time in seconds", &cpu)?;
            if let Some(boot) = boot_time() {
                let start = ConstGauge::new(boot + stat.start_seconds);
                let help = "Start of the process in seconds since 1970";
                write(&mut encoder, "process_start_time_seconds", help, &start)?;
            }
        }
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        for (line, name, help, unit) in STATUS {
            let value = status.lines().find_map(|found| {
                found.strip_prefix(line)?.split_ascii_whitespace().next()?.parse::<u64>().ok()
            });
            if let Some(value) = value {
                gauge(&mut encoder, name, help, value.saturating_mul(unit))?;
            }
        }
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            // One of them is the look at the folder.
            let open = u64::try_from(open.count().saturating_sub(1)).unwrap_or(u64::MAX);
            gauge(&mut encoder, "process_open_fds", "Open file descriptors", open)?;
        }
        match getrlimit(Resource::Nofile).current {
            Some(max) => gauge(&mut encoder, "process_max_fds", "Most open file descriptors", max),
            None => Ok(()),
        }
    }
}

fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: u64,
) -> Result<(), Error> {
    write(encoder, name, help, &ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn write(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metric: &impl EncodeMetric,
) -> Result<(), Error> {
    metric.encode(encoder.encode_descriptor(
        name,
        &format!("{help}."),
        None,
        metric.metric_type(),
    )?)
}

fn stat() -> Option<Stat> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let seconds =
        |at: usize| fields.get(at)?.parse::<f64>().ok().map(|ticks| ticks / TICKS_PER_SECOND);
    Some(Stat {
        cpu_seconds: seconds(UTIME)? + seconds(STIME)?,
        start_seconds: seconds(START_TIME)?,
    })
}

/// Seconds since 1970 at which the system started.
fn boot_time() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
}
