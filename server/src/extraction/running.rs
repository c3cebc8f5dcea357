//! A child process that is talked to through pipes, within bounds of time.
//!
//! It is a process group of its own, which is killed as a whole when it is dropped.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pressmark_index::full_text::extract::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

const CHUNK_BYTES: usize = 64 * 1024;

/// How often somebody who waits looks whether to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Woken {
    /// There is something to read, or room to write.
    Ready,
    /// The process has ended; there may be something to read all the same.
    Ended,
    /// The time is over.
    Late,
    /// The engine closes.
    Stopped,
}

/// A process that runs. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    group: Pid,
    /// Readable when the child has ended.
    ended: OwnedFd,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    chunk: Vec<u8>,
}

// === impl Running ===

impl Running {
    /// Starts a command, whose standard error nobody reads.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let opened = pidfd_open(group, PidfdFlags::empty()).map_err(io::Error::from);
        let opened = opened.and_then(|ended| {
            for pipe in stdin.iter().map(AsFd::as_fd).chain(stdout.iter().map(AsFd::as_fd)) {
                rustix::io::ioctl_fionbio(pipe, true)?;
            }
            Ok(ended)
        });
        match opened {
            Ok(ended) => {
                Ok(Self { child, group, ended, stdin, stdout, chunk: vec![0; CHUNK_BYTES] })
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Waits until there is something to read, or room for `unwritten`, or nothing to wait for.
    pub(super) fn wait(
        &self,
        unwritten: &[u8],
        deadline: Instant,
        stop: &Stop,
    ) -> io::Result<Woken> {
        loop {
            if stop.is_asked() {
                return Ok(Woken::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Woken::Late);
            }
            let left = Timespec::try_from(left.min(STOP_INTERVAL)).map_err(io::Error::other)?;
            let mut places = vec![PollFd::new(&self.ended, PollFlags::IN)];
            places.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let stdin = self.stdin.as_ref().filter(|_| !unwritten.is_empty());
            places.extend(stdin.map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
            match poll(&mut places, Some(&left)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => {
                    let ended = places.first().is_some_and(|ended| !ended.revents().is_empty());
                    return Ok(if ended { Woken::Ended } else { Woken::Ready });
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Writes what the pipe takes; returns the rest. A process that reads no more is sent nothing more.
    pub(super) fn write<'a>(&mut self, mut unwritten: &'a [u8]) -> &'a [u8] {
        let Some(pipe) = &mut self.stdin else {
            return &[];
        };
        while !unwritten.is_empty() {
            match pipe.write(unwritten) {
                Ok(written) => unwritten = unwritten.get(written..).unwrap_or_default(),
                Err(error) if is_not_yet(&error) => break,
                Err(_) => {
                    self.stdin = None;
                    return &[];
                }
            }
        }
        unwritten
    }

    /// Tells the process that there is no more input.
    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Reads what is there, up to about `bytes_max` in all; false: there will be nothing more.
    pub(super) fn read(&mut self, output: &mut Vec<u8>, bytes_max: u64) -> io::Result<bool> {
        let Some(pipe) = &mut self.stdout else {
            return Ok(false);
        };
        while output.len() as u64 <= bytes_max {
            match pipe.read(&mut self.chunk) {
                Ok(0) => {
                    self.stdout = None;
                    return Ok(false);
                }
                Ok(count) => {
                    output.extend_from_slice(self.chunk.get(..count).unwrap_or_default());
                    if count < CHUNK_BYTES {
                        break;
                    }
                }
                Err(error) if is_not_yet(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// How the process ended, if it has.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends what is left of the group, and says how the process ended.
    pub(super) fn end(mut self) -> io::Result<ExitStatus> {
        self.kill();
        self.child.wait()
    }

    /// The child has not been waited for, so that nobody else can have its number.
    fn kill(&self) {
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

fn is_not_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
