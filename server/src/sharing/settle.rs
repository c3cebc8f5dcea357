//! A client's state with a new owner: everything that the client takes for agreed is agreed again, before its requests
//! go on, and it is told of what it may have missed meanwhile.

use std::{collections::HashSet, io, pin::pin, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use super::{
    Relay, Upstream,
    journal::{Journal, Restoration},
    messages::{self, Heard},
};
use crate::{mcp::RequestKey, transport::line_reader::Line};

/// How long a new owner may take to agree on what was agreed before.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(30);

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Relay<R, W> {
    /// Restores the client's state with whom was reached; `None` when that one has ended meanwhile.
    pub(super) async fn settle(&mut self, mut upstream: Upstream) -> io::Result<Option<Upstream>> {
        let restoration = self.journal.lock().restoration();
        let had_state = !restoration.awaited.is_empty();
        if had_state && !self.restore(&mut upstream, restoration).await? {
            return Ok(None);
        }
        // Asked when the subscriptions are in place: what is committed from here on is heard.
        let newest = if had_state { upstream.newest_now().await } else { Some(upstream.newest) };
        let missed = self.newest.is_some() && newest != self.newest;
        self.newest = Some(newest.unwrap_or(upstream.newest));
        if had_state && missed {
            let messages = self.journal.lock().announce();
            for message in messages {
                self.out.send(&message).await?;
            }
        }
        Ok(Some(upstream))
    }

    /// Says again what was agreed, and keeps the answers, which the client has had, from it. Whether all of it was
    /// answered.
    async fn restore(
        &mut self,
        upstream: &mut Upstream,
        restoration: Restoration,
    ) -> io::Result<bool> {
        let Self { out, journal, .. } = self;
        let Restoration { lines, mut awaited } = restoration;
        let Upstream { lines: incoming, writer, .. } = upstream;
        let write = async {
            writer.write_all(&lines).await?;
            writer.flush().await
        };
        let read = async {
            while !awaited.is_empty() {
                let line = match timeout(RESTORE_TIMEOUT, incoming.next()).await {
                    Ok(Ok(Some(Line::Whole(line)))) => line,
                    Ok(Ok(Some(Line::TooLong))) => continue,
                    Ok(Ok(None) | Err(_)) | Err(_) => return Ok(false),
                };
                let Some(heard) = messages::heard(line) else { return Ok(false) };
                if !is_expected(&heard, &mut awaited, journal) {
                    journal.lock().heard(&heard);
                    out.send(line).await?;
                }
            }
            Ok(true)
        };
        let (mut write, mut read) = (pin!(write), pin!(read));
        // Both at a time: each side's buffers are bounded. What could not be written is not answered.
        tokio::select! {
            read = &mut read => return read,
            _ = &mut write => {}
        }
        read.await
    }
}

/// Whether a line answers what was said again, and is nothing to the client.
fn is_expected(heard: &Heard, awaited: &mut HashSet<RequestKey>, journal: &Mutex<Journal>) -> bool {
    match heard {
        Heard::Answer { key, failed, .. } if awaited.remove(key) => {
            // A listen that has an answer has ended.
            let is_listen = journal.lock().is_open_listen(key);
            if *failed && !is_listen {
                tracing::warn!("the new owner does not take up what the one before had agreed on");
            }
            !is_listen
        }
        Heard::Acknowledged { key, honoured } if awaited.remove(key) => {
            journal.lock().acknowledged(key, honoured);
            true
        }
        Heard::Answer { .. } | Heard::Acknowledged { .. } | Heard::Batch(_) | Heard::Other => false,
    }
}
