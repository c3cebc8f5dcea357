//! The process's limit of open files.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files of the store, folders that are being walked, and listeners, beside the connections.
const DESCRIPTORS_BESIDE_CONNECTIONS: u64 = 1_024;

/// Raises the limit to what the system allows without asking, and says when that is little for so many connections.
pub(super) fn raise(connections_max: usize) {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // A system may cap it further; then what there is must do.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    // `None`: there is no limit.
    let Some(current) = getrlimit(Resource::Nofile).current else { return };
    let wanted = u64::try_from(connections_max)
        .unwrap_or(u64::MAX)
        .saturating_add(DESCRIPTORS_BESIDE_CONNECTIONS);
    if current < wanted {
        tracing::warn!(
            "at most {current} files and connections can be open, fewer than the {wanted} that {connections_max} \
             connections may need; raise the limit (ulimit -Hn, or LimitNOFILE= of the service)"
        );
    }
}
