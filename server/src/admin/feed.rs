//! A bulk load into a running server: each lane is a stream of `Ingest`, and each batch is told of when the server has
//! acknowledged it.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;

use pressmark_index::mutation::Mutation;
use pressmark_proto::v1;
use pressmark_proto::v1::ingest_service_client::IngestServiceClient;
use prost::Message as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};

use super::client::Connection;
use super::convert;
use crate::loading::Batch;
use crate::loading::destination::{Destination, Fault, Tally};
use crate::sources::chain_text;

/// Bytes of one request; the plane takes some more.
const REQUEST_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Requests of a lane that the server has not acknowledged.
const UNACKNOWLEDGED_MAX: usize = 4;

/// Sends the records of a load to a server.
pub(crate) struct Feed {
    connection: Connection,
    runtime: Handle,
}

/// Why a server takes no more of a load: its own word, or what became of the connection.
#[derive(Debug)]
pub(crate) struct CutOff(Status);

/// A request on its way, or what could not become one.
struct Piece {
    tally: Tally,
    /// The line of each mutation.
    lines: Vec<u64>,
    mutations: Vec<v1::Mutation>,
    bytes: usize,
}

// === impl Feed ===

impl Feed {
    /// Over a connection; `runtime` drives it.
    pub(crate) fn new(connection: Connection, runtime: Handle) -> Feed {
        Feed { connection, runtime }
    }

    async fn feed(
        &self,
        batches: &mut dyn Iterator<Item = Batch>,
        tell: &(dyn Fn(Tally) + Sync),
    ) -> Result<(), Status> {
        let (sender, receiver) = mpsc::channel(1);
        let mut client = IngestServiceClient::new(self.connection.clone());
        let mut answers = client.ingest(ReceiverStream::new(receiver)).await?.into_inner();
        // Answers come in the order of the requests.
        let mut waiting: VecDeque<Piece> = VecDeque::new();
        for batch in batches {
            for mut piece in pieces(batch) {
                if piece.lines.is_empty() {
                    tell(piece.tally);
                    continue;
                }
                let mutations = std::mem::take(&mut piece.mutations);
                // Answers are taken while the request waits for its turn: the server reads no further while they pile up.
                let permit = loop {
                    tokio::select! {
                        biased;
                        answer = answers.message(), if !waiting.is_empty() => {
                            settle(answer, &mut waiting, tell)?;
                        }
                        permit = sender.reserve(), if waiting.len() < UNACKNOWLEDGED_MAX => break permit,
                    }
                };
                let Ok(permit) = permit else {
                    // The server has ended the stream, and its last answer says why.
                    waiting.push_back(piece);
                    settle(answers.message().await, &mut waiting, tell)?;
                    return Err(ended());
                };
                permit.send(v1::IngestRequest { mutations, ..v1::IngestRequest::default() });
                waiting.push_back(piece);
            }
        }
        drop(sender);
        while !waiting.is_empty() {
            settle(answers.message().await, &mut waiting, tell)?;
        }
        Ok(())
    }
}

impl Destination for Feed {
    fn commit_all(
        &self,
        batches: &mut dyn Iterator<Item = Batch>,
        tell: &(dyn Fn(Tally) + Sync),
    ) -> Result<(), Fault> {
        self.runtime.block_on(self.feed(batches, tell)).map_err(|status| CutOff(status).into())
    }
}

// === impl CutOff ===

impl CutOff {
    /// Of which kind it is.
    pub(crate) fn code(&self) -> Code {
        self.0.code()
    }
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.message())?;
        if let Some(cause) = self.0.source() {
            write!(f, ": {}", chain_text(cause))?;
        }
        f.write_str("; what it has acknowledged is in, repeat the load to bring in the rest")
    }
}

impl Error for CutOff {}

/// The end of a stream whose requests were not all answered.
fn ended() -> Status {
    Status::unavailable("the server has ended the stream, as it does when it shuts down")
}

/// Cuts a batch into requests that the plane takes. Records of one file and lane come in batches of a few MiB: more than
/// one request is for very large resources only.
fn pieces(batch: Batch) -> Vec<Piece> {
    let Batch { file, lines, mutations, .. } = batch;
    let mut pieces = Vec::with_capacity(1);
    let mut piece = Piece::new(file);
    for (line, mutation) in lines.into_iter().zip(mutations) {
        let Mutation::Put(resource) = mutation else { continue };
        let put = convert::sent_put(*resource);
        let bytes = put.encoded_len();
        if bytes > REQUEST_BYTES_MAX {
            let reason = format!(
                "the record has {bytes} bytes on its way to a server, which takes {REQUEST_BYTES_MAX}; load it without --admin"
            );
            piece.tally.refused.push((line, reason));
            continue;
        }
        if piece.bytes + bytes > REQUEST_BYTES_MAX {
            pieces.push(std::mem::replace(&mut piece, Piece::new(file)));
        }
        piece.bytes += bytes;
        piece.lines.push(line);
        piece.mutations.push(put);
    }
    pieces.push(piece);
    pieces
}

/// Takes the answer to the request that has waited longest.
fn settle(
    answer: Result<Option<v1::IngestResponse>, Status>,
    waiting: &mut VecDeque<Piece>,
    tell: &(dyn Fn(Tally) + Sync),
) -> Result<(), Status> {
    let Some(answer) = answer? else { return Err(ended()) };
    if let Some(piece) = waiting.pop_front() {
        tell(piece.answered(answer));
    }
    Ok(())
}

// === impl Piece ===

impl Piece {
    fn new(file: usize) -> Piece {
        let tally = Tally { file, ..Tally::default() };
        Piece { tally, lines: Vec::new(), mutations: Vec::new(), bytes: 0 }
    }

    fn answered(self, answer: v1::IngestResponse) -> Tally {
        let Piece { mut tally, lines, .. } = self;
        let line = |index: u32| {
            usize::try_from(index).ok().and_then(|place| lines.get(place)).copied().unwrap_or(0)
        };
        tally.record_count = lines.len() + tally.refused.len();
        tally.created = answer.created.into();
        tally.updated = answer.updated.into();
        tally.unchanged = answer.unchanged.into();
        tally.refused.extend(answer.refusals.into_iter().map(|refusal| {
            let v1::Refusal { index, uri, reason, .. } = refusal;
            let text = if uri.is_empty() { reason } else { format!("{uri}: {reason}") };
            (line(index), text)
        }));
        let remarks = answer.remarks.into_iter();
        tally.warnings.extend(remarks.map(|remark| (line(remark.index), remark.text)));
        tally
    }
}
