//! Files in the folder of the index that its last commit does not name: a process that ended in the middle of a commit or
//! a merge leaves them. They take room, and tantivy refuses to write a file of deletions whose name is taken: it numbers
//! its operations from the last commit on, so that the next process comes to the same name.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use tantivy::index::SegmentComponent;
use tantivy::{Index, SegmentMeta};

/// Files that do not belong to a segment.
const FILES_OF_THE_INDEX: [&str; 4] =
    ["meta.json", ".managed.json", ".tantivy-writer.lock", ".tantivy-meta.lock"];

/// Deletes the files that nobody names, before anything is written. Nobody else has the index open for writing.
///
/// # Errors
/// The folder cannot be listed, or a file cannot be deleted.
pub(super) fn delete(folder: &Path, index: &Index) -> tantivy::Result<()> {
    let named = named(&index.searchable_segment_metas()?);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() || named.contains(&entry.file_name()) {
            continue;
        }
        match std::fs::remove_file(entry.path()) {
            Err(source) if source.kind() != IoErrorKind::NotFound => return Err(source.into()),
            _ => {}
        }
    }
    Ok(())
}

fn named(segments: &[SegmentMeta]) -> HashSet<OsString> {
    let files = segments.iter().flat_map(files_of).map(PathBuf::into_os_string);
    files.chain(FILES_OF_THE_INDEX.into_iter().map(OsString::from)).collect()
}

/// The files of a segment.
fn files_of(segment: &SegmentMeta) -> Vec<PathBuf> {
    let always = [
        SegmentComponent::Postings,
        SegmentComponent::Positions,
        SegmentComponent::Terms,
        SegmentComponent::Store,
        SegmentComponent::FastFields,
        SegmentComponent::FieldNorms,
    ];
    let deletes = segment.has_deletes().then_some(SegmentComponent::Delete);
    always.into_iter().chain(deletes).map(|component| segment.relative_path(component)).collect()
}
