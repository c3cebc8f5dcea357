//! One store for many windows: hosts start a `pressmark stdio` each, and one process owns a data directory.
//!
//! The owner binds a Unix socket (`place`) and serves each process that connects as it serves a client on stdin
//! (`owner`). The other processes follow: a `relay` passes lines between its client and the owner, and its `journal`
//! remembers what a new owner would have to know. Both sides begin with a `hello`, since they may be different versions
//! of this program. When the owner ends, each follower tries to take its place; who gets the data directory's lock
//! does, the others `connect` to that one, and each replays its journal. Clients notice nothing of it.

mod connect;
mod hello;
mod journal;
mod messages;
mod owner;
mod place;
mod relay;
mod settle;
#[cfg(test)]
mod tests;
mod upstream;

pub use connect::connect;
pub use hello::{Hello, SHARING_PROTOCOL, Served};
pub use owner::{FOLLOWERS_MAX, FollowerReader, FollowerWriter, welcome};
pub use place::Socket;
pub use relay::{Relay, RelayConfig, RelayError};
pub use upstream::{Folders, NotReached, Upstream};
