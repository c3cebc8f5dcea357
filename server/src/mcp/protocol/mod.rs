//! All differences between the revisions of the protocol; nothing else asks which one it is.

mod era;
mod mirrored_headers;
pub mod notifications;
mod params;
mod result;
mod revision;

pub use era::{Channel, Session, malformed, negotiate, of_other, of_request};
pub use notifications::SubscriptionFilter;
pub use params::Params;
pub use result::{CacheHint, finish, open};
pub use revision::{Era, Revision};
