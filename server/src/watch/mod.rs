//! Keeps the store at what the folders hold while the server runs.
//!
//! The system reports that something happened at a path; what is there is then looked at under the rules of
//! [`crate::sources`], whatever kind of event it was. So renames, trees that are moved, editors that write a file beside
//! the old one and events that never came are all one case: a path is dirty, and the store is brought to what the disk
//! holds there.
//!
//! - A folder is watched before it is listed, by the same walk that lists it, the first one included. What happens before
//!   the watch is seen by the listing, what happens after it is reported.
//! - Reports go into a bounded set ([`dirty`]): names, then folders, then everything. When the system lost reports,
//!   everything is compared.
//! - One thread looks at the sources, one after the other, when they have been quiet for a moment ([`inbox`]).
//! - What nobody reports is asked for each second: another folder at a source's path, ignore files above it, disks that
//!   were mounted or have gone ([`followed`]).
//! - Folders beyond the system's limit of watches, and those of network file systems, are compared every so often.

mod dirty;
mod followed;
mod inbox;
mod mounts;
mod network;
mod watches;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pressmark_index::engine::Engine;

use crate::indexer::{IndexError, Indexed, Indexer, Look, Plan, Summary, forget_other_sources};
use crate::metrics::Metrics;
use crate::readiness::Latch;
use crate::shutdown::Shutdown;
use crate::sources::{FolderSource, Scope, chain_text};
use dirty::Job;
use followed::Followed;
use inbox::Inbox;
use watches::Watches;

/// How often is asked for what nobody reports.
const TICK: Duration = Duration::from_secs(1);

/// Gives the latch that is held while a whole source is brought up to date.
pub type Unsettled = Box<dyn Fn() -> Latch + Send>;

/// Brings the folders of a plan up to date and keeps them so. Owned by the one thread that indexes.
pub struct Keeper<'a> {
    engine: &'a Engine,
    plan: &'a Plan,
    metrics: &'a Arc<Metrics>,
    shutdown: &'a Shutdown,
    unsettled: Unsettled,
    inbox: Arc<Inbox>,
    followed: Vec<Followed>,
    mount_list: Vec<u8>,
    forgot_others: bool,
}

/// Ends [`Keeper::keep_up`] from another thread.
#[derive(Debug, Clone)]
pub struct Waker {
    inbox: Arc<Inbox>,
}

impl Waker {
    /// Has the keeper end, now or as soon as it keeps up; a look that is under way ends when the shutdown has begun.
    pub fn wake(&self) {
        self.inbox.close();
    }
}

impl<'a> Keeper<'a> {
    /// Watches nothing yet: that comes with the first pass. Watches are reported to `metrics`.
    pub fn new(
        engine: &'a Engine,
        plan: &'a Plan,
        metrics: &'a Arc<Metrics>,
        shutdown: &'a Shutdown,
        unsettled: Unsettled,
    ) -> Self {
        Self::with_watches_max(engine, plan, metrics, shutdown, unsettled, usize::MAX)
    }

    /// The same with a bound of each source's watches that is lower than the system's.
    pub(crate) fn with_watches_max(
        engine: &'a Engine,
        plan: &'a Plan,
        metrics: &'a Arc<Metrics>,
        shutdown: &'a Shutdown,
        unsettled: Unsettled,
        watches_max: usize,
    ) -> Self {
        let inbox = Arc::new(Inbox::new(plan.sources.len()));
        let mount_list = mounts::list();
        let followed = plan.sources.iter().enumerate().map(|(place, source)| {
            let watches = if source.watch {
                watch(source, place, watches_max, &inbox, metrics)
            } else {
                Watches::none(&source.root)
            };
            Followed::new(source, watches, &mount_list, network::is_network(&source.root))
        });
        let followed = followed.collect();
        Self {
            engine,
            plan,
            metrics,
            shutdown,
            unsettled,
            inbox,
            followed,
            mount_list,
            forgot_others: false,
        }
    }

    /// What ends [`Keeper::keep_up`] once the shutdown has begun.
    pub fn waker(&self) -> Waker {
        Waker { inbox: Arc::clone(&self.inbox) }
    }

    /// Brings all sources up to date, one after the other, then deletes what came from other folders. Sources that were
    /// brought up to date are kept so meanwhile. Ends early, between two files, when the shutdown begins.
    pub fn first_pass(&mut self) -> Summary {
        let mut summary = Summary::default();
        for (place, source) in self.plan.sources.iter().enumerate() {
            match self.look(place, Job::Whole) {
                Ok(indexed) => {
                    summary.unreadable += indexed.scan.unreadable;
                    tracing::info!(
                        space = source.space,
                        files = indexed.scan.files,
                        changed = indexed.changed,
                        deleted = indexed.deleted,
                        refused = indexed.refused + indexed.scan.refused,
                        unreadable = indexed.scan.unreadable,
                        left_out = indexed.scan.left_out,
                        "indexed {}",
                        source.root.display()
                    );
                }
                Err(()) => summary.sources_failed += 1,
            }
            while let Some((place, job)) = self.inbox.take_due(place + 1) {
                self.follow(place, job);
            }
            if self.shutdown.has_begun() {
                return summary;
            }
        }
        self.forget_others();
        summary
    }

    /// Keeps the sources up to date until the [`Waker`] is used, or the shutdown has begun at the end of a look.
    pub fn keep_up(&mut self) {
        if !self.plan.sources.iter().any(|source| source.watch) {
            return;
        }
        let mut next_tick = Instant::now() + TICK;
        while !self.shutdown.has_begun() && !self.inbox.is_closed() {
            if next_tick <= Instant::now() {
                self.tick();
                next_tick = Instant::now() + TICK;
            }
            match self.inbox.take_due(self.followed.len()) {
                Some((place, job)) => self.follow(place, job),
                None => self.inbox.wait(next_tick),
            }
        }
    }

