//! What of the lists has changed since their readers were last told, and when they are told next.
//!
//! A list changes for those who may see what came or went: each space collects who that is, so that telling costs nothing
//! for each change, and nobody learns of what they may not see.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use pressmark_index::{
    access::Access,
    catalog::{Space, SpaceCatalog},
    mutation::{Change, ChangeKind},
    space::{ListMode, SpaceId},
};
use tokio::time::Instant;

use super::lists::Lists;

/// Lists are told when they have been quiet for so long.
const QUIET: Duration = Duration::from_millis(300);
/// But not later than this after their first change: a load goes on for minutes.
const LATEST: Duration = Duration::from_secs(5);
/// Different ACLs of a space that are kept apart; beyond them, everybody with a group is told.
const ACLS_MAX: usize = 64;

/// The lists as they were last looked at, and what has changed since they were told.
pub(super) struct ListChanges {
    catalog: Arc<SpaceCatalog>,
    spaces: HashMap<SpaceId, Looked>,
    /// By space's name.
    changed: HashMap<String, ChangedFor>,
    prompts: bool,
    first: Option<Instant>,
    due: Option<Instant>,
}

/// A space as it was last looked at.
struct Looked {
    space: Arc<Space>,
    shape: Shape,
}

/// What decides how a space is listed, besides its settings.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// For a caller without groups: whether only pinned resources are listed, and whether there is anything.
    open: (bool, bool),
    /// The same for one who may see everything.
    all: (bool, bool),
}

/// For whom a space's list changed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ChangedFor {
    /// Those whom one of these ACLs lets in.
    Groups(BTreeSet<Arc<[String]>>),
    /// Whoever has a group at all.
    AnyGroup,
    Everybody,
}

/// The changes that are told now.
pub(super) struct Due {
    changed: HashMap<String, ChangedFor>,
    prompts: bool,
}

// === impl ListChanges ===

impl ListChanges {
    pub(super) fn new(catalog: Arc<SpaceCatalog>) -> Self {
        let mut lists = Self {
            catalog: Arc::clone(&catalog),
            spaces: HashMap::new(),
            changed: HashMap::new(),
            prompts: false,
            first: None,
            due: None,
        };
        for space in &catalog.spaces {
            lists.spaces.insert(space.id, Looked::at(space));
        }
        lists
    }

    /// The space of a change; also one that is being removed.
    pub(super) fn space(&self, id: SpaceId) -> Option<&Arc<Space>> {
        self.spaces.get(&id).map(|looked| &looked.space)
    }

    /// Takes notice of a change of a resource.
    pub(super) fn resource_changed(&mut self, change: &Change, now: Instant) {
        let Some(Looked { space, shape }) = self.spaces.get(&change.space) else { return };
        let listed = match space.settings.list {
            ListMode::None => return,
            ListMode::All | ListMode::Auto | ListMode::Pinned if shape.open.0 && shape.all.0 => {
                change.pinned_list
            }
            ListMode::All | ListMode::Auto | ListMode::Pinned => {
                change.kind != ChangeKind::Updated || change.old_acl != change.new_acl
            }
        };
        if !listed {
            return;
        }
        let name = space.settings.name.clone();
        let (before, after) = match change.kind {
            ChangeKind::Created => (None, Some(&change.new_acl)),
            ChangeKind::Deleted => (Some(&change.old_acl), None),
            ChangeKind::Updated => (Some(&change.old_acl), Some(&change.new_acl)),
        };
        for acl in before.into_iter().chain(after) {
            self.change(&name, acl.as_ref().map_or(ChangedFor::Everybody, ChangedFor::acl), now);
        }
    }

