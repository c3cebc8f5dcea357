//! `pressmark stdio`: serves the host that started it, out of the store or, when another window owns that, out of that
//! window's.

use std::{
    io,
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Duration,
};

use pressmark_index::engine::Engine;
use tokio::{sync::oneshot, task::JoinHandle};

use super::{
    Common, descriptors,
    open::{NotOpened, Setup, open_to_serve, setup, setup_after},
    output::{Failure, chain},
    serve::{Indexing, end_on_signals, finish, hello, index_in_background, runtime, share},
};
use crate::{
    app::{App, DRAIN_DEADLINE},
    sharing::{self, FOLLOWERS_MAX, Folders, NotReached, Relay, RelayConfig, RelayError, Upstream},
    shutdown::Shutdown,
};

/// How long a host that starts us waits for the first pass over the folders: it may list once, at once, and a small
/// collection is there by then. A larger one is served while it is indexed.
const FIRST_PASS_WAIT: Duration = Duration::from_secs(1);

/// How long a store that is in use by somebody who does not share it is waited for at the start. A window that was opened
/// at the same time may still be opening it; a `load` is not waited for.
const START_PATIENCE: Duration = Duration::from_secs(10);

/// How long a client waits in silence for the next owner: longer than one that ends in order takes for that.
const PATIENCE: Duration = Duration::from_secs(30);

/// What passes between the relay and the session of its own client, in bytes.
const OWN_PIPE_BYTES: usize = 64 * 1024;

/// Serves over stdin and stdout until the input ends.
pub(super) fn stdio(common: &Common, paths: &[PathBuf]) -> Result<ExitCode, Failure> {
    let setup = Arc::new(setup(common, paths)?);
    descriptors::raise(FOLLOWERS_MAX);
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        match open_to_serve(&setup, "stdio") {
            Ok(engine) => own(common, &setup, engine).await,
            Err(NotOpened::Owned(_)) => follow(&setup).await,
            Err(NotOpened::Refused(reason)) => Err(reason),
        }
    });
    // A read of stdin that is under way cannot be taken back; do not wait for it.
    runtime.shutdown_background();
    Ok(code?)
}

/// Serves the host out of the store, and the windows that come.
async fn own(common: &Common, setup: &Setup, engine: Arc<Engine>) -> Result<ExitCode, String> {
    let config = &setup.config;
    let app = App::new(Arc::clone(&engine), config.server.clone(), &config.full_text);
    app.declare_prompts(config.prompts.iter().cloned());
    end_on_signals(&app.shutdown)?;
    common.remark(&format!("pressmark: data in {}", setup.data_dir.display()));
    share(setup, &app);
    let mut indexing = index_in_background(setup, &engine, &app, None);
    // Whether it ended, or not in time, or with a panic, which `finish` tells of.
    let _ = tokio::time::timeout(FIRST_PASS_WAIT, &mut indexing.first_pass).await;
    let served = app.serve_stdio().await;
    let code = finish(&app, indexing).await?;
    ended(served.map_err(RelayError::Client)).map(|()| code)
}

/// Serves the host out of the store of another window, and takes its place when it ends.
async fn follow(setup: &Arc<Setup>) -> Result<ExitCode, String> {
    let shutdown = Shutdown::new();
    end_on_signals(&shutdown)?;
    let config = RelayConfig {
        line_bytes_max: usize::try_from(setup.config.server.body_bytes_max).unwrap_or(usize::MAX),
        start_patience: START_PATIENCE,
        patience: PATIENCE,
        drain_timeout: DRAIN_DEADLINE,
    };
    let relay = Relay::new(tokio::io::stdin(), tokio::io::stdout(), config, shutdown.clone());
    let taken_over = Mutex::new(None);
    // What the last owner served: until one was reached, this process is as good as any.
    let folders = Mutex::new(Folders::Same);
    let reach = async || {
        let not_reached = match connect(setup).await {
            Ok(upstream) => {
                if let (Ok(mut folders), Some(served)) = (folders.lock(), upstream.folders()) {
                    *folders = served;
                }
                return Ok(upstream);
            }
            Err(not_reached) => not_reached,
        };
        let former = folders.lock().map_or(Folders::Same, |folders| folders.clone());
        match take_over(setup, former, &shutdown).await {
            Ok((owned, upstream)) => {
                if let Ok(mut place) = taken_over.lock() {
                    *place = Some(owned);
                }
                Ok(upstream)
            }
            // Whoever owns it says more about why it is not shared than its name does.
            Err(NotReached::NotYet(owner)) => Err(match not_reached {
                NotReached::NotYet(_) => NotReached::NotYet(owner),
                refused => refused,
            }),
            Err(failed) => Err(failed),
        }
    };
    let served = relay.run(reach).await;
    match taken_over.into_inner().ok().flatten() {
        Some(owned) => owned.finish().await?,
        // A store that is being opened is closed before the process ends.
        None => drop(shutdown.drain(DRAIN_DEADLINE).await),
    }
    ended(served).map(|()| ExitCode::SUCCESS)
}

