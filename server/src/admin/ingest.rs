//! `IngestService`: a stream of batches, each answered when it is durable.
//!
//! Three things go on at once for one stream: a batch is read, the one before it is encoded, and those before that wait
//! for the disk, where they share a sync. All of it keeps the order of the stream, and is bounded.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;
use pressmark_index::engine::{Committed, PendingCommit};
use pressmark_index::error::{Error, ErrorKind, TEXT_BYTES_MAX, shortened};
use pressmark_index::mutation::{Applied, Outcome};
use pressmark_proto::v1;
use pressmark_proto::v1::ingest_service_server::IngestService;
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::{INGESTS_MAX, Plane, convert, status};

/// Mutations of one batch.
const BATCH_MUTATIONS_MAX: usize = 10_000;
/// Bytes of an idempotency key.
const KEY_BYTES_MAX: usize = 64;
/// Bytes of all texts of an acknowledgement: with what surrounds them it is below what clients take (4 MiB).
const TEXTS_BYTES_MAX: usize = 3 * 1024 * 1024;
/// Batches of a stream that are encoded at a time.
const ENCODING_MAX: usize = 2;
/// Batches of a stream that wait to be durable.
const WRITING_MAX: usize = 4;

type Acknowledgements = Pin<Box<dyn Stream<Item = Result<v1::IngestResponse, Status>> + Send>>;

#[async_trait]
impl IngestService for Plane {
    type IngestStream = Acknowledgements;

    async fn ingest(
        &self,
        request: Request<Streaming<v1::IngestRequest>>,
    ) -> Result<Response<Acknowledgements>, Status> {
        let place = Arc::clone(&self.ingests).try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "{INGESTS_MAX} ingests are under way, which is as many as go on at a time: end one, or try again later"
            ))
        })?;
        let (encoder, writer, ends) = (self.clone(), self.clone(), self.clone());
        let batches = request.into_inner();
        let acknowledged = batches
            .map(move |batch| encoder.clone().encode(batch))
            .buffered(ENCODING_MAX)
            // In the order of the stream, one after the other.
            .map(move |encoded| writer.clone().begin(encoded))
            .map(Begun::wait)
            .buffered(WRITING_MAX);
        // The first fault ends the stream: what comes after it was not acknowledged. Its place is free before its end is told.
        let until_fault = stream::unfold(
            (Box::pin(acknowledged), false, place),
            |(mut rest, failed, place)| async move {
                let next = if failed { None } else { rest.next().await };
                next.map(|next| {
                    let failed = next.is_err();
                    (next, (rest, failed, place))
                })
            },
        );
        let until_end = until_fault.take_until(async move { ends.shutdown.begun().await });
        Ok(Response::new(Box::pin(until_end)))
    }
}

/// A batch whose mutations are encoded.
struct Encoded {
    batch_id: u64,
    /// Mutations that never reached the engine, by their place.
    refused: Vec<(usize, v1::Refusal)>,
    /// Where in the batch the mutations stand that the engine got.
    places: Vec<usize>,
    commit: pressmark_index::engine::PreparedCommit,
}

/// A batch that the writer has.
struct Begun {
    plane: Plane,
    batch_id: u64,
    refused: Vec<(usize, v1::Refusal)>,
    places: Vec<usize>,
    pending: PendingCommit,
}

impl Plane {
    async fn encode(self, batch: Result<v1::IngestRequest, Status>) -> Result<Encoded, Status> {
        let batch = batch?;
        check(&batch)?;
        let (engine, pace) = (Arc::clone(&self.engine), Arc::clone(&self.pace));
        let count = batch.mutations.len();
        let encoded = self
            .blocking
            .run(move || {
                let (mut refused, mut places, mut mutations) = (Vec::new(), Vec::new(), Vec::new());
                for (place, mutation) in batch.mutations.into_iter().enumerate() {
                    match convert::mutation(mutation) {
                        Ok(mutation) => {
                            places.push(place);
                            mutations.push(mutation);
                        }
                        Err(wrong) => refused.push((place, wrong.refusal(place))),
                    }
                }
                let commit = engine.prepare(mutations, batch.idempotency_key)?;
                let is_bulk = pace.count(&engine, count);
                Ok((Encoded { batch_id: batch.batch_id, refused, places, commit }, is_bulk))
            })
            .await?;
        let encoded = encoded.map(|(encoded, is_bulk)| {
            if is_bulk {
                self.end_bulk_at_pause();
            }
            encoded
        });
        encoded.map_err(|error: Error| status::of(&error))
    }

    fn end_bulk_at_pause(&self) {
        let (pace, shutdown) = (Arc::clone(&self.pace), self.shutdown.clone());
        tokio::spawn(async move {
            tokio::select! {
                bulk = pace.until_pause() => drop(tokio::task::spawn_blocking(move || drop(bulk)).await),
                // The store is closed then.
                () = shutdown.begun() => {}
            }
        });
    }

