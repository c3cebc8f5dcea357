//! Walking a folder by handles, in a fixed order.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Component, Path};
use std::rc::Rc;

use pressmark_index::resource::SourceMark;

use super::beneath::{EntryKind, EntryStat, Folder, FolderIdentity};
use super::ignore_files::{IgnoreFault, IgnoreStack};
use super::left_out::is_store;
use super::mint::{fingerprint, mint};
use super::read_file::{ReadOutcome, read_file, too_large};
use super::secrets::secret_content;
use super::selection::{FileVerdict, Selection, Way};
use super::uri_path::{escape_name_bytes, escape_path};
use super::{FolderSource, Remembered, ScanReport, Scanned, Scope, SourceError};

/// Folders within folders: each level holds a file descriptor and a stack frame while it is walked.
const DEPTH_MAX: usize = 128;

const SWAPPED: &str = "..data was replaced while the folder was read; it is read again";

const NOT_UTF8: &str = "its name is not UTF-8, which a URI cannot say; rename it to serve it";

/// Looks at what `scope` says and tells the sink of everything that is there.
pub(super) fn scan(
    source: &FolderSource,
    scope: Scope<'_>,
    remembered: &Remembered<'_>,
    sink: &mut dyn FnMut(Scanned) -> ControlFlow<()>,
) -> Result<ScanReport, SourceError> {
    let mut walk = Walk {
        source,
        source_id: source.source_id(),
        remembered: *remembered,
        believes_remembered: true,
        sink,
        report: ScanReport::default(),
    };
    // Nobody needs to know whether the sink ended the walk: it was the sink that did.
    match scope {
        Scope::Whole => {
            let _ = walk.folder(&mut Entry::root(source)?);
        }
        Scope::Entries(entries) => {
            for (folder, names) in entries {
                if walk.entries(&mut Entry::root(source)?, folder, names).is_break() {
                    break;
                }
            }
        }
    }
    Ok(walk.report)
}

/// A folder on the way, with what holds in it.
struct Entry {
    folder: Rc<Folder>,
    /// What the names in it lead to that are links through `..data`.
    projection: Option<Rc<Folder>>,
    /// Its path from the root, decoded; empty for the root.
    relative: String,
    depth: usize,
    selection: Rc<Selection>,
    /// The data directory of the running program.
    data_dir: Option<FolderIdentity>,
    way: Way,
    ignored: IgnoreStack,
}

impl Entry {
    fn root(source: &FolderSource) -> Result<Self, SourceError> {
        let selection = Selection::new(source)?;
        let failed = |error| SourceError::Open { path: source.root.clone(), source: error };
        let folder = Folder::open_root(&source.root).map_err(failed)?;
        let data_dir = source.data_dir.as_deref().and_then(identity_of);
        if is_store(&folder) || lies_in(&source.root, source.data_dir.as_deref()) {
            return Err(SourceError::Store { path: source.root.clone() });
        }
        let unknown = |fault| match fault {
            IgnoreFault::Unreadable(error) => failed(error),
            IgnoreFault::Unusable(_) => {
                SourceError::Rules { path: source.root.clone(), detail: fault.to_string() }
            }
        };
        let mut ignored = IgnoreStack::above(&source.root).map_err(unknown)?;
        let projection = folder.projection().map(Rc::new);
        ignored.enter(projection.as_deref().unwrap_or(&folder), "").map_err(unknown)?;
        let way = selection.way();
        Ok(Self {
            folder: Rc::new(folder),
            projection,
            relative: String::new(),
            depth: 0,
            selection: selection.into(),
            data_dir,
            way,
            ignored,
        })
    }

    fn path_of(&self, name: &str) -> String {
        if self.relative.is_empty() { name.to_owned() } else { format!("{}/{name}", self.relative) }
    }

    /// Whether the folder, which lies in this one, holds a store. No pattern brings it back.
    fn is_left_out_always(&self, folder: &Folder) -> io::Result<bool> {
        let own = match &self.data_dir {
            Some(data_dir) => folder.identity()? == *data_dir,
            None => false,
        };
        Ok(own || is_store(folder))
    }

    /// Where the entry `name` is: in the folder itself, or where its link through `..data` leads. `None`: it is part of how
    /// Kubernetes changes the folder, and no document.
    fn place_of(&self, name: &OsStr) -> Option<Rc<Folder>> {
        match &self.projection {
            Some(_) if name.as_encoded_bytes().starts_with(b"..") => None,
            Some(projection) if self.folder.is_projected(name) => Some(Rc::clone(projection)),
            Some(_) | None => Some(Rc::clone(&self.folder)),
        }
    }

    /// Whether `..data` leads elsewhere by now, so that what is gone may be there.
    fn was_swapped(&self) -> bool {
        let identity = |folder: &Folder| folder.identity().ok();
        let now = self.folder.projection().as_ref().and_then(identity);
        self.projection.as_deref().is_some_and(|known| identity(known) != now)
    }