    fn tick(&mut self) {
        self.compare_mounts();
        let sources = self.plan.sources.iter().zip(&mut self.followed).enumerate();
        for (place, (source, followed)) in sources.filter(|(_, (source, _))| source.watch) {
            if let Some(job) = followed.overdue(source) {
                self.inbox.touch_job(place, &job);
            }
        }
    }

    fn compare_mounts(&mut self) {
        let list = mounts::list();
        if list == self.mount_list {
            return;
        }
        for (place, (source, followed)) in
            self.plan.sources.iter().zip(&mut self.followed).enumerate()
        {
            if let Some(job) = followed.mounted(source, &list).filter(|_| source.watch) {
                self.inbox.touch_job(place, &job);
            }
        }
        self.mount_list = list;
    }

    fn follow(&mut self, place: usize, job: Job) {
        // A disk that has just gone must be known before its place is looked at.
        self.compare_mounts();
        self.metrics.source_rescans.inc();
        let Some(source) = self.plan.sources.get(place) else { return };
        if let Ok(indexed) = self.look(place, job)
            && indexed.changed + indexed.deleted > 0
        {
            tracing::debug!(
                space = source.space,
                changed = indexed.changed,
                deleted = indexed.deleted,
                "indexed changes of {}",
                source.root.display()
            );
        }
        if !self.forgot_others && !self.shutdown.has_begun() {
            self.forget_others();
        }
    }

    /// Looks at what a job says of a source, or at everything when another folder stands in its place. Failures have been
    /// said.
    fn look(&mut self, place: usize, job: Job) -> Result<Indexed, ()> {
        let Some((source, followed)) =
            self.plan.sources.get(place).zip(self.followed.get_mut(place))
        else {
            return Err(());
        };
        let setting = source.setting().ok();
        let is_current = setting.is_some() && setting == followed.current;
        let job = if is_current { job } else { Job::Whole };
        followed.attempted = setting;
        let _unsettled = (job == Job::Whole && !followed.polling).then(|| (self.unsettled)());
        let began = Instant::now();
        self.metrics.source_scans_running.inc();
        let indexer = Indexer {
            engine: self.engine,
            plan: self.plan,
            metrics: self.metrics,
            shutdown: self.shutdown,
        };
        let mut result = look_at(&indexer, place, followed, &job, is_current);
        self.metrics.source_scans_running.dec();
        let duration = began.elapsed();
        self.inbox.rest(place, duration);
        match &mut result {
            Ok(indexed) => {
                followed.current.clone_from(&followed.attempted);
                followed.succeeded(&job, indexed, duration);
                if job == Job::Whole {
                    self.metrics.source_reconcile_seconds.set(duration.as_secs_f64());
                }
                if source.watch {
                    followed.say_limit(source);
                }
                if indexed.deleted > 0 {
                    self.touch_later(place, &job);
                }
            }
            Err(error) => followed.failed(source, error),
        }
        self.count_folders();
        result.map_err(|_| ())
    }

    /// What a source no longer has, a later one of the same space may have: it is served from there now.
    fn touch_later(&self, place: usize, job: &Job) {
        let Some(space) = self.plan.sources.get(place).map(|source| &source.space) else { return };
        let later = self.plan.sources.iter().zip(&self.followed).enumerate().skip(place + 1);
        for (later, (source, followed)) in later {
            if source.space == *space && source.watch && followed.current.is_some() {
                self.inbox.touch_job(later, job);
            }
        }
    }

    /// Deletes what came from folders that are no longer given, once all that are given have been seen: a folder may have
    /// been renamed to one that is away.
    fn forget_others(&mut self) {
        if self.followed.iter().any(|followed| followed.current.is_none()) {
            return;
        }
        self.forgot_others = true;
        if let Err(error) = forget_other_sources(self.engine, self.plan) {
            tracing::error!(
                "what came from folders that are no longer served is not deleted: {}",
                chain_text(&error)
            );
        }
    }

    fn count_folders(&self) {
        let sources = || {
            let sources = self.plan.sources.iter().zip(&self.followed);
            sources.filter(|(source, _)| source.watch).map(|(_, followed)| followed)
        };
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let watched = sources().map(|followed| followed.watches.watched_count()).sum();
        let polled = sources().map(Followed::polled_count).sum();
        self.metrics.source_folders_watched.set(gauge(watched));
        self.metrics.source_folders_polled.set(gauge(polled));
    }
}

fn watch(
    source: &FolderSource,
    place: usize,
    watches_max: usize,
    inbox: &Arc<Inbox>,
    metrics: &Arc<Metrics>,
) -> Watches {
    Watches::new(&source.root, place, watches_max, inbox, metrics).unwrap_or_else(|error| {
        tracing::warn!(
            "{} cannot be watched and is compared instead: {error}",
            source.root.display()
        );
        Watches::none(&source.root)
    })
}

fn look_at(
    indexer: &Indexer<'_>,
    place: usize,
    followed: &mut Followed,
    job: &Job,
    is_current: bool,
) -> Result<Indexed, IndexError> {
    let kept = followed.kept();
    let look = Look {
        scope: match job {
            Job::Whole => Scope::Whole,
            Job::Entries(entries) => Scope::Entries(entries),
        },
        setting: followed.current.as_ref().filter(|_| is_current),
        kept: &kept,
        complained: &followed.unreadable,
        refused: &followed.refused,
    };
    let watches = &mut followed.watches;
    watches.begin();
    let indexed = indexer.index(place, &look, &mut |relative| watches.enter(relative))?;
    if !indexer.shutdown.has_begun() {
        watches.end(job);
    }
    Ok(indexed)
}
