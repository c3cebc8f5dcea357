//! Paths as they were said, made absolute without asking the file system.

use std::path::{Component, Path, PathBuf};

/// The path from `current_dir`, without `.` and with `..` undone. Links are not looked up, so the result is the same
/// whether the place is there or not.
pub(crate) fn lexically_absolute(current_dir: &Path, path: &Path) -> PathBuf {
    let mut absolute = PathBuf::new();
    for component in current_dir.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                absolute.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                absolute.push(component);
            }
        }
    }
    absolute
}
