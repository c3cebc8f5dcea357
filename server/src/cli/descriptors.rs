//! The process's limit of open files.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files of the store, folders that are being walked, and listeners, beside the connections.
const DESCRIPTORS_BESIDE_CONNECTIONS: u64 = 1_024;

/// Raises the limit to what the system allows without asking. Gives back how many connections there is room for: fewer
/// than `connections_max` where the limit is low, which is said.
pub(super) fn raise(connections_max: usize) -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // A system may cap it further; then what there is must do.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    // `None`: there is no limit.
    let Some(current) = getrlimit(Resource::Nofile).current else { return connections_max };
    let wanted = u64::try_from(connections_max)
        .unwrap_or(u64::MAX)
        .saturating_add(DESCRIPTORS_BESIDE_CONNECTIONS);
    if current >= wanted {
        return connections_max;
    }
    // What is left beside them in a small limit is small too.
    let beside = DESCRIPTORS_BESIDE_CONNECTIONS.min(current / 2);
    let room = usize::try_from(current.saturating_sub(beside)).unwrap_or(usize::MAX);
    let lowered = room.clamp(1, connections_max);
    tracing::warn!(
        "the process can open {current} files and connections: connections_max is lowered from {connections_max} to \
         {lowered}; raise the limit (ulimit -Hn, or LimitNOFILE= of the service)"
    );
    lowered
}
