//! The protocol front from outside: bytes in, bytes out. One binary, because each one links the
//! whole store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod any_bytes;
mod completion;
mod content;
mod extraction;
mod http_connections;
mod http_manners;
mod http_sessions;
mod overload;
mod own_tools;
mod prompts;
mod scenarios;
mod search;
mod shares;
mod slow_clients;
mod stdio;
mod subscriptions;
mod subscriptions_access;
mod subscriptions_rmcp;
mod subscriptions_sessions;
mod subscriptions_slow;
mod subscriptions_stdio;
mod subscriptions_stress;

#[path = "../common/mod.rs"]
mod common;
