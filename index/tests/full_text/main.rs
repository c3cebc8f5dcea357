//! Full text: what is found, in which order, by whom, and that it stays true to the store.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod common;

mod faults;
mod filters;
mod kills;
mod language;
mod late_matches;
mod library;
mod order;
mod ranking;
mod stops;
mod versions;