    /// Goes down to `path`; `false` when a folder on the way is not there or not served.
    fn descend_all(&mut self, path: &Path) -> io::Result<bool> {
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Ok(false);
            };
            let Some(relative) = name.to_str().map(|name| self.path_of(name)) else {
                return Ok(false);
            };
            let Some(within) = self.place_of(name) else {
                return Ok(false);
            };
            let way = self.selection.enter(&self.way, &self.ignored, &within, &relative);
            let Some(way) = way.filter(|_| self.depth < DEPTH_MAX) else {
                return Ok(false);
            };
            let folder = match within.open_folder(name) {
                Ok(folder) => folder,
                Err(error) if is_gone(&error) => return Ok(false),
                Err(error) => return Err(error),
            };
            if self.is_left_out_always(&folder)? {
                return Ok(false);
            }
            let projection = folder.projection().map(Rc::new);
            match self.ignored.enter(projection.as_deref().unwrap_or(&folder), &relative) {
                Ok(()) => {}
                Err(IgnoreFault::Unreadable(error)) => return Err(error),
                // Whoever listed the folder above was told.
                Err(IgnoreFault::Unusable(_)) => return Ok(false),
            }
            (self.folder, self.projection) = (Rc::new(folder), projection);
            (self.relative, self.way) = (relative, way);
            self.depth += 1;
        }
        Ok(true)
    }
}

struct Walk<'a> {
    source: &'a FolderSource,
    source_id: u64,
    remembered: Remembered<'a>,
    /// Whether a file that looks as it is remembered is taken to be as it was.
    believes_remembered: bool,
    sink: &'a mut dyn FnMut(Scanned) -> ControlFlow<()>,
    report: ScanReport,
}

