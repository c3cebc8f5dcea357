//! The engine's front: opening a store, reading from it, committing to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::Access;
use crate::backup::{self, BackupReport, BackupRequest, Progress};
use crate::bulk::open_store;
use crate::catalog::SpaceCatalog;
use crate::change_log::{self, LogRange};
use crate::completion::{
    self, Completion, CompletionRequest, CompletionStats, Completions, Upkeep,
};
use crate::contents_fragment::descriptor::Descriptor;
use crate::cursor::{self, List, SECRET_BYTES};
use crate::data_dir;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch_text::{FetchedText, TextRequest};
use crate::format;
use crate::full_text::{
    Feeder, FullText, FullTextProgress, FullTextStats, SearchPage, SearchRequest,
};
use crate::hot_values::HotValues;
use crate::list::{ListPage, PageBounds, SpacePage};
use crate::lock::DataDirLock;
use crate::mutation::Change;
use crate::prompt::{Prompt, PromptCatalog};
use crate::read::{ReadOutcome, ReadRequest};
use crate::recovery::Recovery;
use crate::remove_space::finish_removals;
use crate::resource::UnixMillis;
use crate::shared::Shared;
use crate::space::{SpaceId, SpaceSettings};
use crate::stop::Stop;
use crate::store::codec::Reader;
use crate::store::value::read_visibility;
use crate::store::{Cf, Opened};
use crate::stored::{ScanPage, ScanRequest, StoredResource};
use crate::verify::{self, VerifyReport};
use crate::writer::{Done, Work, Writer};

pub use crate::commit::{COMMIT_MUTATIONS_MAX, Committed, PendingCommit, PreparedCommit};
pub use crate::format::FORMAT_VERSION;
pub use crate::options::EngineOptions;

/// An open store. All methods are synchronous and may be called from many threads at once.
pub struct Engine {
    // The writer's threads end before the store closes: fields drop in this order.
    pub(crate) writer: Writer,
    _upkeep: Upkeep,
    _feeder: Option<Feeder>,
    pub(crate) shared: Arc<Shared>,
    secret: [u8; SECRET_BYTES],
    data_dir: PathBuf,
}

/// Whether the engine can do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether commits are taken.
    pub writable: bool,
    /// Why not: what failed, and what stands in the way of writing again.
    pub reason: Option<String>,
    /// Since when not, in milliseconds since 1970.
    pub since: Option<UnixMillis>,
}

/// Figures of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// Resources in all spaces.
    pub resources: u64,
    /// What is kept of the change log.
    pub log: LogRange,
    /// Different ACLs.
    pub acls: usize,
    /// Bytes in tables and blob files, by column family.
    pub disk_bytes: Vec<(&'static str, u64)>,
    /// Bytes in the block cache.
    pub cache_bytes: usize,
    /// Bytes and entries of the cache of values that are read often.
    pub hot_values: (u64, usize),
    /// Figures of the completion indexes.
    pub completion: CompletionStats,
    /// Figures of the full-text index, where there is one.
    pub full_text: Option<FullTextStats>,
}

impl Engine {
    /// Opens the data directory, or makes it. A store whose disk is full or takes no writes is opened all the same:
    /// reads are served, and [`Engine::health`] says why commits are refused until writing works again.
    ///
    /// # Errors
    /// `Conflict` when it holds no store but other files in its place, `Locked` when another process owns it, `UnknownFormat` when a newer program wrote it, `Corrupt`, `Io`.
    pub fn open(data_dir: &Path, options: &EngineOptions) -> Result<Engine> {
        data_dir::prepare(data_dir)?;
        let lock = DataDirLock::acquire(data_dir, &options.owner)?;
        backup::delete_leftovers(data_dir);
        let mut recovery = Recovery::new(data_dir, options.change_log_retention);
        let opened = open_store(&data_dir.join("store"), options.block_cache_bytes)?;
        let (store, fault) = match opened {
            Opened::Writable(store) => (store, None),
            Opened::ReadOnly(store, fault) => (store, Some(fault)),
        };
        let secret = format::check_or_stamp(&store, data_dir)?;
        let hot = HotValues::new(options.hot_cache_bytes);
        let completions = Completions::new(
            data_dir,
            options.completion_memory_entries,
            options.completion_cache_bytes,
        );
        let full_text = options.full_text.clone();
        let full_text = full_text.map(|options| Arc::new(FullText::new(data_dir, options)));
        let (shared, mut state) =
            Shared::load((store, lock), hot, completions, full_text, options.change_log_retention)?;
        let shared = Arc::new(shared);
        if let Some(fault) = fault {
            shared.refuse_writes(&fault);
            recovery.begin_read_only();
        }
        finish_removals(&shared, &mut state);
        completion::open(&shared, &shared.catalog());
        let upkeep = Upkeep::start(&shared)?;
        let feeder = match &shared.full_text {
            Some(full_text) => Some(Feeder::start(&shared, full_text)?),
            None => None,
        };
        let writer = Writer::start(&shared, state, recovery, options.durability)?;
        Ok(Engine {
            writer,
            _upkeep: upkeep,
            _feeder: feeder,
            shared,
            secret,
            data_dir: data_dir.to_owned(),
        })
    }

