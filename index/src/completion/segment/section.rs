//! The bytes of a segment: sections in memory or in a mapped file, little-endian numbers in them, and the archive that
//! a segment is written to and read from.
//!
//! Readers trust no number: one that leads out of its section reads as zero or nothing. A segment is derived and small
//! beside the store; `verify` compares it with the truth, and deleting it makes it new.

use std::fs::File;
use std::io::{Read, Write};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};

/// A section goes to a file of its own from this size on, when there is a folder for it.
const SPILL_BYTES: usize = 1024 * 1024;

/// A file in memory; its pages belong to the system and can go at any time.
pub(crate) struct MappedFile(memmap2::Mmap);

impl MappedFile {
    #[expect(
        unsafe_code,
        reason = "there is no safe way to map a file, and 10 million values must not be copied"
    )]
    pub(super) fn new(file: &File) -> std::io::Result<MappedFile> {
        // SAFETY: the file lies in the data directory, which belongs to this user alone (mode 0700) and to this process
        // (its lock is held); segments are written once under a name that is never used again, and are only deleted
        // after that. So nobody shortens or changes the file while it is mapped.
        unsafe { memmap2::Mmap::map(file) }.map(MappedFile)
    }
}

/// Bytes of a section.
#[derive(Clone)]
pub(crate) enum Bytes {
    Owned(Arc<[u8]>),
    Mapped(Arc<MappedFile>, Range<usize>),
}

impl Default for Bytes {
    fn default() -> Self {
        Bytes::Owned(Arc::from([]))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(file, range) => file.0.get(range.clone()).unwrap_or_default(),
        }
    }
}

/// The number at `index` in a section of `u16`; 0 outside of it.
fn u16_at(bytes: &[u8], index: usize) -> u16 {
    let at = index.saturating_mul(2);
    let number = bytes.get(at..at.saturating_add(2)).and_then(|number| number.try_into().ok());
    number.map_or(0, u16::from_le_bytes)
}

/// The number at `index` in a section of `u32`; 0 outside of it.
pub(super) fn u32_at(bytes: &[u8], index: usize) -> u32 {
    let at = index.saturating_mul(4);
    let number = bytes.get(at..at.saturating_add(4)).and_then(|number| number.try_into().ok());
    number.map_or(0, u32::from_le_bytes)
}

/// The number at `index` in a section of `u64`; 0 outside of it.
pub(super) fn u64_at(bytes: &[u8], index: usize) -> u64 {
    let at = index.saturating_mul(8);
    let number = bytes.get(at..at.saturating_add(8)).and_then(|number| number.try_into().ok());
    number.map_or(0, u64::from_le_bytes)
}

/// Sizes are of our own making and fit; on a machine where one does not, nothing is found there.
pub(super) fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Positions fit into 32 bits: a segment holds fewer entries than that.
pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Where long sections are kept while a segment is built; `None`: in memory.
pub(super) type SpillFolder<'a> = Option<&'a Path>;

/// A section in the making.
pub(super) struct SectionWriter<'a> {
    buffer: Vec<u8>,
    file: Option<File>,
    folder: SpillFolder<'a>,
    len: u64,
}

impl<'a> SectionWriter<'a> {
    pub(super) fn new(folder: SpillFolder<'a>) -> Self {
        SectionWriter { buffer: Vec::new(), file: None, folder, len: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.len += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.buffer.len() >= SPILL_BYTES && self.folder.is_some() {
            self.spill()
        } else {
            Ok(())
        }
    }

    pub(super) fn put_u32(&mut self, number: u32) -> Result<()> {
        self.put(&number.to_le_bytes())
    }

    fn spill(&mut self) -> Result<()> {
        let Some(folder) = self.folder else { return Ok(()) };
        let write = || -> std::io::Result<()> {
            if self.file.is_none() {
                self.file = Some(tempfile::tempfile_in(folder)?);
            }
            if let Some(file) = &mut self.file {
                file.write_all(&self.buffer)?;
            }
            self.buffer.clear();
            Ok(())
        };
        let mut write = write;
        write().map_err(|source| cannot(folder, "written", source))
    }

    pub(super) fn finish(mut self) -> Result<Bytes> {
        if self.file.is_none() {
            return Ok(Bytes::Owned(self.buffer.into()));
        }
        self.spill()?;
        let (Some(file), Some(folder)) = (self.file, self.folder) else {
            return Ok(Bytes::default());
        };
        let mapped = MappedFile::new(&file).map_err(|source| cannot(folder, "mapped", source))?;
        let len = mapped.0.len();
        Ok(Bytes::Mapped(Arc::new(mapped), 0..len))
    }
}

fn cannot(path: &Path, what: &str, source: std::io::Error) -> Error {
    Error::new(
        ErrorKind::Io,
        path.display().to_string(),
        format!("a file of the completion index cannot be {what}"),
    )
    .with_source(source)
}

/// A column of numbers; one number where all are the same.
#[derive(Clone)]
pub(crate) enum Column {
    Constant(u32),
    Array(Width, Bytes),
}

/// How many bytes a number of a column takes: the narrower, the fewer lines of memory an answer touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    One,
    Two,
    Four,
}

