//! Completion: the best values of a template's variable as a person types.

mod request;

pub use request::{Completion, CompletionRequest, TYPED_BYTES_MAX, VALUES_MAX};
