//! The readers of titles, as the server has them.

#[path = "../../src/sources/headline/mod.rs"]
pub(crate) mod headline;
