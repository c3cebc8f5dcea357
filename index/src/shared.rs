//! What readers and the writer share: the store and the state that is valid with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};

use crate::acl::AclTable;
use crate::apply::{Finished, WriterState};
use crate::catalog::{SPACE_COUNT_MAX, SpaceCatalog};
use crate::change_log::LogRange;
use crate::completion::Completions;
use crate::error::{Error, ErrorKind, Result};
use crate::full_text::FullText;
use crate::hot_values::HotValues;
use crate::lock::DataDirLock;
use crate::prompt::PromptCatalog;
use crate::resource::UnixMillis;
use crate::space::SpaceSettings;
use crate::stop::Stop;
use crate::store::Store;
use crate::uri_template::UriTemplate;

/// Readers take what they need from here without a lock that the writer could hold for long.
pub(crate) struct Shared {
    /// After a failed write another one takes its place; whoever reads keeps the one that it began with.
    store: ArcSwap<Store>,
    pub(crate) acls: AclTable,
    pub(crate) hot: HotValues,
    pub(crate) completions: Completions,
    pub(crate) full_text: Option<Arc<FullText>>,
    catalog: ArcSwap<SpaceCatalog>,
    prompts: ArcSwap<PromptCatalog>,
    newest: AtomicU64,
    oldest: AtomicU64,
    /// How many want writing to be cheap and reading to be dear.
    pub(crate) bulk_holders: Mutex<usize>,
    refusal: Mutex<Option<Refusal>>,
    /// Asked when the engine will close: ends what reads all of the store.
    pub(crate) closing: Stop,
    closed: Mutex<bool>,
    closed_changed: Condvar,
    commit_hooks: ArcSwap<Vec<CommitHook>>,
    /// Given up after the store is closed, when the last thread that uses it has ended.
    _lock: DataDirLock,
}

/// Told the newest sequence number after each batch that was published, on the writer's thread.
pub(crate) type CommitHook = Arc<dyn Fn(u64) + Send + Sync>;

/// Why writes are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What failed.
    pub(crate) reason: String,
    pub(crate) since: UnixMillis,
    /// Why the last attempt to write again failed.
    pub(crate) last_attempt: Option<String>,
}

impl Refusal {
    /// What failed first and what stands in the way now.
    pub(crate) fn text(&self) -> String {
        match &self.last_attempt {
            None => self.reason.clone(),
            Some(attempt) => format!("{}; the last attempt to write again: {attempt}", self.reason),
        }
    }
}

impl Shared {
    /// Takes over a store, with the writer's state.
    pub(crate) fn load(
        (store, lock): (Store, DataDirLock),
        hot: HotValues,
        completions: Completions,
        full_text: Option<Arc<FullText>>,
        retention: Duration,
    ) -> Result<(Shared, WriterState)> {
        let acls = AclTable::load(&store)?;
        let catalog = Arc::new(SpaceCatalog::load(&store)?);
        let prompts = Arc::new(PromptCatalog::load(&store)?);
        let (spaces, stored) = (Arc::clone(&catalog), Arc::clone(&prompts));
        let mut state = WriterState::load(&store, &acls, spaces, stored, retention)?;
        let shared = Shared {
            store: ArcSwap::from_pointee(store),
            acls,
            hot,
            completions,
            full_text,
            catalog: ArcSwap::new(catalog),
            prompts: ArcSwap::new(prompts),
            newest: AtomicU64::new(0),
            oldest: AtomicU64::new(1),
            bulk_holders: Mutex::new(0),
            refusal: Mutex::new(None),
            closing: Stop::default(),
            closed: Mutex::new(false),
            closed_changed: Condvar::new(),
            commit_hooks: ArcSwap::default(),
            _lock: lock,
        };
        shared.publish(&mut state);
        Ok((shared, state))
    }

