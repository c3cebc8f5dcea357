//! A follower's whole life: lines pass between its client and whoever answers, until the client or the process ends.

use std::{io, mem, pin::pin, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{Notify, mpsc},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    NotReached, Upstream,
    journal::{Asked, Journal},
    messages,
};
use crate::{
    error::{Code, Fault},
    shutdown::Shutdown,
    transport::line_reader::{Line, LineReader},
};

/// Bounds of a relay.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// The most bytes of a line of the client.
    pub line_bytes_max: usize,
    /// How long the first owner may take until it can be reached; after that the process is refused.
    pub start_patience: Duration,
    /// How long clients wait for an owner; after that their requests are answered with errors.
    pub patience: Duration,
    /// How long what is being answered when the shutdown begins may take.
    pub drain_timeout: Duration,
}

/// Why a relay ended.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The client's input or output broke.
    #[error("stdio: {0}")]
    Client(#[from] io::Error),
    /// There never was anybody who answers.
    #[error("{0}")]
    NeverReached(String),
}

/// Between two attempts to reach somebody, at first and at most.
const ATTEMPT_PAUSE_MIN: Duration = Duration::from_millis(10);
const ATTEMPT_PAUSE_MAX: Duration = Duration::from_millis(500);
/// The same after the store could not be opened.
const FAILED_PAUSE: Duration = Duration::from_secs(5);
/// Answers to lines that are not passed on, on their way to the client.
const REFUSALS_WAITING_MAX: usize = 4;

/// The lines of one client.
pub struct Relay<R, W> {
    pub(super) client: Client<R>,
    pub(super) out: Out<W>,
    pub(super) journal: Mutex<Journal>,
    /// The newest sequence number that the client can have heard of.
    pub(super) newest: Option<u64>,
    pub(super) config: RelayConfig,
    shutdown: Shutdown,
}

/// The client's input.
pub(super) struct Client<R> {
    lines: LineReader<R>,
    ended: bool,
}

/// The client's output.
pub(super) struct Out<W> {
    writer: W,
    line: Vec<u8>,
}

/// What ended the lines of one upstream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The client or this process.
    Client,
    /// Whoever answered.
    Upstream,
}

