//! Contents and descriptors as they go on the wire, encoded once, when a resource is written. The
//! only place of the engine that knows JSON.

pub(crate) mod descriptor;
pub(crate) mod json_text;
pub(crate) mod part;

use crate::resource::Role;

/// Which optional fields the reader's revision knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireFields {
    /// `title`.
    pub title: bool,
    /// `icons`.
    pub icons: bool,
    /// `_meta` of resources and contents.
    pub meta: bool,
    /// `annotations.lastModified`.
    pub last_modified: bool,
}

/// `Role` as it is spelled on the wire.
fn role(role: Role) -> &'static [u8] {
    match role {
        Role::User => b"\"user\"",
        Role::Assistant => b"\"assistant\"",
    }
}