    /// Puts another opening of the same folder in the store's place, with all that is valid with it.
    pub(crate) fn replace_store(
        &self,
        store: Arc<Store>,
        retention: Duration,
    ) -> Result<WriterState> {
        let acls = AclTable::load(&store)?;
        let catalog = Arc::new(SpaceCatalog::load(&store)?);
        let prompts = Arc::new(PromptCatalog::load(&store)?);
        let spaces = Arc::clone(&catalog);
        let mut state = WriterState::load(&store, &acls, spaces, prompts, retention)?;
        // ACLs and spaces first: what the new store holds must be known to those who find it there.
        self.acls.replace(acls);
        self.catalog.store(catalog);
        self.store.store(store);
        self.publish(&mut state);
        // A batch whose sync failed may be in the log and so in the new store.
        self.hot.clear();
        self.completions.follow(&self.catalog(), state.sequence);
        self.completions.store_was_replaced(state.sequence);
        if let Some(full_text) = &self.full_text {
            full_text.hits.clear();
            full_text.store_was_replaced(state.sequence);
        }
        self.tell_of_commit();
        Ok(state)
    }

    /// The writer's state as of the last batch that was published; for when one was begun in vain.
    pub(crate) fn last_state(&self, retention: Duration) -> Result<WriterState> {
        WriterState::load(&self.store(), &self.acls, self.catalog(), self.prompts(), retention)
    }

    pub(crate) fn store(&self) -> Arc<Store> {
        self.store.load_full()
    }

    /// The store without touching its reference count: for the hot path.
    pub(crate) fn store_guard(&self) -> arc_swap::Guard<Arc<Store>> {
        self.store.load()
    }

    /// Writes a batch and makes it visible; when that fails, writes are refused from now on.
    ///
    /// A reader may see a batch as soon as it is written, so the ACLs that it names are shown before; what it
    /// replaces is forgotten after its sequence number is out (see `hot_values`).
    pub(crate) fn write_and_publish(
        &self,
        store: &Store,
        finished: Finished<'_>,
        state: &mut WriterState,
        sync: bool,
    ) -> Result<()> {
        state.acls.publish(&self.acls);
        if !finished.batch.is_empty() {
            store.write(finished.batch, sync).inspect_err(|error| self.refuse_writes(error))?;
        }
        if !Arc::ptr_eq(&self.catalog.load(), &state.catalog) {
            self.completions.follow(&state.catalog, finished.sequence_before);
        }
        // Before the sequence number is out: who sees it finds its changes in the completion indexes.
        self.completions.apply(&finished.completion, finished.sequence_before, state.sequence);
        self.publish(state);
        self.hot.forget(&finished.replaced);
        if let Some(full_text) = &self.full_text {
            full_text.hits.forget(&finished.replaced);
        }
        self.tell_of_commit();
        Ok(())
    }

    /// Who is told of commits from now on, too.
    pub(crate) fn on_commit(&self, hook: &CommitHook) {
        self.commit_hooks.rcu(|hooks| {
            let mut hooks = hooks.to_vec();
            hooks.push(Arc::clone(hook));
            hooks
        });
    }

    /// After all else: whoever reads when told must find the new state, in the cache as well.
    fn tell_of_commit(&self) {
        if let Some(full_text) = &self.full_text {
            full_text.wake();
        }
        let newest = self.newest.load(Ordering::Acquire);
        self.commit_hooks.load().iter().for_each(|hook| hook(newest));
    }

    pub(crate) fn catalog(&self) -> Arc<SpaceCatalog> {
        self.catalog.load_full()
    }

    pub(crate) fn prompts(&self) -> Arc<PromptCatalog> {
        self.prompts.load_full()
    }

    /// The catalogue without touching its reference count: for the hot path.
    pub(crate) fn catalog_guard(&self) -> arc_swap::Guard<Arc<SpaceCatalog>> {
        self.catalog.load()
    }

