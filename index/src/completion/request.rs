//! What is asked of completion, and what it answers.

use super::values::CompletionValues;
use crate::access::Access;

/// A reply of `completion/complete` holds at most this many values (every revision's schema).
pub const VALUES_MAX: usize = 100;
/// Typed text beyond this cannot begin a value: a URI has at most 8 KiB.
pub const TYPED_BYTES_MAX: usize = 8 * 1024;

/// What a person has typed into a variable of a space's template.
#[derive(Debug, Clone, Copy)]
pub struct CompletionRequest<'a> {
    /// The space, by name.
    pub space: &'a str,
    /// The variable, as it is spelled in the template.
    pub variable: &'a str,
    /// What is typed so far; empty: the best of all values.
    pub typed: &'a str,
    /// Variables that are chosen already with their values, as completion gave them. Names that the template does not
    /// have are ignored, and so is the variable itself.
    pub context: &'a [(&'a str, &'a str)],
    /// Within what the caller may see.
    pub access: &'a Access,
    /// How many values at most; more than [`VALUES_MAX`] are never given.
    pub count_max: usize,
}

/// Figures of the completion indexes of all spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionStats {
    /// Spaces whose index is being made, and that complete nothing until then.
    pub spaces_behind: usize,
    /// Segments, one over the other.
    pub layers: usize,
    /// Values and pairs of values in them.
    pub entries: usize,
    /// Of them in memory; the others are mapped from files.
    pub entries_in_memory: usize,
    /// Bytes of those files.
    pub disk_bytes: u64,
    /// Why the indexes could not be written, if they could not.
    pub failure: Option<String>,
}

/// The best values, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// Values as they are put into the template: decoded for `{x}`, URI-spelled for `{+x}`. One that ends in `/` is a
    /// folder of a path variable, to be completed further.
    pub values: CompletionValues,
    /// All that match; `None` where counting them all would take too long.
    pub total: Option<u64>,
    /// Whether there are more than `values`.
    pub has_more: bool,
}