// === impl Relay ===

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Relay<R, W> {
    /// Between a client's lines and whoever will be reached.
    pub fn new(reader: R, writer: W, config: RelayConfig, shutdown: Shutdown) -> Self {
        let lines = LineReader::new(reader, config.line_bytes_max);
        Self {
            client: Client { lines, ended: false },
            out: Out { writer, line: Vec::new() },
            journal: Mutex::default(),
            newest: None,
            config,
            shutdown,
        }
    }

    /// Passes lines until the client's input ends or the shutdown begins; `reach` makes one attempt to find somebody
    /// who answers.
    ///
    /// # Errors
    /// The client's input or output broke, or nobody answered from the beginning.
    pub async fn run<A>(mut self, mut reach: A) -> Result<(), RelayError>
    where
        A: AsyncFnMut() -> Result<Upstream, NotReached>,
    {
        let shutdown = self.shutdown.clone();
        while let Some(upstream) = self.find(&mut reach).await? {
            let settled = tokio::select! {
                settled = self.settle(upstream) => settled?,
                // A line may be cut: nothing may come behind it.
                () = shutdown.begun() => return Ok(()),
            };
            let Some(upstream) = settled else { continue };
            match self.pass(upstream).await? {
                Ended::Client => break,
                Ended::Upstream => self.journal.lock().owner_ended(),
            }
        }
        self.end_listens().await?;
        Ok(())
    }

    /// Ends the listens that nobody else has ended.
    async fn end_listens(&mut self) -> io::Result<()> {
        let ends = self.journal.get_mut().end_listens();
        let sent = async {
            for message in ends {
                self.out.send(&message).await?;
            }
            Ok(())
        };
        match timeout(self.config.drain_timeout, sent).await {
            Ok(sent) => sent,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Attempts to reach somebody until that works; `None` when nobody waits for it any more.
    async fn find<A>(&mut self, reach: &mut A) -> Result<Option<Upstream>, RelayError>
    where
        A: AsyncFnMut() -> Result<Upstream, NotReached>,
    {
        let began = Instant::now();
        let mut pause = ATTEMPT_PAUSE_MIN;
        let mut gap = Gap { patience: began + self.config.patience, given_up: None };
        let mut last = String::new();
        // An owner that lets everybody in and answers nobody is not asked without a break.
        if self.newest.is_some() && self.during(sleep(pause), &mut gap, &last).await?.is_none() {
            return Ok(None);
        }
        loop {
            let Some(reached) = self.during(reach(), &mut gap, &last).await? else {
                return Ok(None);
            };
            let not_reached = match reached {
                Ok(upstream) => return Ok(Some(upstream)),
                Err(not_reached) => not_reached,
            };
            if last != not_reached.reason() {
                not_reached.reason().clone_into(&mut last);
                tracing::debug!("nobody answers: {last}");
            }
            let is_first = self.newest.is_none();
            match not_reached {
                NotReached::NotYet(_)
                    if is_first
                        && gap.given_up.is_none()
                        && began.elapsed() >= self.config.start_patience =>
                {
                    return Err(RelayError::NeverReached(last));
                }
                NotReached::Failed(_) if is_first => return Err(RelayError::NeverReached(last)),
                NotReached::Refused(_) => self.give_up(&mut gap, &last).await?,
                // Others may have more luck with the store meanwhile.
                NotReached::Failed(_) => pause = FAILED_PAUSE,
                NotReached::NotYet(_) => {}
            }
            if self.during(sleep(pause), &mut gap, &last).await?.is_none() {
                return Ok(None);
            }
            pause = (pause * 2).clamp(ATTEMPT_PAUSE_MIN, ATTEMPT_PAUSE_MAX);
        }
    }

    /// Looks after the client while something else is waited for; `None` when it or the process has ended meanwhile.
    async fn during<T>(
        &mut self,
        other: impl Future<Output = T>,
        gap: &mut Gap,
        reason: &str,
    ) -> Result<Option<T>, RelayError> {
        let mut other = pin!(other);
        let shutdown = self.shutdown.clone();
        loop {
            if self.client.ended && !self.journal.lock().is_waiting() {
                return Ok(None);
            }
            let may_read = !self.client.ended && !self.journal.lock().is_full();
            tokio::select! {
                done = &mut other => return Ok(Some(done)),
                () = shutdown.begun() => return Ok(None),
                () = sleep_until(gap.patience), if gap.given_up.is_none() => self.give_up(gap, reason).await?,
                line = self.client.lines.next(), if may_read => {
                    let Some(line) = line? else {
                        self.client.ended = true;
                        continue;
                    };
                    if let Some(reply) = noted_in_gap(line, &self.journal) {
                        self.out.send(&reply).await?;
                    }
                    if let Some(fault) = &gap.given_up {
                        refuse(&self.journal, &mut self.out, fault).await?;
                    }
                }
            }
        }
    }

    /// Tells the client that nobody answers; what it asks from now on is refused at once.
    async fn give_up(&mut self, gap: &mut Gap, reason: &str) -> io::Result<()> {
        if gap.given_up.is_none() {
            tracing::warn!("requests are refused until somebody answers: {reason}");
        }
        let fault = Fault::new(Code::Internal, reason.to_owned());
        refuse(&self.journal, &mut self.out, &fault).await?;
        gap.given_up = Some(fault);
        Ok(())
    }

    /// Passes lines until one side ends.
    async fn pass(&mut self, mut upstream: Upstream) -> io::Result<Ended> {
        let worn_out = self.journal.lock().worn_out();
        for id in worn_out {
            let fault = Fault::new(Code::Internal, "every process that had the request has ended");
            self.out.send(&fault.reply(Some(&id))).await?;
        }
        let Self { client, out, journal, config, shutdown, .. } = self;
        let room = Notify::new();
        upstream.settled();
        let Upstream { lines, writer, .. } = upstream;
        let (refusals, refused) = mpsc::channel(REFUSALS_WAITING_MAX);
        let up = Up { writer, journal, room: &room, refusals, shutdown };
        let mut up = pin!(up.pass(client));
        let mut down = pin!(pass_down(lines, out, journal, &room, refused));
        let up = tokio::select! {
            ended = &mut down => return ended.map(|()| Ended::Upstream),
            up = &mut up => up?,
        };
        // An answer that is being written to the client must not be cut: that half ends by itself.
        match up {
            Ended::Upstream => down.await.map(|()| Ended::Upstream),
            Ended::Client if shutdown.has_begun() => {
                match timeout(config.drain_timeout, down).await {
                    Ok(ended) => ended.map(|()| Ended::Client),
                    // A line may be cut: nothing may come behind it.
                    Err(_) => Err(io::ErrorKind::TimedOut.into()),
                }
            }
            Ended::Client => {
                let mut waiting = usize::MAX;
                loop {
                    if let Ok(ended) = timeout(config.patience, down.as_mut()).await {
                        ended?;
                        break;
                    }
                    let before = mem::replace(&mut waiting, journal.lock().waiting());
                    if waiting == 0 || waiting == before {
                        // The owner hangs, or the client does not read: nobody else looks after this process.
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                // An owner that ended before it had answered everything has a successor.
                Ok(if journal.lock().is_waiting() { Ended::Upstream } else { Ended::Client })
            }
        }
    }
}

/// The time without anybody who answers.
struct Gap {
    /// When the client has waited long enough.
    patience: Instant,
    /// What it is told since then.
    given_up: Option<Fault>,
}

/// Notes a line that nobody can be sent now; requests are sent when somebody answers. Gives the answer to what is none.
fn noted_in_gap(line: Line<'_>, journal: &Mutex<Journal>) -> Option<Vec<u8>> {
    let Line::Whole(line) = line else { return Some(too_long().reply(None)) };
    if line.trim_ascii().is_empty() {
        return None;
    }
    let asked = journal.lock().asked(line);
    (asked == Asked::Unreadable).then(|| Fault::parse_error().reply(None))
}

fn too_long() -> Fault {
    Fault::invalid_request("the line is longer than this server takes")
}

async fn refuse<W: AsyncWrite + Unpin>(
    journal: &Mutex<Journal>,
    out: &mut Out<W>,
    fault: &Fault,
) -> io::Result<()> {
    let waiting = journal.lock().give_up();
    for id in waiting {
        out.send(&fault.reply(Some(&id))).await?;
    }
    Ok(())
}

/// The way from the client to the upstream.
struct Up<'a, W> {
    writer: W,
    journal: &'a Mutex<Journal>,
    /// Told when something was answered.
    room: &'a Notify,
    /// Answers to what is not passed on.
    refusals: mpsc::Sender<Vec<u8>>,
    shutdown: &'a Shutdown,
}

// === impl Up ===

impl<W: AsyncWrite + Unpin> Up<'_, W> {
    /// Passes first what waits for an answer, then what comes. Ends with the client's input, whose end is passed on, or
    /// with the upstream.
    async fn pass<R: AsyncRead + Unpin>(mut self, client: &mut Client<R>) -> io::Result<Ended> {
        let mut outgoing = self.journal.lock().unanswered();
        loop {
            if !outgoing.is_empty() {
                let sent = async {
                    self.writer.write_all(&outgoing).await?;
                    self.writer.flush().await
                };
                let sent = tokio::select! {
                    sent = sent => sent,
                    () = self.shutdown.begun() => return Ok(Ended::Client),
                };
                if sent.is_err() {
                    return Ok(Ended::Upstream);
                }
                outgoing.clear();
            }
            let line = async {
                while self.journal.lock().is_full() {
                    self.room.notified().await;
                }
                if client.ended { Ok(None) } else { client.lines.next().await }
            };
            let line = tokio::select! {
                line = line => line?,
                () = self.shutdown.begun() => None,
            };
            match line {
                Some(Line::Whole(line)) => {
                    self.journal.lock().asked(line);
                    outgoing.extend_from_slice(line);
                    outgoing.push(b'\n');
                }
                // Closed only when the other half has ended.
                Some(Line::TooLong) => drop(self.refusals.send(too_long().reply(None)).await),
                None => {
                    client.ended |= !self.shutdown.has_begun();
                    // It may be gone already, which the other half sees.
                    let _ = self.writer.shutdown().await;
                    return Ok(Ended::Client);
                }
            }
        }
    }
}

/// From the upstream to the client, until the upstream ends. Never dropped while it writes, except at the process's end.
async fn pass_down<R, W>(
    mut lines: LineReader<R>,
    out: &mut Out<W>,
    journal: &Mutex<Journal>,
    room: &Notify,
    mut refused: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            Some(refusal) = refused.recv() => {
                out.send(&refusal).await?;
                continue;
            }
        };
        let line = match line {
            Ok(Some(Line::Whole(line))) => line,
            Ok(Some(Line::TooLong)) => {
                tracing::error!("an answer was longer than any that this program passes on");
                continue;
            }
            // An upstream that breaks has ended.
            Ok(None) | Err(_) => return Ok(()),
        };
        // The last line of an owner that was killed may be a part of one: its request was not answered.
        let Some(heard) = messages::heard(line) else { continue };
        journal.lock().heard(&heard);
        room.notify_one();
        out.send(line).await?;
    }
}

// === impl Out ===

impl<W: AsyncWrite + Unpin> Out<W> {
    /// Writes a message as a line.
    pub(super) async fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let mut line = mem::take(&mut self.line);
        line.clear();
        line.extend_from_slice(message);
        line.push(b'\n');
        self.writer.write_all(&line).await?;
        self.writer.flush().await?;
        // One large reply does not stay for ever.
        line.shrink_to(LINE_KEPT_BYTES);
        self.line = line;
        Ok(())
    }
}

/// What the buffer of a line keeps for the next one.
const LINE_KEPT_BYTES: usize = 64 * 1024;