async fn connect(setup: &Setup) -> Result<Upstream, NotReached> {
    let hello = hello(setup).map_err(|error| NotReached::NotYet(chain(&error)))?;
    let upstream = sharing::connect(&setup.data_dir, &hello).await?;
    tracing::info!("sharing the store in {} with its owner", setup.data_dir.display());
    Ok(upstream)
}

/// A store that this process took over from another one.
struct Owned {
    app: Arc<App>,
    indexing: JoinHandle<Indexing>,
    session: JoinHandle<io::Result<()>>,
}

/// Opens the store that its owner has left.
async fn take_over(
    setup: &Arc<Setup>,
    former: Folders,
    shutdown: &Shutdown,
) -> Result<(Owned, Upstream), NotReached> {
    let opened = {
        let (own, ends) = (Arc::clone(setup), shutdown.clone());
        let open = move || {
            let (setup, said) = match former {
                Folders::Same => (own, None),
                Folders::Others(served) => {
                    let (setup, said) = setup_after(&own, served.as_ref());
                    (Arc::new(setup), Some(said))
                }
            };
            let engine = open_to_serve(&setup, "stdio")?;
            if ends.has_begun() {
                return Err(NotOpened::Refused("the process ends".to_owned()));
            }
            if let Some(said) = said {
                tracing::warn!("{said}");
            }
            Ok((setup, engine))
        };
        shutdown.tasks().spawn_blocking(open).await
    };
    let (setup, engine) = match opened {
        Ok(Ok(opened)) => opened,
        Ok(Err(NotOpened::Owned(owner))) => return Err(NotReached::NotYet(owner)),
        Ok(Err(NotOpened::Refused(reason))) => return Err(NotReached::Failed(reason)),
        Err(error) => return Err(NotReached::Failed(chain(&error))),
    };
    tracing::info!("this window owns the store in {} now", setup.data_dir.display());
    let config = setup.config.server.clone();
    let full_text = &setup.config.full_text;
    let app = App::ending_with(Arc::clone(&engine), config, full_text, shutdown.clone());
    app.declare_prompts(setup.config.prompts.iter().cloned());
    let app = Arc::new(app);
    share(&setup, &app);
    let (near, far) = tokio::io::duplex(OWN_PIPE_BYTES);
    let session = {
        let (app, (reader, writer)) = (Arc::clone(&app), tokio::io::split(far));
        tokio::spawn(async move { app.serve_lines(reader, writer).await })
    };
    let (replayed, settled) = oneshot::channel();
    let indexing = {
        let (app, engine) = (Arc::clone(&app), Arc::clone(&engine));
        let unsettled = app.unsettled()();
        tokio::spawn(async move {
            // What the folders' owner missed is told to those who have subscribed again.
            let _ = settled.await;
            let indexing = index_in_background(&setup, &engine, &app, None);
            drop(unsettled);
            indexing
        })
    };
    let (reader, writer) = tokio::io::split(near);
    Ok((Owned { app, indexing, session }, Upstream::own(reader, writer, engine, replayed)))
}

// === impl Owned ===

impl Owned {
    async fn finish(self) -> Result<(), String> {
        self.app.shutdown.begin();
        let indexing = self.indexing.await.map_err(|error| chain(&error))?;
        if let Ok(Err(error)) = self.session.await {
            tracing::debug!("the session ended: {error}");
        }
        finish(&self.app, indexing).await.map(drop)
    }
}

/// What the end of the client's lines means for the process.
fn ended(served: Result<(), RelayError>) -> Result<(), String> {
    match served {
        Ok(()) => Ok(()),
        // The host has gone: the end of its output is an end like that of its input.
        Err(RelayError::Client(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
