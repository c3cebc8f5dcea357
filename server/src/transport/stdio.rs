//! Newline-delimited messages over a byte stream: a process's stdin and stdout, or a socket.
//!
//! A line is read, and answered at once where memory can; work for the disk runs beside it, a
//! bounded amount at a time, and is answered as it finishes. When no more may run, or the client
//! does not take its replies, reading stops: the client's own pipe fills, which is its bound.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{AbortHandle, JoinSet},
    time::{Instant, timeout},
};

use super::line_reader::{Line, LineReader};
use crate::{
    engine_pool::EnginePool,
    error::Fault,
    json_rpc::write::escape_line_separators,
    limits::{ByteBudget, ReservedBytes},
    mcp::{
        Answer, Method, RequestKey, Step, Work,
        protocol::{Channel, Revision},
    },
    metrics::{Finished, Metrics, Transport},
    shutdown::Shutdown,
    subscriptions::{Ended, Listen, NotificationStream, Subscription, Subscriptions},
    tools::call::{ClientGone, Told, ToolCall},
};

mod notifier;

/// Bounds of one stream of lines.
#[derive(Debug, Clone)]
pub struct StdioConfig {
    /// The most bytes of a line.
    pub line_bytes_max: usize,
    /// The most requests that are answered at a time.
    pub requests_in_flight_max: usize,
    /// How long a request may take from its line to its reply.
    pub request_timeout: Duration,
    /// The most bytes of replies that the client has not taken; work that may need more waits.
    pub unsent_reply_bytes_max: usize,
    /// How long what is being answered when the shutdown begins may take until it is written.
    pub drain_timeout: Duration,
}

/// A reply on its way to the writer, which gives its bytes back when they are written.
struct Unsent {
    line: Vec<u8>,
    _reserved: ReservedBytes,
}

/// Replies that wait for the writer; more wait in their tasks.
const REPLIES_WAITING_MAX: usize = 64;

/// Listens that one client may have open.
const LISTENS_MAX: usize = 256;

/// Serves one client until its input ends, its output breaks, or the shutdown begins; what was
/// being answered then is answered first, after the shutdown for a while only.
///
/// # Errors
/// What broke the input or the output.
pub async fn serve<R, W>(
    reader: R,
    writer: W,
    pool: Arc<EnginePool>,
    subscriptions: Arc<Subscriptions>,
    metrics: Arc<Metrics>,
    config: StdioConfig,
    shutdown: Shutdown,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (replies, waiting) = mpsc::channel(REPLIES_WAITING_MAX);
    let places = config.requests_in_flight_max.clamp(1, Semaphore::MAX_PERMITS);
    let legacy = subscriptions.legacy(Arc::clone(pool.mcp().access()), false);
    let client = Client {
        pool,
        subscriptions,
        legacy,
        told: JoinSet::new(),
        listens: HashMap::new(),
        drain_timeout: config.drain_timeout,
        metrics,
        request_timeout: config.request_timeout,
        places: Arc::new(Semaphore::new(places)),
        replies: Replies { queue: replies, budget: ByteBudget::new(config.unsent_reply_bytes_max) },
        negotiated: None,
        running: JoinSet::new(),
        by_id: HashMap::new(),
    };
    let lines = LineReader::new(reader, config.line_bytes_max);
    let served = async {
        let mut reading = std::pin::pin!(client.read_lines(lines, &shutdown));
        let mut writing = std::pin::pin!(write_replies(writer, waiting));
        // A broken output ends everything; an ended input only when its replies are written.
        tokio::select! {
            written = writing.as_mut() => written,
            read = reading.as_mut() => {
                let written = writing.await;
                read.and(written)
            }
        }
    };
    let drained = async {
        shutdown.begun().await;
        tokio::time::sleep(config.drain_timeout).await;
    };
    tokio::select! {
        served = served => served,
        () = drained => {
            tracing::warn!("the client did not take its replies before the end");
            Ok(())
        }
    }
}

/// The reading half; dropping it ends the queue of replies.
struct Client {
    pool: Arc<EnginePool>,
    subscriptions: Arc<Subscriptions>,
    /// What the client watches if it is one of the legacy era.
    legacy: Arc<Subscription>,
    /// The streams of notifications.
    told: JoinSet<()>,
    /// The listens, by the id under which the client may cancel them.
    listens: HashMap<RequestKey, OpenListen>,
    drain_timeout: Duration,
    metrics: Arc<Metrics>,
    request_timeout: Duration,
    places: Arc<Semaphore>,
    replies: Replies,
    negotiated: Option<Revision>,
    running: JoinSet<()>,
    /// What runs, by the id under which the client may cancel it.
    by_id: HashMap<RequestKey, AbortHandle>,
}