    // === reading ===

    /// The spaces that are served.
    pub fn spaces(&self) -> Arc<SpaceCatalog> {
        self.shared.catalog()
    }

    /// Contents of a resource, of a part of it, or of a folder-like URI.
    ///
    /// # Errors
    /// `NotFound` (also for what the caller may not see), `InvalidUri`, `InvalidFragment`, `LimitExceeded`
    /// (the text names the way to read a part), `Corrupt`, `Io`.
    pub fn read(&self, request: &ReadRequest<'_>) -> Result<ReadOutcome> {
        self.shared.read(request)
    }

    /// A page of `resources/list`; without a cursor the first.
    ///
    /// # Errors
    /// `InvalidCursor` for anything that this list of this store did not give, `Corrupt`, `Io`.
    pub fn list(
        &self,
        cursor: Option<&str>,
        access: &Access,
        bounds: PageBounds,
    ) -> Result<ListPage> {
        self.shared.list(&self.secret, cursor, access, bounds)
    }

    /// A page of `resources/templates/list`; without a cursor the first.
    ///
    /// # Errors
    /// `InvalidCursor`.
    pub fn list_templates(
        &self,
        cursor: Option<&str>,
        access: &Access,
        bounds: PageBounds,
    ) -> Result<SpacePage> {
        self.shared.list_templates(&self.secret, cursor, access, bounds)
    }

    /// What lists say of a resource, of one that a fragment is a part of, or of a folder-like URI.
    ///
    /// # Errors
    /// `NotFound` (also for what the caller may not see), `InvalidUri`, `Corrupt`, `Io`.
    pub fn descriptor(&self, uri: &str, access: &Access) -> Result<Descriptor> {
        self.shared.descriptor(uri, access)
    }

    /// The prompts that are stored.
    pub fn prompts(&self) -> Arc<PromptCatalog> {
        self.shared.prompts()
    }

    /// The cursor of a list of prompts in the order of their names that goes on after this name.
    pub fn prompts_cursor(&self, name: &str) -> String {
        cursor::encode(&self.secret, List::Prompts, name.as_bytes())
    }

    /// The name in a cursor of [`Engine::prompts_cursor`].
    ///
    /// # Errors
    /// `InvalidCursor`.
    pub fn prompts_after(&self, cursor: &str) -> Result<String> {
        let position = cursor::decode(&self.secret, List::Prompts, cursor)?;
        Reader::new(&position, "cursor").rest_str().map(str::to_owned)
    }

    /// A secret of this store for another purpose, which stays the same as long as the store does. Nobody who knows it
    /// learns another one.
    pub fn derived_secret(&self, purpose: &str) -> [u8; SECRET_BYTES] {
        blake3::derive_key(purpose, &self.secret)
    }

    /// A window of a resource's text.
    ///
    /// # Errors
    /// As [`Engine::read`].
    pub fn fetch_text(&self, request: &TextRequest<'_>) -> Result<FetchedText> {
        self.shared.fetch_text(request)
    }

    /// A resource as it was put, with its version, whoever may see it: for the operator.
    ///
    /// # Errors
    /// `NotFound`, `InvalidUri`, `Corrupt`, `Io`.
    pub fn stored(&self, uri: &str) -> Result<StoredResource> {
        self.shared.stored(uri)
    }

    /// Stored resources in the byte order of their URIs, from one state of the store: a page of a scan.
    ///
    /// # Errors
    /// `NotFound` for a space that is not there, `Corrupt`, `Io`.
    pub fn scan(&self, request: &ScanRequest<'_>) -> Result<ScanPage> {
        self.shared.scan(request)
    }

