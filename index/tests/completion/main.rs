//! Completion against an oracle: a brute-force model that says, in the plainest code, what the right answer is.
//!
//! The oracle shares nothing with the engine, the fold included. Tables check it by hand; the same tables and random
//! collections are then asked of the engine.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod distance;
mod entries;
mod fold;
mod oracle;

mod engine_tables;
mod floods;
mod oracle_tables;
mod properties;
mod unseen;
mod world;

#[path = "../common/mod.rs"]
mod common;
