//! Where the owner's socket is: in a private folder, because the path of a socket is short and a data directory may lie
//! on a file system that has no sockets. A file in the data directory names the socket, because processes of one user
//! may differ in their environments: hosts do not hand on all of theirs.

use std::{
    env,
    ffi::OsStr,
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Read},
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        net,
    },
    path::{Path, PathBuf},
};

use rustix::process::geteuid;
use tokio::net::UnixListener;

/// Names the socket, in the data directory.
const PATH_FILE: &str = "SOCKET";
/// The same while it is written.
const PATH_FILE_NEW: &str = "SOCKET.new";
/// The longest path of a socket: Linux takes 107 bytes, others 103.
const SOCKET_PATH_BYTES_MAX: usize = 103;
/// Bytes of the hash that names a socket.
const NAME_HASH_BYTES: usize = 12;

/// The socket of a data directory, bound by its owner. Only who holds the directory's lock binds one, so that a file
/// that is there already is left over from an owner that was killed.
#[derive(Debug)]
pub struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
    path_file: PathBuf,
}

// === impl Socket ===

impl Socket {
    /// Binds the socket and names it in the data directory.
    ///
    /// # Errors
    /// No folder can be used, with what is wrong with the last of them, or the data directory cannot be written.
    pub fn bind(data_dir: &Path) -> io::Result<Self> {
        let canonical = fs::canonicalize(data_dir)?;
        let mut failure = io::Error::other("no folder for it was found");
        for folder in runtime_folders() {
            let path = folder.join(name(&canonical));
            match bind_in(&folder, &path) {
                Ok(listener) => {
                    let path_file = canonical.join(PATH_FILE);
                    publish(&canonical, &path)?;
                    return Ok(Self { listener, path, path_file });
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Takes nobody in any more, and leaves nothing behind. Comes before the lock is given up.
    pub fn unbind(self) {
        // Whoever comes next replaces what cannot be removed.
        let _ = fs::remove_file(&self.path_file);
        let _ = fs::remove_file(&self.path);
    }
}

/// Folders in which a socket may lie, the best first.
fn runtime_folders() -> Vec<PathBuf> {
    let own = format!("pressmark-{}", geteuid().as_raw());
    let given = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let given = given.filter(|folder| folder.is_absolute()).map(|folder| folder.join("pressmark"));
    let mut folders: Vec<_> = given.into_iter().collect();
    folders.push(env::temp_dir().join(&own));
    // A temporary folder of the user's own may be too long a path.
    folders.push(Path::new("/tmp").join(own));
    folders
}

fn name(canonical: &Path) -> String {
    let hash = blake3::hash(canonical.as_os_str().as_bytes()).to_hex();
    let short = hash.get(..2 * NAME_HASH_BYTES).unwrap_or(&hash);
    format!("{short}.sock")
}

fn bind_in(folder: &Path, path: &Path) -> io::Result<UnixListener> {
    if path.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
        return Err(refusal(folder, "its path is too long for a socket"));
    }
    make_private(folder)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = net::UnixListener::bind(path)?;
    // Nobody else can reach it before: the folder is private.
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// Makes the folder for its owner only; one that is there must be so already, since others can write to its parent.
fn make_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(refusal(folder, "it is no folder"));
    }
    if found.uid() != geteuid().as_raw() {
        return Err(refusal(folder, "it belongs to another user"));
    }
    if found.mode() & 0o077 != 0 {
        return Err(refusal(folder, "others may look into it: `chmod 700` makes it private"));
    }
    Ok(())
}

fn refusal(folder: &Path, reason: &str) -> io::Error {
    io::Error::other(format!("{}: {reason}", folder.display()))
}

/// Replaces the file in one step: a reader finds the old path or the new one.
fn publish(canonical: &Path, socket: &Path) -> io::Result<()> {
    let new = canonical.join(PATH_FILE_NEW);
    fs::write(&new, socket.as_os_str().as_bytes())?;
    fs::rename(new, canonical.join(PATH_FILE))
}

/// The socket that the data directory names; nobody may listen there any more.
pub(super) fn locate(data_dir: &Path) -> io::Result<PathBuf> {
    let mut path = Vec::new();
    let bytes_max = u64::try_from(SOCKET_PATH_BYTES_MAX).unwrap_or(u64::MAX);
    File::open(data_dir.join(PATH_FILE))?.take(bytes_max).read_to_end(&mut path)?;
    Ok(PathBuf::from(OsStr::from_bytes(&path)))
}

/// What a data directory is, by whatever path: a copy of one still has the file that names the socket.
pub(super) fn identity(data_dir: &Path) -> io::Result<String> {
    let found = fs::metadata(data_dir)?;
    Ok(format!("{}:{}", found.dev(), found.ino()))
}

/// Whether somebody at the other end may be talked to: the same user only, whatever the modes of files say.
pub(super) fn is_own(peer_uid: u32) -> bool {
    peer_uid == geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[tokio::test]
    async fn a_socket_is_private_replaces_what_was_left_and_leaves_nothing() {
        let data = tempfile::tempdir().unwrap();
        let left = Socket::bind(data.path()).unwrap();
        let path = locate(data.path()).unwrap();
        assert_eq!(path, left.path);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        drop(left);
        assert!(path.exists(), "as after a kill");
        let again = Socket::bind(data.path()).unwrap();
        assert!(net::UnixStream::connect(&path).is_ok());
        again.unbind();
        assert!(!path.exists() && locate(data.path()).is_err());
    }

    #[tokio::test]
    async fn folders_that_others_could_use_are_refused() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        fs::create_dir(at("open")).unwrap();
        fs::set_permissions(at("open"), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(at("target")).unwrap();
        fs::set_permissions(at("target"), Permissions::from_mode(0o700)).unwrap();
        symlink(at("target"), at("link")).unwrap();
        fs::write(at("file"), "").unwrap();
        let long = "x".repeat(SOCKET_PATH_BYTES_MAX);
        for (name, reason) in [
            ("open", Some("others may look into it")),
            ("link", Some("it is no folder")),
            ("file", Some("it is no folder")),
            (long.as_str(), Some("too long")),
            ("target", None),
            ("new", None),
        ] {
            let bound = bind_in(&at(name), &at(name).join("s"));
            let said = bound.err().map(|error| error.to_string());
            assert_eq!(said.is_some(), reason.is_some(), "{name}: {said:?}");
            assert!(said.unwrap_or_default().contains(reason.unwrap_or_default()), "{name}");
        }
    }

    #[test]
    fn only_the_same_user_is_talked_to() {
        let own = geteuid().as_raw();
        assert!(is_own(own));
        assert!(!is_own(own.wrapping_add(1)));
    }
}
