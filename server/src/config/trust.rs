//! Whether a configuration file that nobody named may be used: it says which commands run, which folders are served and
//! who may listen, and the current folder may be anybody's.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Bits of a mode that let the group or others write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// The bit of a mode that lets everybody write.
const WRITABLE_BY_ALL: u32 = 0o002;
/// In a folder with this bit, only its owner may delete or rename what is in it.
const STICKY: u32 = 0o1000;

/// What the file system says of a file or folder.
#[derive(Debug, Clone, Copy)]
struct Seen {
    uid: u32,
    mode: u32,
}

/// Opens the file if it belongs to this user (or to root), nobody else may write it, and nobody else may put another file
/// in its place. The check and the text are of the same file.
///
/// # Errors
/// `PermissionDenied` with the reason; otherwise what the system says.
pub(super) fn open_trusted(file: &Path) -> io::Result<File> {
    let user = rustix::process::geteuid().as_raw();
    let refused = |reason: String| io::Error::new(io::ErrorKind::PermissionDenied, reason);
    // A link says which file it is, so it counts as the file does; its own mode means nothing.
    let link = Seen { mode: 0, ..Seen::of(&fs::symlink_metadata(file)?) };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = Seen::of(&fs::metadata(folder.unwrap_or(Path::new(".")))?);
    let opened = File::open(file)?;
    let seen = Seen::of(&opened.metadata()?);
    let fault = fault_of_file(link, user).or_else(|| fault_of_file(seen, user));
    match fault.or_else(|| fault_of_folder(folder, user)) {
        None => Ok(opened),
        Some(fault) => Err(refused(fault)),
    }
}

impl Seen {
    fn of(metadata: &Metadata) -> Seen {
        Seen { uid: metadata.uid(), mode: metadata.permissions().mode() & 0o7777 }
    }

    fn belongs_to(self, user: u32) -> bool {
        self.uid == user || self.uid == 0
    }
}

fn fault_of_file(file: Seen, user: u32) -> Option<String> {
    if !file.belongs_to(user) {
        return Some(format!("it belongs to another user (uid {})", file.uid));
    }
    (file.mode & WRITABLE_BY_OTHERS != 0)
        .then(|| format!("other users may write it (mode {:04o})", file.mode))
}

fn fault_of_folder(folder: Seen, user: u32) -> Option<String> {
    if !folder.belongs_to(user) {
        return Some(format!("its folder belongs to another user (uid {})", folder.uid));
    }
    // A group may have a folder together: a file that one of them put here would be theirs.
    (folder.mode & WRITABLE_BY_ALL != 0 && folder.mode & STICKY == 0)
        .then(|| format!("everybody may write its folder (mode {:04o})", folder.mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: u32 = 1000;

    #[test]
    fn files_of_others_and_files_that_others_may_write_are_not_trusted() {
        let check = |uid, mode, wanted: Option<&str>| {
            let fault = fault_of_file(Seen { uid, mode }, USER);
            assert_eq!(fault.as_deref(), wanted);
        };
        check(USER, 0o644, None);
        check(USER, 0o600, None);
        check(0, 0o644, None);
        check(1001, 0o644, Some("it belongs to another user (uid 1001)"));
        check(USER, 0o664, Some("other users may write it (mode 0664)"));
        check(USER, 0o646, Some("other users may write it (mode 0646)"));
        check(0, 0o666, Some("other users may write it (mode 0666)"));
    }

    #[test]
    fn folders_of_others_and_folders_that_all_may_write_are_not_trusted() {
        let check = |uid, mode, wanted: Option<&str>| {
            let fault = fault_of_folder(Seen { uid, mode }, USER);
            assert_eq!(fault.as_deref(), wanted);
        };
        check(USER, 0o755, None);
        check(USER, 0o775, None);
        check(0, 0o1777, None);
        check(0, 0o777, Some("everybody may write its folder (mode 0777)"));
        check(1001, 0o755, Some("its folder belongs to another user (uid 1001)"));
    }

    #[test]
    fn what_was_checked_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pressmark.toml");
        fs::write(&file, "# ours").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(io::read_to_string(open_trusted(&file).unwrap()).unwrap(), "# ours");
        let link = folder.path().join("link.toml");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(open_trusted(&link).is_ok());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        for path in [&file, &link] {
            let error = open_trusted(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("mode 0666"), "{error}");
        }
    }
}