impl Walk<'_> {
    /// The entries `names` of the sub-folder `folder` of the root.
    fn entries(
        &mut self,
        root: &mut Entry,
        folder: &Path,
        names: &BTreeSet<OsString>,
    ) -> ControlFlow<()> {
        match root.descend_all(folder) {
            Ok(true) => names.iter().try_for_each(|name| {
                // Something happened to it: a second write within one step of the file system's clock does not show.
                self.believes_remembered = false;
                self.name(root, name)
            }),
            // A folder that is not served holds nothing.
            Ok(false) => ControlFlow::Continue(()),
            // An error is not an absence: a document must not vanish because file descriptors ran out.
            Err(error) => {
                let path = escape_name_bytes(folder.as_os_str().as_encoded_bytes());
                self.unreadable(path, format!("cannot be opened: {error}"))
            }
        }
    }

    /// Everything beneath `entry`, in the order of names.
    fn folder(&mut self, entry: &mut Entry) -> ControlFlow<()> {
        (self.sink)(Scanned::Folder { relative: entry.relative.clone() })?;
        let names = match entry.folder.names() {
            Ok(names) => names,
            Err(error) => {
                let path = escape_path(&entry.relative);
                return self.unreadable(path, format!("cannot be listed: {error}"));
            }
        };
        self.report.root_empty |= entry.depth == 0 && names.is_empty();
        for name in names {
            self.name(entry, &name)?;
        }
        ControlFlow::Continue(())
    }

    fn name(&mut self, entry: &mut Entry, name: &OsString) -> ControlFlow<()> {
        let Some(within) = entry.place_of(name) else {
            return self.leave_out();
        };
        let stat = match within.stat(name) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound && entry.was_swapped() => {
                return self.unreadable(escaped_beneath(entry, name), SWAPPED.to_owned());
            }
            // It went away since the folder was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return ControlFlow::Continue(());
            }
            Err(error) => {
                let path = escaped_beneath(entry, name);
                return self.unreadable(path, format!("cannot be looked at: {error}"));
            }
        };
        let Some(utf8) = name.to_str() else {
            let folder_mark = if stat.kind == EntryKind::Folder { "/" } else { "" };
            let path = format!("{}{folder_mark}", escaped_beneath(entry, name));
            return match stat.kind {
                EntryKind::Folder | EntryKind::File => self.refuse(path, None, NOT_UTF8.to_owned()),
                EntryKind::Link | EntryKind::Special => self.leave_out(),
            };
        };
        match stat.kind {
            EntryKind::Folder => self.sub_folder(entry, &within, utf8),
            EntryKind::File => self.file(entry, &within, utf8, &stat),
            EntryKind::Link | EntryKind::Special => self.leave_out(),
        }
    }

    fn sub_folder(&mut self, entry: &mut Entry, within: &Folder, name: &str) -> ControlFlow<()> {
        let relative = entry.path_of(name);
        let way = entry.selection.enter(&entry.way, &entry.ignored, within, &relative);
        let Some(way) = way else {
            return self.leave_out();
        };
        if entry.depth == DEPTH_MAX {
            let reason =
                format!("lies more than {DEPTH_MAX} folders deep; serve a folder further down");
            return self.refuse(format!("{}/", escape_path(&relative)), None, reason);
        }
        let folder = match within.open_folder(OsStr::new(name)) {
            Ok(folder) => folder,
            Err(error) if is_gone(&error) && !entry.was_swapped() => {
                return ControlFlow::Continue(());
            }
            Err(error) => {
                let path = escape_path(&relative);
                return self.unreadable(path, format!("cannot be opened: {error}"));
            }
        };
        match entry.is_left_out_always(&folder) {
            Ok(false) => {}
            Ok(true) => return self.leave_out(),
            Err(error) => return self.unreadable(escape_path(&relative), error.to_string()),
        }
        let projection = folder.projection().map(Rc::new);
        match entry.ignored.enter(projection.as_deref().unwrap_or(&folder), &relative) {
            Ok(()) => {}
            Err(IgnoreFault::Unreadable(error)) => {
                return self.unreadable(escape_path(&relative), error.to_string());
            }
            Err(fault @ IgnoreFault::Unusable(_)) => {
                // Watched, so that a better one is noticed.
                (self.sink)(Scanned::Folder { relative: relative.clone() })?;
                return self.refuse(
                    format!("{}/", escape_path(&relative)),
                    None,
                    fault.to_string(),
                );
            }
        }
        let ignored = std::mem::take(&mut entry.ignored);
        let selection = entry.selection.clone();
        let (depth, data_dir) = (entry.depth + 1, entry.data_dir.clone());
        let folder = Rc::new(folder);
        let mut below =
            Entry { folder, projection, relative, depth, selection, data_dir, way, ignored };
        self.believes_remembered = true;
        let flow = self.folder(&mut below);
        entry.ignored = below.ignored;
        entry.ignored.leave();
        flow
    }

    fn file(
        &mut self,
        entry: &Entry,
        within: &Folder,
        name: &str,
        stat: &EntryStat,
    ) -> ControlFlow<()> {
        let relative = entry.path_of(name);
        let verdict = entry.selection.judge(&entry.way, &entry.ignored, &relative);
        if verdict == FileVerdict::LeaveOut {
            return self.leave_out();
        }
        let path = escape_path(&relative);
        let named = verdict == FileVerdict::ServeNamed;
        let looks = fingerprint(named, stat);
        if stat.bytes > self.source.file_bytes_max {
            let reason = too_large(stat.bytes, self.source.file_bytes_max);
            return self.refuse(path, Some(looks), reason);
        }
        if self.believes_remembered {
            if (self.remembered.served)(&path).is_some_and(|known| known == looks) {
                self.count(stat.bytes);
                return (self.sink)(Scanned::Unchanged { path });
            }
            if let Some(reason) = (self.remembered.refused)(&path, &looks) {
                return self.refuse(path, Some(looks), reason);
            }
        }
        match read_file(within, OsStr::new(name), self.source.file_bytes_max) {
            ReadOutcome::Gone if entry.was_swapped() => self.unreadable(path, SWAPPED.to_owned()),
            ReadOutcome::Gone => ControlFlow::Continue(()),
            ReadOutcome::Refused(reason) => self.refuse(path, None, reason),
            ReadOutcome::Unreadable(reason) => self.unreadable(path, reason),
            ReadOutcome::Read(file) => {
                let looks = fingerprint(named, &file.stat);
                if !named && let Some(secret) = secret_content(name, &file.bytes) {
                    let reason = format!("{secret}; include it by name to serve it");
                    return self.refuse(path, Some(looks), reason);
                }
                self.count(file.stat.bytes);
                let mark = SourceMark { source_id: self.source_id, fingerprint: looks };
                let resource = mint(&self.source.space, &relative, path, file, mark);
                (self.sink)(Scanned::Changed(resource))
            }
        }
    }

    fn count(&mut self, bytes: u64) {
        self.report.files += 1;
        self.report.bytes += bytes;
    }

    fn leave_out(&mut self) -> ControlFlow<()> {
        self.report.left_out += 1;
        ControlFlow::Continue(())
    }

    fn refuse(
        &mut self,
        path: String,
        fingerprint: Option<Vec<u8>>,
        reason: String,
    ) -> ControlFlow<()> {
        self.report.refused += 1;
        (self.sink)(Scanned::Refused { path, fingerprint, reason })
    }

    fn unreadable(&mut self, path: String, reason: String) -> ControlFlow<()> {
        self.report.unreadable += 1;
        (self.sink)(Scanned::Unreadable { path, reason })
    }
}

fn identity_of(path: &Path) -> Option<FolderIdentity> {
    Folder::open_root(path).and_then(|folder| folder.identity()).ok()
}

fn lies_in(root: &Path, data_dir: Option<&Path>) -> bool {
    let data_dir = data_dir.and_then(|path| path.canonicalize().ok());
    data_dir
        .is_some_and(|data_dir| root.canonicalize().is_ok_and(|root| root.starts_with(data_dir)))
}

fn escaped_beneath(entry: &Entry, name: &OsStr) -> String {
    let name = escape_name_bytes(name.as_encoded_bytes());
    if entry.relative.is_empty() {
        name
    } else {
        format!("{}/{name}", escape_path(&entry.relative))
    }
}

/// Whether the folder went away, or became something else, since it was looked at.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}
