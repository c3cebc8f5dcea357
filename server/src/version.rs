//! What this program is: its version, the commit that it is built from, the format of its stores.

use std::sync::LazyLock;

use pressmark_index::engine::FORMAT_VERSION;

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that the program is built from, with `-modified` behind it where the sources had changes; empty where that
/// is not known.
pub const COMMIT: &str = env!("PRESSMARK_COMMIT_BUILT");

/// What `--version` says behind the name.
pub static LONG: LazyLock<String> = LazyLock::new(|| {
    let commit = if COMMIT.is_empty() { "unknown" } else { COMMIT };
    format!("{VERSION} (commit {commit}, store format {FORMAT_VERSION})")
});
