//! `pressmark serve` and `pressmark stdio`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::engine::Engine;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::open::{Setup, open_to_serve, setup};
use super::{Common, chain, descriptors, say, try_lines};
use crate::app::App;
use crate::config;
use crate::shutdown::{Drained, Shutdown};
use crate::watch::Keeper;

/// Serves over HTTP until a signal ends it.
pub(super) fn http(
    common: &Common,
    paths: &[PathBuf],
    listen: Option<SocketAddr>,
) -> Result<ExitCode, String> {
    let setup = setup(common, paths)?;
    let server = &setup.config.server;
    let address = listen.unwrap_or(server.listen);
    config::check_listen(address, server.unsafe_listen_without_auth)
        .map_err(|reason| format!("--listen: {reason}"))?;
    descriptors::raise(server.connections_max);
    let runtime = runtime()?;
    runtime.block_on(async {
        // Bound before the store is opened: an address in use is said at once.
        let listener =
            TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))?;
        let bound = listener.local_addr().map_err(|error| error.to_string())?;
        let engine = open_to_serve(&setup, "serve")?;
        let app = App::new(Arc::clone(&engine), setup.config.server.clone());
        end_on_signals(&app.shutdown)?;
        say(&format!("pressmark: data in {}", setup.data_dir.display()));
        say(&format!("pressmark: serving MCP at http://{bound}/mcp"));
        let indexing = index_in_background(&setup, &engine, &app, Some(bound));
        app.serve_http(listener).await;
        finish(&app, indexing).await
    })
}

/// Serves over stdin and stdout until the input ends.
pub(super) fn stdio(common: &Common, paths: &[PathBuf]) -> Result<ExitCode, String> {
    let setup = setup(common, paths)?;
    descriptors::raise(1);
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        let engine = open_to_serve(&setup, "stdio")?;
        let app = App::new(Arc::clone(&engine), setup.config.server.clone());
        end_on_signals(&app.shutdown)?;
        say(&format!("pressmark: data in {}", setup.data_dir.display()));
        let mut indexing = index_in_background(&setup, &engine, &app, None);
        // Whether it ended, or not in time, or with a panic, which `finish` tells of.
        let _ = tokio::time::timeout(FIRST_PASS_WAIT, &mut indexing.first_pass).await;
        let served = app.serve_stdio().await;
        let code = finish(&app, indexing).await?;
        match served {
            Ok(()) => Ok(code),
            // The host has gone: the end of its output is an end like that of its input.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(code),
            Err(error) => Err(format!("stdio: {error}")),
        }
    });
    // A read of stdin that is under way cannot be taken back; do not wait for it.
    runtime.shutdown_background();
    code
}

fn runtime() -> Result<Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("pressmark")
        .build()
        .map_err(|error| format!("the runtime did not start: {error}"))
}

/// The thread that indexes.
struct Indexing {
    /// Done when the folders have been brought up to date for the first time.
    first_pass: oneshot::Receiver<()>,
    /// Done when the thread has ended.
    ended: JoinHandle<()>,
}

/// Brings the sources up to date and keeps them so, on a thread of its own; on a terminal's side, says what can be tried
/// after the first pass.
fn index_in_background(
    setup: &Setup,
    engine: &Arc<Engine>,
    app: &App,
    bound: Option<SocketAddr>,
) -> Indexing {
    let engine = Arc::clone(engine);
    let plan = setup.plan();
    let metrics = Arc::clone(&app.metrics);
    let shutdown = app.shutdown.clone();
    let unsettled = app.unsettled();
    let settling = unsettled();
    let (passed, first_pass) = oneshot::channel();
    let ended = tokio::task::spawn_blocking(move || {
        let mut keeper = Keeper::new(&engine, &plan, &metrics, &shutdown, Box::new(unsettled));
        let (waker, begun) = (keeper.waker(), shutdown.clone());
        tokio::spawn(async move {
            begun.begun().await;
            waker.wake();
        });
        let summary = keeper.first_pass();
        drop(settling);
        // On HTTP nobody waits for it.
        let _ = passed.send(());
        if let Some(bound) = bound.filter(|_| !shutdown.has_begun()) {
            try_lines::print(&engine, bound, summary);
        }
        keeper.keep_up();
    });
    Indexing { first_pass, ended }
}

fn end_on_signals(shutdown: &Shutdown) -> Result<(), String> {
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals = signal(kind).map_err(|error| format!("signals: {error}"))?;
        let shutdown = shutdown.clone();
        tokio::spawn(async move {
            signals.recv().await;
            shutdown.begin();
        });
    }
    Ok(())
}

/// How long a host that starts us waits for the first pass over the folders: it may list once, at once, and a small
/// collection is there by then. A larger one is served while it is indexed.
const FIRST_PASS_WAIT: Duration = Duration::from_secs(1);

async fn finish(app: &App, indexing: Indexing) -> Result<ExitCode, String> {
    let drained = app.drain().await;
    // The indexer ends between two files once the shutdown has begun.
    indexing.ended.await.map_err(|error| chain(&error))?;
    match drained {
        Drained::Completely => {}
        Drained::Cut { tasks } => tracing::warn!(tasks, "ended before all requests were answered"),
    }
    Ok(ExitCode::SUCCESS)
}
