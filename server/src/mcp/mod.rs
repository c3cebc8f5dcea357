//! What a message asks and how its revision wants it answered.
//!
//! This layer is synchronous: [`Mcp::receive`] answers what memory can answer and hands out
//! [`Work`] for the rest, which a transport runs with [`Mcp::perform`] on the pool.

mod batch;

mod dispatch;

mod method;

mod work;

pub mod handlers;

pub mod instructions;

pub mod protocol;

pub(crate) use dispatch::panicked;
pub use dispatch::{Mcp, McpConfig, ToolResults};
pub use method::Method;
pub use work::{Answer, RequestKey, Step, Work};
