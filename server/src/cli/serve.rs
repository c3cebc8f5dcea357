//! `pressmark serve`, and what it has in common with `pressmark stdio`.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use pressmark_index::background::take_short_turns;
use pressmark_index::engine::Engine;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::open::{Setup, names_a_store, open_to_serve, place_of_key, setup};
use super::output::{Failure, chain};
use super::reload::{Reload, on_hangup};
use super::{Common, descriptors, try_lines};
use crate::admin::place::Place;
use crate::admin::{Callers, Token};
use crate::app::App;
use crate::config::{self, AdminListen, ServerConfig};
use crate::sharing::{Hello, Socket};
use crate::shutdown::{Drained, Shutdown};
use crate::sources::FolderSource;
use crate::watch::Keeper;

/// Ports from this one on are free for everybody.
const PORT_FREE_MIN: u16 = 1024;

const NOTHING_TO_SERVE: &str = "nothing to serve: name the folders, as in `pressmark serve ~/handbook`; for records that \
                                were loaded name the store with --data DIR, or a configuration with --config FILE";

/// Serves over HTTP until a signal ends it.
pub(super) fn http(
    common: &Common,
    paths: &[PathBuf],
    listen: Option<SocketAddr>,
    admin_listen: Option<AdminListen>,
) -> Result<ExitCode, Failure> {
    if !names_a_store(common, paths) {
        return Err(NOTHING_TO_SERVE.into());
    }
    let setup = setup(common, paths)?;
    let server = &setup.config.server;
    let address = listen.unwrap_or(server.listen);
    config::check_listen(address, server.unsafe_listen_without_auth)
        .map_err(|reason| format!("--listen: {reason}"))?;
    let admin_listen = admin_listen.unwrap_or(server.admin_listen);
    config::check_admin_listen(admin_listen, server.admin_token_file.is_some())
        .map_err(|reason| format!("--admin-listen: {reason}"))?;
    let callers = match &server.admin_token_file {
        Some(file) => {
            Callers::With(Token::read(file).map_err(|reason| token_fault(common, paths, &reason))?)
        }
        None => Callers::Anyone,
    };
    let connections_max = descriptors::raise(server.connections_max);
    let runtime = runtime()?;
    runtime.block_on(async {
        // Bound before the store is opened: an address in use is said at once.
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| not_bound(address, &error, "--listen"))?;
        let bound = listener.local_addr().map_err(|error| error.to_string())?;
        let admin = bind_admin(admin_listen).await?;
        let engine = open_to_serve(&setup, "serve")?;
        let config = &setup.config;
        let server = ServerConfig { connections_max, ..config.server.clone() };
        let app = App::new(Arc::clone(&engine), server, &config.full_text);
        app.declare_prompts(config.prompts.iter().cloned());
        end_on_signals(&app.shutdown)?;
        let reload = Reload {
            common: common.clone(),
            paths: paths.to_vec(),
            setup: setup.clone(),
            engine: Arc::clone(&engine),
            declare_prompts: Box::new(app.prompt_declarer()),
        };
        on_hangup(reload, &app.shutdown)?;
        share(&setup, &app);
        common.remark(&format!("pressmark: data in {}", setup.data_dir.display()));
        common.remark(&format!("pressmark: serving MCP at http://{bound}/mcp"));
        // Taken away before the store is given up.
        let _place = match admin {
            Some(admin) => serve_plane(common, &setup, &app, admin, callers)?,
            None => None,
        };
        let ready = Ready { common: common.clone(), bound };
        let indexing = index_in_background(&setup, &engine, &app, Some(ready));
        app.serve_http(listener).await;
        Ok(finish(&app, indexing).await?)
    })
}

/// The admin plane's listener. An address that nobody has asked for may be taken by another server: then any port of
/// loopback will do, since commands find it by the data directory.
async fn bind_admin(listen: AdminListen) -> Result<Option<TcpListener>, String> {
    let address = match listen {
        AdminListen::Off => return Ok(None),
        AdminListen::Default => AdminListen::DEFAULT_ADDRESS,
        AdminListen::At(address) => address,
    };
    let bound = match (TcpListener::bind(address).await, listen) {
        (Err(taken), AdminListen::Default) if taken.kind() == io::ErrorKind::AddrInUse => {
            TcpListener::bind(SocketAddr::new(address.ip(), 0)).await
        }
        (bound, _) => bound,
    };
    bound
        .map(Some)
        .map_err(|error| format!("admin plane: {}", not_bound(address, &error, "--admin-listen")))
}

