//! Where the plane of a store's owner listens: a file in the data directory says it, so that a command which is refused
//! the store can name the way, and `--admin auto` finds it.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Names the address, in the data directory.
const FILE: &str = "ADMIN";
/// The same while it is written.
const FILE_NEW: &str = "ADMIN.new";

/// The file that says where a plane listens; dropping it takes the file away.
#[derive(Debug)]
pub(crate) struct Place {
    file: PathBuf,
}

impl Place {
    /// Says where the plane of this data directory's owner listens.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn publish(data_dir: &Path, address: SocketAddr) -> io::Result<Place> {
        let new = data_dir.join(FILE_NEW);
        fs::write(&new, address.to_string())?;
        let file = data_dir.join(FILE);
        fs::rename(new, &file)?;
        Ok(Place { file })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // One that stays is overwritten or found to be of another store: see `read`.
        let _ = fs::remove_file(&self.file);
    }
}

/// Takes away what an owner that was killed has left; only who owns the data directory may.
pub(crate) fn forget(data_dir: &Path) {
    let _ = fs::remove_file(data_dir.join(FILE));
}

/// Where the plane of a data directory's owner listened last. An owner that was killed takes nothing away, and another
/// server may have its address now: whoever goes there asks first whose store it has reached.
pub(crate) fn read(data_dir: &Path) -> Option<SocketAddr> {
    fs::read_to_string(data_dir.join(FILE)).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_there_as_long_as_the_plane() {
        let folder = tempfile::tempdir().unwrap();
        let address: SocketAddr = "127.0.0.1:7412".parse().unwrap();
        assert_eq!(read(folder.path()), None);
        let place = Place::publish(folder.path(), address).unwrap();
        assert_eq!(read(folder.path()), Some(address));
        drop(place);
        assert_eq!(read(folder.path()), None);
        fs::write(folder.path().join(FILE), "gibberish").unwrap();
        assert_eq!(read(folder.path()), None);
        forget(folder.path());
        assert!(!folder.path().join(FILE).exists());
    }
}
