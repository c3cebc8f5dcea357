//! What decides about a folder from outside of it. Nothing reports when that changes, so who watches looks now and then.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::beneath::{Folder, FolderIdentity};
use super::ignore_files::{IGNORE_FILES, is_repository};

/// Which folder a source's path leads to, and which ignore files above it count. Equal: nothing of it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    root: FolderIdentity,
    /// Hash of what the file system says of the ignore files.
    above: [u8; 32],
}

impl Setting {
    /// Asks the file system: one look at the folder, and a few for each folder above it up to its repository's root.
    pub(super) fn of(root: &Path) -> io::Result<Self> {
        let identity = Folder::open_root(root)?.identity()?;
        let root = root.canonicalize()?;
        let mut above = blake3::Hasher::new();
        let mut folders = root.ancestors();
        if folders.next().is_some_and(|root| !is_repository(root)) {
            for folder in folders {
                for name in IGNORE_FILES {
                    let stat = Folder::open_root(folder)
                        .and_then(|folder| folder.stat(OsStr::new(name)))
                        .map(|stat| stat.fingerprint)
                        .unwrap_or_default();
                    above.update(&[u8::from(stat.is_empty())]).update(&stat);
                }
                if is_repository(folder) {
                    above.update(b"repository");
                    break;
                }
            }
        }
        Ok(Self { root: identity, above: *above.finalize().as_bytes() })
    }
}