/// Why an address cannot be listened at, and what to do about it.
fn not_bound(address: SocketAddr, error: &io::Error, option: &str) -> String {
    let (what, way_out) = match error.kind() {
        io::ErrorKind::AddrInUse => (
            "the address is in use".to_owned(),
            format!(
                "end what listens there, perhaps another `pressmark serve`, or choose another port with {option}; port 0 is any free one"
            ),
        ),
        io::ErrorKind::PermissionDenied if address.port() < PORT_FREE_MIN => (
            format!("ports below {PORT_FREE_MIN} are for the administrator"),
            format!(
                "choose a higher one with {option}, or give the program the capability CAP_NET_BIND_SERVICE"
            ),
        ),
        io::ErrorKind::AddrNotAvailable => (
            "this machine does not have that address".to_owned(),
            format!("choose one of its own with {option}, such as 127.0.0.1"),
        ),
        _ => (error.to_string(), format!("choose another address with {option}")),
    };
    format!("{address}: {what}; {way_out}")
}

/// What is wrong with the token file, and where it is named.
fn token_fault(common: &Common, paths: &[PathBuf], reason: &str) -> String {
    let place = place_of_key(common, paths, "server", "admin_token_file");
    format!("{place}server.admin_token_file: {reason}")
}

/// Serves the admin plane, and names its address in the data directory for commands that look for it there.
fn serve_plane(
    common: &Common,
    setup: &Setup,
    app: &App,
    listener: TcpListener,
    callers: Callers,
) -> Result<Option<Place>, String> {
    let bound = listener.local_addr().map_err(|error| error.to_string())?;
    app.serve_admin(listener, callers);
    let place = Place::publish(&setup.data_dir, bound);
    if let Err(error) = &place {
        tracing::warn!("commands cannot find the admin plane by the data directory: {error}");
    }
    common.remark(&format!("pressmark: admin plane at http://{bound}"));
    Ok(place.ok())
}

/// The runtime. A write beyond the process's limit on the size of files (`ulimit -f`) is an error from then on, as on a
/// full disk, and not the end of the process.
pub(super) fn runtime() -> Result<Runtime, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("pressmark")
        .on_thread_start(take_short_turns)
        .build()
        .map_err(|error| format!("the runtime did not start: {error}"))?;
    let entered = runtime.enter();
    let file_too_large = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // The handler stays when nobody waits for the signal any more.
    drop(signal(file_too_large).map_err(|error| format!("signals: {error}"))?);
    drop(entered);
    Ok(runtime)
}

/// The thread that indexes.
pub(super) struct Indexing {
    /// Done when the folders have been brought up to date for the first time.
    pub(super) first_pass: oneshot::Receiver<()>,
    /// Done when the thread has ended.
    ended: JoinHandle<()>,
}

/// What is said after the first pass.
pub(super) struct Ready {
    common: Common,
    bound: SocketAddr,
}

/// Brings the sources up to date and keeps them so, on a thread of its own; on a terminal's side, says what can be tried
/// after the first pass.
pub(super) fn index_in_background(
    setup: &Setup,
    engine: &Arc<Engine>,
    app: &App,
    ready: Option<Ready>,
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
        if let Some(ready) = ready.filter(|_| !shutdown.has_begun()) {
            try_lines::print(&ready.common, &engine, ready.bound, summary);
        }
        keeper.keep_up();
    });
    Indexing { first_pass, ended }
}

pub(super) fn end_on_signals(shutdown: &Shutdown) -> Result<(), String> {
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

/// Lets the windows on the same data directory in. Where that is not possible they are refused, and the owner serves on.
pub(super) fn share(setup: &Setup, app: &App) {
    let socket = Socket::bind(&setup.data_dir).and_then(|socket| Ok((socket, hello(setup)?)));
    match socket {
        Ok((socket, hello)) => app.share(socket, hello),
        Err(error) => {
            tracing::warn!("other windows cannot share the store: no socket for them: {error}");
        }
    }
}

/// What this process says of itself to those who share a store with it.
pub(super) fn hello(setup: &Setup) -> io::Result<Hello> {
    let sources = setup.sources.iter().map(FolderSource::source_id).collect();
    Hello::new(&setup.data_dir, sources, setup.served.clone())
}

pub(super) async fn finish(app: &App, indexing: Indexing) -> Result<ExitCode, String> {
    let drained = app.drain().await;
    // The indexer ends between two files once the shutdown has begun.
    indexing.ended.await.map_err(|error| chain(&error))?;
    match drained {
        Drained::Completely => {}
        Drained::Cut { tasks } => tracing::warn!(tasks, "ended before all requests were answered"),
    }
    Ok(ExitCode::SUCCESS)
}
