//! Which file systems are mounted beneath a folder. Mounting is reported to nobody, and the place of a disk that has gone
//! looks like an emptied folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The kernel's list for this process, see `proc_pid_mountinfo(5)`.
const MOUNTINFO: &str = "/proc/self/mountinfo";

/// Mount points with what is mounted there.
pub(super) type Mounts = BTreeMap<PathBuf, Vec<u8>>;

/// The list as the kernel writes it; two that are equal say that nothing was mounted or taken away.
pub(super) fn list() -> Vec<u8> {
    // Where there is no such file, as on other systems, there are no nested mounts that can be told.
    fs::read(MOUNTINFO).unwrap_or_default()
}

/// Those beneath `root`, by their paths from there.
pub(super) fn beneath(list: &[u8], root: &Path) -> Mounts {
    let Ok(root) = root.canonicalize() else { return Mounts::new() };
    let mounts = list.split(|byte| *byte == b'\n').filter_map(|line| {
        // The number of the mount comes first, then its parent's, the device, the folder of it that is mounted, the place.
        let mut fields = line.split(|byte| *byte == b' ');
        let (number, place) = (fields.next()?, fields.nth(3)?);
        let place = PathBuf::from(unescape(place));
        let relative = place.strip_prefix(&root).ok()?;
        (!relative.as_os_str().is_empty()).then(|| (relative.to_path_buf(), number.to_vec()))
    });
    // Of several mounts over each other the last one is seen.
    mounts.collect()
}

/// Whether the place holds nothing, as one does whose disk has gone.
pub(super) fn is_empty_place(place: &Path) -> io::Result<bool> {
    let is_folder = fs::symlink_metadata(place)?.is_dir();
    Ok(is_folder && fs::read_dir(place)?.next().is_none())
}

/// Blanks, line feeds and backslashes in places are written as three octal digits.
fn unescape(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'\\').then(|| after.get(..3)).flatten();
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_beneath_a_folder_are_found() {
        let folder = tempfile::TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = root.to_str().unwrap();
        let list = format!(
            "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
             30 22 0:40 / {at} rw - tmpfs tmpfs rw\n\
             31 22 0:41 / {at}/a\\040b rw,relatime shared:1 - tmpfs tmpfs rw\n\
             32 22 0:42 / {at}/c rw - tmpfs tmpfs rw\n\
             33 22 0:43 / {at}/c rw - tmpfs tmpfs rw\n\
             34 22 0:44 / {at}-evil/d rw - tmpfs tmpfs rw\n\
             broken\n"
        );
        let wanted = [(PathBuf::from("a b"), b"31".to_vec()), (PathBuf::from("c"), b"33".to_vec())];
        assert_eq!(beneath(list.as_bytes(), &root), Mounts::from(wanted));
        assert!(beneath(&super::list(), Path::new("/")).contains_key(Path::new("proc")));
    }
}