    /// The best values of a variable for what is typed, with how many there are.
    ///
    /// # Errors
    /// `NotFound` for a space that is not there or that the caller may not use, and for a variable that its template
    /// does not have; `LimitExceeded` for typed text that is too long; `Corrupt`, `Io`.
    pub fn complete(&self, request: &CompletionRequest<'_>) -> Result<Arc<Completion>> {
        self.shared.complete(request)
    }

    /// The same, if it was answered lately, or takes few steps in files that are mapped into memory: some microseconds.
    /// `None`: it may take milliseconds, so [`Engine::complete`] it where nothing waits behind it.
    ///
    /// # Errors
    /// As [`Engine::complete`].
    pub fn complete_at_once(
        &self,
        request: &CompletionRequest<'_>,
    ) -> Result<Option<Arc<Completion>>> {
        self.shared.complete_at_once(request)
    }

    /// The resources that hold the words of a query, the best first.
    ///
    /// # Errors
    /// `InvalidCursor` for a cursor of another search; `NotFound` for a space that is not there or that the caller may not
    /// use, and where the engine was opened without full text; `Corrupt` when the index is damaged: it is made anew then;
    /// `Io`.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchPage> {
        self.shared.search(&self.secret, request)
    }

    /// How far the full-text index is; `None`: there is none.
    pub fn full_text_progress(&self) -> Option<FullTextProgress> {
        self.shared.full_text_progress()
    }

    /// Has `hook` called with the newest sequence number after each batch that is published, on the writer's thread: it
    /// must not block, and must not call the engine's writing half. All hooks are called, as long as the engine is open.
    ///
    /// A batch may have changed nothing but spaces; then the number is that of the batch before it.
    pub fn on_commit(&self, hook: Box<dyn Fn(u64) + Send + Sync>) {
        self.shared.on_commit(&Arc::from(hook));
    }

    /// Has the completion index of a space, or of all spaces, made anew in the background; returns how many those are.
    ///
    /// # Errors
    /// `NotFound` when there is no space of this name.
    pub fn remake_completion(&self, space: Option<&str>) -> Result<usize> {
        let spaces = self.spaces();
        let id = space.map(|name| spaces.named(name).map(|space| space.id)).transpose()?;
        Ok(self.shared.completions.remake(id))
    }

    /// Has the full-text index made anew in the background; false: there is none.
    pub fn remake_full_text(&self) -> bool {
        let full_text = self.shared.full_text.as_ref();
        full_text.inspect(|full_text| full_text.remake()).is_some()
    }

    /// How many spaces complete nothing yet, because their index is being made.
    pub fn spaces_without_completion(&self) -> usize {
        self.shared.completions.spaces_behind()
    }

    /// Up to `count_max` changes after `sequence`, oldest first.
    ///
    /// # Errors
    /// `LimitExceeded` when some of them are no longer kept, `Corrupt`, `Io`.
    pub fn changes_after(&self, sequence: u64, count_max: usize) -> Result<Vec<Change>> {
        change_log::read_after(
            &self.shared.store(),
            &self.shared.acls,
            self.shared.log_range(),
            sequence,
            count_max,
        )
    }

    /// The space of a stored resource; `None` when there is no resource with exactly this URI.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub fn space_of(&self, uri: &str) -> Result<Option<SpaceId>> {
        let store = self.shared.store();
        let value = store.get(Cf::Contents, uri.as_bytes())?;
        value.map(|value| read_visibility(&value).map(|(space, _)| space)).transpose()
    }

    // === writing ===

    /// Adds a space, or changes the settings of the one with its name.
    ///
    /// # Errors
    /// `InvalidTemplate` with position and reason, `Conflict`, `Poisoned`, `Io`.
    pub fn put_space(&self, settings: SpaceSettings) -> Result<SpaceId> {
        match self.writer.submit(Work::PutSpace(Box::new(settings)))? {
            Done::Space(id) => Ok(id),
            Done::Mutations(_) | Done::Replayed { .. } | Done::Removed(_) | Done::Prompt { .. } => {
                Err(mixed_up())
            }
        }
    }

    /// Removes a space with all its resources and returns how many those were.
    ///
    /// # Errors
    /// `NotFound`, `Poisoned`, `Io`.
    pub fn remove_space(&self, name: &str) -> Result<u64> {
        match self.writer.submit(Work::RemoveSpace(name.to_owned()))? {
            Done::Removed(count) => Ok(count),
            Done::Mutations(_) | Done::Replayed { .. } | Done::Space(_) | Done::Prompt { .. } => {
                Err(mixed_up())
            }
        }
    }

    /// Stores a prompt, in place of the one with its name; returns whether there was one.
    ///
    /// # Errors
    /// `LimitExceeded` when the store holds too many, `Poisoned`, `Io`.
    pub fn put_prompt(&self, prompt: Arc<Prompt>) -> Result<bool> {
        match self.writer.submit(Work::PutPrompt(prompt))? {
            Done::Prompt { replaced } => Ok(replaced),
            Done::Mutations(_) | Done::Replayed { .. } | Done::Space(_) | Done::Removed(_) => {
                Err(mixed_up())
            }
        }
    }

    /// Removes a stored prompt.
    ///
    /// # Errors
    /// `NotFound`, `Poisoned`, `Io`.
    pub fn remove_prompt(&self, name: &str) -> Result<()> {
        match self.writer.submit(Work::RemovePrompt(name.to_owned()))? {
            Done::Prompt { .. } => Ok(()),
            Done::Mutations(_) | Done::Replayed { .. } | Done::Space(_) | Done::Removed(_) => {
                Err(mixed_up())
            }
        }
    }

    // === operating ===

    /// The folder that holds the store.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Whether commits are taken. After a failed write they are not, until writing works again; that is tried each
    /// second at first, each half minute later.
    pub fn health(&self) -> Health {
        match self.shared.refusal() {
            None => Health { writable: true, reason: None, since: None },
            Some(refusal) => {
                Health { writable: false, reason: Some(refusal.text()), since: Some(refusal.since) }
            }
        }
    }

    /// What is kept of the change log.
    pub fn log_range(&self) -> LogRange {
        self.shared.log_range()
    }

    /// Figures of the store.
    ///
    /// # Errors
    /// `Io`.
    pub fn stats(&self) -> Result<Stats> {
        let disk_bytes = Cf::ALL
            .iter()
            .map(|cf| Ok((cf.name(), self.shared.store().disk_bytes(*cf)?)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Stats {
            resources: self.spaces().spaces.iter().map(|space| space.resource_count()).sum(),
            log: self.shared.log_range(),
            acls: self.shared.acls.len(),
            disk_bytes,
            cache_bytes: self.shared.store().cache_bytes(),
            hot_values: self.shared.hot.size(),
            completion: self.shared.completions.stats(),
            full_text: self.shared.full_text_stats(),
        })
    }

    /// Makes a copy of the store and of what is derived from it, while it serves; see [`backup`].
    ///
    /// # Errors
    /// `Conflict` when the folder is not empty, is in the data directory or cannot be made, `LimitExceeded` when its name is
    /// too long, `Io`. Then nothing of the copy is left.
    pub fn backup(
        &self,
        request: &BackupRequest<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<BackupReport> {
        backup::make(&self.shared, &self.data_dir, request, progress)
    }

    /// Rewrites all tables, so that what was deleted takes no room any more.
    ///
    /// # Errors
    /// `Io`.
    pub fn compact(&self) -> Result<()> {
        self.shared.store().compact()
    }

    /// Brings all that is in memory into tables.
    ///
    /// # Errors
    /// `Io`.
    pub fn flush(&self) -> Result<()> {
        self.shared.store().flush()
    }

    /// Checks every derived key against the truth; `progress` is called with the number of resources checked. What differs
    /// in the full-text index is mended in the background.
    ///
    /// # Errors
    /// `Io`; faults in the data are not errors but findings of the report.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<VerifyReport> {
        self.verify_until(&Stop::default(), progress)
    }

    /// The same, until `stop` is asked or the engine closes.
    ///
    /// # Errors
    /// `Closed` when it ended early, `Io`.
    pub fn verify_until(&self, stop: &Stop, progress: &mut dyn FnMut(u64)) -> Result<VerifyReport> {
        verify::run(&self.shared, stop, progress)
    }

    /// The engine will be dropped soon: ends checks of the store, waits for the full-text index, and the feeding of that
    /// index, so that dropping it takes little. Reads and commits go on.
    pub fn begin_closing(&self) {
        self.shared.closing.ask();
        if let Some(full_text) = &self.shared.full_text {
            full_text.begin_closing();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.begin_closing();
    }
}

pub(crate) fn mixed_up() -> Error {
    Error::new(ErrorKind::Closed, "store", "the writer answered another question")
}
