//! Bulk loading: files of records into a space.
//!
//! One thread reads a file: it decompresses ([`input`]), cuts records (`lines`, `delimited`) and parses them
//! ([`ndjson`], `columns`). It hands each record to one of several committing lanes ([`pipeline`]), chosen by the
//! record's URI, so that of two records with one URI in a file the later one is also committed later. The engine
//! encodes on the lanes' threads and commits what waits as one group.
//!
//! A record that is wrong is refused ([`refusals`]), a file that cannot be read is named, and the rest goes in.

pub mod format;

mod compressed;
pub mod input;
pub(crate) mod json_fields;

mod lines;

pub mod fields;
pub mod ndjson;

mod columns;
mod delimited;
mod quoted;

mod lane;
pub use lane::Batch;

pub mod destination;
pub mod pipeline;
pub mod progress;
pub mod refusals;
mod unique_names;
