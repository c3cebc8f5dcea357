//! All differences between the revisions of the protocol; nothing else asks which one it is.

mod era;
mod log_level;
mod mirrored_headers;
pub mod notifications;
mod params;
mod result;
mod revision;

pub use era::{Channel, Session, malformed, negotiate, of_other, of_request};
pub use log_level::LogLevel;
pub use notifications::SubscriptionFilter;
pub(crate) use params::check_repeated;
pub use params::{Params, log_level};
pub use result::{CacheHint, finish, open};
pub use revision::{Era, Revision};
