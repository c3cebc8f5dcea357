//! Names for folders: a space, its URI template and its title from the paths that `serve` is given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pressmark_index::space::{AliasClash, SpaceSettings};

use super::pattern::literal_pattern;
use super::{FolderSource, SourceError};

/// A slug is an authority and a space's name; this leaves room for a number within the 63 characters of a host label.
const SLUG_CHARACTERS_MAX: usize = 48;

/// The slug of a name in which no ASCII letter or digit is.
const SLUG_FALLBACK: &str = "docs";

/// One space for each path, in their order. The names do not depend on the order: see [`names`].
///
/// A path that is a file becomes a source of the folder that it is in, with only that file included; no other folder
/// is walked for it. Nested paths are allowed: a file then stands in both spaces.
///
/// A path that cannot be opened is taken for a folder that is away. Whether it ever was there only the store can tell, so
/// who calls decides (see [`FolderSource::setting`]).
///
/// # Errors
///
/// When a path is neither folder nor file, or is named twice (in any spelling).
pub fn folder_spaces(paths: &[PathBuf]) -> Result<Vec<(SpaceSettings, FolderSource)>, SourceError> {
    let mut found: Vec<Found<'_>> = Vec::with_capacity(paths.len());
    for given in paths {
        let open = |source| SourceError::Open { path: given.clone(), source };
        let (canonical, is_file) = match given.canonicalize() {
            Ok(canonical) => {
                let kind = fs::metadata(&canonical).map_err(open)?;
                if !kind.is_dir() && !kind.is_file() {
                    return Err(SourceError::Kind { path: given.clone() });
                }
                (canonical, kind.is_file())
            }
            Err(_) => (std::path::absolute(given).map_err(open)?, false),
        };
        if let Some(first) = found.iter().find(|known| known.canonical == canonical) {
            return Err(SourceError::Duplicate {
                first: first.given.to_path_buf(),
                second: given.clone(),
            });
        }
        found.push(Found { given, canonical, is_file });
    }
    let mut spaces = Vec::with_capacity(found.len());
    for (found, name) in found.iter().zip(names(&found)) {
        let source = if found.is_file {
            file_source(&name, found.given, &found.canonical)?
        } else {
            // As it was said: the id must not change with what a link on the way points to.
            let absolute = std::path::absolute(found.given)
                .map_err(|source| SourceError::Open { path: found.given.to_path_buf(), source })?;
            FolderSource::new(&name, absolute)
        };
        let title = found.canonical.file_name().map(|title| title.to_string_lossy().into_owned());
        spaces.push((folder_settings(&name, title), source));
    }
    Ok(spaces)
}

/// A path of the command line.
struct Found<'a> {
    given: &'a Path,
    canonical: PathBuf,
    is_file: bool,
}

/// A name for each path. One whose slug no other path has bears it; of those that share a slug the first in the order of
/// canonical paths bears it, the others are numbered. So the order of the command line gives no URI another document.
fn names(found: &[Found<'_>]) -> Vec<String> {
    let slugs: Vec<String> =
        found.iter().map(|found| slug(&base_name(&found.canonical, found.is_file))).collect();
    let mut sorted: Vec<(&String, &Found<'_>, usize)> =
        slugs.iter().zip(found).enumerate().map(|(at, (slug, found))| (slug, found, at)).collect();
    sorted.sort_by(|a, b| a.1.canonical.cmp(&b.1.canonical));
    let mut taken: BTreeSet<String> = slugs.iter().cloned().collect();
    let mut first = BTreeSet::new();
    let mut named: Vec<(usize, String)> = Vec::with_capacity(found.len());
    for (slug, _, at) in sorted {
        let name = if first.insert(slug) { slug.clone() } else { free_slug(slug, &taken) };
        taken.insert(name.clone());
        named.push((at, name));
    }
    named.sort();
    named.into_iter().map(|(_, name)| name).collect()
}

/// Whether no two sources of one space are the same folder under two names. Folders that are away are passed over.
///
/// # Errors
///
/// [`SourceError::Duplicate`] with both paths.
pub fn check_distinct(sources: &[FolderSource]) -> Result<(), SourceError> {
    let mut seen: BTreeMap<(&str, PathBuf), &Path> = BTreeMap::new();
    for source in sources {
        let Ok(canonical) = source.root.canonicalize() else { continue };
        if let Some(first) = seen.insert((source.space.as_str(), canonical), &source.root) {
            return Err(SourceError::Duplicate {
                first: first.to_path_buf(),
                second: source.root.clone(),
            });
        }
    }
    Ok(())
}

/// The settings of a space of files: `docs://<name>/{+path}`.
///
/// File names that only escapes tell apart are served under their exact spellings (`alias_clash` warns).
pub fn folder_settings(name: &str, title: Option<String>) -> SpaceSettings {
    let mut settings = SpaceSettings::new(name, format!("docs://{name}/{{+path}}"));
    settings.title = title;
    settings.alias_clash = AliasClash::Warn;
    settings
}

fn file_source(space: &str, given: &Path, canonical: &Path) -> Result<FolderSource, SourceError> {
    let kind = || SourceError::Kind { path: given.to_path_buf() };
    let parent = canonical.parent().ok_or_else(kind)?;
    // A name that is not UTF-8 cannot be a pattern, nor could its URI be written.
    let name = canonical.file_name().and_then(|name| name.to_str()).ok_or_else(kind)?;
    let mut source = FolderSource::new(space, parent);
    source.include.push(literal_pattern(name));
    Ok(source)
}

/// The name that the slug is made of: a file's extension says nothing about what is in it.
fn base_name(path: &Path, is_file: bool) -> String {
    let name = if is_file { path.file_stem() } else { path.file_name() };
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Lower-case ASCII letters and digits; whatever stands between them becomes one hyphen.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        if slug.len() == SLUG_CHARACTERS_MAX {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { SLUG_FALLBACK.to_owned() } else { slug.to_owned() }
}

/// The slug, or the first of `slug-2`, `slug-3` ... that no earlier path has.
fn free_slug(slug: &str, taken: &BTreeSet<String>) -> String {
    if !taken.contains(slug) {
        return slug.to_owned();
    }
    // Some number up to one more than are taken is free.
    (2..=taken.len() + 2)
        .map(|number| format!("{slug}-{number}"))
        .find(|candidate| !taken.contains(candidate))
        .unwrap_or_else(|| slug.to_owned())
}
