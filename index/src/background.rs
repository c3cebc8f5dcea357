//! Threads whose work can wait stand back behind those that answer.

/// How much they do: readers have nine tenths of a core that both want.
const NICENESS: i32 = 10;

/// Has the calling thread, and those that it starts from now on, stand back behind others. Where that is not allowed they
/// work as others do.
pub fn stand_back() {
    let _ = rustix::process::nice(NICENESS);
}
