//! What a command works on: a store that it opens itself, or a running server. Both are asked through the services of
//! the admin plane, so that a command is written once and answers the same.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use pressmark_index::engine::Engine;
use pressmark_proto::v1::GetStatsRequest;
use pressmark_proto::v1::ingest_service_client::IngestServiceClient;
use pressmark_proto::v1::operations_service_client::OperationsServiceClient;
use pressmark_proto::v1::prompts_service_client::PromptsServiceClient;
use pressmark_proto::v1::reading_service_client::ReadingServiceClient;
use pressmark_proto::v1::resources_service_client::ResourcesServiceClient;
use pressmark_proto::v1::spaces_service_client::SpacesServiceClient;
use tokio::runtime::{Handle, Runtime};
use tonic::transport::Error;
use tonic::{Code, Response, Status, Streaming};

use super::common::parse_admin;
use super::open::{
    NotOpened, Setup, configuration, names_a_store, open, open_existing, open_to_search,
    remark_if_failing, setup, wait_for_full_text,
};
use super::output::{Failure, Refusal, chain, code_name};
use super::serve::runtime;
use super::{Admin, Common};
use crate::admin::client::Connection;
use crate::admin::{self, Token, place};
use crate::config::AdminListen;
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

/// Where a command that names no server looks for one.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// Nowhere: it opens the store that is named, or is refused.
    Named,
    /// In the data directory of the store that is named.
    Owner,
    /// There, and where no store is named at the usual address.
    Running,
}

// === impl Target ===

