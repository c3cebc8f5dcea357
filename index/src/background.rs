//! Who waits for whom where there are more threads than cores: those whose work can wait stand back behind those that
//! answer.

/// How much they do: readers have nine tenths of a core that both want.
const NICENESS: i32 = 10;

/// Has the calling thread, and those that it starts from now on, stand back behind others. Where that is not allowed they
/// work as others do.
pub fn stand_back() {
    let _ = rustix::process::nice(NICENESS);
    #[cfg(target_os = "linux")]
    linux::take_turns(linux::USUAL);
}

/// Has the calling thread, and those that it starts from now on, take short turns on a core and get them soon: one that
/// answers works for microseconds, and is not to wait for the end of the turn of one that stands back, which is as long as
/// the scheduler's tick (1 to 10 ms). Linux knows this since 6.12 (`sched_runtime` of sched_setattr(2), EEVDF); elsewhere
/// nothing changes.
pub fn take_short_turns() {
    #[cfg(target_os = "linux")]
    linux::take_turns(linux::SHORTEST);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::size_of;

    /// As long as those of other threads.
    pub(super) const USUAL: u64 = 0;
    /// The shortest that the kernel takes, in nanoseconds.
    pub(super) const SHORTEST: u64 = 100_000;

    #[expect(
        unsafe_code,
        reason = "no library calls this; an answering thread had to wait for over a millisecond 0.05 % of the times beside \
                  an ingest, and 0.3 % without"
    )]
    pub(super) fn take_turns(nanos: u64) {
        let mut now = libc::sched_attr {
            size: 0,
            sched_policy: 0,
            sched_flags: 0,
            sched_nice: 0,
            sched_priority: 0,
            sched_runtime: 0,
            sched_deadline: 0,
            sched_period: 0,
        };
        let size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or_default();
        let (this_thread, no_flags): (libc::pid_t, libc::c_uint) = (0, 0);
        // SAFETY: the kernel writes at most `size` bytes to `now`, which is of that size, plain numbers, and not shared.
        let known = unsafe {
            libc::syscall(libc::SYS_sched_getattr, this_thread, &raw mut now, size, no_flags)
        };
        // Whoever gave the process another policy has reasons.
        if known != 0 || i64::from(now.sched_policy) != i64::from(libc::SCHED_OTHER) {
            return;
        }
        let wanted = libc::sched_attr { size, sched_runtime: nanos, ..now };
        // SAFETY: the kernel reads `size` bytes of `wanted`, which is of that size and says it; it changes nothing but how
        // the calling thread is scheduled. What it refuses stays as it was.
        unsafe { libc::syscall(libc::SYS_sched_setattr, this_thread, &raw const wanted, no_flags) };
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn threads_that_take_short_turns_are_as_nice_as_before() {
        let nice = || rustix::process::nice(0).unwrap();
        std::thread::spawn(move || {
            stand_back();
            let before = nice();
            take_short_turns();
            assert_eq!(nice(), before);
        })
        .join()
        .unwrap();
    }
}
