//! Tools: the registry of those that there are, and what a program needs that adds its own.
//!
//! A tool is a name, what a model reads of it, and an async handler that takes a [`Context`] and its arguments as a Rust
//! type. What is listed of the arguments is derived from that type, so that the schema and the decoding cannot differ. A
//! handler knows nothing of revisions: [`ToolResult`] says what came out, and [`content`] puts it as the caller's revision
//! has it.
//!
//! ```
//! use pressmark::tools::{Context, Tool, ToolAnnotations, ToolError, ToolResult};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Quote {
//!     /// The URI of the resource.
//!     uri: String,
//! }
//!
//! async fn quote(context: Context, arguments: Quote) -> Result<ToolResult, ToolError> {
//!     Ok(ToolResult::text("As it is written:").with(context.embed(&arguments.uri).await?))
//! }
//!
//! let tool = Tool::new("quote", quote)
//!     .title("Quote a resource")
//!     .description("Quotes a whole resource.")
//!     .annotations(ToolAnnotations::READS);
//! ```
//!
//! `docs/builder.md` has a whole server. What calls a handler is [`call`]: it bounds how many run and for how long, and keeps
//! a panic to the call in which it happens.

mod tool;

pub mod content;

mod context;

mod arguments;

mod set;

pub mod call;

pub use content::{Content, ResourceLink, ToolError, ToolResult};
pub use context::{Context, LogLevel};
pub use set::ToolRefused;
pub(crate) use set::{Callee, Definition, OutputSchema, OwnTool, ToolSet};
pub use tool::{NoArguments, Tool, ToolAnnotations};
