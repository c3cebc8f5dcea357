//! The lists that clients are told of.

use std::ops::{BitAnd, BitOr, Not};

/// A list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Resources and their templates.
    Resources,
    /// Prompts.
    Prompts,
}

/// A set of lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lists {
    /// Resources and their templates.
    pub resources: bool,
    /// Prompts.
    pub prompts: bool,
}

// === impl Lists ===

impl Lists {
    /// All that there are.
    pub(crate) const ALL: Lists = Lists { resources: true, prompts: true };

    /// The lists of the set one by one, in the order in which they are told.
    pub(crate) fn each(self) -> impl Iterator<Item = List> {
        let resources = self.resources.then_some(List::Resources);
        resources.into_iter().chain(self.prompts.then_some(List::Prompts))
    }

    /// How many are in the set.
    pub(super) fn count(self) -> u64 {
        u64::from(self.resources) + u64::from(self.prompts)
    }

    pub(super) fn is_empty(self) -> bool {
        self.count() == 0
    }
}

impl From<List> for Lists {
    fn from(list: List) -> Self {
        match list {
            List::Resources => Lists { resources: true, prompts: false },
            List::Prompts => Lists { resources: false, prompts: true },
        }
    }
}

impl BitAnd for Lists {
    type Output = Lists;

    fn bitand(self, other: Lists) -> Lists {
        Lists {
            resources: self.resources && other.resources,
            prompts: self.prompts && other.prompts,
        }
    }
}

impl BitOr for Lists {
    type Output = Lists;

    fn bitor(self, other: Lists) -> Lists {
        Lists {
            resources: self.resources || other.resources,
            prompts: self.prompts || other.prompts,
        }
    }
}

impl Not for Lists {
    type Output = Lists;

    fn not(self) -> Lists {
        Lists { resources: !self.resources, prompts: !self.prompts }
    }
}
