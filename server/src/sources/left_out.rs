//! Folders that are left out without being asked: version control, installed dependencies, keyrings; and stores, always.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::beneath::Folder;

/// Folders (or, for worktrees and submodules, files) of version control.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", ".sl"];

/// Folders that tools fill with what can be installed or computed again.
const DEPENDENCIES: &[&str] = &[
    "node_modules",
    "bower_components",
    "jspm_packages",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".eggs",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".terraform",
];

/// Folders that hold nothing but keys.
const KEYRINGS: &[&str] = &[".gnupg", "private-keys-v1.d", ".password-store", "legacy_credentials"];

/// Folders with an everyday name that are dependencies or build output only beside one of these files.
///
/// `vendor` alone is kept: in a company's documents it is a folder about vendors.
const DEPENDENCIES_BESIDE: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml"]),
    ("vendor", &["go.mod", "composer.json", "Cargo.toml", "Gemfile"]),
];

/// Folders that are known by a file inside them: `CVS` may as well be a folder of CVs.
const KNOWN_INSIDE: &[(Option<&str>, &str)] = &[(Some("CVS"), "Entries"), (None, "pyvenv.cfg")];

/// Names that say something about others: when such a file comes or goes, what is left out may be another.
///
/// Each with the entries to look at again, as paths from the folder that the file is in.
const TELLING: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["target", "vendor"]),
    ("pom.xml", &["target"]),
    ("go.mod", &["vendor"]),
    ("composer.json", &["vendor"]),
    ("Gemfile", &["vendor"]),
    ("pyvenv.cfg", &["."]),
    ("Entries", &["."]),
    ("LOCK", &["."]),
    ("IDENTITY", &["."]),
    ("CURRENT", &[".", ".."]),
    (".gitignore", &["."]),
    (".ignore", &["."]),
    ("..data", &["."]),
];

/// What else is to be looked at when the entry `relative` has changed, as paths from the folder of the source: an ignore
/// file decides about its folder, a `Cargo.toml` about the `target` beside it.
pub(crate) fn also_touched(relative: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (relative.parent(), relative.file_name()) else {
        return Vec::new();
    };
    let told = TELLING.iter().find(|(telling, _)| name == *telling);
    let paths = told.map(|(_, paths)| *paths).unwrap_or_default();
    paths
        .iter()
        .map(|path| match *path {
            "." => folder.to_path_buf(),
            ".." => folder.parent().unwrap_or(Path::new("")).to_path_buf(),
            beside => folder.join(beside),
        })
        .collect()
}

/// Whether an editor or office program keeps `name` only while a document is open: its lock, its swap file.
pub(super) fn is_editor_file(name: &str) -> bool {
    let swap = |rest: &str| {
        rest.len() == 3
            && rest.starts_with("sw")
            && rest.ends_with(|c: char| c.is_ascii_lowercase())
    };
    let is_vim_swap =
        name.starts_with('.') && name.rsplit_once('.').is_some_and(|(_, rest)| swap(rest));
    is_vim_swap
        || name.starts_with(".#")
        || name.starts_with("~$")
        || name.starts_with(".~lock.")
        || name.starts_with(".goutputstream-")
        || name.ends_with("___jb_tmp___")
        || name.ends_with("___jb_old___")
}

/// Whether `name`, a folder or file of `parent`, belongs to version control.
pub(super) fn is_version_control(name: &str) -> bool {
    VERSION_CONTROL.contains(&name)
}

fn is_keyring(name: &str) -> bool {
    KEYRINGS.iter().any(|keyring| name.eq_ignore_ascii_case(keyring))
}

/// Whether the sub-folder `name` of `parent` is left out: version control, dependencies or keys.
pub(super) fn is_left_out_folder(parent: &Folder, name: &str) -> bool {
    if is_version_control(name) || DEPENDENCIES.contains(&name) || is_keyring(name) {
        return true;
    }
    let beside = DEPENDENCIES_BESIDE
        .iter()
        .any(|(folder, files)| *folder == name && files.iter().any(|file| parent.holds(file)));
    if beside {
        return true;
    }
    let Ok(folder) = parent.open_folder(OsStr::new(name)) else {
        return false;
    };
    KNOWN_INSIDE
        .iter()
        .any(|(known, inside)| known.is_none_or(|known| known == name) && folder.holds(inside))
}

/// Whether the folder holds a store of Pressmark, or is a folder of RocksDB, as a store's inner folder and a copy of one
/// are. Its files are the served documents over again, with those of other spaces and the secret of the cursors.
pub(super) fn is_store(folder: &Folder) -> bool {
    (folder.holds("LOCK") && folder.holds("store/CURRENT"))
        || (folder.holds("CURRENT") && folder.holds("IDENTITY"))
}
