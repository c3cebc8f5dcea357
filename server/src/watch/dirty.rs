//! What may have changed beneath a folder, in bounded memory: names in folders, coarser the more they are.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::sources::Entries;

/// More names in one folder, and the folder is looked at as a whole with all beneath it.
const NAMES_PER_FOLDER_MAX: usize = 1_000;
/// More names in all, and everything is looked at. At some 200 bytes each they take 2 MB.
const NAMES_MAX: usize = 10_000;

/// Entries to look at again. An entry that is a folder stands for all beneath it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dirty {
    entries: Entries,
    name_count: usize,
    whole: bool,
}

/// What is to be done about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Look at everything.
    Whole,
    /// Look at these.
    Entries(Entries),
}

impl Job {
    /// Whether the job looks at what stands at `path`.
    pub(super) fn covers(&self, path: &Path) -> bool {
        match self {
            Job::Whole => true,
            Job::Entries(entries) => is_covered(entries, path),
        }
    }
}

impl Dirty {
    /// Adds the entry at `path`, relative to the root; the empty path is the root itself.
    pub(super) fn add(&mut self, path: &Path) {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return self.add_whole();
        };
        if self.whole || is_covered(&self.entries, folder) {
            return;
        }
        let names = match self.entries.get_mut(folder) {
            Some(names) => names,
            None => self.entries.entry(folder.to_path_buf()).or_default(),
        };
        if names.contains(name) {
            return;
        }
        names.insert(name.to_os_string());
        self.name_count += 1;
        if names.len() > NAMES_PER_FOLDER_MAX {
            let names = self.entries.remove(folder).map_or(0, |names| names.len());
            self.name_count -= names;
            self.add(folder);
        } else if self.name_count > NAMES_MAX {
            self.add_whole();
        }
    }

    /// Everything may have changed.
    pub(super) fn add_whole(&mut self) {
        *self = Self { whole: true, ..Self::default() };
    }

    /// Adds all that a job looks at.
    pub(super) fn add_job(&mut self, job: &Job) {
        match job {
            Job::Whole => self.add_whole(),
            Job::Entries(entries) => {
                for path in paths_of(entries) {
                    self.add(&path);
                }
            }
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        !self.whole && self.entries.is_empty()
    }

    /// The job, without entries that lie beneath others. `None`: there is nothing to do.
    pub(super) fn into_job(self) -> Option<Job> {
        if self.whole {
            return Some(Job::Whole);
        }
        let all = self.entries;
        let uncovered: Entries = all
            .iter()
            .filter(|(folder, _)| !is_covered(&all, folder))
            .map(|(folder, names)| (folder.clone(), names.clone()))
            .collect();
        Some(Job::Entries(uncovered)).filter(|_| !all.is_empty())
    }
}

/// The paths of all entries.
pub(super) fn paths_of(entries: &Entries) -> impl Iterator<Item = PathBuf> {
    let of_folder = |(folder, names): (&PathBuf, &BTreeSet<OsString>)| {
        names.iter().map(|name| folder.join(name)).collect::<Vec<_>>()
    };
    entries.iter().flat_map(of_folder)
}

/// Whether what stands at `path`, or a folder above it, is an entry.
fn is_covered(entries: &Entries, path: &Path) -> bool {
    path.ancestors().any(|path| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => entries.get(parent).is_some_and(|names| names.contains(name)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job(paths: &[&str]) -> Option<Job> {
        let mut dirty = Dirty::default();
        for path in paths {
            dirty.add(Path::new(path));
        }
        dirty.into_job()
    }

    #[track_caller]
    fn check(paths: &[&str], wanted: &[&str]) {
        let Some(Job::Entries(entries)) = job(paths) else { panic!("{:?}", job(paths)) };
        let found: Vec<_> = paths_of(&entries).collect();
        assert_eq!(found, wanted.iter().map(PathBuf::from).collect::<Vec<_>>());
    }

    #[test]
    fn entries_beneath_others_are_dropped() {
        check(&["a", "a/b", "b/c/d"], &["a", "b/c/d"]);
        // A tree is removed from its leaves on.
        check(&["d/e/f", "d/e", "d", "da"], &["d", "da"]);
        assert_eq!(job(&[]), None);
        assert_eq!(job(&["a", "", "b"]), Some(Job::Whole));
    }

    #[test]
    fn many_names_become_their_folder_and_many_folders_everything() {
        let add = |paths: &mut dyn Iterator<Item = String>| {
            let mut dirty = Dirty::default();
            for path in paths {
                dirty.add(Path::new(&path));
                assert!(dirty.name_count <= NAMES_MAX);
            }
            dirty.into_job()
        };
        let in_one = add(&mut (0..50_000).map(|number| format!("a/b/{number}")));
        let Some(Job::Entries(entries)) = in_one else { panic!("{in_one:?}") };
        assert_eq!(paths_of(&entries).collect::<Vec<_>>(), [PathBuf::from("a/b")]);
        let in_root = add(&mut (0..50_000).map(|number| number.to_string()));
        assert_eq!(in_root, Some(Job::Whole));
        let spread = add(&mut (0..50_000).map(|number| format!("{}/{number}", number % 500)));
        assert_eq!(spread, Some(Job::Whole));
    }

    proptest! {
        /// Whatever is added is looked at: itself, a folder above it, or everything.
        #[test]
        fn nothing_is_lost(paths in prop::collection::vec("[ab](/[ab]){0,3}", 0..40)) {
            let mut dirty = Dirty::default();
            for path in &paths {
                dirty.add(Path::new(path));
            }
            prop_assert_eq!(dirty.is_clean(), paths.is_empty());
            let jobs: BTreeSet<_> = match dirty.into_job() {
                Some(Job::Entries(entries)) => paths_of(&entries).collect(),
                None => BTreeSet::new(),
                Some(Job::Whole) => panic!("so few are named one by one"),
            };
            for path in &paths {
                prop_assert!(Path::new(path).ancestors().any(|above| jobs.contains(above)), "{path}");
            }
            for one in &jobs {
                prop_assert!(!one.ancestors().skip(1).any(|above| jobs.contains(above)), "{one:?}");
            }
        }
    }
}
