//! `OperationsService`.

use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use pressmark_index::backup::{BackupRequest, Progress};
use pressmark_index::engine::{Engine, FORMAT_VERSION};
use pressmark_index::error::Error;
use pressmark_index::full_text::FullTextStats;
use pressmark_index::stop::Stop;
use pressmark_index::verify::VerifyReport;
use pressmark_proto::v1;
use pressmark_proto::v1::operations_service_server::OperationsService;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, async_trait};

use super::{Plane, convert, status};

/// A client is told this often how far it is.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Messages of progress that wait for the client; more are left out.
const MESSAGES_AHEAD: usize = 4;

type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[async_trait]
impl OperationsService for Plane {
    async fn get_stats(
        &self,
        _request: Request<v1::GetStatsRequest>,
    ) -> Result<Response<v1::GetStatsResponse>, Status> {
        self.with_engine(stats).await.map(Response::new)
    }

    type VerifyStream = Messages<v1::VerifyResponse>;

    async fn verify(
        &self,
        _request: Request<v1::VerifyRequest>,
    ) -> Result<Response<Self::VerifyStream>, Status> {
        let message = |resources_checked, resources_total, report| v1::VerifyResponse {
            resources_checked,
            resources_total,
            report,
        };
        Ok(Response::new(self.stream(move |engine, stop, tell| {
            let total = engine.spaces().spaces.iter().map(|space| space.resource_count()).sum();
            let report = engine.verify_until(stop, &mut |checked| {
                tell.progress(|| message(checked, total, None));
            })?;
            Ok(message(report.resources, total, Some(verified(report))))
        })))
    }

    type BackupStream = Messages<v1::BackupResponse>;

    async fn backup(
        &self,
        request: Request<v1::BackupRequest>,
    ) -> Result<Response<Self::BackupStream>, Status> {
        let request = request.into_inner();
        let folder = absolute("folder", &request.folder)?;
        let previous = match request.previous.as_str() {
            "" => None,
            previous => Some(absolute("previous", previous)?),
        };
        let message = |progress: Progress, report| v1::BackupResponse {
            bytes_done: progress.bytes_done,
            bytes_total: progress.bytes_total,
            report,
        };
        let stream = self.stream(move |engine, _stop, tell| {
            let mut last = Progress::default();
            let request = BackupRequest { folder: &folder, previous: previous.as_deref() };
            let report = engine.backup(&request, &mut |progress| {
                last = progress;
                tell.progress(|| message(progress, None));
            })?;
            let report = v1::BackupReport {
                folder: folder.display().to_string(),
                through_sequence: report.sequence,
                bytes_shared: report.bytes_shared,
                bytes_copied: report.bytes_copied,
            };
            Ok(message(last, Some(report)))
        });
        Ok(Response::new(stream))
    }

    async fn compact(
        &self,
        _request: Request<v1::CompactRequest>,
    ) -> Result<Response<v1::CompactResponse>, Status> {
        let response = self.with_engine(|engine| {
            let bytes_before = disk_bytes(engine)?;
            engine.compact()?;
            Ok(v1::CompactResponse { bytes_before, bytes_after: disk_bytes(engine)? })
        });
        response.await.map(Response::new)
    }

    async fn reindex(
        &self,
        request: Request<v1::ReindexRequest>,
    ) -> Result<Response<v1::ReindexResponse>, Status> {
        let request = request.into_inner();
        let kind = v1::IndexKind::try_from(request.kind)
            .map_err(|_| Status::invalid_argument(format!("kind: {} is no kind", request.kind)))?;
        let space = Some(request.space).filter(|name| !name.is_empty());
        let response = self.with_engine(move |engine| {
            let mut indexes = 0_usize;
            if matches!(kind, v1::IndexKind::Unspecified | v1::IndexKind::Completion) {
                indexes += engine.remake_completion(space.as_deref())?;
            }
            // There is one for all spaces: a space that is named does not mean it, unless the kind does.
            let is_meant = match kind {
                v1::IndexKind::Unspecified => space.is_none(),
                v1::IndexKind::Completion => false,
                v1::IndexKind::FullText => true,
            };
            if is_meant && engine.remake_full_text() {
                indexes += 1;
            }
            Ok(v1::ReindexResponse { indexes: u32::try_from(indexes).unwrap_or(u32::MAX) })
        });
        response.await.map(Response::new)
    }
}

