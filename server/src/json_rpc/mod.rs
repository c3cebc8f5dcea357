//! JSON-RPC 2.0 messages as they stand in a body or on a line; knows no MCP method.
//!
//! A message is read in one pass into an envelope that borrows from the body. The id is never
//! interpreted: it is copied into the reply byte for byte as it was spelled.

mod envelope;
mod members;
pub mod scan;
pub mod write;

pub use envelope::{Malformed, Message, Request, parse, parse_batch};
pub(crate) use envelope::{is_id, parse_element, string};
pub(crate) use members::{Key, MEMBERS_MAX, members};

/// The deepest nesting of arrays and objects that a message may have.
pub const DEPTH_MAX: usize = 128;
