//! `.gitignore` and `.ignore` files, read through folder handles only.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use thiserror::Error;

use super::beneath::Folder;
use super::read_file::{ReadOutcome, read_file};

/// In order: a later file's rules win over an earlier one's in the same folder.
pub(super) const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// A larger ignore file is not read, and its folder not served.
const IGNORE_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The ignore files that hold for a folder: its own and those above it.
#[derive(Debug, Default)]
pub(super) struct IgnoreStack {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    rules: Rules,
    place: Place,
}

/// Why the rules of a folder are not known. Without them, files would be served that must not be.
#[derive(Debug, Error)]
pub(super) enum IgnoreFault {
    /// It cannot be read now.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// It stays so until somebody changes it.
    #[error(
        "{0}; what it hides is not known, so that nothing in its folder is served: make it smaller, or split it over several folders"
    )]
    Unusable(String),
}

/// Where the folder of an ignore file stands, so that paths can be made relative to it.
#[derive(Debug)]
enum Place {
    /// Above the root: the root's path from there.
    Above(PathBuf),
    /// The root or beneath it: its path from the root.
    Beneath(PathBuf),
}

impl IgnoreStack {
    /// The ignore files above `root`, up to the root of the git repository that it lies in, if any.
    ///
    /// # Errors
    ///
    /// When one cannot be read now. Without its rules, files would be served that must not be.
    pub(super) fn above(root: &Path) -> Result<Self, IgnoreFault> {
        let mut levels = Vec::new();
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        if is_repository(&root) {
            return Ok(Self::default());
        }
        for ancestor in root.ancestors().skip(1) {
            let Ok(from_there) = root.strip_prefix(ancestor) else {
                break;
            };
            let rules = match Folder::open_root(ancestor) {
                Ok(folder) => read_rules(&folder)?,
                // Who may not list a folder may still serve one beneath it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
                Err(error) => return Err(error.into()),
            };
            if let Some(rules) = rules.filter(|rules| !ignores_root(rules, from_there)) {
                levels.push(Level { rules, place: Place::Above(from_there.to_path_buf()) });
            }
            if is_repository(ancestor) {
                // The nearest folder wins, so it stands last.
                levels.reverse();
                return Ok(Self { levels });
            }
        }
        Ok(Self::default())
    }

    /// Adds the ignore files of `folder`, which stands at `relative`. Undone by [`IgnoreStack::leave`].
    ///
    /// # Errors
    ///
    /// When one cannot be read now; then nothing was added.
    pub(super) fn enter(&mut self, folder: &Folder, relative: &str) -> Result<(), IgnoreFault> {
        let rules = read_rules(folder)?.unwrap_or_default();
        self.levels.push(Level { rules, place: Place::Beneath(PathBuf::from(relative)) });
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Whether the entry at `relative` is ignored; the folders above it are taken not to be.
    pub(super) fn ignores(&self, relative: &str, is_folder: bool) -> bool {
        let relative = Path::new(relative);
        for level in self.levels.iter().rev() {
            let matched = match &level.place {
                Place::Above(root) => level.rules.matched(root.join(relative), is_folder),
                Place::Beneath(folder) => {
                    let inside = relative.strip_prefix(folder).unwrap_or(relative);
                    level.rules.matched(inside, is_folder)
                }
            };
            match matched {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// Whether the folder is the root of a git repository: ignore files above it do not count.
pub(super) fn is_repository(folder: &Path) -> bool {
    folder.join(".git").exists()
}

/// Whether the rules ignore the root or a folder between them and the root.
fn ignores_root(rules: &Rules, root: &Path) -> bool {
    root.ancestors()
        .filter(|path| !path.as_os_str().is_empty())
        .any(|path| rules.matched(path, true).is_ignore())
}

/// The rules of a folder's ignore files, in pieces that can be compiled; later ones win.
#[derive(Debug, Default)]
struct Rules(Vec<Gitignore>);

impl Rules {
    fn matched<P: AsRef<Path>>(&self, path: P, is_folder: bool) -> Match<()> {
        let pieces = self.0.iter().rev();
        let decided = pieces.map(|piece| piece.matched(&path, is_folder).map(|_| ()));
        decided.into_iter().find(|matched| !matched.is_none()).unwrap_or(Match::None)
    }

    /// Compiles these lines. There is a bound on what is compiled together, so that many lines may have to be halved.
    fn compile(&mut self, lines: &[String]) -> Result<(), ignore::Error> {
        let mut builder = GitignoreBuilder::new("");
        let added = lines.iter().filter(|line| builder.add_line(None, line).is_ok()).count();
        if added == 0 {
            return Ok(());
        }
        match (builder.build(), lines.split_at(lines.len() / 2)) {
            (Ok(piece), _) => self.0.push(piece),
            (Err(error), ([], _)) => return Err(error),
            (Err(_), (first, second)) => {
                self.compile(first)?;
                self.compile(second)?;
            }
        }
        Ok(())
    }
}

/// The rules of a folder's ignore files. A line that cannot be parsed is passed over: git finds no file by it either.
fn read_rules(folder: &Folder) -> Result<Option<Rules>, IgnoreFault> {
    let mut rules = Rules::default();
    for name in IGNORE_FILES {
        let file = match read_file(folder, OsStr::new(name), IGNORE_FILE_BYTES_MAX) {
            ReadOutcome::Read(file) => file,
            ReadOutcome::Gone => continue,
            ReadOutcome::Refused(_) => {
                let reason = format!("its {name} has more than {IGNORE_FILE_BYTES_MAX} bytes");
                return Err(IgnoreFault::Unusable(reason));
            }
            ReadOutcome::Unreadable(reason) => {
                return Err(io::Error::other(format!("its {name} {reason}")).into());
            }
        };
        let text = String::from_utf8_lossy(&file.bytes);
        let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines();
        let lines: Vec<_> = lines.map(parsable).collect();
        rules.compile(&lines).map_err(|error| {
            IgnoreFault::Unusable(format!("its {name} has a line that cannot be compiled: {error}"))
        })?;
    }
    Ok(Some(rules).filter(|rules| !rules.0.is_empty()))
}

/// The line as it is, or, where braces make it unparsable that mean nothing to git, with braces that stand for themselves.
fn parsable(line: &str) -> String {
    let parses = |line: &str| GitignoreBuilder::new("").add_line(None, line).is_ok();
    let escaped = || line.replace('{', "\\{").replace('}', "\\}");
    if !line.contains(['{', '}']) || parses(line) { line.to_owned() } else { escaped() }
}
