//! Pressmark's engine: huge resource spaces behind RFC 6570 templates, in RocksDB.
//!
//! RocksDB is the ground truth; lists, aliases and counters are derived from it in the same write batch
//! and are checked by [`engine::Engine::verify`]. There is one writer; every commit is one batch and
//! appends to the change log. A read is one normalisation, one point look-up and a copy, because
//! contents are stored as they go on the wire.
//!
//! Deliberately absent: async, sockets, JSON-RPC, serde, revisions of the protocol.
//!
//! ```
//! use pressmark_index::access::Access;
//! use pressmark_index::contents_fragment::WireFields;
//! use pressmark_index::engine::{Engine, EngineOptions};
//! use pressmark_index::mutation::Mutation;
//! use pressmark_index::read::{ReadOutcome, ReadRequest, Tier};
//! use pressmark_index::resource::{Address, Resource};
//! use pressmark_index::space::SpaceSettings;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let options = EngineOptions { block_cache_bytes: 8 << 20, ..EngineOptions::new("an example") };
//! let engine = Engine::open(folder.path(), &options)?;
//! engine.put_space(SpaceSettings::new("pypi", "pypi://packages/{name}"))?;
//! let address = Address::Uri("pypi://packages/serde".into());
//! let resource = Resource::text("pypi", address, "text/plain", "A \"crate\".");
//! for result in engine.commit(vec![Mutation::Put(Box::new(resource))])? {
//!     result?;
//! }
//! let access = Access::anonymous();
//! let request = ReadRequest { uri: "pypi://packages/serde", access: &access, bytes_max: 1 << 20, tier: Tier::Disk };
//! let ReadOutcome::Contents(contents) = engine.read(&request)? else { unreachable!() };
//! let fields = WireFields { title: true, icons: true, meta: true, last_modified: true };
//! let mut json = Vec::new();
//! contents.write_array(request.uri, fields, &mut json)?;
//! assert_eq!(
//!     String::from_utf8(json)?,
//!     r#"[{"uri":"pypi://packages/serde","mimeType":"text/plain","text":"A \"crate\"."}]"#
//! );
//! # Ok(())
//! # }
//! ```

pub mod access;
pub mod background;
pub mod backup;
pub mod bulk;
pub mod catalog;
pub mod engine;
pub mod error;
pub mod mutation;
pub mod prompt;
pub mod resource;
pub mod space;
pub mod stop;

pub mod completion;
pub mod contents;
pub mod contents_fragment;
pub mod fetch_text;
pub mod fragment;
pub mod full_text;
pub mod list;
pub mod moment;
pub mod read;
pub mod resource_uri;
pub mod stored;
pub mod uri_template;

pub mod change_log;
pub mod verify;
pub mod writer;

mod commit;
mod source_index;

mod acl;
mod apply;
mod cursor;
mod data_dir;
mod describe;
mod faults;
mod folder;
mod format;
mod hot_values;
mod lock;
mod options;
mod prepare;
mod recovery;
mod remove_space;
mod shared;
mod slice;
mod store;

pub use apply::CHANGES_KEPT_MAX;
pub use folder::FOLDER_ENTRIES_MAX;
pub use prepare::{DESCRIPTION_BYTES_MAX, PART_COUNT_MAX, RESOURCE_BYTES_MAX};