impl Width {
    fn of(number: u32) -> Width {
        match number {
            0..=0xff => Width::One,
            0x100..=0xffff => Width::Two,
            0x1_0000.. => Width::Four,
        }
    }

    fn bytes(self) -> u8 {
        match self {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
        }
    }
}

impl Column {
    pub(crate) fn at(&self, index: usize) -> u32 {
        match self {
            Column::Constant(number) => *number,
            Column::Array(Width::One, bytes) => bytes.get(index).copied().map_or(0, u32::from),
            Column::Array(Width::Two, bytes) => u32::from(u16_at(bytes, index)),
            Column::Array(Width::Four, bytes) => u32_at(bytes, index),
        }
    }

    pub(super) fn constant(&self) -> Option<u32> {
        match self {
            Column::Constant(number) => Some(*number),
            Column::Array(..) => None,
        }
    }

    pub(super) fn save(&self, archive: &mut ArchiveWriter<'_>) -> Result<()> {
        match self {
            Column::Constant(number) => {
                archive.number(0);
                archive.number(u64::from(*number));
                Ok(())
            }
            Column::Array(width, bytes) => {
                archive.number(u64::from(width.bytes()));
                archive.section(bytes)
            }
        }
    }

    pub(super) fn load(archive: &mut ArchiveReader) -> Result<Column> {
        let width = match archive.number()? {
            0 => return Ok(Column::Constant(archive.number32()?)),
            1 => Width::One,
            2 => Width::Two,
            4 => Width::Four,
            _ => return Err(archive.damaged()),
        };
        Ok(Column::Array(width, archive.section()?))
    }
}

/// A column in the making.
pub(super) struct ColumnWriter<'a> {
    first: u32,
    count: usize,
    array: Option<(Width, SectionWriter<'a>)>,
    folder: SpillFolder<'a>,
}

impl<'a> ColumnWriter<'a> {
    pub(super) fn new(folder: SpillFolder<'a>) -> Self {
        ColumnWriter { first: 0, count: 0, array: None, folder }
    }

    pub(super) fn push(&mut self, number: u32) -> Result<()> {
        if self.count == 0 {
            self.first = number;
        }
        match &mut self.array {
            Some((width, array)) if Width::of(number) <= *width => put(array, *width, number)?,
            None if number == self.first => {}
            _ => self.widen(number)?,
        }
        self.count += 1;
        Ok(())
    }

    /// Writes what is there with as many bytes as `next` needs, and `next` behind it. This happens twice at most.
    fn widen(&mut self, next: u32) -> Result<()> {
        let width = Width::of(next).max(Width::of(self.first));
        let before = match self.array.take() {
            None => Column::Constant(self.first),
            Some((width, array)) => Column::Array(width, array.finish()?),
        };
        let mut array = SectionWriter::new(self.folder);
        (0..self.count).try_for_each(|at| put(&mut array, width, before.at(at)))?;
        put(&mut array, width, next)?;
        self.array = Some((width, array));
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Column> {
        match self.array {
            None => Ok(Column::Constant(self.first)),
            Some((width, array)) => array.finish().map(|bytes| Column::Array(width, bytes)),
        }
    }
}

fn put(array: &mut SectionWriter<'_>, width: Width, number: u32) -> Result<()> {
    let bytes = number.to_le_bytes();
    array.put(bytes.get(..usize::from(width.bytes())).unwrap_or(&bytes))
}

/// First bytes of a segment's file, with the version of its layout.
const MAGIC: &[u8; 8] = b"pmcompl\x04";
/// Behind the sections: the directory; behind that, this many bytes: its length and hash.
const TRAILER_BYTES: usize = 8 + 32;

/// Writes sections one after the other; a directory of them and of all numbers at the end.
pub(super) struct ArchiveWriter<'a> {
    out: std::io::BufWriter<&'a File>,
    path: &'a Path,
    at: u64,
    directory: Vec<u8>,
}

impl<'a> ArchiveWriter<'a> {
    pub(super) fn new(file: &'a File, path: &'a Path) -> Result<Self> {
        let out = std::io::BufWriter::with_capacity(SPILL_BYTES, file);
        let mut archive = ArchiveWriter { out, path, at: 0, directory: Vec::new() };
        archive.write(MAGIC)?;
        Ok(archive)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.out.write_all(bytes).map_err(|source| cannot(self.path, "written", source))
    }

