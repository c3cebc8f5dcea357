//! Folders as sources: which files are served, what each of them is, and the resource record it becomes.
//!
//! The module is synchronous and knows neither the engine nor a transport: [`FolderSource::scan`] hands records to a
//! sink, and whoever owns the engine puts them in. What is served is decided in this order:
//!
//! 1. `exclude` patterns take away, whatever else is said;
//! 2. `include` patterns, when there are any, are the only way in;
//! 3. `.gitignore` and `.ignore` files, version-control folders, dependency folders and files that usually hold secrets
//!    are left out, unless an `include` pattern spells their name out (see [`FolderSource::include`]);
//! 4. folders that hold a store of Pressmark, ours above all, are left out whatever a pattern says;
//! 5. symbolic links are never followed, but for those of a ConfigMap of Kubernetes through `..data`: one that points outside would leave the folder, one that points inside would
//!    serve a file twice. FIFOs, sockets and devices are passed by.
//!
//! Mount points are walked like other folders: documents are often put together from several of them. A disk that may be
//! away is better a source of its own, whose documents then stay; beneath another folder its empty place is an empty
//! folder.
//!
//! Only files that travel with the tree decide: git's global and system-wide settings change nothing, and neither does
//! `.git/info/exclude`. When the folder lies inside a git repository, the `.gitignore` files between the repository's
//! root and the folder count as well, except those that would ignore the folder itself (it was asked for by name).

mod absolute;
mod backup_name;
mod beneath;
pub(crate) mod headline;
mod ignore_files;
mod left_out;
mod media_type;
mod media_type_table;
mod mint;
mod pattern;
mod read_file;
mod secrets;
mod selection;
mod setting;
mod slug;
mod uri_path;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use pressmark_index::resource::Resource;

pub(crate) use absolute::lexically_absolute;
pub(crate) use left_out::also_touched;
pub use pattern::check_pattern;
pub use setting::Setting;
pub(crate) use slug::slug;
pub use slug::{check_distinct, folder_settings, folder_spaces};

/// The bound on a file's size when nothing else is said: 64 MiB.
pub const FILE_BYTES_MAX_DEFAULT: u64 = 64 * 1024 * 1024;

/// A folder whose files are resources of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderSource {
    /// The name of the space that its files belong to.
    pub space: String,
    /// The folder. A symbolic link here is followed, since the operator named it; beneath it none is.
    pub root: PathBuf,
    /// Patterns in the syntax of `.gitignore`, relative to the folder; empty: every file.
    ///
    /// A pattern spells a name out when one of its segments is that name without wildcards, or, for files that usually
    /// hold secrets, the rule itself, such as `*.pem`. Such a pattern brings in what is otherwise left out.
    pub include: Vec<String>,
    /// Patterns in the syntax of `.gitignore`, relative to the folder; they win over everything.
    pub exclude: Vec<String>,
    /// Files with more bytes are refused.
    pub file_bytes_max: u64,
    /// The data directory of the running program, which is never served.
    pub data_dir: Option<PathBuf>,
    /// Whether changes are taken while the program runs, not only at its start.
    pub watch: bool,
    /// How often the whole folder is compared besides what the system reports. `None`: only where the system does not
    /// report, as of network file systems and beyond its limit of watches.
    pub poll_interval: Option<Duration>,
}

/// What a scan found at one path. Paths are relative to the folder and escaped, as the variable `path` holds them.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time goes to the sink; none is kept")]
pub enum Scanned {
    /// A file that is new or looks different from what was known.
    Changed(Resource),
    /// A file that looks as it did: its fingerprint is the known one. It was not read.
    Unchanged {
        /// The escaped path.
        path: String,
    },
    /// A file, or a folder with everything beneath it (the path then ends in `/`), that a rule keeps out: its size, its
    /// name, its depth or a secret in it. What was served of it before is no longer.
    Refused {
        /// The escaped path. Bytes that are not UTF-8 are escaped one by one, so that nothing is lost.
        path: String,
        /// How the file looked that is refused; `None` where another rule than one on files keeps it out.
        fingerprint: Option<Vec<u8>>,
        /// What is wrong and the way out, for people.
        reason: String,
    },
    /// A file or folder that cannot be read now: the operating system gave an error, or the file does not come to rest.
    ///
    /// What is there is not known, so what was served of it, and of everything beneath it, stays as it was.
    Unreadable {
        /// The escaped path, without a `/` at its end; empty for the folder of the source itself.
        path: String,
        /// What is wrong, for people.
        reason: String,
    },
    /// A folder that is served, before it is listed: who watches it from now on misses nothing.
    Folder {
        /// Its path from the folder of the source, decoded; empty for that folder itself.
        relative: String,
    },
}

/// Names in folders. The folders are paths from the folder of the source, which itself is the empty path.
pub type Entries = BTreeMap<PathBuf, BTreeSet<OsString>>;

