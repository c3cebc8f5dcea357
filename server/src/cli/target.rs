//! What a command works on: a store that it opens itself, or a running server. Both are asked through the services of
//! the admin plane, so that a command is written once and answers the same.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pressmark_index::engine::Engine;
use pressmark_proto::v1::GetStatsRequest;
use pressmark_proto::v1::operations_service_client::OperationsServiceClient;
use pressmark_proto::v1::prompts_service_client::PromptsServiceClient;
use pressmark_proto::v1::reading_service_client::ReadingServiceClient;
use pressmark_proto::v1::spaces_service_client::SpacesServiceClient;
use tokio::runtime::{Handle, Runtime};
use tonic::{Response, Status, Streaming};

use super::open::{
    NotOpened, Setup, open, open_existing, open_to_search, remark_if_failing, setup,
    wait_for_full_text,
};
use super::output::{Failure, Refusal, chain, code_name};
use super::serve::runtime;
use super::{Admin, Common};
use crate::admin::client::Connection;
use crate::admin::{self, Token, place};
use crate::shutdown::Shutdown;

/// A store or a server. Fields drop in this order: what still runs ends before the store is closed.
pub(super) struct Target {
    connection: Connection,
    runtime: Runtime,
    /// The store, where this process has opened one.
    engine: Option<Arc<Engine>>,
    /// Where the server is.
    url: Option<String>,
}

// === impl Target ===

