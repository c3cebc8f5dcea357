//! The admin plane through its own clients: every service, over a real connection.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod changes;
mod ingest;
mod long_inputs;
mod operations;
mod prompts;
mod resources;
mod spaces;
mod standard;

use std::sync::Arc;
use std::time::Duration;

use pressmark::admin::{self, Callers};
use pressmark::prompts::Prompts;
use pressmark::shutdown::Shutdown;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::writer::Durability;
use pressmark_proto::v1;
use pressmark_proto::v1::changes_service_client::ChangesServiceClient;
use pressmark_proto::v1::ingest_service_client::IngestServiceClient;
use pressmark_proto::v1::operations_service_client::OperationsServiceClient;
use pressmark_proto::v1::prompts_service_client::PromptsServiceClient;
use pressmark_proto::v1::reading_service_client::ReadingServiceClient;
use pressmark_proto::v1::resources_service_client::ResourcesServiceClient;
use pressmark_proto::v1::spaces_service_client::SpacesServiceClient;
use tokio::net::TcpListener;
use tonic::transport::Channel;

/// A plane in front of a new store with one space, `docs`.
struct Plane {
    folder: tempfile::TempDir,
    prompts: Arc<Prompts>,
    shutdown: Shutdown,
    channel: Channel,
}

fn options() -> EngineOptions {
    EngineOptions {
        block_cache_bytes: 16 << 20,
        hot_cache_bytes: 1 << 20,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(3600),
        owner: "a test".into(),
        full_text: None,
    }
}

impl Plane {
    async fn start() -> Plane {
        Plane::start_with(&options()).await
    }

    async fn start_with(options: &EngineOptions) -> Plane {
        let folder = tempfile::tempdir().unwrap();
        let engine = Arc::new(Engine::open(&folder.path().join("data"), options).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = Shutdown::new();
        let prompts = Arc::new(Prompts::new(Arc::clone(&engine)));
        let (its_prompts, callers) = (Arc::clone(&prompts), Callers::Anyone);
        let plane = admin::serve(listener, engine, its_prompts, callers, shutdown.clone());
        tokio::spawn(async move { plane.await.unwrap() });
        let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
        let plane = Plane { folder, prompts, shutdown, channel };
        let space = v1::Space {
            name: "docs".into(),
            uri_template: "docs://h/{+path}".into(),
            ..v1::Space::default()
        };
        plane.spaces().put_space(v1::PutSpaceRequest { space: Some(space) }).await.unwrap();
        plane
    }

    fn spaces(&self) -> SpacesServiceClient<Channel> {
        SpacesServiceClient::new(self.channel.clone())
    }

    fn ingest(&self) -> IngestServiceClient<Channel> {
        IngestServiceClient::new(self.channel.clone())
    }

    fn resources(&self) -> ResourcesServiceClient<Channel> {
        ResourcesServiceClient::new(self.channel.clone())
    }

    fn reading(&self) -> ReadingServiceClient<Channel> {
        ReadingServiceClient::new(self.channel.clone())
    }

    fn changes(&self) -> ChangesServiceClient<Channel> {
        ChangesServiceClient::new(self.channel.clone())
    }

    fn prompts(&self) -> PromptsServiceClient<Channel> {
        PromptsServiceClient::new(self.channel.clone())
    }

    fn operations(&self) -> OperationsServiceClient<Channel> {
        OperationsServiceClient::new(self.channel.clone())
    }

    /// Sends batches and returns their acknowledgements.
    async fn send(&self, batches: Vec<v1::IngestRequest>) -> Vec<v1::IngestResponse> {
        let sent = self.ingest().ingest(tokio_stream::iter(batches)).await.unwrap();
        let mut stream = sent.into_inner();
        let mut all = Vec::new();
        while let Some(response) = stream.message().await.unwrap() {
            all.push(response);
        }
        all
    }

    async fn put(&self, names: &[&str]) -> v1::IngestResponse {
        let mutations = names.iter().map(|name| put(text(name, "text"))).collect();
        self.send(vec![batch(1, mutations)]).await.remove(0)
    }
}

fn batch(batch_id: u64, mutations: Vec<v1::Mutation>) -> v1::IngestRequest {
    v1::IngestRequest { batch_id, mutations, idempotency_key: None }
}

fn text(name: &str, text: &str) -> v1::Resource {
    v1::Resource {
        space: "docs".into(),
        uri: format!("docs://h/{name}"),
        contents: vec![v1::Part {
            body: Some(v1::part::Body::Text(text.into())),
            ..v1::Part::default()
        }],
        ..v1::Resource::default()
    }
}

fn put(resource: v1::Resource) -> v1::Mutation {
    v1::Mutation { change: Some(v1::mutation::Change::Put(resource)), expected_version: None }
}

fn delete(name: &str) -> v1::Mutation {
    let change = v1::mutation::Change::DeleteUri(format!("docs://h/{name}"));
    v1::Mutation { change: Some(change), expected_version: None }
}
