//! What answers a follower's client: the owner behind its socket, or the engine of this process after a takeover.

use std::{path::PathBuf, sync::Arc};

use pressmark_index::engine::Engine;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
};

use super::{Hello, Served, connect};
use crate::transport::line_reader::LineReader;

/// More than any owner's reply takes: all that it keeps for a client.
const REPLY_LINE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Lines to and from whoever answers.
pub struct Upstream {
    pub(super) lines: LineReader<Box<dyn AsyncRead + Send + Unpin>>,
    pub(super) writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// The newest sequence number when it was reached.
    pub(super) newest: u64,
    kind: Kind,
}

enum Kind {
    Owner { owner: Box<Hello>, data_dir: PathBuf, hello: Box<Hello> },
    Own { engine: Arc<Engine>, replayed: Option<oneshot::Sender<()>> },
}

/// Which folders the owner of a store serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folders {
    /// Those that this process would serve.
    Same,
    /// Others, with what says which; `None`: it does not say.
    Others(Option<Served>),
}

/// Why nobody answers now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReached {
    /// The owner begins or ends: it may be there soon.
    NotYet(String),
    /// The owner does not share with this process.
    Refused(String),
    /// The store cannot be opened.
    Failed(String),
}

// === impl Upstream ===

impl Upstream {
    /// The owner of a data directory, after the hellos: its own, and that of this process.
    pub(super) fn owner<R, W>(
        reader: R,
        writer: W,
        owner: Hello,
        data_dir: PathBuf,
        hello: Hello,
    ) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let newest = owner.newest.unwrap_or_default();
        let kind = Kind::Owner { owner: owner.into(), data_dir, hello: hello.into() };
        Self { lines: lines(reader), writer: Box::new(writer), newest, kind }
    }

    /// This process itself; `replayed` is told when its client's subscriptions are in place, so that what is indexed
    /// from then on is heard.
    pub fn own<R, W>(
        reader: R,
        writer: W,
        engine: Arc<Engine>,
        replayed: oneshot::Sender<()>,
    ) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let newest = engine.log_range().newest;
        let kind = Kind::Own { engine, replayed: Some(replayed) };
        Self { lines: lines(reader), writer: Box::new(writer), newest, kind }
    }

    /// Which folders the owner serves; `None` for this process itself.
    pub fn folders(&self) -> Option<Folders> {
        let Kind::Owner { owner, hello, .. } = &self.kind else { return None };
        let (theirs, own) = (sorted(&owner.sources), sorted(&hello.sources));
        Some(if theirs == own { Folders::Same } else { Folders::Others(owner.served.clone()) })
    }

    /// The newest sequence number now; `None` where that cannot be learned.
    pub(super) async fn newest_now(&self) -> Option<u64> {
        match &self.kind {
            Kind::Own { engine, .. } => Some(engine.log_range().newest),
            // Another hello tells it, and needs nothing else of the protocol.
            Kind::Owner { data_dir, hello, .. } => {
                connect(data_dir, hello).await.ok().map(|upstream| upstream.newest)
            }
        }
    }

    /// The client's state is in place: what waited for that goes on.
    pub(super) fn settled(&mut self) {
        if let Kind::Own { replayed, .. } = &mut self.kind
            && let Some(replayed) = replayed.take()
        {
            // Who waited may have ended with the process.
            let _ = replayed.send(());
        }
    }
}

fn sorted(sources: &[u64]) -> Vec<u64> {
    let mut sources = sources.to_vec();
    sources.sort_unstable();
    sources
}

fn lines<R>(reader: R) -> LineReader<Box<dyn AsyncRead + Send + Unpin>>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    LineReader::new(Box::new(reader), REPLY_LINE_BYTES_MAX)
}

// === impl NotReached ===

impl NotReached {
    /// What is the matter, for people.
    pub(super) fn reason(&self) -> &str {
        let (Self::NotYet(reason) | Self::Refused(reason) | Self::Failed(reason)) = self;
        reason
    }
}
