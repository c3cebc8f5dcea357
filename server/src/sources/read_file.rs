//! Reading one file so that its bytes are those of one moment.

use std::ffi::OsStr;
use std::io::{self, Read};

use super::beneath::{EntryKind, EntryStat, Folder, stat_open};

/// How often a file that changes while it is read is read again.
const READ_ATTEMPTS_MAX: u32 = 3;

/// A file's bytes with what the file system said of it before and after they were read.
#[derive(Debug)]
pub(super) struct ReadFile {
    pub(super) bytes: Vec<u8>,
    pub(super) stat: EntryStat,
}

/// What became of reading a file.
#[derive(Debug)]
pub(super) enum ReadOutcome {
    Read(ReadFile),
    /// It is no longer there, or no longer a regular file.
    Gone,
    /// A rule keeps it out.
    Refused(String),
    /// It is there, but what it holds cannot be said now.
    Unreadable(String),
}

/// Reads the file `name` of `folder` if it has at most `bytes_max` bytes.
pub(super) fn read_file(folder: &Folder, name: &OsStr, bytes_max: u64) -> ReadOutcome {
    read_settled(folder, name, bytes_max, &mut || ())
}

/// `after_read` runs between reading and looking at the file again: tests change the file there.
pub(super) fn read_settled(
    folder: &Folder,
    name: &OsStr,
    bytes_max: u64,
    after_read: &mut dyn FnMut(),
) -> ReadOutcome {
    for _ in 0..READ_ATTEMPTS_MAX {
        match read_once(folder, name, bytes_max, after_read) {
            Ok(Some(outcome)) => return outcome,
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return ReadOutcome::Gone,
            // It became a symbolic link, which `O_NOFOLLOW` does not open, or a socket.
            Err(error) if is_other_kind(&error) => return ReadOutcome::Gone,
            Err(error) => return ReadOutcome::Unreadable(format!("cannot be read: {error}")),
        }
    }
    ReadOutcome::Unreadable(format!(
        "changed each of the {READ_ATTEMPTS_MAX} times it was read; it is read again when it has come to rest"
    ))
}

/// `None`: the file changed while it was read.
fn read_once(
    folder: &Folder,
    name: &OsStr,
    bytes_max: u64,
    after_read: &mut dyn FnMut(),
) -> io::Result<Option<ReadOutcome>> {
    let mut file = folder.open_file(name)?;
    let before = stat_open(&file)?;
    if before.kind != EntryKind::File {
        return Ok(Some(ReadOutcome::Gone));
    }
    if before.bytes > bytes_max {
        return Ok(Some(ReadOutcome::Refused(too_large(before.bytes, bytes_max))));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.bytes).unwrap_or(0));
    // One byte more than was announced tells a file that grew, and bounds the memory it can take.
    (&mut file).take(before.bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    after_read();
    let after = stat_open(&file)?;
    let announced = u64::try_from(bytes.len()).is_ok_and(|length| length == before.bytes);
    if after != before || !announced {
        return Ok(None);
    }
    Ok(Some(ReadOutcome::Read(ReadFile { bytes, stat: before })))
}

/// The reason for a file over the bound.
pub(super) fn too_large(bytes: u64, bytes_max: u64) -> String {
    format!(
        "has {bytes} bytes, more than file_bytes_max = {bytes_max}; raise the bound to serve it"
    )
}

fn is_other_kind(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [rustix::io::Errno::LOOP, rustix::io::Errno::NXIO, rustix::io::Errno::ISDIR]
        .iter()
        .any(|errno| code == Some(errno.raw_os_error()))
}
