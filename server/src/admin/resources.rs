//! `ResourcesService`.

use std::pin::Pin;

use pressmark_index::stored::{ScanPage, ScanRequest, StoredResource};
use pressmark_proto::v1;
use pressmark_proto::v1::resources_service_server::ResourcesService;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, async_trait};

use super::messages::in_messages;
use super::{Plane, convert, status};

/// Resources of one message.
const PAGE_COUNT_MAX: usize = 1_000;
/// Bytes of their bodies, about.
const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Messages that wait for the client.
const PAGES_AHEAD: usize = 2;

type Scan = Pin<Box<dyn Stream<Item = Result<v1::ScanResourcesResponse, Status>> + Send>>;

#[async_trait]
impl ResourcesService for Plane {
    async fn get_resource(
        &self,
        request: Request<v1::GetResourceRequest>,
    ) -> Result<Response<v1::GetResourceResponse>, Status> {
        let uri = request.into_inner().uri;
        let stored = self.with_engine(move |engine| engine.stored(&uri)).await?;
        Ok(Response::new(v1::GetResourceResponse { resource: Some(self.stored(stored)) }))
    }

    type ScanResourcesStream = Scan;

    async fn scan_resources(
        &self,
        request: Request<v1::ScanResourcesRequest>,
    ) -> Result<Response<Scan>, Status> {
        let request = request.into_inner();
        // A space that is not there is said at once.
        if !request.space.is_empty() {
            self.engine.spaces().named(&request.space).map_err(|error| status::of(&error))?;
        }
        let (sender, receiver) = mpsc::channel(PAGES_AHEAD);
        let plane = self.clone();
        tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = plane.scan(request, &sender) => outcome,
                closing = plane.closing() => Err(closing),
            };
            if let Err(status) = outcome {
                let _ = sender.send(Err(status)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

impl Plane {
    /// Sends page after page; ends when the client goes away.
    async fn scan(
        &self,
        request: v1::ScanResourcesRequest,
        sender: &mpsc::Sender<Result<v1::ScanResourcesResponse, Status>>,
    ) -> Result<(), Status> {
        let mut after = Some(request.after_uri.clone()).filter(|uri| !uri.is_empty());
        let mut left = if request.limit == 0 { u64::MAX } else { request.limit };
        while left > 0 {
            let page = self.page(&request, after.take(), left).await?;
            left = left.saturating_sub(u64::try_from(page.resources.len()).unwrap_or(u64::MAX));
            let resources = page.resources.into_iter().map(|stored| self.stored(stored));
            for resources in in_messages(resources) {
                if sender.send(Ok(v1::ScanResourcesResponse { resources })).await.is_err() {
                    return Ok(());
                }
            }
            match page.after_uri {
                Some(uri) => after = Some(uri),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    async fn page(
        &self,
        request: &v1::ScanResourcesRequest,
        after_uri: Option<String>,
        left: u64,
    ) -> Result<ScanPage, Status> {
        let (space, uri_prefix) = (request.space.clone(), request.uri_prefix.clone());
        let without_bodies = request.without_bodies;
        let count_max = usize::try_from(left).unwrap_or(usize::MAX).min(PAGE_COUNT_MAX);
        self.with_engine(move |engine| {
            engine.scan(&ScanRequest {
                space: Some(space.as_str()).filter(|name| !name.is_empty()),
                uri_prefix: &uri_prefix,
                after_uri: after_uri.as_deref(),
                without_bodies,
                count_max,
                bytes_max: PAGE_BYTES_MAX,
            })
        })
        .await
    }

    fn stored(&self, stored: StoredResource) -> v1::StoredResource {
        convert::stored(stored, &self.engine.spaces())
    }
}
