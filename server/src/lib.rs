//! Pressmark: serves huge document collections as MCP resources.

pub mod config;
pub mod sources;