impl Target {
    /// A store that is there already, to look at; its full-text index is left alone.
    pub(super) fn look(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, || open_existing(&setup(common, &[])?, command))
    }

    /// The same with its full-text index, brought up to date, to search in it.
    pub(super) fn look_to_search(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, || {
            let engine = open_to_search(&setup(common, &[])?, command)?;
            wait_for_full_text(&engine, common)?;
            Ok(engine)
        })
    }

    /// The same, to look at the rest, too, when the index cannot be used.
    pub(super) fn look_with_full_text(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, || {
            let engine = open_to_search(&setup(common, &[])?, command)?;
            remark_if_failing(common, wait_for_full_text(&engine, common));
            Ok(engine)
        })
    }

    /// A store with all that it has: its full-text index, brought up to date, if there is one. None is made to be looked at.
    pub(super) fn look_at_all(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, || {
            let setup = setup(common, &[])?;
            // Whatever stands there.
            if std::fs::symlink_metadata(setup.data_dir.join("full_text")).is_err() {
                return open_existing(&setup, command);
            }
            let engine = open_to_search(&setup, command)?;
            remark_if_failing(common, wait_for_full_text(&engine, common));
            Ok(engine)
        })
    }

    /// A store that is made if it is not there; the configured spaces are brought into it.
    pub(super) fn make(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, || open(&setup(common, &[])?, command))
    }

    fn new(
        common: &Common,
        open: impl FnOnce() -> Result<Arc<Engine>, NotOpened>,
    ) -> Result<Target, Failure> {
        let runtime = runtime()?;
        if let Some(admin) = &common.admin {
            return Self::server(common, admin, runtime);
        }
        let engine = open().map_err(|refused| match refused {
            NotOpened::Owned(text) => Failure::Refused(Refusal {
                code: "FAILED_PRECONDITION",
                message: format!("{text}, or {}", way_to_owner(common)),
            }),
            NotOpened::Refused(text) => Failure::from(text),
        })?;
        let connection = {
            let _entered = runtime.enter();
            Connection::Store(admin::in_process(Arc::clone(&engine), Shutdown::new()))
        };
        Ok(Target { connection, runtime, engine: Some(engine), url: None })
    }

    fn server(common: &Common, admin: &Admin, runtime: Runtime) -> Result<Target, Failure> {
        let (url, data_dir) = match admin {
            Admin::At(url) => (url.clone(), common.data.clone()),
            Admin::Auto => {
                let Setup { data_dir, .. } = setup(common, &[])?;
                let address = place::read(&data_dir).ok_or_else(|| no_plane(&data_dir))?;
                (format!("http://{address}"), Some(data_dir))
            }
        };
        let token = common.admin_token_file.as_deref();
        // A variable that is set to nothing is not set.
        let token = token.filter(|path| !path.as_os_str().is_empty()).map(Token::read).transpose();
        let token = token.map_err(|error| format!("--admin-token-file: {error}"))?;
        let connection = runtime.block_on(Connection::connect(&url, token.as_ref()));
        let connection = connection.map_err(|error| {
            let message = format!("{url}: {}", chain(&error));
            Failure::Refused(Refusal { code: "UNAVAILABLE", message })
        })?;
        let target = Target { connection, runtime, engine: None, url: Some(url) };
        if let Some(data_dir) = data_dir {
            target.check_store(&data_dir)?;
        }
        Ok(target)
    }

    /// Whoever names a data directory means that one, whatever listens at the address.
    fn check_store(&self, data_dir: &Path) -> Result<(), Failure> {
        let served = self.wait(self.operations().get_stats(GetStatsRequest {}))?.data_directory;
        let wanted = data_dir.canonicalize().unwrap_or_else(|_| PathBuf::from(data_dir));
        if Path::new(&served) == wanted {
            return Ok(());
        }
        Err(format!(
            "{}: that server has the store in {served}, not the one in {}",
            self.url.as_deref().unwrap_or_default(),
            wanted.display()
        )
        .into())
    }

    /// The store, where this process has opened one.
    pub(super) fn engine(&self) -> Option<&Engine> {
        self.engine.as_deref()
    }

    pub(super) fn connection(&self) -> Connection {
        self.connection.clone()
    }

    pub(super) fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    pub(super) fn spaces(&self) -> SpacesServiceClient<Connection> {
        SpacesServiceClient::new(self.connection())
    }

    pub(super) fn operations(&self) -> OperationsServiceClient<Connection> {
        OperationsServiceClient::new(self.connection())
    }

    pub(super) fn prompts(&self) -> PromptsServiceClient<Connection> {
        // A list comes in messages of a prompt more than a page.
        PromptsServiceClient::new(self.connection()).max_decoding_message_size(usize::MAX)
    }

    pub(super) fn reading(&self) -> ReadingServiceClient<Connection> {
        // A resource is as large as it is: what is stored is what is asked for.
        ReadingServiceClient::new(self.connection()).max_decoding_message_size(usize::MAX)
    }

    /// The answer to a call.
    pub(super) fn wait<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Failure> {
        let answer = self.runtime.block_on(call);
        answer.map(Response::into_inner).map_err(|status| self.failure(&status))
    }

    /// The next message of a stream.
    pub(super) fn next<T>(&self, stream: &mut Streaming<T>) -> Result<Option<T>, Failure> {
        self.runtime.block_on(stream.message()).map_err(|status| self.failure(&status))
    }

    fn failure(&self, status: &Status) -> Failure {
        // What the services say stands for itself; what the connection says needs its place.
        let message = match (&self.url, std::error::Error::source(status)) {
            (Some(url), Some(source)) => format!("{url}: {}: {}", status.message(), chain(source)),
            (Some(_) | None, _) => status.message().to_owned(),
        };
        Failure::Refused(Refusal { code: code_name(status.code()), message })
    }
}

/// Why there is nothing to ask in a data directory.
fn no_plane(data_dir: &Path) -> String {
    let folder = data_dir.display();
    match Engine::owner_of(data_dir) {
        Some(owner) => format!(
            "{folder}: it is owned by {owner}, which has no admin plane: `pressmark serve` has one with --admin-listen ADDRESS"
        ),
        None => format!(
            "{folder}: no server says where its admin plane is; start one with `pressmark serve`, or name it with --admin ADDRESS"
        ),
    }
}

/// How to ask the owner of a store that cannot be opened.
fn way_to_owner(common: &Common) -> String {
    let known = setup(common, &[]).ok().and_then(|setup| place::read(&setup.data_dir));
    match known {
        Some(address) => format!("ask it: --admin {address}"),
        None => "ask it with --admin ADDRESS, if it is a `serve` with an admin plane".to_owned(),
    }
}
