//! The readers of formats, as the server has them, and documents around what the fuzzer makes.

#[allow(dead_code, unused_imports, reason = "the server calls more of it")]
#[path = "../../src/extraction/readers/mod.rs"]
pub(crate) mod readers;

#[path = "office.rs"]
pub(crate) mod office;