/// What is remembered of earlier scans, so that files need not be opened again.
#[derive(Clone, Copy)]
pub struct Remembered<'a> {
    /// The fingerprint under which the file at an escaped path was last recorded.
    pub served: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    /// Why the file at an escaped path, which has this fingerprint, is refused without being read.
    pub refused: &'a dyn Fn(&str, &[u8]) -> Option<String>,
}

impl Remembered<'_> {
    /// Nothing: every file is opened.
    pub const NOTHING: Remembered<'static> =
        Remembered { served: &|_| None, refused: &|_, _| None };
}

/// What of a source is looked at.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// Everything.
    Whole,
    /// These entries; those that are folders with all beneath them. Files among them are read even if they look as known.
    Entries(&'a Entries),
}

/// What a scan saw, in sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// Files that are served, changed or not.
    pub files: u64,
    /// Their sizes in bytes, in sum.
    pub bytes: u64,
    /// Files and folders that a rule refused with a reason.
    pub refused: u64,
    /// Files and folders that could not be read now.
    pub unreadable: u64,
    /// Files and folders that a rule left out; what is beneath such a folder is not counted.
    pub left_out: u64,
    /// Whether the folder of the source holds nothing at all, as the place of a disk that is not mounted does.
    pub root_empty: bool,
}

/// Why a folder cannot be a source at all.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder, or file, cannot be opened.
    #[error("{}: cannot be opened; check that it exists and may be read", path.display())]
    Open {
        /// The path as it was given.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Neither a folder nor a regular file.
    #[error("{}: is neither a folder nor a regular file", path.display())]
    Kind {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The folder is, or lies in, a store.
    #[error("{}: is a store of documents that are served, not a folder to serve", path.display())]
    Store {
        /// The folder.
        path: PathBuf,
    },
    /// An ignore file of the folder, or above it, whose rules are not known.
    #[error("{}: {detail}", path.display())]
    Rules {
        /// The folder of the source.
        path: PathBuf,
        /// What is wrong with the file and the way out.
        detail: String,
    },
    /// Two paths that are the same folder.
    #[error("{}: is the same as {}; name it once", second.display(), first.display())]
    Duplicate {
        /// The path that came first, as it was given.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// An include or exclude pattern that cannot be parsed.
    #[error("pattern {pattern:?}: {detail}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl FolderSource {
    /// A source of all files of `root`, with the default bounds.
    pub fn new(space: impl Into<String>, root: impl Into<PathBuf>) -> Self {
        Self {
            space: space.into(),
            root: root.into(),
            include: Vec::new(),
            exclude: Vec::new(),
            file_bytes_max: FILE_BYTES_MAX_DEFAULT,
            data_dir: None,
            watch: true,
            poll_interval: None,
        }
    }

    /// The source's id: the same over restarts, whether the folder is there or not.
    ///
    /// It is made of the space's name and the path as the operator said it, made absolute. The file system is not asked:
    /// a link whose target is away would make it another source, whose documents are then deleted.
    pub fn source_id(&self) -> u64 {
        let current_dir = std::env::current_dir().unwrap_or_default();
        let root = lexically_absolute(&current_dir, &self.root);
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.space.as_bytes()).update(&[0]);
        hasher.update(root.as_os_str().as_encoded_bytes());
        let hash = hasher.finalize();
        let (id, _) = hash.as_bytes().split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        u64::from_be_bytes(*id)
    }

    /// Looks at the whole folder or a part of it; what lies in the scope and the sink is not told of is no longer served.
    ///
    /// Entries come folder by folder, sorted by the bytes of their names. A file that looks as it is `remembered` is not
    /// opened. The sink ends the walk with `Break`. What is not a served folder holds nothing.
    ///
    /// # Errors
    ///
    /// When the folder itself cannot be opened, or a pattern is wrong. Whatever is wrong beneath the folder is
    /// reported as [`Scanned::Refused`] or [`Scanned::Unreadable`] and the walk goes on.
    pub fn scan(
        &self,
        scope: Scope<'_>,
        remembered: &Remembered<'_>,
        sink: &mut dyn FnMut(Scanned) -> ControlFlow<()>,
    ) -> Result<ScanReport, SourceError> {
        walk::scan(self, scope, remembered, sink)
    }

    /// What a scan depends on besides what lies beneath the folder: which folder it is, and the ignore files above it.
    /// When it is another than it was, the whole folder is to be looked at.
    ///
    /// # Errors
    ///
    /// [`SourceError::Open`] when the folder is away.
    pub fn setting(&self) -> Result<Setting, SourceError> {
        Setting::of(&self.root)
            .map_err(|source| SourceError::Open { path: self.root.clone(), source })
    }
}

/// An error with its causes, for a reason that people read.
pub(crate) fn chain_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
