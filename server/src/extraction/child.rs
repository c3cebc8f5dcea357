//! The child that reads formats: `pressmark extract-documents`, started when the first document needs it and kept for the next ones.
//!
//! Whatever a parser does to it costs one document its text: it may panic, run out of memory or stack, or never end. A child
//! that dies is replaced by a new one.

use std::io::{self, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pressmark_index::full_text::extract::Stop;
use rustix::process::{Resource, Rlimit, Signal, getppid, setrlimit};

use super::frame::{self, Request};
use super::readers::{self, Contents, ExtractFault, Extracted, Format};
use super::running::{Running, Woken};

/// The subcommand of the child.
pub(crate) const SUBCOMMAND: &str = "extract-documents";

/// How long one document may take. A PDF stops before, between two pages, and gives what it has.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The memory of the child: the document, what it inflates to, and its text.
const MEMORY_BYTES_MAX: u64 = 512 << 20;

/// The memory of the child for a PDF, whose reader keeps all objects.
const PDF_MEMORY_BYTES_MAX: u64 = 1 << 30;

const STACK_BYTES_MAX: u64 = 8 << 20;

/// A child that keeps more than this between two documents ends, and the next document gets a new one.
const IDLE_MEMORY_BYTES_MAX: u64 = 128 << 20;

/// Only documents of at least this size are worth a look at the memory.
const LARGE_BYTES: usize = 256 << 10;

/// How often a child looks whether its parent is there.
const PARENT_INTERVAL: Duration = Duration::from_secs(2);

/// A document is given to so many children that somebody else ends.
const INTERRUPTIONS_MAX: usize = 3;

/// The child, as the server sees it.
#[derive(Debug)]
pub(super) struct Child {
    program: PathBuf,
    running: Mutex<Option<Running>>,
}

/// Why there is no answer.
enum Lost {
    /// The child ended, or answered nonsense.
    Died(Option<ExitStatus>),
    /// There can be no answer.
    Fault(ExtractFault),
}

// === impl Child ===

impl Child {
    pub(super) fn new(program: PathBuf) -> Self {
        Self { program, running: Mutex::new(None) }
    }

    /// Has the child read contents.
    pub(super) fn read(
        &self,
        mime_type: &str,
        contents: Contents<'_>,
        stop: &Stop,
    ) -> Result<Extracted<'static>, ExtractFault> {
        let mut kept = self.running.lock();
        let mut interruptions = 0;
        loop {
            let earlier = kept.take();
            let is_fresh = earlier.is_none();
            let mut running = match earlier {
                Some(running) => running,
                None => self.start()?,
            };
            match ask(&mut running, mime_type, contents, stop) {
                Ok(answer) => {
                    *kept = Some(running);
                    return answer;
                }
                Err(Lost::Fault(fault)) => return Err(fault),
                // One that was there before may have ended for other reasons than this document.
                Err(Lost::Died(_)) if !is_fresh => {}
                Err(Lost::Died(status))
                    if is_interruption(status) && interruptions < INTERRUPTIONS_MAX =>
                {
                    interruptions += 1;
                }
                Err(Lost::Died(_)) => return Err(ExtractFault::Died),
            }
            drop(running);
        }
    }

    fn start(&self) -> Result<Running, ExtractFault> {
        let mut command = Command::new(&self.program);
        // Memory is taken as it is needed, or the bound would count what is only set aside.
        command.arg(SUBCOMMAND).env("MIMALLOC_ARENA_EAGER_COMMIT", "0").current_dir("/");
        Running::start(&mut command).map_err(|error| {
            ExtractFault::Command(format!("{} {SUBCOMMAND}: {error}", self.program.display()))
        })
    }
}

/// Signals by which operators and service managers end processes.
fn is_interruption(status: Option<ExitStatus>) -> bool {
    let signals = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
    let signal = status.and_then(|status| status.signal());
    signal.is_some_and(|signal| signals.iter().any(|known| known.as_raw() == signal))
}

/// One request and its answer.
fn ask(
    running: &mut Running,
    mime_type: &str,
    contents: Contents<'_>,
    stop: &Stop,
) -> Result<Result<Extracted<'static>, ExtractFault>, Lost> {
    let failed = |error: io::Error| {
        Lost::Fault(ExtractFault::Command(format!("the process that reads: {error}")))
    };
    let head = frame::request_head(mime_type, contents);
    let body = match contents {
        Contents::Text(text) => text.as_bytes(),
        Contents::Blob(bytes) => bytes,
    };
    let deadline = Instant::now() + TIMEOUT;
    let mut answer = Vec::new();
    let (mut head, mut body) = (running.write(&head).to_vec(), body);
    while !frame::is_whole(&answer) {
        if head.is_empty() {
            body = running.write(body);
        } else {
            head = running.write(&head).to_vec();
        }
        let unwritten = if head.is_empty() { body } else { &head };
        let woken = running.wait(unwritten, deadline, stop).map_err(failed)?;
        match woken {
            Woken::Ready | Woken::Ended => {}
            Woken::Late => return Err(Lost::Fault(ExtractFault::TimedOut(TIMEOUT))),
            Woken::Stopped => return Err(Lost::Fault(ExtractFault::Stopped)),
        }
        let goes_on = running.read(&mut answer, frame::ANSWER_BYTES_MAX).map_err(failed)?;
        if answer.len() as u64 > frame::ANSWER_BYTES_MAX {
            return Err(Lost::Died(None));
        }
        if !frame::is_whole(&answer) && (woken == Woken::Ended || !goes_on) {
            return Err(Lost::Died(running.status()));
        }
    }
    frame::parse_answer(&answer).ok_or(Lost::Died(None))
}

/// What the child does: reads requests from stdin and writes answers to stdout until there are no more.
///
/// # Errors
/// When its bounds cannot be set, or the pipes fail.
pub(crate) fn run() -> io::Result<()> {
    bound_process()?;
    end_with_parent()?;
    std::panic::set_hook(Box::new(|_| {}));
    let mut input = BufReader::new(io::stdin().lock());
    let mut output = io::stdout().lock();
    while let Some(request) = Request::read(&mut input)? {
        let format = Format::of(&readers::essence(&request.mime_type));
        bound_memory(if format == Format::Pdf { PDF_MEMORY_BYTES_MAX } else { MEMORY_BYTES_MAX })?;
        let answer = frame::answer(&readers::read(&request.mime_type, request.contents()));
        output.write_all(&answer)?;
        output.flush()?;
        let is_light = matches!(format, Format::Html | Format::Markdown | Format::Drawing)
            && request.len() < LARGE_BYTES;
        drop((answer, request));
        if !is_light && resident_bytes().is_none_or(|bytes| bytes > IDLE_MEMORY_BYTES_MAX) {
            break;
        }
    }
    Ok(())
}

fn bound_process() -> io::Result<()> {
    for (resource, most) in [(Resource::Stack, STACK_BYTES_MAX), (Resource::Core, 0)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    bound_memory(MEMORY_BYTES_MAX)
}

fn bound_memory(bytes: u64) -> io::Result<()> {
    let limit = Rlimit { current: Some(bytes), maximum: Some(PDF_MEMORY_BYTES_MAX) };
    Ok(setrlimit(Resource::Data, limit)?)
}

/// A child whose parent was killed while it reads would read on.
fn end_with_parent() -> io::Result<()> {
    let parent = getppid();
    let watch = move || {
        while getppid() == parent {
            std::thread::sleep(PARENT_INTERVAL);
        }
        std::process::exit(1);
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(watch).map(drop)
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
