//! The file that makes a copy complete: it is written last, and names each file of the store as the source had it.
//!
//! ```text
//! pressmark backup 2
//! sequence 4711
//! 1048576 9ae1c3f0 store/000012.sst
//! files 1
//! checksum 0c2f7b11
//! ```
//!
//! A line has the file's size and the CRC-32 of its last bytes. Version 1 named files from `store` on, without a CRC and
//! without the two lines at the end.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// The manifest's name.
pub(super) const MANIFEST: &str = "BACKUP";
const HEAD: &str = "pressmark backup 2";
const HEAD_1: &str = "pressmark backup 1";
/// Bytes at the end of a file that are compared: a table's properties and checksums are there, with the store's own id.
const END_BYTES: u64 = 4 * 1024;

/// A file of the store, as it must be in a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// From the folder of the copy.
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// CRC-32 of its last bytes; a manifest of version 1 has none.
    end_crc: Option<u32>,
}

impl Listed {
    /// The file at `path` beneath `folder`, as it is now.
    pub(super) fn of(folder: &Path, path: &Path, bytes: u64) -> io::Result<Listed> {
        let end_crc = Some(crc32fast::hash(&end_of(&folder.join(path))?));
        Ok(Listed { path: path.to_owned(), bytes, end_crc })
    }

    /// What is wrong with the file in this folder; `None`: nothing that shows at little cost.
    pub(super) fn fault_in(&self, folder: &Path) -> Option<String> {
        let (name, place) = (self.path.display(), folder.join(&self.path));
        match fs::metadata(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(format!("{name} is missing"))
            }
            Err(error) => Some(format!("{name} cannot be read: {error}")),
            Ok(found) if found.len() != self.bytes => {
                Some(format!("{name} has {} bytes instead of {}", found.len(), self.bytes))
            }
            Ok(_) => match (self.end_crc, end_of(&place)) {
                (Some(wanted), Ok(end)) if crc32fast::hash(&end) != wanted => {
                    Some(format!("{name} ends in other bytes than it did"))
                }
                (_, Err(error)) => Some(format!("{name} cannot be read: {error}")),
                (_, Ok(_)) => None,
            },
        }
    }
}

/// Whether both files end in the same bytes.
pub(super) fn same_ends(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(end_of(one)? == end_of(other)?)
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(END_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(END_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn write(folder: &Path, sequence: u64, files: &[Listed]) -> io::Result<()> {
    let mut text = format!("{HEAD}\nsequence {sequence}\n");
    for file in files {
        let end_crc = file.end_crc.unwrap_or_default();
        text.push_str(&format!("{} {end_crc:08x} {}\n", file.bytes, file.path.display()));
    }
    text.push_str(&format!("files {}\n", files.len()));
    let checksum = crc32fast::hash(text.as_bytes());
    text.push_str(&format!("checksum {checksum:08x}\n"));
    let mut file = File::create(folder.join(MANIFEST))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The sequence number of a copy and the files of its store, all of which are there as they were written. What is derived
/// is not looked at: it is rebuilt where it is damaged.
///
/// # Errors
/// `Corrupt` with what is missing.
pub(super) fn check_complete(copy: &Path) -> Result<(u64, Vec<Listed>)> {
    let corrupt =
        |detail: String| Error::new(ErrorKind::Corrupt, copy.display().to_string(), detail);
    let text = fs::read_to_string(copy.join(MANIFEST)).map_err(|source| {
        corrupt(format!("it is no complete backup: its file {MANIFEST} cannot be read"))
            .with_source(source)
    })?;
    let (sequence, files) = match text.lines().next() {
        Some(HEAD) => parse(&text),
        Some(HEAD_1) => parse_1(&text),
        _ => {
            return Err(corrupt(format!("its file {MANIFEST} is of another program or version")));
        }
    }
    .ok_or_else(|| corrupt(format!("its file {MANIFEST} is damaged: use another backup")))?;
    match files.iter().find_map(|file| file.fault_in(copy)) {
        Some(fault) => Err(corrupt(format!("{fault}: use another backup"))),
        None => Ok((sequence, files)),
    }
}

fn parse(text: &str) -> Option<(u64, Vec<Listed>)> {
    let (body, checksum) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let checksum = u32::from_str_radix(checksum.strip_prefix("checksum ")?, 16).ok()?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(body.as_bytes());
    hasher.update(b"\n");
    if hasher.finalize() != checksum {
        return None;
    }
    let mut lines = body.lines().skip(1);
    let sequence = lines.next()?.strip_prefix("sequence ")?.parse().ok()?;
    let mut files = Vec::new();
    for line in lines {
        if let Some(count) = line.strip_prefix("files ") {
            return (count.parse() == Ok(files.len())).then_some((sequence, files));
        }
        let (bytes, rest) = line.split_once(' ')?;
        let (end_crc, path) = rest.split_once(' ')?;
        let end_crc = Some(u32::from_str_radix(end_crc, 16).ok()?);
        files.push(Listed { path: within(path)?, bytes: bytes.parse().ok()?, end_crc });
    }
    None
}

fn parse_1(text: &str) -> Option<(u64, Vec<Listed>)> {
    let mut lines = text.lines().skip(1);
    let sequence = lines.next()?.strip_prefix("sequence ")?.parse().ok()?;
    let files = lines.map(|line| {
        let (bytes, name) = line.split_once(' ')?;
        let path = Path::new("store").join(within(name)?);
        Some(Listed { path, bytes: bytes.parse().ok()?, end_crc: None })
    });
    Some((sequence, files.collect::<Option<_>>()?))
}

/// A path that stays beneath its folder.
fn within(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let stays = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    (stays && path.components().next().is_some()).then(|| path.to_owned())
}