/// Tells a client how far something is, from the thread that does it.
struct Tell<T> {
    sender: mpsc::Sender<Result<T, Status>>,
    last: Instant,
}

impl<T> Tell<T> {
    /// A client that is slow misses some of these.
    fn progress(&mut self, message: impl FnOnce() -> T) {
        if self.last.elapsed() >= PROGRESS_INTERVAL {
            self.last = Instant::now();
            let _ = self.sender.try_send(Ok(message()));
        }
    }
}

impl Plane {
    /// Runs something long; what it tells and what it comes to become the stream. It gives up its place in the queue when its
    /// caller goes away, and is asked to stop when it runs already.
    fn stream<T, F>(&self, work: F) -> Messages<T>
    where
        T: Send + 'static,
        F: FnOnce(&Engine, &Stop, &mut Tell<T>) -> Result<T, Error> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(MESSAGES_AHEAD);
        let (engine, long, shutdown) =
            (self.engine.clone(), self.long.clone(), self.shutdown.clone());
        let mut tell = Tell { sender: sender.clone(), last: Instant::now() };
        let stop = Stop::default();
        let asked = stop.clone();
        tokio::spawn(async move {
            let mut running = pin!(long.run(move || work(&engine, &asked, &mut tell)));
            let done = tokio::select! {
                done = &mut running => done,
                () = sender.closed() => return stop.ask(),
                () = shutdown.begun() => {
                    stop.ask();
                    running.await
                }
            };
            let last = done.and_then(|done| done.map_err(|error| status::of(&error)));
            let _ = sender.send(last).await;
        });
        Box::pin(ReceiverStream::new(receiver))
    }
}

/// The server's working folder means nothing to a client.
fn absolute(field: &str, path: &str) -> Result<PathBuf, Status> {
    let folder = PathBuf::from(path);
    if folder.is_absolute() {
        return Ok(folder);
    }
    let text = format!("{field}: {path:?} is no absolute path of the server's machine");
    Err(Status::new(Code::InvalidArgument, text))
}

fn disk_bytes(engine: &Engine) -> Result<u64, Error> {
    Ok(engine.stats()?.disk_bytes.iter().map(|(_, bytes)| bytes).sum())
}

fn verified(report: VerifyReport) -> v1::VerifyReport {
    v1::VerifyReport {
        clean: report.is_clean(),
        fault_count: report.fault_count,
        faults: report.findings,
        derived_keys_checked: report.derived_keys,
    }
}

fn stats(engine: &Engine) -> Result<v1::GetStatsResponse, Error> {
    let stats = engine.stats()?;
    let health = engine.health();
    let disk =
        |(part, bytes): &(&str, u64)| v1::DiskUse { part: (*part).to_owned(), bytes: *bytes };
    Ok(v1::GetStatsResponse {
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        format_version: FORMAT_VERSION,
        resource_count: stats.resources,
        acl_count: u64::try_from(stats.acls).unwrap_or(u64::MAX),
        oldest_sequence: if stats.log.oldest > stats.log.newest { 0 } else { stats.log.oldest },
        newest_sequence: stats.log.newest,
        disk: stats.disk_bytes.iter().map(disk).collect(),
        block_cache_bytes: u64::try_from(stats.cache_bytes).unwrap_or(u64::MAX),
        hot_cache_bytes: stats.hot_values.0,
        writable: health.writable,
        refusal_reason: health.reason.unwrap_or_default(),
        refusing_since: health.since.map(convert::time),
        spaces_without_completion: u64::try_from(engine.spaces_without_completion())
            .unwrap_or(u64::MAX),
        full_text: stats.full_text.map(full_text),
        completion: Some(v1::CompletionState {
            entry_count: u64::try_from(stats.completion.entries).unwrap_or(u64::MAX),
            disk_bytes: stats.completion.disk_bytes,
            failure: stats.completion.failure.unwrap_or_default(),
        }),
        data_directory: canonical(engine.data_dir()),
    })
}

/// One spelling of each folder, by which a client sees whose store it has reached.
fn canonical(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()).display().to_string()
}

fn full_text(stats: FullTextStats) -> v1::FullTextState {
    v1::FullTextState {
        complete: stats.progress.rebuilding.is_none(),
        through_sequence: stats.progress.indexed_through,
        document_count: stats.progress.documents,
        disk_bytes: stats.disk_bytes,
        failure: stats.progress.failure.unwrap_or_default(),
        segment_count: u64::try_from(stats.segments).unwrap_or(u64::MAX),
    }
}
