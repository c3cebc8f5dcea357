//! Full text. The engine's side of it stands on another branch; this is its language: how texts become tokens, how
//! queries are read, and how a found text is shown.
#![allow(dead_code)] // the engine's side is the user

pub(crate) mod analysis;
pub(crate) mod query;
pub mod snippet;

#[doc(hidden)]
pub mod measured;