    /// Takes notice of what changed of the spaces themselves, after their resources' changes.
    pub(super) fn look(&mut self, catalog: &Arc<SpaceCatalog>, now: Instant) {
        let mut changes = Vec::new();
        for space in &catalog.spaces {
            let shape = Shape::of(space);
            match self.spaces.get_mut(&space.id) {
                Some(looked) if looked.space.settings == space.settings => {
                    changes.extend(looked.shape.change(shape).map(|who| (space, who)));
                    looked.shape = shape;
                    if !Arc::ptr_eq(&looked.space, space) {
                        looked.space = Arc::clone(space);
                    }
                }
                Some(_) | None => {
                    changes.push((space, ChangedFor::Everybody));
                    self.spaces.insert(space.id, Looked::at(space));
                }
            }
        }
        for (space, who) in changes {
            self.change(&space.settings.name, who, now);
        }
        if Arc::ptr_eq(&self.catalog, catalog) {
            return;
        }
        let gone: Vec<_> = self
            .catalog
            .spaces
            .iter()
            .filter(|space| catalog.get(space.id).is_none())
            .map(|space| space.settings.name.clone())
            .collect();
        self.catalog = Arc::clone(catalog);
        for name in gone {
            self.change(&name, ChangedFor::Everybody, now);
        }
    }

    /// Forgets the spaces of which no further change can come, all changes up to this catalogue having been seen.
    pub(super) fn forget_removed(&mut self, catalog: &SpaceCatalog) {
        if self.spaces.len() > catalog.spaces.len() + catalog.removing().len() {
            let removing = |id: &SpaceId| catalog.removing().iter().any(|space| space.id == *id);
            self.spaces.retain(|id, _| catalog.get(*id).is_some() || removing(id));
        }
    }

    /// Takes notice of a change of the prompts, which all callers see alike.
    pub(super) fn prompts_changed(&mut self, now: Instant) {
        self.prompts = true;
        self.put_off(now);
    }

    fn change(&mut self, space: &str, who: ChangedFor, now: Instant) {
        match self.changed.get_mut(space) {
            Some(changed) => changed.add(who),
            None => {
                self.changed.insert(space.to_owned(), who);
            }
        }
        self.put_off(now);
    }

    fn put_off(&mut self, now: Instant) {
        let first = *self.first.get_or_insert(now);
        self.due = Some((now + QUIET).min(first + LATEST));
    }

    /// When the changes are to be told, if there are any.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Hands out what is to be told; nothing has changed after that.
    pub(super) fn take(&mut self) -> Due {
        self.due = None;
        self.first = None;
        let prompts = std::mem::take(&mut self.prompts);
        Due { changed: std::mem::take(&mut self.changed), prompts }
    }
}

// === impl Due ===

impl Due {
    /// The lists that have changed for this caller.
    pub(super) fn for_caller(&self, access: &Access) -> Lists {
        let concerns =
            |(space, who): (&String, &ChangedFor)| access.sees_space(space) && who.includes(access);
        Lists { resources: self.changed.iter().any(concerns), prompts: self.prompts }
    }
}

// === impl Looked ===

impl Looked {
    fn at(space: &Arc<Space>) -> Self {
        Self { space: Arc::clone(space), shape: Shape::of(space) }
    }
}

// === impl Shape ===

impl Shape {
    fn of(space: &Space) -> Self {
        let pinned_only = |access: &Access| space.lists_pinned_only(access);
        Self {
            open: (pinned_only(&Access::anonymous()), space.open_count() > 0),
            all: (pinned_only(&Access::operator()), space.resource_count() > 0),
        }
    }

    fn change(self, now: Shape) -> Option<ChangedFor> {
        if self.open != now.open {
            Some(ChangedFor::Everybody)
        } else {
            (self.all != now.all).then_some(ChangedFor::AnyGroup)
        }
    }
}

// === impl ChangedFor ===

impl ChangedFor {
    fn acl(groups: &Arc<[String]>) -> Self {
        ChangedFor::Groups(BTreeSet::from([Arc::clone(groups)]))
    }

    fn add(&mut self, more: ChangedFor) {
        match (&mut *self, more) {
            (ChangedFor::Everybody, _) | (ChangedFor::AnyGroup, ChangedFor::Groups(_)) => {}
            (ChangedFor::Groups(known), ChangedFor::Groups(more)) => {
                known.extend(more);
                if known.len() > ACLS_MAX {
                    *self = ChangedFor::AnyGroup;
                }
            }
            (_, more) => *self = more,
        }
    }

    fn includes(&self, access: &Access) -> bool {
        match self {
            ChangedFor::Everybody => true,
            ChangedFor::AnyGroup => access.has_groups(),
            ChangedFor::Groups(acls) => acls.iter().any(|groups| access.passes_acl(groups)),
        }
    }
}
