//! The admin plane: gRPC for the operator, on a listener of its own. Messages and services are those of `proto/`; each
//! file here is one service, and does what the engine is asked for on a blocking thread.

mod blocking;
mod bounded;
mod changes;
pub(crate) mod client;
mod convert;
mod door;
pub(crate) mod feed;
mod health;
mod host_json;
mod ingest;
mod messages;
mod operations;
mod pace;
pub(crate) mod place;
pub(crate) mod prompts;
mod reading;
mod resources;
mod spaces;
pub(crate) mod status;
mod thread;
mod token;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::prompt::Prompt;
use pressmark_proto::FILE_DESCRIPTOR_SET;
use pressmark_proto::v1::changes_service_server::ChangesServiceServer;
use pressmark_proto::v1::ingest_service_server::IngestServiceServer;
use pressmark_proto::v1::operations_service_server::OperationsServiceServer;
use pressmark_proto::v1::prompts_service_server::PromptsServiceServer;
use pressmark_proto::v1::reading_service_server::ReadingServiceServer;
use pressmark_proto::v1::resources_service_server::ResourcesServiceServer;
use pressmark_proto::v1::spaces_service_server::SpacesServiceServer;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tonic::Status;
use tonic::service::{InterceptorLayer, Routes};
use tonic::transport::Server;

use self::blocking::Blocking;
use self::bounded::bounded;
use self::door::LetIn;
use self::pace::Pace;
pub use self::thread::serve_apart;
pub use self::token::{Callers, Token};
use crate::prompts::Prompts;
use crate::shutdown::Shutdown;

/// Bytes of a message that is sent to us: a batch of mutations and what surrounds it.
pub(crate) const MESSAGE_BYTES_MAX: usize = 36 * 1024 * 1024;
/// Calls that may wait for the store at a time, streams included.
const BLOCKING_THREADS_MAX: usize = 8;
/// Calls at a time that read all of the store (`Verify`, `Backup`), on threads beside those: no other call waits for one.
const LONG_CALLS_MAX: usize = 2;
/// Calls of one connection at a time; what goes beyond it waits in the client (HTTP/2 tells it) or here.
const CALLS_PER_CONNECTION_MAX: usize = 64;
const STREAMS_PER_CONNECTION_MAX: u32 = 64;
/// Ingests of all connections at a time: each may have a message of [`MESSAGE_BYTES_MAX`] half received.
const INGESTS_MAX: usize = 16;
/// A connection that does not answer a ping within this time is closed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// What of a stream may be on its way: a batch of an ingest goes through in one go, not in pieces of 64 KiB (the default of
/// RFC 9113, section 6.5.2) that each wait for leave to be sent.
const STREAM_WINDOW_BYTES: u32 = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 8 * 1024 * 1024;
/// Of HTTP/2; the default of 16 KiB makes hundreds of frames of a batch.
const FRAME_BYTES_MAX: u32 = 256 * 1024;

/// What every service works with.
#[derive(Clone)]
struct Plane {
    engine: Arc<Engine>,
    prompts: Arc<Prompts>,
    blocking: Blocking,
    /// For what reads all of the store.
    long: Blocking,
    pace: Arc<Pace>,
    /// Places for ingests.
    ingests: Arc<Semaphore>,
    /// The newest sequence number; changes with each commit.
    newest: watch::Receiver<u64>,
    shutdown: Shutdown,
}

/// Serves the plane to whom it is for, until the shutdown begins; streams end then.
///
/// # Errors
/// What broke the listener.
pub async fn serve(
    listener: TcpListener,
    engine: Arc<Engine>,
    prompts: Arc<Prompts>,
    callers: Callers,
    shutdown: Shutdown,
) -> io::Result<()> {
    let ends = shutdown.clone();
    let routes = routes(engine, prompts, shutdown).map_err(io::Error::other)?;
    Server::builder()
        .concurrency_limit_per_connection(CALLS_PER_CONNECTION_MAX)
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES_MAX)
        .layer(InterceptorLayer::new(move |request| {
            let request = callers.admit(request)?;
            if let Some(let_in) = request.extensions().get::<LetIn>() {
                let_in.call();
            }
            Ok(request)
        }))
        .add_routes(routes)
        .serve_with_incoming_shutdown(door::connections(listener), async move {
            ends.begun().await;
        })
        .await
        .map_err(io::Error::other)
}

/// The plane's services without a listener: what a command asks of a store that it has opened itself, in the words in
/// which it asks a server; `declared` are the prompts of the configuration, whose names are taken.
pub(crate) fn in_process(
    engine: Arc<Engine>,
    declared: Vec<Arc<Prompt>>,
    shutdown: Shutdown,
) -> Routes {
    let prompts = Arc::new(Prompts::new(Arc::clone(&engine)));
    prompts.declare(declared);
    bounded(services(&Plane::new(engine, prompts, shutdown), Routes::default()))
}

fn routes(
    engine: Arc<Engine>,
    prompts: Arc<Prompts>,
    shutdown: Shutdown,
) -> Result<Routes, tonic_reflection::server::Error> {
    let plane = Plane::new(engine, prompts, shutdown);
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let standard = Routes::default()
        .add_service(health::service(&plane))
        .add_service(reflection().build_v1()?)
        // What older clients ask for.
        .add_service(reflection().build_v1alpha()?);
    Ok(bounded(services(&plane, standard)))
}

fn services(plane: &Plane, routes: Routes) -> Routes {
    let ingest =
        IngestServiceServer::new(plane.clone()).max_decoding_message_size(MESSAGE_BYTES_MAX);
    routes
        .add_service(SpacesServiceServer::new(plane.clone()))
        .add_service(ingest)
        .add_service(ResourcesServiceServer::new(plane.clone()))
        .add_service(ReadingServiceServer::new(plane.clone()))
        .add_service(ChangesServiceServer::new(plane.clone()))
        .add_service(PromptsServiceServer::new(plane.clone()))
        .add_service(OperationsServiceServer::new(plane.clone()))
}

// === impl Plane ===

impl Plane {
    fn new(engine: Arc<Engine>, prompts: Arc<Prompts>, shutdown: Shutdown) -> Plane {
        let (sender, newest) = watch::channel(engine.log_range().newest);
        engine.on_commit(Box::new(move |newest| {
            sender.send_replace(newest);
        }));
        let blocking = Blocking::new(BLOCKING_THREADS_MAX);
        let long = Blocking::new(LONG_CALLS_MAX);
        let ingests = Arc::new(Semaphore::new(INGESTS_MAX));
        Plane { engine, prompts, blocking, long, pace: Arc::default(), ingests, newest, shutdown }
    }

    /// Does something with the engine where blocking is allowed.
    async fn with_engine<T, F>(&self, work: F) -> Result<T, Status>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    {
        let engine = Arc::clone(&self.engine);
        self.blocking.run(move || work(&engine)).await?.map_err(|error| status::of(&error))
    }

    /// The end of the process, as a stream's client hears of it.
    async fn closing(&self) -> Status {
        self.shutdown.begun().await;
        Status::unavailable("the server is shutting down: connect again")
    }
}
