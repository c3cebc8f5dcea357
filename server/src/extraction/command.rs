//! External commands: a document on stdin, its text on stdout, within bounds.
//!
//! No shell is between. The command is a process group of its own, which is killed as a whole when its time is over,
//! when it says too much, and when it has ended and something of it goes on.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::ExtractFault;

/// A command that turns documents into text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractCommand {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// The most bytes that it may write.
    pub output_bytes_max: u64,
}

const CHUNK_BYTES: usize = 64 * 1024;

// === impl ExtractCommand ===

impl ExtractCommand {
    /// Runs the command on a document.
    pub(super) fn run(&self, input: &[u8]) -> Result<Vec<u8>, ExtractFault> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let child = command.spawn().map_err(|error| self.failed(&error))?;
        let mut running = Running::new(child).map_err(|error| self.failed(&error))?;
        let output = running.talk(self, input);
        let ended = running.end();
        let output = output?;
        match ended {
            Ok(status) if status.success() => Ok(output),
            Ok(status) => Err(ExtractFault::Command(format!(
                "{} ended with {status}",
                self.program.display()
            ))),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn failed(&self, error: &std::io::Error) -> ExtractFault {
        ExtractFault::Command(format!("{}: {error}", self.program.display()))
    }
}

/// A command that runs. Dropping it kills it.
struct Running {
    child: Child,
    group: Pid,
    /// Readable when the child has ended.
    ended: OwnedFd,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
}

// === impl Running ===

impl Running {
    fn new(mut child: Child) -> std::io::Result<Self> {
        let group = Pid::from_child(&child);
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let opened = pidfd_open(group, PidfdFlags::empty()).map_err(std::io::Error::from);
        let opened = opened.and_then(|ended| {
            for pipe in stdin.iter().map(AsFd::as_fd).chain(stdout.iter().map(AsFd::as_fd)) {
                rustix::io::ioctl_fionbio(pipe, true)?;
            }
            Ok(ended)
        });
        match opened {
            Ok(ended) => Ok(Self { child, group, ended, stdin, stdout }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Writes the input and reads the output until both the output and the child have ended.
    fn talk(&mut self, bounds: &ExtractCommand, input: &[u8]) -> Result<Vec<u8>, ExtractFault> {
        let deadline = Instant::now() + bounds.timeout;
        let mut output = Vec::new();
        let mut unwritten = input;
        loop {
            let has_ended = self.wait(deadline).map_err(|error| bounds.failed(&error))?;
            let Some(has_ended) = has_ended else {
                return Err(ExtractFault::TimedOut(bounds.timeout));
            };
            unwritten = self.write(unwritten);
            self.read(&mut output).map_err(|error| bounds.failed(&error))?;
            if output.len() as u64 > bounds.output_bytes_max {
                return Err(ExtractFault::TooLarge);
            }
            // Something that the child has started may hold the pipe open: nobody waits for that.
            if has_ended {
                return Ok(output);
            }
            if self.stdout.is_none() {
                self.stdin = None;
            }
        }
    }

    /// Waits until there is something to do; says whether the child has ended. `None`: the time is over.
    fn wait(&self, deadline: Instant) -> std::io::Result<Option<bool>> {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(std::io::Error::other)?;
        let mut places = vec![PollFd::new(&self.ended, PollFlags::IN)];
        places.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        places.extend(self.stdin.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        match poll(&mut places, Some(&left)) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(places.first().is_some_and(|ended| !ended.revents().is_empty()))),
            Err(rustix::io::Errno::INTR) => Ok(Some(false)),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes what the pipe takes. A command may end without reading everything: its output counts.
    fn write<'a>(&mut self, unwritten: &'a [u8]) -> &'a [u8] {
        let Some(pipe) = &mut self.stdin else {
            return unwritten;
        };
        let chunk = unwritten.get(..CHUNK_BYTES).unwrap_or(unwritten);
        let written = match pipe.write(chunk) {
            Ok(written) => written,
            Err(error) if is_not_yet(&error) => return unwritten,
            Err(_) => unwritten.len(),
        };
        let rest = unwritten.get(written..).unwrap_or_default();
        if rest.is_empty() {
            self.stdin = None;
        }
        rest
    }

    /// Reads what is there.
    fn read(&mut self, output: &mut Vec<u8>) -> std::io::Result<()> {
        let Some(pipe) = &mut self.stdout else {
            return Ok(());
        };
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => {
                    self.stdout = None;
                    return Ok(());
                }
                Ok(count) => {
                    output.extend_from_slice(chunk.get(..count).unwrap_or_default());
                    // The bounds are looked at between chunks.
                    if count < CHUNK_BYTES {
                        return Ok(());
                    }
                }
                Err(error) if is_not_yet(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn end(mut self) -> std::io::Result<std::process::ExitStatus> {
        self.kill();
        self.child.wait()
    }

    /// Ends what is left of the group. The child has not been waited for, so that nobody else can have its number.
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

fn is_not_yet(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
