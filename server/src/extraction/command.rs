//! External commands: a document on stdin, its text on stdout, within bounds.
//!
//! No shell is between. The command is killed with all that it has started when its time is over, when it writes too much,
//! when the engine closes, and when it has ended and something of it goes on.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use pressmark_index::full_text::extract::Stop;

use super::readers::ExtractFault;
use super::running::{Running, Woken};

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

// === impl ExtractCommand ===

impl ExtractCommand {
    /// Runs the command on a document.
    pub(super) fn run(&self, input: &[u8], stop: &Stop) -> Result<Vec<u8>, ExtractFault> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        let mut running = Running::start(&mut command).map_err(|error| self.failed(&error))?;
        let output = self.talk(&mut running, input, stop);
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

    /// Writes the input and reads the output until both the output and the command have ended. A command may end without
    /// reading everything: its output counts.
    fn talk(
        &self,
        running: &mut Running,
        input: &[u8],
        stop: &Stop,
    ) -> Result<Vec<u8>, ExtractFault> {
        let deadline = Instant::now() + self.timeout;
        let mut output = Vec::new();
        let mut unwritten = input;
        loop {
            if unwritten.is_empty() {
                running.close_input();
            }
            let woken = running.wait(unwritten, deadline, stop);
            let woken = woken.map_err(|error| self.failed(&error))?;
            match woken {
                Woken::Stopped => return Err(ExtractFault::Stopped),
                Woken::Late => return Err(ExtractFault::CommandTimedOut(self.timeout)),
                Woken::Ready | Woken::Ended => {}
            }
            unwritten = running.write(unwritten);
            let read = running.read(&mut output, self.output_bytes_max);
            if !read.map_err(|error| self.failed(&error))? {
                running.close_input();
                unwritten = &[];
            }
            if output.len() as u64 > self.output_bytes_max {
                return Err(ExtractFault::CommandOutput(self.output_bytes_max));
            }
            // Something that the command has started may hold the pipe open: nobody waits for that.
            if woken == Woken::Ended {
                return Ok(output);
            }
        }
    }

    fn failed(&self, error: &std::io::Error) -> ExtractFault {
        ExtractFault::Command(format!("{}: {error}", self.program.display()))
    }
}
