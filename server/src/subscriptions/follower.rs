//! Follows the change log and tells the subscribers: the one way from a commit to a notification, whoever made it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Waker,
    time::Duration,
};

use pressmark_index::{engine::Engine, mutation::Change, prompt::PromptCatalog};
use tokio::{sync::Notify, time::Instant};

use super::{list_changes::ListChanges, registry::Registry};

/// Changes that are read at a time.
const CHANGES_PER_READ: usize = 1_024;

/// Streams that wait to be woken; the first of many need not wait for the last.
const WAKES_MAX: usize = 1_024;

/// What the writer says: something was committed, and since when it has not been followed.
pub(super) struct Committed {
    notify: Notify,
    started: Instant,
    /// Nanoseconds from `started` to the oldest commit that was not followed; [`NONE`]: all were.
    unfollowed: AtomicU64,
    /// Whether other prompts are declared, which no commit tells of.
    prompts_declared: AtomicBool,
}

const NONE: u64 = u64::MAX;

/// Where the change log has been followed to, and what of the lists is not told yet.
pub(super) struct Follower {
    engine: Arc<Engine>,
    registry: Arc<Registry>,
    checkpoint: u64,
    prompts: Arc<PromptCatalog>,
    pub(super) lists: ListChanges,
}

// === impl Committed ===

impl Committed {
    pub(super) fn new() -> Self {
        Self {
            notify: Notify::new(),
            started: Instant::now(),
            unfollowed: AtomicU64::new(NONE),
            prompts_declared: AtomicBool::new(false),
        }
    }

    /// Called on the writer's thread: never waits.
    pub(super) fn tell(&self) {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(NONE);
        let _ = self.unfollowed.compare_exchange(NONE, now, Ordering::AcqRel, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// Other prompts are declared than before.
    pub(super) fn tell_of_declared_prompts(&self) {
        self.prompts_declared.store(true, Ordering::Release);
        self.tell();
    }

    pub(super) async fn told(&self) {
        self.notify.notified().await;
    }

    /// When the oldest commit that was not followed was published; those that come after this are new ones.
    fn take(&self) -> Instant {
        match self.unfollowed.swap(NONE, Ordering::AcqRel) {
            NONE => Instant::now(),
            nanos => self.started + Duration::from_nanos(nanos),
        }
    }
}

// === impl Follower ===

impl Follower {
    /// Follows from the newest change on: whoever subscribes later reads that state or a newer one.
    pub(super) fn new(engine: Arc<Engine>, registry: Arc<Registry>) -> Self {
        let checkpoint = engine.log_range().newest;
        let lists = ListChanges::new(engine.spaces());
        let prompts = engine.prompts();
        Self { engine, registry, checkpoint, prompts, lists }
    }

    /// Tells of every change that was published; may wait for the disk when it is far behind.
    pub(super) fn catch_up(&mut self, committed: &Committed) {
        loop {
            let since = committed.take();
            let catalog = self.engine.spaces();
            self.lists.look(&catalog, since);
            self.look_at_prompts(committed, since);
            // What is read beyond it may not be published yet.
            let newest = self.engine.log_range().newest;
            if self.checkpoint >= newest {
                // After a failed write the log may have become shorter.
                self.checkpoint = newest;
                self.lists.forget_removed(&catalog);
                return;
            }
            match self.engine.changes_after(self.checkpoint, CHANGES_PER_READ) {
                Ok(changes) => {
                    let told = changes.iter().take_while(|change| change.sequence <= newest);
                    self.tell(told, since);
                    if changes.is_empty() {
                        self.checkpoint = newest;
                    }
                }
                Err(error) => {
                    tracing::warn!(
                        from = self.checkpoint,
                        to = newest,
                        "changes cannot be read, so every subscriber is told: {error}"
                    );
                    self.registry.each(|subscriber| subscriber.anything_may_have_changed(since));
                    self.checkpoint = newest;
                }
            }
        }
    }

    fn look_at_prompts(&mut self, committed: &Committed, since: Instant) {
        let declared = committed.prompts_declared.swap(false, Ordering::AcqRel);
        let prompts = self.engine.prompts();
        if declared || !Arc::ptr_eq(&self.prompts, &prompts) {
            self.prompts = prompts;
            self.lists.prompts_changed(since);
        }
    }

    /// Streams are woken when all their changes wait, so that each takes them at once.
    fn tell<'a>(&mut self, changes: impl Iterator<Item = &'a Change>, since: Instant) {
        let mut wake = Vec::new();
        for change in changes {
            let space = self.lists.space(change.space).map(|space| &**space);
            self.registry.tell(change, space, since, &mut wake);
            self.lists.resource_changed(change, since);
            self.checkpoint = change.sequence;
            if wake.len() >= WAKES_MAX {
                wake.drain(..).for_each(Waker::wake);
            }
        }
        wake.into_iter().for_each(Waker::wake);
    }

    /// Tells of the lists that have changed.
    pub(super) fn tell_lists(&mut self) {
        let due = self.lists.take();
        let now = Instant::now();
        self.registry.each(|subscriber| {
            subscriber.lists_changed(due.for_caller(&subscriber.access), now);
        });
    }
}
