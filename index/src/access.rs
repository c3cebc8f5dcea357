//! What a caller may see. Every read takes one and answers within it, totals included.

use std::collections::BTreeSet;

/// What a caller may see: spaces, values that a variable must have, groups.
///
/// A resource is visible when its space is, when each required variable has one of its values,
/// and when it has no ACL or one that names a group of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    spaces: Spaces,
    required: Vec<RequiredValue>,
    groups: Groups,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Spaces {
    All,
    Only(BTreeSet<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Groups {
    /// The operator at the shell: ACLs do not bind it.
    Every,
    These(BTreeSet<String>),
}

/// In `space`, `variable` must have one of `values`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredValue {
    /// The space's name.
    pub space: String,
    /// The variable's name.
    pub variable: String,
    /// The allowed values, decoded.
    pub values: BTreeSet<String>,
}

impl Access {
    /// All spaces, no groups: what the transports pass until a caller is identified.
    pub fn anonymous() -> Self {
        Self { spaces: Spaces::All, required: Vec::new(), groups: Groups::These(BTreeSet::new()) }
    }

    /// Everything, ACLs included: the operator who has the data directory anyway.
    pub fn operator() -> Self {
        Self { spaces: Spaces::All, required: Vec::new(), groups: Groups::Every }
    }

    /// The same access with these groups.
    #[must_use]
    pub fn with_groups<S: Into<String>>(mut self, groups: impl IntoIterator<Item = S>) -> Self {
        self.groups = Groups::These(groups.into_iter().map(Into::into).collect());
        self
    }

    /// The same access within these spaces only.
    #[must_use]
    pub fn with_spaces<S: Into<String>>(mut self, spaces: impl IntoIterator<Item = S>) -> Self {
        self.spaces = Spaces::Only(spaces.into_iter().map(Into::into).collect());
        self
    }

    /// The same access with one more condition.
    #[must_use]
    pub fn with_required_value(mut self, required: RequiredValue) -> Self {
        self.required.push(required);
        self
    }

    /// Whether the space may be used at all.
    pub fn sees_space(&self, name: &str) -> bool {
        match &self.spaces {
            Spaces::All => true,
            Spaces::Only(names) => names.contains(name),
        }
    }

    /// Whether the caller may pass an ACL at all.
    pub fn has_groups(&self) -> bool {
        match &self.groups {
            Groups::Every => true,
            Groups::These(groups) => !groups.is_empty(),
        }
    }

    /// The caller's groups; `None`: ACLs do not bind this caller.
    pub(crate) fn groups(&self) -> Option<&BTreeSet<String>> {
        match &self.groups {
            Groups::Every => None,
            Groups::These(groups) => Some(groups),
        }
    }

    /// Whether ACLs do not bind this caller.
    pub fn passes_every_acl(&self) -> bool {
        self.groups == Groups::Every
    }

    /// Whether nothing is hidden from this caller, whatever the store holds.
    pub fn sees_everything(&self) -> bool {
        self.spaces == Spaces::All && self.required.is_empty() && self.passes_every_acl()
    }

    /// Whether an ACL with these group names lets the caller in.
    pub fn passes_acl(&self, acl: &[String]) -> bool {
        match &self.groups {
            Groups::Every => true,
            Groups::These(groups) => acl.iter().any(|group| groups.contains(group)),
        }
    }

    /// The conditions on variables of a space.
    pub fn required_in<'a>(&'a self, space: &'a str) -> impl Iterator<Item = &'a RequiredValue> {
        self.required.iter().filter(move |required| required.space == space)
    }
}
