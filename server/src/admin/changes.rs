//! `ChangesService`.

use std::pin::Pin;
use std::time::Duration;

use pressmark_index::error::ErrorKind;
use pressmark_index::mutation::Change;
use pressmark_proto::v1;
use pressmark_proto::v1::changes_service_server::ChangesService;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Response, Status, async_trait};

use super::messages::in_messages;
use super::{Plane, convert, status};

/// Changes of one message.
const CHANGES_MAX: usize = 1_000;
/// Messages that wait for the client.
const MESSAGES_AHEAD: usize = 2;
/// Without a change, the client is told this often how far it has been looked.
const QUIET: Duration = Duration::from_secs(5);
/// The trailer that names the oldest change kept.
const OLDEST: &str = "pressmark-oldest-sequence";

type Watch = Pin<Box<dyn Stream<Item = Result<v1::WatchChangesResponse, Status>> + Send>>;

#[async_trait]
impl ChangesService for Plane {
    type WatchChangesStream = Watch;

    async fn watch_changes(
        &self,
        request: Request<v1::WatchChangesRequest>,
    ) -> Result<Response<Watch>, Status> {
        let request = request.into_inner();
        let range = self.engine.log_range();
        let after = request.after_sequence.unwrap_or(range.newest);
        self.check_known(after)?;
        if after.saturating_add(1) < range.oldest {
            return Err(self.too_old(after));
        }
        let space = match request.space.as_str() {
            "" => None,
            name => {
                let spaces = self.engine.spaces();
                Some(spaces.named(name).map_err(|error| status::of(&error))?.id)
            }
        };
        let (sender, receiver) = mpsc::channel(MESSAGES_AHEAD);
        let plane = self.clone();
        tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = plane.watch(after, space, &sender) => outcome,
                closing = plane.closing() => Err(closing),
            };
            if let Err(status) = outcome {
                let _ = sender.send(Err(status)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

/// Sends changes in as many messages as they need; each says how far it goes, so that a client that loses the others
/// begins behind it.
async fn send(
    changes: Vec<v1::Change>,
    from: u64,
    through: u64,
    sender: &mpsc::Sender<Result<v1::WatchChangesResponse, Status>>,
) -> Result<(), mpsc::error::SendError<Result<v1::WatchChangesResponse, Status>>> {
    let mut groups = in_messages(changes);
    let last = groups.pop().unwrap_or_default();
    for changes in groups {
        let through_sequence = changes.last().map_or(from, |change| change.sequence);
        sender.send(Ok(v1::WatchChangesResponse { changes, through_sequence })).await?;
    }
    sender.send(Ok(v1::WatchChangesResponse { changes: last, through_sequence: through })).await
}

impl Plane {
    /// Sends what the log has and then what comes; ends when the client goes away.
    async fn watch(
        &self,
        mut after: u64,
        space: Option<pressmark_index::space::SpaceId>,
        sender: &mpsc::Sender<Result<v1::WatchChangesResponse, Status>>,
    ) -> Result<(), Status> {
        let mut newest = self.newest.clone();
        loop {
            newest.mark_unchanged();
            let published = self.engine.log_range().newest;
            let (changes, through) = if after < published {
                let read = self.read_changes(after, published).await?;
                let through = read.last().map_or(published, |change| change.sequence);
                let wanted = read.into_iter().filter(|one| space.is_none_or(|id| id == one.space));
                let spaces = self.engine.spaces();
                (wanted.map(|change| convert::change(change, &spaces)).collect(), through)
            } else {
                tokio::select! {
                    changed = newest.changed() => match changed {
                        Ok(()) => continue,
                        // The engine is gone.
                        Err(_) => return Ok(()),
                    },
                    () = tokio::time::sleep(QUIET) => {}
                    () = sender.closed() => return Ok(()),
                }
                (Vec::new(), after)
            };
            let from = std::mem::replace(&mut after, through);
            if send(changes, from, through, sender).await.is_err() {
                return Ok(());
            }
        }
    }

    /// What was read beyond `published` may not be visible yet.
    async fn read_changes(&self, after: u64, published: u64) -> Result<Vec<Change>, Status> {
        let engine = self.engine.clone();
        let read = self.blocking.run(move || engine.changes_after(after, CHANGES_MAX)).await?;
        match read {
            Ok(mut changes) => {
                changes.retain(|change| change.sequence <= published);
                Ok(changes)
            }
            Err(error) if error.kind() == ErrorKind::LimitExceeded => Err(self.too_old(after)),
            Err(error) => Err(status::of(&error)),
        }
    }

    /// A number that was given by a store is not ahead of it.
    pub(super) fn check_known(&self, after: u64) -> Result<(), Status> {
        let newest = self.engine.log_range().newest;
        if after <= newest {
            return Ok(());
        }
        Err(self.out_of_range(format!(
            "after_sequence: {after} is not there yet, the newest is {newest}: this is not the store that gave it"
        )))
    }

    fn too_old(&self, after: u64) -> Status {
        let oldest = self.engine.log_range().oldest;
        self.out_of_range(format!(
            "after_sequence: changes after {after} are no longer kept, the oldest kept is {oldest}: begin with ScanResources"
        ))
    }

    fn out_of_range(&self, text: String) -> Status {
        let mut trailers = MetadataMap::new();
        trailers.insert(OLDEST, self.engine.log_range().oldest.into());
        Status::with_metadata(Code::OutOfRange, text, trailers)
    }
}
