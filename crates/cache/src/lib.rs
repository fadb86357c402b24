//! Cache: which requests are the same, and when an answer may be used again.
//!
//! What is kept is the store's business; this crate says what it is kept under ([`exact_key`], [`tool_key`]), whether a
//! request may be answered from it at all ([`Wish`], [`Rules`]), and makes identical requests that come together wait for
//! one answer ([`Flights`]).
//!
//! - Whatever could change an answer is in the key: two requests with one key are the same request, by the same subject.
//! - The tenant is not in the key: the store's handle carries it.
//! - What has no canonical form has no key, and so is never cached.

mod exact;
mod flight;
mod tool;
mod wish;

pub use exact::{Uncacheable, exact_key};
pub use flight::{Entry, Flights, Lead};
pub use tool::{MAX_TTL_SECONDS, tool_key};
pub use wish::{Rules, Wish, WishError};
