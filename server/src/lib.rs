//! Pressmark's server: MCP over Streamable HTTP and stdio in front of the engine.
//!
//! A request passes these modules from top to bottom: [`transport`] (bytes to one message),
//! [`json_rpc`] (what the message is), [`mcp`] (what it asks and how its revision wants it
//! answered), [`engine_pool`] (where work that may wait for the disk runs), and the engine.
//! Documents come in through [`sources`], which [`watch`] keeps up with, and [`loading`]; [`cli`] puts all of it together
//! for the program `pressmark`, and [`builder`] for programs that embed it and have [`tools`] of their own.

#![forbid(unsafe_code)]

pub mod transport;

pub mod json_rpc;

pub mod mcp;

pub mod tools;

pub mod prompts;

pub mod sessions;

pub mod subscriptions;

pub mod sharing;

pub mod engine_pool;

pub mod call_rates;
pub mod client_address;
pub mod error;
pub mod limits;
pub mod metrics;
pub mod readiness;
pub mod shutdown;
pub mod telemetry;
pub mod terminal;
pub mod version;

pub mod config;
pub mod extraction;
mod highlight;
pub mod indexer;
pub mod loading;
mod moment;
mod search_notes;
pub mod sources;
pub mod watch;

pub mod admin;

pub mod app;
pub mod builder;
pub mod cli;
