//! Interned ACLs: a resource carries a number, the group names stand once.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::access::Access;
use crate::error::{Error, ErrorKind, Result};
use crate::store::value::{AclId, decode_acl};
use crate::store::{Cf, Store};

/// How many different ACLs a store may hold; each costs memory for its group names.
const ACL_COUNT_MAX: usize = 1_000_000;
/// Bytes of a group's name.
pub(crate) const ACL_GROUP_BYTES_MAX: usize = 1_024;
/// How many groups one ACL may name.
pub(crate) const ACL_GROUPS_MAX: usize = 10_000;

/// The ACLs by number. Readers share it; only the writer adds to it, after the commit.
#[derive(Debug, Default)]
pub(crate) struct AclTable {
    /// `groups[0]` is ACL 1.
    groups: RwLock<Vec<Arc<[String]>>>,
}

impl AclTable {
    pub(crate) fn load(store: &Store) -> Result<AclTable> {
        let mut groups: Vec<Arc<[String]>> = Vec::new();
        let view = store.view();
        let mut scan = view.scan(Cf::Acls, b"", b"")?;
        while let Some((key, value)) = scan.item()? {
            let wanted = u32::try_from(groups.len() + 1).unwrap_or(u32::MAX).to_be_bytes();
            if key != wanted.as_slice() {
                return Err(Error::new(
                    ErrorKind::Corrupt,
                    "acls",
                    "the numbers of the ACLs have a gap",
                ));
            }
            groups.push(decode_acl(value)?.into());
            scan.advance();
        }
        Ok(AclTable { groups: RwLock::new(groups) })
    }

    /// The group names of an ACL; `None` for no ACL.
    pub(crate) fn groups(&self, acl: AclId) -> Result<Option<Arc<[String]>>> {
        let Some(index) = acl.0.checked_sub(1) else {
            return Ok(None);
        };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        match self.groups.read().get(index) {
            Some(groups) => Ok(Some(Arc::clone(groups))),
            None => {
                Err(Error::new(ErrorKind::Corrupt, "acls", format!("ACL {} is not stored", acl.0)))
            }
        }
    }

    /// Whether the caller passes the ACL.
    pub(crate) fn passes(&self, acl: AclId, access: &Access) -> Result<bool> {
        if acl == AclId::NONE || access.passes_every_acl() {
            return Ok(true);
        }
        Ok(self.groups(acl)?.is_none_or(|groups| access.passes_acl(&groups)))
    }

    /// Takes the ACLs of a store that was opened anew.
    pub(crate) fn replace(&self, other: AclTable) {
        *self.groups.write() = other.groups.into_inner();
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.read().len()
    }
}

/// The writer's half: group names to numbers, with the ones that the batch at hand adds.
#[derive(Debug, Default)]
pub(crate) struct AclNumbers {
    numbers: HashMap<Vec<String>, AclId>,
    added: Vec<Vec<String>>,
}

impl AclNumbers {
    pub(crate) fn from_table(table: &AclTable) -> AclNumbers {
        let numbers = (1..)
            .zip(table.groups.read().iter())
            .map(|(number, groups)| (groups.to_vec(), AclId(number)))
            .collect();
        AclNumbers { numbers, added: Vec::new() }
    }

    /// The number of an ACL, a new one if need be; `is_new` says that it must be stored.
    pub(crate) fn intern(&mut self, groups: &[String]) -> Result<(AclId, bool)> {
        if let Some(number) = self.numbers.get(groups) {
            return Ok((*number, false));
        }
        if self.numbers.len() >= ACL_COUNT_MAX {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                groups.join(","),
                format!(
                    "the store holds {ACL_COUNT_MAX} different ACLs already: use fewer combinations of groups"
                ),
            ));
        }
        let number = AclId(u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX));
        self.numbers.insert(groups.to_vec(), number);
        self.added.push(groups.to_vec());
        Ok((number, true))
    }

    /// Shows what the committed batch added to the readers.
    pub(crate) fn publish(&mut self, table: &AclTable) {
        if !self.added.is_empty() {
            table.groups.write().extend(self.added.drain(..).map(Into::into));
        }
    }
}
