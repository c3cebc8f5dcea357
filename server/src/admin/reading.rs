//! `ReadingService`: what hosts ask for, with the operator's access.

use std::collections::HashSet;
use std::pin::Pin;
use std::time::Duration;

use pressmark_index::access::Access;
use pressmark_index::completion::{CompletionRequest, VALUES_MAX};
use pressmark_index::engine::Engine;
use pressmark_index::error::{Error, ErrorKind};
use pressmark_index::full_text::{SearchHit, SearchPage, SearchRequest, SearchSort};
use pressmark_index::list::PageBounds;
use pressmark_index::read::{ReadOutcome, ReadRequest, Tier};
use pressmark_proto::v1;
use pressmark_proto::v1::reading_service_server::ReadingService;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, async_trait};

use super::messages::in_messages;
use super::{Plane, convert, host_json};
use crate::search_notes::told;

/// Resources of one message.
const PAGE: PageBounds = PageBounds { items_max: 1_000, bytes_max: 1024 * 1024 };
/// Messages that wait for the client.
const PAGES_AHEAD: usize = 2;
/// Hits where nobody says how many.
const HITS_DEFAULT: u32 = 10;
/// An operator can wait longer than a model.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(30);

type List = Pin<Box<dyn Stream<Item = Result<v1::ListResourcesResponse, Status>> + Send>>;

#[async_trait]
impl ReadingService for Plane {
    async fn read_resource(
        &self,
        request: Request<v1::ReadResourceRequest>,
    ) -> Result<Response<v1::ReadResourceResponse>, Status> {
        let uri = request.into_inner().uri;
        self.with_engine(move |engine| read(engine, &uri)).await.map(Response::new)
    }

    type ListResourcesStream = List;

    async fn list_resources(
        &self,
        _request: Request<v1::ListResourcesRequest>,
    ) -> Result<Response<List>, Status> {
        let (sender, receiver) = mpsc::channel(PAGES_AHEAD);
        let plane = self.clone();
        tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = plane.list(&sender) => outcome,
                closing = plane.closing() => Err(closing),
            };
            if let Err(status) = outcome {
                let _ = sender.send(Err(status)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn complete_variable(
        &self,
        request: Request<v1::CompleteVariableRequest>,
    ) -> Result<Response<v1::CompleteVariableResponse>, Status> {
        let request = request.into_inner();
        self.with_engine(move |engine| complete(engine, &request)).await.map(Response::new)
    }

    async fn search_resources(
        &self,
        request: Request<v1::SearchResourcesRequest>,
    ) -> Result<Response<v1::SearchResourcesResponse>, Status> {
        let request = request.into_inner();
        // What cannot come is not waited for.
        request.after_sequence.map_or(Ok(()), |after| self.check_known(after))?;
        let sort = match v1::SearchOrder::try_from(request.order) {
            Ok(v1::SearchOrder::Unspecified | v1::SearchOrder::Relevance) => SearchSort::Relevance,
            Ok(v1::SearchOrder::Recent) => SearchSort::Recent,
            Err(_) => {
                let text = format!("order: {} is no order", request.order);
                return Err(Status::invalid_argument(text));
            }
        };
        if self.engine.full_text_progress().is_none() {
            return Err(Status::failed_precondition(
                "full text is off: `enabled` under [full_text] in the configuration",
            ));
        }
        let page = self.with_engine(move |engine| search(engine, &request, sort)).await?;
        Ok(Response::new(found(page)))
    }
}

impl Plane {
    /// Sends page after page; ends when the client goes away.
    async fn list(
        &self,
        sender: &mpsc::Sender<Result<v1::ListResourcesResponse, Status>>,
    ) -> Result<(), Status> {
        let mut cursor: Option<String> = None;
        loop {
            let after = cursor.take();
            let (resources, next) = self
                .with_engine(move |engine| {
                    let page = engine.list(after.as_deref(), &Access::operator(), PAGE)?;
                    Ok((host_json::listed(&page)?, page.next_cursor))
                })
                .await?;
            for resources in in_messages(resources) {
                if sender.send(Ok(v1::ListResourcesResponse { resources })).await.is_err() {
                    return Ok(());
                }
            }
            match next {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }
}

fn read(engine: &Engine, uri: &str) -> Result<v1::ReadResourceResponse, Error> {
    let access = Access::operator();
    let request = ReadRequest { uri, access: &access, bytes_max: usize::MAX, tier: Tier::Disk };
    let ReadOutcome::Contents(contents) = engine.read(&request)? else {
        return Err(Error::new(ErrorKind::Io, uri, "the read did not end"));
    };
    let folder = contents.is_folder();
    Ok(v1::ReadResourceResponse { contents: host_json::parts(&contents, uri)?, folder })
}

fn complete(
    engine: &Engine,
    request: &v1::CompleteVariableRequest,
) -> Result<v1::CompleteVariableResponse, Error> {
    let chosen: Vec<(&str, &str)> =
        request.context.iter().map(|pair| (pair.name.as_str(), pair.value.as_str())).collect();
    // As over MCP, where an object has each member once.
    let mut names = HashSet::new();
    for (name, _) in &chosen {
        if !names.insert(*name) {
            let detail = "it is chosen twice: choose one value of each variable";
            return Err(Error::new(ErrorKind::InvalidRecord, format!("variable `{name}`"), detail));
        }
    }
    let completion = engine.complete(&CompletionRequest {
        space: &request.space,
        variable: &request.variable,
        typed: &request.typed,
        context: &chosen,
        access: &Access::operator(),
        count_max: VALUES_MAX,
    })?;
    Ok(v1::CompleteVariableResponse {
        values: completion.values.iter().map(str::to_owned).collect(),
        total: completion.total,
        has_more: completion.has_more,
    })
}

fn search(
    engine: &Engine,
    request: &v1::SearchResourcesRequest,
    sort: SearchSort,
) -> Result<SearchPage, Error> {
    let variables: Vec<(String, String)> =
        request.variables.iter().map(|pair| (pair.name.clone(), pair.value.clone())).collect();
    let limit = if request.limit == 0 { HITS_DEFAULT } else { request.limit };
    engine.search(&SearchRequest {
        query: &request.query,
        space: said(&request.space),
        variables: &variables,
        mime_type: said(&request.mime_type),
        modified: None,
        sort,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        cursor: said(&request.cursor),
        snippet_bytes: usize::try_from(request.snippet_bytes).unwrap_or(usize::MAX),
        after_sequence: request.after_sequence,
        time_max: SEARCH_TIME_MAX,
        access: &Access::operator(),
    })
}

fn said(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn found(page: SearchPage) -> v1::SearchResourcesResponse {
    v1::SearchResourcesResponse {
        hits: page.hits.into_iter().map(hit).collect(),
        total: page.total,
        total_is_exact: page.total_is_exact,
        next_cursor: page.next_cursor.unwrap_or_default(),
        notes: page.notes.iter().map(|note| told(note, SEARCH_TIME_MAX)).collect(),
    }
}

fn hit(hit: SearchHit) -> v1::SearchHit {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let marks = hit.snippet.marks.iter();
    v1::SearchHit {
        marks: marks
            .map(|mark| v1::ByteRange { start: place(mark.start), end: place(mark.end) })
            .collect(),
        uri: hit.uri,
        title: hit.title,
        snippet: hit.snippet.text,
        // The operator sees everything.
        score: hit.score.unwrap_or_default(),
        space: hit.space,
        mime_type: hit.mime_type,
        last_modified: hit.last_modified.map(convert::time),
    }
}