    fn begin(self, encoded: Result<Encoded, Status>) -> Result<Begun, Status> {
        let Encoded { batch_id, refused, places, commit } = encoded?;
        // Waits only when a thousand commits wait, which the threads of this plane cannot reach.
        let pending = self.engine.begin(commit).map_err(|error| status::of(&error))?;
        Ok(Begun { plane: self, batch_id, refused, places, pending })
    }
}

impl Begun {
    async fn wait(begun: Result<Begun, Status>) -> Result<v1::IngestResponse, Status> {
        let Begun { plane, batch_id, refused, places, pending } = begun?;
        let committed = plane.blocking.run(move || pending.wait()).await?;
        match committed.map_err(|error| status::of(&error))? {
            Committed::Now(results) => Ok(response(batch_id, refused, &places, results)),
            Committed::Before { last, before } => Ok(v1::IngestResponse {
                batch_id,
                last_sequence: Some(last).filter(|last| *last > before),
                applied_before: true,
                ..v1::IngestResponse::default()
            }),
        }
    }
}

fn check(batch: &v1::IngestRequest) -> Result<(), Status> {
    let count = batch.mutations.len();
    if count > BATCH_MUTATIONS_MAX {
        return Err(Status::invalid_argument(format!(
            "batch {}: it has {count} mutations; at most {BATCH_MUTATIONS_MAX} go into one",
            batch.batch_id
        )));
    }
    match &batch.idempotency_key {
        Some(key) if key.is_empty() || key.len() > KEY_BYTES_MAX => {
            Err(Status::invalid_argument(format!(
                "batch {}: its idempotency_key has {} bytes; it takes 1 to {KEY_BYTES_MAX}",
                batch.batch_id,
                key.len()
            )))
        }
        _ => Ok(()),
    }
}

fn response(
    batch_id: u64,
    refused: Vec<(usize, v1::Refusal)>,
    places: &[usize],
    results: Vec<Result<Applied, Error>>,
) -> v1::IngestResponse {
    let mut response = v1::IngestResponse { batch_id, ..v1::IngestResponse::default() };
    let mut refused = refused;
    for (place, result) in places.iter().zip(results) {
        match result {
            Ok(applied) => {
                count(&mut response, applied.outcome);
                response.last_sequence = response.last_sequence.max(applied.sequence);
                let index = index(*place);
                let text = applied.warning;
                let text = text.map(|text| shortened(&text, TEXT_BYTES_MAX).into_owned());
                response.remarks.extend(text.map(|text| v1::Remark { index, text }));
            }
            Err(error) => refused.push((*place, refusal(*place, &error))),
        }
    }
    refused.sort_by_key(|(place, _)| *place);
    response.refusals = refused.into_iter().map(|(_, refusal)| refusal).collect();
    shorten(&mut response);
    response
}

/// Refusals and remarks of a large batch share what an answer may hold: the more there are, the shorter each is.
fn shorten(response: &mut v1::IngestResponse) {
    let refusals = response.refusals.iter_mut();
    let refusals = refusals.flat_map(|refusal| [&mut refusal.uri, &mut refusal.reason]);
    let remarks = response.remarks.iter_mut().map(|remark| &mut remark.text);
    let mut texts: Vec<&mut String> = refusals.chain(remarks).collect();
    if texts.iter().map(|text| text.len()).sum::<usize>() <= TEXTS_BYTES_MAX {
        return;
    }
    let share = TEXTS_BYTES_MAX / texts.len().max(1);
    for text in texts.iter_mut().filter(|text| text.len() > share) {
        **text = shortened(text, share).into_owned();
    }
}

fn count(response: &mut v1::IngestResponse, outcome: Outcome) {
    let counter = match outcome {
        Outcome::Created => &mut response.created,
        Outcome::Updated => &mut response.updated,
        Outcome::Unchanged => &mut response.unchanged,
        Outcome::Deleted => &mut response.deleted,
        Outcome::Absent => &mut response.absent,
    };
    *counter = counter.saturating_add(1);
}

fn refusal(place: usize, error: &Error) -> v1::Refusal {
    let kind = match error.kind() {
        ErrorKind::NotFound => v1::RefusalKind::NotFound,
        ErrorKind::LimitExceeded => v1::RefusalKind::TooLarge,
        ErrorKind::Conflict => v1::RefusalKind::Conflict,
        ErrorKind::VersionMismatch => v1::RefusalKind::VersionMismatch,
        ErrorKind::InvalidUri
        | ErrorKind::InvalidFragment
        | ErrorKind::InvalidTemplate
        | ErrorKind::InvalidCursor
        | ErrorKind::InvalidRecord => v1::RefusalKind::Invalid,
        ErrorKind::Corrupt
        | ErrorKind::Io
        | ErrorKind::Poisoned
        | ErrorKind::Closed
        | ErrorKind::Locked
        | ErrorKind::UnknownFormat => v1::RefusalKind::Unspecified,
    };
    convert::refusal(place, error.subject(), kind, &error.detail())
}

pub(super) fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