    /// Shows readers what the last batch made true. ACLs are shown before the batch is written, see the writer.
    pub(crate) fn publish(&self, state: &mut WriterState) {
        for space in state.catalog.everything() {
            space.set_counts(state.counts.get(&space.id).copied().unwrap_or_default());
        }
        if !Arc::ptr_eq(&self.catalog.load(), &state.catalog) {
            self.catalog.store(Arc::clone(&state.catalog));
        }
        if !Arc::ptr_eq(&self.prompts.load(), &state.prompts) {
            self.prompts.store(Arc::clone(&state.prompts));
        }
        self.oldest.store(state.oldest_change, Ordering::Release);
        self.newest.store(state.sequence, Ordering::Release);
    }

    /// The last published sequence number, for [`HotValues::offer`].
    pub(crate) fn newest(&self) -> &AtomicU64 {
        &self.newest
    }

    pub(crate) fn log_range(&self) -> LogRange {
        LogRange {
            oldest: self.oldest.load(Ordering::Acquire),
            newest: self.newest.load(Ordering::Acquire),
        }
    }

    /// From now on writes are refused for this reason.
    pub(crate) fn refuse_writes(&self, error: &Error) {
        let since = jiff::Timestamp::now().as_millisecond();
        self.refusal.lock().get_or_insert_with(|| Refusal {
            reason: error.with_cause(),
            since,
            last_attempt: None,
        });
    }

    /// An attempt to write again failed.
    pub(crate) fn note_attempt(&self, error: &Error) {
        if let Some(refusal) = &mut *self.refusal.lock() {
            refusal.last_attempt = Some(error.with_cause());
        }
    }

    pub(crate) fn take_writes_again(&self) {
        *self.refusal.lock() = None;
    }

    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.refusal.lock().clone()
    }

    pub(crate) fn close(&self) {
        *self.closed.lock() = true;
        self.closed_changed.notify_all();
    }

    /// Waits that long or until the engine closes; true when it closes.
    pub(crate) fn wait_for_close(&self, interval: Duration) -> bool {
        let mut closed = self.closed.lock();
        if !*closed {
            self.closed_changed.wait_for(&mut closed, interval);
        }
        *closed
    }

    /// A space that is put must not stand in the way of another, and keeps its template while it has resources.
    pub(crate) fn check_new_space(
        &self,
        catalog: &SpaceCatalog,
        settings: &SpaceSettings,
    ) -> Result<()> {
        let conflict = |detail: String| {
            Err(Error::new(ErrorKind::Conflict, format!("space `{}`", settings.name), detail))
        };
        if catalog.removing().iter().any(|space| space.settings.name == settings.name) {
            return conflict(
                "the space of this name is still being removed: try again when that is done".into(),
            );
        }
        let is_there = catalog
            .by_name(&settings.name)
            .is_some_and(|space| space.settings.uri_template == settings.uri_template);
        let matcher = UriTemplate::parse(&settings.uri_template).and_then(|t| t.matcher());
        // A store may have such spaces already; what it serves it goes on serving.
        let twin = catalog.spaces.iter().filter(|_| !is_there).find(|space| {
            space.settings.name != settings.name
                && matcher.as_ref().is_ok_and(|matcher| space.matcher.matches_the_same(matcher))
        });
        if let Some(twin) = twin {
            let SpaceSettings { name, uri_template, .. } = &twin.settings;
            let detail = format!(
                "the space `{name}` has the template `{uri_template}`, which matches the same URIs: add a literal that tells them apart"
            );
            return conflict(detail);
        }
        match catalog.by_name(&settings.name) {
            Some(space)
                if space.settings.uri_template != settings.uri_template
                    && space.resource_count() > 0 =>
            {
                conflict(format!(
                    "it holds {} resources behind `{}`: remove the space first (`pressmark space remove {}`), then add it with the new template",
                    space.resource_count(),
                    space.settings.uri_template,
                    settings.name
                ))
            }
            None if catalog.spaces.len() >= SPACE_COUNT_MAX => {
                conflict(format!("the store holds {SPACE_COUNT_MAX} spaces already"))
            }
            _ => Ok(()),
        }
    }
}
