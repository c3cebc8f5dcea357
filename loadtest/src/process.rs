//! Processor time and memory of a process, as Linux tells it (proc_pid_stat(5)).

use std::time::Duration;

/// `USER_HZ`: the unit of processor times under `/proc`, the same on every Linux that we build for.
const TICKS_PER_SECOND: u32 = 100;

/// What a process has used up to now, or between two points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    /// Memory in use now.
    pub(crate) resident_bytes: u64,
}

impl Usage {
    pub(crate) fn of(pid: u32) -> Result<Usage, String> {
        Usage::at(&pid.to_string())
    }

    pub(crate) fn of_this_process() -> Result<Usage, String> {
        Usage::at("self")
    }

    fn at(process: &str) -> Result<Usage, String> {
        let read = |name: &str| {
            let path = format!("/proc/{process}/{name}");
            std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
        };
        parse(&read("stat")?, &read("status")?)
            .ok_or_else(|| format!("/proc/{process}: not in the form of proc_pid_stat(5)"))
    }

    /// What was used between an earlier point and this one.
    pub(crate) fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            resident_bytes: self.resident_bytes,
        }
    }
}

fn parse(stat: &str, status: &str) -> Option<Usage> {
    // The name before it may hold anything, brackets and spaces too.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut times = after_name.split_ascii_whitespace().skip(11).map(str::parse::<u32>);
    let mut time = || Some(Duration::from_secs(1) * times.next()?.ok()? / TICKS_PER_SECOND);
    let (user, system) = (time()?, time()?);
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = resident.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Usage { user, system, resident_bytes: kib * 1024 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_after_the_name() {
        let stat = "42 (a b) c) S 1 42 42 0 -1 4194304 0 0 0 0 150 25 0 0 20 0 3 0 99";
        let usage = parse(stat, "Name:\ta\nVmRSS:\t    2048 kB\n").unwrap();
        assert_eq!(usage.user, Duration::from_millis(1_500));
        assert_eq!(usage.system, Duration::from_millis(250));
        assert_eq!(usage.resident_bytes, 2 << 20);
        assert_eq!(parse("42 (a", ""), None);
    }
}
