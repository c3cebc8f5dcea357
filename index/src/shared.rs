//! What readers and the writer share: the store and the state that is valid with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};

use crate::acl::AclTable;
use crate::apply::WriterState;
use crate::catalog::{SPACE_COUNT_MAX, SpaceCatalog};
use crate::change_log::LogRange;
use crate::error::{Error, ErrorKind, Result};
use crate::hot_values::HotValues;
use crate::space::SpaceSettings;
use crate::store::Store;

/// Readers take what they need from here without a lock that the writer could hold for long.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) acls: AclTable,
    pub(crate) hot: HotValues,
    catalog: ArcSwap<SpaceCatalog>,
    newest: AtomicU64,
    oldest: AtomicU64,
    poison: Mutex<Option<String>>,
    closed: Mutex<bool>,
    closing: Condvar,
}

impl Shared {
    pub(crate) fn new(
        store: Store,
        acls: AclTable,
        hot: HotValues,
        catalog: Arc<SpaceCatalog>,
    ) -> Shared {
        Shared {
            store,
            acls,
            hot,
            catalog: ArcSwap::new(catalog),
            newest: AtomicU64::new(0),
            oldest: AtomicU64::new(1),
            poison: Mutex::new(None),
            closed: Mutex::new(false),
            closing: Condvar::new(),
        }
    }

    pub(crate) fn catalog(&self) -> Arc<SpaceCatalog> {
        self.catalog.load_full()
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

    /// From now on writes are refused with this reason.
    pub(crate) fn poison(&self, error: &Error) {
        self.poison.lock().get_or_insert_with(|| match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        });
    }

    pub(crate) fn poisoned(&self) -> Option<String> {
        self.poison.lock().clone()
    }

    pub(crate) fn close(&self) {
        *self.closed.lock() = true;
        self.closing.notify_all();
    }

    /// Waits that long or until the engine closes; true when it closes.
    pub(crate) fn wait_for_close(&self, interval: Duration) -> bool {
        let mut closed = self.closed.lock();
        if !*closed {
            self.closing.wait_for(&mut closed, interval);
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
        let twin = catalog.spaces.iter().find(|space| {
            space.settings.uri_template == settings.uri_template
                && space.settings.name != settings.name
        });
        if let Some(twin) = twin {
            return conflict(format!("the space `{}` has the same template", twin.settings.name));
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