/// A listen while its stream is open.
struct OpenListen {
    /// Gone when the stream has ended by itself.
    subscription: Weak<Subscription>,
    told: AbortHandle,
}

// === impl Client ===

impl Client {
    async fn read_lines<R: AsyncRead + Unpin>(
        mut self,
        mut lines: LineReader<R>,
        shutdown: &Shutdown,
    ) -> io::Result<()> {
        self.tell_legacy();
        let ended = loop {
            let line = tokio::select! {
                line = lines.next() => line,
                () = shutdown.begun() => break Ok(()),
            };
            match line {
                // It waits while the client does not take its replies.
                Ok(Some(line)) => tokio::select! {
                    () = self.line(line) => {}
                    () = shutdown.begun() => break Ok(()),
                },
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        while self.running.join_next().await.is_some() {}
        self.end_streams().await;
        ended
    }

    /// Listens end with their results, whether the shutdown began or the client closed its input, which is how it asks
    /// for one (2026-07-28, stdio, shutdown): only a process that breaks ends without.
    async fn end_streams(mut self) {
        self.legacy.close(Ended::Shutdown);
        for subscription in self.listens.values().filter_map(|listen| listen.subscription.upgrade())
        {
            subscription.close(Ended::Shutdown);
        }
        let told = async { while self.told.join_next().await.is_some() {} };
        // A client that reads nothing is not waited for.
        if timeout(self.drain_timeout, told).await.is_err() {
            tracing::debug!("the client did not take the end of its subscriptions");
        }
    }

    async fn line(&mut self, line: Line<'_>) {
        let started = Instant::now();
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                let fault = Fault::invalid_request("the line is longer than this server takes");
                let answer = Answer::fault(Method::Other, None, &fault);
                return self.replies.finish(answer, None, started, &self.metrics).await;
            }
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let channel =
            Channel::Stdio { negotiated: self.negotiated, subscription: Some(&self.legacy) };
        match self.pool.mcp().receive(line, channel) {
            Step::Answer(answer) => {
                let agreed = answer.negotiated.is_some();
                self.negotiated = answer.negotiated.or(self.negotiated);
                let cancelled = answer.cancels.as_ref().and_then(|id| self.take_running(id));
                if let Some(running) = cancelled {
                    // Nothing may be sent for it any more; a read that has begun ends by itself.
                    running.abort();
                }
                self.replies.finish(answer, None, started, &self.metrics).await;
                if agreed {
                    // Nobody is told of lists before the answer to their `initialize`.
                    self.legacy.want_lists();
                }
            }
            Step::Listen(listen) => self.listen(listen, started).await,
            Step::Work(work) => self.spawn(work, started).await,
            Step::Call(call) => self.call(*call, started).await,
        }
    }

    /// What runs under an id.
    fn take_running(&mut self, id: &RequestKey) -> Option<AbortHandle> {
        let listen = self.listens.remove(id).map(|listen| listen.told);
        listen.or_else(|| self.by_id.remove(id))
    }

    /// Tells the client of what it watches by the methods of the legacy era.
    fn tell_legacy(&mut self) {
        match self.legacy.open() {
            Ok(stream) => {
                self.told.spawn(notifier::tell(stream, self.replies.clone()));
            }
            Err(fault) => tracing::warn!("the client is not told of changes: {}", fault.message),
        }
    }

    async fn listen(&mut self, listen: Listen, started: Instant) {
        while self.told.try_join_next().is_some() {}
        self.listens.retain(|_, listen| !listen.told.is_finished());
        let id = listen.id.clone();
        let method = Method::SubscriptionsListen;
        match self.begin_listen(listen) {
            Ok((key, stream)) => {
                let subscription = stream.subscription();
                let told = self.told.spawn(notifier::tell(stream, self.replies.clone()));
                self.listens.insert(key, OpenListen { subscription, told });
                self.metrics.finished(&Finished {
                    method,
                    transport: Transport::stdio,
                    code: None,
                    duration: started.elapsed(),
                    reply_bytes: 0,
                });
            }
            Err(fault) => {
                let answer = Answer::fault(method, Some(&id), &fault);
                self.replies.finish(answer, None, started, &self.metrics).await;
            }
        }
    }

    fn begin_listen(&self, listen: Listen) -> Result<(RequestKey, NotificationStream), Fault> {
        let key = RequestKey::of(&listen.id)
            .ok_or_else(|| Fault::invalid_request("`id` must be a string or an integer"))?;
        if self.listens.contains_key(&key) {
            return Err(Fault::invalid_request("a listen with this id is open: take another id"));
        }
        if self.listens.len() >= LISTENS_MAX {
            return Err(Fault::invalid_request(
                "too many listens are open: cancel some, or watch more with each",
            ));
        }
        Ok((key, self.subscriptions.listen(listen)?))
    }

    /// A place for a request, and room for its reply.
    async fn place(&mut self) -> Option<(OwnedSemaphorePermit, ReservedBytes)> {
        while self.running.try_join_next().is_some() {}
        self.by_id.retain(|_, running| !running.is_finished());
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        // Room for the largest reply comes before the work: else all that runs could end at a time.
        let reply_bytes_max = self.pool.mcp().reply_bytes_max();
        let reserved = self.replies.budget.reserve(reply_bytes_max).await?;
        Some((place, reserved))
    }

    /// Calls a tool; what it tells goes out before its reply.
    async fn call(&mut self, call: ToolCall, started: Instant) {
        let Some((place, reserved)) = self.place().await else { return };
        let (metrics, replies) = (Arc::clone(&self.metrics), self.replies.clone());
        let time_max = self.request_timeout;
        let id = RequestKey::of(call.id());
        let running = self.running.spawn(async move {
            let _place = place;
            let mut running = call.start(time_max, ClientGone::Cancels);
            loop {
                match running.next().await {
                    Told::Notification(message) => replies.send(message, None).await,
                    Told::Answer(answer) => {
                        return replies.finish(answer, Some(reserved), started, &metrics).await;
                    }
                    Told::Cancelled => return,
                }
            }
        });
        self.by_id.extend(id.map(|id| (id, running)));
    }

    async fn spawn(&mut self, work: Work, started: Instant) {
        let Some((place, reserved)) = self.place().await else { return };
        let pool = Arc::clone(&self.pool);
        let metrics = Arc::clone(&self.metrics);
        let replies = self.replies.clone();
        let deadline = started + self.request_timeout;
        let id = work.id().and_then(RequestKey::of);
        let running = self.running.spawn(async move {
            let _place = place;
            let answer = pool.run(work, deadline).await;
            replies.finish(answer, Some(reserved), started, &metrics).await;
        });
        self.by_id.extend(id.map(|id| (id, running)));
    }
}

/// The way to the writer.
#[derive(Clone)]
struct Replies {
    queue: mpsc::Sender<Unsent>,
    budget: ByteBudget,
}

// === impl Replies ===

impl Replies {
    /// Counts an answer and queues its reply, within what was reserved for it.
    async fn finish(
        &self,
        answer: Answer,
        reserved: Option<ReservedBytes>,
        started: Instant,
        metrics: &Metrics,
    ) {
        metrics.finished(&Finished {
            method: answer.method,
            transport: Transport::stdio,
            code: answer.code,
            duration: started.elapsed(),
            reply_bytes: answer.body.as_ref().map_or(0, Vec::len),
        });
        if let Some(body) = answer.body {
            self.send(body, reserved).await;
        }
    }

    /// Queues a message; waits while the client takes none.
    async fn send(&self, body: Vec<u8>, reserved: Option<ReservedBytes>) {
        let line = escape_line_separators(body);
        let reserved = match reserved {
            Some(mut reserved) => {
                reserved.shrink_to(line.len());
                Some(reserved)
            }
            None => self.budget.reserve(line.len()).await,
        };
        if let Some(reserved) = reserved {
            // The queue only closes when the writer broke, which ends the reader as well.
            let _closed = self.queue.send(Unsent { line, _reserved: reserved }).await;
        }
    }
}

/// Writes each reply as one line; flushes when no other waits.
async fn write_replies<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut waiting: mpsc::Receiver<Unsent>,
) -> io::Result<()> {
    while let Some(reply) = waiting.recv().await {
        writer.write_all(&reply.line).await?;
        // Apart: a byte more could move the whole reply.
        writer.write_all(b"\n").await?;
        if waiting.is_empty() {
            writer.flush().await?;
        }
    }
    writer.flush().await
}
