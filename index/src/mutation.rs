//! What can be asked of the writer, and what it answers.

use crate::resource::{Resource, UnixMillis};
use crate::space::SpaceId;

/// A change of resources.
#[derive(Debug, Clone, PartialEq)]
pub enum Mutation {
    /// Puts a resource in place of what stands at its URI.
    Put(Box<Resource>),
    /// Deletes the resource with this URI.
    Delete {
        /// Its URI, in any spelling that normalises to the stored one.
        uri: String,
    },
    /// Does so only if the resource has the version that the caller has seen; else refused as `VersionMismatch`.
    IfVersion {
        /// The version that must stand there; 0: there must be no resource.
        expected: u64,
        /// What to do then.
        then: Box<Mutation>,
    },
}

/// What a mutation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It stands there for the first time, or again.
    Created,
    /// It took the place of another version.
    Updated,
    /// The same content stood there: no new version, nobody is notified.
    Unchanged,
    /// It is gone.
    Deleted,
    /// There was nothing to delete.
    Absent,
}

/// A mutation that was applied and is durable at the configured level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The stored URI.
    pub uri: String,
    /// What was done.
    pub outcome: Outcome,
    /// The resource's version; 0 when there was never one.
    pub version: u64,
    /// Number of the entry in the change log, if there is a new one.
    pub sequence: Option<u64>,
    /// Something that the operator should know, e.g. two names that are one to some hosts.
    pub warning: Option<String>,
}

/// What happened to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// There was none before.
    Created,
    /// Readers see something new.
    Updated,
    /// It is gone.
    Deleted,
}

/// An entry of the change log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its number in this partition, without gaps from the oldest kept.
    pub sequence: u64,
    /// What happened.
    pub kind: ChangeKind,
    /// Whether it changed which pinned resources there are, or who may see one of them.
    pub pinned_list: bool,
    /// To which resource.
    pub uri: String,
    /// In which space.
    pub space: SpaceId,
    /// The version that it made (of a deletion: the last one).
    pub version: u64,
    /// When.
    pub committed: UnixMillis,
    /// Group names before; `None`: no ACL, or not there.
    pub old_acl: Option<std::sync::Arc<[String]>>,
    /// Group names after; `None`: no ACL, or not there.
    pub new_acl: Option<std::sync::Arc<[String]>>,
}