impl Target {
    /// A store that is there already, to look at; its full-text index is left alone.
    pub(super) fn look(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, Reach::Named, || open_existing(&setup(common, &[])?, command))
    }

    /// The same, of the server that has the store or, where no store is named, of one that runs.
    pub(super) fn find(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, Reach::Running, || open_existing(&setup(common, &[])?, command))
    }

    /// The same with its full-text index, brought up to date, to search in it.
    pub(super) fn find_to_search(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, Reach::Running, || {
            let engine = open_to_search(&setup(common, &[])?, command)?;
            wait_for_full_text(&engine, common)?;
            Ok(engine)
        })
    }

    /// The same, to look at the rest, too, when the index cannot be used.
    pub(super) fn find_with_full_text(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, Reach::Running, || with_full_text(common, command))
    }

    /// A store that is there already, to change its resources, or the server that has it.
    pub(super) fn change(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, Reach::Owner, || with_full_text(common, command))
    }

    /// A store with all that it has: its full-text index, brought up to date, if there is one. None is made to be looked at.
    pub(super) fn look_at_all(common: &Common, command: &str) -> Result<Target, Failure> {
        Self::new(common, Reach::Named, || {
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
        Self::new(common, Reach::Named, || open(&setup(common, &[])?, command))
    }

    fn new(
        common: &Common,
        reach: Reach,
        open: impl FnOnce() -> Result<Arc<Engine>, NotOpened>,
    ) -> Result<Target, Failure> {
        if let Some(admin) = &common.admin {
            return Self::server(common, admin);
        }
        match reach {
            Reach::Running if !names_a_store(common, &[]) => return Self::running(common),
            Reach::Running | Reach::Owner => {
                if let Some(target) = Self::owner(common)? {
                    return Ok(target);
                }
            }
            Reach::Named => {}
        }
        let engine = open().map_err(|refused| match refused {
            NotOpened::Owned(text) => {
                NotOpened::Owned(format!("{text}, or {}", way_to_owner(common)))
            }
            refused @ NotOpened::Refused(_) => refused,
        })?;
        let runtime = runtime()?;
        let declared = configuration(common)?.prompts;
        let connection = {
            let _entered = runtime.enter();
            Connection::Store(admin::in_process(Arc::clone(&engine), declared, Shutdown::new()))
        };
        Ok(Target { connection, runtime, engine: Some(engine), url: None })
    }

    /// The server that runs, where neither a store nor a server is named.
    fn running(common: &Common) -> Result<Target, Failure> {
        let said = std::env::var("PRESSMARK_ADMIN").ok().filter(|address| !address.is_empty());
        let (address, named_by) = match &said {
            Some(address) => (address.clone(), " (PRESSMARK_ADMIN)"),
            None => (AdminListen::DEFAULT_ADDRESS.to_string(), ""),
        };
        let admin = parse_admin(&address).map_err(|reason| format!("PRESSMARK_ADMIN: {reason}"))?;
        let Admin::At(url) = admin else {
            return Err("PRESSMARK_ADMIN: `auto` needs a data directory; write an address such as 127.0.0.1:7412".into());
        };
        let target = Self::connect(common, &url)?.map_err(|error| {
            let reason = root_cause(&error);
            Failure::Refused(Refusal {
                code: code_name(Code::Unavailable),
                message: format!(
                    "which store? None is named, and no server answers at {address}{named_by}: {reason}; name a store with \
                     --data DIR or --config FILE, or start a server with `pressmark serve FOLDER`"
                ),
            })
        })?;
        let served = target.served()?;
        common.remark(&format!("asking the server at {address}, which has the store in {served}"));
        Ok(target)
    }

    /// The server that has the named store, as a file in the data directory says; none where that is out of date.
    fn owner(common: &Common) -> Result<Option<Target>, Failure> {
        let data_dir = setup(common, &[])?.data_dir;
        let Some(address) = place::read(&data_dir) else { return Ok(None) };
        let Ok(target) = Self::connect(common, &format!("http://{address}"))? else {
            return Ok(None);
        };
        let served = match target.served() {
            // Another program has the address now.
            Err(Failure::Refused(refusal)) if refusal.code == code_name(Code::Unavailable) => {
                return Ok(None);
            }
            served => served?,
        };
        if !is_same(&served, &data_dir) {
            return Ok(None);
        }
        common.remark(&format!("asking the server at {address}, which has this store"));
        Ok(Some(target))
    }

    fn server(common: &Common, admin: &Admin) -> Result<Target, Failure> {
        let (url, data_dir) = match admin {
            Admin::At(url) => (url.clone(), common.data.clone()),
            Admin::Auto => {
                let Setup { data_dir, .. } = setup(common, &[])?;
                let address = place::read(&data_dir).ok_or_else(|| no_plane(&data_dir))?;
                (format!("http://{address}"), Some(data_dir))
            }
        };
        let target = Self::connect(common, &url)?.map_err(|error| {
            let message = format!(
                "{url}: no server answers: {}; check the address of its admin plane, or start it with `pressmark serve`",
                root_cause(&error)
            );
            Failure::Refused(Refusal { code: code_name(Code::Unavailable), message })
        })?;
        if let Some(data_dir) = data_dir {
            target.check_store(&data_dir)?;
        }
        Ok(target)
    }

    /// A connection to a server, or why there is none.
    fn connect(common: &Common, url: &str) -> Result<Result<Target, Error>, Failure> {
        let token = common.admin_token_file.as_deref();
        // A variable that is set to nothing is not set.
        let token = token.filter(|path| !path.as_os_str().is_empty()).map(Token::read).transpose();
        let token = token.map_err(|error| format!("--admin-token-file: {error}"))?;
        let runtime = runtime()?;
        let connection = runtime.block_on(Connection::connect(url, token.as_ref()));
        Ok(connection.map(|connection| Target {
            connection,
            runtime,
            engine: None,
            url: Some(url.to_owned()),
        }))
    }

    /// The data directory of the server.
    fn served(&self) -> Result<String, Failure> {
        Ok(self.wait(self.operations().get_stats(GetStatsRequest {}))?.data_directory)
    }

    /// Whoever names a data directory means that one, whatever listens at the address.
    fn check_store(&self, data_dir: &Path) -> Result<(), Failure> {
        let served = self.served()?;
        if is_same(&served, data_dir) {
            return Ok(());
        }
        Err(format!(
            "{}: that server has the store in {served}, not the one in {}",
            self.url.as_deref().unwrap_or_default(),
            data_dir.display()
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

    pub(super) fn resources(&self) -> ResourcesServiceClient<Connection> {
        // A resource is as large as it is, and so is a message that holds it.
        ResourcesServiceClient::new(self.connection()).max_decoding_message_size(usize::MAX)
    }

    pub(super) fn ingest(&self) -> IngestServiceClient<Connection> {
        IngestServiceClient::new(self.connection())
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

fn with_full_text(common: &Common, command: &str) -> Result<Arc<Engine>, NotOpened> {
    let engine = open_to_search(&setup(common, &[])?, command)?;
    remark_if_failing(common, wait_for_full_text(&engine, common));
    Ok(engine)
}

/// Whether the data directory is the one that a server says it has.
fn is_same(served: &str, data_dir: &Path) -> bool {
    let wanted = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_path_buf());
    Path::new(served) == wanted
}

/// What is behind a connection that failed, in the words of the system.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
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