    pub(super) fn number(&mut self, number: u64) {
        self.directory.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn section(&mut self, bytes: &[u8]) -> Result<()> {
        self.number(self.at);
        self.number(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.number(checksum(bytes));
        self.write(bytes)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        let directory = std::mem::take(&mut self.directory);
        let hash = blake3::hash(&directory);
        self.write(&directory)?;
        self.write(&u64::try_from(directory.len()).unwrap_or(u64::MAX).to_le_bytes())?;
        self.write(hash.as_bytes())?;
        self.out.flush().map_err(|source| cannot(self.path, "written", source))
    }
}

/// The first 8 bytes of BLAKE3: against damage, not against people.
fn checksum(bytes: &[u8]) -> u64 {
    u64_at(blake3::hash(bytes).as_bytes(), 0)
}

/// A section with its checksum. Whether they agree is looked at behind everything else: it means to read the whole file.
#[derive(Clone)]
pub(super) struct Checked {
    bytes: Bytes,
    checksum: u64,
}

impl Checked {
    pub(super) fn is_whole(&self) -> bool {
        checksum(&self.bytes) == self.checksum
    }
}

/// Reads what [`ArchiveWriter`] wrote, in the same order.
pub(super) struct ArchiveReader {
    file: Arc<MappedFile>,
    directory: Range<usize>,
    name: String,
    /// The sections that were read so far.
    checked: Vec<Checked>,
}

impl ArchiveReader {
    pub(super) fn open(path: &Path) -> Result<ArchiveReader> {
        let mut file = File::open(path).map_err(|source| cannot(path, "opened", source))?;
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map_err(|source| cannot(path, "read", source))?;
        let mapped = MappedFile::new(&file).map_err(|source| cannot(path, "mapped", source))?;
        let mut archive = ArchiveReader {
            file: Arc::new(mapped),
            directory: 0..0,
            name: path.display().to_string(),
            checked: Vec::new(),
        };
        if &magic != MAGIC {
            return Err(archive.damaged());
        }
        archive.directory = archive.find_directory().ok_or_else(|| archive.damaged())?;
        Ok(archive)
    }

    fn find_directory(&self) -> Option<Range<usize>> {
        let bytes = &self.file.0;
        let trailer_at = bytes.len().checked_sub(TRAILER_BYTES)?;
        let trailer = bytes.get(trailer_at..)?;
        let length = usize::try_from(u64_at(trailer, 0)).ok()?;
        let range = trailer_at.checked_sub(length)?..trailer_at;
        let hash = blake3::hash(bytes.get(range.clone())?);
        (trailer.get(8..)? == hash.as_bytes()).then_some(range)
    }

    pub(super) fn damaged(&self) -> Error {
        Error::new(
            ErrorKind::Corrupt,
            self.name.clone(),
            "this file of the completion index is damaged: it is made anew from the store",
        )
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        let next = self.directory.start.saturating_add(8);
        if next > self.directory.end {
            return Err(self.damaged());
        }
        let number = self.file.0.get(self.directory.start..next).map(|bytes| u64_at(bytes, 0));
        self.directory.start = next;
        number.ok_or_else(|| self.damaged())
    }

    pub(super) fn number32(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| self.damaged())
    }

    pub(super) fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| self.damaged())
    }

    pub(super) fn section(&mut self) -> Result<Bytes> {
        let at = self.size()?;
        let end = at.checked_add(self.size()?).filter(|end| *end <= self.file.0.len());
        let end = end.ok_or_else(|| self.damaged())?;
        let (bytes, checksum) = (Bytes::Mapped(Arc::clone(&self.file), at..end), self.number()?);
        self.checked.push(Checked { bytes: bytes.clone(), checksum });
        Ok(bytes)
    }

    /// All sections with their checksums.
    pub(super) fn finish(self) -> Vec<Checked> {
        self.checked
    }

    /// How many things follow, each of which takes at least one number.
    pub(super) fn count(&mut self) -> Result<usize> {
        let count = self.size()?;
        if count > self.directory.len() / 8 {
            return Err(self.damaged());
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_numbers() {
        for (numbers, wanted) in [
            (vec![], None),
            (vec![70_000, 70_000], None),
            (vec![0, 1, 255], Some(Width::One)),
            (vec![1, 1, 256, 3], Some(Width::Two)),
            (vec![300, 1], Some(Width::Two)),
            (vec![1, 2, 300, 70_000, 5], Some(Width::Four)),
        ] {
            let mut column = ColumnWriter::new(None);
            numbers.iter().for_each(|number| column.push(*number).unwrap());
            let column = column.finish().unwrap();
            let width = match &column {
                Column::Constant(_) => None,
                Column::Array(width, _) => Some(*width),
            };
            assert_eq!(width, wanted, "{numbers:?}");
            let read: Vec<u32> = (0..numbers.len()).map(|at| column.at(at)).collect();
            assert_eq!(read, numbers);
        }
    }
}
