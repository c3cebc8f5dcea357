//! Names for folders: a space, its URI template and its title from the paths that `serve` is given.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pressmark_index::space::{AliasClash, SpaceSettings};

use super::pattern::literal_pattern;
use super::{FolderSource, SourceError};

/// A slug is an authority and a space's name; this leaves room for a number within the 63 characters of a host label.
const SLUG_CHARACTERS_MAX: usize = 48;

/// The slug of a name in which no ASCII letter or digit is.
const SLUG_FALLBACK: &str = "docs";

/// One space for each path, in their order: the same list gives the same names.
///
/// A path that is a file becomes a source of the folder that it is in, with only that file included; no other folder
/// is walked for it. Nested paths are allowed: a file then stands in both spaces.
///
/// # Errors
///
/// When a path cannot be opened, is neither folder nor file, or is named twice (in any spelling).
pub fn folder_spaces(paths: &[PathBuf]) -> Result<Vec<(SpaceSettings, FolderSource)>, SourceError> {
    let mut spaces: Vec<(SpaceSettings, FolderSource)> = Vec::with_capacity(paths.len());
    let mut canonical_paths: Vec<PathBuf> = Vec::with_capacity(paths.len());
    let mut taken = BTreeSet::new();
    for path in paths {
        let open = |source| SourceError::Open { path: path.clone(), source };
        let canonical = path.canonicalize().map_err(open)?;
        let kind = fs::metadata(&canonical).map_err(open)?;
        if let Some(first) = canonical_paths.iter().position(|known| *known == canonical) {
            let first = paths.get(first).unwrap_or(path).clone();
            return Err(SourceError::Duplicate { first, second: path.clone() });
        }
        let name = free_slug(&slug(&base_name(&canonical, kind.is_file())), &taken);
        let source = if kind.is_dir() {
            FolderSource::new(&name, &canonical)
        } else if kind.is_file() {
            file_source(&name, path, &canonical)?
        } else {
            return Err(SourceError::Kind { path: path.clone() });
        };
        let title = canonical.file_name().map(|title| title.to_string_lossy().into_owned());
        spaces.push((folder_settings(&name, title), source));
        taken.insert(name);
        canonical_paths.push(canonical);
    }
    Ok(spaces)
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
