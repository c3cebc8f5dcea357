//! Which entries of a folder are served. The order of the rules stands in the module above.

use std::rc::Rc;

use super::beneath::Folder;
use super::ignore_files::IgnoreStack;
use super::left_out::{is_editor_file, is_left_out_folder, is_version_control};
use super::pattern::Pattern;
use super::secrets::secret_rule;
use super::{FolderSource, SourceError};

/// A source's patterns, parsed.
#[derive(Debug)]
pub(super) struct Selection {
    include: Vec<Rc<Pattern>>,
    exclude: Vec<Pattern>,
    /// The root's own name with a slash: rules that name a folder hold for `~/.kube` as a root too.
    above: String,
}

/// Which patterns let files in beneath some folder.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Every file.
    Open,
    /// Files that one of these matches.
    Patterns(Vec<Rc<Pattern>>),
}

/// Whether a file is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileVerdict {
    /// Unless its content is a secret.
    Serve,
    /// Whatever its content: it was asked for by name.
    ServeNamed,
    LeaveOut,
}

impl Selection {
    pub(super) fn new(source: &FolderSource) -> Result<Self, SourceError> {
        let include = Pattern::parse_all(&source.include)?.into_iter().map(Rc::new).collect();
        let root = source.root.canonicalize().unwrap_or_else(|_| source.root.clone());
        let above =
            root.file_name().map(|name| format!("{}/", name.to_string_lossy())).unwrap_or_default();
        Ok(Self { include, exclude: Pattern::parse_all(&source.exclude)?, above })
    }

    /// What lets files in directly beneath the root.
    pub(super) fn way(&self) -> Way {
        if self.include.is_empty() { Way::Open } else { Way::Patterns(self.include.clone()) }
    }

    /// What lets files in beneath the sub-folder `name` of `parent`; `None`: nothing does.
    pub(super) fn enter(
        &self,
        way: &Way,
        ignored: &IgnoreStack,
        parent: &Folder,
        relative: &str,
    ) -> Option<Way> {
        let name = last_segment(relative);
        if self.exclude.iter().any(|pattern| pattern.matches_entry(relative, true)) {
            return None;
        }
        let way = if ignored.ignores(relative, true) || is_left_out_folder(parent, name) {
            way.spelling_out(name)
        } else {
            way.clone()
        };
        way.beneath(relative)
    }

    /// Whether the file at `relative` is served.
    pub(super) fn judge(&self, way: &Way, ignored: &IgnoreStack, relative: &str) -> FileVerdict {
        let name = last_segment(relative);
        if self.exclude.iter().any(|pattern| pattern.matches_file(relative)) {
            return FileVerdict::LeaveOut;
        }
        let rule = secret_rule(&format!("{}{relative}", self.above));
        let named = match way {
            Way::Open => false,
            Way::Patterns(patterns) => {
                let mut matching =
                    patterns.iter().filter(|pattern| pattern.matches_file(relative)).peekable();
                if matching.peek().is_none() {
                    return FileVerdict::LeaveOut;
                }
                matching.any(|pattern| pattern.ends_in(name, rule))
            }
        };
        if named {
            return FileVerdict::ServeNamed;
        }
        let left_out = rule.is_some()
            || is_version_control(name)
            || is_editor_file(name)
            || ignored.ignores(relative, false);
        if left_out { FileVerdict::LeaveOut } else { FileVerdict::Serve }
    }
}

impl Way {
    /// Only the patterns that spell `name` out: it names a folder that is otherwise left out.
    fn spelling_out(&self, name: &str) -> Self {
        let patterns = match self {
            Way::Open => Vec::new(),
            Way::Patterns(patterns) => {
                patterns.iter().filter(|pattern| pattern.spells_out(name)).cloned().collect()
            }
        };
        Way::Patterns(patterns)
    }

    /// What is left of the way beneath the folder `relative`.
    fn beneath(self, relative: &str) -> Option<Self> {
        match self {
            Way::Open => Some(Way::Open),
            Way::Patterns(patterns) => {
                let reaches = patterns.iter().any(|pattern| pattern.may_match_beneath(relative));
                reaches.then_some(Way::Patterns(patterns))
            }
        }
    }
}

fn last_segment(relative: &str) -> &str {
    relative.rsplit('/').next().unwrap_or(relative)
}
