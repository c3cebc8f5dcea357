//! Whether the files of the index are what was written: each ends with a checksum, which tantivy compares for nobody. A
//! damaged list of positions is read without a fault, and finds something else.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind as IoErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tantivy::index::SegmentComponent;
use tantivy::{Index, SegmentMeta};

use super::commit::failed;
use crate::error::Result;

/// Bytes that are read in one step: some milliseconds.
const STEP_BYTES: usize = 4 * 1024 * 1024;
/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 * 1024;
/// What ends a file: the length of the footer before it and tantivy's mark, both little-endian.
const TRAILER_BYTES: usize = 8;
const MARK: u32 = 1337;
/// No footer is longer.
const FOOTER_BYTES_MAX: usize = 50_000;
/// What stands before the checksum in a footer, which is JSON.
const CHECKSUM_MEMBER: &str = "\"crc\":";

/// The files of the last commit, on the way through them.
pub(super) struct Checksums {
    folder: PathBuf,
    index: Index,
    /// What is deleted or merged meanwhile keeps its files as long as these live.
    _segments: Vec<SegmentMeta>,
    left: Vec<PathBuf>,
    open: Option<OpenFile>,
    buffer: Vec<u8>,
}

/// What a step came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is more to compare.
    More,
    /// A file, and what is wrong with it; the next step goes on with the next file.
    Damaged(String),
    /// All files were compared.
    Done,
}

impl Checksums {
    pub(super) fn new(folder: &Path, index: &Index) -> Result<Checksums> {
        let (segments, left) = files(index)?;
        Ok(Checksums {
            folder: folder.to_owned(),
            index: index.clone(),
            _segments: segments,
            left,
            open: None,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Reads the next piece.
    pub(super) fn step(&mut self) -> Step {
        let mut file = match self.open.take() {
            Some(file) => file,
            None => {
                let Some(name) = self.left.pop() else { return Step::Done };
                let path = self.folder.join(&name);
                match OpenFile::open(&path) {
                    Ok(file) => file,
                    Err(source) if source.kind() == IoErrorKind::NotFound => {
                        return if self.is_gone_since(&name) {
                            Step::More
                        } else {
                            Step::Damaged(format!("{}: it is missing", path.display()))
                        };
                    }
                    Err(source) => return unreadable(&path, &source),
                }
            }
        };
        match file.read(&mut self.buffer) {
            Ok(true) if file.is_whole() => Step::More,
            Ok(true) => {
                let path = file.path.display();
                Step::Damaged(format!("{path}: it does not match its checksum"))
            }
            Ok(false) => {
                self.open = Some(file);
                Step::More
            }
            Err(source) => unreadable(&file.path, &source),
        }
    }

    /// Whether a file went between reading the list of segments and keeping them.
    fn is_gone_since(&self, name: &Path) -> bool {
        files(&self.index).is_ok_and(|(_, now)| !now.iter().any(|other| other == name))
    }
}

fn unreadable(path: &Path, source: &IoError) -> Step {
    Step::Damaged(format!("{}: it cannot be read: {source}", path.display()))
}

/// The segments of the last commit and their files.
fn files(index: &Index) -> Result<(Vec<SegmentMeta>, Vec<PathBuf>)> {
    let segments = index.searchable_segment_metas().map_err(|source| failed("read", source))?;
    let managed = index.directory().list_managed_files();
    let mut files = Vec::new();
    for segment in &segments {
        let id = segment.id().uuid_string();
        let deletes =
            segment.has_deletes().then(|| segment.relative_path(SegmentComponent::Delete));
        let is_of_segment = |file: &&PathBuf| {
            let extension = file.extension().unwrap_or_default();
            let is_current = match extension.to_str() {
                Some("del") => Some(*file) == deletes.as_ref(),
                Some("temp") => false,
                _ => true,
            };
            is_current && file.to_str().is_some_and(|name| name.starts_with(&id))
        };
        files.extend(managed.iter().filter(is_of_segment).cloned());
    }
    Ok((segments, files))
}

/// A file that is being read.
struct OpenFile {
    file: File,
    path: PathBuf,
    /// Bytes before the footer.
    length: u64,
    at: u64,
    expected: u32,
    hasher: crc32fast::Hasher,
}

impl OpenFile {
    fn open(path: &Path) -> Result<OpenFile, IoError> {
        let cut = || IoError::new(IoErrorKind::InvalidData, "it does not end with a checksum");
        let file = File::open(path)?;
        let mut trailer = [0; TRAILER_BYTES];
        let before = file.metadata()?.len().checked_sub(to_u64(TRAILER_BYTES)).ok_or_else(cut)?;
        file.read_exact_at(&mut trailer, before)?;
        let [l0, l1, l2, l3, mark @ ..] = trailer;
        let footer_bytes = usize::try_from(u32::from_le_bytes([l0, l1, l2, l3]));
        let footer_bytes = footer_bytes.unwrap_or(usize::MAX);
        if u32::from_le_bytes(mark) != MARK || footer_bytes > FOOTER_BYTES_MAX {
            return Err(cut());
        }
        let length = before.checked_sub(to_u64(footer_bytes)).ok_or_else(cut)?;
        let mut footer = vec![0; footer_bytes];
        file.read_exact_at(&mut footer, length)?;
        let expected = checksum_in(&footer).ok_or_else(cut)?;
        let hasher = crc32fast::Hasher::new();
        Ok(OpenFile { file, path: path.to_owned(), length, at: 0, expected, hasher })
    }

    /// Reads a step's bytes; true: those were the last.
    fn read(&mut self, buffer: &mut [u8]) -> Result<bool, IoError> {
        for _ in 0..STEP_BYTES / BUFFER_BYTES {
            let left = usize::try_from(self.length - self.at).unwrap_or(usize::MAX);
            let wanted = left.min(buffer.len());
            let Some(piece) = buffer.get_mut(..wanted).filter(|piece| !piece.is_empty()) else {
                break;
            };
            self.file.read_exact_at(piece, self.at)?;
            self.hasher.update(piece);
            self.at += to_u64(wanted);
        }
        Ok(self.at == self.length)
    }

    fn is_whole(&self) -> bool {
        self.hasher.clone().finalize() == self.expected
    }
}

fn to_u64(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The checksum that a footer names.
fn checksum_in(footer: &[u8]) -> Option<u32> {
    let (_, rest) = std::str::from_utf8(footer).ok()?.split_once(CHECKSUM_MEMBER)?;
    let end = rest.find(|character: char| !character.is_ascii_digit())?;
    rest.get(..end)?.parse().ok()
}
