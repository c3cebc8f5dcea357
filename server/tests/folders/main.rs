//! Folders that change while they are served: real folders, real events, the engine's change log as the witness.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "the scripts print their times")]

mod cases;
mod library;
mod overflow;
mod scripts;
