//! The way out to the model providers: connections, keys, retries, and who is asked next.
//!
//! An [`Upstream`] is one place that answers model requests: an address, keys, time-outs, and what is known of its
//! health. A [`Dispatcher`] carries one model call through ordered groups of [`Target`]s: [`Dispatcher::begin`] gives
//! [`Attempts`], and every [`Attempts::next`] gives an answer to look at, or says that nothing is left to try. Bodies are
//! bytes here; what is in them is the business of the `wire` crate.
//!
//! Start at [`Attempts`]. `course.rs` decides whom to ask next, and is pure, as are `breaker.rs`, `budget.rs`,
//! `balance.rs`, `backoff.rs` and `retry_after.rs`; `client.rs` and `reply.rs` do the talking, over the connections of
//! `lanes.rs`; `flow.rs` is a stream that has one for itself. `headers.rs` holds the only
//! lists of what passes through in either direction.
//!
//! - Nothing of the caller's headers goes out that is not on a list; credentials are on none.
//! - Dropping a reply, or the future of one, ends the upstream's call at once: nothing runs on behalf of nobody.
//! - A body that somebody else holds cannot be given back: no call is tried again once its answer was handed on.
//! - A key that is kept elsewhere is fetched for each request (`a_new_key_holds_from_the_next_request`).
//! - No key is in a message, in a `Debug`, or in a record.
//! - A lock is held for a few loads and stores, never while waiting.

mod address;
mod attempts;
mod backoff;
mod balance;
mod breaker;
mod budget;
mod client;
mod coming;
mod connect;
mod course;
mod error;
mod fault;
mod flow;
mod headers;
mod kept;
mod keys;
mod lanes;
mod latency;
mod line;
mod live;
mod outfit;
mod place;
mod record;
mod reply;
mod retry_after;
mod shelf;
mod spec;
mod target;

pub use address::{Address, AddressError};
pub use attempts::{Attempts, Dispatcher, Next};
pub use breaker::{BreakerRules, BreakerState};
pub use budget::BudgetRules;
pub use course::Policy;
pub use egress::{Trust, TrustError};
pub use error::UpstreamError;
pub use fault::Fault;
pub use live::Health;
pub use place::Upstream;
pub use record::{Attempt, Outcome, Skipped};
pub use reply::{Reply, ReplyBody};
pub use spec::{Auth, Spec, SpecError, Timeouts};
pub use target::{Prepared, Target};
