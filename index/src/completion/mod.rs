//! Completion: the best values of a template's variable as a person types.
//!
//! Derived from the store: deleted, it is made anew. For each space there is a stack of immutable segments
//! (`segment/`), each with the sorted values of every variable and lists of which values lead to a resource together.
//! A commit puts a small segment on top (`new_layer`); a thread unites them (`upkeep`) and brings an index up to the
//! store (`catch_up`). A question (`query/`) is put to all layers at once. Why so: `docs/adr/0002-completion.md`.

mod answers;
mod bulk;
mod catch_up;
mod check;
mod files;
mod fixed;
pub(crate) mod fold;
mod layers;
mod left;
mod new_layer;
mod plan;
mod query;
mod request;
mod segment;
mod spaces;
mod tally;
mod upkeep;
mod values;

pub use fixed::complete_from_list;
pub use request::{Completion, CompletionRequest, CompletionStats, TYPED_BYTES_MAX, VALUES_MAX};
pub use values::CompletionValues;

pub(crate) use catch_up::{add_change, open};
pub(crate) use check::check;
pub(crate) use new_layer::FactChange;
pub(crate) use plan::{Facts, Plan};
pub(crate) use segment::Facet;
pub(crate) use spaces::{Completions, SpaceChanges};
pub(crate) use upkeep::Upkeep;
